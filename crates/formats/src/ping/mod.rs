//! ping: iputils (any age and language), macOS and the BSDs, Windows (any language), BusyBox.
//!
//! Printed as Debian's iputils 20221126 does, to the letter; `print` has the lines, `parse` reads them all.
//! Round trips are full ones, in whole microseconds at best. Duplicates are no samples.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View};

mod line;
mod parse;
pub mod print;

/// The format and the view.
pub struct Ping;

impl Format for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        String::from_utf8_lossy(head).lines().any(line::is_ping)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

impl View for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
