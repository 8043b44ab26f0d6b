//! fping 2.4 to 5.x: a line for each reply (`-c`, `-C`, `-l`), lists of times (`-C`), totals (`-c`, `-q`), periodic
//! totals (`-Q`), the figures over all targets (`-s`), the charts for netdata (`-N`) and the JSON lines of 5.5 (`-J`).
//!
//! Round trips are full ones. Several targets share one run and are told apart by `target`; each period of `-Q` is a run
//! of its own. Left out: lists of hosts that are merely alive.

use std::io::BufRead;

use crate::{Format, ParseError, RunSink};

mod block;
mod json;
mod line;
mod netdata;
mod parse;

/// The format.
pub struct Fping;

impl Format for Fping {
    fn name(&self) -> &'static str {
        "fping"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let named = head.contains("fping ");
        head.lines().any(|text| line::is_fping(text, named))
    }

    fn opens(&self, line: &str) -> bool {
        (line.contains(" : ") || line.contains(" fping.")) && line::opens(line)
    }

    fn measured_nothing(&self, text: &str) -> Option<String> {
        // Without -e no time is printed.
        let mut lines = text.lines().filter(|text| !text.trim().is_empty());
        let first = lines.clone().next()?;
        lines.all(line::is_alive_or_dead).then(|| first.to_owned())
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

#[cfg(test)]
mod tests;
