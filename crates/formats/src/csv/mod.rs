//! Comma-separated values: tenbin's own table of a run, and tables of anybody's whose head names metrics and units.
//!
//! The own table has a row for each sample and each figure: `tool,metric,unit,better,headline,` then a column for each
//! param, then `figure,at_seconds,value`; an empty `figure` is a sample. A param that is text and looks like a number
//! is quoted, a number never is. `run` and `arm` columns, where there are any, tell runs apart.
//!
//! A foreign table is read if a column is called like a metric with its unit (`latency_us`, `bandwidth [MB/s]`,
//! `p99_latency_ms`); the other columns are params. No unit is guessed: `latency` alone is none.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod cells;
mod foreign;
mod head;
mod own;
mod print;
mod table;
mod units;

/// The format and the view.
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut lines = Lines::new(&mut head);
        let mut columns = None;
        while let Ok(Some(line)) = lines.next() {
            if line.text.trim().is_empty() || line.text.starts_with('#') {
                continue;
            }
            match columns {
                None => {
                    let Some((delimiter, cells)) = cells::head(line.text) else { return false };
                    if !own::is_head(&cells) && !foreign::is_head(&cells) {
                        return false;
                    }
                    columns = Some((delimiter, cells.len()));
                }
                // A head alone could be a sentence with commas.
                Some((delimiter, count)) => {
                    return cells::split(line.text, delimiter).is_none_or(|cells| cells.len() == count);
                }
            }
        }
        false
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let tables = table::read(input)?;
        let mut any = false;
        for table in &tables {
            let runs = if own::is_head(&table.head) { own::runs(table) } else { foreign::runs(table) };
            for run in runs {
                any = true;
                out.run(run);
            }
        }
        if any {
            return Ok(());
        }
        let said = "no row has a number below a metric's name".to_owned();
        Err(ParseError::NothingMeasured { tool: "csv", said })
    }
}

impl View for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
