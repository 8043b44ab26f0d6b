//! From rows to series, with the params that every iperf3 figure carries.
//!
//! Interval rows are samples at the interval's end. Rows of the whole test carry `window: "total"`. A lone stream is
//! the whole: it carries no `stream`, and the sum that repeats it is left out. Warm-up intervals are no samples.

use tenbin_core::metric::{
    CPU_UTILIZATION, CWND, JITTER, LOSS, Metric, PACKETS_LOST, PACKETS_SENT, REORDERED, RETRANSMITS, RTT,
    THROUGHPUT, TRANSFERRED,
};
use tenbin_core::sample::{Params, Sample, Series};

use super::model::{Cpu, Direction, Interval, Role, Row, Side, Start, Test};

/// Every series of a test, in the order of its rows.
pub fn of(test: &Test) -> Vec<Series> {
    let mut builder = Builder::default();
    builder.test(test);
    builder.series
}

/// The side of the program that tells; in a bidirectional test that of its first streams.
pub fn local_side(start: &Start) -> Side {
    let client = start.role == Role::Client;
    if client != start.reverse { Side::Sender } else { Side::Receiver }
}

/// All rows that say something of their own: the sum of a single stream does not.
fn told<'a>(streams: &'a [Row], sums: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    let repeats = |sum: &&Row| streams.iter().filter(|row| same_place(row, sum)).count() == 1;
    streams.iter().chain(sums.iter().filter(move |sum| !repeats(sum)))
}

fn same_place(a: &Row, b: &Row) -> bool {
    a.direction == b.direction && a.side == b.side
}

fn is_lone(streams: &[Row], row: &Row) -> bool {
    streams.iter().filter(|other| same_place(other, row)).count() <= 1
}

fn total_window() -> (String, tenbin_core::sample::Param) {
    ("window".into(), "total".into())
}

/// Makes series of intervals as they are read, so that nothing but their samples is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Builder {
    /// The series so far.
    pub series: Vec<Series>,
    /// Both directions at once: every series says its own.
    both: bool,
    /// The series behind the one that was last added to: rows come in the same order in every interval.
    cursor: usize,
}

impl Builder {
    /// Adds an interval of a test that began so.
    pub fn interval(&mut self, start: &Start, interval: &Interval) {
        self.both = start.bidir;
        for row in told(&interval.streams, &interval.sums).filter(|row| !row.omitted) {
            self.row(row, false, is_lone(&interval.streams, row));
        }
    }

    /// Adds what `test` holds.
    pub fn test(&mut self, test: &Test) {
        self.both = test.start.bidir;
        for interval in &test.intervals {
            self.interval(&test.start, interval);
        }
        let Some(end) = &test.end else { return };
        for row in told(&end.streams, &end.sums) {
            self.row(row, true, is_lone(&end.streams, row));
        }
        let local = local_side(&test.start);
        for (cpu, side) in [(end.cpu_local, local), (end.cpu_remote, local.other())] {
            if let Some(Cpu { total, .. }) = cpu {
                let params = Params::from([("side".into(), side.word().into()), total_window()]);
                self.push(&CPU_UTILIZATION, &params, None, total, true);
            }
        }
    }

    fn row(&mut self, row: &Row, total: bool, lone: bool) {
        let params = |side: Side| {
            let mut params = Params::from([("side".to_owned(), side.word().into())]);
            if let Some(stream) = row.stream
                && !lone
            {
                params.insert("stream".into(), stream.into());
            }
            if self.both || row.direction == Direction::Reverse {
                params.insert("direction".into(), row.direction.word().into());
            }
            if total {
                params.extend([total_window()]);
            }
            params
        };
        let (here, sender, receiver) = (params(row.side), params(Side::Sender), params(Side::Receiver));
        let at = Some(row.end);
        let mut push = |metric: &Metric, params: &Params, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                self.push(metric, params, at, value, total);
            }
        };
        push(&THROUGHPUT, &here, row.bits_per_second);
        push(&TRANSFERRED, &here, row.bytes);
        push(&RETRANSMITS, &sender, row.retransmits);
        // Of a total this is the largest of all intervals: a figure of another kind.
        push(&CWND, &sender, row.cwnd_bytes.filter(|_| !total));
        push(&RTT, &sender, row.rtt_seconds);
        push(&JITTER, &receiver, row.jitter_seconds);
        // A receiver knows of those up to the highest number that came.
        push(&PACKETS_SENT, &here, row.packets);
        push(&PACKETS_LOST, &receiver, row.lost_packets);
        push(&REORDERED, &receiver, row.out_of_order);
        let loss = match (row.lost_packets, row.packets) {
            (Some(lost), Some(packets)) if packets > 0.0 && lost >= 0.0 && lost <= packets => {
                Some(lost / packets)
            }
            _ => None,
        };
        push(&LOSS, &receiver, loss);
        if let (Some(_), Some(printed)) = (loss, row.lost_ratio)
            && total
            && let Some(series) = self.cursor.checked_sub(1).and_then(|last| self.series.get_mut(last))
        {
            series.reported.insert("mean".into(), printed);
        }
    }

    fn push(&mut self, metric: &Metric, params: &Params, at: Option<f64>, value: f64, total: bool) {
        let here = |series: &Series| series.metric.name == metric.name && series.params == *params;
        let next = self.series.get(self.cursor).is_some_and(here).then_some(self.cursor);
        let index = next.or_else(|| self.series.iter().position(here)).unwrap_or_else(|| {
            self.series.push(Series {
                metric: metric.clone(),
                params: params.clone(),
                headline: None,
                samples: Vec::new(),
                reported: Default::default(),
            });
            self.series.len() - 1
        });
        self.cursor = index + 1;
        if let Some(series) = self.series.get_mut(index) {
            series.samples.push(Sample::new(at, value));
            if total {
                series.reported.insert("mean".into(), value);
            }
        }
    }
}
