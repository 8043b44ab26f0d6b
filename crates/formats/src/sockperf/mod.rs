//! sockperf 2 and 3: ping-pong, under-load, playback and throughput, and the file of `--full-log`.
//!
//! Latency is half the round trip, `rtt` with `--full-rtt`. Figures are of the valid duration, without warm-up and
//! the end. "MBps" and "Mbps" are binary: 2^20 bytes and bits. Throughput is what was sent, whatever arrived.

use std::io::BufRead;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink};

mod line;
mod parse;
mod reading;

/// The format.
pub struct Sockperf;

impl Format for Sockperf {
    fn name(&self) -> &'static str {
        "sockperf"
    }

    fn sniff(&self, mut head: &[u8]) -> bool {
        let mut lines = Lines::new(&mut head);
        while let Ok(Some(line)) = lines.next() {
            if line::is_sockperf(line.text) {
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
