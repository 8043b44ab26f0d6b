//! fio's options as far as they tell one measurement from another.

use crate::crystaldiskmark::number::decimal;

/// What a job was told to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    /// `seq` or `rand`.
    pub pattern: Option<&'static str>,
    /// Bytes of a block of reads, writes and trims.
    pub block: [Option<i64>; 3],
    pub depth: Option<i64>,
    /// numjobs, or the number of jobs that an entry sums up.
    pub jobs: Option<i64>,
    /// All options as printed.
    pub options: Vec<(String, String)>,
}

/// More are not kept.
const MOST: usize = 100;

impl Settings {
    /// From the name and value of each option; later ones win.
    pub fn of<'a>(options: impl Iterator<Item = (&'a str, String)>) -> Settings {
        let mut settings = Settings::default();
        for (name, value) in options.take(MOST) {
            match name {
                "rw" | "readwrite" => settings.pattern = pattern(&value),
                "bs" | "blocksize" => settings.block = blocks(&value),
                "bsrange" | "bssplit" | "blocksize_range" => settings.block = [None; 3],
                "iodepth" => settings.depth = value.trim().parse().ok(),
                "numjobs" => settings.jobs = value.trim().parse().ok(),
                _ => {}
            }
            if name != "name" {
                settings.options.retain(|(have, _)| have != name);
                settings.options.push((name.to_owned(), value.chars().take(300).collect()));
            }
        }
        settings
    }

    /// From the line that fio prints before it starts: `rw=randread, bs=(R) 4096B-4096B, ..., iodepth=4`.
    pub fn of_line(line: &str) -> Settings {
        let value = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            Some(rest.split(',').next().unwrap_or(rest).trim().to_owned())
        };
        let mut settings = Settings {
            pattern: value("rw=").and_then(|rw| pattern(&rw)),
            depth: value("iodepth=").and_then(|depth| depth.parse().ok()),
            ..Settings::default()
        };
        if let Some((_, rest)) = line.split_once("bs=") {
            let rest = rest.split(", ioengine").next().unwrap_or(rest);
            let ranges: Vec<&str> =
                if rest.contains("(R)") { rest.split(',').collect() } else { rest.split('/').collect() };
            for (block, range) in settings.block.iter_mut().zip(ranges) {
                let range = range.rsplit(')').next().unwrap_or(range).trim();
                *block = range.split_once('-').and_then(|(least, most)| {
                    let least = printed_size(least)?;
                    (Some(least) == printed_size(most)).then_some(least)
                });
            }
        }
        for name in ["rw", "ioengine"] {
            settings.options.extend(value(&format!("{name}=")).map(|value| (name.to_owned(), value)));
        }
        settings
    }

    /// What both agree in.
    pub fn common(&self, other: &Settings) -> Settings {
        let mut block = self.block;
        for (own, other) in block.iter_mut().zip(other.block) {
            *own = own.filter(|own| Some(*own) == other);
        }
        let shared =
            |(name, value): &&(String, String)| other.options.iter().any(|(n, v)| n == name && v == value);
        Settings {
            pattern: self.pattern.filter(|own| Some(*own) == other.pattern),
            block,
            depth: self.depth.filter(|own| Some(*own) == other.depth),
            jobs: None,
            options: self.options.iter().filter(shared).cloned().collect(),
        }
    }
}

fn pattern(rw: &str) -> Option<&'static str> {
    let kind = rw.split(':').next().unwrap_or(rw).trim();
    match kind {
        "read" | "write" | "trim" | "rw" | "readwrite" | "trimwrite" => Some("seq"),
        "randread" | "randwrite" | "randtrim" | "randrw" | "randreadwrite" | "randtrimwrite" => Some("rand"),
        _ => None,
    }
}

/// `4k` or `4k,8k,16k`: a missing one is as the one before.
fn blocks(text: &str) -> [Option<i64>; 3] {
    let mut last = None;
    let mut parts = text.split(',');
    let mut next = || {
        if let Some(part) = parts.next()
            && !part.trim().is_empty()
        {
            last = option_size(part);
        }
        last
    };
    [next(), next(), next()]
}

/// A size as users write it: `4k`, `4KiB`, `4096`; kilo is 1024 unless kb_base says otherwise.
fn option_size(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..)? {
        "" | "b" => 0,
        "k" | "kb" | "kib" | "ki" => 10,
        "m" | "mb" | "mib" | "mi" => 20,
        "g" | "gb" | "gib" | "gi" => 30,
        _ => return None,
    };
    digits.parse::<i64>().ok().filter(|n| *n > 0)?.checked_mul(1 << shift)
}

/// A size as fio prints it: `64.0KiB`, `4096B`, `4K`.
fn printed_size(text: &str) -> Option<i64> {
    let (value, _) = quantity(text.trim().trim_end_matches('B'), true)?;
    (value.fract() == 0.0 && (1.0..1e15).contains(&value)).then_some(value as i64)
}

/// A number with a prefix at the start of `text`, and what follows: `26.7k`, `104Mi`. Without an `i` the prefix is
/// `binary` or decimal.
pub(super) fn quantity(text: &str, binary: bool) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = (text.get(..end)?, text.get(end..)?);
    let power = match rest.chars().next() {
        Some('k' | 'K') => 1,
        Some('m' | 'M') => 2,
        Some('g' | 'G') => 3,
        Some('t' | 'T') => 4,
        Some('p' | 'P') => 5,
        _ => return Some((decimal(number, 0)?, rest)),
    };
    let rest = rest.get(1..)?;
    match rest.strip_prefix('i') {
        // `bit` begins with b.
        Some(after) => Some((decimal(number, 0)? * 1024_f64.powi(power), after)),
        None if binary => Some((decimal(number, 0)? * 1024_f64.powi(power), rest)),
        None => Some((decimal(number, 3 * power)?, rest)),
    }
}

/// A rate in bytes in a second: `104MiB/s`, `109MB/s`, `872Mbit/s`; old versions' KB and MB are `binary`.
pub(super) fn rate(text: &str, binary: bool) -> Option<f64> {
    let (value, unit) = quantity(text, binary)?;
    if unit.starts_with("B/s") {
        return Some(value);
    }
    (unit.starts_with("bit/s") || unit.starts_with("b/s")).then_some(value / 8.0)
}
