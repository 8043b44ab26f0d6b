//! Intervals and totals out of counters: pure, time comes in as seconds since the test began.
//!
//! A test of `omit` seconds of warm-up and then its measured part. At the end of the warm-up all counters and the
//! clock begin anew, so that the figures of the measured part are those of a test without warm-up.

use tenbin_formats::iperf3::model::{Direction, Interval, Row, Side};

use super::tcpinfo::TcpInfo;

/// The state of one stream at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Payload bytes so far.
    pub bytes: u64,
    /// The kernel's view, of streams that send.
    pub info: Option<TcpInfo>,
}

/// Turns readings into intervals.
#[derive(Debug)]
pub struct Meter {
    /// The end at which is measured.
    pub side: Side,
    /// The way of the data.
    pub direction: Direction,
    /// The numbers shown for the streams.
    pub sockets: Vec<i64>,
    /// Seconds between interval reports; `None` = none.
    pub interval: Option<f64>,
    /// Seconds of warm-up that are left out; 0 once they are over.
    pub omit: f64,
    /// When the measured part began, in seconds since the test began.
    zero: f64,
    last_at: f64,
    ticks: u32,
    last: Vec<Reading>,
    base: Vec<Reading>,
    spread: Vec<Spread>,
}

/// Extremes over the intervals of one stream.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    n: f64,
    cwnd: f64,
    window: Option<f64>,
    rtt_sum: f64,
    rtt_min: f64,
    rtt_max: f64,
}

impl Meter {
    /// A meter that starts at the readings `first` at time 0.
    pub fn new(
        side: Side,
        direction: Direction,
        sockets: Vec<i64>,
        interval: Option<f64>,
        omit: f64,
        first: &[Reading],
    ) -> Meter {
        Meter {
            side,
            direction,
            spread: vec![Spread::default(); sockets.len()],
            sockets,
            interval,
            omit,
            zero: 0.0,
            last_at: 0.0,
            ticks: 0,
            last: first.to_vec(),
            base: first.to_vec(),
        }
    }

    /// When [`Meter::tick`] is due next, in seconds since the test began.
    pub fn due(&self) -> Option<f64> {
        let interval = self.interval.map(|length| self.zero + length * f64::from(self.ticks + 1));
        let omit = (self.omit > 0.0).then_some(self.omit);
        match (interval, omit) {
            // An interval that all but coincides with the end of the warm-up ends with it.
            (Some(tick), Some(end)) if tick < end - 1e-3 => Some(tick),
            (_, Some(end)) => Some(end),
            (tick, None) => tick,
        }
    }

    /// The interval that ends at `now`.
    pub fn tick(&mut self, now: f64, readings: &[Reading]) -> Interval {
        let omitted = self.omit > 0.0;
        let interval = self.interval_to(now, readings, omitted);
        self.ticks += 1;
        if omitted && now >= self.omit - 1e-3 {
            self.omit = 0.0;
            self.zero = now;
            self.last_at = now;
            self.ticks = 0;
            self.base = readings.to_vec();
            self.spread.fill(Spread::default());
        } else if let Some(length) = self.interval {
            // After a stall (a suspended machine) missed intervals are skipped, not made up for.
            self.ticks = self.ticks.max(((now - self.zero) / length + 1e-3) as u32);
        }
        interval
    }

    /// The test is over at `now`: the last interval, if it is worth telling, and the rows of the whole.
    pub fn finish(&mut self, now: f64, readings: &[Reading]) -> (Option<Interval>, Vec<Row>) {
        let length = now - self.last_at;
        let moved = readings.iter().zip(&self.last).any(|(new, old)| new.bytes > old.bytes);
        let worth = moved || self.interval.is_none_or(|usual| length >= usual * 0.1);
        let last = (worth && length > 0.0).then(|| self.interval_to(now, readings, self.omit > 0.0));
        let seconds = self.seconds(now);
        let rows = self.rows(readings, &self.base, (0.0, seconds), false);
        let rows = rows.into_iter().zip(&self.spread).map(|(row, spread)| Row {
            cwnd_bytes: (spread.n > 0.0).then_some(spread.cwnd),
            send_window_bytes: spread.window,
            rtt_seconds: (spread.n > 0.0).then(|| spread.rtt_sum / spread.n),
            rtt_min_seconds: (spread.n > 0.0).then_some(spread.rtt_min),
            rtt_max_seconds: (spread.n > 0.0).then_some(spread.rtt_max),
            rtt_deviation_seconds: None,
            path_mtu_bytes: None,
            ..row
        });
        (last, rows.collect())
    }

    /// The length of the measured part at `now`.
    pub fn seconds(&self, now: f64) -> f64 {
        now - self.zero
    }

    /// Bytes of each stream since the measured part began.
    pub fn measured(&self, readings: &[Reading]) -> Vec<u64> {
        readings.iter().zip(&self.base).map(|(now, base)| now.bytes.saturating_sub(base.bytes)).collect()
    }

    fn interval_to(&mut self, now: f64, readings: &[Reading], omitted: bool) -> Interval {
        let span = (self.last_at - self.zero, now - self.zero);
        let streams = self.rows(readings, &self.last, span, omitted);
        for (spread, info) in self.spread.iter_mut().zip(readings).filter_map(|(s, r)| Some((s, r.info?))) {
            spread.rtt_min =
                if spread.n == 0.0 { info.rtt_seconds } else { spread.rtt_min.min(info.rtt_seconds) };
            spread.rtt_max = spread.rtt_max.max(info.rtt_seconds);
            spread.rtt_sum += info.rtt_seconds;
            spread.cwnd = spread.cwnd.max(info.cwnd_bytes as f64);
            let window = info.send_window.map(f64::from);
            spread.window = window.map(|window| spread.window.unwrap_or(0.0).max(window));
            spread.n += 1.0;
        }
        self.last = readings.to_vec();
        self.last_at = now;
        let sum = sum(&streams);
        Interval { streams, sums: sum.into_iter().collect() }
    }

    fn rows(&self, new: &[Reading], old: &[Reading], (start, end): (f64, f64), omitted: bool) -> Vec<Row> {
        let row = |(&socket, (new, old)): (&i64, (&Reading, &Reading))| {
            let bytes = new.bytes.saturating_sub(old.bytes);
            let retransmits = new.info.and_then(|info| info.total_retransmits);
            let before = old.info.and_then(|info| info.total_retransmits).unwrap_or(0);
            Row {
                stream: Some(socket),
                side: self.side,
                direction: self.direction,
                start,
                end,
                bytes: Some(bytes as f64),
                bits_per_second: (end > start).then(|| bytes as f64 * 8.0 / (end - start)),
                retransmits: retransmits.map(|n| f64::from(n.saturating_sub(before))),
                cwnd_bytes: new.info.map(|info| info.cwnd_bytes as f64),
                send_window_bytes: new.info.and_then(|info| info.send_window).map(f64::from),
                rtt_seconds: new.info.map(|info| info.rtt_seconds),
                rtt_deviation_seconds: new.info.map(|info| info.rtt_deviation_seconds),
                path_mtu_bytes: new.info.map(|info| f64::from(info.path_mtu)),
                omitted,
                ..Row::default()
            }
        };
        self.sockets.iter().zip(new.iter().zip(old)).map(row).collect()
    }
}

/// The row of all streams together; `None` of no stream. Lengths and places are those of the first.
pub fn sum(streams: &[Row]) -> Option<Row> {
    let first = streams.first()?;
    let all = |field: fn(&Row) -> Option<f64>| streams.iter().map(field).sum::<Option<f64>>();
    Some(Row {
        stream: None,
        side: first.side,
        direction: first.direction,
        start: first.start,
        end: first.end,
        bytes: all(|row| row.bytes),
        // Of rates, not of bytes over one length: each side has its own clock, and each stream its own end.
        bits_per_second: all(|row| row.bits_per_second),
        retransmits: all(|row| row.retransmits),
        omitted: first.omitted,
        ..Row::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(interval: Option<f64>, omit: f64) -> Meter {
        Meter::new(Side::Sender, Direction::Forward, vec![5, 7], interval, omit, &at(0, 0))
    }

    fn at(bytes: u64, retransmits: u32) -> [Reading; 2] {
        let info = TcpInfo {
            snd_mss: 1448,
            cwnd_bytes: bytes,
            rtt_seconds: bytes as f64 * 1e-6,
            total_retransmits: Some(retransmits),
            send_window: Some(100),
            ..TcpInfo::default()
        };
        [Reading { bytes, info: Some(info) }, Reading { bytes: bytes * 2, info: None }]
    }

    #[test]
    fn intervals_then_totals() {
        let mut meter = meter(Some(1.0), 0.0);
        assert_eq!(meter.due(), Some(1.0));
        let first = meter.tick(1.0, &at(1000, 3));
        assert_eq!(first.streams[0].bits_per_second, Some(8000.0));
        assert_eq!((first.streams[0].retransmits, first.streams[1].retransmits), (Some(3.0), None));
        assert_eq!((first.sums[0].bytes, first.sums[0].retransmits), (Some(3000.0), None));
        assert_eq!(meter.due(), Some(2.0));
        let (last, totals) = meter.finish(2.0, &at(3000, 4));
        assert_eq!(last.unwrap().streams[0].retransmits, Some(1.0));
        assert_eq!((totals[0].bytes, totals[0].bits_per_second), (Some(3000.0), Some(12000.0)));
        assert_eq!((totals[0].retransmits, totals[0].cwnd_bytes), (Some(4.0), Some(3000.0)));
        let rtts = (totals[0].rtt_min_seconds, totals[0].rtt_seconds, totals[0].rtt_max_seconds);
        assert_eq!(rtts, (Some(0.001), Some(0.002), Some(0.003)));
        assert_eq!((totals[1].rtt_seconds, totals[1].cwnd_bytes), (None, None));
    }

    #[test]
    fn warm_up_is_left_out() {
        let mut meter = meter(Some(1.0), 1.5);
        assert!(meter.tick(1.0, &at(1000, 1)).streams[0].omitted);
        assert_eq!(meter.due(), Some(1.5));
        let second = meter.tick(1.5, &at(2000, 2));
        assert!(second.streams[0].omitted);
        assert_eq!((second.streams[0].start, second.streams[0].end), (1.0, 1.5));
        assert_eq!(meter.due(), Some(2.5));
        let third = meter.tick(2.5, &at(4000, 5));
        assert_eq!((third.streams[0].start, third.streams[0].end), (0.0, 1.0));
        assert!(!third.streams[0].omitted);
        let (last, totals) = meter.finish(3.5, &at(6000, 7));
        assert_eq!(last.unwrap().streams[0].end, 2.0);
        assert_eq!((totals[0].bytes, totals[0].end, totals[0].retransmits), (Some(4000.0), 2.0, Some(5.0)));
        assert_eq!(meter.measured(&at(6000, 7)), [4000, 8000]);
    }

    #[test]
    fn a_last_moment_without_bytes_is_not_told() {
        let mut with = meter(Some(1.0), 0.0);
        with.tick(1.0, &at(1000, 0));
        assert!(with.finish(1.01, &at(1000, 0)).0.is_none());
        let mut moved = meter(Some(1.0), 0.0);
        moved.tick(1.0, &at(1000, 0));
        assert!(moved.finish(1.01, &at(1001, 0)).0.is_some());
        let mut long = meter(Some(1.0), 0.0);
        long.tick(1.0, &at(1000, 0));
        assert!(long.finish(1.2, &at(1000, 0)).0.is_some());
        let mut nothing = meter(None, 0.0);
        assert_eq!(nothing.due(), None);
        assert!(nothing.finish(0.0, &at(0, 0)).0.is_none());
    }

    #[test]
    fn missed_ticks_are_skipped() {
        let mut meter = meter(Some(1.0), 0.0);
        meter.tick(4.2, &at(1000, 0));
        assert_eq!(meter.due(), Some(5.0));
    }
}
