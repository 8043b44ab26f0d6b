//! Many arms at once, by ranks: Friedman over blocks, Kruskal-Wallis without them. An overview that says whether any
//! arm differs from any other; which ones do is the business of [`super::multiple`].

use serde::{Deserialize, Serialize};

use super::order::ties;
use super::special::chi2_tail;

/// A statistic that is chi-square distributed with one degree of freedom less than there are arms, and its chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The statistic.
    pub chi2: f64,
    /// The chance of one as large if all arms are alike.
    pub p: f64,
}

/// Friedman's test: `blocks[block][arm]`. `None` of fewer than two blocks or three arms, of blocks of different
/// lengths, where a value is not finite, or where every block holds one value only.
pub fn friedman(blocks: &[Vec<f64>]) -> Option<Overview> {
    let arms = blocks.first()?.len();
    let sound = |block: &Vec<f64>| block.len() == arms && block.iter().all(|x| x.is_finite());
    if blocks.len() < 2 || arms < 3 || !blocks.iter().all(sound) {
        return None;
    }
    let (n, k) = (blocks.len() as f64, arms as f64);
    let mut sums = vec![0.0; arms];
    for block in blocks {
        mid_ranks(block).iter().zip(&mut sums).for_each(|(rank, sum)| *sum += rank);
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let tied: f64 = blocks.iter().map(|block| ties(block, 3)).sum();
    let scale = 1.0 - tied / (n * k * (k * k - 1.0));
    let chi2 = (12.0 / (n * k * (k + 1.0)) * squares - 3.0 * n * (k + 1.0)) / scale;
    (scale > 1e-12).then(|| Overview { chi2, p: chi2_tail(chi2, k - 1.0) })
}

/// Kruskal and Wallis's test: groups of values. `None` of fewer than two groups, of an empty one, where a value is not
/// finite, or where all are equal.
pub fn kruskal_wallis(groups: &[Vec<f64>]) -> Option<Overview> {
    let all: Vec<f64> = groups.iter().flatten().copied().collect();
    if groups.len() < 2 || groups.iter().any(Vec::is_empty) || all.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let n = all.len() as f64;
    let ranks = mid_ranks(&all);
    let (mut start, mut squares) = (0, 0.0);
    for group in groups {
        let sum: f64 = ranks[start..start + group.len()].iter().sum();
        squares += sum * sum / group.len() as f64;
        start += group.len();
    }
    let scale = 1.0 - ties(&all, 3) / (n * n * n - n);
    let h = (12.0 / (n * (n + 1.0)) * squares - 3.0 * (n + 1.0)) / scale;
    (scale > 1e-12).then(|| Overview { chi2: h, p: chi2_tail(h, groups.len() as f64 - 1.0) })
}

/// Ranks from 1; equal values share the mean of theirs.
pub fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = (2 * start + 1 + group.len()) as f64 / 2.0;
        group.iter().for_each(|index| ranks[*index] = rank);
        start += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_ranks() {
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert!(mid_ranks(&[]).is_empty());
    }

    #[test]
    fn degenerate_tables() {
        assert_eq!(friedman(&[]), None);
        assert_eq!(friedman(&[vec![1.0, 2.0], vec![2.0, 1.0]]), None);
        assert_eq!(friedman(&[vec![1.0; 3], vec![2.0; 3]]), None);
        assert_eq!(friedman(&[vec![1.0, 2.0, f64::NAN], vec![1.0, 2.0, 3.0]]), None);
        assert_eq!(kruskal_wallis(&[vec![1.0], vec![]]), None);
        assert_eq!(kruskal_wallis(&[vec![1.0; 4], vec![1.0; 3]]), None);
        assert!(kruskal_wallis(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap().p < 0.06);
    }
}
