//! fping 2.4 to 5.x: a line for each reply (`-c`, `-C`, `-l`), lists of times (`-C`), totals (`-c`, `-q`), periodic
//! totals (`-Q`), the figures over all targets (`-s`), and the JSON lines of 5.5 (`-J`).
//!
//! Round trips are full ones. Several targets share one run and are told apart by `target`; each period of `-Q` is a run
//! of its own. Left out: the protocol of `-N`, which another program reads, and lists of hosts that are merely alive.

use std::io::BufRead;

use crate::{Format, ParseError, RunSink};

mod block;
mod json;
mod line;
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
        line.contains(" : ") && line::opens(line)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

#[cfg(test)]
mod tests;
