//! ipmitool: lists of sensors (`sdr`, `sensor`, with -c, -v and `get`), the event log (`sel`), DCMI power readings.
//!
//! `row` reads tables and CSV, `block` what -v prints, `parse` puts runs together with [`crate::sensors`]; `print`
//! has `sdr elist`, `sensor` and `sel elist` as ipmitool 1.8.19 prints them. `fru`, `lan`, `chassis`, `mc` are known
//! and hold nothing that is measured.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod block;
mod parse;
mod print;
mod row;

pub(crate) use row::direction;

/// The format and the view.
pub struct Ipmitool;

impl Format for Ipmitool {
    fn name(&self) -> &'static str {
        "ipmitool"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let mut input = head;
        let mut lines = Lines::new(&mut input);
        let (mut named, mut readings, mut others) = (false, 0, 0);
        while let Ok(Some(line)) = lines.next() {
            named |= line.text.contains("ipmitool ")
                || (line.text.starts_with("Sensor \"") && line.text.ends_with("not found!"));
            if is_own(line.text, named) {
                return true;
            }
            if row::is_aligned_reading(line.text) {
                readings += 1;
            } else if !line.text.is_empty() {
                others += 1;
            }
        }
        // `sensor reading` prints nothing but names and numbers.
        readings > 1 && others == 0
    }

    fn opens(&self, line: &str) -> bool {
        line.contains(" | ") && is_own(line, false)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

/// Whether a line is ipmitool's and nobody else's; `named` after a line with its name.
fn is_own(line: &str, named: bool) -> bool {
    let said = [
        "SEL has no entries",
        "Could not open device at /dev/ipmi",
        "Error: Unable to establish IPMI",
        "Error: Unable to establish LAN session",
        "Get Device ID command failed",
        "DCMI request failed because:",
        "Sensor data record not found!",
        // `sel info`, `chassis status`, `power status`, `mc info`, `fru`, `lan print`: nothing that is measured.
        "SEL Information",
        "System Power         : ",
        "Chassis Power is o",
        "Device ID                 : ",
        "FRU Device Description : ",
        "Set in Progress         : ",
    ];
    let text = line.trim();
    let block = ["Sensor ID  ", "SEL Record ID  ", "Instantaneous power reading:"];
    if block.iter().any(|start| text.starts_with(start)) && block::Block::begin(line).is_some() {
        return true;
    }
    let row = parse::row_of(line, true);
    said.iter().any(|said| text.starts_with(said))
        || row.is_some_and(|(_, row)| {
            let reading = matches!(&row, row::Row::Sensor("reading", _));
            row::is_certain(&row) || (named && reading)
        })
}

impl View for Ipmitool {
    fn name(&self) -> &'static str {
        "ipmitool"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
