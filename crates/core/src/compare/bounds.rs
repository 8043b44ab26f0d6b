//! What bounds the runs of a side: the link or the memory that facts tell of, and the path of tenbin's own runs.
//!
//! Facts used: `link.rate` (`10Gbit/s`), `link.mtu` (bytes), `memory.rate` (`34.1GB/s`) and `benchmark` (`himeno`, where
//! the log itself doesn't say so). Of a log that somebody else measured they are what the user said about it.

use std::collections::BTreeMap;

use super::observe::{Key, Values};
use super::{Bound, Side};
use crate::analysis::ceiling_of;
use crate::caveat::{Caveat, CaveatKind};
use crate::ceiling::ethernet::{Input, Ip, Transport, goodput};
use crate::ceiling::{Ceiling, memory};
use crate::metric::{BANDWIDTH, FLOP_RATE, THROUGHPUT};
use crate::quantity::{self, human, significant, trimmed};
use crate::run::Run;
use crate::unit::Unit;
use crate::verdict::words;

/// Tools whose payload crosses a link inside TCP or UDP.
const SOCKETS: [&str; 4] = ["iperf3", "iperf2", "netperf", "sockperf"];
/// Tools that pass messages: nobody knows within which headers.
const MESSAGES: [&str; 5] = ["imb", "osu", "netpipe", "perftest", "qperf"];
/// Benchmarks that count both directions of a link together.
const BOTH_WAYS: [&str; 6] = ["osu_bibw", "osu_mbw_mr", "Sendrecv", "Exchange", "Biband", "Multi-Biband"];
/// What is told is as exact as the print of the result.
pub const TOLERANCE: f64 = 1.02;
/// A rate this far below the link's is bounded by something else.
const FAR_BELOW: f64 = 0.8;

/// What a link is sold by.
const NOMINAL: &str = "nominal link rate";

/// What bounds a metric of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    pub ceiling: Ceiling,
    /// Bytes of an IP packet and of its payload, where packets are what crosses the link.
    packet: Option<(u32, u32)>,
}

/// The limits of a run by the metric's name, and why there is none where there should be.
pub fn limits(run: &Run) -> (BTreeMap<String, Limit>, Vec<Caveat>) {
    let (mut found, mut caveats) = (BTreeMap::new(), Vec::new());
    for metric in [&THROUGHPUT, &BANDWIDTH, &FLOP_RATE] {
        if !run.series.iter().any(|series| series.metric.name == metric.name) {
            continue;
        }
        match limit(run, &metric.name) {
            Ok(limit) => found.extend(limit.map(|limit| (metric.name.clone().into_owned(), limit))),
            Err(why) => {
                let caveat = Caveat::new(CaveatKind::NoCeiling, why);
                if !caveats.contains(&caveat) {
                    caveats.push(caveat);
                }
            }
        }
    }
    (found, caveats)
}

fn limit(run: &Run, metric: &str) -> Result<Option<Limit>, String> {
    let benchmark = fact(run, "benchmark").or_else(|| run.benchmark.clone()).unwrap_or_default();
    if let Some(text) = fact(run, "memory.rate") {
        let rate =
            quantity::parse_byte_rate(&text).map_err(|why| format!("no ceiling: memory.rate: {why}"))?;
        if metric == FLOP_RATE.name && (run.tool == "himeno" || benchmark == "himeno") {
            return Ok(Some(Limit { ceiling: memory::himeno(rate), packet: None }));
        }
        if metric == BANDWIDTH.name && run.tool == "stream" {
            return Ok(Some(Limit { ceiling: memory::stream(rate), packet: None }));
        }
    }
    let Some(text) = fact(run, "link.rate") else {
        let own = ceiling_of(run).filter(|_| metric == THROUGHPUT.name);
        return match own {
            Some(Ok(ceiling)) => Ok(Some(Limit { ceiling, packet: None })),
            Some(Err(why)) => Err(why.to_string()),
            None => Ok(None),
        };
    };
    let rate = quantity::parse_bit_rate(&text).map_err(|why| format!("no ceiling: link.rate: {why}"))? as f64;
    let mtu = match fact(run, "link.mtu") {
        Some(text) => Input::Told(
            text.trim().parse().ok().filter(|mtu| (68..=1 << 20).contains(mtu)).ok_or_else(|| {
                format!(
                    "no ceiling: link.mtu: \"{text}\" is no number of bytes from 68 on; write it like 9000"
                )
            })?,
        ),
        None => Input::Assumed(1500),
    };
    if SOCKETS.contains(&run.tool.as_str()) && metric == THROUGHPUT.name {
        let udp = ["iperf3.protocol", "iperf2.protocol"]
            .iter()
            .any(|key| fact(run, key).is_some_and(|p| p == "UDP"))
            || benchmark.to_lowercase().contains("udp");
        let transport = if udp { Transport::Udp } else { Transport::Tcp { timestamps: None } };
        let ceiling = goodput(Input::Told(rate), mtu, 0, Ip::V4, transport);
        let headers = if udp { 28 } else { 52 };
        return Ok(Some(Limit { ceiling, packet: Some((mtu.value(), mtu.value().saturating_sub(headers))) }));
    }
    let passes = MESSAGES.contains(&run.tool.as_str());
    Ok(passes.then(|| Limit { ceiling: nominal(rate, metric, &benchmark), packet: None }))
}

/// The rate that the link is sold by: what messages get is less, by headers that are not known.
fn nominal(rate: f64, metric: &str, benchmark: &str) -> Ceiling {
    let ways = if BOTH_WAYS.contains(&benchmark) { 2.0 } else { 1.0 };
    let (limit, unit) = match metric == BANDWIDTH.name {
        true => (ways * rate / 8.0, Unit::BytePerSecond),
        false => (ways * rate, Unit::BitPerSecond),
    };
    let mut steps = vec![format!("{} link (given)", trimmed(&human(rate, Unit::BitPerSecond, 4)))];
    if ways > 1.0 {
        steps.push(format!("{benchmark} counts both directions: twice that"));
    }
    steps.push("headers, which are not known here, take a part of it".to_owned());
    Ceiling { name: NOMINAL.to_owned(), limit, unit, steps, all_read: true }
}

fn fact(run: &Run, key: &str) -> Option<String> {
    run.facts.get(key)?.value.as_ref().map(ToString::to_string)
}

/// What bounds a side, against the most that it reached.
pub fn bounds(
    name: &str,
    limits: &BTreeMap<String, Limit>,
    values: &BTreeMap<Key, Values>,
    cliffs: &[(String, f64)],
) -> Vec<(Bound, Option<Caveat>)> {
    let mut found = Vec::new();
    for (metric, limit) in limits {
        let of_metric = values.iter().filter(|(key, _)| key.metric.name == *metric);
        let reached = of_metric
            .map(|(key, values)| (key, values.level().median))
            .filter(|(_, value)| value.is_finite() && *value > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((key, value)) = reached else { continue };
        let (ceiling, share) = (&limit.ceiling, value / limit.ceiling.limit);
        let at = key.params.get("size_bytes").map(|size| words::at("size_bytes", size)).unwrap_or_default();
        let what = format!("{} of {name}{at}", metric.replace('_', " "));
        let [reached, most] = [value, ceiling.limit].map(|value| told(value, ceiling));
        let percent = significant(share * 100.0, if share < 0.1 { 1 } else { 2 });
        let text = format!(
            "{what}: {reached} is {percent} % of the ceiling of {most} ({})",
            ceiling.steps.join("; ")
        );
        let above = (share > TOLERANCE).then(|| {
            let mut text = format!(
                "{what}: {reached} is {} times the {} of {most}: burst credit, or no hard limit",
                significant(share, 2),
                ceiling.name
            );
            let cliff = cliffs.iter().find(|(of, _)| of == metric);
            if let Some((_, size)) = cliff {
                let size = words::at("size_bytes", &crate::sample::Param::Num(*size));
                text += &format!(
                    "; from{} on, where it falls off, a rate limiter was measured",
                    size.trim_start_matches(" at")
                );
            }
            Caveat::new(CaveatKind::AboveCeiling, text)
        });
        found.push((
            Bound {
                arm: name.to_owned(),
                metric: metric.clone(),
                params: key.params.clone(),
                ceiling: ceiling.clone(),
                reached: value,
                share,
                text,
            },
            above,
        ));
    }
    found
}

/// A rate; in bytes through a link also in bits, by which links are sold.
fn told(value: f64, of: &Ceiling) -> String {
    let text = trimmed(&human(value, of.unit, 3));
    match of.unit == Unit::BytePerSecond && of.name == NOMINAL {
        true => format!("{text} ({})", trimmed(&human(8.0 * value, Unit::BitPerSecond, 3))),
        false => text,
    }
}

/// Where MTUs differ: how much of a difference headers explain, and that the rest is work for each packet.
pub fn packets(base: &Side, arm: &Side, reached: &[Bound]) -> Option<String> {
    let of = |side: &Side| {
        let limit = side.limits.get(THROUGHPUT.name.as_ref())?.clone();
        let bound = reached.iter().find(|one| one.arm == side.name && one.metric == THROUGHPUT.name)?;
        Some((limit, bound.reached))
    };
    let ((of_base, base_value), (of_arm, arm_value)) = (of(base)?, of(arm)?);
    let (base, arm) = (&base.name, &arm.name);
    let ((base_mtu, base_payload), (arm_mtu, arm_payload)) = (of_base.packet?, of_arm.packet?);
    if base_mtu == arm_mtu {
        return None;
    }
    let (gain, headers) = (arm_value / base_value, of_arm.ceiling.limit / of_base.ceiling.limit);
    let told = |name: &str, value: f64, payload: u32, mtu: u32| {
        format!("{} kpps in {name} (MTU {mtu})", significant(value / (8e3 * f64::from(payload)), 3))
    };
    let mut text = format!(
        "headers explain {:+.1} % of the {:+.1} %; full packets were {} and {}",
        (headers - 1.0) * 100.0,
        (gain - 1.0) * 100.0,
        told(base, base_value, base_payload, base_mtu),
        told(arm, arm_value, arm_payload, arm_mtu)
    );
    let (small, share) = match base_mtu < arm_mtu {
        true => (base, base_value / of_base.ceiling.limit),
        false => (arm, arm_value / of_arm.ceiling.limit),
    };
    // What headers cost can't be the reason for more than about what they cost.
    let explained = (gain.ln() / headers.ln()).abs() < 2.0;
    if share < FAR_BELOW && !explained {
        text += &format!(
            "; {small} leaves {:.0} % of the link idle, so that work for each packet (CPU, virtual NIC) is its limit, \
             not the wire",
            (1.0 - share) * 100.0
        );
    }
    Some(text)
}
