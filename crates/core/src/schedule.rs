//! The order of arms over blocks: random, balanced, and the same for the same seed.

use crate::plan::{Order, Plan};
use crate::rng::Rng;

/// The order of a plan's arms in each of its blocks. That of more blocks begins with that of fewer.
pub fn of(plan: &Plan, seed: u64) -> Vec<Vec<usize>> {
    let (arms, blocks) = (plan.arms.len(), plan.blocks as usize);
    match plan.order {
        Order::Balanced => balanced(seed, arms, blocks),
        Order::FewChanges => few_changes(seed, arms, blocks),
    }
}

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

/// How often the session goes from one arm to another, whichever they are: each may cost a change of settings. Entering
/// the first arm is none.
pub fn changes(order: &[Vec<usize>]) -> usize {
    let arms: Vec<usize> = order.iter().flatten().copied().collect();
    arms.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// A Williams square of two or more: k rows for even k, 2k for odd k, in which every number follows every other equally
/// often.
pub fn williams(k: usize) -> Vec<Vec<usize>> {
    let (mut low, mut high) = (1, k.saturating_sub(1));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arms: usize, blocks: usize) {
        for seed in 0..20 {
            let (balanced, few) = (balanced(seed, arms, blocks), few_changes(seed, arms, blocks));
            for order in [&balanced, &few] {
                assert_eq!(order.len(), blocks);
                for block in order {
                    let mut sorted = block.clone();
                    sorted.sort_unstable();
                    assert_eq!(sorted, (0..arms).collect::<Vec<usize>>(), "every arm once");
                }
                // Two arms change places in every block, so that a verdict needs no more than six blocks.
                assert!((1..arms).all(|arm| alternations(order, 0, arm) >= blocks));
            }
            // More blocks begin as fewer do.
            assert_eq!(super::balanced(seed, arms, blocks + 3)[..blocks], balanced);
            assert_eq!(super::few_changes(seed, arms, blocks + 3)[..blocks], few);
            // Complete blocks change arms k - 1 times inside; only the seams can be spared.
            assert_eq!(changes(&few), blocks * (arms - 1));
            assert!(changes(&balanced) >= changes(&few));
            // Over two blocks every arm has the same mean place, so that a steady drift cancels.
            for two in few.chunks_exact(2) {
                let place =
                    |arm: usize| two.iter().map(|b| b.iter().position(|a| *a == arm).unwrap()).sum::<usize>();
                assert!((0..arms).all(|arm| place(arm) == arms - 1));
            }
        }
    }

    #[test]
    fn orders_are_complete_and_balanced() {
        check(2, 8);
        check(2, 7);
        check(3, 6);
        check(4, 8);
        check(5, 20);
    }

    #[test]
    fn every_arm_follows_every_other_equally_often() {
        for k in 2..8 {
            let mut follows = vec![vec![0; k]; k];
            williams(k).iter().flat_map(|row| row.windows(2)).for_each(|pair| follows[pair[0]][pair[1]] += 1);
            let right = if k % 2 == 0 { 1 } else { 2 };
            assert!((0..k).all(|a| (0..k).all(|b| follows[a][b] == if a == b { 0 } else { right })), "{k}");
        }
    }

    #[test]
    fn odd_counts() {
        assert_eq!(balanced(1, 1, 2), [[0], [0]]);
        assert_eq!(balanced(1, 2, 0), Vec::<Vec<usize>>::new());
        assert_eq!(changes(&[]), 0);
        assert_eq!(alternations(&[vec![0, 1], vec![0, 1]], 0, 1), 3);
    }

    /// Written out, so that no platform, release or library changes what a seed means: a resumed experiment and a
    /// repeated one go on in the same order.
    #[test]
    fn schedules_of_seeds_are_pinned() {
        let told = |order: Vec<Vec<usize>>| {
            let block = |block: Vec<usize>| block.iter().map(ToString::to_string).collect::<String>();
            order.into_iter().map(block).collect::<Vec<_>>().join(" ")
        };
        let check = |seed, arms, blocks, balanced: &str, few: &str| {
            assert_eq!(
                told(super::balanced(seed, arms, blocks)),
                balanced,
                "balanced {seed} {arms} {blocks}"
            );
            assert_eq!(
                told(super::few_changes(seed, arms, blocks)),
                few,
                "few changes {seed} {arms} {blocks}"
            );
        };
        check(0, 2, 8, "01 10 01 10 01 10 01 10", "10 01 10 01 10 01 10 01");
        check(7, 2, 8, "01 10 01 10 10 01 01 10", "10 01 10 01 10 01 10 01");
        check(u64::MAX, 2, 8, "01 10 10 01 10 01 01 10", "10 01 10 01 10 01 10 01");
        check(7, 3, 6, "120 210 201 021 012 102", "120 021 120 021 120 021");
        check(1, 4, 6, "3120 0213 1032 2301 0123 3210", "1023 3201 1023 3201 1023 3201");
        check(42, 5, 5, "03421 30241 14203 21340 41023", "03214 41230 03214 41230 03214");
    }
}
