//! What sockperf said about one test, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{
    DUPLICATES, DURATION, LATENCY, LOSS, MESSAGE_RATE, PACKETS_LOST, PACKETS_RECEIVED, PACKETS_SENT,
    REORDERED, RTT, THROUGHPUT,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::line::Line;
use crate::sheet::Sheet;

/// One test.
#[derive(Default)]
pub struct Reading {
    /// Rows of the full log follow.
    pub in_samples: bool,
    /// The first error.
    pub error: Option<String>,
    version: Option<String>,
    test: Option<&'static str>,
    size: Option<i64>,
    parameters: Vec<(&'static str, i64)>,
    peers: Vec<(String, Option<i64>, Option<String>)>,
    total: Option<Line>,
    servers: Vec<Server>,
    sent: Option<(f64, f64)>,
    rate: Option<f64>,
    bandwidth: Option<(f64, &'static str)>,
    ended: bool,
    by_user: bool,
}

/// The statistics of one server.
#[derive(Default)]
struct Server {
    number: i64,
    counts: Option<Line>,
    round_trip: bool,
    mean: Option<f64>,
    figures: Vec<(String, f64)>,
    errors: Option<(f64, f64, f64)>,
    burst: Option<i64>,
    samples: Vec<(f64, f64)>,
    /// The last line of the statistics was there.
    whole: bool,
}

impl Reading {
    /// Whether `line` belongs to the next test.
    pub fn ends_before(&self, line: &Line) -> bool {
        let measured = !self.servers.is_empty() || self.rate.is_some() || self.total.is_some();
        match line {
            Line::Version(_) => self.version.is_some() || measured,
            Line::Command { .. } => self.version.is_some() || measured,
            Line::Counts { valid: false, .. } => measured,
            Line::Sent { .. } => self.sent.is_some(),
            Line::Rate(_) => self.rate.is_some(),
            Line::Server(number) => {
                self.servers.iter().any(|server| server.number == *number && server.whole)
            }
            _ => false,
        }
    }

    /// Takes a line over.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Version(version) => self.version = Some(version),
            Line::Command { test, size } => (self.test, self.size) = (Some(test), size),
            Line::Peer { address, port, protocol } => {
                // A list of a thousand groups tells no more than its first.
                if self.peers.len() < 16 {
                    self.peers.push((address, port, protocol));
                }
            }
            Line::Counts { valid: false, .. } => self.total = Some(line),
            Line::Counts { .. } => self.server().counts = Some(line),
            Line::Server(number) => self.servers.push(Server { number, ..Server::default() }),
            Line::Average { round_trip, mean, figures } => {
                let server = self.server();
                (server.round_trip, server.mean) = (round_trip, Some(mean));
                server.figures.extend(figures.into_iter().map(|(name, value)| (name.to_owned(), value)));
            }
            Line::Summary { round_trip, mean, burst } => {
                let server = self.server();
                server.mean.get_or_insert(mean);
                (server.round_trip, server.burst) = (round_trip, burst);
            }
            Line::Errors { dropped, duplicated, reordered } => {
                self.server().errors = Some((dropped, duplicated, reordered));
            }
            Line::Observations(count) => self.server().figures.push(("n".to_owned(), count)),
            Line::Percentile(name, value) => self.figure(name, value),
            Line::Extreme(value) => {
                // The highest stands above the percentiles, the lowest below.
                let below = self.server().figures.iter().any(|(name, _)| name == "max");
                self.figure(if below { "min" } else { "max" }.to_owned(), value);
            }
            Line::Sent { messages, seconds } => self.sent = Some((messages, seconds)),
            Line::Rate(rate) => self.rate = Some(rate),
            Line::BandWidth(rate, unit) => self.bandwidth = Some((rate, unit)),
            Line::Parameters(parameters) => {
                let size = parameters.iter().find(|(name, _)| *name == "msg-size").map(|(_, size)| *size);
                self.size = size.or(self.size);
                self.parameters = parameters;
            }
            Line::SampleHead { round_trip } => {
                self.in_samples = true;
                self.server().round_trip = round_trip;
            }
            // The signal that follows the timer is sockperf's own.
            Line::End { by_user } => {
                self.by_user = if self.ended { self.by_user } else { by_user };
                self.ended = true;
            }
            Line::Error(text) => {
                self.error.get_or_insert(text);
            }
        }
    }

    /// A row of the full log.
    pub fn sample(&mut self, at: f64, seconds: f64) {
        self.server().samples.push((at, seconds));
    }

    fn figure(&mut self, name: String, value: f64) {
        let server = self.server();
        server.whole = name == "min";
        server.figures.push((name, value));
    }

    fn server(&mut self) -> &mut Server {
        if self.servers.is_empty() {
            self.servers.push(Server::default());
        }
        let last = self.servers.len() - 1;
        &mut self.servers[last]
    }

    /// The run, if anything was measured.
    pub fn run(mut self) -> Option<Run> {
        let mut sheet = Sheet::new("sockperf");
        let mut params = Params::new();
        if let Some(size) = self.size {
            params.insert("size_bytes".to_owned(), size.into());
        }
        let several = self.servers.len() > 1;
        for server in std::mem::take(&mut self.servers) {
            let mut params = params.clone();
            if several {
                params.insert("server".to_owned(), server.number.into());
            }
            server.fill(&mut sheet, &params);
        }
        self.throughput(&mut sheet, &params);
        if !sheet.holds_something() {
            return None;
        }
        if self.by_user {
            sheet.caveat(CaveatKind::Interrupted, "the test was stopped before its time");
        }
        if let Some(error) = &self.error {
            sheet.caveat(CaveatKind::ErrorReported, error.as_str());
        }
        self.facts(&mut sheet);
        sheet.finish()
    }

    fn throughput(&self, sheet: &mut Sheet, params: &Params) {
        if let Some((messages, seconds)) = self.sent {
            sheet.printed(&PACKETS_SENT, params, messages);
            sheet.printed(&DURATION, params, seconds);
        }
        let mut sent = params.clone();
        sent.insert("side".to_owned(), "sender".into());
        if let Some(rate) = self.rate {
            sheet.headline(&MESSAGE_RATE, &sent, Reduce::Total, rate);
        }
        if let Some((rate, unit)) = self.bandwidth {
            sheet.headline(&THROUGHPUT, &sent, Reduce::Total, rate);
            let text = format!("{unit} counts 2^20 bytes a mega: read as {:.3} Mbit/s", rate / 1e6);
            sheet.caveat(CaveatKind::UnitCorrected, text);
        }
        if self.rate.is_some() || self.bandwidth.is_some() {
            sheet.caveat(CaveatKind::SenderOnly, "sockperf counts what it sent, not what arrived");
        }
    }

    fn facts(self, sheet: &mut Sheet) {
        sheet.run.tool_version = self.version;
        let throughput = self.rate.map(|_| "throughput");
        sheet.run.benchmark = self.test.or(throughput).map(str::to_owned);
        if let Some((address, port, protocol)) = self.peers.first() {
            sheet.fact("sockperf.address", address.as_str());
            if let Some(port) = port {
                sheet.fact("sockperf.port", *port);
            }
            if let Some(protocol) = protocol {
                sheet.fact("sockperf.protocol", protocol.as_str());
            }
        }
        for (name, value) in &self.parameters {
            if *name != "msg-size" {
                sheet.fact(&format!("sockperf.{}", name.replace('-', "_")), *value);
            }
        }
        if let Some(Line::Counts { seconds, sent, received, .. }) = self.total {
            if let Some(seconds) = seconds {
                sheet.fact_in("sockperf.total_duration", seconds, Unit::Second);
            }
            for (key, count) in [("sockperf.total_sent", sent), ("sockperf.total_received", received)] {
                if let Some(count) = count {
                    sheet.fact(key, count as i64);
                }
            }
        }
    }
}

impl Server {
    fn fill(self, sheet: &mut Sheet, params: &Params) {
        let metric = if self.round_trip { &RTT } else { &LATENCY };
        let mut params = params.clone();
        if let Some(burst) = self.burst {
            params.insert("burst".to_owned(), burst.into());
        }
        if self.mean.is_some() || !self.samples.is_empty() || !self.figures.is_empty() {
            if let (Some(mean), true) = (self.mean, self.samples.is_empty()) {
                sheet.headline(metric, &params, Reduce::Median, mean);
                sheet.caveat(CaveatKind::SummaryOnly, "only figures over all messages were printed");
            }
            let series = sheet.series(metric, &params);
            series.headline = Some(Reduce::Median);
            series.samples.extend(self.samples.iter().map(|(at, seconds)| Sample::at(*at, *seconds)));
            series.reported.extend(self.mean.map(|mean| ("mean".to_owned(), mean)));
            series.reported.extend(self.figures.iter().cloned());
            // The full log alone has no statistics around it.
            if !self.whole && (self.samples.is_empty() || self.mean.is_some()) {
                sheet.caveat(CaveatKind::Truncated, "the log ends before the last percentile");
            }
        }
        params.remove("burst");
        counted(sheet, &params, self.counts.as_ref());
        let Some((dropped, duplicated, reordered)) = self.errors else { return };
        sheet.printed(&PACKETS_LOST, &params, dropped);
        sheet.printed(&DUPLICATES, &params, duplicated);
        sheet.printed(&REORDERED, &params, reordered);
        if duplicated > 0.0 {
            sheet.caveat(CaveatKind::Duplicates, format!("{duplicated} messages came more than once"));
        }
        // With --reply-every most messages ask for no answer: then nothing is known about them.
        if let Some(Line::Counts { sent: Some(sent), received: Some(received), .. }) = self.counts
            && sent > 0.0
            && received + dropped == sent
        {
            sheet.series(&LOSS, &params).samples.push(Sample::of(dropped / sent));
        }
    }
}

fn counted(sheet: &mut Sheet, params: &Params, counts: Option<&Line>) {
    let Some(Line::Counts { seconds, sent, received, .. }) = counts else { return };
    for (metric, value) in [(&DURATION, seconds), (&PACKETS_SENT, sent), (&PACKETS_RECEIVED, received)] {
        if let Some(value) = value {
            sheet.printed(metric, params, *value);
        }
    }
}
