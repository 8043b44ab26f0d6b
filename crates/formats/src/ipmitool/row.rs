//! Rows of tables: sensors and events, between `|` or, with -c, between commas.
//!
//! Never by column width: names are cut at 16 characters, units overflow, and web pages drop blanks.

use tenbin_core::run::{Direction, Event};

use crate::sensors::clock;
use crate::sensors::reading::{READING, in_unit, number, quantity};
use crate::sensors::{EventRow, Sensor};

/// A row, with the layout it is in: rows of one list share theirs.
#[derive(Clone, Debug)]
pub enum Row {
    /// Of a list of sensors.
    Sensor(&'static str, Sensor),
    /// Of the system event log.
    Event(&'static str, EventRow),
}

/// Status words of `sdr` and `sensor`.
const STATUS: [&str; 13] =
    ["ok", "ns", "nc", "cr", "nr", "lnc", "lcr", "lnr", "unc", "ucr", "unr", "na", "us"];

/// Reads a row. What a line cut in its middle (`whole` false) ends with is taken only if it is complete.
pub fn read(text: &str, whole: bool) -> Option<Row> {
    let raw = text.trim_end();
    if raw.contains('|') {
        let cells = pipes(raw);
        return sensor(&cells, raw, whole).or_else(|| event("sel", &cells, " | ", raw, whole));
    }
    if raw.contains(',') {
        let cells: Vec<&str> = raw.split(',').map(|cell| cell.trim().trim_matches('"').trim()).collect();
        return csv_sensor(&cells, raw, whole).or_else(|| event("sel -c", &cells, ", ", raw, whole));
    }
    None
}

/// Whether a row is certainly ipmitool's: other tools print tables too.
pub fn is_certain(row: &Row) -> bool {
    match row {
        Row::Sensor("reading", _) => false,
        Row::Sensor("sensor" | "sensor -c", sensor) => {
            let known = sensor.reading.as_ref().is_some_and(|reading| reading.metric.name != READING.name);
            let thresholds = sensor.raw.matches(['|', ',']).count() >= 9;
            known || thresholds || sensor.status.as_deref().is_some_and(is_bits)
        }
        Row::Sensor("sdr", sensor) => {
            let words = ["no reading", "disabled", "not readable", "event-only"];
            let word = |state: &String| {
                let state = state.to_ascii_lowercase();
                state.starts_with("0x") || state.contains(" mc @ ") || words.contains(&state.as_str())
            };
            sensor.reading.is_some() || sensor.state.as_ref().is_some_and(word)
        }
        Row::Sensor(..) => true,
        Row::Event(_, row) => {
            let known = |sensor: &String| sensor.contains("#0x") || sensor.starts_with("OEM record ");
            row.event.direction.is_some() || row.event.sensor.as_ref().is_some_and(known)
        }
    }
}

/// `CPU1 Temp        | 45`: all that `sensor reading` prints, with the bar in its place.
pub fn is_aligned_reading(text: &str) -> bool {
    let cells = text.get(..16).zip(text.get(16..)).filter(|(name, _)| !name.starts_with([' ', '|']));
    cells.is_some_and(|(_, rest)| rest.strip_prefix(" | ").is_some_and(|value| number(value).is_some()))
}

/// The cells of a row; tables of wikis begin and end with a bar.
pub fn pipes(text: &str) -> Vec<&str> {
    let text = text.trim();
    let text = match text.strip_prefix('|') {
        Some(inner) => inner.strip_suffix('|').unwrap_or(inner),
        None => text,
    };
    text.split('|').map(str::trim).collect()
}

fn is_status(cell: &str) -> bool {
    STATUS.contains(&cell)
}

/// `3Ah`
fn is_sensor_number(cell: &str) -> bool {
    let hex = cell.strip_suffix(['h', 'H']).unwrap_or_default();
    (1..=4).contains(&hex.len()) && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `208.10`
pub fn is_entity(cell: &str) -> bool {
    let part = |part: &str, max: u32| {
        let plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
        plain && part.parse::<u32>().is_ok_and(|number| number <= max)
    };
    cell.split_once('.').is_some_and(|(id, instance)| part(id, 255) && part(instance, 255))
}

/// `0x0180`: the states of a discrete sensor in the place of its status.
fn is_bits(cell: &str) -> bool {
    let hex = cell.strip_prefix("0x").unwrap_or_default();
    hex.len() == 4 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hex(cell: &str) -> bool {
    let hex = cell.strip_prefix("0x").unwrap_or_default();
    !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn text(cell: &str) -> Option<String> {
    (!cell.is_empty()).then(|| cell.to_owned())
}

/// A sensor whose reading and unit stand in one cell.
fn with_cell(name: &str, cell: &str, raw: &str, whole: bool) -> Option<Sensor> {
    let reading = quantity(cell);
    let half =
        !whole && reading.is_none() && cell.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    // "0x" of a discrete sensor may be cut as well.
    if half || name.is_empty() {
        return None;
    }
    let state = if reading.is_none() { text(cell) } else { None };
    Some(Sensor { name: name.to_owned(), reading, state, raw: raw.to_owned(), ..Sensor::default() })
}

/// A sensor whose unit has a column of its own.
fn with_unit(name: &str, value: &str, unit: &str, raw: &str) -> Option<Sensor> {
    if name.is_empty() {
        return None;
    }
    let reading = if unit == "discrete" { None } else { in_unit(value, unit) };
    let state = if reading.is_none() { text(value) } else { None };
    Some(Sensor { name: name.to_owned(), reading, state, raw: raw.to_owned(), ..Sensor::default() })
}

fn sensor(cells: &[&str], raw: &str, whole: bool) -> Option<Row> {
    match cells {
        // sdr elist: name, number, status, entity, reading.
        [name, id, status, entity, rest @ ..]
            if is_sensor_number(id) && is_status(status) && is_entity(entity) =>
        {
            if !whole && rest.is_empty() {
                return None;
            }
            let sensor = with_cell(name, &rest.join(" | "), raw, whole || rest.len() > 1)?;
            let told = Sensor { number: text(id), status: text(status), entity: text(entity), ..sensor };
            Some(Row::Sensor("sdr elist", told))
        }
        // sensor: name, value, unit, status and six thresholds, of which some may be missing.
        [name, value, unit, status, thresholds @ ..]
            if is_value(value)
                && (is_status(status) || is_bits(status))
                && thresholds.iter().all(|cell| is_value(cell) || cell.is_empty() || !whole) =>
        {
            let sensor = with_unit(name, value, unit, raw)?;
            Some(Row::Sensor("sensor", Sensor { status: text(status), ..sensor }))
        }
        // sdr list: name, reading, status.
        [name, reading, status] if is_status(status) => {
            let sensor = with_cell(name, reading, raw, true)?;
            Some(Row::Sensor("sdr", Sensor { status: text(status), ..sensor }))
        }
        // sensor, cut behind the unit.
        [name, value, unit] if quantity(&format!("{value} {unit}")).is_some() => {
            Some(Row::Sensor("sensor", with_unit(name, value, unit, raw)?))
        }
        // sensor reading: name and a number whose unit is not told.
        [name, value] if whole && raw.find(" | ").is_some_and(|at| at >= 16) && number(value).is_some() => {
            Some(Row::Sensor("reading", with_unit(name, value, "", raw)?))
        }
        _ => None,
    }
}

/// What stands in the value column of `sensor`.
fn is_value(cell: &str) -> bool {
    cell == "na" || number(cell).is_some() || is_hex(cell)
}

fn csv_sensor(cells: &[&str], raw: &str, whole: bool) -> Option<Row> {
    // A name may hold commas.
    for at in 1..cells.len().min(4) {
        let end = raw.match_indices(',').nth(at - 1).map_or(raw.len(), |(end, _)| end);
        let name = raw[..end].trim().trim_matches('"').trim();
        match &cells[at..] {
            [id, status, entity, rest @ ..]
                if is_sensor_number(id) && is_status(status) && is_entity(entity) =>
            {
                let sensor = with_cell(name, &rest.join(", "), raw, whole)?;
                let told = Sensor { number: text(id), status: text(status), entity: text(entity), ..sensor };
                return Some(Row::Sensor("sdr -c", told));
            }
            [value, unit, status, rest @ ..]
                if is_csv_value(value)
                    && is_csv_unit(value, unit)
                    && (is_status(status) || is_bits(status)) =>
            {
                let mut sensor = with_unit(name, value, unit, raw)?;
                sensor.status = text(status);
                let layout = match rest {
                    // Six thresholds.
                    [_, second, _, _, _, _, ..] if is_value(second) => "sensor -c",
                    [entity, more @ ..] if is_entity(entity) => {
                        sensor.entity = text(entity);
                        if sensor.reading.is_none() && sensor.state.is_none() {
                            sensor.state = more.first().and_then(|state| text(state));
                        }
                        "sdr -c"
                    }
                    _ => "sdr -c",
                };
                return Some(Row::Sensor(layout, sensor));
            }
            _ => {}
        }
    }
    None
}

fn is_csv_value(cell: &str) -> bool {
    is_value(cell)
        || ["", "no reading", "disabled", "not readable"].contains(&cell.to_ascii_lowercase().as_str())
}

fn is_csv_unit(value: &str, unit: &str) -> bool {
    let known = quantity(&format!("1 {unit}")).is_some() || unit == "discrete";
    known || (unit.is_empty() && number(value).is_none())
}

fn event(layout: &'static str, cells: &[&str], glue: &str, raw: &str, whole: bool) -> Option<Row> {
    let (id, rest) = cells.split_first()?;
    let hex = (1..=8).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let record = if hex { i64::from_str_radix(id, 16).ok() } else { None }?;
    let (date, time, rest) = when(rest)?;
    let mut row = EventRow { date, ..EventRow::default() };
    if let Some((time, zone)) = time {
        row.time = Some(time);
        row.event.zone = zone;
    }
    let (sensor, rest) = rest.split_first()?;
    if !whole && rest.is_empty() {
        return None;
    }
    // The text of an event may hold the mark between cells.
    let at = rest.iter().rposition(|cell| direction(cell).is_some());
    let (told, way) = match at {
        Some(at) => (&rest[..at], direction(rest[at])),
        None => {
            let reading = rest.iter().position(|cell| cell.starts_with("Reading "));
            (&rest[..reading.unwrap_or(rest.len())], None)
        }
    };
    let panic = sensor.starts_with("Linux kernel panic");
    let event = if panic { (*sensor).to_owned() } else { told.join(glue) };
    row.event = Event {
        record: Some(record),
        sensor: if panic { None } else { text(sensor) },
        event: text(event.trim()),
        direction: way,
        raw: raw.trim().to_owned(),
        ..row.event
    };
    Some(Row::Event(layout, row))
}

/// `Asserted`, `Deassertion Event`
pub fn direction(cell: &str) -> Option<Direction> {
    match cell {
        "Asserted" | "Assertion Event" => Some(Direction::Asserted),
        "Deasserted" | "Deassertion Event" => Some(Direction::Deasserted),
        _ => None,
    }
}

type When<'a> = (Option<clock::Date>, Option<(String, Option<String>)>, &'a [&'a str]);

/// Date and time of an event, and the cells behind them.
fn when<'a>(cells: &'a [&'a str]) -> Option<When<'a>> {
    let (first, rest) = cells.split_first()?;
    let second = rest.first().copied().unwrap_or_default();
    // FreeIPMI writes months by name.
    let numeric = !first.contains(|c: char| c.is_alphabetic());
    if numeric && let Some(date) = clock::date(first) {
        let time = clock::time_of_day(second);
        let placed = time.is_some() || second.is_empty() || clock::date(second).is_some();
        return placed.then(|| (Some(date), time, rest.get(1..).unwrap_or_default()));
    }
    if numeric && let Some((date, time)) = first.split_once(' ') {
        return Some((Some(clock::date(date)?), Some(clock::time_of_day(time)?), rest));
    }
    // Without the time: a counter stands there, or nothing.
    let counter = |cell: &str| cell.bytes().all(|byte| byte.is_ascii_digit());
    let untimed = ["Pre-Init", "PreInit", "PostInit", "Post-Init", "Unspecified", "Unknown", "S+"];
    if untimed.iter().any(|word| first.starts_with(word)) {
        let placed = counter(second) || untimed.iter().any(|word| second.starts_with(word));
        let rest = if placed && rest.len() > 1 { &rest[1..] } else { rest };
        return Some((None, None, rest));
    }
    if first.is_empty() && second.is_empty() && rest.len() > 1 {
        return Some((None, None, &rest[1..]));
    }
    let bare = ["OEM record ", "Linux kernel panic"].iter().any(|word| first.starts_with(word));
    bare.then_some((None, None, cells))
}
