//! What a test gave, and the run that becomes of it.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{
    CPU_PER_BYTE, CPU_UTILIZATION, DURATION, LOSS, PACKETS_LOST, PACKETS_RECEIVED, PACKETS_SENT, RETRANSMITS,
    RTT, THROUGHPUT, TRANSACTION_RATE,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::unit::Unit as BaseUnit;

use super::TOOL;
use crate::sheet::{Sheet, params};

/// The unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// So many bits in a second.
    Bits(f64),
    /// Transactions in a second.
    Transactions,
}

/// An output that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are named like netperf's own outputs")]
pub enum Field {
    Rate,
    RateUnit,
    Elapsed,
    Transactions,
    RoundTrip,
    /// In microseconds; the figure of that name.
    Latency(&'static str),
    LocalSent,
    LocalReceived,
    RemoteSent,
    RemoteReceived,
    LocalCpu,
    RemoteCpu,
    /// Microseconds for 1024 bytes.
    LocalDemand,
    RemoteDemand,
    LocalRetransmits,
    RemoteRetransmits,
    LocalSendCalls,
    RemoteReceiveCalls,
    Protocol,
    Direction,
    MessageBytes,
    RequestBytes,
    Confidence,
    /// Datagrams of UDP_STREAM that were sent, and that arrived.
    Sent,
    Arrived,
    /// Transactions in the histogram.
    Counted,
}

/// A test as far as it was told.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// `TCP_STREAM`, `UDP_RR`.
    pub test: Option<String>,
    /// The peer as printed.
    pub peer: Option<String>,
    /// Numbers by output.
    pub numbers: Vec<(Field, f64)>,
    /// The unit of the rate.
    pub unit: Option<Unit>,
    /// Words by output.
    pub words: Vec<(Field, String)>,
    /// Interim results: seconds since the begin, rate, unit.
    pub interim: Vec<(f64, f64, Unit)>,
    /// The confidence asked for was not reached; the interval's width as printed.
    pub not_converged: Option<String>,
    /// netperf's own words where something failed.
    pub said: Option<String>,
}

impl Outcome {
    /// The number of an output.
    pub fn get(&self, field: Field) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| *known == field).map(|(_, value)| *value)
    }

    /// Sets an output; the first one stands. Negative numbers are netperf's "not measured".
    pub fn set(&mut self, field: Field, value: f64) {
        if value >= 0.0 && self.get(field).is_none() {
            self.numbers.push((field, value));
        }
    }

    /// Sets an output from its text.
    pub fn tell(&mut self, field: Field, text: &str) {
        match field {
            Field::RateUnit => self.unit = super::omni::unit(text).or(self.unit),
            Field::Protocol | Field::Direction => self.words.push((field, text.to_owned())),
            _ => {
                if let Some(value) = number(text) {
                    self.set(field, value);
                }
            }
        }
    }

    fn word(&self, field: Field) -> Option<&str> {
        self.words.iter().find(|(known, _)| *known == field).map(|(_, text)| text.as_str())
    }

    /// A request/response test.
    pub fn responds(&self) -> bool {
        self.test.as_deref().is_some_and(|test| test.ends_with("RR") || test.ends_with("CC"))
            || self.unit == Some(Unit::Transactions)
            || self.word(Field::Direction) == Some("Send|Recv")
    }

    /// The run; `None` without figures.
    pub fn run(self) -> Option<Run> {
        let mut sheet = Sheet::new(TOOL);
        let responds = self.responds();
        let way = self.word(Field::Direction);
        // The far end sends.
        let reverse =
            way == Some("Recv") || self.test.as_deref().is_some_and(|test| test.ends_with("MAERTS"));
        let place = |side: Option<&str>, window: bool| {
            let mut place = Params::new();
            if let Some(side) = side {
                place.insert("side".into(), side.into());
            }
            if reverse {
                place.insert("direction".into(), "reverse".into());
            }
            if window {
                place.insert("window".into(), "total".into());
            }
            place
        };
        for (at, value, unit) in &self.interim {
            let (metric, value) = match unit {
                Unit::Bits(bits) => (&THROUGHPUT, value * bits),
                Unit::Transactions => (&TRANSACTION_RATE, *value),
            };
            sheet.series(metric, &place(None, false)).samples.push(Sample::at(*at, value));
        }
        self.rates(&mut sheet, &place);
        if let Some(seconds) = self.get(Field::Elapsed) {
            sheet.printed(&DURATION, &params([("window", "total".into())]), seconds);
        }
        if responds {
            self.round_trips(&mut sheet);
        }
        self.datagrams(&mut sheet);
        let (near, far) = if reverse { ("receiver", "sender") } else { ("sender", "receiver") };
        for (field, side) in [(Field::LocalCpu, near), (Field::RemoteCpu, far)] {
            if let Some(percent) = self.get(field) {
                let place = params([("side", side.into()), ("window", "total".into())]);
                sheet.printed(&CPU_UTILIZATION, &place, percent / 100.0);
            }
        }
        for (field, side) in [(Field::LocalDemand, near), (Field::RemoteDemand, far)] {
            if let Some(us) = self.get(field) {
                let place = params([("side", side.into()), ("window", "total".into())]);
                sheet.printed(&CPU_PER_BYTE, &place, us / 1e6 / 1024.0);
            }
        }
        let sends = if reverse { Field::RemoteRetransmits } else { Field::LocalRetransmits };
        if let Some(count) = self.get(sends) {
            sheet.printed(&RETRANSMITS, &place(Some("sender"), true), count);
        }
        self.remarks(&mut sheet);
        sheet.run.benchmark = self.test;
        sheet.finish()
    }

    fn rates(&self, sheet: &mut Sheet, place: &dyn Fn(Option<&str>, bool) -> Params) {
        if let Some(rate) = self.get(Field::Transactions).filter(|rate| *rate > 0.0 || self.responds()) {
            sheet.headline(&TRANSACTION_RATE, &place(None, true), Reduce::Total, rate);
        }
        match (self.get(Field::Rate), self.unit) {
            (Some(rate), Some(Unit::Transactions)) if self.get(Field::Transactions).is_none() => {
                sheet.headline(&TRANSACTION_RATE, &place(None, true), Reduce::Total, rate);
            }
            (Some(rate), Some(Unit::Bits(bits))) => {
                let series = sheet.printed(&THROUGHPUT, &place(None, true), rate * bits);
                series.headline = (!self.responds()).then_some(Reduce::Total);
            }
            _ => {}
        }
        // Those of a request/response test are in another unit than its rate.
        let Some(Unit::Bits(bits)) = self.unit else { return };
        let both = self.get(Field::RemoteReceived).is_some() && self.get(Field::Rate).is_none();
        for (field, side, reverse) in [
            (Field::LocalSent, "sender", false),
            (Field::RemoteReceived, "receiver", false),
            (Field::RemoteSent, "sender", true),
            (Field::LocalReceived, "receiver", true),
        ] {
            if let Some(rate) = self.get(field).filter(|rate| *rate > 0.0) {
                let mut place = params([("side", side.into()), ("window", "total".into())]);
                if reverse {
                    place.insert("direction".into(), "reverse".into());
                }
                let series = sheet.printed(&THROUGHPUT, &place, rate * bits);
                series.headline = (side == "receiver" && both).then_some(Reduce::Total);
            }
        }
    }

    fn round_trips(&self, sheet: &mut Sheet) {
        let place = params([("window", "total".into())]);
        if let Some(us) = self.get(Field::RoundTrip) {
            sheet.printed(&RTT, &place, us / 1e6);
        }
        for (field, value) in &self.numbers {
            if let Field::Latency(figure) = field {
                sheet.reported(&RTT, &place, figure, value / 1e6);
            }
        }
        let told = sheet.run.series.iter().any(|series| series.metric == RTT);
        if let (Some(count), true) = (self.get(Field::Counted), told) {
            sheet.reported(&RTT, &place, "n", count);
        }
    }

    /// The two lines of UDP_STREAM: what left here, and what arrived there.
    fn datagrams(&self, sheet: &mut Sheet) {
        let place = |side: &str| params([("side", side.into()), ("window", "total".into())]);
        let udp = self.test.as_deref() == Some("UDP_STREAM") || self.word(Field::Protocol) == Some("UDP");
        let calls = |field| self.get(field).filter(|_| udp && !self.responds());
        let sent = self.get(Field::Sent).or_else(|| calls(Field::LocalSendCalls));
        let arrived = self.get(Field::Arrived).or_else(|| calls(Field::RemoteReceiveCalls));
        if let Some(sent) = sent {
            sheet.printed(&PACKETS_SENT, &place("sender"), sent);
        }
        if let Some(arrived) = arrived {
            sheet.printed(&PACKETS_RECEIVED, &place("receiver"), arrived);
        }
        let (Some(sent), Some(arrived)) = (sent, arrived) else {
            if sent.is_some() && self.get(Field::RemoteReceived).is_none() {
                let text = "only the sender's rate is known, which is what was offered and not what arrived";
                sheet.caveat(CaveatKind::SenderOnly, text);
            }
            return;
        };
        if arrived > sent {
            sheet.caveat(CaveatKind::Inconsistent, "more was received than sent");
        } else if sent > 0.0 {
            let receiver = place("receiver");
            sheet.series(&PACKETS_LOST, &receiver).samples.push(Sample::of(sent - arrived));
            sheet.series(&LOSS, &receiver).samples.push(Sample::of((sent - arrived) / sent));
        }
        if sent > 0.0 && arrived == 0.0 {
            sheet.caveat(CaveatKind::NothingDelivered, "no datagram arrived");
        }
    }

    fn remarks(&self, sheet: &mut Sheet) {
        if let Some(width) = &self.not_converged {
            let text =
                format!("netperf did not reach the confidence asked for: throughput varies by {width}");
            sheet.caveat(CaveatKind::NotConverged, text);
        }
        if let Some(said) = &self.said {
            sheet.caveat(CaveatKind::ErrorReported, format!("netperf says: {said}"));
        }
        if !self.interim.is_empty()
            && self.get(Field::Rate).is_none()
            && self.get(Field::RemoteReceived).is_none()
        {
            sheet.caveat(CaveatKind::Truncated, "the log ends before the totals of the test");
        }
        if let Some(peer) = &self.peer {
            sheet.fact("netperf.peer", peer.as_str());
        }
        for (field, key) in
            [(Field::MessageBytes, "netperf.message"), (Field::RequestBytes, "netperf.request")]
        {
            if let Some(bytes) = self.get(field).filter(|bytes| *bytes > 0.0) {
                sheet.fact_in(key, bytes as i64, BaseUnit::Byte);
            }
        }
    }
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}
