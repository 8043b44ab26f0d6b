//! One test's figures, and the run they become.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::env::{Class, Fact};
use tenbin_core::metric::{
    CPU_PER_BYTE, CPU_TIME, CPU_UTILIZATION, DURATION, LATENCY, LOSS, MESSAGE_RATE, Metric, PACKETS_RECEIVED,
    PACKETS_SENT, THROUGHPUT, TRANSFERRED,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::value::{Kind, Value};
use crate::sheet::Sheet;

/// A test.
pub struct Block {
    /// Its name: `tcp_bw`.
    pub test: String,
    /// What went wrong with it.
    pub failure: Option<String>,
    values: Vec<(String, Value)>,
    described: Vec<(String, String)>,
    foreign: Option<String>,
}

impl Block {
    /// The block of that name, empty.
    pub fn new(test: &str) -> Block {
        Block {
            test: test.to_owned(),
            failure: None,
            values: Vec::new(),
            described: Vec::new(),
            foreign: None,
        }
    }

    /// A figure.
    pub fn value(&mut self, key: &str, value: Value) {
        self.values.push((key.to_owned(), value));
    }

    /// A property of a host, in words.
    pub fn describe(&mut self, key: &str, text: String) {
        self.described.push((key.to_owned(), text));
    }

    /// What stands behind a figure and is none of qperf's.
    pub fn foreign(&mut self, text: &str) {
        self.foreign.get_or_insert_with(|| text.to_owned());
    }

    /// What went wrong.
    pub fn failed(&mut self, text: &str) {
        self.failure.get_or_insert_with(|| text.to_owned());
    }

    /// The properties of the hosts.
    pub fn facts(self) -> impl Iterator<Item = (String, Fact)> {
        let fact = |(key, text): (String, String)| {
            (format!("qperf.{key}"), Fact::new(Class::State, text, "the log of qperf"))
        };
        self.described.into_iter().map(fact)
    }

    /// The run, if there is a figure.
    pub fn run(self) -> Option<Run> {
        let mut sheet = Sheet::new("qperf");
        sheet.run.benchmark = Some(self.test.clone());
        let params = self.params();
        for (key, value) in &self.values {
            self.figure(&mut sheet, &params, key, *value);
        }
        if !sheet.holds_something() {
            return None;
        }
        self.lost(&mut sheet, &params);
        for series in &mut sheet.run.series {
            // Five printed figures have no one printed mean.
            if series.samples.len() > 1 {
                series.reported.clear();
            }
        }
        if self.rounded_size() {
            let text = "the message size was printed to a few digits only";
            sheet.caveat(CaveatKind::Note, text);
        }
        if let Some(failure) = &self.failure {
            sheet.caveat(CaveatKind::ErrorReported, failure.as_str());
        }
        if let Some(foreign) = &self.foreign {
            let text = format!("what stands behind the figures was not read, the first: {foreign}");
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        let run = &mut sheet.run;
        run.facts.extend(self.facts());
        sheet.finish()
    }

    fn params(&self) -> Params {
        let mut params = Params::new();
        params.insert("benchmark".to_owned(), self.test.as_str().into());
        let size = self.values.iter().find(|(key, value)| key == "msg_size" && value.kind == Kind::Size);
        if let Some((_, value)) = size {
            params.insert("size_bytes".to_owned(), whole(value.amount));
        }
        params
    }

    fn rounded_size(&self) -> bool {
        self.values.iter().any(|(key, value)| key == "msg_size" && value.rounded)
    }

    fn figure(&self, sheet: &mut Sheet, params: &Params, key: &str, value: Value) {
        let amount = value.amount;
        match (key, value.kind) {
            ("latency", Kind::Time) => {
                sheet.headline(&LATENCY, params, Reduce::Median, amount);
                return;
            }
            ("bw", Kind::BitRate) => {
                sheet.headline(&THROUGHPUT, params, Reduce::Total, amount);
                return;
            }
            // What was offered is nothing that arrived.
            ("send_bw", Kind::BitRate) => {
                sheet.printed(&THROUGHPUT, &with(params, "side", "sender"), amount);
                return;
            }
            ("recv_bw", Kind::BitRate) => {
                sheet.headline(&THROUGHPUT, &with(params, "side", "receiver"), Reduce::Total, amount);
                return;
            }
            ("msg_rate", Kind::Rate) => {
                let series = sheet.printed(&MESSAGE_RATE, params, amount);
                if self.test.ends_with("_mr") || self.test.starts_with("ver_") {
                    series.headline = Some(Reduce::Total);
                }
                return;
            }
            _ => {}
        }
        let (side, rest) = match key.split_once('_') {
            Some(("send" | "loc", rest)) => ("sender", rest),
            Some(("recv" | "rem", rest)) => ("receiver", rest),
            _ => return fact(sheet, key, value),
        };
        let side = with(params, "side", side);
        let mut one = |metric: &Metric, params: &Params| {
            sheet.printed(metric, params, amount);
        };
        match (rest, value.kind) {
            ("cost", Kind::Cost) => one(&CPU_PER_BYTE, &side),
            ("cpus_used", Kind::Cpus) => one(&CPU_UTILIZATION, &side),
            (part, Kind::Cpus) if part.starts_with("cpus_") => {
                one(&CPU_UTILIZATION, &with(&side, "part", part.trim_start_matches("cpus_")));
            }
            ("real_time", Kind::Time) => one(&DURATION, &side),
            ("cpu_time", Kind::Time) => one(&CPU_TIME, &side),
            ("bytes", Kind::Size) => one(&TRANSFERRED, &side),
            ("send_bytes", Kind::Size) => one(&TRANSFERRED, &with(&side, "part", "sent")),
            ("recv_bytes", Kind::Size) => one(&TRANSFERRED, &with(&side, "part", "received")),
            // Counts cut to three digits are no counts.
            ("msgs", Kind::Count) if !value.rounded && key.starts_with("send") => one(&PACKETS_SENT, params),
            ("msgs", Kind::Count) if !value.rounded && key.starts_with("recv") => {
                one(&PACKETS_RECEIVED, params);
            }
            ("errors" | "send_errors" | "recv_errors", Kind::Count) if amount > 0.0 => {
                sheet.caveat(CaveatKind::ErrorReported, format!("{key} = {amount}"));
            }
            _ => fact(sheet, key, value),
        }
    }

    /// Datagrams are counted at both ends.
    fn lost(&self, sheet: &mut Sheet, params: &Params) {
        if !self.test.starts_with("udp_") {
            return;
        }
        let count = |metric: &Metric| {
            let series = sheet.run.series.iter().find(|series| series.metric.name == metric.name)?;
            if let [one] = series.values()[..] { Some(one) } else { None }
        };
        if let (Some(sent), Some(received)) = (count(&PACKETS_SENT), count(&PACKETS_RECEIVED))
            && received <= sent
            && sent > 0.0
        {
            sheet.series(&LOSS, params).samples.push(Sample::of((sent - received) / sent));
        }
    }
}

fn with(params: &Params, name: &str, value: &str) -> Params {
    let mut params = params.clone();
    params.insert(name.to_owned(), value.into());
    params
}

fn whole(amount: f64) -> Param {
    if amount.fract() == 0.0 && amount.abs() < 9e15 { Param::Int(amount as i64) } else { Param::Num(amount) }
}

/// Names of settings, with `loc_` or `rem_` in front where the two ends differ. Other keys are other people's notes.
const SETTINGS: [&str; 15] = [
    "access_recv",
    "affinity",
    "alt_port",
    "flip",
    "id",
    "mtu_size",
    "no_msgs",
    "poll_mode",
    "port",
    "rd_atomic",
    "service_level",
    "sock_buf_size",
    "time",
    "timeout",
    "use_cm",
];

fn fact(sheet: &mut Sheet, key: &str, value: Value) {
    let name = key.strip_prefix("loc_").or_else(|| key.strip_prefix("rem_")).unwrap_or(key);
    if !SETTINGS.contains(&name) {
        return;
    }
    let key = format!("qperf.{key}");
    match value.kind {
        Kind::Time => sheet.fact_in(&key, value.amount, Unit::Second),
        Kind::Size => sheet.fact_in(&key, value.amount, Unit::Byte),
        _ => sheet.fact(&key, value.amount),
    }
}
