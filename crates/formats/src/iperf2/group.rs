//! The rows of one test, made into series as they come.
//!
//! An interval is known as one when the next row of its stream follows on it; the end line is the row that starts at 0
//! again. A stream with a single row has an end line only.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{
    CWND, JITTER, LATENCY, LOSS, Metric, PACKET_RATE, PACKETS_LOST, PACKETS_SENT, REORDERED, RETRANSMITS,
    RTT, THROUGHPUT, TRANSACTION_RATE, TRANSFERRED,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample, Series};
use tenbin_core::unit::Unit;

use super::row::{Id, Row};
use super::{TOOL, row};
use crate::sheet::Sheet;

/// Which end of a connection the rows of a stream were taken at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

impl Side {
    fn word(self) -> &'static str {
        if self == Side::Sender { "sender" } else { "receiver" }
    }

    /// The far end.
    pub fn other(self) -> Side {
        if self == Side::Sender { Side::Receiver } else { Side::Sender }
    }
}

/// A stream and what has been seen of it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its id.
    pub id: Id,
    /// Where its rows were taken, if that is known.
    pub side: Option<Side>,
    /// It goes from the server to the client.
    pub reverse: bool,
    /// The row of which the next one tells whether it is an interval.
    pending: Option<Row>,
    intervals: usize,
    last_end: f64,
    ended: bool,
    report_next: bool,
    seen_without_loss: bool,
    /// Whether the last row that was taken was an end line, and whose.
    last: Option<(bool, Option<Side>)>,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It belongs to this test.
    Here,
    /// It begins another test.
    Another,
}

/// A test.
#[derive(Debug)]
pub struct Group {
    /// The peer's address.
    pub peer: String,
    /// Its streams, sums among them.
    pub streams: Vec<Stream>,
    /// `iperf -c` tells.
    pub client: bool,
    /// Datagrams.
    pub udp: bool,
    /// It was stopped by hand.
    pub interrupted: bool,
    /// What iperf said went wrong.
    pub said: Vec<String>,
    /// Facts and series so far.
    pub sheet: Sheet,
    first_interval: Option<f64>,
}

impl Group {
    /// A test against `peer`.
    pub fn new(peer: &str, client: bool, udp: bool) -> Group {
        Group {
            peer: peer.to_owned(),
            streams: Vec::new(),
            client,
            udp,
            interrupted: false,
            said: Vec::new(),
            sheet: Sheet::new(TOOL),
            first_interval: None,
        }
    }

    /// Whether figures have been read.
    pub fn has_rows(&self) -> bool {
        self.streams.iter().any(|stream| stream.pending.is_some() || stream.last.is_some())
    }

    /// Whether stream `at` has given samples, so that its side is settled.
    pub fn is_settled(&self, at: usize) -> bool {
        self.streams.get(at).is_some_and(|stream| stream.last.is_some() || stream.seen_without_loss)
    }

    /// Where the stream of `id` is.
    pub fn find(&self, id: Id) -> Option<usize> {
        self.streams.iter().position(|stream| stream.id == id)
    }

    /// Adds a stream.
    pub fn add(&mut self, id: Id, side: Option<Side>, reverse: bool) -> usize {
        self.streams.push(Stream {
            id,
            side,
            reverse,
            pending: None,
            intervals: 0,
            last_end: 0.0,
            ended: false,
            report_next: false,
            seen_without_loss: false,
            last: None,
        });
        self.streams.len() - 1
    }

    /// The far end's report of stream `at` follows.
    pub fn expect_report(&mut self, at: usize) {
        if let Some(stream) = self.streams.get_mut(at) {
            stream.report_next = true;
        }
    }

    /// Takes a row of stream `at`.
    pub fn row(&mut self, at: usize, row: Row) -> Taken {
        let Some(stream) = self.streams.get_mut(at) else { return Taken::Here };
        let from_zero = row.start == 0.0;
        let loss = row.cells.lost.is_some();
        // Only who receives counts losses.
        if std::mem::take(&mut stream.report_next) || (loss && from_zero && stream.seen_without_loss) {
            let side = Some(Side::Receiver);
            self.settle(at, true);
            self.emit(at, &row, true, side);
            return Taken::Here;
        }
        stream.seen_without_loss |= !loss;
        if let Some(first) = stream.pending {
            if !from_zero {
                self.settle(at, false);
                self.interval(at, &row);
                return Taken::Here;
            }
            // An interval and the end line of its test, or the end lines of two tests.
            let same = row.bytes == first.bytes && row.bits == first.bits;
            let grown = row.end > first.end && row.bytes >= first.bytes * 0.995;
            // Intervals end at whole tenths, tests of later versions wherever they end.
            let tenth = first.decimals < 4 || (first.end * 10.0 - (first.end * 10.0).round()).abs() < 1e-6;
            if (same && row.end == first.end) || (grown && tenth) {
                self.settle(at, false);
                self.end(at, &row);
                return Taken::Here;
            }
            return Taken::Another;
        }
        if !from_zero && !stream.ended {
            self.interval(at, &row);
            return Taken::Here;
        }
        if stream.ended || row.end + 1e-3 < stream.last_end {
            return Taken::Another;
        }
        if stream.intervals > 0 {
            self.end(at, &row);
        } else {
            stream.pending = Some(row);
        }
        Taken::Here
    }

    /// Datagrams that came late, of the row that was just read.
    pub fn reordered(&mut self, at: usize, end: f64, count: f64) {
        let Some(stream) = self.streams.get_mut(at) else { return };
        if let Some(pending) = &mut stream.pending {
            pending.cells.reordered = Some(count);
        } else if let Some((total, side)) = stream.last {
            let params = self.params(at, Some(side.unwrap_or(Side::Receiver)), total);
            self.push(&REORDERED, &params, end, count, total);
        }
    }

    /// Datagrams sent.
    pub fn sent(&mut self, at: usize, count: f64) {
        let params = self.params(at, Some(Side::Sender), true);
        self.sheet.printed(&PACKETS_SENT, &params, count);
    }

    fn interval(&mut self, at: usize, row: &Row) {
        self.first_interval.get_or_insert(row.end);
        let Some(stream) = self.streams.get_mut(at) else { return };
        stream.intervals += 1;
        stream.last_end = row.end;
        let side = stream.side;
        self.emit(at, row, false, side);
    }

    fn end(&mut self, at: usize, row: &Row) {
        let Some(stream) = self.streams.get_mut(at) else { return };
        stream.ended = true;
        let side = stream.side;
        self.emit(at, row, true, side);
    }

    /// Decides about the row that waits, if there is one.
    fn settle(&mut self, at: usize, total: bool) {
        let Some(row) = self.streams.get_mut(at).and_then(|stream| stream.pending.take()) else { return };
        if total { self.end(at, &row) } else { self.interval(at, &row) }
    }

    fn params(&self, at: usize, side: Option<Side>, total: bool) -> Params {
        let mut params = Params::new();
        let Some(stream) = self.streams.get(at) else { return params };
        if let Some(side) = side {
            params.insert("side".into(), side.word().into());
        }
        if let Id::Stream { number, .. } = stream.id {
            params.insert("stream".into(), number.into());
        }
        if stream.reverse {
            params.insert("direction".into(), "reverse".into());
        }
        if total {
            params.insert("window".into(), "total".into());
        }
        params
    }

    fn push(&mut self, metric: &Metric, params: &Params, end: f64, value: f64, total: bool) {
        let series = self.sheet.series(metric, params);
        series.samples.push(Sample::at(end, value));
        if total {
            series.reported.insert("mean".to_owned(), value);
        }
    }

    /// A row becomes samples.
    fn emit(&mut self, at: usize, row: &Row, total: bool, side: Option<Side>) {
        if let Some(stream) = self.streams.get_mut(at) {
            stream.last = Some((total, side));
        }
        let cells = &row.cells;
        if cells.omitted {
            return;
        }
        let here = self.params(at, side, total);
        let receiver = self.params(at, Some(Side::Receiver), total);
        let sender = self.params(at, Some(Side::Sender), total);
        let (lost, loss) = match cells.lost {
            // A sender's zeroes are no counts; a share is none of a counter that ran over.
            Some(_) if side == Some(Side::Sender) => (None, None),
            Some((lost, all)) if all > 0.0 && lost >= 0.0 && lost <= all => (Some(lost), Some(lost / all)),
            Some((lost, _)) => (Some(lost), None),
            None => (None, None),
        };
        let jitter = cells.jitter.filter(|_| side != Some(Side::Sender));
        for (metric, params, value) in [
            (&THROUGHPUT, &here, Some(row.bits)),
            (&TRANSFERRED, &here, Some(row.bytes)),
            (&RETRANSMITS, &sender, cells.retransmits),
            (&CWND, &sender, cells.cwnd.filter(|_| !total)),
            (&RTT, &sender, cells.rtt.filter(|_| cells.bounce.is_none())),
            (&JITTER, &receiver, jitter),
            (&PACKETS_LOST, &receiver, lost),
            (&LOSS, &receiver, loss),
            (&REORDERED, &receiver, cells.reordered.filter(|_| side != Some(Side::Sender))),
            (&PACKET_RATE, &here, cells.packets),
            (&TRANSACTION_RATE, &here, cells.trips),
        ] {
            if let Some(value) = value {
                self.push(metric, params, row.end, value, total);
            }
        }
        if let (Some(_), Some(printed), true) = (loss, cells.loss, total) {
            self.sheet.reported(&LOSS, &receiver, "mean", printed);
        }
        // A writer's four figures are how long its writes took.
        if let Some(figures) = cells.latency.filter(|_| cells.reads || cells.lost.is_some()) {
            self.spread(&LATENCY, &receiver, row.end, figures, total);
            let text = "one-way latency holds only where the clocks of both hosts agree";
            self.sheet.caveat(CaveatKind::Note, text);
        }
        if let Some((count, figures)) = cells.bounce {
            self.spread(&RTT, &here, row.end, figures, total);
            if total {
                self.sheet.reported(&RTT, &here, "n", count);
            }
        }
    }

    fn spread(&mut self, metric: &Metric, params: &Params, end: f64, figures: [f64; 4], total: bool) {
        let [mean, min, max, sd] = figures;
        self.push(metric, params, end, mean, total);
        if total {
            for (figure, value) in [("min", min), ("max", max), ("sd", sd)] {
                self.sheet.reported(metric, params, figure, value);
            }
        }
    }

    /// The run; `None` without figures.
    pub fn finish(mut self) -> Option<Run> {
        for at in 0..self.streams.len() {
            let Some(stream) = self.streams.get(at) else { continue };
            let Some(row) = stream.pending else { continue };
            // Of a log that is cut: a first interval, told by the other streams or by a length that no test has.
            let like_others = self.first_interval.is_some_and(|end| (end - row.end).abs() < 1e-3);
            let exact = row.decimals == 4 && row.end.fract() == 0.0 && !self.udp && !self.client;
            self.settle(at, !(like_others || exact && row.cells.lost.is_none()));
        }
        let cut =
            self.streams.iter().any(|stream| stream.intervals > 0 && !stream.ended && stream.id != Id::Both);
        if self.interrupted {
            self.sheet.caveat(CaveatKind::Interrupted, "the test was stopped before its end");
        } else if cut {
            self.sheet.caveat(CaveatKind::Truncated, "the log ends before the totals of the test");
        }
        for said in std::mem::take(&mut self.said) {
            self.sheet.caveat(CaveatKind::ErrorReported, format!("iperf says: {said}"));
        }
        let received = self.sheet.run.series.iter().any(|series| {
            series.metric == THROUGHPUT && series.params.get("side") == Some(&"receiver".into())
        });
        if self.udp && self.client && !received && self.sheet.holds_something() {
            let text = "only the sender's rate is known, which is what was offered and not what arrived";
            self.sheet.caveat(CaveatKind::SenderOnly, text);
        }
        if self.udp {
            self.sheet.fact("iperf2.protocol", "UDP");
        }
        let mut run = self.sheet.finish()?;
        lone_streams(&mut run);
        both_ways(&mut run);
        headline(&mut run);
        Some(run)
    }
}

fn without(params: &Params, keys: &[&str]) -> Params {
    params
        .iter()
        .filter(|(key, _)| !keys.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// A lone stream is the whole: it carries no `stream`, and the sum that repeats it is left out.
fn lone_streams(run: &mut Run) {
    let places: Vec<Params> =
        run.series.iter().map(|series| without(&series.params, &["stream", "window"])).collect();
    let mut seen: Vec<(Params, Vec<Param>, bool)> = Vec::new();
    for (series, place) in run.series.iter().zip(&places) {
        let at = seen.iter().position(|(known, ..)| known == place).unwrap_or_else(|| {
            seen.push((place.clone(), Vec::new(), false));
            seen.len() - 1
        });
        if let Some((_, numbers, sum)) = seen.get_mut(at) {
            match series.params.get("stream") {
                Some(number) if !numbers.contains(number) => numbers.push(number.clone()),
                Some(_) => {}
                None => *sum = true,
            }
        }
    }
    let same = |place: &Params| {
        let last = |stream: bool| {
            let mut found = run.series.iter().zip(&places).filter(|(series, known)| {
                *known == place
                    && series.metric == THROUGHPUT
                    && series.params.contains_key("stream") == stream
            });
            found.next_back().and_then(|(series, _)| series.samples.last()).map(|sample| sample.value)
        };
        matches!((last(true), last(false)), (Some(one), Some(all)) if (one - all).abs() <= all * 1e-3)
    };
    let lone: Vec<&Params> = seen
        .iter()
        .filter(|(place, numbers, sum)| numbers.len() == 1 && (!sum || same(place)))
        .map(|(place, ..)| place)
        .collect();
    let is_lone = |series: &Series| lone.contains(&&without(&series.params, &["stream", "window"]));
    let mut kept = Vec::with_capacity(run.series.len());
    for series in &run.series {
        let stream = series.params.contains_key("stream");
        if is_lone(series) && !stream {
            // What only the sum has, such as the datagrams sent.
            let told = run.series.iter().any(|other| {
                other.metric == series.metric
                    && other.params.contains_key("stream")
                    && without(&other.params, &["stream"]) == series.params
            });
            if told {
                continue;
            }
        }
        let mut series = series.clone();
        if is_lone(&series) {
            series.params.remove("stream");
        }
        kept.push(series);
    }
    run.series = kept;
}

/// Where one direction is told, both are; a sum over both directions belongs to neither.
fn both_ways(run: &mut Run) {
    let reverse = |series: &Series| series.params.contains_key("direction");
    if !run.series.iter().any(reverse) || run.series.iter().all(reverse) {
        return;
    }
    for series in &mut run.series {
        series.params.entry("direction".into()).or_insert_with(|| "forward".into());
    }
}

/// What arrived counts, else what was sent; of several streams their sum, if it is told.
pub(crate) fn headline(run: &mut Run) {
    if run.series.iter().any(|series| series.metric == TRANSACTION_RATE) {
        for series in &mut run.series {
            if series.metric == RTT && series.params.contains_key("window") {
                series.headline = Some(Reduce::Median);
            }
        }
        return;
    }
    let told: Vec<Params> = run
        .series
        .iter()
        .filter(|series| series.metric == THROUGHPUT && series.params.contains_key("window"))
        .map(|series| series.params.clone())
        .collect();
    let receives = |params: &Params| params.get("side") == Some(&"receiver".into());
    let best = |params: &Params| {
        let way = |other: &&Params| other.get("direction") == params.get("direction");
        let arrived = told.iter().filter(way).any(receives);
        let summed = told
            .iter()
            .filter(way)
            .any(|other| receives(other) == receives(params) && !other.contains_key("stream"));
        (!arrived || receives(params)) && (!summed || !params.contains_key("stream"))
    };
    for series in &mut run.series {
        if series.metric == THROUGHPUT && told.contains(&series.params) && best(&series.params) {
            series.headline = Some(Reduce::Total);
        }
    }
}

/// `TCP window size: 85.3 KByte`: the bytes.
pub fn window_bytes(rest: &str) -> Option<i64> {
    let mut words = rest.split_whitespace();
    let bytes = row::number(words.next()?)? * row::size(words.next()?)?;
    Some(bytes.round() as i64)
}

/// Facts of a connection.
pub fn facts(sheet: &mut Sheet, local: &str, remote: &str, window: Option<i64>, mss: Option<i64>) {
    if sheet.run.facts.contains_key("tcp.local") {
        return;
    }
    sheet.fact("tcp.local", local.to_owned());
    sheet.fact("tcp.remote", remote.to_owned());
    if let Some(window) = window {
        sheet.fact_in("tcp.window", window, Unit::Byte);
    }
    if let Some(mss) = mss {
        sheet.fact_in("tcp.mss", mss, Unit::Byte);
    }
}
