//! How many blocks a question needs, and what a number of blocks can see.

use super::paired::signed_rank_critical;
use super::special::{ln_gamma, normal_tail, t_quantile};

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

/// The pairs with which a paired t test at 5 % sees an `effect` four times out of five, for comparison; `None` for no
/// difference or beyond a million.
pub fn pairs_for_t_test(sd: f64, effect: f64) -> Option<u64> {
    let power = |n: u64| {
        let df = (n - 1) as f64;
        let shift = effect.abs() / sd * (n as f64).sqrt();
        shifted_t_tail(t_quantile(0.975, df), df, shift)
    };
    let most = 1_000_000;
    if !(sd > 0.0 && sd.is_finite() && effect.is_finite()) || effect == 0.0 || power(most) < 0.8 {
        return None;
    }
    // More pairs never see less.
    let (mut few, mut enough) = (1, most);
    while enough - few > 1 {
        let middle = few + (enough - few) / 2;
        *(if power(middle) >= 0.8 { &mut enough } else { &mut few }) = middle;
    }
    Some(enough)
}

/// P(T > t) of Student's variable whose numerator is shifted: the normal tail averaged over the spread of the
/// denominator, by Simpson's rule.
fn shifted_t_tail(t: f64, df: f64, shift: f64) -> f64 {
    // The denominator is near 1 with deviation 1/root(2 df).
    let reach = 12.0 / (2.0 * df).sqrt();
    let (from, to, steps) = ((1.0 - reach).max(0.0), 1.0 + reach, 2000);
    let scale = df / 2.0 * (df / 2.0).ln() + std::f64::consts::LN_2 - ln_gamma(df / 2.0);
    let density = |s: f64| match s > 0.0 {
        true => (scale + (df - 1.0) * s.ln() - df * s * s / 2.0).exp(),
        false => 0.0,
    };
    let width = (to - from) / f64::from(steps);
    let weighted = (0..=steps).map(|i| {
        let s = from + width * f64::from(i);
        let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        weight * density(s) * normal_tail(t * s - shift)
    });
    weighted.sum::<f64>() * width / 3.0
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
