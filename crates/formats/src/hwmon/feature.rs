//! One sensor of a chip: from a line of text, or from its subfeatures as -u and -j print them.

use crate::sensors::Sensor;
use crate::sensors::reading::{Reading, in_unit, quantity};

/// Buses in the names of chips.
const BUSES: [&str; 10] = ["isa", "pci", "i2c", "acpi", "virtual", "spi", "hid", "mdio", "scsi", "usb"];

/// `coretemp-isa-0000`
pub fn is_chip(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut parts = text.split('-');
    let named = parts.next().is_some_and(|name| !name.is_empty());
    let address = |part: Option<&str>| {
        part.is_some_and(|part| part.bytes().all(|b| b.is_ascii_hexdigit() || b == b'*'))
    };
    let bus = parts.any(|part| BUSES.contains(&part));
    named && bus && text.len() < 64 && text.chars().all(plain) && address(text.rsplit('-').next())
}

/// `Core 0:        +43.0°C  (high = +80.0°C, crit = +100.0°C)  ALARM (CRIT)`
pub fn of_line(chip: &str, text: &str) -> Option<Sensor> {
    let (label, rest) = text.split_once(':')?;
    let rest = rest.trim();
    if label.is_empty() || label.starts_with([' ', '\t']) || label.len() > 64 || rest.is_empty() {
        return None;
    }
    // Limits stand in brackets, or behind two blanks.
    let ends = ["(", "  ", " ALARM", " sensor = "];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let value = rest.get(..end).unwrap_or_default().trim();
    let reading = quantity(value);
    let word = ["FAULT", "N/A", "ALARM", "OK", "enabled", "disabled"].contains(&value);
    if reading.is_none() && !word {
        return None;
    }
    let alarm = rest.find("ALARM").filter(|_| reading.is_some()).and_then(|at| rest.get(at..));
    let status = alarm.map(|alarm| alarm.split("  ").next().unwrap_or_default().to_owned());
    let state = if reading.is_none() { Some(value) } else { None };
    Some(sensor(chip, label, reading, status.as_deref(), state, text.trim()))
}

fn sensor(
    chip: &str,
    label: &str,
    reading: Option<Reading>,
    status: Option<&str>,
    state: Option<&str>,
    raw: &str,
) -> Sensor {
    let kind = reading.as_ref().map_or("state", |reading| reading.metric.name.as_ref());
    Sensor {
        name: label.trim().to_owned(),
        // A label may stand for a temperature and for a fan.
        number: Some(kind.to_owned()),
        chip: (!chip.is_empty()).then(|| chip.to_owned()),
        status: status.map(str::to_owned),
        state: state.map(str::to_owned),
        raw: raw.to_owned(),
        reading,
        ..Sensor::default()
    }
}

/// A feature while its subfeatures are read.
#[derive(Debug, Default)]
pub struct Feature {
    label: String,
    /// Value, its unit, and whether it is the average that stands in for a missing input.
    input: Option<(String, &'static str, bool)>,
    fault: bool,
    alarm: bool,
    /// A switch: what it says.
    word: Option<&'static str>,
    subfeatures: Vec<String>,
}

/// No driver has more subfeatures.
const MOST: usize = 64;

impl Feature {
    /// The feature of that label.
    pub fn new(label: &str) -> Feature {
        Feature { label: label.trim().to_owned(), ..Feature::default() }
    }

    /// Takes `temp1_input` and its value; false if that is no subfeature.
    pub fn take(&mut self, key: &str, value: &str) -> bool {
        let Some((kind, what)) = subfeature(key) else { return false };
        let set = crate::sensors::reading::number(value).is_some_and(|(number, _)| number != 0.0);
        match (kind, what) {
            ("beep", _) => self.word = Some(if set { "enabled" } else { "disabled" }),
            ("intrusion", "alarm") => self.word = Some(if set { "ALARM" } else { "OK" }),
            (_, "fault") => self.fault |= set,
            (_, what) if what == "alarm" || what.ends_with("_alarm") => self.alarm |= set,
            (kind, "input" | "average" | "vid") => {
                let unit = match kind {
                    "temp" => "C",
                    "fan" => "RPM",
                    "in" | "cpu" => "V",
                    "power" => "W",
                    "curr" => "A",
                    "humidity" => "%",
                    "energy" => "J",
                    _ => return true,
                };
                let average = what == "average";
                let better = self.input.as_ref().is_none_or(|(_, _, instead)| *instead && !average);
                // The averages of voltages and currents stand beside their inputs.
                if better && (!average || kind == "power") {
                    self.input = Some((value.to_owned(), unit, average));
                }
            }
            _ => {}
        }
        if self.subfeatures.len() < MOST {
            self.subfeatures.push(format!("{key}: {value}"));
        }
        true
    }

    /// The row, if there is anything to tell.
    pub fn finish(self, chip: &str) -> Option<Sensor> {
        let input = self.input.filter(|_| !self.fault);
        let reading = input.and_then(|(value, unit, _)| in_unit(&value, unit));
        let state = if self.fault { Some("FAULT") } else { self.word };
        if reading.is_none() && state.is_none() {
            return None;
        }
        let state = if reading.is_none() { state } else { None };
        let status = if self.alarm { Some("ALARM") } else { None };
        let raw = format!("{}:\n{}", self.label, self.subfeatures.join("\n"));
        Some(sensor(chip, &self.label, reading, status, state, &raw))
    }
}

/// `temp` and `max_hyst` of `temp1_max_hyst`.
pub fn subfeature(key: &str) -> Option<(&str, &str)> {
    if key == "beep_enable" {
        return Some(("beep", "enable"));
    }
    let (item, what) = key.split_once('_')?;
    let kind = item.trim_end_matches(|c: char| c.is_ascii_digit());
    let kinds = ["temp", "fan", "in", "power", "curr", "humidity", "energy", "intrusion", "cpu", "pwm"];
    let plain = what.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
    (kinds.contains(&kind) && kind.len() < item.len() && plain && !what.is_empty()).then_some((kind, what))
}
