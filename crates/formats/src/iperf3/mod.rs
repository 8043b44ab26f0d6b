//! iperf3's figures: its text, its JSON document, and the series they become.
//!
//! [`model`] holds what iperf3 says about a test, [`series`] turns it into series, [`text`] and [`json`] print it as
//! iperf3 3.12 does. Used by the importer, by the engine that speaks iperf3's protocol and by the verb that prints
//! like it, so that a figure has one meaning.

use std::io::{BufRead, Read};

use crate::clean::Text;
use crate::{Format, ParseError, RunSink};

pub mod json;
pub mod model;
mod read_json;
mod read_text;
mod reading;
pub mod series;
#[cfg(test)]
mod tests;
pub mod text;

/// The format.
pub struct Iperf3;

/// The longest log that is read, in bytes: weeks of intervals.
const LOG_LIMIT: u64 = 512 * 1024 * 1024;

impl Format for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        read_json::is_iperf3(&head) || read_text::is_iperf3(&head)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut log = String::new();
        Text::new(input).take(LOG_LIMIT).read_to_string(&mut log)?;
        let readings = if read_json::is_iperf3(&log) { read_json::read(&log) } else { read_text::read(&log) };
        let mut said = None;
        let mut any = false;
        for reading in readings {
            said = said.or(reading.test.error.clone());
            if let Some(run) = reading.run() {
                any = true;
                out.run(run);
            }
        }
        if any {
            return Ok(());
        }
        let said = said.unwrap_or_else(|| "the log ends before the first figure".to_owned());
        Err(ParseError::NothingMeasured { tool: "iperf3", said })
    }
}
