//! perftest: `ib_{send,write,read,atomic}_{bw,lat}` and their siblings for raw Ethernet; text of any version, JSON.
//!
//! One run a table. The average bandwidth is the sample, the peak is `reported.max`; latency is half the round trip
//! for send and write, a whole one for read and atomic, as the programs define it. "MB/sec" was always 2^20 bytes and
//! is called MiB/sec since 2024; "Gb/sec" is decimal.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod banner;
mod columns;
mod json;
mod parse;
mod table;

/// The format.
pub struct Perftest;

/// What the bandwidth columns' "MB" and "MiB" are.
const BYTES_PER_MIB: f64 = 1_048_576.0;

/// A column in "Gb" is decimal.
const BYTES_PER_GBIT: f64 = 125e6;

impl Format for Perftest {
    fn name(&self) -> &'static str {
        "perftest"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut json = false;
        let mut lines = Lines::new(&mut head);
        while let Ok(Some(line)) = lines.next() {
            let text = parse::bare(line.text);
            json = json || json::is_opening(line.text);
            let own = columns::read(text).is_some() || banner::is_perftest(text);
            if own || json && json::is_result(line.text) {
                return true;
            }
        }
        false
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

#[cfg(test)]
mod tests;
