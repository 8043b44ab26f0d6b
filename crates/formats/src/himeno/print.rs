//! The text of the static C program, with the score that belongs to the rate.

use std::fmt::{self, Write};

use tenbin_core::env::FactValue;
use tenbin_core::metric::{DURATION, FLOP_RATE, Metric, RESIDUAL, SCORE};
use tenbin_core::run::Run;
use tenbin_core::sample::Series;

use super::{PENTIUM_III, grid};

/// A whole run. What a run does not keep is left out.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let series = |metric: &Metric| run.series.iter().find(|series| series.metric.name == metric.name);
    let last = |metric: &Metric| series(metric)?.values().last().copied();
    let Some(rate) = series(&FLOP_RATE).and_then(Series::headline_value).or_else(|| last(&FLOP_RATE)) else {
        return Ok(());
    };
    let name = series(&FLOP_RATE).and_then(|series| series.params.get("grid")).map(ToString::to_string);
    let arrays = triple(run, "himeno.arrays");
    let points = triple(run, "himeno.points").or_else(|| name.as_deref().and_then(grid::of_name));
    if let Some([i, j, k]) = arrays.or_else(|| points.map(|points| points.map(|n| n + 1))) {
        writeln!(out, "mimax = {i} mjmax = {j} mkmax = {k}")?;
    }
    if let Some([i, j, k]) = points {
        writeln!(out, "imax = {i} jmax = {j} kmax ={k}")?;
    }
    let fact = |key: &str| run.facts.get(key).and_then(|fact| fact.value.as_ref());
    if let Some(FactValue::Num(rehearsal)) = fact("himeno.rehearsal") {
        writeln!(out, " Start rehearsal measurement process.")?;
        writeln!(out, " MFLOPS: {:.6}\n", rehearsal / 1e6)?;
        writeln!(out, " Now, start the actual measurement process.")?;
    }
    if let Some(FactValue::Int(loops)) = fact("himeno.loops") {
        writeln!(out, " Loop executed for {loops} times")?;
    }
    if let Some(residual) = last(&RESIDUAL) {
        writeln!(out, " Gosa : {} ", exponential(residual))?;
    }
    write!(out, " MFLOPS measured : {:.6}", rate / 1e6)?;
    if let Some(seconds) = last(&DURATION) {
        write!(out, "\tcpu : {seconds:.6}")?;
    }
    writeln!(out)?;
    let other = matches!(fact("himeno.reference"), Some(FactValue::Text(name)) if name.starts_with("MMX"));
    match last(&SCORE) {
        Some(score) if other => writeln!(out, " Score based on MMX Pentium 200MHz : {score:.6}"),
        _ => writeln!(out, " Score based on Pentium III 600MHz : {:.6}", rate / 1e6 / PENTIUM_III),
    }
}

/// Three numbers of a fact: `65x65x129`.
fn triple(run: &Run, key: &str) -> Option<[i64; 3]> {
    let Some(FactValue::Text(text)) = run.facts.get(key)?.value.as_ref() else { return None };
    let numbers: Vec<i64> = text.split('x').filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().ok()
}

/// C's `%e`: six decimals, two digits of exponent at least.
fn exponential(value: f64) -> String {
    let text = format!("{value:.6e}");
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
    format!("{number}e{sign}{digits:0>2}")
}
