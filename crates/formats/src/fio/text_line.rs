//! What one line of fio's normal text says.

use super::model::{Latency, percentile};
use super::settings::{quantity, rate};
use crate::crystaldiskmark::number::decimal;

/// `NAME: (g=0): rw=randread, bs=...`: name, group, the rest.
pub(super) fn start(line: &str) -> Option<(&str, i64, &str)> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): ")?;
    rest.starts_with("rw=").then_some((name.trim(), group.trim().parse().ok()?, rest))
}

/// The first line of a job's block.
#[derive(Debug, PartialEq)]
pub(super) struct Head<'a> {
    pub name: &'a str,
    pub group: i64,
    pub jobs: i64,
    pub error: i64,
    pub said: Option<&'a str>,
    pub pid: Option<&'a str>,
    pub date: Option<&'a str>,
}

/// `NAME: (groupid=0, jobs=1): err=28 (file:...): pid=1278: Tue Dec  1 04:28:21 2026`
pub(super) fn head(line: &str) -> Option<Head<'_>> {
    let (name, rest) = line.split_once(": (groupid=")?;
    // A line of progress may stand before it.
    let name = name.rsplit(']').next().filter(|_| name.starts_with("Jobs: ")).unwrap_or(name).trim();
    let (numbers, rest) = rest.split_once("): err=")?;
    let (group, jobs) = numbers.split_once(", jobs=")?;
    let rest = rest.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let error = rest.get(..digits)?.parse().ok()?;
    let (before, after) = rest.split_once(": pid=").unwrap_or((rest, ""));
    let said = before.split_once('(').map(|(_, said)| said.trim_end_matches(')'));
    let said = said.map(|said| said.rsplit("error=").next().unwrap_or(said));
    let (pid, date) = after.split_once(": ").unwrap_or((after.trim_end_matches(':'), ""));
    let filled = |text| Some(text).filter(|text: &&str| !text.is_empty());
    let (pid, date) = (filled(pid), filled(date.trim()));
    Some(Head {
        name,
        group: group.trim().parse().ok()?,
        jobs: jobs.trim().parse().ok()?,
        error,
        said,
        pid,
        date,
    })
}

/// The figures of a direction.
#[derive(Debug, PartialEq)]
pub(super) struct Rates {
    pub op: &'static str,
    pub bytes_per_second: Option<f64>,
    pub iops: Option<f64>,
    pub seconds: Option<f64>,
    /// Its KB and MB are binary.
    pub binary: bool,
}

/// `read: IOPS=26.7k, BW=104MiB/s (109MB/s)(104MiB/1001msec)`, or before 2.17
/// `read : io=1024.0MB, bw=13116KB/s, iops=3278, runt= 79952msec`.
pub(super) fn rates(line: &str) -> Option<Rates> {
    let (op, rest) = line.split_once(':')?;
    let op = *["read", "write", "trim", "mixed"].iter().find(|known| **known == op.trim())?;
    let rest = rest.trim_start();
    let value = |name: &str| rest.split_once(name).map(|(_, value)| value.trim_start());
    if rest.starts_with("IOPS=") {
        let seconds = value("BW=").and_then(|text| {
            let (before, _) = text.split_once("msec")?;
            decimal(before.rsplit('/').next()?, -3)
        });
        let bytes_per_second = value("BW=").and_then(|text| rate(text, false));
        let iops = value("IOPS=").and_then(|text| quantity(text, false)).map(|(iops, _)| iops);
        return Some(Rates { op, bytes_per_second, iops, seconds, binary: false });
    }
    if !rest.starts_with("io=") {
        return None;
    }
    let milliseconds = |text: &str| text.split_once("msec").and_then(|(number, _)| decimal(number, -3));
    let bandwidth = value(" bw=");
    let prefixed = bandwidth.and_then(|text| text.chars().find(char::is_ascii_alphabetic));
    Some(Rates {
        op,
        bytes_per_second: bandwidth.and_then(|text| rate(text, true)),
        iops: value("iops=").and_then(|text| quantity(text, false)).map(|(iops, _)| iops),
        seconds: value("runt=").and_then(milliseconds),
        binary: prefixed.is_some_and(|prefix| prefix != 'B')
            && !bandwidth.is_some_and(|text| text.contains("iB/s")),
    })
}

/// A line `READ: bw=...` of a group's summary.
pub(super) fn summary(line: &str) -> Option<Rates> {
    let (op, rest) = line.split_once(':')?;
    let names = [("READ", "read"), ("WRITE", "write"), ("TRIM", "trim"), ("MIXED", "mixed")];
    let (_, op) = *names.iter().find(|(name, _)| *name == op.trim())?;
    let value = |name: &str| rest.split_once(name).map(|(_, value)| value.trim_start());
    let old = value("aggrb=");
    let bytes_per_second = match old {
        Some(text) => rate(text, true),
        None => value(" bw=").and_then(|text| rate(text, false)),
    };
    bytes_per_second?;
    let longest =
        value("maxt=").or_else(|| value("run=").and_then(|text| text.split_once('-')).map(|(_, text)| text));
    let seconds =
        longest.and_then(|text| text.split_once("msec")).and_then(|(number, _)| decimal(number, -3));
    Some(Rates { op, bytes_per_second, iops: None, seconds, binary: old.is_some() })
}

fn unit(text: &str) -> Option<i32> {
    match text {
        "nsec" => Some(-9),
        "usec" => Some(-6),
        "msec" => Some(-3),
        "sec" => Some(0),
        _ => None,
    }
}

/// `clat (usec): min=29, max=6847, avg=135.84, stdev=364.60`: its name and figures.
pub(super) fn spread(line: &str) -> Option<(&str, Latency)> {
    let (name, rest) = line.split_once('(')?;
    let (unit_name, rest) = rest.split_once(')')?;
    let unit = unit(unit_name.trim())?;
    let figures = rest.trim_start().strip_prefix(':')?.trim_start();
    if !figures.starts_with("min=") {
        return None;
    }
    let mut latency = Latency::default();
    for figure in figures.split(',') {
        let (key, value) = figure.split_once('=')?;
        let place = match key.trim() {
            "min" => &mut latency.min,
            "max" => &mut latency.max,
            "avg" => &mut latency.mean,
            "stdev" => &mut latency.sd,
            _ => continue,
        };
        *place = scaled(value, unit);
    }
    Some((name.trim(), latency))
}

/// `6849`, `10.9k` or `>=2000` of a unit.
fn scaled(text: &str, unit: i32) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        _ => return None,
    };
    decimal(digits, unit + power)
}

/// `clat percentiles (usec):`: which, and the unit as a power of ten.
pub(super) fn percentiles_of(line: &str) -> Option<(&str, i32)> {
    let (name, rest) = line.split_once("percentiles (")?;
    let (unit_name, _) = rest.split_once(')')?;
    Some((name.trim(), unit(unit_name)?))
}

/// `|  1.00th=[   49],  5.00th=[   53],`
pub(super) fn percentiles(line: &str, unit: i32) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for part in line.trim_start_matches('|').split(']') {
        let Some((name, value)) = part.split_once("th=[") else { continue };
        let percent = name.trim_start_matches([',', ' ']).trim().parse().ok().and_then(percentile);
        found.extend(percent.zip(scaled(value, unit)));
    }
    // The last one of a cut line has no bracket behind it.
    if !line.trim_end().ends_with([']', ',']) && found.len() == line.matches("th=[").count() {
        found.pop();
    }
    found
}

/// `cpu          : usr=2.60%, sys=36.40%, ...`: shares of a CPU.
pub(super) fn cpu(line: &str) -> Option<(f64, f64)> {
    let rest = line.strip_prefix("cpu")?.trim_start().strip_prefix(':')?;
    let share = |name: &str| decimal(rest.split_once(name)?.1.split('%').next()?, -2);
    share("usr=").zip(share("sys="))
}

/// Lines that carry nothing that is read.
pub(super) fn known(line: &str) -> bool {
    const BEGIN: [&str; 24] = [
        "bw (",
        "iops ",
        "lat (",
        "slat",
        "sync",
        "fsync",
        "cpu ",
        "IO depths",
        "submit",
        "complete",
        "issued",
        "latency ",
        "errors",
        "Description",
        "block lifetime",
        "states",
        "steadystate",
        "|",
        "Jobs: ",
        "fio: ",
        "high prio",
        "low prio",
        "clat",
        "prio ",
    ];
    line.is_empty() || BEGIN.iter().any(|begin| line.starts_with(begin)) || line.starts_with("io=")
}
