//! KDiskMark: fio's figures in the text of CrystalDiskMark 7, read by [`crate::crystaldiskmark`].
//!
//! Its "MB/s" are KiB/s / 1000 (up to 1.5.0 MiB/s): corrected, with a caveat. Its numbers are means of the passes,
//! in the profiles Peak, Real World and Demo the best pass.

use std::io::BufRead;

use crate::crystaldiskmark::read;
use crate::{Format, ParseError, RunSink};

#[cfg(test)]
mod tests;

/// The format.
pub struct KDiskMark;

impl Format for KDiskMark {
    fn name(&self) -> &'static str {
        "kdiskmark"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        read::whose(&String::from_utf8_lossy(head)) == Some(read::Tool::K)
    }

    fn opens(&self, line: &str) -> bool {
        line.starts_with("KDiskMark ")
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        read::parse(input, read::Tool::K, out)
    }
}
