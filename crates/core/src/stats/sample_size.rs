//! How many blocks a question needs, and what a number of blocks can see.

use super::paired::signed_rank_critical;

/// z(97.5 %) + z(80 %): what a difference must be, in standard errors, to be seen four times out of five.
const VISIBLE: f64 = 1.959_963_984_540_054 + 0.841_621_233_572_914_3;
/// The asymptotic efficiency of the signed-rank test against the t test under normal noise.
const EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;
/// An interval of few blocks is a little wider than the root of n says.
const RESERVE: f64 = 1.15;

/// The smallest difference (a log ratio) that so many blocks see four times out of five, where log ratios have
/// deviation `sd`.
pub fn visible_difference(sd: f64, blocks: usize) -> f64 {
    VISIBLE * sd / (EFFICIENCY * blocks as f64).sqrt()
}

/// The blocks that see a difference (a log ratio) of `effect` four times out of five; `None` for no difference. Below
/// about ten this is optimistic, and six are the fewest that allow an interval at all ([`fewest_blocks`]).
pub fn blocks_to_see(sd: f64, effect: f64) -> Option<u64> {
    let blocks = (VISIBLE * sd / effect).powi(2) / EFFICIENCY;
    blocks.is_finite().then(|| (blocks.ceil() as u64).max(1))
}

/// The fewest blocks that allow a finite interval at confidence `level`; `None` where that is out of reach.
pub fn fewest_blocks(level: f64) -> Option<usize> {
    (1..=64).find(|n| signed_rank_critical(*n, level).is_some())
}

/// About how many more blocks would decide. The half-width of the interval (of the log ratio) shrinks with the root of
/// n; it must fall below the estimate (to tell arm and base apart) or below what the estimate leaves of the margin (to
/// call them equal), whichever comes first. `None` where neither ever comes.
pub fn more_blocks(n: usize, half_width: f64, log_ratio: f64, log_margin: f64) -> Option<u32> {
    let target = f64::max(log_ratio.abs(), log_margin - log_ratio.abs());
    let wanted = (n as f64 * (half_width / target).powi(2) * RESERVE).ceil();
    (target > 0.0 && wanted.is_finite()).then(|| (wanted - n as f64).clamp(1.0, 1e6) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(fewest_blocks(0.95), Some(6));
        assert_eq!(fewest_blocks(0.90), Some(5));
        assert_eq!(blocks_to_see(0.01, 0.0), None);
        // Half of 3 % must fall to 1 % (of the estimate): nine times the blocks and the reserve.
        assert_eq!(more_blocks(8, 0.03, 0.01, 0.015), Some(83 - 8));
        assert_eq!(more_blocks(8, 0.03, 0.0, 0.0), None);
        assert_eq!(more_blocks(8, 0.001, 0.01, 0.0), Some(1));
    }
}
