//! Numbers as people write and read them. The only place with prefixes.
//!
//! Reading follows the plan's grammar: bit rates are decimal (`25Gbit`), sizes binary (`128k` = 131072),
//! times take `ns us ms s m h`. Writing picks a prefix and no more digits than asked for.

use crate::unit::Unit;

/// Reads `3s`, `5ms`, `2m`, `1.5h`; seconds.
pub fn parse_duration(text: &str) -> Result<f64, String> {
    let (number, suffix) = split(text)?;
    let factor = match suffix {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" => return Err(format!("\"{text}\" has no unit; write {text}s or {text}ms")),
        _ => return Err(format!("unknown unit \"{suffix}\" in \"{text}\"; times take ns, us, ms, s, m, h")),
    };
    Ok(number * factor)
}

/// Reads `25Gbit`, `100Mbit`, `64kbit`, `9600bit`; bit/s, decimal.
pub fn parse_bit_rate(text: &str) -> Result<u64, String> {
    let (number, suffix) = split(text)?;
    let suffix = suffix.strip_suffix("/s").unwrap_or(suffix);
    let factor = match suffix.to_ascii_lowercase().as_str() {
        "bit" => 1.0,
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        "tbit" => 1e12,
        _ => return Err(format!("\"{text}\" is no bit rate; write it like 25Gbit or 100Mbit")),
    };
    let rate = number * factor;
    if !(1.0..=1e15).contains(&rate) {
        return Err(format!("\"{text}\" is out of range; a bit rate lies between 1bit and 1000Tbit"));
    }
    Ok(rate.round() as u64)
}

/// Reads `34.1GB/s`, `900MB/s`, `30GiB/s`; byte/s, where `G` is decimal and `Gi` binary.
pub fn parse_byte_rate(text: &str) -> Result<f64, String> {
    let (number, suffix) = split(text)?;
    let factor = match suffix.strip_suffix("B/s") {
        Some("") => 1.0,
        Some("k" | "K") => 1e3,
        Some("M") => 1e6,
        Some("G") => 1e9,
        Some("T") => 1e12,
        Some("Ki") => 1024.0,
        Some("Mi") => 1024.0 * 1024.0,
        Some("Gi") => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("\"{text}\" is no byte rate; write it like 34.1GB/s")),
    };
    let rate = number * factor;
    match (1.0..=1e15).contains(&rate) {
        true => Ok(rate),
        false => Err(format!("\"{text}\" is out of range; a byte rate lies between 1B/s and 1000TB/s")),
    }
}

/// Reads `4096`, `128k`, `8MB`, `2g`; bytes, k = 1024.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, suffix) = split(text)?;
    let lower = suffix.to_ascii_lowercase();
    let factor = match lower.trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        "t" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("\"{text}\" is no size; write bytes or k, m, g (k = 1024), like 128k")),
    };
    let bytes = number * factor;
    if bytes > 9e18 {
        return Err(format!("\"{text}\" is too large a size"));
    }
    Ok(bytes.round() as u64)
}

/// Reads `2%` as 0.02.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    let (number, suffix) = split(text)?;
    match suffix {
        "%" => Ok(number / 100.0),
        _ => Err(format!("\"{text}\" is no percentage; write it like 2%")),
    }
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| format!("\"{text}\" does not begin with a number"))?;
    Ok((number, text[end..].trim_start()))
}

/// `value` in `unit` for people, with `digits` significant digits: `23.5 Gbit/s`, `84.2 us`, `12 %`.
pub fn human(value: f64, unit: Unit, digits: usize) -> String {
    let scale = Scale::of(value, unit);
    let number = significant(value / scale.factor, digits);
    if scale.symbol.is_empty() { number } else { format!("{number} {}", scale.symbol) }
}

/// A duration for people: `90 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 100.0 {
        return human(seconds, Unit::Second, 3);
    }
    let whole = seconds.round() as u64;
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (h, m, s) {
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// `10.00 Gbit/s` as `10 Gbit/s`: what was set or read has no noise, and needs no digits to say so.
pub fn trimmed(text: &str) -> String {
    let (number, symbol) = text.split_once(' ').map_or((text, ""), |(number, symbol)| (number, symbol));
    // `3 min 20 s` has two numbers and no decimals.
    if !number.contains('.') || symbol.contains(' ') {
        return text.to_owned();
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    if symbol.is_empty() { number.to_owned() } else { format!("{number} {symbol}") }
}

/// A prefix chosen for one value, to be used for a whole column or axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Divide base units by this.
    pub factor: f64,
    /// Print this behind the quotient; may be empty.
    pub symbol: &'static str,
}

impl Scale {
    /// The scale in which `value` has one to three (times: four) digits before the point.
    pub fn of(value: f64, unit: Unit) -> Scale {
        let steps: &[(f64, &'static str)] = match unit {
            Unit::Second => &[(1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")],
            Unit::BitPerSecond => {
                &[(1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s"), (1e12, "Tbit/s")]
            }
            Unit::BytePerSecond => &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")],
            Unit::Byte => &[
                (1.0, "B"),
                (1024.0, "KiB"),
                (1024.0 * 1024.0, "MiB"),
                (1024.0 * 1024.0 * 1024.0, "GiB"),
                (1024.0 * 1024.0 * 1024.0 * 1024.0, "TiB"),
            ],
            Unit::OpPerSecond => &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s")],
            Unit::FlopPerSecond => &[(1e6, "MFLOPS"), (1e9, "GFLOPS"), (1e12, "TFLOPS")],
            Unit::SecondPerByte => &[(1e-12, "ps/B"), (1e-9, "ns/B"), (1e-6, "us/B")],
            Unit::Hertz => &[(1.0, "Hz"), (1e3, "kHz"), (1e6, "MHz"), (1e9, "GHz")],
            Unit::Ratio => &[(0.01, "%")],
            Unit::Celsius => &[(1.0, "°C")],
            Unit::Rpm => &[(1.0, "rpm")],
            Unit::Volt => &[(1.0, "V")],
            Unit::Ampere => &[(1.0, "A")],
            Unit::Watt => &[(1.0, "W")],
            Unit::Joule => &[(1.0, "J")],
            Unit::Count | Unit::None => &[(1.0, "")],
        };
        let magnitude = value.abs();
        let fitting = steps.iter().rev().find(|(factor, _)| magnitude >= *factor);
        // Zero is plain: no prefix says more than another.
        let plain = steps.iter().find(|(factor, _)| *factor == 1.0);
        let chosen = match fitting {
            _ if magnitude == 0.0 => plain.or(steps.first()),
            Some(step) => Some(step),
            None => steps.first(),
        };
        chosen.map_or(Scale { factor: 1.0, symbol: "" }, |&(factor, symbol)| Scale { factor, symbol })
    }
}

/// `value` with `digits` significant digits and no exponent. Whole digits are never blanked: 1234.5 with
/// three digits is `1234`, and 0.012345 is `0.0123`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before = value.abs().log10().floor() as i64 + 1;
    let after = (digits as i64 - before).clamp(0, 12) as usize;
    let text = format!("{value:.after$}");
    // 9.996 with three digits rounds to 10.00: one digit too many.
    let rounded: f64 = text.parse().unwrap_or(value);
    if after > 0 && rounded != 0.0 && rounded.abs().log10().floor() as i64 + 1 > before {
        return format!("{value:.*}", after - 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |text: &str, seconds: f64| {
            let read = parse_duration(text).unwrap();
            assert!((read - seconds).abs() <= 1e-12 * seconds.abs(), "{text}: {read}");
        };
        check("3s", 3.0);
        check("5ms", 5e-3);
        check("250us", 250e-6);
        check("2m", 120.0);
        check("1.5h", 5400.0);
        assert!(parse_duration("3").unwrap_err().contains("write 3s"));
        assert!(parse_duration("3 fortnights").is_err());
        assert!(parse_duration("s").is_err());
    }

    #[test]
    fn bit_rates() {
        assert_eq!(parse_bit_rate("25Gbit"), Ok(25_000_000_000));
        assert_eq!(parse_bit_rate("100 Mbit/s"), Ok(100_000_000));
        assert_eq!(parse_bit_rate("2.5Gbit"), Ok(2_500_000_000));
        assert!(parse_bit_rate("25G").is_err());
        assert_eq!(parse_byte_rate("34.5GB/s"), Ok(34.5e9));
        assert_eq!(parse_byte_rate("2GiB/s"), Ok(2_147_483_648.0));
        assert!(parse_byte_rate("34GB").is_err() && parse_byte_rate("0B/s").is_err());
        assert!(parse_bit_rate("0bit").is_err());
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("128k"), Ok(131072));
        assert_eq!(parse_size("8MB"), Ok(8 << 20));
        assert_eq!(parse_size("8MiB"), Ok(8 << 20));
        assert_eq!(parse_size("64"), Ok(64));
        assert!(parse_size("64 packets").is_err());
        assert!(parse_size("99999999999g").is_err());
    }

    #[test]
    fn percentages() {
        assert_eq!(parse_percent("2%"), Ok(0.02));
        assert_eq!(parse_percent("0.5 %"), Ok(0.005));
        assert!(parse_percent("2").is_err());
    }

    #[test]
    fn for_people() {
        let check = |value: f64, unit: Unit, digits: usize, text: &str| {
            assert_eq!(human(value, unit, digits), text);
        };
        check(23.537e9, Unit::BitPerSecond, 3, "23.5 Gbit/s");
        check(84.21e-6, Unit::Second, 3, "84.2 us");
        check(1.0, Unit::Second, 3, "1.00 s");
        check(0.12, Unit::Ratio, 2, "12 %");
        check(131072.0, Unit::Byte, 3, "128 KiB");
        check(665.0, Unit::Count, 3, "665");
        check(0.0, Unit::BitPerSecond, 3, "0 bit/s");
        check(0.0, Unit::Second, 3, "0 s");
        check(9.996e9, Unit::BitPerSecond, 3, "10.0 Gbit/s");
        check(1.2e-10, Unit::SecondPerByte, 3, "120 ps/B");
        check(f64::NAN, Unit::Count, 3, "NaN");
        assert_eq!(duration(90.0), "90.0 s");
        assert_eq!(duration(200.0), "3 min 20 s");
        assert_eq!(duration(7260.0), "2 h 1 min");
    }
}
