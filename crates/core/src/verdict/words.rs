//! Verdicts as sentences, with no more digits than the interval allows and the words that the metric's users have:
//! rates and times are faster, counts fewer, power lower.

use super::{Decision, Difference, Verdict};
use crate::metric::Metric;
use crate::quantity::{Scale, significant};
use crate::sample::Param;
use crate::unit::Unit;

/// Where so many times the blocks there are would be needed, what they can see is the better advice.
const BEYOND_REACH: usize = 20;
/// From this ratio on, per cent are hard to read and a factor is said.
const A_FACTOR: f64 = 3.0;

/// The verdict as a sentence: `throughput: mtu-9000 is faster than mtu-1500 by 90 % (84-96 %)`. `at` says under which
/// parameter, ` at 4 KiB`, or is empty.
pub fn sentence(d: &Decision, metric: &Metric, at: &str, base: &str, arm: &str) -> String {
    let what = format!("{}{at}", metric.name.replace('_', " "));
    let size = Size::of(d, metric.unit);
    let range = &size.range;
    let margin = percent_plain(d.margin * 100.0);
    let comparative = Comparative::of(metric);
    let than = comparative.than(d, size.up, &what, base, arm);
    let ((by, by_range), (times, times_range)) = (&size.by, &size.times);
    match d.verdict {
        Verdict::Faster | Verdict::Slower => match (comparative, size.factor) {
            (Comparative::Rate, true) => format!("{what}: {than} by a factor of {times} ({times_range})"),
            (Comparative::Rate, false) => format!("{what}: {than} by {by} ({by_range})"),
            (Comparative::Time, true) if size.up => {
                format!("{than}: {times} times the {what} ({times_range})")
            }
            // Faster by some per cent is ambiguous for times; less time is not.
            (Comparative::Time, _) if size.up => format!("{than}: {by} more {what} ({by_range})"),
            (Comparative::Time, _) => format!("{than}: {by} less {what} ({by_range})"),
            (_, true) if size.up => format!("{than}: {times} times as much ({times_range})"),
            _ => format!("{than}, by {by} ({by_range})"),
        },
        Verdict::FasterSizeUncertain | Verdict::SlowerSizeUncertain => match comparative {
            Comparative::Other { .. } => format!("{than}, size uncertain ({range})"),
            _ => format!("{what}: {than}, size uncertain ({range})"),
        },
        Verdict::NoDifference if d.difference.is_some_and(|d| d.base == 0.0) => {
            format!("{what}: no difference between {base} and {arm}, 0 in all {} blocks", d.n)
        }
        Verdict::NoDifference => {
            format!("{what}: no difference within {margin} % between {base} and {arm} ({range})")
        }
        Verdict::DifferentButNegligible => {
            format!("{what}: {than} by {by} ({by_range}), within the margin of {margin} %")
        }
        Verdict::CantTell => {
            let advice = match (d.more_blocks, d.mde) {
                (Some(1), _) => ": about 1 more block would".to_owned(),
                (Some(more), _) if more as usize <= BEYOND_REACH * d.n => {
                    format!(": about {more} more blocks would")
                }
                (_, Some(mde)) => {
                    let mde = if d.difference.is_some() { mde } else { mde.exp_m1() };
                    let [mde] = alike([mde * 100.0], false);
                    format!("; {} blocks show differences from about {mde} % on", d.n)
                }
                _ => String::new(),
            };
            format!("{what}: can't tell {arm} from {base} ({range}){advice}")
        }
        Verdict::NeedMoreBlocks => {
            let needed = d.n as u32 + d.more_blocks.unwrap_or(1);
            let family = match d.family {
                Some(family) if d.n >= 6 => format!(" for {} questions at once", family.questions),
                _ => String::new(),
            };
            format!(
                "{what}: n = {} allows no interval{family}, at least {needed} are needed; {}",
                d.n, size.so_far
            )
        }
        Verdict::DescriptionOnly if d.n == 1 => format!(
            "{what}: one run each: no statement about the difference between configurations is possible; within \
             these runs {arm} gave {} {base}",
            size.gave
        ),
        Verdict::DescriptionOnly => format!(
            "{what}: {arm} gave {} {base} (n = {}); that describes these runs and says nothing about the configurations",
            size.gave, d.n
        ),
    }
}

/// Under which value of a parameter, as it goes behind a metric's name: ` at 4 KiB`, ` with 8 threads`.
pub fn at(name: &str, value: &Param) -> String {
    let number = match value {
        Param::Int(n) => Some(*n as f64),
        Param::Num(x) => Some(*x),
        Param::Text(_) => None,
    };
    match (name, number) {
        (name, Some(bytes)) if name.ends_with("_bytes") => {
            let size = crate::quantity::trimmed(&crate::quantity::human(bytes, Unit::Byte, 3));
            match name {
                "size_bytes" => format!(" at {size}"),
                _ => format!(" with {} of {size}", name.trim_end_matches("_bytes")),
            }
        }
        ("threads" | "ranks", Some(_)) => format!(" with {value} {name}"),
        _ => format!(" at {} {value}", name.replace('_', " ")),
    }
}

/// How a metric's users compare.
enum Comparative {
    /// More of it is faster.
    Rate,
    /// Less of it is faster.
    Time,
    /// It is only more or less.
    Other { down: &'static str, up: &'static str },
}

impl Comparative {
    fn of(metric: &Metric) -> Comparative {
        match (metric.unit, metric.name.as_ref()) {
            (Unit::BitPerSecond | Unit::BytePerSecond | Unit::OpPerSecond | Unit::FlopPerSecond, _) => {
                Comparative::Rate
            }
            (Unit::Second, "rtt" | "latency" | "duration") => Comparative::Time,
            (Unit::Count, _) => Comparative::Other { down: "fewer", up: "more" },
            _ => Comparative::Other { down: "lower", up: "higher" },
        }
    }

    fn than(&self, d: &Decision, up: bool, what: &str, base: &str, arm: &str) -> String {
        match (d.verdict, self) {
            (Verdict::DifferentButNegligible, _) => {
                format!("{arm} is {} than {base}", if up { "higher" } else { "lower" })
            }
            (_, Comparative::Other { down, up: more }) => {
                format!("{arm} has {} {what} than {base}", if up { more } else { down })
            }
            (Verdict::Faster | Verdict::FasterSizeUncertain, _) => format!("{arm} is faster than {base}"),
            _ => format!("{arm} is slower than {base}"),
        }
    }
}

/// How large a difference is, in words.
struct Size {
    /// Whether the arm has more.
    up: bool,
    /// Whether it is a matter of factors.
    factor: bool,
    /// `90 %`, `117`, and its interval, `84-96 %`, `80-150`.
    by: (String, String),
    /// `25.0` times, and its interval, `24.2-25.8`.
    times: (String, String),
    /// `-1 to +5 %`.
    range: String,
    /// `the ratio so far is 2.00`.
    so_far: String,
    /// `2.00 times the value of`, `5 more than`, to be followed by the base.
    gave: String,
}

impl Size {
    fn of(d: &Decision, unit: Unit) -> Size {
        match &d.difference {
            Some(difference) => Size::of_difference(difference, unit),
            None => Size::of_ratio(d),
        }
    }

    fn of_ratio(d: &Decision) -> Size {
        let (lo, hi) = (d.lo.unwrap_or(d.ratio), d.hi.unwrap_or(d.ratio));
        let up = d.ratio >= 1.0;
        let [low, high] = alike([lo, hi].map(|ratio| (ratio - 1.0) * 100.0), true);
        let sizes = if up { [d.ratio, lo, hi] } else { [d.ratio, hi, lo] };
        let [by, near, far] = alike(sizes.map(|ratio| (ratio - 1.0).abs() * 100.0), false);
        let factors = sizes.map(|ratio| if up { ratio } else { 1.0 / ratio });
        // A wide interval must not round 5.4 times to 5: below ten the tenths are told.
        let [times, least, most] = match factors[0] < 10.0 {
            true => factors.map(|factor| format!("{factor:.1}")),
            false => alike(factors, false),
        };
        let ratio = significant(d.ratio, 3);
        Size {
            up,
            factor: factors[0] >= A_FACTOR,
            by: (format!("{by} %"), format!("{near}-{far} %")),
            times: (times, format!("{least}-{most}")),
            range: format!("{low} to {high} %"),
            so_far: format!("the ratio so far is {ratio}"),
            gave: format!("{ratio} times the value of"),
        }
    }

    fn of_difference(d: &Difference, unit: Unit) -> Size {
        let (lo, hi) = (d.lo.unwrap_or(d.value), d.hi.unwrap_or(d.value));
        let up = d.value >= 0.0;
        let ends = if up { [d.value, lo, hi] } else { [d.value, hi, lo] };
        let ([low, high], symbol) = amounts([lo, hi], unit, true);
        let ([by, near, far], _) = amounts(ends.map(f64::abs), unit, false);
        let ([so_far], _) = amounts([d.value], unit, true);
        let ([size], _) = amounts([d.value.abs()], unit, false);
        Size {
            up,
            factor: false,
            by: (format!("{by}{symbol}"), format!("{near}-{far}{symbol}")),
            times: (String::new(), String::new()),
            range: format!("{low} to {high}{symbol}"),
            so_far: format!("the difference so far is {so_far}{symbol}"),
            gave: match d.value {
                0.0 => "the same as".to_owned(),
                _ => format!("{size}{symbol} {} than", if up { "more" } else { "less" }),
            },
        }
    }
}

/// Amounts in one scale with what stands behind the last: shares are told in percentage points.
pub(crate) fn amounts<const N: usize>(values: [f64; N], unit: Unit, sign: bool) -> ([String; N], String) {
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let scale = Scale::of(largest, unit);
    let symbol = match scale.symbol {
        "" => String::new(),
        "%" => " percentage points".to_owned(),
        symbol => format!(" {symbol}"),
    };
    let scaled = values.map(|value| value / scale.factor);
    // Counts are whole wherever that loses nothing.
    let whole = unit == Unit::Count && values.iter().all(|value| value.fract() == 0.0 || value.abs() >= 10.0);
    let numbers = match whole {
        true if sign => scaled.map(|x| if x.round() == 0.0 { "0".to_owned() } else { format!("{x:+.0}") }),
        true => scaled.map(|x| format!("{x:.0}")),
        false => alike(scaled, sign),
    };
    (numbers, symbol)
}

/// Numbers with no more decimals than their spread bears, all with the same, on request with their sign.
pub(crate) fn alike<const N: usize>(values: [f64; N], sign: bool) -> [String; N] {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let width = largest - values.iter().copied().fold(f64::MAX, f64::min);
    // A single number goes by its own size.
    let width = if N == 1 { largest } else { width };
    let decimals = if width >= 4.0 {
        0
    } else if width >= 0.4 {
        1
    } else {
        2
    };
    values.map(|value| {
        let unit = 10f64.powi(decimals);
        // What rounds to nothing has no sign.
        let rounded = (value * unit).round() / unit + 0.0;
        let decimals = decimals as usize;
        if sign && rounded != 0.0 {
            format!("{rounded:+.decimals$}")
        } else {
            format!("{rounded:.decimals$}")
        }
    })
}

pub(crate) fn percent_plain(share: f64) -> String {
    let text = format!("{share:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Better, CPU_PER_BYTE, LOSS, POWER, RETRANSMITS, RTT, THROUGHPUT};
    use crate::verdict::{decide, decide_differences};

    /// Pairs whose log ratios lie evenly up to `spread` around that of `ratio`.
    fn pairs(n: usize, ratio: f64, spread: f64) -> Vec<(f64, f64)> {
        let place = |i: usize| 2.0 * (i as f64 + 0.5) / n as f64 - 1.0;
        (0..n).map(|i| (ratio * (spread * place(i)).exp(), 1.0)).collect()
    }

    #[track_caller]
    fn of(metric: &Metric, pairs: &[(f64, f64)], right: &str) {
        let decision = decide(pairs, 0.02, metric.better == Better::Higher).unwrap();
        assert_eq!(sentence(&decision, metric, "", "A", "B"), right);
    }

    #[track_caller]
    fn says(pairs: &[(f64, f64)], higher: bool, right: &str) {
        let metric = if higher { THROUGHPUT } else { RTT };
        of(&metric, pairs, right);
    }

    #[test]
    fn sentences() {
        says(&pairs(8, 1.9, 0.05), true, "throughput: B is faster than A by 90 % (84-96 %)");
        says(&pairs(8, 0.5, 0.05), true, "throughput: B is slower than A by 50.0 % (48.4-51.5 %)");
        says(&pairs(8, 0.6, 0.1), false, "B is faster than A: 40 % less rtt (36-44 %)");
        says(&pairs(8, 1.5, 0.1), false, "B is slower than A: 50 % more rtt (41-60 %)");
        says(&pairs(8, 25.0, 0.05), true, "throughput: B is faster than A by a factor of 25.0 (24.2-25.8)");
        says(&pairs(8, 0.04, 0.05), true, "throughput: B is slower than A by a factor of 25.0 (24.2-25.8)");
        says(&pairs(8, 25.0, 0.3), false, "B is slower than A: 25 times the rtt (21-30)");
        says(&pairs(8, 0.04, 0.3), false, "B is faster than A: 96.0 % less rtt (95.2-96.7 %)");
        says(&pairs(8, 1.03, 0.03), true, "throughput: B is faster than A, size uncertain (+1.1 to +4.9 %)");
        says(
            &pairs(12, 1.0025, 0.01),
            true,
            "throughput: no difference within 2 % between A and B (-0.2 to +0.7 %)",
        );
        says(&[(3.0, 3.0); 8], true, "throughput: no difference within 2 % between A and B (0.00 to 0.00 %)");
        says(
            &pairs(12, 0.99, 0.002),
            false,
            "rtt: B is lower than A by 1.00 % (0.92-1.08 %), within the margin of 2 %",
        );
        says(
            &pairs(8, 1.02, 0.05),
            true,
            "throughput: can't tell B from A (-1 to +5 %): about 15 more blocks would",
        );
        says(
            &pairs(8, 1.01, 0.3),
            true,
            "throughput: can't tell B from A (-16 to +22 %); 8 blocks show differences from about 20 % on",
        );
        says(
            &pairs(5, 2.0, 0.01),
            true,
            "throughput: n = 5 allows no interval, at least 6 are needed; the ratio so far is 2.00",
        );
        says(
            &pairs(1, 2.0, 0.01),
            true,
            "throughput: one run each: no statement about the difference between configurations is possible; within \
             these runs B gave 2.00 times the value of A",
        );
    }

    #[test]
    fn every_metric_has_its_words() {
        of(&POWER, &pairs(8, 0.9, 0.01), "B has lower power than A, by 10.0 % (9.4-10.6 %)");
        of(
            &CPU_PER_BYTE,
            &pairs(8, 25.0, 0.05),
            "B has higher cpu per byte than A: 25.0 times as much (24.2-25.8)",
        );
        of(&POWER, &pairs(8, 1.02, 0.015), "B has higher power than A, size uncertain (+1.0 to +3.0 %)");
    }

    #[track_caller]
    fn differs(metric: &Metric, arm: &[f64], base: &[f64], right: &str) {
        let pairs: Vec<(f64, f64)> = arm.iter().copied().zip(base.iter().copied()).collect();
        let decision = decide_differences(&pairs, 0.02, metric.better == Better::Higher).unwrap();
        assert_eq!(sentence(&decision, metric, " at 4 KiB", "A", "B"), right);
    }

    #[test]
    fn differences() {
        let base = [780.0, 800.0, 760.0, 790.0, 810.0, 770.0, 785.0, 795.0];
        let lower = |by: f64, spread: f64| -> Vec<f64> {
            base.iter().enumerate().map(|(i, x)| x - by + spread * (i as f64 - 3.5)).collect()
        };
        differs(
            &RETRANSMITS,
            &lower(117.0, 10.0),
            &base,
            "B has fewer retransmits at 4 KiB than A, by 117 (92-142)",
        );
        differs(
            &RETRANSMITS,
            &lower(5.0, 0.0),
            &base,
            "retransmits at 4 KiB: B is lower than A by 5 (5-5), within the margin of 2 %",
        );
        let none = [0.0; 8];
        differs(
            &RETRANSMITS,
            &none,
            &none,
            "retransmits at 4 KiB: no difference between A and B, 0 in all 8 blocks",
        );
        differs(
            &RETRANSMITS,
            &none[..1],
            &base[..1],
            "retransmits at 4 KiB: one run each: no statement about the difference between configurations is \
             possible; within these runs B gave 780 less than A",
        );
        let some = [0.011, 0.012, 0.010, 0.013, 0.009, 0.012, 0.011, 0.01];
        differs(
            &LOSS,
            &some,
            &none,
            "B has higher loss at 4 KiB than A, by 1.10 percentage points (1.00-1.20 percentage points)",
        );
        differs(
            &RETRANSMITS,
            &none[..4],
            &base[..4],
            "retransmits at 4 KiB: n = 4 allows no interval, at least 6 are needed; the difference so far is -782",
        );
    }

    #[test]
    fn parameters() {
        assert_eq!(at("size_bytes", &Param::Int(4096)), " at 4 KiB");
        assert_eq!(at("record_bytes", &Param::Int(65536)), " with record of 64 KiB");
        assert_eq!(at("threads", &Param::Int(8)), " with 8 threads");
        assert_eq!(at("queue_depth", &Param::Int(32)), " at queue depth 32");
    }
}
