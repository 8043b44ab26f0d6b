//! Whether values have more than one hump: Hartigan and Hartigan's dip, the distance of their distribution from the
//! nearest one with a single hump. Flagged, both humps described; no verdict follows.

use super::order::median;

/// Longer lists are not looked at.
const LONGEST: usize = 200_000;
/// Below so many values two humps are easily chance.
const ENOUGH: usize = 50;
/// Chance below which values count as bimodal.
const UNLIKELY: f64 = 0.01;

/// Values seen as two humps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Humps {
    /// The dip.
    pub dip: f64,
    /// The chance of one as large for values spread evenly, the hardest case with a single hump; from a table.
    pub p: f64,
    /// How many values.
    pub n: usize,
    /// Share and median of the lower hump, cut where both together spread least.
    pub lower: (f64, f64),
    /// Share and median of the upper hump.
    pub upper: (f64, f64),
}

impl Humps {
    /// Whether there are two humps beyond doubt.
    pub fn two(&self) -> bool {
        self.n >= ENOUGH && self.p < UNLIKELY
    }
}

/// The dip with its chance, and the two humps that the values would make. `None` of fewer than four values, or as for
/// [`dip`].
pub fn humps(values: &[f64]) -> Option<Humps> {
    let (dip, n) = (dip(values)?, values.len());
    if n < 4 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = split(&sorted);
    let hump = |part: &[f64]| Some((part.len() as f64 / n as f64, median(part)?));
    Some(Humps { dip, p: chance(n, dip), n, lower: hump(&sorted[..at])?, upper: hump(&sorted[at..])? })
}

/// Values that a coarse clock made equal, spread evenly over the step of that clock, so that its ticks are no humps.
pub fn spread_ties(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0 && gap.is_finite());
    let tick = gaps.fold(f64::INFINITY, f64::min);
    if !tick.is_finite() {
        return sorted;
    }
    let groups = sorted.chunk_by(|a, b| a == b);
    let spread = groups.flat_map(|group| {
        let place = move |j: usize| (j as f64 + 0.5) / group.len() as f64 - 0.5;
        (0..group.len()).map(move |j| group[0] + tick * place(j))
    });
    spread.collect()
}

/// The cut that leaves least spread within both parts, which is the one with the means farthest apart by weight.
fn split(sorted: &[f64]) -> usize {
    let n = sorted.len();
    // Above the smallest value, so that a large level costs no digits, and by size, so that no square overflows.
    let size = sorted[0].abs().max(sorted[n - 1].abs());
    let height = |x: f64| if size > 0.0 { x / size - sorted[0] / size } else { 0.0 };
    let all: f64 = sorted.iter().map(|x| height(*x)).sum();
    let (mut below, mut best) = (0.0, (1, f64::NEG_INFINITY));
    for at in 1..n {
        below += height(sorted[at - 1]);
        let apart = (all - below) / (n - at) as f64 - below / at as f64;
        let weighed = apart * apart * at as f64 * (n - at) as f64;
        if weighed > best.1 {
            best = (at, weighed);
        }
    }
    best.0
}

/// The dip of values, 0..=1/4. `None` of nothing, of too many, or where one is not finite.
pub fn dip(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.len() > LONGEST || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let steps = steps(values);
    // Distances are counted in values; half of the larger one is the dip.
    let mut dip: f64 = if steps.len() > 1 { 1.0 } else { 0.0 };
    let (mut low, mut high) = (0, steps.len() - 1);
    while low < high {
        let below = hull(&steps, low, high, Side::Below);
        let above = hull(&steps, low, high, Side::Above);
        let (gap, from, to) = widest_gap(&steps, &below, &above);
        if gap <= dip {
            break;
        }
        // Outside the hump-to-be the distribution must bend as its hulls do.
        let left = below.iter().position(|corner| *corner >= from).unwrap_or(0);
        let right = above.iter().rposition(|corner| *corner <= to).unwrap_or(0);
        dip = dip.max(farthest(&steps, &below[..=left], Side::Below));
        dip = dip.max(farthest(&steps, &above[right..], Side::Above));
        if (from, to) == (low, high) {
            break;
        }
        (low, high) = (from, to);
    }
    Some(dip / (2.0 * values.len() as f64))
}

/// A step of the distribution: where, and how many values lie before it and up to it.
struct Step {
    x: f64,
    before: f64,
    upto: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// The greatest convex curve below the distribution.
    Below,
    /// The least concave curve above it.
    Above,
}

impl Step {
    fn height(&self, side: Side) -> f64 {
        if side == Side::Below { self.before } else { self.upto }
    }
}

fn steps(values: &[f64]) -> Vec<Step> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut before = 0;
    let steps = sorted.chunk_by(|a, b| a == b).map(|group| {
        let step = Step { x: group[0], before: before as f64, upto: (before + group.len()) as f64 };
        before += group.len();
        step
    });
    steps.collect()
}

/// The corners of the hull between two steps.
fn hull(steps: &[Step], low: usize, high: usize, side: Side) -> Vec<usize> {
    let turn = if side == Side::Below { 1.0 } else { -1.0 };
    let mut corners: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., a, b] = corners[..] {
            let bend = slope(steps, a, b, side) - slope(steps, b, next, side);
            if bend * turn < 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

fn slope(steps: &[Step], a: usize, b: usize, side: Side) -> f64 {
    (steps[b].height(side) - steps[a].height(side)) / (steps[b].x - steps[a].x)
}

/// The height of a hull at step `at`, given the corner at or before it.
fn along(steps: &[Step], corners: &[usize], segment: usize, at: usize, side: Side) -> f64 {
    let a = corners[segment];
    match corners.get(segment + 1) {
        Some(b) if at > a => steps[a].height(side) + slope(steps, a, *b, side) * (steps[at].x - steps[a].x),
        _ => steps[a].height(side),
    }
}

/// The largest distance between the hulls, and the corners between which the hump then lies: from a corner of the
/// lower hull to one of the upper.
fn widest_gap(steps: &[Step], below: &[usize], above: &[usize]) -> (f64, usize, usize) {
    let mut widest = (0.0, below[0], above[above.len() - 1]);
    // At a corner of the lower hull the hump begins there and ends at the next corner of the upper one.
    let mut segment = 0;
    for corner in below {
        while above.get(segment + 1).is_some_and(|next| next <= corner) {
            segment += 1;
        }
        let gap = along(steps, above, segment, *corner, Side::Above) - steps[*corner].before;
        let end = above[segment..].iter().find(|end| *end >= corner);
        if let Some(end) = end.filter(|_| gap > widest.0) {
            widest = (gap, *corner, *end);
        }
    }
    // At a corner of the upper hull it ends there and began at the last corner of the lower one.
    let mut segment = 0;
    for corner in above {
        while below.get(segment + 1).is_some_and(|next| next <= corner) {
            segment += 1;
        }
        let gap = steps[*corner].upto - along(steps, below, segment, *corner, Side::Below);
        if gap > widest.0 {
            widest = (gap, below[segment], *corner);
        }
    }
    widest
}

/// How far the distribution is from the hull with these corners.
fn farthest(steps: &[Step], corners: &[usize], side: Side) -> f64 {
    // At the very edge of the hump itself a step of any height may stand.
    let edge = if side == Side::Below { corners[corners.len() - 1] } else { corners[0] };
    let mut most: f64 = 0.0;
    for (segment, pair) in corners.windows(2).enumerate() {
        for at in (pair[0]..=pair[1]).filter(|at| *at != edge) {
            let line = along(steps, corners, segment, at, side);
            let off = match side {
                Side::Below => steps[at].upto - line,
                Side::Above => line - steps[at].before,
            };
            most = most.max(off);
        }
    }
    most
}

/// The chances of the columns of [`TABLE`].
const CHANCES: [f64; 11] = [0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.001];

/// For n evenly spread values, root n times the dip that is exceeded with each of the chances. By simulation (`cargo
/// xtask simulate --dip-table`).
const TABLE: [(usize, [f64; 11]); 14] = [
    (4, [0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2899, 0.3749, 0.4147, 0.4479, 0.4643, 0.4891]),
    (6, [0.2041, 0.2041, 0.2041, 0.2412, 0.3014, 0.3546, 0.3893, 0.4034, 0.4404, 0.4705, 0.5360]),
    (8, [0.1768, 0.2088, 0.2315, 0.2720, 0.3140, 0.3475, 0.4012, 0.4350, 0.4697, 0.4904, 0.5512]),
    (10, [0.1933, 0.2272, 0.2468, 0.2785, 0.3096, 0.3617, 0.4131, 0.4413, 0.4758, 0.5048, 0.5711]),
    (15, [0.2115, 0.2365, 0.2490, 0.2783, 0.3238, 0.3718, 0.4260, 0.4592, 0.4975, 0.5242, 0.5982]),
    (20, [0.2125, 0.2359, 0.2541, 0.2868, 0.3285, 0.3814, 0.4350, 0.4704, 0.5108, 0.5379, 0.6180]),
    (30, [0.2172, 0.2431, 0.2594, 0.2926, 0.3367, 0.3899, 0.4461, 0.4828, 0.5264, 0.5565, 0.6462]),
    (50, [0.2223, 0.2491, 0.2663, 0.3002, 0.3458, 0.4010, 0.4585, 0.4971, 0.5429, 0.5748, 0.6676]),
    (100, [0.2284, 0.2568, 0.2741, 0.3085, 0.3549, 0.4121, 0.4721, 0.5120, 0.5591, 0.5901, 0.6854]),
    (200, [0.2327, 0.2618, 0.2797, 0.3146, 0.3621, 0.4201, 0.4809, 0.5213, 0.5700, 0.6040, 0.7006]),
    (500, [0.2374, 0.2670, 0.2847, 0.3197, 0.3681, 0.4263, 0.4893, 0.5308, 0.5824, 0.6124, 0.7063]),
    (1000, [0.2401, 0.2693, 0.2875, 0.3236, 0.3710, 0.4294, 0.4920, 0.5321, 0.5818, 0.6129, 0.7263]),
    (2000, [0.2421, 0.2702, 0.2894, 0.3240, 0.3726, 0.4340, 0.4988, 0.5395, 0.5860, 0.6205, 0.7288]),
    (5000, [0.2413, 0.2714, 0.2902, 0.3282, 0.3754, 0.4317, 0.4914, 0.5318, 0.5860, 0.6217, 0.7219]),
];

/// The chance of so large a dip: between the rows by root n times the dip, between the columns straight.
fn chance(n: usize, dip: f64) -> f64 {
    let scaled = dip * (n as f64).sqrt();
    let above = TABLE.iter().position(|(size, _)| *size >= n).unwrap_or(TABLE.len() - 1);
    let below = if TABLE[above].0 > n { above.saturating_sub(1) } else { above };
    let (low, high) = (TABLE[below].0 as f64, TABLE[above].0 as f64);
    let part = if high > low { ((n as f64).ln() - low.ln()) / (high.ln() - low.ln()) } else { 0.0 };
    let bound = |column: usize| {
        let (a, b) = (TABLE[below].1[column], TABLE[above].1[column]);
        a + part.clamp(0.0, 1.0) * (b - a)
    };
    let Some(column) = (0..CHANCES.len()).find(|column| scaled < bound(*column)) else { return 0.0 };
    if column == 0 {
        return 1.0;
    }
    let inside = (scaled - bound(column - 1)) / (bound(column) - bound(column - 1));
    CHANCES[column - 1] + inside * (CHANCES[column] - CHANCES[column - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn known_dips() {
        // Evenly spread values are as close to one hump as steps can be; two heaps as far as can be.
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        near(dip(&even).unwrap(), 1.0 / 80.0);
        near(dip(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap(), 0.25);
        // One heap and a smaller one: the smaller is what is in the way.
        near(dip(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]).unwrap(), 0.125);
    }

    #[test]
    fn units_and_direction_do_not_matter() {
        let mut rng = Rng::new(4);
        for n in [4, 5, 8, 12, 17, 23, 60, 200] {
            for below in [7, 30, 1 << 40] {
                let values: Vec<f64> = (0..n).map(|_| rng.below(below) as f64).collect();
                let turned: Vec<f64> = values.iter().map(|x| 5e3 - 3e-3 * x).collect();
                near(dip(&values).unwrap(), dip(&turned).unwrap());
                assert!((0.0..=0.25).contains(&dip(&values).unwrap()));
            }
        }
    }

    #[test]
    fn degenerate_values() {
        assert_eq!(dip(&[]), None);
        assert_eq!(dip(&[1.0, f64::NAN]), None);
        assert_eq!(dip(&[1.0; 9]), Some(0.0));
        assert_eq!(humps(&[1.0, 2.0, 3.0]), None);
        assert!(!humps(&[3.0; 60]).unwrap().two());
        // Two values only, far apart or as close as numbers get.
        for high in [2.0, 1.0 + f64::EPSILON, 1e300] {
            let mut values = vec![1.0; 60];
            values[30..].fill(high);
            let found = humps(&values).unwrap();
            assert!(found.two() && found.lower == (0.5, 1.0) && found.upper == (0.5, high), "{found:?}");
        }
    }

    #[test]
    fn ticks_of_a_clock_are_no_humps() {
        let mut rng = Rng::new(3);
        // One hump of sums, read to whole numbers of which there are about ten.
        let values: Vec<f64> = (0..600).map(|_| (0..6).map(|_| rng.below(4) as f64).sum()).collect();
        assert!(humps(&values).unwrap().two());
        assert!(!humps(&spread_ties(&values)).unwrap().two());
        let far: Vec<f64> = values.iter().enumerate().map(|(i, x)| x + 30.0 * (i % 3 / 2) as f64).collect();
        assert!(humps(&spread_ties(&far)).unwrap().two());
        assert_eq!(spread_ties(&[2.0; 3]), [2.0; 3]);
        assert!(spread_ties(&[]).is_empty());
    }

    #[test]
    fn even_spread_is_hardly_ever_called_two_humps() {
        let mut rng = Rng::new(8);
        let mut share = |n: usize, limit: f64| {
            let p = (0..400).map(|_| {
                let values: Vec<f64> = (0..n).map(|_| rng.below(1 << 40) as f64).collect();
                humps(&values).unwrap().p
            });
            p.filter(|p| *p < limit).count() as f64 / 400.0
        };
        for n in [50, 130, 400] {
            assert!((share(n, 0.5) - 0.5).abs() < 0.09);
            assert!(share(n, 0.05) < 0.09 && share(n, 0.01) < 0.03);
        }
    }
}
