//! The order of arms over blocks: random, balanced, and the same for the same seed.

use crate::rng::Rng;

/// The order of `arms` arms in each of `blocks` blocks. Two arms: every two blocks are AB,BA or BA,AB. More: rows of
/// shuffled Williams squares, in which every arm follows every other equally often.
pub fn balanced(seed: u64, arms: usize, blocks: usize) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(seed);
    let mut order = Vec::new();
    while order.len() < blocks {
        match arms {
            0 | 1 => order.push((0..arms).collect()),
            2 => {
                let first = rng.below(2) as usize;
                order.push(vec![first, 1 - first]);
                order.push(vec![1 - first, first]);
            }
            _ => {
                let mut labels: Vec<usize> = (0..arms).collect();
                rng.shuffle(&mut labels);
                let mut rows = williams(arms);
                rng.shuffle(&mut rows);
                order.extend(rows.into_iter().map(|row| row.into_iter().map(|i| labels[i]).collect()));
            }
        }
    }
    order.truncate(blocks);
    order
}

/// An order in which each block begins with the arm that the one before ended with, so that arms change as seldom as
/// complete blocks allow.
pub fn few_changes(seed: u64, arms: usize, blocks: usize) -> Vec<Vec<usize>> {
    let mut forward: Vec<usize> = (0..arms).collect();
    Rng::new(seed).shuffle(&mut forward);
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    (0..blocks).map(|block| if block % 2 == 0 { forward.clone() } else { backward.clone() }).collect()
}

/// How often the session goes from one of two arms to the other, other arms aside.
pub fn alternations(order: &[Vec<usize>], a: usize, b: usize) -> usize {
    let arms: Vec<usize> = order.iter().flatten().copied().filter(|arm| *arm == a || *arm == b).collect();
    arms.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// A Williams square: k rows for even k, 2k for odd k.
fn williams(k: usize) -> Vec<Vec<usize>> {
    let (mut low, mut high) = (1, k - 1);
    let mut first = vec![0];
    while first.len() < k {
        if first.len() % 2 == 1 {
            first.push(low);
            low += 1;
        } else {
            first.push(high);
            high -= 1;
        }
    }
    let mut rows: Vec<Vec<usize>> = (0..k).map(|i| first.iter().map(|x| (x + i) % k).collect()).collect();
    if k % 2 == 1 {
        let reversed: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().rev().copied().collect()).collect();
        rows.extend(reversed);
    }
    rows
}
