//! qperf 0.4: bandwidth and latency of TCP, UDP, SCTP, RDS, SDP and of InfiniBand's transports.
//!
//! One block (`tcp_bw:` and what is indented below) is a run; a value printed again in a block is a further sample.
//! Latency is half the round trip. Prefixes are decimal for rates (K = 1000), binary for sizes where it says KiB.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod block;
mod parse;
mod value;

/// The format.
pub struct Qperf;

impl Format for Qperf {
    fn name(&self) -> &'static str {
        "qperf"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut lines = Lines::new(&mut head);
        // A test's name alone could be a key of anybody's: its value follows within a few lines.
        let mut near = 0;
        while let Ok(Some(line)) = lines.next() {
            let text = line.text.trim();
            let (test, rest) = parse::title(text).map_or((None, text), |(test, rest)| (Some(test), rest));
            near = if test.is_some() { 8 } else { near };
            if near > 0 && (parse::is_value(rest) || parse::is_failure(rest)) {
                return true;
            }
            near -= i32::from(near > 0);
        }
        false
    }

    fn opens(&self, line: &str) -> bool {
        parse::title(line).is_some_and(|(test, rest)| test != "conf" && rest.is_empty())
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        parse::parse(input, out)
    }
}

#[cfg(test)]
mod tests;
