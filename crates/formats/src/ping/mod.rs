//! ping: iputils (any age and language), macOS and the BSDs, Windows (any language), BusyBox, GNU inetutils.
//!
//! Printed as Debian's iputils 20221126 does, to the letter; `print` has the lines. Read by `parse`: it asks `line` what
//! a line is and hands it to the `log` it belongs to. Round trips are full ones, in whole microseconds at best.
//! Duplicates are no samples, whether they are marked or not.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View};

mod caveats;
mod figures;
mod json;
mod line;
mod log;
mod mdev;
mod parse;
pub mod print;
mod reply;
mod seen;

/// The format and the view.
pub struct Ping;

impl Format for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        // Others end with the same figures, of what is no echo of ICMP.
        let others = ["HPING ", "hping statistic", "TCP connect ", "Starting Nping"];
        head.lines().any(line::is_ping) && !others.iter().any(|words| head.contains(words))
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
