//! The verdict on a run's surroundings. Pure: two snapshots and the samples between them go in.
//!
//! Every limit stands in [`RULES`] or among the constants beside it. They are guesses from experience, not laws.

use std::time::Duration;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::plan::Tolerance;
use tenbin_core::quantity::human;
use tenbin_core::sample::{Params, Sample};
use tenbin_core::taint::{Taint, TaintLevel};
use tenbin_core::unit::Unit;

use super::process;
use super::snapshot::Snapshot;
use super::{COUNTER, CPU_FOREIGN, INTERVAL, Sensed, Tick, plain};
use crate::sysroot::ReadError;

/// What of a counter is held against the limits.
#[derive(Clone, Copy)]
enum Measure {
    /// Its growth.
    Growth,
    /// Its growth as a share of the growth of another counter of the same thing.
    ShareOf(&'static str),
    /// Its growth in microseconds as a share of the run's time.
    ShareOfTime,
}

/// From which value on a counter taints a run.
struct Rule {
    signal: &'static str,
    measure: Measure,
    /// Growth below this is noise, whatever its share.
    least: i64,
    suspect_above: f64,
    invalid_above: f64,
    kind: CaveatKind,
    /// The caveat's words.
    says: &'static str,
}

const NEVER: f64 = f64::INFINITY;

/// All counters that are judged. The others are told as numbers: retransmits and timeouts of TCP, for one,
/// are as often a result of what is compared as of the machine's state.
const RULES: &[Rule] = &[
    Rule {
        signal: "throttle_count",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 0.0,
        kind: CaveatKind::Throttled,
        says: "a CPU lowered its clock because it was hot",
    },
    Rule {
        signal: "cgroup_throttled",
        measure: Measure::ShareOfTime,
        least: 1000,
        suspect_above: 0.01,
        invalid_above: 0.05,
        kind: CaveatKind::Throttled,
        says: "the control group's CPU quota was used up",
    },
    Rule {
        signal: "carrier_changes",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 0.0,
        kind: CaveatKind::StateChanged,
        says: "a link went down or up",
    },
    Rule {
        signal: "rx_errors",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "an interface received damaged frames",
    },
    Rule {
        signal: "tx_errors",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "an interface failed to send frames",
    },
    Rule {
        signal: "rx_missed",
        measure: Measure::ShareOf("rx_packets"),
        least: 10,
        suspect_above: 1e-3,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "an interface had no room for frames that arrived",
    },
    // Frames of protocols that nobody listens to count as dropped as well: a few mean nothing.
    Rule {
        signal: "rx_dropped",
        measure: Measure::ShareOf("rx_packets"),
        least: 10,
        suspect_above: 1e-3,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "an interface dropped frames that arrived",
    },
    Rule {
        signal: "tx_dropped",
        measure: Measure::ShareOf("tx_packets"),
        least: 10,
        suspect_above: 1e-3,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "an interface dropped frames to be sent",
    },
    Rule {
        signal: "softnet_dropped",
        measure: Measure::ShareOf("softnet_packets"),
        least: 10,
        suspect_above: 1e-3,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "the receiving CPU dropped packets because its queue was full",
    },
    Rule {
        signal: "swapped_pages",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 255.0,
        kind: CaveatKind::NoisyNeighbour,
        says: "memory was swapped",
    },
    Rule {
        signal: "memory_corrected",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "memory errors were corrected",
    },
    Rule {
        signal: "memory_uncorrected",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 0.0,
        kind: CaveatKind::Note,
        says: "memory errors could not be corrected",
    },
    Rule {
        signal: "pci_corrected",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: NEVER,
        kind: CaveatKind::Note,
        says: "a PCIe link had to repeat packets",
    },
    Rule {
        signal: "pci_uncorrected",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 0.0,
        kind: CaveatKind::Note,
        says: "a PCIe device reported errors",
    },
    Rule {
        signal: "pci_fatal",
        measure: Measure::Growth,
        least: 1,
        suspect_above: 0.0,
        invalid_above: 0.0,
        kind: CaveatKind::Note,
        says: "a PCIe device reported errors",
    },
];

/// A share of all CPUs' time.
struct Share {
    /// Fewer ticks are noise, whatever their share.
    least: u64,
    suspect_above: f64,
    invalid_above: f64,
}

/// How much invalidates a run is the plan's to say.
const STEAL: Share = Share { least: 4, suspect_above: 0.01, invalid_above: NEVER };
/// Programs that can be seen and are not ours.
const FOREIGN: Share = Share { least: 10, suspect_above: 0.10, invalid_above: NEVER };
/// Time that no process accounts for: programs too short to be seen, or in another container. Ticks are
/// sampled while processes' times are measured, so a part is never explained.
const UNSEEN: Share = Share { least: 50, suspect_above: 0.25, invalid_above: NEVER };
/// Over fewer ticks of all CPUs a single one is more than two per cent: no share is told of runs so short.
const FEWEST_TICKS: u64 = 50;
/// Degrees below critical.
const HEADROOM: f64 = 5.0;
/// Intervals between two looks of the sampler from which it missed one.
const LATE: f64 = 1.5;

/// Judges what changed from `before` to `after`, `elapsed` apart. `ticks` is `None` where no sampler ran.
pub(super) fn judge(
    before: &Snapshot,
    after: &Snapshot,
    ticks: Option<&[Tick]>,
    elapsed: Duration,
    tolerate: Tolerance,
) -> Sensed {
    let mut sensed = Sensed { taint: Taint::clean(), ..Sensed::default() };
    counters(before, after, elapsed, &mut sensed);
    states(before, after, &mut sensed);
    cpu(before, after, tolerate, &mut sensed);
    heat(before, after, ticks.unwrap_or_default(), &mut sensed);
    if before.governors.iter().any(|governor| governor != "performance") {
        let text = format!("the CPU frequency governor is {}", before.governors.join(", "));
        sensed.taint.add(TaintLevel::Suspect, text);
    }
    match ticks {
        Some(ticks) => lateness(ticks, &mut sensed.taint),
        None => sensed.taint.add(TaintLevel::Unknown, "the sampler could not be started"),
    }
    sensed.caveats.sort();
    sensed.caveats.dedup();
    sensed
}

fn counters(before: &Snapshot, after: &Snapshot, elapsed: Duration, sensed: &mut Sensed) {
    let growth = |signal: &'static str, of: &str| -> Option<i64> {
        let key = (signal, of.to_owned());
        let (old, new) = (before.counters.0.get(&key)?, after.counters.0.get(&key)?);
        Some(new.as_ref().ok()?.saturating_sub(*old.as_ref().ok()?))
    };
    for ((signal, of), old) in &before.counters.0 {
        let name = if of.is_empty() { (*signal).to_owned() } else { format!("{of} {signal}") };
        let new = match (old, after.counters.0.get(&(*signal, of.clone()))) {
            (Ok(old), Some(Ok(new))) => {
                let grown = new.saturating_sub(*old);
                if grown > 0 {
                    let mut params = Params::new();
                    params.insert("counter".to_owned(), (*signal).into());
                    if !of.is_empty() {
                        params.insert("of".to_owned(), of.as_str().into());
                    }
                    sensed.series.push(plain(COUNTER, params, vec![Sample::of(grown as f64)]));
                }
                (*old, *new)
            }
            (Err(e), _) | (_, Some(Err(e))) => {
                unreadable(&mut sensed.taint, e);
                continue;
            }
            (Ok(_), None) => {
                sensed.taint.add(TaintLevel::Invalid, format!("{name} was there before and is gone"));
                continue;
            }
        };
        let (old, new) = new;
        for rule in RULES.iter().filter(|rule| rule.signal == *signal) {
            let grown = new.saturating_sub(old);
            if grown < rule.least {
                continue;
            }
            let (value, detail) = match rule.measure {
                Measure::Growth => (grown as f64, String::new()),
                Measure::ShareOf(whole) => {
                    let whole = growth(whole, of).unwrap_or(0).max(grown);
                    let share = grown as f64 / whole as f64;
                    (share, format!(", {} of {whole}", human(share, Unit::Ratio, 2)))
                }
                Measure::ShareOfTime => {
                    let share = grown as f64 / 1e6 / elapsed.as_secs_f64().max(1e-3);
                    (share, format!(" us, {} of the time", human(share, Unit::Ratio, 2)))
                }
            };
            let level = match value {
                v if v > rule.invalid_above => TaintLevel::Invalid,
                v if v > rule.suspect_above => TaintLevel::Suspect,
                _ => continue,
            };
            sensed.taint.add(level, format!("{name} {old} -> {new}{detail}"));
            sensed.caveats.push(Caveat::new(rule.kind, rule.says));
        }
    }
}

fn unreadable(taint: &mut Taint, e: &ReadError) {
    let reason = e.to_string();
    // Signals that share a file share its error.
    if !taint.reasons.contains(&reason) {
        taint.add(TaintLevel::Unknown, reason);
    }
}

fn states(before: &Snapshot, after: &Snapshot, sensed: &mut Sensed) {
    for (name, old) in &before.states.0 {
        let Some(new) = after.states.0.get(name) else { continue };
        match (old, new) {
            (Err(ReadError::Absent { .. }), Err(ReadError::Absent { .. })) => {}
            (Ok(old), Ok(new)) if old == new => {}
            (Err(e @ (ReadError::Denied { .. } | ReadError::Unreadable { .. })), _)
            | (_, Err(e @ (ReadError::Denied { .. } | ReadError::Unreadable { .. }))) => {
                unreadable(&mut sensed.taint, e);
            }
            (old, new) => {
                let word = |state: &Result<String, ReadError>| match state {
                    Ok(text) => text.clone(),
                    Err(_) => "absent".to_owned(),
                };
                sensed.taint.add(TaintLevel::Invalid, format!("{name} {} -> {}", word(old), word(new)));
                let text = "a link's speed, width or MTU changed during a run";
                sensed.caveats.push(Caveat::new(CaveatKind::StateChanged, text));
            }
        }
    }
}

fn cpu(before: &Snapshot, after: &Snapshot, tolerate: Tolerance, sensed: &mut Sensed) {
    let (old, new) = match (&before.cpu, &after.cpu) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(ReadError::Absent { .. }), _) | (_, Err(ReadError::Absent { .. })) => return,
        (Err(e), _) | (_, Err(e)) => return unreadable(&mut sensed.taint, e),
    };
    let passed = new.since(old);
    let total = passed.total();
    let mut hold = |ticks: u64, limit: &Share, what: &str, says: &str| {
        if total == 0 || ticks < limit.least {
            return;
        }
        let share = share_of(ticks, total);
        let level = match share {
            s if s > limit.invalid_above => TaintLevel::Invalid,
            s if s > limit.suspect_above => TaintLevel::Suspect,
            _ => return,
        };
        sensed.taint.add(level, format!("{what} {} of the CPUs' time", human(share, Unit::Ratio, 2)));
        sensed.caveats.push(Caveat::new(CaveatKind::NoisyNeighbour, says));
    };
    hold(
        passed.steal,
        &Share { invalid_above: tolerate.steal, ..STEAL },
        "the hypervisor gave others",
        "the hypervisor gave CPU time to other machines",
    );
    let (Some(was), Some(is)) = (&before.processes, &after.processes) else { return };
    let used = process::used(was, is);
    let names: Vec<String> = used
        .by_name
        .iter()
        .take(3)
        .filter(|(_, ticks)| *ticks * 10 >= used.foreign)
        .map(|(name, _)| name.clone())
        .collect();
    let who = format!("other programs ({}) used", names.join(", "));
    hold(used.foreign, &FOREIGN, &who, "other programs used the CPUs");
    // Interrupts are left out of the sum: the kernel books them on whoever was running.
    let seen = used.ours.saturating_add(used.kernel).saturating_add(used.foreign);
    let unseen = passed.user.saturating_add(passed.system).saturating_sub(seen);
    hold(unseen, &UNSEEN, "programs that can't be seen from here used", "other programs used the CPUs");
    if total >= FEWEST_TICKS {
        let value = share_of(used.foreign, total);
        sensed.series.push(plain(CPU_FOREIGN, Params::new(), vec![Sample::of(value)]));
    }
}

/// A share of the CPUs' time. The total is sampled at ticks while processes' times are measured, so that the part
/// may come out a little larger than the whole.
fn share_of(ticks: u64, total: u64) -> f64 {
    (ticks as f64 / total as f64).min(1.0)
}

fn heat(before: &Snapshot, after: &Snapshot, ticks: &[Tick], sensed: &mut Sensed) {
    let mut near: Option<(f64, f64, &str)> = None;
    for snapshot in [before, after] {
        match &snapshot.hottest {
            Ok(Some(hot)) => {
                if let Some(room) =
                    hot.headroom().filter(|room| near.is_none_or(|(least, _, _)| *room < least))
                {
                    near = Some((room, hot.celsius, &hot.name));
                }
            }
            Ok(None) => {}
            Err(e) => unreadable(&mut sensed.taint, e),
        }
    }
    // The sampler follows the sensor that was nearest to critical at the start.
    if let Ok(Some(hot)) = &before.hottest
        && let Some(critical) = hot.critical
    {
        for celsius in ticks.iter().filter_map(|tick| tick.celsius) {
            if near.is_none_or(|(least, _, _)| critical - celsius < least) {
                near = Some((critical - celsius, celsius, &hot.name));
            }
        }
    }
    if let Some((room, celsius, name)) = near.filter(|(room, _, _)| *room < HEADROOM) {
        let text = format!("{name} reached {celsius:.0} °C, {room:.0} °C below critical");
        sensed.taint.add(TaintLevel::Suspect, text);
        sensed
            .caveats
            .push(Caveat::new(CaveatKind::Throttled, "a sensor came near its critical temperature"));
    }
}

fn lateness(ticks: &[Tick], taint: &mut Taint) {
    let mut earlier = Duration::ZERO;
    let mut worst = Duration::ZERO;
    for tick in ticks {
        worst = worst.max(tick.at.saturating_sub(earlier));
        earlier = tick.at;
    }
    if worst > INTERVAL.mul_f64(LATE) {
        let text = format!(
            "the sampler was not scheduled for {:.1} s instead of {:.0} s",
            worst.as_secs_f64(),
            INTERVAL.as_secs_f64()
        );
        taint.add(TaintLevel::Suspect, text);
    }
}
