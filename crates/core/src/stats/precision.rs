//! When to stop measuring. Every rule here is fixed before the first block and looks at fixed numbers of blocks; there
//! is none that goes on until something is significant.

/// Measures until intervals are narrow enough. How wide an interval is tells nothing about which way the difference
/// goes, so that stopping by it hardly touches its coverage (METHODOLOGY.md has the figures).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The largest relative half-width that will do, as a share.
    pub half_width: f64,
    /// Blocks before the first look.
    pub first: usize,
    /// Blocks between looks.
    pub every: usize,
    /// The budget.
    pub most: usize,
}

/// What to do after some blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Measure so many blocks, then look again.
    Measure(usize),
    /// All intervals are narrow enough.
    Precise,
    /// The budget is spent.
    Spent,
}

impl Precision {
    /// Intervals within `half_width`, looked at every two blocks from eight on.
    pub const fn new(half_width: f64, most: usize) -> Precision {
        Precision { half_width, first: 8, every: 2, most }
    }

    /// Intervals narrow enough for a verdict at this margin: 1.25 times half of it.
    pub const fn for_margin(margin: f64, most: usize) -> Precision {
        Precision::new(1.25 * margin / 2.0, most)
    }

    /// What to do after `blocks` blocks, given the relative half-width of every interval that must be narrow; `None`
    /// where one has no finite interval yet.
    pub fn next(&self, blocks: usize, half_widths: &[Option<f64>]) -> Next {
        // Both arms of every two blocks must have swapped places before a look.
        let narrow = |width: &Option<f64>| width.is_some_and(|width| width <= self.half_width);
        let may_look = blocks >= self.first && (blocks - self.first).is_multiple_of(self.every.max(1));
        if may_look && !half_widths.is_empty() && half_widths.iter().all(narrow) {
            return Next::Precise;
        }
        if blocks >= self.most {
            return Next::Spent;
        }
        let until = match blocks < self.first {
            true => self.first,
            false => blocks + self.every.max(1) - (blocks - self.first) % self.every.max(1),
        };
        Next::Measure(until.min(self.most) - blocks)
    }
}

/// Blocks after which a plan that stops at a decision looks.
pub const LOOKS: [usize; 5] = [8, 12, 17, 24, 32];
/// The chance at which each look decides, so that all of them together claim wrongly at most 5 %.
pub const LOOK_ALPHA: f64 = 0.0158;

/// The blocks still to measure before the next look; `None` after the last.
pub fn until_next_look(blocks: usize) -> Option<usize> {
    LOOKS.into_iter().find(|look| *look > blocks).map(|look| look - blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(blocks: usize, widths: &[Option<f64>], right: Next) {
        assert_eq!(Precision::new(0.02, 21).next(blocks, widths), right);
    }

    #[test]
    fn looks_are_fixed_beforehand() {
        check(0, &[], Next::Measure(8));
        check(5, &[Some(0.001)], Next::Measure(3));
        check(8, &[Some(0.02), Some(0.01)], Next::Precise);
        check(8, &[Some(0.021), Some(0.01)], Next::Measure(2));
        check(8, &[None], Next::Measure(2));
        check(8, &[], Next::Measure(2));
        // A resumed session that stands between two looks goes on to the next one.
        check(9, &[Some(0.001)], Next::Measure(1));
        check(20, &[Some(0.03)], Next::Measure(1));
        check(21, &[Some(0.03)], Next::Spent);
        check(21, &[Some(f64::NAN)], Next::Spent);
        assert_eq!(Precision::for_margin(0.02, 40).half_width, 0.0125);
        assert_eq!(Precision { every: 0, ..Precision::new(0.02, 21) }.next(9, &[None]), Next::Measure(1));
    }

    #[test]
    fn decisions_have_five_looks() {
        assert_eq!(
            (until_next_look(0), until_next_look(8), until_next_look(30)),
            (Some(8), Some(4), Some(2))
        );
        assert_eq!(until_next_look(32), None);
    }
}
