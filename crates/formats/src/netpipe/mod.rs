//! NetPIPE 3 and 5: what it prints to the terminal, and its file np.out.
//!
//! Times are half the round trip. Version 3 keeps the fastest of several trials and calls 2^20 bits a second a Mbps;
//! version 5 takes means and counts decimally. np.out has no titles at all: it is known by its rates, which follow
//! from its sizes and times.

use std::io::BufRead;

use crate::{Format, ParseError, RunSink};

mod line;
mod parse;

/// The format.
pub struct NetPipe;

impl Format for NetPipe {
    fn name(&self) -> &'static str {
        "netpipe"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        head.lines().any(|text| line::row(text).is_some() || line::is_start(text)) || parse::is_file(&head)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

#[cfg(test)]
mod tests;
