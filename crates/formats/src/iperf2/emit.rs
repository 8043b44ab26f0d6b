//! A row of a test made into samples.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{
    CWND, JITTER, LATENCY, LOSS, Metric, PACKET_RATE, PACKETS_LOST, REORDERED, RETRANSMITS, RTT, THROUGHPUT,
    TRANSACTION_RATE, TRANSFERRED,
};
use tenbin_core::sample::{Params, Sample};

use super::group::{Group, Side};
use super::row::{Id, Row};

impl Group {
    /// Params of what stream `at` tells of `side`; `total`: over the whole test.
    pub(super) fn params(&self, at: usize, side: Option<Side>, total: bool) -> Params {
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

    /// A sample at `end`; of the whole test the figure as printed too.
    pub(super) fn push(&mut self, metric: &Metric, params: &Params, end: f64, value: f64, total: bool) {
        let series = self.sheet.series(metric, params);
        series.samples.push(Sample::at(end, value));
        if total {
            series.reported.insert("mean".to_owned(), value);
        }
    }

    /// A row becomes samples.
    pub(super) fn emit(&mut self, at: usize, row: &Row, total: bool, side: Option<Side>) {
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
        // Of no datagrams there is no jitter, though 0.000 ms is printed.
        let none = cells.lost.is_some_and(|(_, all)| all == 0.0);
        let jitter = cells.jitter.filter(|_| side != Some(Side::Sender) && !none);
        if none && total && side == Some(Side::Receiver) && row.bytes == 0.0 {
            self.sheet.caveat(CaveatKind::NothingDelivered, "no datagram arrived");
        }
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
}
