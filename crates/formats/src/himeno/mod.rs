//! Himeno's benchmark: C (static, dynamic, MPI, OpenMP), Fortran 77 and 90, the versions of 1998 and 2002, and the
//! table that the Phoronix Test Suite makes of it.
//!
//! The value is the final MFLOPS; the rehearsal in front of it is only a fact. Printed as the static C program does.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod grid;
mod parse;
mod print;
mod reading;

/// The format and the view.
pub struct Himeno;

/// MFLOPS of the machine that scores 1: a Pentium III at 600 MHz.
const PENTIUM_III: f64 = 82.84;

/// The serial C programs divide by `82,84`: a comma operator, whose value in the list of arguments is 82.
const PENTIUM_III_WITH_COMMA: f64 = 82.0;

impl Format for Himeno {
    fn name(&self) -> &'static str {
        "himeno"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut lines = Lines::new(&mut head);
        while let Ok(Some(line)) = lines.next() {
            if parse::is_himeno(line.text.trim_start()) {
                return true;
            }
        }
        false
    }

    fn opens(&self, line: &str) -> bool {
        parse::opens(line)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

impl View for Himeno {
    fn name(&self) -> &'static str {
        "himeno"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}

#[cfg(test)]
mod tests;
