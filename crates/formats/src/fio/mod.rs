//! fio 1.59 to 3: JSON and JSON+, the normal text, terse lines, and the mixtures of them that `--output-format` makes.
//!
//! Every job entry is a run (`model`). `read_json` reads documents wherever they stand (`documents` finds and mends
//! them), `read_text` the text, `terse` the lines of `--minimal`; `settings` understands the options. `print` writes
//! a run as fio 3 would. Bandwidth is a job's total over its time, latency the completion latency.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod documents;
mod model;
pub mod print;
mod read_json;
mod read_text;
mod settings;
mod terse;
#[cfg(test)]
mod tests;
mod text_line;

/// The format and the view.
pub struct Fio;

/// The longest log that is read, in bytes.
const LONGEST: usize = 64 << 20;

impl Format for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        documents::is_fio(&head) || head.lines().any(read_text::is_fio)
    }

    fn opens(&self, line: &str) -> bool {
        text_line::start(line).is_some() || text_line::head(line).is_some()
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let log = whole_text(input)?;
        let jobs = if documents::is_fio(&log) { read_json::read(&log) } else { Vec::new() };
        // The text around a document repeats it.
        let jobs = if jobs.is_empty() { read_text::read(&log) } else { jobs };
        let mut said = None;
        let mut any = false;
        for job in jobs {
            said = said.or_else(|| job.failure());
            if let Some(run) = job.run() {
                any = true;
                out.run(run);
            }
        }
        if any {
            return Ok(());
        }
        let said = said.or_else(|| read_text::complaint(&log));
        let said =
            said.unwrap_or_else(|| "no job did any I/O, or the log ends before the first of them".to_owned());
        Err(ParseError::NothingMeasured { tool: "fio", said })
    }
}

/// The cleaned log; it ends in a line feed unless its last line was cut.
fn whole_text(input: &mut dyn BufRead) -> Result<String, ParseError> {
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
    Ok(log)
}

impl View for Fio {
    fn name(&self) -> &'static str {
        "fio-json"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}
