//! The statistics behind verdicts. Own code, since exact small-sample inference over blocks is what tenbin is for;
//! all of it agrees with the vectors in `testdata/vectors`.

pub mod changes;
pub mod order;
pub mod paired;

pub use changes::largest_step_down;
pub use order::{median, median_interval};

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub lo: f64,
    /// Its upper end.
    pub hi: f64,
}
