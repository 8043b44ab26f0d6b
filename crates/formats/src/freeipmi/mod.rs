//! FreeIPMI: ipmi-sensors and ipmi-sel in every layout, the power statistics of ipmi-dcmi.
//!
//! `table` reads rows with or without a header, `legacy` what is printed outside of tables; runs are put together
//! with [`crate::sensors`]. Left out: bmc-info, ipmi-fru, the hex dumps.

use std::io::BufRead;

use crate::clean::Lines;
use crate::sensors::{Log, Sensor, clock, is_break, is_error};
use crate::{Format, ParseError, RunSink};

mod legacy;
mod table;

use legacy::Block;
use table::{Column, Row};

/// The format.
pub struct FreeIpmi;

impl Format for FreeIpmi {
    fn name(&self) -> &'static str {
        "freeipmi"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let mut input = head;
        let mut lines = Lines::new(&mut input);
        let mut record = false;
        while let Ok(Some(line)) = lines.next() {
            let text = line.text;
            let (_, rest) = host(text).unwrap_or(("", text));
            if is_own(text) || is_own(rest) || (record && rest.starts_with("ID String: ")) {
                return true;
            }
            record |= rest.starts_with("Record ID: ");
        }
        false
    }

    fn opens(&self, line: &str) -> bool {
        if line.starts_with("Record ID: ") || line.starts_with("Current Power  ") {
            return true;
        }
        let columns = line.strip_prefix("ID ").map(str::trim_start);
        columns.is_some_and(|columns| columns.starts_with("| Name ") || columns.starts_with("| Date "))
    }

    fn measured_nothing(&self, text: &str) -> Option<String> {
        // In the order of how much they say: the first line of a table and the command that prints it.
        crate::sensors::told_of(
            text,
            &[
                ("Device SDRs           : ", "bmc-info"),
                ("Power restore policy                : ", "ipmi-chassis --get-chassis-status"),
                ("FRU Inventory Device: ", "ipmi-fru"),
                ("Number of log entries:   ", "ipmi-sel --info"),
                ("DCMI Specification Conformance  ", "ipmi-dcmi --get-dcmi-capability-info"),
            ],
        )
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse(input, out)
    }
}

/// Whether a line is FreeIPMI's and nobody else's.
fn is_own(text: &str) -> bool {
    let said = ["ipmi_cmd_", "ipmi_ctx_", "ipmi-sensors: ", "ipmi-sel: ", "ipmi-dcmi: ", "ipmimonitoring: "];
    table::header(text).is_some()
        || match table::row(text, None, true) {
            // Others have numbered rows with "N/A", too.
            Some(Row::Sensor(sensor)) => sensor.raw.contains('\''),
            Some(Row::Event(_)) => true,
            None => false,
        }
        || legacy::sensor(text).is_some()
        || legacy::event(text).is_some()
        || (text.starts_with("Current Power  ") && Block::begin(text).is_some())
        || said.iter().any(|said| text.starts_with(said))
}

/// Host and rest of a line that a command for several hosts printed.
fn host(text: &str) -> Option<(&str, &str)> {
    let (host, rest) = text.split_once(": ")?;
    let name = |c: char| c.is_ascii_alphanumeric() || "._-:[]".contains(c);
    (!host.is_empty() && host.chars().all(name)).then_some((host, rest))
}

/// What a line turned out to be.
enum Told {
    Header(Vec<Column>),
    Sensor(&'static str, Sensor),
    Event(&'static str, crate::sensors::EventRow),
    Block(Block),
}

fn read(text: &str, header: Option<&[Column]>, whole: bool) -> Option<Told> {
    if let Some(columns) = table::header(text) {
        return Some(Told::Header(columns));
    }
    let row = table::row(text, header, whole).or_else(|| table::row(text, None, whole));
    if let Some(row) = row {
        return Some(match row {
            Row::Sensor(sensor) => Told::Sensor("ipmi-sensors", sensor),
            Row::Event(event) => Told::Event("ipmi-sel", event),
        });
    }
    if let Some(sensor) = legacy::sensor(text) {
        return Some(Told::Sensor("ipmi-sensors --legacy-output", sensor));
    }
    if let Some(event) = legacy::event(text) {
        return Some(Told::Event("ipmi-sel --legacy-output", event));
    }
    Block::begin(text).filter(|_| whole).map(Told::Block)
}

fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut log = Log::new("freeipmi", out);
    let mut header: Option<Vec<Column>> = None;
    let mut block: Option<(String, Block)> = None;
    let mut cut = false;
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        let (text, whole) = (line.text, line.whole);
        let columns = header.as_deref();
        let told = match read(text, columns, whole) {
            Some(told) => Some(("", told)),
            None => host(text).and_then(|(host, rest)| Some((host, read(rest, columns, whole)?))),
        };
        if let Some((host, told)) = told {
            end(&mut block, &mut log);
            match told {
                Told::Header(columns) => {
                    log.begin(host);
                    header = Some(columns);
                }
                Told::Sensor(layout, sensor) => log.sensor(host, layout, sensor),
                Told::Event(layout, event) => log.event(host, layout, event),
                Told::Block(next) => block = Some((host.to_owned(), next)),
            }
            continue;
        }
        if let Some((host, current)) = &mut block {
            let own =
                text.strip_prefix(host.as_str()).map(|rest| rest.trim_start_matches(": ")).unwrap_or(text);
            if current.take(own, whole) {
                continue;
            }
        }
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.contains("Caching SDR re") {
            continue;
        }
        end(&mut block, &mut log);
        if clock::is_stamp(trimmed) {
            log.stamp(trimmed);
        } else if is_break(trimmed) {
            log.end_lists();
            header = None;
        } else if !whole {
            cut = true;
        } else if is_error(trimmed) || is_own(trimmed) {
            log.error(trimmed);
        } else {
            log.foreign(trimmed);
        }
    }
    end(&mut block, &mut log);
    log.finish(cut)
}

/// Ends a block: its row goes to the list.
fn end(block: &mut Option<(String, Block)>, log: &mut Log<'_>) {
    match block.take() {
        Some((host, Block::Sensor(block))) => {
            if let Some(sensor) = block.finish() {
                log.sensor(&host, "ipmi-sensors -v", sensor);
            }
        }
        Some((host, Block::Power(power))) => log.power(&host, power),
        None => {}
    }
}

#[cfg(test)]
mod tests;
