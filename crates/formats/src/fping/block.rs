//! One run while it is read: what is known of each target, and what becomes of it.

use std::collections::HashMap;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{DUPLICATES, DURATION, LOSS, PACKETS_RECEIVED, PACKETS_SENT, RTT};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::line::{Overall, Total};
use crate::sheet::Sheet;

/// What is known of a target.
#[derive(Debug, Default)]
struct Target {
    name: String,
    samples: Vec<Sample>,
    times: Option<Vec<Option<f64>>>,
    total: Option<Total>,
    duplicates: u64,
}

impl Target {
    fn is_closed(&self) -> bool {
        self.times.is_some() || self.total.is_some()
    }
}

/// A run as far as it has been read.
#[derive(Debug, Default)]
pub struct Block {
    targets: Vec<Target>,
    index: HashMap<String, usize>,
    overall: Vec<Overall>,
    /// The clock when a period ended, empty where that is not told; `None` outside -Q.
    pub period: Option<String>,
    /// The totals after the last period.
    pub is_grand_total: bool,
    refusals: u64,
    refusal: Option<String>,
    foreign: u64,
    first_foreign: Option<String>,
    first_at: Option<f64>,
    bytes: Option<u64>,
    has_replies: bool,
    /// A list of hosts that are alive: it has no totals.
    pub is_list: bool,
}

impl Block {
    /// A period of -Q that ended at `clock`.
    pub fn of_period(clock: &str) -> Block {
        Block { period: Some(clock.to_owned()), ..Block::default() }
    }

    /// Whether totals or times of any target have been read.
    pub fn has_totals(&self) -> bool {
        self.targets.iter().any(Target::is_closed)
    }

    /// Whether totals or times of this target have been read.
    pub fn has_total_of(&self, name: &str) -> bool {
        self.index.get(name).is_some_and(|at| self.targets[*at].is_closed())
    }

    /// Whether the figures over all targets, which come last, have been read.
    pub fn has_overall(&self) -> bool {
        !self.overall.is_empty()
    }

    /// Whether anything of a run has been read.
    pub fn has_begun(&self) -> bool {
        !self.targets.is_empty() || self.has_overall()
    }

    fn target(&mut self, name: &str) -> &mut Target {
        let at = match self.index.get(name) {
            Some(at) => *at,
            None => {
                self.targets.push(Target { name: name.to_owned(), ..Target::default() });
                self.index.insert(name.to_owned(), self.targets.len() - 1);
                self.targets.len() - 1
            }
        };
        &mut self.targets[at]
    }

    /// A reply.
    pub fn reply(&mut self, name: &str, seconds: f64, bytes: Option<u64>, at: Option<f64>) {
        self.has_replies = true;
        self.bytes = self.bytes.or(bytes);
        let sample = match at {
            Some(at) => Sample::at(at - *self.first_at.get_or_insert(at), seconds),
            None => Sample::of(seconds),
        };
        self.target(name).samples.push(sample);
    }

    /// A reply that came again.
    pub fn duplicate(&mut self, name: &str) {
        self.target(name).duplicates += 1;
    }

    /// Totals of a target.
    pub fn total(&mut self, name: &str, total: Total) {
        self.target(name).total = Some(total);
    }

    /// The times of -C.
    pub fn times(&mut self, name: &str, times: Vec<Option<f64>>) {
        self.target(name).times = Some(times);
    }

    /// A figure over all targets.
    pub fn overall(&mut self, figure: Overall) {
        self.overall.push(figure);
    }

    /// An error.
    pub fn refuse(&mut self, said: &str) {
        self.refusals += 1;
        self.refusal.get_or_insert_with(|| said.chars().take(160).collect());
    }

    /// Another program's line.
    pub fn foreign(&mut self, text: &str) {
        self.foreign += 1;
        self.first_foreign.get_or_insert_with(|| text.chars().take(80).collect());
    }

    /// Takes over the replies of `later`, which a buffer held back until the totals had been written; false where
    /// they don't fit.
    pub fn take_replies(&mut self, later: &mut Block) -> bool {
        let fits = !self.has_replies && later.has_replies && !later.has_totals() && !later.has_overall();
        let counted = |target: &Target| {
            let received = target.total.as_ref().map(|total| total.received);
            let here = later.index.get(&target.name).map_or(0, |at| later.targets[*at].samples.len() as u64);
            received == Some(here)
        };
        if !fits || !self.targets.iter().all(counted) || later.targets.len() > self.targets.len() {
            return false;
        }
        for target in &mut later.targets {
            self.target(&target.name).samples = std::mem::take(&mut target.samples);
        }
        self.has_replies = true;
        self.bytes = later.bytes;
        true
    }

    /// The run, or the tool's own words where nothing was measured.
    pub fn finish(mut self) -> Result<Run, Option<String>> {
        let mut sheet = Sheet::new("fping");
        let mut summary_only = false;
        let mut lost_end = false;
        for target in std::mem::take(&mut self.targets) {
            let spread = target.total.as_ref().is_some_and(|total| total.spread.iter().any(Option::is_some));
            summary_only |= spread && target.samples.is_empty();
            lost_end |= !target.is_closed() && !target.samples.is_empty();
            self.put(target, &mut sheet);
        }
        self.put_overall(&mut sheet);
        if !sheet.holds_something() {
            return Err(self.refusal);
        }
        if summary_only {
            sheet.caveat(
                CaveatKind::SummaryOnly,
                "only figures over all replies were printed, no single ones",
            );
        }
        if lost_end && self.overall.is_empty() && !self.is_list {
            sheet.caveat(CaveatKind::Truncated, "the log ends without fping's totals");
        }
        if let Some(first) = &self.refusal {
            sheet.caveat(CaveatKind::ErrorReported, format!("{} errors, the first: {first}", self.refusals));
        }
        if let Some(first) = &self.first_foreign {
            let text = format!("{} lines are not fping's, the first: {first}", self.foreign);
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        if let Some(clock) = self.period.as_ref().filter(|clock| !clock.is_empty()) {
            sheet.fact("fping.time", clock.as_str());
        }
        if let Some(bytes) = self.bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
            sheet.fact_in("fping.size", bytes, Unit::Byte);
        }
        sheet.finish().ok_or(None)
    }

    fn params(&self, target: Option<&str>) -> Params {
        let target = target.map(|name| ("target".to_owned(), Param::from(name)));
        let window =
            (self.is_grand_total || target.is_none()).then(|| ("window".to_owned(), Param::from("total")));
        target.into_iter().chain(window).collect()
    }

    fn put(&self, target: Target, sheet: &mut Sheet) {
        let params = self.params(Some(&target.name));
        let mut samples = target.samples;
        if let Some(times) = &target.times {
            let came = times.iter().flatten().count();
            if came != samples.len() {
                // The list is complete, the lines before it may be cut or held back.
                samples = times.iter().flatten().map(|seconds| Sample::of(*seconds)).collect();
            }
            self.count(sheet, &params, times.len() as u64, came as u64, None);
        }
        let total = target.total.unwrap_or_default();
        if target.times.is_none() && total != Total::default() {
            self.count(sheet, &params, total.sent, total.received, total.loss);
            if total.received > total.sent {
                let text = format!(
                    "{}: {} packets received of {} sent; no loss is given",
                    target.name, total.received, total.sent
                );
                sheet.caveat(CaveatKind::Inconsistent, text);
            }
        }
        if !samples.is_empty() || total.spread.iter().any(Option::is_some) {
            let series = sheet.series(&RTT, &params);
            series.headline = Some(Reduce::Median);
            series.samples = samples;
            for (figure, value) in ["min", "mean", "max"].into_iter().zip(total.spread) {
                series.reported.extend(value.map(|value| (figure.to_owned(), value)));
            }
        }
        if target.duplicates > 0 {
            sheet.printed(&DUPLICATES, &params, target.duplicates as f64);
            let text = format!("{}: {} duplicate replies are no samples", target.name, target.duplicates);
            sheet.caveat(CaveatKind::Duplicates, text);
        }
    }

    fn count(&self, sheet: &mut Sheet, params: &Params, sent: u64, received: u64, printed: Option<f64>) {
        sheet.printed(&PACKETS_SENT, params, sent as f64);
        sheet.printed(&PACKETS_RECEIVED, params, received as f64);
        if let (true, Some(lost)) = (sent > 0, sent.checked_sub(received)) {
            let loss = lost as f64 / sent as f64;
            sheet.printed(&LOSS, params, loss);
            if let Some(printed) = printed {
                sheet.reported(&LOSS, params, "mean", printed);
                // Printed in whole percents, cut off.
                if (printed - loss).abs() > 0.01 + 1e-9 {
                    let text = format!(
                        "{:.0} % loss is printed, the counters give {:.1} %",
                        printed * 100.0,
                        loss * 100.0
                    );
                    sheet.caveat(CaveatKind::Inconsistent, text);
                }
            }
        }
    }

    fn put_overall(&self, sheet: &mut Sheet) {
        let params = self.params(None);
        let none_came = self.overall.contains(&Overall::Received(0));
        for figure in &self.overall {
            match *figure {
                Overall::Hosts(fact, count) => {
                    sheet.fact(fact, i64::try_from(count).unwrap_or(i64::MAX));
                }
                Overall::Sent(count) => _ = sheet.printed(&PACKETS_SENT, &params, count as f64),
                Overall::Received(count) => _ = sheet.printed(&PACKETS_RECEIVED, &params, count as f64),
                // Without any reply they are printed as 0.
                Overall::Spread(..) if none_came => {}
                Overall::Spread(at, seconds) => {
                    let name = ["min", "mean", "max"].get(at).copied().unwrap_or("mean");
                    sheet.reported(&RTT, &params, name, seconds);
                }
                Overall::Duration(seconds) => _ = sheet.printed(&DURATION, &params, seconds),
            }
        }
    }
}
