//! What a program said, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{DURATION, FLOP_RATE, RESIDUAL, SCORE};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce};
use tenbin_core::unit::Unit;

use super::{PENTIUM_III, PENTIUM_III_WITH_COMMA, grid};
use crate::sheet::Sheet;

const FLOP_PER_MFLOP: f64 = 1e6;

/// The machine that scores 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// Since 2002.
    PentiumIii,
    /// The MMX Pentium of 1998.
    Other,
}

/// One run of a program.
#[derive(Default)]
pub struct Reading {
    pub arrays: Option<[i64; 3]>,
    pub points: Option<[i64; 3]>,
    pub parts: Option<[i64; 3]>,
    /// What follows is the size of one process's part.
    pub parted: bool,
    pub ranks: Option<i64>,
    pub rehearsing: bool,
    pub rehearsal: Option<f64>,
    pub loops: Option<i64>,
    pub residual: Option<f64>,
    pub mflops: Option<f64>,
    pub seconds: Option<f64>,
    pub score: Option<(f64, Reference)>,
    /// The Phoronix Test Suite: single trials and what it makes of them.
    pub suite: bool,
    pub trials: Vec<f64>,
    pub average: Option<f64>,
    pub test: Option<String>,
    /// Why there is no result.
    pub said: Option<String>,
}

impl Reading {
    /// Whether anything was read.
    pub fn begun(&self) -> bool {
        self.arrays.is_some()
            || self.rehearsing
            || self.mflops.is_some()
            || self.ranks.is_some()
            || !self.trials.is_empty()
            || self.average.is_some()
    }

    /// Whether the rehearsal is over.
    pub fn rehearsed(&self) -> bool {
        self.rehearsal.is_some()
    }

    /// Whether a pair of rate and time is the result: in Fortran it has the rehearsal's words.
    pub fn is_final(&self) -> bool {
        self.loops.is_some() || self.residual.is_some()
    }

    /// The run, if there is a result.
    pub fn run(self) -> Option<Run> {
        let mut sheet = Sheet::new("himeno");
        let params = self.params();
        if let Some(mflops) = self.mflops {
            sheet.headline(&FLOP_RATE, &params, Reduce::Total, mflops * FLOP_PER_MFLOP);
            if let Some(residual) = self.residual {
                sheet.printed(&RESIDUAL, &params, residual);
            }
            if let Some(seconds) = self.seconds {
                sheet.printed(&DURATION, &params, seconds);
            }
            if let Some((printed, reference)) = self.score {
                scored(&mut sheet, &params, mflops, printed, reference);
            }
            self.caveats(&mut sheet, mflops);
        } else if self.suite {
            self.trials(&mut sheet, &params);
        }
        self.facts(&mut sheet);
        sheet.finish()
    }

    fn trials(&self, sheet: &mut Sheet, params: &Params) {
        for mflops in &self.trials {
            sheet.headline(&FLOP_RATE, params, Reduce::Median, mflops * FLOP_PER_MFLOP);
        }
        let series = sheet.series(&FLOP_RATE, params);
        series.reported.clear();
        if let Some(average) = self.average {
            series.reported.insert("mean".to_owned(), average * FLOP_PER_MFLOP);
            if self.trials.is_empty() {
                sheet.headline(&FLOP_RATE, params, Reduce::Total, average * FLOP_PER_MFLOP);
                sheet.caveat(CaveatKind::SummaryOnly, "only the average of the trials was printed");
            }
        }
        sheet.fact("himeno.wrapper", "Phoronix Test Suite");
        if let Some(test) = &self.test {
            sheet.fact("himeno.wrapper_test", test.as_str());
        }
    }

    fn params(&self) -> Params {
        let mut params = Params::new();
        if let Some(grid) = self.grid() {
            params.insert("grid".to_owned(), grid);
        }
        let divided = self.parts.and_then(|[i, j, k]| i.checked_mul(j)?.checked_mul(k));
        if let Some(ranks) = divided.or(self.ranks) {
            params.insert("ranks".to_owned(), ranks.into());
        }
        params
    }

    fn grid(&self) -> Option<Param> {
        let named = self.arrays.or(self.points).and_then(grid::named);
        if let Some((name, _)) = named {
            return Some(name.into());
        }
        // `imax` of an MPI program is one process's.
        let whole = if self.parted { self.arrays } else { self.points.or(self.arrays) };
        whole.map(|[i, j, k]| Param::Text(format!("{i}x{j}x{k}")))
    }

    fn caveats(&self, sheet: &mut Sheet, mflops: f64) {
        let points = self.arrays.or(self.points).and_then(grid::named).map(|(_, points)| points);
        if let (Some(points), Some(loops), Some(seconds)) = (points, self.loops, self.seconds)
            && loops > 0
            && seconds > 0.0
        {
            let own = |border| grid::operations(points, border) * loops as f64 / seconds / FLOP_PER_MFLOP;
            // Times have six decimals at most, Fortran's milliseconds.
            let slack = 1e-3 + 1e-3 / seconds;
            let is = |border| (mflops / own(border) - 1.0).abs() <= slack;
            let short = 1.0 - own(3) / own(2);
            if !is(2) && is(3) {
                let text = format!(
                    "this program counts {:.1} % fewer points than it works on: the rate is as much too low",
                    short * 100.0
                );
                sheet.caveat(CaveatKind::Note, text);
            } else if !is(2) && (mflops / own(2) - 1.0).abs() > short + slack {
                let text = format!(
                    "{loops} loops in {seconds} s on this grid make {:.1} MFLOPS, not {mflops:.1}",
                    own(2)
                );
                sheet.caveat(CaveatKind::Inconsistent, text);
            }
        }
        // A sum of single precision squares that no further square can raise.
        if let Some(residual) = self.residual
            && [11, 14].iter().any(|power| (residual / 2f64.powi(-power) - 1.0).abs() < 1e-6)
        {
            let text =
                "the residual is a power of two: its sum in single precision got stuck, it says nothing";
            sheet.caveat(CaveatKind::Note, text);
        }
        if self.score.is_none() && self.loops.is_some() {
            sheet.caveat(CaveatKind::Truncated, "the log ends before the score");
        }
    }

    fn facts(&self, sheet: &mut Sheet) {
        if let Some(loops) = self.loops {
            sheet.fact("himeno.loops", loops);
        }
        if let Some(mflops) = self.rehearsal {
            sheet.fact_in("himeno.rehearsal", mflops * FLOP_PER_MFLOP, Unit::FlopPerSecond);
        }
        if let Some([i, j, k]) = self.parts {
            sheet.fact("himeno.decomposition", format!("{i}x{j}x{k}"));
        }
        if let Some([i, j, k]) = self.arrays {
            sheet.fact("himeno.arrays", format!("{i}x{j}x{k}"));
        }
        if let Some([i, j, k]) = self.points {
            sheet.fact("himeno.points", format!("{i}x{j}x{k}"));
        }
        match self.score {
            Some((_, Reference::PentiumIii)) => sheet.fact("himeno.reference", "Pentium III 600 MHz"),
            Some((_, Reference::Other)) => sheet.fact("himeno.reference", "MMX Pentium 200 MHz"),
            None => {}
        }
    }
}

/// The score against a Pentium III is the rate in another unit: where a program divides wrongly it is divided again.
fn scored(sheet: &mut Sheet, params: &Params, mflops: f64, printed: f64, reference: Reference) {
    let series = sheet.printed(&SCORE, params, printed);
    if reference == Reference::Other {
        return;
    }
    let right = mflops / PENTIUM_III;
    let off = |score: f64| (printed - score).abs() > 2e-4 * score.abs();
    if !off(right) {
        return;
    }
    if let Some(sample) = series.samples.last_mut() {
        sample.value = right;
    }
    let why = if off(mflops / PENTIUM_III_WITH_COMMA) {
        "the rate gives"
    } else {
        "the program divided by 82 instead of 82.84:"
    };
    let text = format!("the score was printed as {printed:.3}, {why} {right:.3}");
    sheet.caveat(CaveatKind::Recomputed, text);
}
