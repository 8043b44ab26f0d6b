//! STREAM: the memory bandwidth of copy, scale, add and triad, C (5.x) and Fortran, any age.
//!
//! A rate is the best of the passes, in 10^6 bytes a second, and counts neither the first pass nor what a store reads
//! before it writes. One run a table; its times are `duration` of one pass. Printed as version 5.10 does.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod parse;
mod print;

/// The format and the view.
pub struct Stream;

/// The kernels, as printed and as the param `kernel`.
const KERNELS: [(&str, &str); 4] = [("Copy", "copy"), ("Scale", "scale"), ("Add", "add"), ("Triad", "triad")];

/// Rates are printed in MB/s: decimal.
const BYTES_PER_MB: f64 = 1e6;

impl Format for Stream {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut lines = Lines::new(&mut head);
        while let Ok(Some(line)) = lines.next() {
            if parse::is_stream(line.text.trim_start()) {
                return true;
            }
        }
        false
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

impl View for Stream {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
