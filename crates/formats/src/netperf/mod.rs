//! netperf 2.1 to 2.7: the tables of its classic tests, and the output that the omni tests let people choose.
//!
//! `reader` goes through the lines, `omni` reads chosen outputs (`-k`, `-o`, `-O`), `result` holds what a test
//! gave and makes the run. Percentiles of request/response tests are of full round trips. Tables of `-P 0`, which have
//! neither banner nor heading, are not recognised.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod omni;
mod reader;
mod result;
#[cfg(test)]
mod tests;

/// The format.
pub struct Netperf;

/// The tool's name.
const TOOL: &str = "netperf";

impl Format for Netperf {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let mut keys = 0;
        head.lines().any(|line| {
            keys += usize::from(omni::key_value(line).is_some());
            keys > 1 || is_netperf(line)
        })
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut lines = Lines::new(input);
        let mut reader = reader::Reader::default();
        while let Some(line) = lines.next()? {
            reader.line(line.text, line.whole);
        }
        let (runs, said) = reader.finish();
        if runs.is_empty() {
            let said = said.unwrap_or_else(|| "the log ends before the first figure".to_owned());
            return Err(ParseError::NothingMeasured { tool: TOOL, said });
        }
        for run in runs {
            out.run(run);
        }
        Ok(())
    }
}

/// Whether only netperf writes such a line.
fn is_netperf(line: &str) -> bool {
    reader::banner(line).is_some()
        || reader::interim(line).is_some()
        || omni::interim_key(line).is_some()
        || omni::names(line).is_some()
        || line.contains("!!! Desired confidence was not achieved")
        || line.contains("are you sure there is a netserver listening")
        || line.contains("establish_control could not establish the control")
        || {
            let words: Vec<&str> = line.split_whitespace().collect();
            words == ["Socket", "Socket", "Message", "Elapsed"]
                || words.starts_with(&["Size", "Size", "Time", "Okay", "Errors", "Throughput"])
                || words.starts_with(&["Socket", "Size", "Request", "Resp.", "Elapsed", "Trans."])
        }
}
