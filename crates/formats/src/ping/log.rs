//! One run while it is read, and what becomes of it.

use tenbin_core::metric::{
    DUPLICATES, DURATION, LOSS, Metric, PACKETS_LOST, PACKETS_RECEIVED, PACKETS_SENT, RTT,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::figures::{self, Counts, Spread};
use super::line::{self, Dialect, Header};
use super::reply::Reply;
use super::seen::Seen;
use crate::sheet::Sheet;

/// A run as far as it has been read.
#[derive(Debug, Default)]
pub struct Log {
    /// Of the ping that wrote it, where the log has that.
    pub version: Option<String>,
    pub(super) header: Option<Header>,
    pub(super) dialect: Option<Dialect>,
    /// Who answered first.
    pub(super) from: String,
    pub(super) samples: Vec<Sample>,
    pub(super) seen: Seen,
    pub(super) first_at: Option<f64>,
    pub(super) ttl: Option<u64>,
    pub(super) digit: f64,
    pub(super) below: u64,
    pub(super) timeless: u64,
    pub(super) duplicates: u64,
    pub(super) damaged: u64,
    pub(super) refusals: u64,
    pub(super) refusal: Option<String>,
    pub(super) counts: Option<Counts>,
    pub(super) spread: Option<Spread>,
    pub(super) statistics: bool,
    pub(super) parts: Vec<u64>,
    pub(super) dump: bool,
    pub(super) old: bool,
    pub(super) comma: bool,
    pub(super) asked: Option<u64>,
    pub(super) foreign: u64,
    pub(super) first_foreign: Option<String>,
}

impl Log {
    /// Nothing has been read but perhaps an error before the first line.
    pub fn is_blank(&self) -> bool {
        self.header.is_none() && !self.has_replies() && !self.is_closed()
    }

    /// Its statistics have been read.
    pub fn is_closed(&self) -> bool {
        self.counts.is_some() || self.spread.is_some()
    }

    /// The last line of its statistics has been read.
    pub fn has_spread(&self) -> bool {
        self.spread.is_some()
    }

    fn has_replies(&self) -> bool {
        !self.from.is_empty() || !self.samples.is_empty() || self.below + self.timeless > 0
    }

    /// Whether `reply` evidently goes on with this log.
    pub fn is_of(&self, reply: &Reply<'_>) -> bool {
        if self.is_closed() || self.begins_anew(reply) {
            return false;
        }
        if self.has_replies() && self.from == reply.from {
            return true;
        }
        let names = |header: &Header| {
            let address = header.address.as_deref().unwrap_or(&header.host);
            let inside = reply.from.strip_suffix(')').and_then(|from| from.strip_suffix(address));
            reply.from == address
                || reply.from == header.host
                || inside.is_some_and(|from| from.ends_with('('))
        };
        self.header.as_ref().is_some_and(names)
    }

    /// Whether `reply` may be of this log, if it is of no other: a broadcast is answered by many.
    pub fn may_take(&self, reply: &Reply<'_>) -> bool {
        !self.is_closed() && !self.begins_anew(reply) && (self.header.is_some() || !self.has_replies())
    }

    /// A first request for the second time: the lines between were not kept.
    fn begins_anew(&self, reply: &Reply<'_>) -> bool {
        let first = reply.sequence.filter(|sequence| *sequence <= 1);
        first.is_some_and(|sequence| !reply.duplicate && self.from == reply.from && self.seen.has(sequence))
    }

    /// Whether this line of statistics, or another one, names the host.
    pub fn is_named_in(&self, text: &str) -> bool {
        let named = |name: &str| {
            text.split([' ', ':']).any(|word| word == name) || text.contains(&format!(" {name} "))
        };
        let host = self.header.as_ref();
        host.is_some_and(|header| named(&header.host) || header.address.as_deref().is_some_and(named))
    }

    /// Whether counts in words of an unknown language may be its end.
    pub fn expects(&self, counts: &Counts) -> bool {
        let lost = counts.sent.saturating_sub(counts.received) as f64 / counts.sent.max(1) as f64;
        self.statistics && !self.is_closed() || counts.loss.is_some_and(|loss| (loss - lost).abs() < 0.011)
    }

    /// The first line.
    pub fn header(&mut self, header: Header) {
        self.dialect = Some(header.dialect);
        self.header = Some(header);
    }

    /// An answer.
    pub fn reply(&mut self, reply: &Reply<'_>) {
        if !self.has_replies() {
            self.from = reply.from.to_owned();
            self.ttl = reply.ttl;
            if reply.windows {
                self.dialect = Some(Dialect::Windows);
            }
        }
        self.old |= reply.old;
        self.comma |= reply.comma;
        self.digit = self.digit.max(reply.digit);
        let again = reply.sequence.is_some_and(|sequence| self.seen.add(sequence)) || reply.duplicate;
        match reply.seconds {
            _ if reply.damaged => self.damaged += 1,
            _ if again => self.duplicates += 1,
            Some(_) if reply.below => self.below += 1,
            Some(seconds) => self.samples.push(match reply.at {
                Some(at) => Sample::at(at - *self.first_at.get_or_insert(at), seconds),
                None => Sample::of(seconds),
            }),
            None => self.timeless += 1,
        }
    }

    /// An error.
    pub fn refuse(&mut self, said: &str) {
        self.refusals += 1;
        self.refusal.get_or_insert_with(|| said.chars().take(160).collect());
    }

    /// `--- host ping statistics ---`
    pub fn statistics(&mut self, windows: bool) {
        self.statistics = true;
        if windows {
            self.dialect = Some(Dialect::Windows);
        }
    }

    /// Packets sent and received.
    pub fn counts(&mut self, mut counts: Counts) {
        self.spread = counts.spread.take();
        self.counts = Some(counts);
    }

    /// Some of the counts, where Windows breaks the line between them; false where none are expected.
    pub fn part(&mut self, figures: &[u64], text: &str) -> bool {
        if !self.statistics || self.is_closed() || self.dialect != Some(Dialect::Windows) {
            return false;
        }
        self.parts.extend(figures);
        if let Some(counts) = figures::windows_counts_of(&self.parts, text) {
            self.counts(counts);
        }
        true
    }

    /// Figures of the round trips.
    pub fn spread(&mut self, spread: Spread) {
        self.comma |= spread.comma;
        self.spread = Some(spread);
    }

    /// The share of lost packets on a line of its own.
    pub fn share(&mut self, share: f64) {
        if let Some(counts) = self.counts.as_mut().filter(|counts| counts.loss.is_none()) {
            counts.loss = Some(share);
        }
    }

    /// The next line is the dump of a header.
    pub fn dump(&mut self) {
        self.dump = true;
    }

    /// A line of no known kind.
    pub fn foreign(&mut self, text: &str) {
        if std::mem::take(&mut self.dump) {
            return;
        }
        if self.is_blank() {
            // Before a run stand prompts and whatever the terminal held.
            self.asked = asked_for(text).or(self.asked);
            return;
        }
        if self.is_closed() || self.statistics {
            return;
        }
        if self.dialect == Some(Dialect::Windows) {
            // The words for "timed out" are not known in every language. One that names a host is its refusal.
            if line::address(text).is_some() {
                self.refuse(text);
            }
            return;
        }
        self.foreign += 1;
        self.first_foreign.get_or_insert_with(|| text.chars().take(80).collect());
    }

    /// The run, or what the tool said instead.
    pub fn finish(mut self) -> Result<Run, Option<String>> {
        if self.samples.is_empty() && self.below == 0 && !self.is_closed() {
            return Err(self.refusal);
        }
        if let Some(spread) = self.spread.as_mut().filter(|_| self.below > 0) {
            // Its minimum is a printed 0 that stands for "below 1 ms".
            spread.min = spread.min.filter(|min| *min > 0.0);
        }
        let mut sheet = Sheet::new("ping");
        let samples = std::mem::take(&mut self.samples);
        if !samples.is_empty() || self.spread.is_some() {
            let series = sheet.series(&RTT, &Params::new());
            series.headline = Some(Reduce::Median);
            let spread = self.spread.clone().unwrap_or_default();
            let figures =
                [("min", spread.min), ("mean", spread.mean), ("max", spread.max), ("sd", spread.sd)];
            let printed = figures.into_iter().filter_map(|(name, figure)| Some((name.to_owned(), figure?)));
            series.reported = printed.collect();
        }
        if let Some(counts) = &self.counts {
            self.counted(counts, samples.len() as u64, &mut sheet);
        }
        self.caveats(&samples, &mut sheet);
        self.facts(&mut sheet);
        if !samples.is_empty() {
            sheet.series(&RTT, &Params::new()).samples = samples;
        }
        sheet.run.tool_version = self.version;
        sheet.finish().ok_or(self.refusal)
    }

    fn counted(&self, counts: &Counts, replies: u64, sheet: &mut Sheet) {
        let refused = if self.windows_counts_refusals(replies) { self.refusals } else { 0 };
        let received = counts.received.saturating_sub(refused);
        let params = Params::new();
        let mut one = |metric: &Metric, value: f64, printed: Option<f64>| {
            sheet
                .printed(metric, &params, value)
                .reported
                .extend(printed.map(|printed| ("mean".to_owned(), printed)));
        };
        one(&PACKETS_SENT, counts.sent as f64, None);
        one(&PACKETS_RECEIVED, received as f64, Some(counts.received as f64));
        let lost = counts.sent.checked_sub(received);
        if let (Some(printed), Some(lost)) = (counts.lost, lost) {
            one(&PACKETS_LOST, lost as f64, Some(printed as f64));
        }
        if let (true, Some(lost)) = (counts.sent > 0, lost) {
            one(&LOSS, lost as f64 / counts.sent as f64, counts.loss);
        }
        let duplicates = counts.duplicates.max(self.duplicates);
        if duplicates > 0 {
            one(&DUPLICATES, duplicates as f64, Some(counts.duplicates as f64));
        }
        if let Some(duration) = counts.duration {
            one(&DURATION, duration, None);
        }
    }

    /// Windows calls a router's "destination host unreachable" a received packet.
    pub(super) fn windows_counts_refusals(&self, replies: u64) -> bool {
        let received = self.counts.as_ref().map(|counts| counts.received);
        self.dialect == Some(Dialect::Windows)
            && self.refusals > 0
            && received == Some(replies + self.below + self.refusals)
    }

    fn facts(&self, sheet: &mut Sheet) {
        if let Some(header) = &self.header {
            sheet.fact("ping.host", header.host.as_str());
            if let Some(address) = &header.address {
                sheet.fact("ping.address", address.as_str());
            }
            if let Some(size) = header.size.and_then(|size| i64::try_from(size).ok()) {
                sheet.fact_in("ping.size", size, Unit::Byte);
            }
        }
        if let Some(ttl) = self.ttl.and_then(|ttl| i64::try_from(ttl).ok()) {
            sheet.fact("ping.ttl", ttl);
        }
        if let Some((apart, average)) = self.spread.as_ref().and_then(|spread| spread.pace) {
            sheet.fact_in("ping.interval", apart, Unit::Second);
            sheet.fact_in("ping.moving_average", average, Unit::Second);
        }
        let dialect = match self.dialect {
            Some(Dialect::Windows) => "windows",
            Some(Dialect::Bsd) => "bsd",
            Some(Dialect::Iputils) => "iputils",
            None => return,
        };
        sheet.fact("ping.dialect", dialect);
    }
}

/// The count in a command such as `ping -c 20 host`.
fn asked_for(text: &str) -> Option<u64> {
    let (_, command) = text.split_once("ping")?;
    let mut words = command.split_whitespace().skip_while(|word| !word.starts_with("-c") && *word != "-n");
    let word = words.next()?;
    word.get(2..).and_then(|count| count.parse().ok()).or_else(|| words.next()?.parse().ok())
}
