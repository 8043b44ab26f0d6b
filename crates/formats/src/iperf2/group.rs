//! The rows of one test, made into series as they come.
//!
//! An interval is known as one when the next row of its stream follows on it; the end line is the row that starts at 0
//! again. A stream with a single row has an end line only.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{PACKETS_SENT, REORDERED, THROUGHPUT};
use tenbin_core::run::Run;

use super::row::{Id, Row};
use super::{TOOL, whole};
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
    /// As it stands in params.
    pub fn word(self) -> &'static str {
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
    pub(super) last: Option<(bool, Option<Side>)>,
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

    /// Decides about every row that waits: the log is cut before the next one. A first interval is told by the other
    /// streams or by a length that no test has.
    fn settle_all(&mut self) {
        for at in 0..self.streams.len() {
            let Some(stream) = self.streams.get(at) else { continue };
            let Some(row) = stream.pending else { continue };
            let like_others = self.first_interval.is_some_and(|end| (end - row.end).abs() < 1e-3);
            let exact = row.decimals == 4 && row.end.fract() == 0.0 && !self.udp && !self.client;
            self.settle(at, !(like_others || exact && row.cells.lost.is_none()));
        }
    }

    /// The run; `None` without figures.
    pub fn finish(mut self) -> Option<Run> {
        self.settle_all();
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
        whole::tidy(&mut run);
        Some(run)
    }
}
