//! qperf's numbers with their units, as base units.

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds.
    Time,
    /// Bits in a second.
    BitRate,
    /// Something in a second.
    Rate,
    /// Bytes.
    Size,
    /// Seconds for a byte.
    Cost,
    /// Share of one CPU.
    Cpus,
    /// A plain number.
    Count,
}

/// A value in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// What it measures.
    pub kind: Kind,
    /// How much.
    pub amount: f64,
    /// Whether a prefix took digits away that matter: sizes and counts are whole numbers.
    pub rounded: bool,
}

/// Reads `29.2 us`, `2.59 GB/sec`, `64 KiB (65,536)`, `8,591`. The unit must be whole: `451 MB/se` is cut.
pub fn read(text: &str) -> Option<Value> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '-')).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let number = number(digits)?;
    let rest = rest.trim();
    // The exact size stands behind the one with a binary prefix.
    if let Some((unit, exact)) = rest.split_once('(') {
        let known = matches!(unit.trim(), "KiB" | "MiB" | "GiB" | "TiB");
        let amount = exact.split_once(')').and_then(|(exact, _)| self::number(exact.trim()))?;
        return known.then_some(Value { kind: Kind::Size, amount, rounded: false });
    }
    let (kind, factor) = unit(rest)?;
    let rounded = match kind {
        Kind::Size => factor > 1.0,
        Kind::Count => factor > 1.0,
        _ => false,
    };
    // Divided where that keeps the decimals: 29.2 / 1e6 is 29.2e-6, 29.2 * 1e-6 is not.
    let amount = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
    Some(Value { kind, amount, rounded })
}

/// How many words behind the number make up its unit.
pub fn unit_words(words: &[&str]) -> usize {
    match words {
        ["%", cpus, ..] if cpus.starts_with("cpu") => 2,
        [_, exact, ..] if exact.starts_with('(') && exact.ends_with(')') && words[0].ends_with("iB") => 2,
        [one, ..] if unit(one).is_some() => 1,
        _ => 0,
    }
}

fn number(digits: &str) -> Option<f64> {
    digits.replace(',', "").parse().ok().filter(|value: &f64| value.is_finite())
}

fn unit(name: &str) -> Option<(Kind, f64)> {
    let (kind, factor) = match name {
        "ns" => (Kind::Time, 1e-9),
        "us" => (Kind::Time, 1e-6),
        "ms" => (Kind::Time, 1e-3),
        "sec" => (Kind::Time, 1.0),
        "bytes/sec" => (Kind::BitRate, 8.0),
        "KB/sec" => (Kind::BitRate, 8e3),
        "MB/sec" => (Kind::BitRate, 8e6),
        "GB/sec" => (Kind::BitRate, 8e9),
        "TB/sec" => (Kind::BitRate, 8e12),
        "bits/sec" => (Kind::BitRate, 1.0),
        "Kb/sec" => (Kind::BitRate, 1e3),
        "Mb/sec" => (Kind::BitRate, 1e6),
        "Gb/sec" => (Kind::BitRate, 1e9),
        "Tb/sec" => (Kind::BitRate, 1e12),
        "/sec" => (Kind::Rate, 1.0),
        "K/sec" => (Kind::Rate, 1e3),
        "M/sec" => (Kind::Rate, 1e6),
        "G/sec" => (Kind::Rate, 1e9),
        "T/sec" => (Kind::Rate, 1e12),
        "bytes" | "byte" => (Kind::Size, 1.0),
        "KB" => (Kind::Size, 1e3),
        "MB" => (Kind::Size, 1e6),
        "GB" => (Kind::Size, 1e9),
        "TB" => (Kind::Size, 1e12),
        "KiB" => (Kind::Size, 1024.0),
        "MiB" => (Kind::Size, 1_048_576.0),
        "ns/GB" => (Kind::Cost, 1e-18),
        "us/GB" => (Kind::Cost, 1e-15),
        "ms/GB" => (Kind::Cost, 1e-12),
        "sec/GB" => (Kind::Cost, 1e-9),
        "% cpus" | "% cpu" => (Kind::Cpus, 1e-2),
        "" => (Kind::Count, 1.0),
        "thousand" => (Kind::Count, 1e3),
        "million" => (Kind::Count, 1e6),
        "billion" => (Kind::Count, 1e9),
        _ => return None,
    };
    Some((kind, factor))
}
