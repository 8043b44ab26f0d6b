//! The statistics behind verdicts. Own code, since exact small-sample inference over blocks is what tenbin is for;
//! all of it agrees with the vectors in `testdata/vectors`.
//!
//! Start at [`paired`] for the comparison over blocks, [`multiple`] for many of them at once (curves, several arms),
//! [`unpaired`] and [`welch`] for runs that were never interleaved, [`summary`] and [`order`] for describing one list of
//! values. [`warm_up`], [`changes`], [`autocorrelation`], [`dip`] look inside a run and [`trend`], [`ranks`] over a
//! session: diagnostics, from which no verdict follows. [`levels`], [`sample_size`] and [`precision`] plan the next ones.

pub mod autocorrelation;
pub mod bootstrap;
pub mod changes;
pub mod dip;
pub mod levels;
pub mod multiple;
pub mod order;
pub mod paired;
pub mod precision;
pub mod ranks;
pub mod sample_size;
pub mod special;
pub mod summary;
pub mod trend;
pub mod unpaired;
pub mod warm_up;
pub mod welch;

pub use changes::largest_step_down;
pub use order::{median, median_interval};
pub use summary::Summary;

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub lo: f64,
    /// Its upper end.
    pub hi: f64,
}
