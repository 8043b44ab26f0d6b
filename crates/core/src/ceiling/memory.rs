//! What memory of a known transfer rate lets through: STREAM's counted bytes, and Himeno's benchmark by its roofline.
//!
//! An ordinary store reads its line first (write-allocate), which STREAM does not count and Himeno's traffic includes.

use crate::ceiling::Ceiling;
use crate::quantity::{human, trimmed};
use crate::unit::Unit;

/// Bytes that move for a point of Himeno's grid: 52 read, 16 by storing with allocation, 4 of the copy pass.
const HIMENO_BYTES: f64 = 72.0;
/// Floating point operations for a point.
const HIMENO_FLOP: f64 = 34.0;

/// What STREAM can count of a memory of `rate` byte/s.
pub fn stream(rate: f64) -> Ceiling {
    Ceiling {
        name: "memory rate".to_owned(),
        limit: rate,
        unit: Unit::BytePerSecond,
        steps: vec![
            format!("{} of all channels (given)", bytes(rate)),
            "without streaming stores copy and scale can count 2/3 of it, add and triad 3/4".to_owned(),
        ],
        all_read: true,
    }
}

/// What Himeno's benchmark can do on a memory of `rate` byte/s, where its arrays do not fit into caches.
pub fn himeno(rate: f64) -> Ceiling {
    let limit = rate / HIMENO_BYTES * HIMENO_FLOP;
    Ceiling {
        name: "memory roofline".to_owned(),
        limit,
        unit: Unit::FlopPerSecond,
        steps: vec![
            format!("{} of all channels (given)", bytes(rate)),
            format!("{HIMENO_FLOP} flop for {HIMENO_BYTES} bytes moved of a point, beyond caches"),
            format!(
                "{} x {HIMENO_FLOP}/{HIMENO_BYTES} = {}",
                bytes(rate),
                trimmed(&human(limit, Unit::FlopPerSecond, 4))
            ),
        ],
        all_read: true,
    }
}

fn bytes(rate: f64) -> String {
    trimmed(&human(rate, Unit::BytePerSecond, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_channels_of_ddr4_2133() {
        let roofline = himeno(34.128e9);
        assert!((roofline.limit / 16.116e9 - 1.0).abs() < 1e-3);
        assert_eq!(roofline.steps[2], "34.13 GB/s x 34/72 = 16.12 GFLOPS");
        let counted = stream(34.128e9);
        assert_eq!((counted.limit, counted.unit), (34.128e9, Unit::BytePerSecond));
    }
}
