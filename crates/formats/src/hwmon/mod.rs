//! lm-sensors: `sensors`, with -u, -j, -f, -A. One run is one list of all chips; a sensor is told by chip and label.
//!
//! Limits and extremes are no samples. A feature that its driver calls faulty has no reading, as in the text.
//! Left out: what `sensors -u -f` prints, which turns fans and volts into Fahrenheit and does not say so.

use std::io::BufRead;

use crate::clean::Lines;
use crate::sensors::reading::number;
use crate::sensors::{Log, clock, is_break, is_error};
use crate::{Format, ParseError, RunSink};

mod feature;
mod json;

use feature::{Feature, is_chip};
use json::Document;

/// The format.
pub struct Hwmon;

impl Format for Hwmon {
    fn name(&self) -> &'static str {
        "hwmon"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let mut input = head;
        let mut lines = Lines::new(&mut input);
        let mut chip = false;
        while let Ok(Some(line)) = lines.next() {
            let text = line.text.trim();
            let quoted = text.contains("\":") && text.split('"').any(is_chip);
            let valued = || feature::of_line("", text).is_some() || subfeature_line(text).is_some();
            if quoted || text == "No sensors found!" || (chip && (text.starts_with("Adapter: ") || valued()))
            {
                return true;
            }
            chip |= is_chip(text);
        }
        false
    }

    fn opens(&self, line: &str) -> bool {
        is_chip(line)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse(input, out)
    }
}

/// `  temp1_input: 45.000`
fn subfeature_line(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.trim().split_once(':')?;
    let value = value.trim();
    (feature::subfeature(key).is_some() && number(value).is_some()).then_some((key, value))
}

/// Whether a line that was cut may have said that the sensor is at fault: its reading is not to be trusted then.
fn may_tell_fault(cut: &str) -> bool {
    let key = cut.trim_start_matches('"');
    let what = key.split_once('_').map_or("", |(_, what)| what);
    !key.starts_with('}') && ("fault".starts_with(what) || what.starts_with("fault"))
}

/// The text layouts while they are read.
#[derive(Debug, Default)]
struct Text {
    chip: String,
    feature: Option<Feature>,
}

impl Text {
    fn end(&mut self, log: &mut Log<'_>) {
        if let Some(sensor) = self.feature.take().and_then(|feature| feature.finish(&self.chip)) {
            log.sensor("", "sensors -u", sensor);
        }
    }
}

fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut log = Log::new("hwmon", out);
    let mut text = Text::default();
    let mut document = Document::default();
    let mut cut = false;
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        let (raw, whole) = (line.text, line.whole);
        let trimmed = raw.trim();
        if trimmed.is_empty() || trimmed.starts_with("Adapter: ") || trimmed.starts_with("Can't get adapter")
        {
            continue;
        }
        if is_chip(trimmed) {
            text.end(&mut log);
            document = Document::default();
            // Half a name is no name.
            text.chip = if whole { trimmed.to_owned() } else { String::new() };
            continue;
        }
        let message = is_error(trimmed) && !trimmed.contains('"');
        if !message && (trimmed.starts_with(['{', '"', '}']) || (document.is_open() && trimmed == ",")) {
            text.end(&mut log);
            if !whole && may_tell_fault(trimmed) {
                document.drop_feature();
            }
            document.take(trimmed, whole, &mut log);
            cut = !whole && document.is_open();
            continue;
        }
        if let Some((key, value)) = subfeature_line(trimmed)
            && let Some(feature) = &mut text.feature
        {
            if whole {
                feature.take(key, value);
            } else if may_tell_fault(trimmed) {
                text.feature = None;
            }
            cut = !whole;
            continue;
        }
        // Only limits may follow a reading that is complete; a word may be cut.
        if let Some(sensor) = feature::of_line(&text.chip, raw) {
            text.end(&mut log);
            log.sensor("", "sensors", sensor);
            continue;
        }
        if let Some(label) = raw.strip_suffix(':')
            && !raw.starts_with([' ', '\t'])
            && !text.chip.is_empty()
        {
            text.end(&mut log);
            text.feature = Some(Feature::new(label));
            continue;
        }
        // Limits that did not fit into the line of their reading.
        if trimmed.starts_with('(') {
            continue;
        }
        if clock::is_stamp(trimmed) {
            text.end(&mut log);
            log.stamp(trimmed);
        } else if is_break(trimmed) || trimmed.starts_with("sensors version ") {
            text.end(&mut log);
            if let Some(version) = trimmed.strip_prefix("sensors version ") {
                log.version = version.split(' ').next().map(str::to_owned);
            }
            log.end_lists();
        } else if !whole {
            cut = true;
            text.feature = text.feature.take().filter(|_| !may_tell_fault(trimmed));
        } else if message || trimmed == "No sensors found!" {
            log.error(trimmed);
        } else {
            log.foreign(trimmed);
        }
    }
    text.end(&mut log);
    document.finish(&mut log);
    log.finish(cut)
}

#[cfg(test)]
mod tests;
