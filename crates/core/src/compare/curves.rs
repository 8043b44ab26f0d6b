//! Curves of two sides: where both have data, what they say as a whole, where they go the wrong way or fall off.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Side;
use super::observe::{Key, Values};
use crate::analysis::Inversion;
use crate::analysis::curves::{along, inversion, inverted, number, over, shared};
use crate::caveat::{Caveat, CaveatKind};
use crate::metric::{BANDWIDTH, Better, Metric, Scale};
use crate::sample::{Param, Params};
use crate::stats::median;
use crate::stats::summary::geometric_mean;
use crate::unit::Unit;
use crate::verdict::words;

/// Fewer repetitions behind a number are pointed out.
const FEW_REPETITIONS: f64 = 100.0;
/// A size at which the rate falls below this share of the one before is a cliff.
const CLIFF: f64 = 0.5;
/// Logs of ratios below this are a small difference beside one of four times as much.
const ALIKE: f64 = 0.1;

/// Points at which both sides have data, and those at which only one has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// What was measured.
    pub metric: String,
    /// The parameters that all points share.
    pub params: Params,
    /// The parameter along the curve.
    pub along: String,
    /// Where both have data.
    pub both: Vec<f64>,
    /// Where only the base has.
    pub only_base: Vec<f64>,
    /// Where only the arm has.
    pub only_arm: Vec<f64>,
    /// A sentence.
    pub text: String,
}

/// A whole curve, described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// What is compared.
    pub metric: String,
    /// The parameters that all points share.
    pub params: Params,
    /// The parameter along the curve.
    pub along: String,
    /// The geometric mean over the points of arm over base.
    pub ratio: f64,
    /// Points at which the arm has more.
    pub higher: Vec<f64>,
    /// Points at which it has less.
    pub lower: Vec<f64>,
    /// A sentence.
    pub text: String,
}

/// Both sides' values of a key.
pub type Both<'a> = (&'a Key, &'a Values, &'a Values);
type Pick<'a> = fn(&Both<'a>) -> &'a Values;

/// Topics: the parameter of a curve with its members, or `None` with one.
pub fn topics(both: &[Both<'_>]) -> Vec<(Option<String>, Vec<usize>)> {
    let series: Vec<(&str, &Params)> =
        both.iter().map(|(key, _, _)| (key.metric.name.as_ref(), &key.params)).collect();
    let mut topics: Vec<(Option<String>, Vec<usize>)> =
        along(&series).into_iter().map(|one| (Some(one.name), one.members)).collect();
    for index in 0..both.len() {
        if !topics.iter().any(|(_, members)| members.contains(&index)) {
            topics.push((None, vec![index]));
        }
    }
    topics.sort_by_key(|(_, members)| members.iter().min().copied());
    topics
}

/// What a curve is told from others by.
pub fn name(key: &Key, along: &str) -> (String, Params) {
    (key.metric.name.clone().into_owned(), shared(&key.params, along))
}

/// Where on its curve a series is, or under which size where it is the only point: ` at 4 KiB`.
pub fn at(key: &Key, along: Option<&str>) -> String {
    let name = along.or_else(|| {
        ["size_bytes", "record_bytes", "threads"].into_iter().find(|name| key.params.contains_key(*name))
    });
    name.and_then(|name| Some(words::at(name, key.params.get(name)?))).unwrap_or_default()
}

/// Whether two sets of parameters could be points of one curve: they differ in one number.
pub fn same_curve(a: &Params, b: &Params) -> bool {
    let differing: Vec<(&Param, &Param)> =
        a.iter().filter_map(|(name, value)| Some((value, b.get(name)?))).filter(|(a, b)| a != b).collect();
    let numbers = differing.iter().all(|(a, b)| number(a).is_some() && number(b).is_some());
    a.len() == b.len() && a.keys().all(|name| b.contains_key(name)) && differing.len() == 1 && numbers
}

/// Where both sides have data along every curve that either has.
pub fn common(
    base: &Side,
    arm: &Side,
    of_base: &BTreeMap<Key, Values>,
    of_arm: &BTreeMap<Key, Values>,
) -> Vec<Common> {
    let all: BTreeSet<&Key> = of_base.keys().chain(of_arm.keys()).collect();
    let all: Vec<&Key> = all.into_iter().filter(|key| key.metric.better != Better::Neither).collect();
    let series: Vec<(&str, &Params)> =
        all.iter().map(|key| (key.metric.name.as_ref(), &key.params)).collect();
    let curves = along(&series).into_iter().filter_map(|curve| {
        let name = curve.name;
        let (mut both, mut only_base, mut only_arm) = (Vec::new(), Vec::new(), Vec::new());
        for key in curve.members.iter().map(|index| all[*index]) {
            let value = key.params.get(&name).and_then(number)?;
            match (of_base.contains_key(key), of_arm.contains_key(key)) {
                (true, true) => both.push(value),
                (true, false) => only_base.push(value),
                _ => only_arm.push(value),
            }
        }
        if only_base.is_empty() && only_arm.is_empty() {
            return None;
        }
        // A curve that one side lacks altogether is told with the metrics.
        if both.is_empty() && (only_base.is_empty() || only_arm.is_empty()) {
            return None;
        }
        let first = all[*curve.members.first()?];
        let text = told(&first.metric, &name, (&base.name, &only_base), (&arm.name, &only_arm), &both);
        let metric = first.metric.name.clone().into_owned();
        Some(Common {
            metric,
            params: shared(&first.params, &name),
            along: name,
            both,
            only_base,
            only_arm,
            text,
        })
    });
    curves.collect()
}

fn told(
    metric: &Metric,
    along: &str,
    (base, only_base): (&str, &[f64]),
    (arm, only_arm): (&str, &[f64]),
    both: &[f64],
) -> String {
    let metric = metric.name.replace('_', " ");
    let what = if along == "size_bytes" { "sizes".to_owned() } else { along.replace('_', " ") };
    let Some((first, last)) = both.first().zip(both.last()) else {
        return format!("{metric}: {base} and {arm} have no {what} in common");
    };
    let mut text = match both.len() {
        1 => format!("{metric}: compared at {} only, which both have", point(along, *first)),
        n => format!(
            "{metric}: compared at the {n} {what} that both have ({} to {})",
            point(along, *first),
            point(along, *last)
        ),
    };
    for (name, only) in [(base, only_base), (arm, only_arm)] {
        let beyond = only.iter().filter(|value| *value > last).count();
        let inside = only.len() - beyond;
        if beyond > 0 {
            text += &format!("; no common data above {}: only {name} goes on", point(along, *last));
        }
        if inside > 0 {
            text += &format!("; {name} alone has {inside} more");
        }
    }
    text
}

/// A value along a curve: `4 KiB`, `8 threads`.
pub fn point(along: &str, value: f64) -> String {
    let text = words::at(along, &Param::Num(value));
    let (_, value) =
        text.rsplit_once(" of ").or_else(|| text.split_once(" at ")).unwrap_or(("", text.trim()));
    value.to_owned()
}

/// Medians of a side along a curve.
fn points<'a>(along: &str, members: &[Both<'a>], pick: Pick<'a>) -> Vec<(f64, f64)> {
    let value =
        |both: &Both<'a>| Some((number_along(&both.0.params, along)?, median(&pick(both).numbers())?));
    members.iter().filter_map(value).collect()
}

fn of_base<'a>(both: &Both<'a>) -> &'a Values {
    both.1
}

fn of_arm<'a>(both: &Both<'a>) -> &'a Values {
    both.2
}

/// The geometric mean over a curve and where its sign changes.
pub fn overall(base: &Side, arm: &Side, along: &str, members: &[Both<'_>]) -> Option<Overall> {
    let (key, _, _) = members.first()?;
    let (a, b) = (points(along, members, of_arm), points(along, members, of_base));
    let ratios: Vec<(f64, f64)> = a.iter().zip(&b).map(|(a, b)| (a.0, a.1 / b.1)).collect();
    let bare: Vec<f64> = ratios.iter().map(|(_, ratio)| *ratio).collect();
    if key.metric.scale() == Scale::Difference {
        return None;
    }
    let ratio = geometric_mean(&bare)?;
    let at = |keep: fn(f64) -> bool| -> Vec<f64> {
        ratios.iter().filter(|(_, ratio)| keep(*ratio)).map(|(at, _)| *at).collect()
    };
    let (higher, lower) = (at(|ratio| ratio > 1.0), at(|ratio| ratio < 1.0));
    let name = key.metric.name.replace('_', " ");
    let mut text = format!(
        "{name}{}: {} has {} times the value of {} (geometric mean of points, described only)",
        over(ratios.len(), along),
        arm.name,
        crate::quantity::significant(ratio, 3),
        base.name
    );
    let extreme = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    if let (Some(least), Some(most)) = (ratios.iter().min_by(extreme), ratios.iter().max_by(extreme)) {
        let told = |one: &(f64, f64)| format!("{} at {}", change(one.1), point(along, one.0));
        text += &format!(", from {} to {}", told(least), told(most));
    }
    if let Some((alike, worst)) = hidden(&ratios) {
        text += &format!(
            "; up to {} the two are within {} %, so that what is measured there alone does not show it",
            point(along, ratios[alike - 1].0),
            crate::quantity::significant((worst * 100.0 - 1e-6).ceil(), 1)
        );
    }
    if !higher.is_empty() && !lower.is_empty() {
        let (fewer, word) = if higher.len() <= lower.len() { (&higher, "higher") } else { (&lower, "lower") };
        let shown: Vec<String> = fewer.iter().take(8).map(|value| point(along, *value)).collect();
        let more = if fewer.len() > 8 { ", ..." } else { "" };
        text += &format!(
            "; the order changes along the curve: {word} at {}{more}, {} at the other {}",
            shown.join(", "),
            if word == "higher" { "lower" } else { "higher" },
            ratios.len() - fewer.len()
        );
    }
    Some(Overall {
        metric: key.metric.name.clone().into_owned(),
        params: shared(&key.params, along),
        along: along.to_owned(),
        ratio,
        higher,
        lower,
        text,
    })
}

/// A ratio as a change: `-0.4 %`, and where it is large as a factor: `x2.07`.
fn change(ratio: f64) -> String {
    match (0.5..2.0).contains(&ratio) {
        true => format!("{:+.1} %", (ratio - 1.0) * 100.0),
        false => format!("x{}", crate::quantity::significant(ratio, 3)),
    }
}

/// Points up to which a difference that is large further on does not show, and the largest difference there.
fn hidden(ratios: &[(f64, f64)]) -> Option<(usize, f64)> {
    let off = |ratio: &f64| ratio.ln().abs();
    let most = ratios.iter().map(|(_, ratio)| off(ratio)).fold(0.0, f64::max);
    let alike = ratios.iter().take_while(|(_, ratio)| off(ratio) < ALIKE).count();
    let worst = ratios.iter().take(alike).map(|(_, ratio)| (ratio - 1.0).abs()).fold(0.0, f64::max);
    (alike >= 3 && alike < ratios.len() && most > 4.0 * ALIKE).then_some((alike, worst))
}

/// Where a side's curve goes the wrong way.
pub fn inversions(base: &Side, arm: &Side, along: &str, members: &[Both<'_>]) -> Vec<Inversion> {
    let Some((key, _, _)) = members.first() else { return Vec::new() };
    let sides = [(base, points(along, members, of_base)), (arm, points(along, members, of_arm))];
    let mut found = Vec::new();
    for (side, points) in sides {
        for (from, to, ratio) in inverted(&key.metric, along, &points) {
            found.push(Inversion {
                arm: side.name.clone(),
                metric: key.metric.name.clone().into_owned(),
                params: shared(&key.params, along),
                along: along.to_owned(),
                from,
                to,
                ratio,
                text: inversion(&key.metric, along, from, to, ratio, &side.name),
            });
        }
    }
    found
}

/// A size at which a rate falls off.
pub struct Cliff {
    /// The last size before.
    pub before: f64,
    /// The size.
    pub at: f64,
    /// The rate there over the rate before.
    pub share: f64,
}

/// The cliffs of a curve of sizes, by its medians.
pub fn cliffs(metric: &Metric, along: &str, points: &[(f64, f64)]) -> Vec<Cliff> {
    if !along.ends_with("_bytes") {
        return Vec::new();
    }
    // What is moved in a second, whether the values are times or rates.
    let rate = |(size, value): &(f64, f64)| match metric.unit {
        Unit::Second => size / value,
        _ => *value,
    };
    let cliff = |pair: &[(f64, f64)]| {
        let share = rate(&pair[1]) / rate(&pair[0]);
        (pair[0].0 > 0.0 && share < CLIFF).then_some(Cliff { before: pair[0].0, at: pair[1].0, share })
    };
    points.windows(2).filter_map(cliff).collect()
}

/// The cliffs of a side by metric.
pub fn cliffs_of(along: &str, members: &[Both<'_>], of_the_arm: bool) -> Vec<(String, f64)> {
    let Some((key, _, _)) = members.first() else { return Vec::new() };
    let points = points(along, members, if of_the_arm { of_arm } else { of_base });
    let cliffs = cliffs(&key.metric, along, &points);
    cliffs.iter().map(|cliff| (key.metric.name.clone().into_owned(), cliff.at)).collect()
}

/// Cliffs, and numbers that rest on few repetitions.
pub fn remarks(base: &Side, arm: &Side, along: &str, members: &[Both<'_>]) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let Some((key, _, _)) = members.first() else { return caveats };
    // A table of times and rates has the same cliffs, and mostly the same repetitions, twice.
    let of_rates = |key: &Key| {
        let same = |other: &Key| other.metric.name == BANDWIDTH.name && other.params == key.params;
        base.values.iter().find(|(other, _)| same(other)).map(|(_, values)| values)
    };
    let times = key.metric.unit == Unit::Second;
    let rates: Vec<&Values> =
        members.iter().filter(|_| times).filter_map(|(key, _, _)| of_rates(key)).collect();
    let counted = rates.iter().any(|values| values.0.iter().any(|one| one.printed.contains_key("n")));
    let metric = key.metric.name.replace('_', " ");
    for (side, pick) in [(base, of_base as Pick<'_>), (arm, of_arm)] {
        let falls = cliffs(&key.metric, along, &points(along, members, pick));
        for cliff in falls.iter().filter(|_| rates.is_empty()) {
            let text = format!(
                "{metric} of {}: cliff at {}, where the rate falls to {:.0} % of that at {}: another limit or protocol \
                 sets in there (a shaper, burst credit, a switch of protocol)",
                side.name,
                point(along, cliff.at),
                cliff.share * 100.0,
                point(along, cliff.before)
            );
            caveats.push(Caveat::new(CaveatKind::RateStep, text));
        }
        let few = members.iter().filter_map(|both| {
            let printed = pick(both).0.iter().filter_map(|one| one.printed.get("n").copied());
            let least = printed.reduce(f64::min)?;
            Some((number_along(&both.0.params, along)?, least)).filter(|(_, least)| *least < FEW_REPETITIONS)
        });
        let few: Vec<(f64, f64)> = few.collect();
        if let Some((at, _)) = few.first().filter(|_| !counted) {
            let least = few.iter().map(|(_, n)| *n).fold(f64::INFINITY, f64::min);
            let text = match least > 1.0 {
                true => format!("the numbers rest on few repetitions, down to {least}"),
                false => "there is one repetition only: nothing tells noise from effect".to_owned(),
            };
            let text = format!("{metric} of {}: from {} on {text}", side.name, point(along, *at));
            caveats.push(Caveat::new(CaveatKind::Note, text));
        }
    }
    caveats
}

/// The parameter along a curve as a number.
pub fn number_along(params: &Params, along: &str) -> Option<f64> {
    params.get(along).and_then(number)
}
