//! The JSON lines of fping -J: one object a line, with one key that says what it is. Keys that later versions add are
//! skipped.

use serde_json::Value;

use super::line::{Overall, Total};

/// What an object tells. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A reply of a target.
    Reply(String, f64, Option<u64>),
    /// A request without answer.
    Silence,
    /// Totals of a target.
    Total(String, Total),
    /// The times of -C.
    Times(String, Vec<Option<f64>>),
    /// Totals of a target over the period that ended at this time.
    Period(String, String, Total),
    /// A figure over all targets.
    Overall(Overall),
}

/// What the line tells; `None` where it is no object of fping's.
pub fn read(text: &str) -> Option<Vec<Told>> {
    let text = text.trim();
    let known = ["{\"resp\"", "{\"timeout\"", "{\"summary\"", "{\"vSum\"", "{\"intSum\"", "{\"stats\""];
    let start: String = text.chars().take(16).filter(|c| *c != ' ').collect();
    known.iter().any(|key| start.starts_with(key)).then_some(())?;
    let value: Value = serde_json::from_str(text).ok()?;
    let (kind, value) = value.as_object()?.iter().next()?;
    if kind == "stats" {
        return Some(overall(value));
    }
    let host = value.get("host")?.as_str()?.to_owned();
    let told = match kind.as_str() {
        "resp" => Told::Reply(host, seconds(value.get("rtt")?)?, value.get("size").and_then(Value::as_u64)),
        "timeout" => Told::Silence,
        "summary" => Told::Total(host, total(value)?),
        "vSum" => Told::Times(host, value.get("values")?.as_array()?.iter().map(seconds).collect()),
        "intSum" => Told::Period(value.get("time")?.to_string(), host, total(value)?),
        _ => return None,
    };
    Some(vec![told])
}

fn total(value: &Value) -> Option<Total> {
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    let spread = ["rttMin", "rttAvg", "rttMax"].map(|key| value.get(key).and_then(seconds));
    let loss = value.get("loss").and_then(Value::as_f64).map(|percent| percent / 100.0);
    Some(Total { sent: count("xmt")?, received: count("rcv")?, loss, spread })
}

fn overall(value: &Value) -> Vec<Told> {
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    let hosts = [
        ("targets", "fping.targets"),
        ("alive", "fping.alive"),
        ("unreachable", "fping.unreachable"),
        ("unknownAddresses", "fping.unknown"),
        ("timeouts", "fping.timeouts"),
        ("otherIcmpReceived", "fping.other"),
    ];
    let mut all: Vec<Overall> =
        hosts.iter().filter_map(|(key, fact)| Some(Overall::Hosts(fact, count(key)?))).collect();
    all.extend(count("icmpEchosSent").map(Overall::Sent));
    all.extend(count("icmpEchoRepliesReceived").map(Overall::Received));
    for (at, key) in ["rttMin", "rttAvg", "rttMax"].into_iter().enumerate() {
        all.extend(value.get(key).and_then(seconds).map(|figure| Overall::Spread(at, figure)));
    }
    all.extend(value.get("elapsed").and_then(Value::as_f64).map(Overall::Duration));
    all.into_iter().map(Told::Overall).collect()
}

/// Milliseconds, as a number or in quotes.
fn seconds(value: &Value) -> Option<f64> {
    let ms = match value {
        Value::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    (ms.is_finite() && ms >= 0.0).then_some(ms / 1e3)
}
