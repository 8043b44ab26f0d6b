//! Means against each other where runs are few: what holds for these runs, and for no others.

use serde::{Deserialize, Serialize};

use super::observe::{Key, Observed, Values};
use crate::metric;
use crate::quantity::{Scale, human, significant};
use crate::stats::summary::without_max;
use crate::stats::welch::{Moments, Welch};
use crate::verdict::words::alike;
use crate::verdict::{Decision, LEVEL};

/// A printed deviation of which one value makes more than half is no deviation of the others.
const CARRIED: f64 = 0.5;

/// Two means, of runs or of samples within one run each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Within {
    /// Arm over base, by means.
    pub ratio: f64,
    /// Lower end of the 95 % Welch interval of that, base taken as known.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// Welch's t.
    pub t: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Its two-sided chance.
    pub p: Option<f64>,
    /// Whether it is about runs; otherwise about samples within one run each.
    pub of_runs: bool,
    /// A sentence.
    pub text: String,
}

/// Where a mean with its spread comes from.
struct Spread {
    moments: Moments,
    /// The one value that makes most of the deviation, and the mean without it.
    carried: Option<(f64, f64)>,
    biased: bool,
    samples: bool,
}

/// The means of both sides: over runs where each has several, else within the only run.
pub fn within(
    key: &Key,
    at: &str,
    (base_name, base): (&str, &Values),
    (arm_name, arm): (&str, &Values),
    unpaired: Option<&Decision>,
) -> Option<Within> {
    let what = format!("{}{at}", key.metric.name.replace('_', " "));
    if key.metric.scale() == metric::Scale::Difference {
        return None;
    }
    if let ([base], [arm]) = (base.0.as_slice(), arm.0.as_slice())
        && let Some(within) = ranges(key, &what, base, arm)
    {
        return Some(within);
    }
    if base.0.len() > 1 && arm.0.len() > 1 {
        let (of_base, of_arm) = (Moments::of(&base.numbers())?, Moments::of(&arm.numbers())?);
        let found = Welch::new(of_arm, of_base)?;
        let told = told(&found, of_base.mean);
        let ratio = of_arm.mean / of_base.mean;
        let text = format!(
            "{what} by means: {} (Welch 95 % {}, p = {}){}",
            signed(ratio),
            told.range,
            chance(found.p),
            unpaired.map(|decision| by_ranks(found.p, decision)).unwrap_or_default()
        );
        return Some(Within { text, ..told.within(ratio, &found, true) });
    }
    let ([base], [arm]) = (base.0.as_slice(), arm.0.as_slice()) else { return None };
    let (of_base, of_arm) = (Spread::of(base)?, Spread::of(arm)?);
    for (name, spread) in [(base_name, &of_base), (arm_name, &of_arm)] {
        if let Some((max, rest)) = spread.carried {
            let means = means(key, &of_base, &of_arm);
            let ratio = of_arm.moments.mean / of_base.moments.mean;
            let text = format!(
                "{what}: within these runs the means are {means} ({}), but one value, {}, carries the printed deviation \
                 of {name} (without it the mean is about {}): a robust statistic is needed and per-packet data is \
                 missing",
                signed(ratio),
                human(max, key.metric.unit, 3),
                human(rest, key.metric.unit, 3)
            );
            return Some(Within {
                ratio,
                lo: None,
                hi: None,
                t: None,
                df: None,
                p: None,
                of_runs: false,
                text,
            });
        }
    }
    let found = Welch::new(of_arm.moments, of_base.moments)?;
    let told = told(&found, of_base.moments.mean);
    let ratio = of_arm.moments.mean / of_base.moments.mean;
    let means = means(key, &of_base, &of_arm);
    let biased = match of_base.biased || of_arm.biased {
        true => "; a printed deviation is biased upwards, so that this interval is too wide",
        false => "",
    };
    let of = if of_base.samples && of_arm.samples { "samples" } else { "printed figures" };
    let text = format!(
        "{what}: within these two runs the means are {means}: {} (Welch 95 % {} over {of}, t = {:.1}, df = {:.1}), \
         which takes samples for independent, as they hardly are{biased}",
        signed(ratio),
        told.range,
        found.t,
        found.df
    );
    Some(Within { text, ..told.within(ratio, &found, false) })
}

impl Spread {
    /// From the samples where there are some, else from what was printed.
    fn of(one: &Observed) -> Option<Spread> {
        if let Some(moments) = one.spread {
            return Some(Spread { moments, carried: None, biased: false, samples: true });
        }
        let figure = |name: &str| one.printed.get(name).copied();
        let (n, mean, sd) = (figure("n")? as usize, figure("mean")?, figure("sd")?);
        if n < 2 || !(mean.is_finite() && sd.is_finite() && sd >= 0.0) {
            return None;
        }
        // ping's deviation divides by n.
        let moments = Moments { n, mean, sd: sd * (n as f64 / (n - 1) as f64).sqrt() };
        let carried = figure("max").and_then(|max| {
            let (mean, rest) = without_max(n, mean, max, sd)?;
            (rest < CARRIED * sd).then_some((max, mean))
        });
        Some(Spread { moments, carried, biased: one.biased, samples: false })
    }
}

/// Two ranges of which nothing else is known: all that the quotient of a value of each may be.
fn ranges(key: &Key, what: &str, base: &Observed, arm: &Observed) -> Option<Within> {
    let range = |one: &Observed| {
        let known = ["mean", "median", "sd"].iter().any(|name| one.printed.contains_key(*name));
        let (min, max) = (*one.printed.get("min")?, *one.printed.get("max")?);
        (!known && one.spread.is_none() && 0.0 < min && min <= max).then_some((min, max))
    };
    let ((base_min, base_max), (arm_min, arm_max)) = (range(base)?, range(arm)?);
    let (lo, hi) = (arm_min / base_max, arm_max / base_min);
    let ratio = (arm_min + arm_max) / (base_min + base_max);
    let scale = Scale::of(base_max.max(arm_max), key.metric.unit);
    let shown = |min: f64, max: f64| {
        let [min, max] = [min, max].map(|value| significant(value / scale.factor, 3));
        format!("{min} to {max}")
    };
    let text = format!(
        "{what}: by the ranges given, {} against {} {}, {} to {}; no repeats are known",
        shown(arm_min, arm_max),
        shown(base_min, base_max),
        scale.symbol,
        signed(lo),
        signed(hi)
    );
    Some(Within { ratio, lo: Some(lo), hi: Some(hi), t: None, df: None, p: None, of_runs: false, text })
}

/// `255 and 173 us`: three digits, which is what most tools print.
fn means(key: &Key, base: &Spread, arm: &Spread) -> String {
    let of = [base.moments.mean, arm.moments.mean];
    let scale = Scale::of(of[0].max(of[1]), key.metric.unit);
    let [base, arm] = [base, arm].map(|one| {
        let mean = significant(one.moments.mean / scale.factor, 3);
        match one.samples {
            true => format!("{mean} (sd {})", significant(one.moments.sd / scale.factor, 2)),
            false => mean,
        }
    });
    format!("{base} and {arm} {}", scale.symbol).trim_end().to_owned()
}

struct Told {
    range: String,
    lo: f64,
    hi: f64,
}

fn told(found: &Welch, base: f64) -> Told {
    let interval = found.interval(LEVEL);
    let (a, b) = (1.0 + interval.lo / base, 1.0 + interval.hi / base);
    let (lo, hi) = (a.min(b), a.max(b));
    let [low, high] = alike([lo, hi].map(|ratio| (ratio - 1.0) * 100.0), true);
    Told { range: format!("{low} to {high} %"), lo, hi }
}

impl Told {
    fn within(&self, ratio: f64, found: &Welch, of_runs: bool) -> Within {
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        Within {
            ratio,
            lo: finite(self.lo),
            hi: finite(self.hi),
            t: Some(found.t),
            df: Some(found.df),
            p: Some(found.p),
            of_runs,
            text: String::new(),
        }
    }
}

/// What ranks say beside the means of runs that are not paired, and what is left of both among other comparisons.
fn by_ranks(welch: f64, decision: &Decision) -> String {
    let alone = decision.family.map(|family| family.p_alone).or(decision.p);
    let Some(alone) = alone else { return String::new() };
    let limit = 1.0 - LEVEL;
    let mut text = format!("; by ranks (Mann-Whitney) p = {}", chance(alone));
    if (alone <= limit) != (welch <= limit) {
        text += ", on the other side of 0.05: a borderline case";
    }
    if let (Some(family), Some(left)) = (decision.family, decision.p) {
        let means = (welch * family.questions as f64).min(1.0);
        text += &format!(
            "; one of {} comparisons: p = {} by ranks (Holm), {} by means (Bonferroni)",
            family.questions,
            chance(left),
            chance(means)
        );
    }
    text
}

fn signed(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn chance(p: f64) -> String {
    if p < 0.001 { format!("{p:.0e}") } else { format!("{p:.3}") }
}
