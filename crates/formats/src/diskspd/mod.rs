//! DiskSpd: the XML of `-Rxml` and the text of its results; a run for each timespan.
//!
//! What it prints as MB/s or MiB/s is MiB/s. Latencies are there with `-L` only. `outcome` turns a timespan into a
//! run, `xml` and `text` read one each.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod outcome;
#[cfg(test)]
mod tests;
mod text;
mod xml;

/// The format.
pub struct DiskSpd;

/// The longest log that is read, in bytes.
const LONGEST: usize = 64 << 20;

impl Format for DiskSpd {
    fn name(&self) -> &'static str {
        "diskspd"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        xml::is_diskspd(&head) || head.lines().any(text::is_diskspd)
    }

    fn opens(&self, line: &str) -> bool {
        line.starts_with("Command Line: ") && line.contains("diskspd")
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut lines = Lines::new(input);
        let mut log = String::new();
        while let Some(line) = lines.next()? {
            if log.len() + line.text.len() > LONGEST {
                break;
            }
            log.push_str(line.text);
            if line.whole {
                log.push('\n');
            }
        }
        let outcomes = if xml::is_diskspd(&log) { xml::read(&log) } else { text::read(&log) };
        let mut any = false;
        for run in outcomes.into_iter().filter_map(outcome::Outcome::run) {
            any = true;
            out.run(run);
        }
        if any {
            return Ok(());
        }
        let begins = ["The test was interrupted", "Error", "ERROR"];
        let said =
            log.lines().map(|line| line.trim().trim_start_matches("<Error>").trim_end_matches("</Error>"));
        let said = said.into_iter().find(|line| begins.iter().any(|begin| line.starts_with(begin)));
        let said = said.unwrap_or("the log ends before the first result").chars().take(200).collect();
        Err(ParseError::NothingMeasured { tool: "diskspd", said })
    }
}
