//! What a PCI Express link carries after line coding, before packet headers.

use crate::ceiling::Ceiling;
use crate::quantity::human;
use crate::unit::Unit;

/// Numerator and denominator of a generation's line code by its signalling rate in bit/s on a lane.
fn code(speed: f64) -> (u32, u32) {
    match speed {
        s if s < 6e9 => (8, 10),
        s if s < 40e9 => (128, 130),
        // Generation 6: 236 of the 256 bytes of a FLIT carry packets.
        _ => (236, 256),
    }
}

/// What `lanes` at a signalling rate of `speed` bit/s carry, in bit/s.
pub fn data_rate(speed: f64, lanes: f64) -> f64 {
    let (data, sent) = code(speed);
    speed * lanes * f64::from(data) / f64::from(sent)
}

/// The ceiling that the link called `link` sets.
pub fn ceiling(link: &str, speed: f64, lanes: f64) -> Ceiling {
    let (data, sent) = code(speed);
    let limit = data_rate(speed, lanes);
    Ceiling {
        name: "PCIe path".to_owned(),
        limit,
        unit: Unit::BitPerSecond,
        steps: vec![
            format!("slowest link on the way: {link} (read)"),
            format!(
                "{} GT/s (read) x {lanes} lanes (read) x {data}/{sent} line code = {}",
                speed / 1e9,
                human(limit, Unit::BitPerSecond, 4)
            ),
            "packet headers take a further 5 to 16 %, by payload size".to_owned(),
        ],
        all_read: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_rates() {
        // GT/s, lanes, Gbit/s
        let check = |speed: f64, lanes: f64, expected: f64| {
            assert!((data_rate(speed * 1e9, lanes) / 1e9 - expected).abs() < 0.05, "{speed} x{lanes}");
        };
        check(2.5, 1.0, 2.0);
        check(5.0, 4.0, 16.0);
        check(8.0, 4.0, 31.5);
        check(8.0, 8.0, 63.0);
        check(16.0, 16.0, 252.1);
        check(32.0, 8.0, 252.1);
        check(64.0, 4.0, 236.0);
    }

    #[test]
    fn the_steps_show_the_sum() {
        let ceiling = ceiling("0000:3a:00.0", 8e9, 4.0);
        assert_eq!(ceiling.steps[1], "8 GT/s (read) x 4 lanes (read) x 128/130 line code = 31.51 Gbit/s");
        assert!((ceiling.limit - 31.5077e9).abs() < 1e6);
    }
}
