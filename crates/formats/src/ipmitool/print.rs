//! `sdr elist`, `sdr list`, `sensor` and `sel elist` of ipmitool 1.8.19.

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Write};

use tenbin_core::run::{Direction, Event, Run, SensorState};
use tenbin_core::sample::{Param, Series};

use super::row::{self, Row};

/// The rows of `run`: its events, or its sensors in the layout that has a place for what is known of them.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    for told in &run.events {
        event(out, told)?;
    }
    let mut readings = readings(run);
    let rows: Vec<(&SensorState, Option<Shown>)> = run
        .states
        .iter()
        .map(|state| {
            let numeric = state.state.is_none();
            let reading =
                numeric.then(|| readings.get_mut(&key(&state.sensor, state.entity.as_deref()))?.pop_front());
            (state, reading.flatten())
        })
        .collect();
    // `sensor` has no words, only numbers, bits and "na".
    let plain = rows.iter().all(|(state, reading)| {
        let text = state.state.as_deref().unwrap_or_default();
        reading.is_some()
            || text == "na"
            || text.starts_with("0x") && state.status.as_ref().is_some_and(|s| s.starts_with("0x"))
    });
    let entities = rows.iter().filter(|(state, _)| state.entity.is_some()).count();
    // Only a list printed with -c has rows of both kinds.
    let mixed = entities > 0 && entities < rows.len();
    for (state, reading) in rows {
        if mixed {
            separated(out, state, reading)?;
        } else if entities > 0 {
            elist(out, state, reading)?;
        } else if let (None, Some(Shown { value, unit: None })) = (&state.status, &reading) {
            writeln!(out, "{:<16} | {value}", state.sensor)?;
        } else if plain {
            sensor(out, state, reading)?;
        } else {
            list(out, state, reading)?;
        }
    }
    Ok(())
}

/// A value with the unit that ipmitool prints.
struct Shown {
    value: f64,
    /// `sensor reading` prints none.
    unit: Option<String>,
}

impl Shown {
    /// As `sdr` prints it: whole numbers without decimals.
    fn short(&self) -> String {
        let decimals = if self.value.fract() == 0.0 { 0 } else { 2 };
        format!("{:.decimals$} {}", self.value, self.unit.as_deref().unwrap_or("unspecified"))
    }
}

fn key(sensor: &str, entity: Option<&str>) -> String {
    format!("{sensor}\u{1f}{}", entity.unwrap_or_default())
}

/// The readings of each sensor, in the order of its rows.
fn readings(run: &Run) -> HashMap<String, VecDeque<Shown>> {
    let mut all: HashMap<String, VecDeque<Shown>> = HashMap::new();
    for series in &run.series {
        let text = |name: &str| match series.params.get(name) {
            Some(Param::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let (Some(sensor), Some(shown)) = (text("sensor"), shown(series)) else { continue };
        all.entry(key(sensor, text("entity"))).or_default().push_back(shown);
    }
    all
}

fn shown(series: &Series) -> Option<Shown> {
    let value = *series.values().last()?;
    let (value, unit) = match series.metric.name.as_ref() {
        "temperature" => (value, "degrees C"),
        "fan_speed" => (value, "RPM"),
        "voltage" => (value, "Volts"),
        "current" => (value, "Amps"),
        "power" => (value, "Watts"),
        "energy" => (value, "Joules"),
        // 0.4351 x 100 is not quite 43.51.
        "level" => ((value * 1e8).round() / 1e6, "percent"),
        "reading" => match series.params.get("unit") {
            Some(Param::Text(unit)) => (value, unit.as_str()),
            _ => return Some(Shown { value, unit: None }),
        },
        _ => return None,
    };
    Some(Shown { value, unit: Some(unit.to_owned()) })
}

/// `CPU1 Temp        | 01h | ok  |  3.1 | 45 degrees C`
fn elist(out: &mut dyn Write, state: &SensorState, reading: Option<Shown>) -> fmt::Result {
    let (id, instance) =
        state.entity.as_deref().and_then(|entity| entity.split_once('.')).unwrap_or_default();
    writeln!(
        out,
        "{:<16} | {} | {:<3} | {id:>2}.{instance} | {}",
        state.sensor,
        number(state),
        status(state),
        told(state, reading)
    )
}

/// `CPU1 Temp,45,degrees C,ok`, and of what has no number `PS1 Status,28h,ok,10.1,Presence detected`
fn separated(out: &mut dyn Write, state: &SensorState, reading: Option<Shown>) -> fmt::Result {
    let (sensor, status) = (&state.sensor, status(state));
    let text = state.state.as_deref().unwrap_or_default();
    match (reading, &state.entity) {
        (Some(Shown { value, unit }), _) => {
            writeln!(out, "{sensor},{value},{},{status}", unit.as_deref().unwrap_or("unspecified"))
        }
        (None, Some(entity)) => writeln!(out, "{sensor},{},{status},{entity},{text}", number(state)),
        (None, None) => writeln!(out, "{sensor},{text},,{status}"),
    }
}

/// The status in two letters; `sdr get` spells some out, lists say "no sensor" there.
fn status(state: &SensorState) -> &str {
    state.status.as_deref().filter(|status| status.len() <= 3 || status.starts_with("0x")).unwrap_or("ns")
}

/// The number of a sensor as its row printed it.
fn number(state: &SensorState) -> String {
    let number = match row::read(&state.raw, true) {
        Some(Row::Sensor(_, sensor)) => sensor.number,
        _ => None,
    };
    number.unwrap_or_else(|| "00h".to_owned())
}

/// `CPU1 Temp        | 45 degrees C      | ok`
fn list(out: &mut dyn Write, state: &SensorState, reading: Option<Shown>) -> fmt::Result {
    let status = state.status.as_deref().unwrap_or("ns");
    writeln!(out, "{:<16} | {:<17} | {status}", state.sensor, told(state, reading))
}

fn told(state: &SensorState, reading: Option<Shown>) -> String {
    reading.map_or_else(|| state.state.clone().unwrap_or_default(), |shown| shown.short())
}

/// `CPU1 Temp        | 45.000     | degrees C  | ok    | na        | na        | na        | na ...`
fn sensor(out: &mut dyn Write, state: &SensorState, reading: Option<Shown>) -> fmt::Result {
    let status = state.status.as_deref().unwrap_or("na");
    let bits = status.starts_with("0x");
    let (value, unit) = match reading {
        Some(shown) => (format!("{:.3}", shown.value), shown.unit.unwrap_or_default()),
        None => {
            let unit = if bits { "discrete" } else { "" };
            (state.state.clone().unwrap_or_else(|| "na".to_owned()), unit.to_owned())
        }
    };
    write!(out, "{:<16} | {value:<10} | {unit:<10} | {status:<6}", state.sensor)?;
    // Limits are not kept.
    for _ in 0..6 {
        write!(out, "| {:<10}", "na")?;
    }
    out.write_char('\n')
}

/// `  10 | 11/30/26 | 23:21:27 UTC | Temperature CPU1 Temp | Upper Critical going high | Asserted | Reading ...`
fn event(out: &mut dyn Write, event: &Event) -> fmt::Result {
    write!(out, "{:4x} | ", event.record.unwrap_or_default())?;
    let sensor = event.sensor.as_deref().unwrap_or_default();
    let text = event.event.as_deref().unwrap_or_default();
    match event.time.as_deref().and_then(parts) {
        Some((date, time)) => {
            write!(out, "{date} | {time}")?;
            if let Some(zone) = &event.zone {
                write!(out, " {zone}")?;
            }
            out.write_str(" | ")?;
        }
        // Records without a time stamp have no columns for it.
        None if sensor.is_empty() && event.direction.is_none() => return writeln!(out, "{text}"),
        None if sensor.starts_with("OEM record ") => {}
        None => out.write_str("Unspecified | Unspecified | ")?,
    }
    write!(out, "{sensor} | {text}")?;
    match event.direction {
        Some(Direction::Asserted) => out.write_str(" | Asserted")?,
        Some(Direction::Deasserted) => out.write_str(" | Deasserted")?,
        None => {}
    }
    let reading = [" | Reading ", ",Reading "].iter().find_map(|mark| event.raw.rsplit_once(mark));
    if let Some((_, reading)) = reading {
        write!(out, " | Reading {reading}")?;
    }
    out.write_char('\n')
}

/// `11/30/26` and `23:21:27` of `2026-11-30T23:21:27`.
fn parts(time: &str) -> Option<(String, &str)> {
    let (date, time) = time.split_once('T')?;
    let mut numbers = date.split('-');
    let (year, month, day) = (numbers.next()?, numbers.next()?, numbers.next()?);
    Some((format!("{month}/{day}/{}", year.get(2..)?), time))
}
