//! Lines into runs.

use std::io::BufRead;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Fact, FactValue};
use tenbin_core::metric::{
    DUPLICATES, DURATION, LOSS, Metric, PACKETS_LOST, PACKETS_RECEIVED, PACKETS_SENT, RTT,
};
use tenbin_core::recorder::Recorder;
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::line::{self, Counts, Dialect, Header, Line, Reply, Spread};
use crate::clean::Lines;
use crate::{ParseError, RunSink};

/// Reads all of `input`.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut current = Log::default();
    let mut any = false;
    let mut said = None;
    let mut lines = Lines::new(input);
    let mut end = |log: Log, said: &mut Option<String>| match log.finish() {
        Ok(run) => {
            any = true;
            out.run(run);
        }
        Err(Some(message)) => *said = Some(message),
        Err(None) => {}
    };
    while let Some(read) = lines.next()? {
        let line = line::read(read.text);
        if current.is_over(line.as_ref()) {
            end(std::mem::take(&mut current), &mut said);
        }
        // The last line of a log that was cut is nobody's.
        if line.is_some() || read.whole {
            current.take(line, read.text.trim());
        }
    }
    end(current, &mut said);
    if any {
        return Ok(());
    }
    let said = said.unwrap_or_else(|| "no reply and no statistics".to_owned());
    Err(ParseError::NothingMeasured { tool: "ping", said })
}

/// A run as far as it has been read.
#[derive(Debug, Default)]
struct Log {
    header: Option<Header>,
    dialect: Option<Dialect>,
    samples: Vec<(Option<f64>, f64)>,
    first_at: Option<f64>,
    ttl: Option<u64>,
    digit: f64,
    below: u64,
    timeless: u64,
    duplicates: u64,
    refusals: u64,
    refusal: Option<String>,
    counts: Option<Counts>,
    spread: Option<Spread>,
    statistics: bool,
    dump: bool,
    foreign: Vec<String>,
    foreign_count: u64,
}

impl Log {
    /// Whether `next` belongs to another run.
    fn is_over(&self, next: Option<&Line>) -> bool {
        match next {
            Some(Line::Header(_)) => true,
            Some(Line::Counts(_)) => self.counts.is_some(),
            Some(Line::Reply(_)) => self.counts.is_some(),
            _ => false,
        }
    }

    fn take(&mut self, line: Option<Line>, text: &str) {
        if std::mem::take(&mut self.dump) {
            return;
        }
        match line {
            Some(Line::Header(header)) => {
                self.dialect = Some(header.dialect);
                self.header = Some(header);
            }
            Some(Line::Reply(reply)) => self.reply(&reply),
            Some(Line::Refusal(said)) => self.refuse(said),
            Some(Line::Statistics { windows }) => {
                self.statistics = true;
                if windows {
                    self.dialect = Some(Dialect::Windows);
                }
            }
            Some(Line::Counts(counts)) if self.counts.is_none() => {
                self.spread = line::json_spread(text);
                self.counts = Some(counts);
            }
            Some(Line::Spread(spread)) if self.counts.is_some() => self.spread = Some(spread),
            Some(Line::Counts(_) | Line::Spread(_)) => self.foreign(text),
            Some(Line::Silence | Line::Noise) => {}
            Some(Line::Dump) => self.dump = true,
            None => self.foreign(text),
        }
    }

    fn reply(&mut self, reply: &Reply) {
        if reply.windows {
            self.dialect = Some(Dialect::Windows);
        }
        self.ttl = self.ttl.or(reply.ttl);
        self.digit = self.digit.max(reply.digit);
        match reply.seconds {
            _ if reply.duplicate => self.duplicates += 1,
            Some(_) if reply.below => self.below += 1,
            Some(seconds) => {
                let first = reply.at.map(|at| *self.first_at.get_or_insert(at));
                let at = reply.at.zip(first).map(|(at, first)| at - first);
                self.samples.push((at, seconds));
            }
            None => self.timeless += 1,
        }
    }

    fn refuse(&mut self, said: String) {
        self.refusals += 1;
        self.refusal.get_or_insert(said);
    }

    fn foreign(&mut self, text: &str) {
        let begun = self.header.is_some() || !self.samples.is_empty();
        if !begun || self.counts.is_some() || self.statistics {
            // Before and after a run stand prompts and whatever the terminal held.
            return;
        }
        if self.dialect == Some(Dialect::Windows) {
            // The words for "timed out" are not known in every language. One that names a host is its refusal.
            if line::address(text).is_some() {
                self.refuse(text.to_owned());
            }
            return;
        }
        self.foreign_count += 1;
        if self.foreign.is_empty() {
            self.foreign.push(text.chars().take(80).collect());
        }
    }

    /// The run, or what the tool said instead.
    fn finish(mut self) -> Result<Run, Option<String>> {
        let valued = !self.samples.is_empty() || self.spread.is_some() || self.counts.is_some();
        if !valued && self.below == 0 {
            return Err(self.refusal);
        }
        if self.spread.is_some() && self.below > 0 {
            // Its minimum is a printed 0 that stands for "below 1 ms".
            self.spread =
                self.spread.map(|spread| Spread { min: spread.min.filter(|min| *min > 0.0), ..spread });
        }
        let mut rec = Recorder::default();
        let params = Params::new();
        if !self.samples.is_empty() || self.spread.is_some() {
            let samples = self.samples.iter().map(|&(at, value)| Sample::new(at, value));
            rec.headline(&RTT, &params, Reduce::Median, samples);
            if let (Some(spread), Some(series)) = (&self.spread, rec.series.last_mut()) {
                let figures =
                    [("min", spread.min), ("mean", spread.mean), ("max", spread.max), ("sd", spread.sd)];
                let printed =
                    figures.into_iter().filter_map(|(name, figure)| Some((name.to_owned(), figure?)));
                series.reported = printed.collect();
            }
        }
        if let Some(counts) = &self.counts {
            self.counted(counts, &mut rec);
        }
        self.caveats(&mut rec);
        let mut run = Run {
            tool: "ping".to_owned(),
            series: std::mem::take(&mut rec.series),
            caveats: std::mem::take(&mut rec.caveats),
            ..Run::default()
        };
        self.facts(&mut run);
        Ok(run)
    }

    fn counted(&self, counts: &Counts, rec: &mut Recorder) {
        let refused = if self.windows_counts_refusals() { self.refusals } else { 0 };
        let received = counts.received.saturating_sub(refused);
        let lost = counts.sent.saturating_sub(received);
        let ratio = (counts.sent > 0).then(|| lost as f64 / counts.sent as f64);
        let mut one = |metric: &Metric, value: f64, printed: f64| {
            rec.extend(metric, &Params::new(), [Sample::of(value)]);
            if let Some(series) = rec.series.last_mut() {
                series.reported.insert("mean".to_owned(), printed);
            }
        };
        one(&PACKETS_SENT, counts.sent as f64, counts.sent as f64);
        one(&PACKETS_RECEIVED, received as f64, counts.received as f64);
        if let Some(printed) = counts.lost {
            one(&PACKETS_LOST, lost as f64, printed as f64);
        }
        if let Some(ratio) = ratio {
            one(&LOSS, ratio, counts.loss.unwrap_or(ratio));
        }
        if counts.duplicates > 0 || self.duplicates > 0 {
            let duplicates = counts.duplicates.max(self.duplicates) as f64;
            one(&DUPLICATES, duplicates, counts.duplicates as f64);
        }
        if let Some(duration) = counts.duration {
            one(&DURATION, duration, duration);
        }
    }

    /// Windows calls a router's "destination host unreachable" a received packet.
    fn windows_counts_refusals(&self) -> bool {
        let Some(counts) = &self.counts else { return false };
        let replies = self.samples.len() as u64 + self.below;
        self.dialect == Some(Dialect::Windows)
            && self.refusals > 0
            && replies + self.refusals == counts.received
    }

    fn caveats(&self, rec: &mut Recorder) {
        let mut note = |kind, text: String| rec.caveat(Caveat::new(kind, text));
        let received = self.counts.as_ref().map_or(0, |counts| counts.received);
        if self.counts.is_none() {
            let text = format!("the log ends after {} replies, without statistics", self.samples.len());
            note(CaveatKind::Truncated, text);
        } else if self.samples.is_empty() && self.spread.is_some() {
            let text = "only figures over all replies were printed, no single ones";
            note(CaveatKind::SummaryOnly, text.to_owned());
        }
        let duplicates = self.counts.as_ref().map_or(0, |counts| counts.duplicates).max(self.duplicates);
        if duplicates > 0 {
            let text =
                format!("{duplicates} duplicate replies are no samples; ping's own figures include them");
            note(CaveatKind::Duplicates, text);
        }
        if let Some(first) = self.foreign.first() {
            let text = format!("{} lines are not ping's, the first: {first}", self.foreign_count);
            note(CaveatKind::ForeignLines, text);
        }
        if let Some(first) = &self.refusal {
            note(CaveatKind::ErrorReported, format!("{} errors, the first: {first}", self.refusals));
        }
        if self.windows_counts_refusals() {
            let text =
                format!("{} refusals stand among the received packets; they are lost here", self.refusals);
            note(CaveatKind::CountedAsReceived, text);
        }
        if self.below > 0 {
            let text = format!(
                "{} replies took less than 1 ms: how much is not known, they are left out",
                self.below
            );
            note(CaveatKind::Note, text);
        }
        if duplicates == 0
            && self.samples.len() as u64 == received
            && let Some(contradiction) = self.contradiction()
        {
            rec.caveat(contradiction);
        }
    }

    /// Where the printed figures and the printed samples disagree by more than rounding allows.
    fn contradiction(&self) -> Option<Caveat> {
        let spread = self.spread.as_ref()?;
        let n = self.samples.len() as f64;
        let mean = self.samples.iter().map(|(_, value)| value).sum::<f64>() / n;
        let variance = self.samples.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>() / n;
        // Samples are rounded, sums are in whole microseconds and the mean is cut off.
        let slack = self.digit + 1e-6;
        let off =
            |printed: Option<f64>, own: f64| printed.is_some_and(|printed| (printed - own).abs() > slack);
        if off(spread.sd, variance.sqrt()) && self.dialect != Some(Dialect::Bsd) {
            return Some(Caveat::new(
                CaveatKind::BiasedDeviation,
                format!(
                    "mdev was printed as {:.3} ms, its own replies give {:.3} ms: iputils before 2019 cut the mean",
                    spread.sd.unwrap_or_default() * 1e3,
                    variance.sqrt() * 1e3
                ),
            ));
        }
        let wrong = off(spread.mean, mean);
        wrong.then(|| {
            Caveat::new(
                CaveatKind::Recomputed,
                format!(
                    "the mean was printed as {:.3} ms, the replies give {:.3} ms",
                    spread.mean.unwrap_or_default() * 1e3,
                    mean * 1e3
                ),
            )
        })
    }

    fn facts(&self, run: &mut Run) {
        let mut fact = |key: &str, value: FactValue, unit: Option<Unit>| {
            let fact = Fact { unit, ..Fact::new(Class::State, value, "the log of ping") };
            run.facts.insert(format!("ping.{key}"), fact);
        };
        if let Some(header) = &self.header {
            fact("host", header.host.as_str().into(), None);
            if let Some(address) = &header.address {
                fact("address", address.as_str().into(), None);
            }
            if let Some(size) = header.size.and_then(|size| i64::try_from(size).ok()) {
                fact("size", size.into(), Some(Unit::Byte));
            }
        }
        if let Some(ttl) = self.ttl.and_then(|ttl| i64::try_from(ttl).ok()) {
            fact("ttl", ttl.into(), None);
        }
        let dialect = match self.dialect {
            Some(Dialect::Windows) => "windows",
            Some(Dialect::Bsd) => "bsd",
            Some(Dialect::Iputils) => "iputils",
            None => return,
        };
        fact("dialect", dialect.into(), None);
    }
}
