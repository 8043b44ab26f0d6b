//! Lists of sensors, event logs and power readings: what the tools for BMCs and hwmon have in common.
//!
//! A format reads lines and hands rows to a [`Log`], which decides where a list ends and makes runs of them.
//! [`reading`] has the numbers and units, [`clock`] dates and times, [`repeat`] the lists that loops print.

use std::collections::HashMap;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::POWER;
use tenbin_core::run::{Event, SensorState};
use tenbin_core::sample::{Param, Params};

use crate::sheet::Sheet;
use crate::{ParseError, RunSink};

pub mod clock;
pub mod reading;
pub mod repeat;
#[cfg(test)]
pub mod tell;

use clock::Date;
use reading::Reading;

/// A row of a list of sensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sensor {
    /// The name as printed.
    pub name: String,
    /// What tells sensors of one name apart, if it is printed: number or record.
    pub number: Option<String>,
    /// The entity.
    pub entity: Option<String>,
    /// The chip, for hwmon.
    pub chip: Option<String>,
    /// The status as printed.
    pub status: Option<String>,
    /// The number, if there is one.
    pub reading: Option<Reading>,
    /// What stands in its place.
    pub state: Option<String>,
    /// The row.
    pub raw: String,
}

/// A row of an event log.
#[derive(Clone, Debug, Default)]
pub struct EventRow {
    /// All but the time.
    pub event: Event,
    /// The date.
    pub date: Option<Date>,
    /// `hh:mm:ss`; without it there is no time.
    pub time: Option<String>,
}

/// The answer to a DCMI power reading, in watts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// Now.
    pub current: Option<f64>,
    /// The least of the sampling period.
    pub min: Option<f64>,
    /// The most of the sampling period.
    pub max: Option<f64>,
    /// The mean of the sampling period.
    pub mean: Option<f64>,
    /// The BMC says that it does not collect.
    pub inactive: bool,
}

/// Lines counted, and the first of them.
#[derive(Debug, Default)]
struct Lines {
    count: u64,
    first: String,
}

impl Lines {
    fn add(&mut self, line: &str) {
        if self.count == 0 {
            self.first = line.trim().chars().take(120).collect();
        }
        self.count += 1;
    }

    fn join(&mut self, other: Lines) {
        if self.count == 0 {
            self.first = other.first;
        }
        self.count += other.count;
    }
}

/// A list that is being read.
#[derive(Debug, Default)]
struct List {
    layout: &'static str,
    host: String,
    sensors: Vec<Sensor>,
    events: Vec<EventRow>,
    power: Power,
    errors: Lines,
    foreign: Lines,
    /// Foreign lines since the last row: they count once another row follows.
    pending: Lines,
    stamp: Option<String>,
    cut: bool,
}

/// The lists of a log while they are read.
pub struct Log<'a> {
    tool: &'static str,
    out: &'a mut dyn RunSink,
    /// Lists by host; several where a tool asks many hosts at once and mixes their lines.
    open: Vec<List>,
    hosts: HashMap<String, usize>,
    last: usize,
    any: bool,
    errors: Lines,
    stamp: Option<String>,
    /// The tool's version, where the log tells it.
    pub version: Option<String>,
}

impl<'a> Log<'a> {
    /// An empty log of `tool`.
    pub fn new(tool: &'static str, out: &'a mut dyn RunSink) -> Log<'a> {
        Log {
            tool,
            out,
            open: Vec::new(),
            hosts: HashMap::new(),
            last: 0,
            any: false,
            errors: Lines::default(),
            stamp: None,
            version: None,
        }
    }

    /// The next row of a sensor list. Another layout is another list.
    pub fn sensor(&mut self, host: &str, layout: &'static str, sensor: Sensor) {
        self.list(host, layout, false).sensors.push(sensor);
    }

    /// The next row of an event log. The first record again is another list.
    pub fn event(&mut self, host: &str, layout: &'static str, row: EventRow) {
        let again = self.hosts.get(host).and_then(|at| self.open[*at].events.first()).is_some_and(|first| {
            let same = first.event.record == row.event.record;
            same && row.event.record.is_some() && first.event.sensor == row.event.sensor
        });
        self.list(host, layout, again).events.push(row);
    }

    /// A power reading is a list of its own.
    pub fn power(&mut self, host: &str, power: Power) {
        if power.current.is_some() {
            self.list(host, "power", true).power = power;
        }
    }

    /// The beginning of a list: a header.
    pub fn begin(&mut self, host: &str) {
        if let Some(at) = self.hosts.get(host).copied() {
            let list = std::mem::take(&mut self.open[at]);
            self.open[at].host = list.host.clone();
            self.emit(list);
        }
    }

    /// A message of the tool itself.
    pub fn error(&mut self, line: &str) {
        match self.open.get_mut(self.last) {
            Some(list) if !list.layout.is_empty() => list.errors.add(line),
            _ => self.errors.add(line),
        }
    }

    /// A line of nobody known.
    pub fn foreign(&mut self, line: &str) {
        if let Some(list) = self.open.get_mut(self.last)
            && !list.layout.is_empty()
            && !line.trim().is_empty()
        {
            list.pending.add(line);
        }
    }

    /// A point in time, printed by a loop around the tool: it is told with the next list.
    pub fn stamp(&mut self, line: &str) {
        self.end_lists();
        self.stamp = Some(line.trim().to_owned());
    }

    /// All lists end here: a prompt, a command, a date.
    pub fn end_lists(&mut self) {
        for list in std::mem::take(&mut self.open) {
            self.emit(list);
        }
        self.hosts.clear();
        self.last = 0;
    }

    /// The list of `host`, in this layout.
    fn list(&mut self, host: &str, layout: &'static str, again: bool) -> &mut List {
        let at = match self.hosts.get(host) {
            Some(at) => *at,
            None => {
                self.open.push(List { host: host.to_owned(), ..List::default() });
                self.hosts.insert(host.to_owned(), self.open.len() - 1);
                self.open.len() - 1
            }
        };
        self.last = at;
        let current = self.open[at].layout;
        if again || (current != layout && !current.is_empty()) {
            let list = std::mem::take(&mut self.open[at]);
            self.open[at].host = host.to_owned();
            self.emit(list);
        }
        let list = &mut self.open[at];
        if list.layout.is_empty() {
            list.layout = layout;
            list.errors = std::mem::take(&mut self.errors);
            list.stamp = self.stamp.clone();
        }
        let pending = std::mem::take(&mut list.pending);
        list.foreign.join(pending);
        list
    }

    /// The runs of a finished list.
    fn emit(&mut self, mut list: List) {
        if list.layout.is_empty() {
            return;
        }
        let mut sheets = if list.events.is_empty() && !list.sensors.is_empty() {
            self.sensor_sheets(std::mem::take(&mut list.sensors))
        } else {
            let mut sheet = Sheet::new(self.tool);
            add_events(&mut sheet, std::mem::take(&mut list.events));
            add_power(&mut sheet, list.power);
            vec![sheet]
        };
        if let Some(first) = sheets.first_mut() {
            for (lines, kind, who) in [
                (&list.errors, CaveatKind::ErrorReported, "the tool reported"),
                (&list.foreign, CaveatKind::ForeignLines, "a line is not the tool's"),
            ] {
                let more = match lines.count {
                    0 => continue,
                    1 => String::new(),
                    count => format!("{count} times, first "),
                };
                first.caveat(kind, format!("{who}: {more}{}", lines.first));
            }
        }
        if list.cut
            && let Some(last) = sheets.last_mut()
        {
            last.caveat(CaveatKind::Truncated, "the log ends in the middle of a row, which is left out");
        }
        for mut sheet in sheets {
            sheet.run.tool_version = self.version.clone();
            if !list.host.is_empty() {
                sheet.fact(&format!("{}.host", self.tool), list.host.as_str());
            }
            if let Some(stamp) = &list.stamp {
                sheet.fact(&format!("{}.printed_at", self.tool), stamp.as_str());
            }
            if let Some(run) = sheet.finish() {
                self.any = true;
                self.out.run(run);
            }
        }
    }

    fn sensor_sheets(&self, sensors: Vec<Sensor>) -> Vec<Sheet> {
        let unique = sensors.iter().all(|sensor| sensor.number.is_some());
        let told = |sensor: &Sensor| {
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            [part(&sensor.chip), part(&sensor.number), part(&sensor.entity), sensor.name.clone()]
                .join("\u{1f}")
        };
        let keys: Vec<String> = sensors.iter().map(told).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut starts = repeat::starts(&keys, unique);
        let mut sheets = Vec::new();
        let mut rest = sensors;
        while let Some(start) = starts.pop() {
            let mut sheet = Sheet::new(self.tool);
            add_sensors(&mut sheet, rest.split_off(start));
            sheets.push(sheet);
        }
        sheets.reverse();
        sheets
    }

    /// The end of the file; `cut` if it ends in the middle of a row that could not be used.
    pub fn finish(mut self, cut: bool) -> Result<(), ParseError> {
        if cut && let Some(list) = self.open.get_mut(self.last) {
            list.cut = true;
        }
        self.end_lists();
        if self.any {
            return Ok(());
        }
        let said = match self.errors.count {
            0 => "no complete row of a sensor list, event log or power reading".to_owned(),
            _ => self.errors.first,
        };
        Err(ParseError::NothingMeasured { tool: self.tool, said })
    }
}

/// States and series of one list.
pub fn add_sensors(sheet: &mut Sheet, sensors: Vec<Sensor>) {
    let mut seen: HashMap<String, i64> = HashMap::new();
    let mut comma = false;
    for sensor in sensors {
        if let Some(reading) = &sensor.reading {
            let mut params = Params::new();
            let mut set = |key: &str, value: &Option<String>| {
                if let Some(value) = value {
                    params.insert(key.to_owned(), Param::Text(value.clone()));
                }
            };
            set("sensor", &Some(sensor.name.clone()));
            set("entity", &sensor.entity);
            set("chip", &sensor.chip);
            set("unit", &reading.unit);
            let key = format!("{}\u{1f}{params:?}", reading.metric.name);
            let occurrence = seen.entry(key).and_modify(|n| *n += 1).or_insert(1);
            if *occurrence > 1 {
                params.insert("occurrence".to_owned(), Param::Int(*occurrence));
            }
            comma |= reading.comma;
            sheet.printed(&reading.metric, &params, reading.value);
        }
        sheet.run.states.push(SensorState {
            sensor: sensor.name,
            entity: sensor.entity.or(sensor.chip),
            status: sensor.status,
            state: sensor.state,
            raw: sensor.raw,
        });
    }
    if comma {
        sheet.caveat(CaveatKind::Locale, "numbers were printed with a decimal comma");
    }
}

fn add_events(sheet: &mut Sheet, rows: Vec<EventRow>) {
    let day_first = rows.iter().any(|row| row.date.is_some_and(Date::day_is_first));
    if day_first {
        sheet.caveat(CaveatKind::Locale, "dates were printed with the day before the month");
    }
    for row in rows {
        let date = row.date.and_then(|date| date.told(day_first));
        let time = date.zip(row.time).map(|(date, time)| format!("{date}T{time}"));
        sheet.run.events.push(Event { time, ..row.event });
    }
}

fn add_power(sheet: &mut Sheet, power: Power) {
    let Some(current) = power.current else { return };
    let series = sheet.printed(&POWER, &Params::new(), current);
    series.reported.clear();
    // Zeros beside a machine that draws power: nothing was collected.
    let collected = !power.inactive && power.mean.is_some_and(|mean| mean > 0.0);
    for (figure, value) in [("min", power.min), ("max", power.max), ("mean", power.mean)] {
        if let Some(value) =
            value.filter(|value| *value > 0.0 || collected || (current == 0.0 && !power.inactive))
        {
            series.reported.insert(figure.to_owned(), value);
        }
    }
}

/// Whether a line ends a list: a prompt, a command, a heading, a rule.
pub fn is_break(line: &str) -> bool {
    let text = line.trim();
    let rule = |c: char| "-=*#_~+".contains(c);
    let ruled = text.len() >= 3 && text.chars().take(2).all(rule);
    let prompt = text.starts_with(['$', '#', '>', '%'])
        || ["]#", "]$", ":~#", ":~$", "]>"].iter().any(|end| text.contains(end));
    let command = ["ipmitool", "ipmi-sensors", "ipmi-sel", "ipmi-dcmi", "ipmimonitoring"]
        .iter()
        .any(|tool| text.split([' ', '/']).any(|word| word == *tool));
    text.starts_with("```") || ruled || prompt || command
}

/// What a tool printed that holds no reading, event or state, if one of `tables` begins in `text`: pairs of a
/// table's telling line and the command that prints it.
pub fn told_of(text: &str, tables: &[(&str, &str)]) -> Option<String> {
    let told = |line: &str| tables.iter().find(|(start, _)| line.starts_with(start));
    let (line, (_, command)) = text.lines().find_map(|line| Some((line, told(line)?)))?;
    Some(format!("`{command}` prints no reading, event or state (\"{}\")", line.trim_end()))
}

/// Whether a line looks like a message of a program that failed.
pub fn is_error(line: &str) -> bool {
    let text = line.trim().to_ascii_lowercase();
    let words = [
        "failed",
        "error",
        "unable to",
        "could not",
        "couldn't",
        "cannot",
        "can't",
        "not found",
        "timeout",
        "timed out",
        "unexpected id",
        "insufficient",
        "no such file",
        "has no entries",
        "unsupported",
        "invalid",
        "permission denied",
    ];
    text.len() < 400 && words.iter().any(|word| text.contains(word))
}
