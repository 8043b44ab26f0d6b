//! CrystalDiskMark 3 to 9: the text that its Copy and Save make.
//!
//! MB/s are 10^6 bytes/s in every version. A number is the best of several passes. `row` reads a row, `read` a file
//! of results (KDiskMark's too, which imitates the text), `print` writes the text of version 8 and of version 3.

use std::fmt;
use std::io::BufRead;

use tenbin_core::run::Run;

use crate::{Format, ParseError, RunSink, View};

pub(crate) mod number;
pub mod print;
pub(crate) mod read;
pub(crate) mod row;
#[cfg(test)]
pub(crate) mod tests;

/// The format and the view.
pub struct CrystalDiskMark;

impl Format for CrystalDiskMark {
    fn name(&self) -> &'static str {
        "crystaldiskmark"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        read::whose(&String::from_utf8_lossy(head)) == Some(read::Tool::Crystal)
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        read::parse(input, read::Tool::Crystal, out)
    }
}

impl View for CrystalDiskMark {
    fn name(&self) -> &'static str {
        "crystaldiskmark"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        print::run(run, out)
    }
}
