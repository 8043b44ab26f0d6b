//! Ranges and ticks that bear whatever was measured: nothing, one value, all values equal, zero on a log axis.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use tenbin_core::quantity::{Scale, significant};
use tenbin_core::unit::Unit;

/// An axis in the coordinates that are drawn: base units, or their logarithms.
#[derive(Clone)]
pub struct Axis {
    /// Left or lower end.
    pub lo: f64,
    /// Right or upper end; always above `lo`, both finite.
    pub hi: f64,
    /// Where lines and labels stand.
    pub ticks: Vec<(f64, String)>,
    /// The unit in the scale of the labels: `Gbit/s`.
    pub symbol: String,
    /// Whether positions are logarithms.
    pub log: bool,
}

impl Axis {
    /// From zero, so that lengths tell the truth.
    pub fn from_zero(values: impl Iterator<Item = f64>, unit: Unit, ticks: usize) -> Axis {
        let (_, hi) = extent(values).unwrap_or((0.0, 1.0));
        let hi = if hi > 0.0 { hi * 1.06 } else { 1.0 };
        Axis::linear(0.0, hi, unit, ticks)
    }

    /// Just around the values.
    pub fn around(values: impl Iterator<Item = f64>, unit: Unit, ticks: usize) -> Axis {
        let (lo, hi) = extent(values).unwrap_or((0.0, 1.0));
        let pad = match hi - lo {
            // What differs in the tenth digit only is drawn as equal: no label could tell it apart.
            span if span > hi.abs().max(lo.abs()) * 1e-9 => span * 0.12,
            _ if hi != 0.0 => hi.abs() * 0.05,
            _ => 1.0,
        };
        Axis::linear(lo - pad, hi + pad, unit, ticks)
    }

    fn linear(lo: f64, hi: f64, unit: Unit, ticks: usize) -> Axis {
        let scale = Scale::of(lo.abs().max(hi.abs()), unit);
        let step = nice_step((hi - lo) / scale.factor, ticks);
        let first = (lo / scale.factor / step).ceil();
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        // A step of 2.5 takes a decimal more than its magnitude says.
        let decimals = if step.log10().floor() >= 0.0 && step.fract() != 0.0 { 1 } else { decimals };
        let count = ((hi / scale.factor / step - first).floor().max(0.0) as usize).min(50);
        let ticks = (0..=count)
            .map(|i| {
                let at = (first + i as f64) * step;
                // Minus zero is no number people write.
                let at = if at == 0.0 { 0.0 } else { at };
                (at * scale.factor, format!("{at:.decimals$}"))
            })
            .collect();
        Axis { lo, hi, ticks, symbol: pretty(scale.symbol), log: false }
    }

    /// Logarithmic around positive values, whose unit is `unit`; `None` where there are none.
    pub fn log(values: impl Iterator<Item = f64>, unit: Unit, ticks: usize) -> Option<Axis> {
        let (lo, hi) = extent(values.filter(|value| *value > 0.0))?;
        let (lo, hi) = (sane(lo).ln(), sane(hi).ln());
        let pad = ((hi - lo) * 0.06).max(0.02);
        let (lo, hi) = (lo - pad, hi + pad);
        // The middle of the axis gets the handy numbers.
        let scale = Scale::of(((lo + hi) / 2.0).exp(), unit);
        let ticks = log_ticks(lo.exp() / scale.factor, hi.exp() / scale.factor, ticks)
            .into_iter()
            .map(|at| ((at * scale.factor).ln(), plain(at)))
            .collect();
        Some(Axis { lo, hi, ticks, symbol: pretty(scale.symbol), log: true })
    }

    /// Logarithmic for ratios, with 1 and both ends of the margin zone in sight.
    pub fn ratio(values: impl Iterator<Item = f64>, margin: f64, ticks: usize) -> Axis {
        let zone = (1.0 + margin.max(0.001)).ln() * 1.6;
        let (lo, hi) = extent(values.filter(|value| *value > 0.0)).unwrap_or((1.0, 1.0));
        let (lo, hi) = (sane(lo).ln().min(-zone), sane(hi).ln().max(zone));
        let pad = (hi - lo) * 0.06;
        let (lo, hi) = (lo - pad, hi + pad);
        let mut at = log_ticks(lo.exp(), hi.exp(), ticks);
        if !at.contains(&1.0) {
            // The tick nearest to 1 makes room for it.
            let near = (hi - lo) / (2 * ticks.max(1)) as f64;
            at.retain(|tick| tick.ln().abs() > near);
            at.push(1.0);
        }
        let ticks = at.into_iter().map(|at| (at.ln(), plain(at))).collect();
        Axis { lo, hi, ticks, symbol: String::new(), log: true }
    }

    /// A value's position.
    pub fn position(&self, value: f64) -> Option<f64> {
        let at = if self.log { (value > 0.0).then(|| value.ln())? } else { value };
        at.is_finite().then_some(at)
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = (value - self.lo) / (self.hi - self.lo);
        // Far outside is as good as just outside, and fits the integers.
        let part = part.clamp(-2.0, 3.0);
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points are drawn besides the bold ones; there are none.
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.iter().map(|(at, _)| *at).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.lo..self.hi
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        let nearest = self.ticks.iter().min_by(|a, b| (a.0 - value).abs().total_cmp(&(b.0 - value).abs()));
        nearest.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Smallest and largest of the finite values.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((lo, hi)) => Some((lo.min(value), hi.max(value))),
    })
}

/// Within what logarithms, their padding and their way back can bear.
fn sane(value: f64) -> f64 {
    value.clamp(1e-150, 1e150)
}

/// 1, 2 or 5 times a power of ten, about `ticks` of which fill `span`.
fn nice_step(span: f64, ticks: usize) -> f64 {
    let rough = span / ticks.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
    factor * power
}

/// Round values between `lo` and `hi`, all positive, evenly enough on a log axis.
fn log_ticks(lo: f64, hi: f64, ticks: usize) -> Vec<f64> {
    if !(lo > 0.0 && hi.is_finite() && hi > lo) {
        return Vec::new();
    }
    // Within a factor of three, round differences look even; beyond it, round factors do.
    if hi / lo < 3.0 {
        let step = nice_step(hi - lo, ticks);
        let first = (lo / step).ceil();
        let count = ((hi / step - first).floor().max(0.0) as usize).min(50);
        return (0..=count).map(|i| round_to((first + i as f64) * step, step)).collect();
    }
    let decades = hi.log10() - lo.log10();
    let factors: &[f64] = match decades / ticks.max(1) as f64 {
        dense if dense <= 0.34 => &[1.0, 2.0, 5.0],
        dense if dense <= 0.5 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = (decades / ticks.max(1) as f64).ceil().max(1.0) as i32;
    let (from, to) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
    (from..=to)
        .filter(|power| power % every == 0)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|at| (lo..=hi).contains(at))
        .collect()
}

/// `value` without the dust of adding steps.
fn round_to(value: f64, step: f64) -> f64 {
    let digits = (-step.log10().floor() + 1.0).clamp(0.0, 12.0) as i32;
    let power = 10f64.powi(digits);
    (value * power).round() / power
}

fn plain(value: f64) -> String {
    let text = significant(value, 6);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `us` as people print it.
pub fn pretty(symbol: &str) -> String {
    match symbol {
        "us" => "µs".to_owned(),
        "us/B" => "µs/B".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_values_give_an_axis() {
        let check = |values: &[f64]| {
            for axis in [
                Axis::from_zero(values.iter().copied(), Unit::Second, 5),
                Axis::around(values.iter().copied(), Unit::BitPerSecond, 5),
                Axis::ratio(values.iter().copied(), 0.02, 5),
            ]
            .into_iter()
            .chain(Axis::log(values.iter().copied(), Unit::Second, 5))
            {
                assert!(axis.lo.is_finite() && axis.hi.is_finite() && axis.lo < axis.hi, "{values:?}");
                assert!(axis.ticks.len() <= 51, "{values:?}: {} ticks", axis.ticks.len());
                assert!(axis.ticks.iter().all(|(at, _)| at.is_finite()), "{values:?}");
            }
        };
        check(&[]);
        check(&[0.0]);
        check(&[3.0, 3.0]);
        check(&[-1.0, 0.0]);
        check(&[f64::NAN, f64::INFINITY, 2.0]);
        check(&[1e-300, 1e300]);
        check(&[1e9, 1e9 + 1e-7]);
    }

    #[test]
    fn ticks_are_round() {
        let check = |axis: Axis, expected: &[&str]| {
            let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
            assert_eq!(labels, expected);
        };
        check(Axis::from_zero([24.8e9].into_iter(), Unit::BitPerSecond, 5), &["0", "10", "20"]);
        check(Axis::ratio([1.87, 1.93].into_iter(), 0.02, 7), &["1", "1.2", "1.4", "1.6", "1.8", "2"]);
        check(Axis::ratio([0.99, 1.01].into_iter(), 0.02, 5), &["0.98", "1", "1.02"]);
    }
}
