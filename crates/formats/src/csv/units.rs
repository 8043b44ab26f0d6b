//! Metrics by their names, and units as people write them into the heads of tables.

use tenbin_core::metric::{
    BANDWIDTH, CPU_PER_BYTE, CPU_TIME, CPU_UTILIZATION, CURRENT, CWND, DUPLICATES, DURATION, FAN_SPEED,
    FLOP_RATE, IOPS, JITTER, LATENCY, LEVEL, LOSS, MESSAGE_RATE, Metric, OVERLAP, PACKET_RATE, PACKETS_LOST,
    PACKETS_RECEIVED, PACKETS_SENT, POWER, REORDERED, RESIDUAL, RETRANSMITS, RTT, SCORE, TEMPERATURE,
    THROUGHPUT, TRANSACTION_RATE, TRANSFERRED, VOLTAGE,
};
use tenbin_core::unit::Unit;

/// Every metric that a column may be called after.
static METRICS: [&Metric; 32] = [
    &BANDWIDTH,
    &CPU_PER_BYTE,
    &CPU_TIME,
    &CPU_UTILIZATION,
    &CURRENT,
    &CWND,
    &DUPLICATES,
    &DURATION,
    &FAN_SPEED,
    &FLOP_RATE,
    &IOPS,
    &JITTER,
    &LATENCY,
    &LEVEL,
    &LOSS,
    &MESSAGE_RATE,
    &OVERLAP,
    &PACKET_RATE,
    &PACKETS_LOST,
    &PACKETS_RECEIVED,
    &PACKETS_SENT,
    &POWER,
    &REORDERED,
    &RESIDUAL,
    &RETRANSMITS,
    &RTT,
    &SCORE,
    &TEMPERATURE,
    &THROUGHPUT,
    &TRANSACTION_RATE,
    &TRANSFERRED,
    &VOLTAGE,
];

/// The metric of that name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.into_iter().find(|metric| metric.name == name)
}

/// The metric whose name begins `text`, the longest one; and what follows it.
pub fn metric_at(text: &str) -> Option<(&'static Metric, &str)> {
    let follows = |metric: &'static Metric| {
        let rest = text.strip_prefix(metric.name.as_ref())?;
        (!rest.starts_with(|c: char| c.is_alphanumeric())).then_some((metric, rest))
    };
    METRICS.into_iter().filter_map(follows).max_by_key(|(metric, _)| metric.name.len())
}

/// By what a number in a unit of that name is multiplied to be in `unit`, as a multiplier and a divisor. `None` for
/// a unit that does not belong there, or that people use for two things: KB/s, and MB/s without capitals.
pub fn factor(unit: Unit, name: &str) -> Option<(f64, f64)> {
    let lower = name.to_lowercase();
    let times = |factor: f64| Some((factor, 1.0));
    let over = |divisor: f64| Some((1.0, divisor));
    match unit {
        Unit::Second => match lower.as_str() {
            "ns" | "nsec" | "nanoseconds" => over(1e9),
            "us" | "µs" | "μs" | "usec" | "microseconds" => over(1e6),
            "ms" | "msec" | "milliseconds" => over(1e3),
            "s" | "sec" | "secs" | "second" | "seconds" => times(1.0),
            _ => None,
        },
        Unit::BitPerSecond => bits(name).or_else(|| Some((bytes(name)? * 8.0, 1.0))),
        Unit::BytePerSecond => bytes(name).map(|factor| (factor, 1.0)),
        Unit::OpPerSecond => match lower.as_str() {
            "op/s" | "ops" | "ops/s" | "/s" | "1/s" | "per_s" | "per_sec" | "per_second" => times(1.0),
            _ => None,
        },
        Unit::FlopPerSecond => match lower.as_str() {
            "flops" | "flop/s" => times(1.0),
            "mflops" | "mflop/s" => times(1e6),
            "gflops" | "gflop/s" => times(1e9),
            "tflops" | "tflop/s" => times(1e12),
            _ => None,
        },
        Unit::Byte => match lower.as_str() {
            "byte" | "bytes" => times(1.0),
            "kib" => times(1024.0),
            "mib" => times(1_048_576.0),
            "gib" => times(1_073_741_824.0),
            _ => None,
        },
        Unit::Ratio => match lower.as_str() {
            "ratio" => times(1.0),
            "percent" | "%" | "pct" => over(100.0),
            _ => None,
        },
        Unit::Celsius => matches!(lower.as_str(), "c" | "°c" | "celsius" | "degc").then_some((1.0, 1.0)),
        Unit::Rpm => (lower == "rpm").then_some((1.0, 1.0)),
        Unit::Volt => match name {
            "V" | "v" | "volt" | "volts" => times(1.0),
            "mV" | "mv" => over(1e3),
            _ => None,
        },
        Unit::Ampere => match name {
            "A" | "a" | "ampere" | "amperes" | "amps" => times(1.0),
            "mA" | "ma" => over(1e3),
            _ => None,
        },
        // mW and MW differ only in a capital that tables often lack.
        Unit::Watt => match name {
            "W" | "w" | "watt" | "watts" => times(1.0),
            "kW" => times(1e3),
            _ => None,
        },
        Unit::SecondPerByte | Unit::Hertz | Unit::Joule | Unit::Count | Unit::None => {
            (name == unit.name()).then_some((1.0, 1.0))
        }
    }
}

/// Bits a second: a small b, and always decimal.
fn bits(name: &str) -> Option<(f64, f64)> {
    let prefix =
        ["bit/s", "bits/s", "bit/sec", "bits/sec", "bit_per_s", "bits_per_second", "bps", "b/s", "bit"]
            .iter()
            .find_map(|end| name.strip_suffix(end))?;
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        "t" | "T" => 1e12,
        _ => return None,
    };
    Some((factor, 1.0))
}

/// Bytes a second: a capital B or the word.
fn bytes(name: &str) -> Option<f64> {
    if matches!(name, "byte/s" | "bytes/s" | "bytes_per_second" | "bytes_per_s") {
        return Some(1.0);
    }
    let ends = ["B/s", "B/sec", "Bps", "B_per_s", "B_per_second", "iB/s", "iB/sec", "iBps", "iB_per_s"];
    let (end, prefix) = ends.iter().rev().find_map(|end| Some((*end, name.strip_suffix(end)?)))?;
    let binary = end.starts_with('i');
    match (prefix, binary) {
        ("", false) => Some(1.0),
        ("k", false) => Some(1e3),
        ("M", false) => Some(1e6),
        ("G", false) => Some(1e9),
        ("K" | "k", true) => Some(1024.0),
        ("M", true) => Some(1_048_576.0),
        ("G", true) => Some(1_073_741_824.0),
        _ => None,
    }
}
