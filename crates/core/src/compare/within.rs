//! Means against each other where runs are few: what holds for these runs, and for no others.

use serde::{Deserialize, Serialize};

use super::observe::{Key, Observed, Values};
use crate::metric;
use crate::quantity::{Scale, significant};
use crate::stats::summary::without_max;
use crate::stats::welch::{Moments, Welch};
use crate::verdict::LEVEL;
use crate::verdict::words::alike;

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
    carried: bool,
    biased: bool,
    samples: bool,
}

/// The means of both sides: over runs where each has several, else within the only run.
pub fn within(
    key: &Key,
    at: &str,
    (base_name, base): (&str, &Values),
    (arm_name, arm): (&str, &Values),
) -> Option<Within> {
    let what = format!("{}{at}", key.metric.name.replace('_', " "));
    if key.metric.scale() == metric::Scale::Difference {
        return None;
    }
    if base.0.len() > 1 && arm.0.len() > 1 {
        let (of_base, of_arm) = (Moments::of(&base.numbers())?, Moments::of(&arm.numbers())?);
        let found = Welch::new(of_arm, of_base)?;
        let told = told(&found, of_base.mean);
        let ratio = of_arm.mean / of_base.mean;
        let text = format!(
            "{what} by means: {} (Welch 95 % {}, p = {})",
            signed(ratio),
            told.range,
            chance(found.p)
        );
        return Some(Within { text, ..told.within(ratio, &found, true) });
    }
    let ([base], [arm]) = (base.0.as_slice(), arm.0.as_slice()) else { return None };
    let (of_base, of_arm) = (Spread::of(base)?, Spread::of(arm)?);
    for (name, spread) in [(base_name, &of_base), (arm_name, &of_arm)] {
        if spread.carried {
            let means = means(key, &of_base, &of_arm);
            let ratio = of_arm.moments.mean / of_base.moments.mean;
            let text = format!(
                "{what}: within these runs the means are {means} ({}), but one value carries the printed \
                 deviation of {name}: a robust statistic is needed and per-packet data is missing",
                signed(ratio)
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
        if let Some(moments) = one.samples {
            return Some(Spread { moments, carried: false, biased: false, samples: true });
        }
        let figure = |name: &str| one.printed.get(name).copied();
        let (n, mean, sd) = (figure("n")? as usize, figure("mean")?, figure("sd")?);
        if n < 2 || !(mean.is_finite() && sd.is_finite() && sd >= 0.0) {
            return None;
        }
        // ping's deviation divides by n.
        let moments = Moments { n, mean, sd: sd * (n as f64 / (n - 1) as f64).sqrt() };
        let rest = figure("max").and_then(|max| without_max(n, mean, max, sd));
        let carried = rest.is_some_and(|(_, rest)| rest < CARRIED * sd);
        Some(Spread { moments, carried, biased: one.biased, samples: false })
    }
}

/// `255 and 173 us`: three digits, which is what most tools print.
fn means(key: &Key, base: &Spread, arm: &Spread) -> String {
    let of = [base.moments.mean, arm.moments.mean];
    let scale = Scale::of(of[0].max(of[1]), key.metric.unit);
    let [base, arm] = of.map(|mean| significant(mean / scale.factor, 3));
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

fn signed(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn chance(p: f64) -> String {
    if p < 0.001 { format!("{p:.0e}") } else { format!("{p:.3}") }
}
