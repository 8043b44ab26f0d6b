//! What FreeIPMI prints outside of tables: lines of --legacy-output and of versions before 0.8, blocks of -v, and
//! the power statistics of ipmi-dcmi.

use tenbin_core::run::Event;

use super::table::unquoted;
use crate::sensors::reading::quantity;
use crate::sensors::{EventRow, Power, Sensor, clock};

/// `3: CPU1 Temp (Temperature): 45.00 C (NA/95.00): [OK]`, also without the record: it looks like a task's label,
/// which is taken off.
pub fn sensor(text: &str) -> Option<Sensor> {
    let text = text.trim();
    let digits = |id: &str| !id.is_empty() && id.len() < 8 && id.bytes().all(|byte| byte.is_ascii_digit());
    let (id, rest) = match text.split_once(": ").filter(|(id, _)| digits(id)) {
        Some((id, rest)) => (Some(id.to_owned()), rest),
        None => (None, text),
    };
    let (told, state) = rest.rsplit_once(": [")?;
    let state = state.strip_suffix(']')?;
    let (name, value) = match told.split_once("): ") {
        Some((name, value)) => (name, value.split(" (").next().unwrap_or_default()),
        None => (told.strip_suffix(')')?, ""),
    };
    let (name, kind) = name.rsplit_once(" (")?;
    let plain = !name.contains(": ") && kind.starts_with(|c: char| c.is_ascii_uppercase());
    let reading = quantity(value);
    let word = || Some(state.to_owned()).filter(|state| !state.is_empty());
    plain.then(|| Sensor {
        name: name.trim().to_owned(),
        number: id,
        status: if reading.is_some() { word() } else { None },
        state: if reading.is_none() { word() } else { None },
        reading,
        raw: text.to_owned(),
        ..Sensor::default()
    })
}

/// `1:01-Dec-2026 04:27:23:Temperature CPU1 Temp:Upper Critical - going high:Reading = 97.00 C:Threshold = 95.00 C`
pub fn event(text: &str) -> Option<EventRow> {
    let (id, rest) = text.trim().split_once(':')?;
    let record: u32 =
        if id.bytes().all(|byte| byte.is_ascii_digit()) { id.parse().ok()? } else { return None };
    let (date, time, rest) = match rest.strip_prefix("PostInit") {
        Some(rest) => (None, None, rest.split_once(':')?.1),
        None => {
            let (date, rest) = rest.split_once(' ')?;
            // The time is eight characters: colons part everything here.
            let (time, rest) = (rest.get(..8)?, rest.get(8..)?.strip_prefix(':')?);
            (Some(clock::date(date)?), Some(clock::time_of_day(time)?.0), rest)
        }
    };
    let (sensor, event) = rest.split_once(':').unwrap_or((rest, ""));
    let told = |text: &str| {
        let text = text.trim().trim_end_matches(':').trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let event = Event {
        record: Some(i64::from(record)),
        sensor: told(sensor),
        event: told(event),
        raw: text.trim().to_owned(),
        ..Event::default()
    };
    Some(EventRow { event, date, time })
}

/// A block of -v, or of ipmi-dcmi.
#[derive(Debug)]
pub enum Block {
    /// Of a record of the sensor repository.
    Sensor(Box<SensorBlock>),
    /// Of power statistics.
    Power(Power),
}

/// A record so far.
#[derive(Debug, Default)]
pub struct SensorBlock {
    sensor: Sensor,
    instance: String,
    value: Option<String>,
    event: Option<String>,
}

/// Longer blocks are not kept whole: no log makes a row of this size.
const LONGEST_RAW: usize = 1 << 13;

impl Block {
    /// The block that begins with this line.
    pub fn begin(text: &str) -> Option<Block> {
        let (key, value) = field(text)?;
        match key {
            "Record ID" if value.parse::<u32>().is_ok() => {
                let sensor = Sensor {
                    number: Some(value.to_owned()),
                    raw: text.trim().to_owned(),
                    ..Sensor::default()
                };
                Some(Block::Sensor(Box::new(SensorBlock { sensor, ..SensorBlock::default() })))
            }
            "Current Power" => Some(Block::Power(Power { current: Some(watts(value)?), ..Power::default() })),
            _ => None,
        }
    }

    /// Takes a further line; false if it is none of the block's.
    pub fn take(&mut self, text: &str, whole: bool) -> bool {
        let Some((key, value)) = field(text) else { return false };
        match self {
            Block::Sensor(block) => block.field(key, value, whole, text),
            Block::Power(power) => {
                let figure = match key {
                    "Minimum Power over sampling duration" => &mut power.min,
                    "Maximum Power over sampling duration" => &mut power.max,
                    "Average Power over sampling duration" => &mut power.mean,
                    "Power Measurement" => {
                        power.inactive = value != "Active";
                        return true;
                    }
                    "Time Stamp" | "Statistics reporting time period" => return true,
                    _ => return false,
                };
                *figure = watts(value);
                true
            }
        }
    }
}

fn field(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let key = key.trim();
    let plain = !key.is_empty() && key.len() < 64 && key.starts_with(|c: char| c.is_ascii_uppercase());
    (plain && !key.contains('|')).then(|| (key, value.trim()))
}

fn watts(value: &str) -> Option<f64> {
    quantity(value).filter(|reading| reading.metric.name == "power").map(|reading| reading.value)
}

impl SensorBlock {
    fn field(&mut self, key: &str, value: &str, whole: bool, text: &str) -> bool {
        // A cut line may hold half a number, or half a name.
        if !whole {
            return !(key.starts_with("Sensor") || key == "ID String");
        }
        let told = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "ID String" | "Sensor Name" => self.sensor.name = value.to_owned(),
            "Entity ID" => {
                let number = value.rsplit_once('(').map(|(_, number)| number.trim_end_matches(')'));
                self.sensor.entity = number.map(str::to_owned);
            }
            "Entity Instance" => self.instance = value.to_owned(),
            "Sensor Reading" => self.value = told(),
            "Sensor State" => self.sensor.status = told(),
            "Sensor Event" | "Sensor Status" => self.event = told(),
            _ => {}
        }
        if self.sensor.raw.len() + text.len() < LONGEST_RAW {
            self.sensor.raw.push('\n');
            self.sensor.raw.push_str(text.trim());
        }
        true
    }

    /// The row; none of a record that is no sensor's or has nothing to read.
    pub fn finish(mut self) -> Option<Sensor> {
        if self.sensor.name.is_empty() || (self.value.is_none() && self.event.is_none()) {
            return None;
        }
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let entity = self.sensor.entity.take().filter(|id| digits(id) && digits(&self.instance));
        self.sensor.entity = entity.map(|id| format!("{id}.{}", self.instance));
        self.sensor.reading = self.value.as_deref().and_then(quantity);
        if self.sensor.reading.is_none() {
            let bare = |text: String| {
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                unquoted(inner.unwrap_or(&text)).to_owned()
            };
            self.sensor.state = self.event.or(self.value).map(bare);
        }
        Some(self.sensor)
    }
}
