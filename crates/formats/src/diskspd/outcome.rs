//! What DiskSpd measured in a timespan, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, DURATION, IOPS, LATENCY};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};
use tenbin_core::unit::Unit;

use crate::sheet::Sheet;

/// How a target was used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Target {
    /// `seq` or `rand`.
    pub pattern: Option<&'static str>,
    pub block: Option<i64>,
    /// Requests in flight of each thread.
    pub queue: Option<i64>,
    /// Threads of each file.
    pub threads: Option<i64>,
}

/// Reads or writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub bytes_per_second: Option<f64>,
    pub iops: Option<f64>,
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    /// `min`, `max`, `p99.9` in seconds.
    pub figures: Vec<(String, f64)>,
}

/// One timespan.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub version: Option<String>,
    pub host: Option<String>,
    pub command: Option<String>,
    pub targets: Vec<Target>,
    pub read: Direction,
    pub write: Direction,
    pub seconds: Option<f64>,
    /// Share of all CPUs.
    pub cpu: Option<f64>,
    /// Its MB/s are MiB/s.
    pub binary: bool,
    pub cut: bool,
}

/// The figure behind a row of percentiles: `min`, `max`, `50`, `50th`, `3-nines`.
pub(super) fn figure(name: &str) -> Option<String> {
    let name = name.trim();
    if let Some(nines) = name.strip_suffix("-nines") {
        let nines = nines.parse::<usize>().ok().filter(|nines| (2..=9).contains(nines))?;
        return Some(format!("p99.{}", "9".repeat(nines - 2)).trim_end_matches('.').to_owned());
    }
    let number = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match (name, number.parse::<f64>()) {
        ("min" | "0", _) => Some("min".to_owned()),
        ("max" | "100", _) => Some("max".to_owned()),
        (_, Ok(percent)) if percent > 0.0 && percent < 100.0 => Some(format!("p{percent}")),
        _ => None,
    }
}

impl Outcome {
    /// The run, if anything was measured.
    pub fn run(self) -> Option<Run> {
        let mut sheet = Sheet::new("diskspd");
        sheet.run.tool_version.clone_from(&self.version);
        let target = self.targets.first().cloned().unwrap_or_default();
        let all = |same: &dyn Fn(&Target) -> bool| self.targets.iter().all(same);
        let positive = |value: &f64| *value > 0.0;
        for (op, direction) in [("read", &self.read), ("write", &self.write)] {
            let mut params = Params::new();
            params.insert("op".to_owned(), op.into());
            // Numbers are sums over targets: what those differ in is not known of them.
            if let Some(pattern) = target.pattern.filter(|_| all(&|other| other.pattern == target.pattern)) {
                params.insert("pattern".to_owned(), pattern.into());
            }
            let numbers = [
                ("block_bytes", target.block.filter(|_| all(&|other| other.block == target.block))),
                ("queue_depth", target.queue.filter(|_| all(&|other| other.queue == target.queue))),
                ("threads", target.threads.filter(|_| all(&|other| other.threads == target.threads))),
            ];
            for (name, value) in numbers {
                if let Some(value) = value {
                    params.insert(name.to_owned(), value.into());
                }
            }
            if let Some(value) = direction.bytes_per_second.filter(positive) {
                sheet.headline(&BANDWIDTH, &params, Reduce::Total, value);
            }
            if let Some(value) = direction.iops.filter(positive) {
                sheet.headline(&IOPS, &params, Reduce::Total, value);
            }
            if let Some(mean) = direction.mean.filter(positive) {
                sheet.headline(&LATENCY, &params, Reduce::Total, mean);
                for (name, value) in &direction.figures {
                    sheet.reported(&LATENCY, &params, name, *value);
                }
                if let Some(sd) = direction.sd {
                    sheet.reported(&LATENCY, &params, "sd", sd);
                }
            }
        }
        if !sheet.holds_something() {
            return None;
        }
        if let Some(seconds) = self.seconds.filter(positive) {
            sheet.printed(&DURATION, &Params::new(), seconds);
        }
        for (key, value) in [("host", &self.host), ("command", &self.command)] {
            if let Some(value) = value {
                sheet.fact(&format!("diskspd.{key}"), value.as_str());
            }
        }
        if let Some(cpu) = self.cpu {
            sheet.fact_in("diskspd.cpu_of_machine", cpu, Unit::Ratio);
        }
        if self.binary {
            sheet.caveat(CaveatKind::UnitCorrected, "this DiskSpd's MB/s are MiB/s, counted as such here");
        }
        if self.cut {
            sheet.caveat(CaveatKind::Truncated, "the log ends within this result");
        }
        sheet.finish()
    }
}
