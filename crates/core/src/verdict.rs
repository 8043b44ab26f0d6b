//! Verdicts.

use serde::{Deserialize, Serialize};

/// The nine words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin.
    Faster,
    /// Worse by more than the margin.
    Slower,
    /// Better; by how much in terms of the margin is open.
    FasterSizeUncertain,
    /// Worse; by how much in terms of the margin is open.
    SlowerSizeUncertain,
    /// The same within the margin.
    NoDifference,
    /// Different, but by less than the margin.
    DifferentButNegligible,
    /// The data do not tell.
    CantTell,
    /// Too few blocks for any interval.
    NeedMoreBlocks,
    /// One run each, or too few alternations.
    DescriptionOnly,
}

/// A verdict with the figures behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Arm over base.
    pub ratio: f64,
    /// Lower end of the interval.
    pub lo: Option<f64>,
    /// Upper end of the interval.
    pub hi: Option<f64>,
    /// Confidence of the interval.
    pub level: f64,
    /// Pairs of runs.
    pub n: usize,
    /// Exact sign-flip p.
    pub p: Option<f64>,
    /// The margin as a share.
    pub margin: f64,
    /// The word.
    pub verdict: Verdict,
    /// About how many more blocks would decide.
    pub more_blocks: Option<u32>,
    /// The smallest difference visible with this many blocks, as a share.
    pub mde: Option<f64>,
}
