//! iozone 3: the table, the Excel report where no table is left, and the blocks of throughput mode (`-t`).
//!
//! Its kB are 1024 bytes. In the table a blank column is a test that was not run, so `table` goes by position;
//! `-O` and `-N` change what the numbers are, which only a line of the header tells. `read` follows a file of
//! invocations, `call` turns one into a run, `print` writes the table.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View};

mod call;
pub mod print;
mod read;
mod table;
#[cfg(test)]
mod tests;

/// The format and the view.
pub struct Iozone;

impl Format for Iozone {
    fn name(&self) -> &'static str {
        "iozone"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        String::from_utf8_lossy(head).lines().any(read::is_iozone)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        read::parse(input, out)
    }
}

impl View for Iozone {
    fn name(&self) -> &'static str {
        "iozone"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}
