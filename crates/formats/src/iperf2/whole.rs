//! The series of a test once all of them are there: which stream is the whole, which way is told, which figure counts.

use tenbin_core::metric::{RTT, THROUGHPUT, TRANSACTION_RATE};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Series};

/// Names the series by what the whole test has: a lone stream needs no number, two ways need both names.
pub fn tidy(run: &mut Run) {
    lone_streams(run);
    both_ways(run);
    headline(run);
}

fn without(params: &Params, keys: &[&str]) -> Params {
    params
        .iter()
        .filter(|(key, _)| !keys.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// A lone stream is the whole: it carries no `stream`, and the sum that repeats it is left out.
fn lone_streams(run: &mut Run) {
    let places: Vec<Params> =
        run.series.iter().map(|series| without(&series.params, &["stream", "window"])).collect();
    let mut seen: Vec<(Params, Vec<Param>, bool)> = Vec::new();
    for (series, place) in run.series.iter().zip(&places) {
        let at = seen.iter().position(|(known, ..)| known == place).unwrap_or_else(|| {
            seen.push((place.clone(), Vec::new(), false));
            seen.len() - 1
        });
        if let Some((_, numbers, sum)) = seen.get_mut(at) {
            match series.params.get("stream") {
                Some(number) if !numbers.contains(number) => numbers.push(number.clone()),
                Some(_) => {}
                None => *sum = true,
            }
        }
    }
    let same = |place: &Params| {
        let last = |stream: bool| {
            let mut found = run.series.iter().zip(&places).filter(|(series, known)| {
                *known == place
                    && series.metric == THROUGHPUT
                    && series.params.contains_key("stream") == stream
            });
            found.next_back().and_then(|(series, _)| series.samples.last()).map(|sample| sample.value)
        };
        matches!((last(true), last(false)), (Some(one), Some(all)) if (one - all).abs() <= all * 1e-3)
    };
    let lone: Vec<&Params> = seen
        .iter()
        .filter(|(place, numbers, sum)| numbers.len() == 1 && (!sum || same(place)))
        .map(|(place, ..)| place)
        .collect();
    let is_lone = |series: &Series| lone.contains(&&without(&series.params, &["stream", "window"]));
    let mut kept = Vec::with_capacity(run.series.len());
    for series in &run.series {
        let stream = series.params.contains_key("stream");
        if is_lone(series) && !stream {
            // What only the sum has, such as the datagrams sent.
            let told = run.series.iter().any(|other| {
                other.metric == series.metric
                    && other.params.contains_key("stream")
                    && without(&other.params, &["stream"]) == series.params
            });
            if told {
                continue;
            }
        }
        let mut series = series.clone();
        if is_lone(&series) {
            series.params.remove("stream");
        }
        kept.push(series);
    }
    run.series = kept;
}

/// Where one direction is told, both are; a sum over both directions belongs to neither.
fn both_ways(run: &mut Run) {
    let reverse = |series: &Series| series.params.contains_key("direction");
    if !run.series.iter().any(reverse) || run.series.iter().all(reverse) {
        return;
    }
    for series in &mut run.series {
        series.params.entry("direction".into()).or_insert_with(|| "forward".into());
    }
}

/// What arrived counts, else what was sent; of several streams their sum, if it is told.
pub(crate) fn headline(run: &mut Run) {
    if run.series.iter().any(|series| series.metric == TRANSACTION_RATE) {
        for series in &mut run.series {
            if series.metric == RTT && series.params.contains_key("window") {
                series.headline = Some(Reduce::Median);
            }
        }
        return;
    }
    let told: Vec<Params> = run
        .series
        .iter()
        .filter(|series| series.metric == THROUGHPUT && series.params.contains_key("window"))
        .map(|series| series.params.clone())
        .collect();
    let receives = |params: &Params| params.get("side") == Some(&"receiver".into());
    let best = |params: &Params| {
        let way = |other: &&Params| other.get("direction") == params.get("direction");
        let arrived = told.iter().filter(way).any(receives);
        let summed = told
            .iter()
            .filter(way)
            .any(|other| receives(other) == receives(params) && !other.contains_key("stream"));
        (!arrived || receives(params)) && (!summed || !params.contains_key("stream"))
    };
    for series in &mut run.series {
        if series.metric == THROUGHPUT && told.contains(&series.params) && best(&series.params) {
            series.headline = Some(Reduce::Total);
        }
    }
}
