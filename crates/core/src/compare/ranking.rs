//! More than two sides along a curve: who is best where, and at which points the order is another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Side;
use super::curves::{cliffs, number_along, point};
use super::observe::{Key, Values};
use crate::analysis::curves::{along, shared};
use crate::metric::Better;
use crate::quantity::{Scale, significant};
use crate::sample::Params;

/// Points that are listed one by one.
const LISTED: usize = 8;

/// The order of all sides over a stretch of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// What was measured.
    pub metric: String,
    /// The parameters that all points share.
    pub params: Params,
    /// The parameter along the curve.
    pub along: String,
    /// Its values.
    pub values: Vec<f64>,
    /// The order at most of them, the best first.
    pub order: Vec<String>,
    /// Where it is another.
    pub exceptions: Vec<Exception>,
    /// A sentence.
    pub text: String,
}

/// Two sides whose order is turned round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exception {
    /// The one that is better here.
    pub better: String,
    /// The one that is better elsewhere.
    pub worse: String,
    /// Where.
    pub at: Vec<f64>,
}

/// A point of a curve with the value of each side.
type Point = (f64, Vec<f64>);

/// The order of more than two sides along their curves, up to the first cliff of any and from there on.
pub fn rankings(all: &[&Side]) -> Vec<Ranking> {
    let names: Vec<&str> = all.iter().map(|side| side.name.as_str()).collect();
    let sides: Vec<&BTreeMap<Key, Values>> = all.iter().map(|side| &side.values).collect();
    let [first, rest @ ..] = sides.as_slice() else { return Vec::new() };
    if rest.len() < 2 {
        return Vec::new();
    }
    let all: Vec<&Key> = first
        .keys()
        .filter(|key| key.metric.better != Better::Neither && rest.iter().all(|side| side.contains_key(key)))
        .collect();
    let series: Vec<(&str, &Params)> =
        all.iter().map(|key| (key.metric.name.as_ref(), &key.params)).collect();
    let mut found = Vec::new();
    for curve in along(&series) {
        let keys: Vec<&Key> = curve.members.iter().map(|index| all[*index]).collect();
        let point = |key: &&Key| -> Option<Point> {
            let values = sides.iter().map(|side| Some(side.get(key)?.level().median));
            Some((number_along(&key.params, &curve.name)?, values.collect::<Option<_>>()?))
        };
        let points: Vec<Point> = keys.iter().filter_map(point).collect();
        let Some(key) = keys.first() else { continue };
        let of_side = |side: usize| points.iter().map(|(at, values)| (*at, values[side])).collect::<Vec<_>>();
        let fall = (0..sides.len())
            .filter_map(|side| Some(cliffs(&key.metric, &curve.name, &of_side(side)).first()?.at))
            .reduce(f64::min);
        let split = points.partition_point(|(at, _)| fall.is_none_or(|fall| *at < fall));
        let (before, behind) = points.split_at(split);
        let told = |part: &[Point], falls: bool| {
            let stretch = match (fall.map(|fall| self::point(&curve.name, fall)), falls) {
                (None, _) => String::new(),
                (Some(fall), false) => format!(" below {fall}, where the first of them falls off"),
                (Some(fall), true) => format!(" from {fall} on"),
            };
            ranking(&names, key, &curve.name, part, &stretch)
        };
        found.extend(told(before, false));
        found.extend(told(behind, true));
    }
    found
}

fn ranking(names: &[&str], key: &Key, along: &str, points: &[Point], stretch: &str) -> Option<Ranking> {
    let better = |a: f64, b: f64| match key.metric.better {
        Better::Higher => a > b,
        _ => a < b,
    };
    let order_at = |(_, values): &Point| -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        if key.metric.better == Better::Higher {
            order.reverse();
        }
        order
    };
    // The commonest order; of equally common ones the first.
    let mut counts: Vec<(Vec<usize>, usize)> = Vec::new();
    for order in points.iter().map(order_at) {
        match counts.iter_mut().find(|(other, _)| *other == order) {
            Some((_, count)) => *count += 1,
            None => counts.push((order, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let order = counts.into_iter().find(|(_, count)| *count == most)?.0;
    let mut exceptions = Vec::new();
    let mut told = Vec::new();
    for (place, best) in order.iter().enumerate() {
        for worse in &order[place + 1..] {
            let turned: Vec<&Point> =
                points.iter().filter(|(_, values)| better(values[*worse], values[*best])).collect();
            if turned.is_empty() {
                continue;
            }
            let each = turned.iter().take(LISTED).map(|(at, values)| {
                let scale = Scale::of(values[*best].max(values[*worse]), key.metric.unit);
                let [a, b] =
                    [values[*worse], values[*best]].map(|value| significant(value / scale.factor, 4));
                format!("{} ({a} against {b} {})", point(along, *at), scale.symbol)
            });
            let each: Vec<String> = each.collect();
            let more = if turned.len() > LISTED { ", ..." } else { "" };
            told.push(format!("{} before {} at {}{more}", names[*worse], names[*best], each.join(", ")));
            let at = turned.iter().map(|(at, _)| *at).collect();
            exceptions.push(Exception {
                better: names[*worse].to_owned(),
                worse: names[*best].to_owned(),
                at,
            });
        }
    }
    let order: Vec<String> = order.iter().map(|side| names[*side].to_owned()).collect();
    let metric = key.metric.name.clone().into_owned();
    let mut text = format!("{}{stretch}, best first: {}", metric.replace('_', " "), order.join(", "));
    match told.is_empty() {
        true if points.len() > 1 => text += &format!(", at all {} points", points.len()),
        true => {}
        false => text += &format!("; but {}", told.join("; ")),
    }
    let values = points.iter().map(|(at, _)| *at).collect();
    Some(Ranking {
        metric,
        params: shared(&key.params, along),
        along: along.to_owned(),
        values,
        order,
        exceptions,
        text,
    })
}
