//! Curves of two sides: where both have data, what they say as a whole, where they go the wrong way or fall off.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Side;
use super::observe::{Key, Values};
use crate::analysis::Inversion;
use crate::analysis::curves::{along, inversion, inverted, number, over, shared};
use crate::caveat::{Caveat, CaveatKind};
use crate::metric::{Better, Metric, Scale};
use crate::sample::{Param, Params};
use crate::stats::median;
use crate::stats::summary::geometric_mean;
use crate::unit::Unit;
use crate::verdict::words;

/// Fewer repetitions behind a number are pointed out.
const FEW_REPETITIONS: f64 = 100.0;
/// A size at which the rate falls below this share of the one before is a cliff.
const CLIFF: f64 = 0.5;

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
type Both<'a> = (&'a Key, &'a Values, &'a Values);

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

fn point(along: &str, value: f64) -> String {
    let text = words::at(along, &Param::Num(value));
    let (_, value) =
        text.rsplit_once(" of ").or_else(|| text.split_once(" at ")).unwrap_or(("", text.trim()));
    value.to_owned()
}

/// Medians of a side along a curve.
fn points<'a>(along: &str, members: &[Both<'a>], pick: fn(&Both<'a>) -> &'a Values) -> Vec<(f64, f64)> {
    let value = |both: &Both<'a>| Some((number(both.0.params.get(along)?)?, median(&pick(both).numbers())?));
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
        let told = |one: &(f64, f64)| {
            format!("{} at {}", crate::quantity::significant(one.1, 3), point(along, one.0))
        };
        text += &format!(", from {} to {}", told(least), told(most));
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

/// Cliffs, and numbers that rest on few repetitions.
pub fn remarks(base: &Side, arm: &Side, along: &str, members: &[Both<'_>]) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let Some((key, _, _)) = members.first() else { return caveats };
    let metric = key.metric.name.replace('_', " ");
    for (side, is_arm) in [(base, false), (arm, true)] {
        let pick = |both: &Both<'_>| -> Vec<Option<f64>> {
            let values = if is_arm { both.2 } else { both.1 };
            values.0.iter().map(|one| one.printed.get("n").copied()).collect()
        };
        let points = points(along, members, if is_arm { of_arm } else { of_base });
        // What is moved in a second, whether the values are times or rates.
        let rate = |(size, value): &(f64, f64)| match key.metric.unit {
            Unit::Second => size / value,
            _ => *value,
        };
        let falls = |pair: &&[(f64, f64)]| {
            pair[0].0 > 0.0 && along.ends_with("_bytes") && rate(&pair[1]) < CLIFF * rate(&pair[0])
        };
        for pair in points.windows(2).filter(falls) {
            let text = format!(
                "{metric} of {}: cliff at {}, where the rate falls to {:.0} % of that at {}: another limit or protocol \
                 sets in there (a shaper, burst credit, a switch of protocol)",
                side.name,
                point(along, pair[1].0),
                rate(&pair[1]) / rate(&pair[0]) * 100.0,
                point(along, pair[0].0)
            );
            caveats.push(Caveat::new(CaveatKind::RateStep, text));
        }
        let few = members.iter().filter_map(|both| {
            let least = pick(both).into_iter().flatten().reduce(f64::min)?;
            Some((number(both.0.params.get(along)?)?, least)).filter(|(_, least)| *least < FEW_REPETITIONS)
        });
        let few: Vec<(f64, f64)> = few.collect();
        if let Some((at, _)) = few.first() {
            let least = few.iter().map(|(_, n)| *n).fold(f64::INFINITY, f64::min);
            let text = format!(
                "{metric} of {}: from {} on the numbers rest on few repetitions, down to {least}",
                side.name,
                point(along, *at)
            );
            caveats.push(Caveat::new(CaveatKind::Note, text));
        }
    }
    caveats
}
