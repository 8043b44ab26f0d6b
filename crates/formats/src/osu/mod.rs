//! The OSU micro-benchmarks, 3 to 7: point to point, one-sided, collective, start-up; MPI, OpenSHMEM, UPC and NCCL; in C,
//! Python and Java.
//!
//! Start at `parse`: it cuts a log into tables; `title` names the program, `columns` knows the titles of columns. MB
//! are 10^6 bytes. Latencies of point-to-point programs are half the round trip, those of collectives the time of one
//! operation, averaged over ranks.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View, mpi};

mod columns;
mod parse;
pub mod print;
mod title;

/// The format and the view.
pub struct Osu;

impl Format for Osu {
    fn name(&self) -> &'static str {
        "osu"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        String::from_utf8_lossy(head).lines().map(mpi::unlabelled).any(|line| {
            title::read(line).is_some()
                || columns::header(line).is_some_and(|columns| columns.is_table())
                || parse::startup(line, true).is_some()
        })
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

impl View for Osu {
    fn name(&self) -> &'static str {
        "osu"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
