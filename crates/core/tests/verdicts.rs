//! How often each word falls over many simulated experiments with normal noise and a known true difference. A change
//! of the statistics that passes single examples but shifts the odds shows here.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use tenbin_core::rng::Rng;
use tenbin_core::stats::special::normal_quantile;
use tenbin_core::verdict::{self, Verdict};

const EXPERIMENTS: usize = 1500;

/// Draws from the inverse distribution, read off a table: the quantile itself takes a search.
struct Noise {
    rng: Rng,
    table: Vec<f64>,
}

impl Noise {
    fn new(seed: u64) -> Noise {
        let steps = 4096;
        let table = (0..steps).map(|i| normal_quantile((f64::from(i) + 0.5) / f64::from(steps))).collect();
        Noise { rng: Rng::new(seed), table }
    }

    fn draw(&mut self) -> f64 {
        self.table[self.rng.below(self.table.len() as u64) as usize]
    }
}

/// Per cent of experiments by word: equal, negligible, size uncertain, faster or slower, can't tell. `truth` and `sd`
/// are of the log ratio: 0.03 is a difference of 3.05 %, which moves shares by up to 4 points against 3 %.
fn shares(noise: &mut Noise, sd: f64, truth: f64, blocks: usize) -> BTreeMap<&'static str, f64> {
    let mut shares = BTreeMap::new();
    for _ in 0..EXPERIMENTS {
        let pairs: Vec<(f64, f64)> = (0..blocks).map(|_| ((truth + sd * noise.draw()).exp(), 1.0)).collect();
        let word = match verdict::decide(&pairs, 0.02, true).unwrap().verdict {
            Verdict::NoDifference => "eq",
            Verdict::DifferentButNegligible => "neg",
            Verdict::FasterSizeUncertain | Verdict::SlowerSizeUncertain => "size",
            Verdict::Faster | Verdict::Slower => "mat",
            Verdict::CantTell => "?",
            Verdict::NeedMoreBlocks | Verdict::DescriptionOnly => panic!("{pairs:?}"),
        };
        *shares.entry(word).or_insert(0.0) += 100.0 / EXPERIMENTS as f64;
    }
    shares
}

/// `right` such as `eq 52 ? 43`: within 4 points, thrice the deviation of a share over so many experiments.
#[track_caller]
fn check(noise: &mut Noise, sd: f64, truth: f64, blocks: usize, right: &str) {
    let shares = shares(noise, sd, truth, blocks);
    let words: Vec<&str> = right.split(' ').collect();
    for pair in words.chunks(2) {
        let (ours, right) = (shares.get(pair[0]).copied().unwrap_or(0.0), pair[1].parse::<f64>().unwrap());
        assert!((ours - right).abs() <= 4.0, "sd {sd} truth {truth} n {blocks}: {right} but {shares:?}");
    }
}

#[test]
fn words_fall_as_often_as_they_should() {
    let noise = &mut Noise::new(11);
    check(noise, 0.01, 0.00, 8, "eq 95 neg 5");
    check(noise, 0.01, 0.01, 8, "eq 32 neg 42 size 21 ? 6");
    check(noise, 0.01, 0.01, 20, "eq 2 neg 98");
    check(noise, 0.01, 0.02, 12, "size 94 neg 5 mat 2");
    check(noise, 0.01, 0.03, 8, "mat 63 size 37");
    check(noise, 0.02, 0.00, 8, "eq 52 ? 43 size 3");
    check(noise, 0.02, 0.00, 12, "eq 83 ? 13 size 3");
    check(noise, 0.02, 0.03, 12, "size 66 mat 33");
    check(noise, 0.02, 0.05, 8, "mat 92 size 9");
    check(noise, 0.04, 0.00, 8, "? 94 eq 3 size 3");
    check(noise, 0.04, 0.05, 12, "mat 61 size 35");
}

#[test]
fn an_interval_covers_the_truth_as_often_as_it_says() {
    let noise = &mut Noise::new(12);
    for (blocks, right) in [(6, 0.970), (8, 0.959), (12, 0.961), (20, 0.953)] {
        let covers = (0..EXPERIMENTS).filter(|_| {
            let pairs: Vec<(f64, f64)> = (0..blocks).map(|_| ((0.05 * noise.draw()).exp(), 1.0)).collect();
            let decision = verdict::decide(&pairs, 0.02, true).unwrap();
            decision.lo.unwrap() <= 1.0 && 1.0 <= decision.hi.unwrap()
        });
        let share = covers.count() as f64 / EXPERIMENTS as f64;
        assert!((share - right).abs() < 0.02, "{blocks} blocks: {share}");
    }
}
