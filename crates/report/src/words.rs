//! Numbers and words shared by the terminal, Markdown and HTML: no more digits than the noise allows, the interval
//! before the verdict, the direction of better always said.

use tenbin_core::analysis::{Analysis, ArmCeiling, Comparison, Level, RunCounts};
use tenbin_core::env::{Fact, FactValue};
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::metric::Better;
use tenbin_core::plan::{Arm, Change, Host, Measure, Place, Plan};
use tenbin_core::quantity::{self, Scale, significant};
use tenbin_core::sample::{Param, Params};
use tenbin_core::spec::{Value, Values};
use tenbin_core::taint::TaintLevel;
use tenbin_core::unit::Unit;
use tenbin_core::verdict::{Correction, Decision, Verdict};

use crate::fold::Folded;

/// A level as text: the median and its interval in one scale.
pub struct LevelText {
    /// `4.96 Gbit/s`.
    pub median: String,
    /// `4.92 to 5.04 Gbit/s`; `None` below six runs.
    pub interval: Option<String>,
}

/// The median and interval of an arm.
pub fn level(level: &Level) -> LevelText {
    middle(level.median, level.interval, level.metric.unit)
}

/// A median and its interval with no more digits than the interval allows.
pub fn middle(median: f64, interval: Option<(f64, f64)>, unit: Unit) -> LevelText {
    if !median.is_finite() {
        return LevelText { median: "none".to_owned(), interval: None };
    }
    let scale = Scale::of(median, unit);
    let half_width = interval.map(|(lo, hi)| (hi - lo) / 2.0);
    let digits = digits(median, half_width);
    let decimals = decimals(median / scale.factor, digits);
    let with_unit = |number: String| match scale.symbol {
        "" => number,
        symbol => format!("{number} {symbol}"),
    };
    let number = |value: f64| format!("{:.decimals$}", value / scale.factor);
    let told = interval.map(|(lo, hi)| with_unit(format!("{} to {}", number(lo), number(hi))));
    let unsure = if interval.is_none() { "~" } else { "" };
    LevelText { median: format!("{unsure}{}", with_unit(number(median))), interval: told }
}

/// Significant digits worth printing of `value` known to ± `half_width`.
fn digits(value: f64, half_width: Option<f64>) -> usize {
    let unknown = 3;
    let Some(half_width) = half_width.filter(|width| width.is_finite() && *width > 0.0) else {
        return unknown;
    };
    if value == 0.0 || !value.is_finite() {
        return unknown;
    }
    // The last digit printed is the first one of the half-width, one more where that is a 1.
    let mut last = half_width.log10().floor();
    if half_width / 10f64.powf(last) < 2.0 {
        last -= 1.0;
    }
    (value.abs().log10().floor() - last + 1.0).clamp(2.0, 6.0) as usize
}

fn decimals(value: f64, digits: usize) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits as i64 - 1 - value.abs().log10().floor() as i64).clamp(0, 9) as usize
}

/// `1.87 to 1.92`; `None` where there is no finite interval.
pub fn ratio_interval(result: &Decision) -> Option<String> {
    let (lo, hi) = (result.lo?, result.hi?);
    if !(lo.is_finite() && hi.is_finite()) {
        return None;
    }
    let decimals = ratio_decimals(result);
    Some(format!("{lo:.decimals$} to {hi:.decimals$}"))
}

/// `1.90`, or `~1.9` without an interval.
pub fn ratio(result: &Decision) -> String {
    match (result.lo, result.hi) {
        _ if !result.ratio.is_finite() => "none".to_owned(),
        (Some(_), Some(_)) => format!("{:.*}", ratio_decimals(result), result.ratio),
        _ => format!("~{}", significant(result.ratio, 2)),
    }
}

fn ratio_decimals(result: &Decision) -> usize {
    let width = match (result.lo, result.hi) {
        (Some(lo), Some(hi)) => Some((hi - lo) / 2.0),
        _ => None,
    };
    decimals(result.ratio, digits(result.ratio, width)).min(4)
}

/// What a ratio is and what it rests on, the interval first; `counts` is what n counts, `block` or `run`.
pub fn rests_on(result: &Decision, counts: &str) -> String {
    let rests_on = format!("n = {}, margin {}", counted(result.n, counts), percent(result.margin));
    match ratio_interval(result) {
        Some(interval) => {
            let level = percent(result.level);
            format!("{interval}, about {} ({level} interval, {rests_on})", ratio(result))
        }
        None => format!("{}, no finite interval ({rests_on})", ratio(result)),
    }
}

/// How the p values of a report came about; `counts` is what n counts, `block` or `run`.
pub fn how_p(comparisons: &[&Comparison], counts: &str) -> String {
    if comparisons.iter().all(|one| one.result.p.is_none()) {
        return "No p: that takes several runs of each.".to_owned();
    }
    let alone = match counts {
        "block" => "p is exact, by flipping signs of blocks.",
        _ => "p is Mann-Whitney's.",
    };
    let family = comparisons.iter().find_map(|one| one.result.family);
    let Some(family) = family else { return alone.to_owned() };
    let by = match family.correction {
        Correction::MaxT => "by the largest statistic under flips of the blocks' signs",
        Correction::Holm => "by Holm's steps",
        Correction::BenjaminiHochberg => "by Benjamini and Hochberg's steps",
    };
    format!("Where several questions were asked of the same data, p is that of all together, {by}.")
}

/// What a verdict does to a reader's mood; colours follow it, never a mere ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Better, and the data show it.
    Better,
    /// Worse, and the data show it.
    Worse,
    /// The same for the purpose asked about.
    Same,
    /// Not decided.
    Open,
}

/// The tone and the badge of a verdict.
pub fn verdict(verdict: Verdict) -> (Tone, &'static str) {
    match verdict {
        Verdict::Faster => (Tone::Better, "faster"),
        Verdict::Slower => (Tone::Worse, "slower"),
        Verdict::FasterSizeUncertain => (Tone::Better, "faster, size uncertain"),
        Verdict::SlowerSizeUncertain => (Tone::Worse, "slower, size uncertain"),
        Verdict::NoDifference => (Tone::Same, "no difference"),
        Verdict::DifferentButNegligible => (Tone::Same, "different but negligible"),
        Verdict::CantTell => (Tone::Open, "can't tell"),
        Verdict::NeedMoreBlocks => (Tone::Open, "need more blocks"),
        Verdict::DescriptionOnly => (Tone::Open, "description only"),
    }
}

/// `higher is better`; empty where neither direction is.
pub fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "",
    }
}

/// `2 %`, `0.5 %`, `95 %`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "unknown".to_owned();
    }
    let percent = share * 100.0;
    let text = significant(percent, 3);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A share of a ceiling: `11 %`, `99.4 %`; near the ceiling the tenths matter.
pub fn share(share: f64) -> String {
    match share {
        share if !share.is_finite() => "unknown".to_owned(),
        share if share >= 0.9 => format!("{:.1} %", share * 100.0),
        share => quantity::human(share, Unit::Ratio, 2),
    }
}

/// The smallest ceiling of an arm's metric.
pub fn tightest<'a>(analysis: &'a Analysis, arm: &str, metric: &str, unit: Unit) -> Option<&'a ArmCeiling> {
    analysis
        .ceilings
        .iter()
        .filter(|bound| bound.arm == arm && bound.metric == metric && bound.ceiling.unit == unit)
        .min_by(|a, b| a.ceiling.limit.total_cmp(&b.ceiling.limit))
}

/// Parameters of a series, words bare and numbers with their names: `forward, sender`, `size_bytes 64`.
pub fn params(params: &Params) -> String {
    let words = params.iter().map(|(key, value)| match value {
        Param::Text(text) => text.clone(),
        number => format!("{key} {number}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A single value for people; counts have no decimals.
pub fn single(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count if value.abs() >= 100.0 => format!("{value:.0}"),
        Unit::Count | Unit::None => {
            let text = significant(value, 6);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        unit => quantity::human(value, unit, 3),
    }
}

/// `lab left`, `ssh ann@db1`.
pub fn place(host: &Host) -> String {
    match &host.place {
        Place::Local => "this machine".to_owned(),
        Place::Lab(name) => format!("lab {name}"),
        Place::Ssh(destination) => format!("ssh {destination}"),
        Place::Address => match host.address {
            Some(address) => format!("{address} (no agent)"),
            None => "an address (no agent)".to_owned(),
        },
        Place::Exec(prefix) => prefix.join(" "),
    }
}

/// `client -> server`, or the one host.
pub fn route(measure: &Measure, arrow: &str) -> String {
    match &measure.to {
        Some(to) => format!("{} {arrow} {to}", measure.from),
        None => measure.from.clone(),
    }
}

/// The routes of all measures, once each: `client -> server`.
pub fn routes(plan: &Plan, arrow: &str) -> String {
    let mut routes: Vec<String> = plan.measures.iter().map(|measure| route(measure, arrow)).collect();
    routes.dedup();
    routes.join(", ")
}

/// What an arm sets, in words: `MTU 9000, offload off`.
pub fn arm_settings(arm: &Arm) -> String {
    let set = &arm.set;
    let on_off = |on: bool| if on { "on" } else { "off" };
    let mut words = Vec::new();
    words.extend(set.mtu.map(|mtu| format!("MTU {mtu}")));
    words.extend(set.offload.map(|on| format!("offload {}", on_off(on))));
    words.extend(set.congestion.as_ref().map(|name| format!("congestion control {name}")));
    words.extend(set.env.iter().map(|(name, value)| format!("{name}={value}")));
    if let Some(link) = &set.link {
        words.extend(link.rate.map(|rate| format!("link {}", fact_number(rate as f64, Unit::BitPerSecond))));
        words.extend(link.burst.map(|burst| format!("burst {}", fact_number(burst as f64, Unit::Byte))));
        words.extend(link.overhead.map(|bytes| format!("overhead {bytes} B")));
        words.extend(link.wire_segments.map(|on| format!("wire segments {}", on_off(on))));
        words.extend(link.offload.map(|on| format!("link offload {}", on_off(on))));
    }
    for (engine, values) in &arm.params {
        let own = values.0.iter().map(|(name, v)| format!("{engine} {name} {}", value(name, v)));
        words.extend(own);
    }
    for (name, host) in &arm.hosts {
        words.push(format!("{name} = {}", place(host)));
    }
    for command in &arm.before {
        words.push(format!("before: {}", command.argv.join(" ")));
    }
    for command in &arm.after {
        words.push(format!("after: {}", command.argv.join(" ")));
    }
    match arm.change {
        Change::Free => {}
        Change::Seconds(seconds) => words.push(format!("a change costs {}", quantity::duration(seconds))),
        Change::Manual => words.push("changed by hand".to_owned()),
    }
    words.join(", ")
}

/// A measure's parameters in words: `count 200, interval 5 ms`.
pub fn measure_params(measure: &Measure) -> String {
    values(&measure.params)
}

/// Parameters of an engine in words, those that are switched off left out: `count 200, interval 5 ms`.
pub fn values(values: &Values) -> String {
    let words = values.0.iter().filter(|(_, v)| !matches!(v, Value::Switch(false)));
    words.map(|(name, v)| format!("{name} {}", value(name, v))).collect::<Vec<_>>().join(", ")
}

fn value(_name: &str, value: &Value) -> String {
    match value {
        Value::Switch(true) => "on".to_owned(),
        Value::Switch(false) => "off".to_owned(),
        Value::Count(n) => n.to_string(),
        Value::Seconds(seconds) => quantity::trimmed(&quantity::duration(*seconds)),
        Value::Text(text) => text.clone(),
        Value::Command(argv) => command(argv),
    }
}

/// A command as it would be typed; what a shell is asked to run stands alone.
fn command(argv: &[String]) -> String {
    match argv {
        [shell, flag, script] if shell == "sh" && flag == "-c" => format!("`{script}`"),
        words => {
            let words: Vec<String> =
                words.iter().map(|word| tenbin_core::launch::shell_quote(word)).collect();
            format!("`{}`", words.join(" "))
        }
    }
}

/// A fact's value for people; says why there is none.
pub fn fact(fact: &Fact) -> String {
    match (&fact.value, &fact.error) {
        (Some(value), _) => fact_value(value, fact.unit),
        (None, Some(why)) => format!("unknown ({why})"),
        (None, None) => "none".to_owned(),
    }
}

/// A value in its unit for people. Sizes stay in bytes: an MTU of 8.79 KiB helps nobody.
pub fn fact_value(value: &FactValue, unit: Option<Unit>) -> String {
    match (value, unit) {
        (FactValue::Int(n), Some(Unit::Byte)) if *n < 1 << 20 => format!("{n} B"),
        (FactValue::Int(n), Some(Unit::Count | Unit::None)) => n.to_string(),
        (FactValue::Int(n), Some(unit)) => fact_number(*n as f64, unit),
        (FactValue::Num(x), Some(unit)) => fact_number(*x, unit),
        (FactValue::Text(text), _) if text.is_empty() => "empty".to_owned(),
        (value, _) => value.to_string(),
    }
}

fn fact_number(value: f64, unit: Unit) -> String {
    quantity::trimmed(&quantity::human(value, unit, 4))
}

/// `two` for 2; digits from thirteen on.
pub fn spelled(n: usize) -> String {
    let words = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    words.get(n).map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

/// `text` with its first letter large.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `new against old`, `new, newer against old`: the base, which comes first, is named last.
pub fn against(arms: &[String]) -> String {
    match arms {
        [base, arms @ ..] if !arms.is_empty() => format!("{} against {base}", arms.join(", ")),
        few => few.concat(),
    }
}

/// `1 run`, `2 runs`.
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Runs that bear the same mark for the same reasons.
pub struct Mark {
    /// `suspect`, `failed`.
    pub word: &'static str,
    /// Whether the runs do not count.
    pub excluded: bool,
    /// What was read where, before and after.
    pub reasons: String,
    /// Each run's number, arm and block (from 1).
    pub of: Vec<(i64, String, u32)>,
}

impl Mark {
    /// `run 14 (mtu-1500, block 4)`, `runs 1, 2, 3`, `32 runs`.
    pub fn runs(&self) -> String {
        match self.of.as_slice() {
            [(run, arm, block)] => format!("run {run} ({arm}, block {block})"),
            several if several.len() <= 6 => {
                let numbers: Vec<String> = several.iter().map(|(run, ..)| run.to_string()).collect();
                format!("runs {}", numbers.join(", "))
            }
            many => format!("{} runs", many.len()),
        }
    }
}

/// The mark of a run that gave nothing. What it failed at is told as it is: its numbers are settings, not readings.
const FAILED: &str = "failed";

/// Every run that is not clean, by mark and reasons, in the order first met.
pub fn marked(experiment: &Experiment) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for record in &experiment.records {
        let (word, reasons) = match (record.state, &record.run) {
            (State::Failed, _) => (FAILED, why(record.error.as_deref())),
            (_, Some(run)) if run.taint.level != TaintLevel::Clean => {
                (taint(run.taint.level), run.taint.reasons.join("; "))
            }
            (State::Invalid, _) => ("invalid", why(record.error.as_deref())),
            _ => continue,
        };
        let excluded = record.state != State::Done;
        let arm = experiment.plan.arms.get(record.slot.arm as usize);
        let of = (record.id, arm.map(|arm| arm.name.clone()).unwrap_or_default(), record.slot.block + 1);
        match marks.iter_mut().find(|m| m.word == word && m.excluded == excluded && m.reasons == reasons) {
            Some(mark) => mark.of.push(of),
            None => marks.push(Mark { word, excluded, reasons, of: vec![of] }),
        }
    }
    marks
}

/// An error without its hint, which was for whoever sat at the terminal.
fn why(error: Option<&str>) -> String {
    error.unwrap_or_default().split("\nhint:").next().unwrap_or_default().to_owned()
}

/// How many runs there are of each state; states that make a reader wonder are named only where they occur:
/// `30 clean, 1 suspect, 1 invalid (not counted)`.
pub fn run_counts(runs: RunCounts) -> String {
    let mut words = vec![format!("{} clean", runs.clean)];
    let others =
        [(runs.suspect, "suspect"), (runs.invalid, "invalid (not counted)"), (runs.unknown, "unknown")];
    words.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    words.join(", ")
}

/// The smallest difference that the blocks can show, stored as a log ratio: `13 %`.
pub fn visible(mde: f64) -> String {
    if !mde.is_finite() {
        return "unknown".to_owned();
    }
    format!("{} %", significant(mde.exp_m1() * 100.0, 2))
}

/// The same marks with those joined whose reasons differ only in numbers and in what stands in parentheses: a busy
/// neighbour is one sentence, not one for every run. Numbers that differ become ranges.
pub fn condensed(marks: Vec<Mark>) -> Vec<Mark> {
    let mut joined: Vec<(Mark, Folded)> = Vec::new();
    for mark in marks {
        let folded = Folded::of(&mark.reasons);
        let alike = |known: &&mut (Mark, Folded)| {
            known.0.word == mark.word
                && known.0.excluded == mark.excluded
                && mark.word != FAILED
                && known.1.is_like(&folded)
        };
        match joined.iter_mut().find(alike) {
            Some((known, reasons)) => {
                known.of.extend(mark.of);
                reasons.widen(&folded);
            }
            None => joined.push((mark, folded)),
        }
    }
    joined.into_iter().map(|(mark, reasons)| Mark { reasons: reasons.text(), ..mark }).collect()
}

/// The level as a word of a sentence.
pub fn taint(level: TaintLevel) -> &'static str {
    match level {
        TaintLevel::Clean => "clean",
        TaintLevel::Unknown => "unknown",
        TaintLevel::Suspect => "suspect",
        TaintLevel::Invalid => "invalid",
    }
}

/// `45.7 us` as `45.7 µs`, for where there is more than ASCII.
pub fn micro(text: &str) -> String {
    match text.rsplit_once(' ') {
        Some((number, "us")) => format!("{number} µs"),
        Some((number, "us/B")) => format!("{number} µs/B"),
        _ => text.to_owned(),
    }
}

/// The same within a sentence.
pub fn micro_inside(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("us") {
        Some(rest) if rest.chars().all(|c| c.is_ascii_punctuation()) => format!("µs{rest}"),
        _ => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_digits_than_the_noise_allows() {
        let check = |ratio: f64, interval: Option<(f64, f64)>, text: &str| {
            let result = Decision {
                ratio,
                lo: interval.map(|(lo, _)| lo),
                hi: interval.map(|(_, hi)| hi),
                level: 0.95,
                n: 8,
                p: None,
                margin: 0.02,
                verdict: Verdict::CantTell,
                more_blocks: None,
                mde: None,
                difference: None,
                family: None,
            };
            let interval =
                ratio_interval(&result).map(|interval| format!(" [{interval}]")).unwrap_or_default();
            assert_eq!(format!("{}{interval}", self::ratio(&result)), text);
        };
        check(1.8934, Some((1.869, 1.928)), "1.89 [1.87 to 1.93]");
        check(0.98912, Some((0.9743, 1.0091)), "0.989 [0.974 to 1.009]");
        check(1.00012, Some((0.99991, 1.00031)), "1.0001 [0.9999 to 1.0003]");
        check(12.3, Some((6.1, 24.0)), "12 [6 to 24]");
        check(1.8934, None, "~1.9");
        check(f64::NAN, None, "none");
    }

    #[test]
    fn single_values() {
        let check = |value: f64, unit: Unit, text: &str| assert_eq!(single(value, unit), text);
        check(0.0, Unit::Count, "0");
        check(8.0, Unit::Count, "8");
        check(2.5, Unit::Count, "2.5");
        check(100.0, Unit::Count, "100");
        check(1221.5, Unit::Count, "1222");
        check(4.5e-5, Unit::Second, "45.0 us");
        assert_eq!(percent(0.02), "2 %");
        assert_eq!(percent(0.0051), "0.51 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(share(0.99432), "99.4 %");
        assert_eq!(share(0.1089), "11 %");
        assert_eq!(micro_inside("1.2 us, (3 us), 4 us; used 5 us/B"), "1.2 µs, (3 µs), 4 µs; used 5 us/B");
    }

    #[test]
    fn facts_for_people() {
        let check =
            |value: FactValue, unit: Option<Unit>, text: &str| assert_eq!(fact_value(&value, unit), text);
        check(9000i64.into(), Some(Unit::Byte), "9000 B");
        check(10_000_000_000i64.into(), Some(Unit::BitPerSecond), "10 Gbit/s");
        check(2.5e9.into(), Some(Unit::Hertz), "2.5 GHz");
        check(false.into(), None, "off");
        check("tbf".into(), None, "tbf");
        assert_eq!(fact_number(12.0, Unit::Count), "12");
    }

    #[test]
    fn marks_that_differ_in_numbers_are_one() {
        let mark = |run: i64, reasons: &str| Mark {
            word: "suspect",
            excluded: false,
            reasons: reasons.to_owned(),
            of: vec![(run, "a".to_owned(), 1)],
        };
        let joined = condensed(vec![
            mark(1, "client: other programs (rustc) used 62 % of the CPUs' time"),
            mark(2, "client: other programs (cc1, as) used 7.5 % of the CPUs' time"),
            mark(3, "server: steal 2 %"),
        ]);
        let texts: Vec<&str> = joined.iter().map(|mark| mark.reasons.as_str()).collect();
        assert_eq!(
            texts,
            ["client: other programs (rustc) used 7.5-62 % of the CPUs' time", "server: steal 2 %"]
        );
        assert_eq!(joined[0].of.len(), 2);
        assert!(condensed(vec![mark(1, "(open ) 1. 2..3 \u{e9}(")]).len() == 1);
    }
}
