//! Blocks of `key : value` lines: -v and `get` of sensors and events, and the DCMI power reading.

use tenbin_core::run::Event;

use super::row::{direction, is_entity};
use crate::sensors::reading::quantity;
use crate::sensors::{EventRow, Power, Sensor, clock};

/// The block that is being read.
#[derive(Debug, Default)]
pub enum Block {
    /// None.
    #[default]
    None,
    /// Of a sensor.
    Sensor(SensorBlock),
    /// Of an event.
    Event(EventBlock),
    /// Of a power reading.
    Power(Power),
    /// Of something without values: a locator record, a part's inventory.
    Other,
    /// A table without values, not indented: `chassis status`, `mc info`, `sel info`.
    Facts,
}

/// A sensor's block so far.
#[derive(Debug, Default)]
pub struct SensorBlock {
    sensor: Sensor,
    reading: String,
    states: Vec<String>,
    in_states: bool,
}

/// An event's block so far.
#[derive(Debug, Default)]
pub struct EventBlock {
    row: EventRow,
    kind: String,
    oem: Vec<String>,
    /// `sel get`: the event's sensor follows as a block of its own.
    pub single: bool,
}

/// Longer blocks are not kept whole: no log makes a row of this size.
const LONGEST_RAW: usize = 1 << 13;

impl Block {
    /// The block that begins with this line.
    pub fn begin(line: &str) -> Option<Block> {
        if line == "SEL Information" {
            return Some(Block::Facts);
        }
        let (key, value) = field(line)?;
        match key {
            "Sensor ID" => {
                let (name, id) = value.rsplit_once('(').filter(|(_, id)| id.starts_with("0x"))?;
                let sensor = Sensor {
                    name: name.trim().to_owned(),
                    number: Some(id.trim_end_matches(')').to_owned()),
                    raw: line.trim().to_owned(),
                    ..Sensor::default()
                };
                Some(Block::Sensor(SensorBlock { sensor, ..SensorBlock::default() }))
            }
            "SEL Record ID" => {
                let record = Some(i64::from(u32::from_str_radix(value, 16).ok()?));
                let event = Event { record, raw: line.trim().to_owned(), ..Event::default() };
                let row = EventRow { event, ..EventRow::default() };
                Some(Block::Event(EventBlock { row, ..EventBlock::default() }))
            }
            "Instantaneous power reading" => {
                Some(Block::Power(Power { current: Some(watts(value)?), ..Power::default() }))
            }
            "FRU Device Description" => Some(Block::Other),
            "Device ID" if line.starts_with("Device ID                 :") => Some(Block::Facts),
            "Device ID" if line.contains("    :") => Some(Block::Other),
            "System Power" | "SDR Version" | "Set in Progress" if line.contains("   :") => Some(Block::Facts),
            _ => None,
        }
    }

    /// Takes a further line; false if it is none of the block's.
    pub fn take(&mut self, line: &str, whole: bool) -> bool {
        let text = line.trim();
        // Indented lines belong to the block; what lost its indent on a web page is known by its key.
        let pair = field(line).filter(|(key, _)| line.starts_with(' ') || self.knows(key));
        match self {
            Block::None => return false,
            Block::Other => return pair.is_some(),
            Block::Facts => return pair.is_some() || field(line).is_some() && line.contains(" : "),
            Block::Sensor(block) => {
                if let Some(state) = text.strip_prefix('[') {
                    if block.in_states {
                        block.states.push(state.trim_end_matches(']').trim().to_owned());
                    }
                } else if let Some((key, value)) = pair {
                    block.field(key, value, whole);
                } else {
                    return false;
                }
                keep(&mut block.sensor.raw, text);
            }
            Block::Event(block) => {
                let Some((key, value)) = pair else { return false };
                block.field(key, value);
                keep(&mut block.row.event.raw, text);
            }
            Block::Power(power) => {
                let Some((key, value)) = pair else { return false };
                let figure = match key.split(' ').next().unwrap_or_default() {
                    "Minimum" => &mut power.min,
                    "Maximum" => &mut power.max,
                    "Average" => &mut power.mean,
                    "Power" => {
                        power.inactive = value.starts_with("deact");
                        return true;
                    }
                    _ => return true,
                };
                *figure = watts(value);
            }
        }
        true
    }

    fn knows(&self, key: &str) -> bool {
        let keys: &[&str] = match self {
            Block::None | Block::Facts => &[],
            Block::Other => {
                &["Entity", "Device", "Channel", "LUN", "ACPI", "Controller", "Logs", "Event", "OEM"]
            }
            Block::Sensor(_) => &[
                "Entity ID",
                "Sensor Type",
                "Sensor Reading",
                "Status",
                "Lower",
                "Upper",
                "Positive",
                "Negative",
                "Minimum",
                "Maximum",
                "Nominal",
                "Normal",
                "Event",
                "States",
                "Readable",
                "Settable",
                "Threshold",
                "Assertion",
                "Deassertion",
                "OEM",
            ],
            Block::Event(_) => &[
                "Record Type",
                "Timestamp",
                "Generator",
                "EvM",
                "Sensor Type",
                "Sensor Number",
                "Sensor Extension",
                "Event",
                "Trigger",
                "Description",
                "Panic",
                "Manu",
                "OEM",
            ],
            Block::Power(_) => {
                &["Minimum", "Maximum", "Average", "IPMI timestamp", "Sampling", "Power reading"]
            }
        };
        keys.iter().any(|start| key.starts_with(start))
    }
}

/// Key and value of a line. Keys are short words.
fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let plain = !key.is_empty() && key.len() < 48 && !key.contains(['|', '"', '[', ',']);
    plain.then(|| (key, value.trim()))
}

fn keep(raw: &mut String, line: &str) {
    if raw.len() + line.len() < LONGEST_RAW {
        raw.push('\n');
        raw.push_str(line);
    }
}

fn watts(value: &str) -> Option<f64> {
    quantity(value).filter(|reading| reading.metric.name == "power").map(|reading| reading.value)
}

impl SensorBlock {
    fn field(&mut self, key: &str, value: &str, whole: bool) {
        self.in_states = key == "States Asserted";
        match key {
            "Entity ID" => {
                let id = value.split(' ').next().unwrap_or_default();
                self.sensor.entity = is_entity(id).then(|| id.to_owned());
            }
            "Sensor Reading" if whole || quantity(value).is_some() => self.reading = value.to_owned(),
            "Status" => self.sensor.status = (!value.is_empty()).then(|| value.to_owned()),
            _ => {}
        }
    }

    /// The row that a list would have.
    pub fn finish(mut self) -> Sensor {
        self.sensor.reading = quantity(&self.reading);
        if self.sensor.reading.is_none() {
            let state = if self.states.is_empty() { self.reading } else { self.states.join(", ") };
            self.sensor.state = (!state.is_empty()).then_some(state);
        }
        self.sensor
    }
}

impl EventBlock {
    fn field(&mut self, key: &str, value: &str) {
        let event = &mut self.row.event;
        let text = || (!value.is_empty()).then(|| value.to_owned());
        match key {
            "Record Type" => self.kind = value.split(' ').next().unwrap_or_default().to_owned(),
            "Timestamp" => {
                if let Some((date, time)) = value.split_once(' ') {
                    self.row.date = clock::date(date);
                    if let Some((time, zone)) = clock::time_of_day(time) {
                        self.row.time = Some(time);
                        event.zone = zone;
                    }
                }
            }
            "Sensor Type" => event.sensor = text(),
            "Sensor Number" => {
                if let Some(sensor) = &mut event.sensor {
                    sensor.push_str(&format!(" #0x{value}"));
                }
            }
            "Event Direction" => event.direction = direction(value),
            "Event Data (RAW)" => self.single = true,
            "Description" => event.event = text(),
            "Panic string" => event.event = Some(format!("Linux kernel panic: {value}")),
            // ipmitool's own spelling.
            "Manufactacturer ID" | "Manufacturer ID" | "OEM Defined" => self.oem.extend(text()),
            _ => {}
        }
    }

    /// The row that a list would have.
    pub fn finish(mut self) -> EventRow {
        let event = &mut self.row.event;
        if event.sensor.is_none() && !self.oem.is_empty() {
            event.sensor = Some(format!("OEM record {}", self.kind));
            event.event = Some(self.oem.join(" | "));
        }
        self.row
    }
}
