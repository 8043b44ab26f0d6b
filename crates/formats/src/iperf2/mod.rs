//! iperf 2: text and CSV of 2.0 to 2.2, of clients and servers.
//!
//! `row` reads a line of figures, `csv` the same from `-y C`, `reader` finds out which test a line belongs to,
//! `group` tells its intervals from its end line, `emit` makes a row into samples, `whole` names the series once all are
//! there. Sizes are 1024-based, rates in bits 1000-based. An end line looks like an interval that starts at 0: which it
//! is shows only by what comes before and after it.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod csv;
mod emit;
mod facts;
mod group;
mod reader;
mod row;
#[cfg(test)]
mod tests;
mod whole;

pub(crate) use whole::headline;

/// The format.
pub struct Iperf2;

/// The tool's name.
const TOOL: &str = "iperf2";

impl Format for Iperf2 {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn sniff(&self, head: &[u8]) -> bool {
        is_iperf2(&String::from_utf8_lossy(head))
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

/// Whether the first line that only one iperf writes is iperf 2's.
pub(crate) fn is_iperf2(text: &str) -> bool {
    text.lines().find_map(verdict).unwrap_or(false)
}

/// Whose a line is: iperf 2's, iperf3's, or neither's.
fn verdict(line: &str) -> Option<bool> {
    let has = |words: &str| line.contains(words);
    let listening = |protocol: &str| {
        line.find(protocol).is_some_and(|at| line[at..].contains(" port")) && has("Server listening on ")
    };
    if has("Client connecting to ") && has(" port ")
        || listening(" on TCP ")
        || listening(" on UDP ")
        || has("] local ") && has(" port ") && has(" connected with ")
        || csv::is_iperf2(line)
    {
        return Some(true);
    }
    if has("Connecting to host ") && has(", port ")
        || has("Accepted connection from ")
        || has("] local ") && has(" connected to ")
        || has("iperf3: ")
        || line.trim() == "iperf Done."
    {
        return Some(false);
    }
    let row = row::read(line, true)?;
    // iperf3 has two decimals, and none of these columns.
    let cells = &row.cells;
    let columns = cells.writes || cells.reads || cells.latency.is_some() || cells.bounce.is_some();
    let own = row.decimals != 2 || columns;
    Some(own)
}
