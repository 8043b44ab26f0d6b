//! The Intel MPI Benchmarks, from the days of Pallas to 2021: MPI-1, EXT, RMA, NBC, P2P and MT.
//!
//! Start at `parse`: it cuts a log into tables; `columns` reads rows, `table` makes a run of each table. The columns
//! are taken from the line above the rows, so every part of the suite is read by the same code. Times are microseconds
//! of one iteration (half of it for PingPong); min, max and avg are over ranks, not over iterations. IMB-IO's tables
//! are read as far as their columns are the same.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View, mpi};

mod columns;
mod parse;
pub mod print;
mod table;

/// The format and the view.
pub struct Imb;

impl Format for Imb {
    fn name(&self) -> &'static str {
        "imb"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        String::from_utf8_lossy(head).lines().map(mpi::unlabelled).any(|line| {
            parse::banner(line).is_some_and(|_| line.starts_with('#')) || columns::header(line).is_some()
        })
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

impl View for Imb {
    fn name(&self) -> &'static str {
        "imb"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
