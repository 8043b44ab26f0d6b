//! ipmitool: lists of sensors (`sdr`, `sensor`, with -c, -v and `get`), the event log (`sel`), DCMI power readings.
//!
//! `row` reads tables and CSV, `block` what -v prints, `parse` puts runs together with [`crate::sensors`]; `print`
//! has `sdr elist`, `sensor` and `sel elist` as ipmitool 1.8.19 prints them. Of `fru`, `lan`,
//! `chassis`, `mc` and `sel info` it is said that they hold no reading.

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
        let block = line.starts_with("Sensor ID  ") || line.starts_with("SEL Record ID  ");
        (block || line.contains(" | ")) && is_own(line, false)
    }

    fn measured_nothing(&self, text: &str) -> Option<String> {
        crate::sensors::told_of(
            text,
            &[
                ("System Power         : ", "chassis status"),
                ("Chassis Power is ", "chassis power status"),
                ("Unable to get Chassis Power Status", "chassis power status"),
                ("FRU Device Description : ", "fru"),
                ("Device ID                 : ", "mc info"),
                ("SEL Information", "sel info"),
                ("SDR Version                         : ", "sdr info"),
                ("Set in Progress         : ", "lan print"),
                ("Supported DCMI capabilities:", "dcmi discover"),
            ],
        )
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
