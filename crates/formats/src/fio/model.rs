//! A job entry of fio, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, CPU_UTILIZATION, DURATION, IOPS, LATENCY};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};
use tenbin_core::unit::Unit;

use super::settings::Settings;
use crate::sheet::Sheet;

/// One entry: a job, or several of them with `--group_reporting`.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub version: Option<String>,
    pub name: Option<String>,
    pub group: Option<i64>,
    /// The client of a client/server run.
    pub host: Option<String>,
    pub date: Option<String>,
    pub settings: Settings,
    pub sections: Vec<Section>,
    /// Share of one CPU in user and kernel mode.
    pub cpu: Option<(f64, f64)>,
    pub disks: Vec<String>,
    pub error: i64,
    /// fio's words for the error.
    pub said: Option<String>,
    /// Units named kB and MB that are binary.
    pub binary: bool,
    pub cut: bool,
    pub interrupted: bool,
    pub foreign: usize,
    pub first_foreign: Option<String>,
}

/// What was done in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// `read`, `write`, `trim` or `mixed`.
    pub op: &'static str,
    pub bytes_per_second: Option<f64>,
    pub iops: Option<f64>,
    pub seconds: Option<f64>,
    /// From submission to completion.
    pub clat: Latency,
    /// The whole request.
    pub lat: Latency,
}

/// Figures in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Latency {
    pub n: Option<f64>,
    pub mean: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub sd: Option<f64>,
    /// `p99.9` and its value.
    pub percentiles: Vec<(String, f64)>,
}

impl Latency {
    /// Whether anything was measured: sections in which nothing ran are full of zeros.
    pub fn measured(&self) -> bool {
        let some = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
        some(self.mean) || some(self.max)
    }
}

/// `percent` as the name of a figure: 99.0 is `p99`.
pub(super) fn percentile(percent: f64) -> Option<String> {
    (percent > 0.0 && percent <= 100.0).then(|| format!("p{percent}"))
}

/// The three directions of fio's settings, `mixed` like the first.
pub(super) fn direction(op: &str) -> usize {
    match op {
        "write" => 1,
        "trim" => 2,
        _ => 0,
    }
}

impl Section {
    fn measured(&self) -> bool {
        let some = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
        some(self.bytes_per_second) || some(self.iops)
    }
}

impl Job {
    /// The section of `op`, made if it is not there.
    pub fn section(&mut self, op: &'static str) -> &mut Section {
        let at = self.sections.iter().position(|section| section.op == op);
        let at = at.unwrap_or_else(|| {
            self.sections.push(Section { op, ..Section::default() });
            self.sections.len() - 1
        });
        &mut self.sections[at]
    }

    /// What went wrong, in fio's words.
    pub fn failure(&self) -> Option<String> {
        if self.error == 0 {
            return None;
        }
        let name = self.name.as_deref().unwrap_or("a job");
        let said = self.said.as_deref().unwrap_or("fio gives no words for it");
        Some(format!("{name}: error {}: {said}", self.error))
    }

    /// The run, if the job did anything.
    pub fn run(&self) -> Option<Run> {
        let mut sheet = Sheet::new("fio");
        sheet.run.tool_version.clone_from(&self.version);
        for section in self.sections.iter().filter(|section| section.measured()) {
            let params = self.params(section.op);
            let positive = |value: &f64| *value > 0.0;
            if let Some(value) = section.bytes_per_second.filter(positive) {
                sheet.headline(&BANDWIDTH, &params, Reduce::Total, value);
            }
            if let Some(value) = section.iops.filter(positive) {
                sheet.headline(&IOPS, &params, Reduce::Total, value);
            }
            latency(section, &params, &mut sheet);
            if let Some(value) = section.seconds.filter(positive) {
                sheet.printed(&DURATION, &params, value);
            }
        }
        if !sheet.holds_something() {
            return None;
        }
        if let Some((user, system)) = self.cpu {
            let mut params = Params::new();
            params.extend(self.name.as_deref().map(|name| ("job".to_owned(), name.into())));
            sheet.printed(&CPU_UTILIZATION, &params, user + system);
            sheet.fact_in("fio.cpu_user", user, Unit::Ratio);
            sheet.fact_in("fio.cpu_system", system, Unit::Ratio);
        }
        self.facts(&mut sheet);
        self.caveats(&mut sheet);
        sheet.finish()
    }

    fn params(&self, op: &'static str) -> Params {
        let mut params = Params::new();
        if let Some(name) = &self.name {
            params.insert("job".to_owned(), name.as_str().into());
        }
        params.insert("op".to_owned(), op.into());
        let settings = &self.settings;
        if let Some(pattern) = settings.pattern {
            params.insert("pattern".to_owned(), pattern.into());
        }
        let block = match op {
            // Both directions at once: only if they agree.
            "mixed" => settings.block[0].filter(|block| Some(*block) == settings.block[1]),
            _ => settings.block[direction(op)],
        };
        let numbers = [("block_bytes", block), ("queue_depth", settings.depth), ("threads", settings.jobs)];
        for (name, value) in numbers {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        }
        params
    }

    fn facts(&self, sheet: &mut Sheet) {
        for (name, value) in &self.settings.options {
            sheet.fact(&format!("fio.{name}"), value.as_str());
        }
        for (key, value) in [("host", &self.host), ("date", &self.date)] {
            if let Some(value) = value {
                sheet.fact(&format!("fio.{key}"), value.as_str());
            }
        }
        if let Some(group) = self.group {
            sheet.fact("fio.group", group);
        }
        if !self.disks.is_empty() {
            sheet.fact("fio.disks", self.disks.join(" "));
        }
    }

    fn caveats(&self, sheet: &mut Sheet) {
        if let Some(failure) = self.failure() {
            sheet.caveat(CaveatKind::ErrorReported, failure);
        }
        if self.binary {
            sheet.caveat(
                CaveatKind::UnitCorrected,
                "this fio's KB and MB are KiB and MiB, counted as such here",
            );
        }
        if self.interrupted {
            sheet.caveat(CaveatKind::Interrupted, "fio was stopped before the end of its jobs");
        }
        if self.cut {
            sheet.caveat(CaveatKind::Truncated, "the log ends within this job");
        }
        if let Some(first) = &self.first_foreign {
            let text = format!("{} lines are not fio's, the first: {first}", self.foreign);
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
    }
}

fn latency(section: &Section, params: &Params, sheet: &mut Sheet) {
    let figures = if section.clat.measured() { &section.clat } else { &section.lat };
    if !figures.measured() {
        return;
    }
    if let Some(mean) = figures.mean {
        sheet.headline(&LATENCY, params, Reduce::Total, mean);
    }
    let named = [("n", figures.n), ("min", figures.min), ("max", figures.max), ("sd", figures.sd)];
    for (name, value) in named {
        if let Some(value) = value {
            sheet.reported(&LATENCY, params, name, value);
        }
    }
    for (name, value) in &figures.percentiles {
        sheet.reported(&LATENCY, params, name, *value);
    }
}
