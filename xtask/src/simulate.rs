//! How often the statistics claim wrongly and see what is there, over simulated campaigns: the table of METHODOLOGY.md.
//! Noise is Gaussian or AR(1), in standard deviations of a block's log ratio unless said otherwise.

use std::f64::consts::TAU;
use std::fmt::Write;

use anyhow::{Result, bail};
use tenbin_core::metric::Scale;
use tenbin_core::rng::Rng;
use tenbin_core::schedule;
use tenbin_core::stats::dip;
use tenbin_core::stats::precision::{LOOK_ALPHA, LOOKS, Next, Precision};
use tenbin_core::stats::unpaired::Unpaired;
use tenbin_core::verdict::{self, Correction, Decision, Question, Verdict, decide_together};

/// Arguments of `cargo xtask simulate`.
#[derive(clap::Args)]
pub struct Args {
    /// Campaigns for each line
    #[arg(long, default_value_t = CAMPAIGNS)]
    campaigns: usize,
    /// The seed of them all
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the table of dips for values spread evenly, of which the library holds a copy
    #[arg(long)]
    dip_table: bool,
}

/// As many as the table in METHODOLOGY.md rests on.
const CAMPAIGNS: usize = 4000;

/// Prints the table, and fails where a line is out of its bounds.
pub fn simulate(args: &Args) -> Result<()> {
    if args.dip_table {
        print!("{}", dip_table(args.seed));
        return Ok(());
    }
    let lines = lines(args.campaigns.max(1), args.seed);
    print!("{}", table(&lines));
    let out: Vec<&str> =
        lines.iter().filter(|line| !line.holds()).map(|line| line.setting.as_str()).collect();
    if !out.is_empty() {
        bail!("out of bounds: {}", out.join("; "));
    }
    Ok(())
}

/// A line of the table: a share of campaigns with its bounds.
struct Line {
    question: &'static str,
    setting: String,
    share: f64,
    least: f64,
    most: f64,
    note: String,
}

impl Line {
    fn holds(&self) -> bool {
        (self.least..=self.most).contains(&self.share)
    }

    fn bounds(&self) -> String {
        let percent = |share: f64| format!("{}", (share * 1000.0).round() / 10.0);
        match (self.least > 0.0, self.most < 1.0) {
            (true, true) => format!("{} to {} %", percent(self.least), percent(self.most)),
            (true, false) => format!("at least {} %", percent(self.least)),
            (false, true) => format!("at most {} %", percent(self.most)),
            (false, false) => String::new(),
        }
    }
}

fn table(lines: &[Line]) -> String {
    let mut text = String::from("| what | setting | share | must be |\n|---|---|---|---|\n");
    for line in lines {
        let note = if line.note.is_empty() { String::new() } else { format!(" ({})", line.note) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} %{note} | {} |",
            line.question,
            line.setting,
            line.share * 100.0,
            line.bounds()
        );
    }
    text
}

fn lines(campaigns: usize, seed: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    blocks(&mut lines, campaigns, seed);
    unsound(&mut lines, campaigns, seed);
    curves(&mut lines, campaigns, seed);
    verdicts(&mut lines, campaigns, seed);
    stopping(&mut lines, campaigns, seed);
    lines
}

/// Seeded noise.
struct Noise {
    rng: Rng,
    spare: Option<f64>,
}

impl Noise {
    /// `stream` keeps the lines of the table from sharing their luck.
    fn new(seed: u64, stream: u64) -> Noise {
        Noise { rng: Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(stream)), spare: None }
    }

    /// A standard normal number (Box and Muller).
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let unit = |word: u64| ((word >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0;
        let (radius, angle) =
            ((-2.0 * unit(self.rng.next_u64()).ln()).sqrt(), TAU * unit(self.rng.next_u64()));
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// `count` numbers with deviation 1 of which each follows the one before by `follow`.
    fn following(&mut self, count: usize, follow: f64) -> Vec<f64> {
        let mut last = self.normal();
        let rest = (1.0 - follow * follow).sqrt();
        let step = |_| {
            let this = last;
            last = follow * last + rest * self.normal();
            this
        };
        (0..count).map(step).collect()
    }
}

/// The machines of a session: how runs drift and follow each other, in deviations of a run.
#[derive(Clone, Copy)]
struct Weather {
    name: &'static str,
    drift: f64,
    follow: f64,
}

const CALM: Weather = Weather { name: "independent noise", drift: 0.0, follow: 0.0 };
const DRIFT: Weather = Weather { name: "linear drift of 3 sd", drift: 3.0, follow: 0.0 };
const FOLLOWING: Weather = Weather { name: "AR(1) noise of 0.7", drift: 0.0, follow: 0.7 };
const BOTH: Weather = Weather { name: "drift and AR(1)", drift: 3.0, follow: 0.7 };

/// A run varies by 2 %.
const RUN_SD: f64 = 0.02;

impl Weather {
    /// The log values of `count` runs in a row of the same machine.
    fn runs(self, noise: &mut Noise, count: usize) -> Vec<f64> {
        let slope = self.drift / (count.max(2) - 1) as f64;
        let runs = noise.following(count, self.follow).into_iter().enumerate();
        runs.map(|(at, value)| RUN_SD * (value + slope * at as f64)).collect()
    }

    /// Pairs of blocks of two equal arms, in the order that a plan would have.
    fn pairs(self, noise: &mut Noise, blocks: usize) -> Vec<(f64, f64)> {
        let order = schedule::balanced(noise.rng.next_u64(), 2, blocks);
        let runs = self.runs(noise, 2 * blocks);
        let pair = |(block, arms): (usize, &Vec<usize>)| {
            let value = |arm: usize| {
                let position = arms.iter().position(|other| *other == arm).unwrap_or(0);
                runs[2 * block + position].exp()
            };
            (value(1), value(0))
        };
        order.iter().enumerate().map(pair).collect()
    }
}

fn share(campaigns: usize, mut holds: impl FnMut() -> bool) -> f64 {
    (0..campaigns).filter(|_| holds()).count() as f64 / campaigns as f64
}

fn differs(decision: &Decision) -> bool {
    decision.verdict.is_different()
}

/// Two equal arms in blocks: how often they are told apart.
fn blocks(lines: &mut Vec<Line>, campaigns: usize, seed: u64) {
    for (stream, (weather, blocks)) in
        [CALM, DRIFT, FOLLOWING, BOTH].into_iter().flat_map(|w| [(w, 8), (w, 12)]).enumerate()
    {
        let mut noise = Noise::new(seed, stream as u64);
        let share = share(campaigns, || {
            let pairs = weather.pairs(&mut noise, blocks);
            verdict::decide(&pairs, 0.02, true).is_ok_and(|decision| differs(&decision))
        });
        lines.push(Line {
            question: "equal arms called different",
            setting: format!("{blocks} blocks, {}", weather.name),
            share,
            least: 0.03,
            most: 0.06,
            note: String::new(),
        });
    }
}

/// What the same machines would have made people believe otherwise.
fn unsound(lines: &mut Vec<Line>, campaigns: usize, seed: u64) {
    for (stream, weather) in [DRIFT, BOTH].into_iter().enumerate() {
        let mut noise = Noise::new(seed, 100 + stream as u64);
        let share = share(campaigns, || {
            let runs: Vec<f64> = weather.runs(&mut noise, 24).into_iter().map(f64::exp).collect();
            Unpaired::ratios(&runs[12..], &runs[..12]).is_ok_and(|both| both.p().value <= 0.05)
        });
        lines.push(Line {
            question: "equal arms called different *without* blocks",
            setting: format!("12 runs of one, then 12 of the other, Mann-Whitney, {}", weather.name),
            share,
            least: 0.0,
            most: 1.0,
            note: "why blocks".to_owned(),
        });
    }
    let mut noise = Noise::new(seed, 110);
    let share = share(campaigns, || {
        let pairs = CALM.pairs(&mut noise, 32);
        let claim = |n| verdict::decide(&pairs[..n], 0.02, true).is_ok_and(|decision| differs(&decision));
        (6..=32).any(claim)
    });
    lines.push(Line {
        question: "equal arms called different *by peeking*",
        setting: "after every block from 6 to 32".to_owned(),
        share,
        least: 0.0,
        most: 1.0,
        note: "why rules are fixed".to_owned(),
    });
}

/// Sizes of a simulated curve.
const SIZES: usize = 24;

/// A curve whose sizes share `common` of their variance; size s is shifted by `shift(s)` deviations.
fn curve(noise: &mut Noise, blocks: usize, common: f64, shift: impl Fn(usize) -> f64) -> Vec<Question> {
    let shared: Vec<f64> = (0..blocks).map(|_| noise.normal()).collect();
    let (own, common) = ((1.0 - common).sqrt(), common.sqrt());
    (0..SIZES)
        .map(|size| {
            let value = |all: &f64| {
                let off = common * all + own * noise.normal() + shift(size);
                Some(((RUN_SD * off).exp(), 1.0))
            };
            Question {
                blocks: shared.iter().map(value).collect(),
                margin: 0.02,
                higher_is_better: true,
                scale: Scale::Ratio,
            }
        })
        .collect()
}

fn decided(questions: &[Question], correction: Correction) -> Vec<Decision> {
    decide_together(questions, correction, 1).into_iter().flatten().collect()
}

fn curves(lines: &mut Vec<Line>, campaigns: usize, seed: u64) {
    for (stream, (blocks, common)) in
        [6, 8, 12].into_iter().flat_map(|n| [(n, 0.0), (n, 0.5), (n, 0.9)]).enumerate()
    {
        let mut noise = Noise::new(seed, 200 + stream as u64);
        let share = share(campaigns, || {
            let questions = curve(&mut noise, blocks, common, |_| 0.0);
            decided(&questions, Correction::MaxT).iter().any(differs)
        });
        lines.push(Line {
            question: "any of 24 equal sizes called different",
            setting: format!("{blocks} blocks, correlation {common}"),
            share,
            least: 0.0,
            most: 0.06,
            note: String::new(),
        });
    }
    let mut power = |stream: u64, correction: Correction, name: &str, shifted: usize, by: f64, least: f64| {
        let mut noise = Noise::new(seed, 300 + stream);
        let mut seen = 0;
        for _ in 0..campaigns {
            let questions = curve(&mut noise, 8, 0.0, |size| if size < shifted { by } else { 0.0 });
            seen += decided(&questions, correction)[..shifted].iter().filter(|d| differs(d)).count();
        }
        lines.push(Line {
            question: "a shifted size of 24 is seen",
            setting: format!("8 blocks, {shifted} shifted by {by} sd, {name}"),
            share: seen as f64 / (campaigns * shifted) as f64,
            least,
            most: 1.0,
            note: String::new(),
        });
    };
    power(0, Correction::MaxT, "max-T", 6, 2.0, 0.70);
    power(1, Correction::MaxT, "max-T", 1, 3.0, 0.95);
    power(2, Correction::Holm, "Holm", 6, 2.0, 0.0);
    power(3, Correction::BenjaminiHochberg, "Benjamini-Hochberg", 6, 2.0, 0.0);
    let mut noise = Noise::new(seed, 310);
    let share = share(campaigns, || {
        let truth = |size: usize| if size < 6 { 2.0 } else { 0.0 };
        let decided = decided(&curve(&mut noise, 8, 0.0, truth), Correction::MaxT);
        decided.iter().enumerate().all(|(size, d)| {
            let truth = (RUN_SD * truth(size)).exp();
            d.lo.is_some_and(|lo| lo <= truth) && d.hi.is_some_and(|hi| truth <= hi)
        })
    });
    lines.push(Line {
        question: "all 24 intervals hold their truths",
        setting: "8 blocks, 6 shifted by 2 sd, max-T".to_owned(),
        share,
        least: 0.93,
        most: 1.0,
        note: String::new(),
    });
}

/// The verdict's own risks: calling arms equal that differ by the margin, or materially different.
fn verdicts(lines: &mut Vec<Line>, campaigns: usize, seed: u64) {
    for (stream, sd) in [0.01, 0.02].into_iter().enumerate() {
        let mut noise = Noise::new(seed, 400 + stream as u64);
        let (mut equal, mut material) = (0, 0);
        for _ in 0..campaigns {
            let truth = 0.02f64.ln_1p();
            let pairs: Vec<(f64, f64)> =
                (0..12).map(|_| ((truth + sd * noise.normal()).exp(), 1.0)).collect();
            match verdict::decide(&pairs, 0.02, true).map(|decision| decision.verdict) {
                Ok(Verdict::NoDifference | Verdict::DifferentButNegligible) => equal += 1,
                Ok(Verdict::Faster | Verdict::Slower) => material += 1,
                _ => {}
            }
        }
        let mut line = |question, count: usize, most| {
            lines.push(Line {
                question,
                setting: format!("12 blocks, true difference 2 %, margin 2 %, sd {} %", sd * 100.0),
                share: count as f64 / campaigns as f64,
                least: 0.0,
                most,
                note: String::new(),
            });
        };
        line("called equal within the margin", equal, 0.06);
        line("called different by more than the margin", material, 0.035);
    }
}

fn stopping(lines: &mut Vec<Line>, campaigns: usize, seed: u64) {
    for (stream, (sd, width)) in [(0.02, 0.02), (0.02, 0.0125), (0.04, 0.02)].into_iter().enumerate() {
        let mut noise = Noise::new(seed, 500 + stream as u64);
        let rule = Precision::new(width, 100);
        let mut all = 0;
        let share = share(campaigns, || {
            let (pairs, decision) = until_precise(&mut noise, rule, sd);
            all += pairs;
            decision.is_some_and(|d| d.lo.is_some_and(|lo| lo <= 1.0) && d.hi.is_some_and(|hi| hi >= 1.0))
        });
        lines.push(Line {
            question: "the interval at the stop holds the truth",
            setting: format!("until ci <= {} %, sd {} %", width * 100.0, sd * 100.0),
            share,
            least: 0.935,
            most: 1.0,
            note: format!("{:.1} blocks on average", all as f64 / campaigns as f64),
        });
    }
    let mut noise = Noise::new(seed, 510);
    let share = share(campaigns, || {
        let pairs = CALM.pairs(&mut noise, 32);
        let p = |n: usize| verdict::decide(&pairs[..n], 0.02, true).ok().and_then(|decision| decision.p);
        LOOKS.into_iter().any(|n| p(n).is_some_and(|p| p <= LOOK_ALPHA))
    });
    lines.push(Line {
        question: "equal arms called different at any look",
        setting: format!("five looks ({LOOKS:?}), each at {LOOK_ALPHA}"),
        share,
        least: 0.0,
        most: 0.06,
        note: String::new(),
    });
}

/// Blocks that a campaign of two equal arms takes until its interval is narrow, and the decision then.
fn until_precise(noise: &mut Noise, rule: Precision, sd: f64) -> (usize, Option<Decision>) {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    loop {
        let decision = verdict::decide(&pairs, 0.02, true).ok();
        let width = decision.as_ref().and_then(verdict::relative_half_width);
        match rule.next(pairs.len(), &[width]) {
            Next::Measure(blocks) => pairs.extend((0..blocks).map(|_| ((sd * noise.normal()).exp(), 1.0))),
            Next::Precise | Next::Spent => return (pairs.len(), decision),
        }
    }
}

/// Root n times the dip of n evenly spread values that is exceeded with each of the chances.
fn dip_table(seed: u64) -> String {
    const CHANCES: [f64; 11] = [0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.001];
    let mut text = String::new();
    for n in [4usize, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000] {
        let campaigns = (20_000_000 / n).clamp(4000, 100_000);
        let mut rng = Rng::new(seed.wrapping_add(n as u64));
        let mut value = || (rng.next_u64() >> 11) as f64;
        let mut dips: Vec<f64> = (0..campaigns)
            .filter_map(|_| dip::dip(&(0..n).map(|_| value()).collect::<Vec<f64>>()))
            .map(|dip| dip * (n as f64).sqrt())
            .collect();
        dips.sort_by(f64::total_cmp);
        let bounds =
            CHANCES.map(|chance| format!("{:.4}", dips[((1.0 - chance) * dips.len() as f64) as usize]));
        let _ = writeln!(text, "    ({n}, [{}]),", bounds.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documented() -> String {
        let text = std::fs::read_to_string("../METHODOLOGY.md").unwrap();
        let (_, rest) = text.split_once("<!-- cargo xtask simulate -->\n").unwrap();
        let (table, _) = rest.split_once("<!-- end -->").unwrap();
        table.to_owned()
    }

    /// A few campaigns come close to the table: what shifts the odds shows here, in a second.
    #[test]
    fn a_few_campaigns_agree_with_the_methodology() {
        let few = 150;
        let table = documented();
        let rows: Vec<Vec<&str>> = table.lines().skip(2).map(|row| row.split(" | ").collect()).collect();
        let lines = lines(few, 2);
        assert_eq!(rows.len(), lines.len());
        for (row, line) in rows.iter().zip(&lines) {
            assert_eq!(row[0].trim_start_matches("| "), line.question);
            assert_eq!(row[1], line.setting);
            let share = row[2].split(' ').next().unwrap().parse::<f64>().unwrap() / 100.0;
            let documented =
                Line { share, ..Line { setting: line.setting.clone(), note: String::new(), ..*line } };
            assert!(documented.holds(), "{}: {share} must be {}", line.setting, line.bounds());
            // Four deviations of a share of so few; a line of none may have one or two.
            let reach = 4.0 * (share * (1.0 - share) / few as f64).sqrt() + 2.0 / few as f64;
            assert!((line.share - share).abs() <= reach, "{}: {} but {share}", line.setting, line.share);
        }
    }

    mod slow {
        use super::*;

        #[test]
        fn the_table_of_the_methodology_is_what_comes_out() {
            let lines = lines(CAMPAIGNS, 1);
            assert_eq!(documented(), table(&lines), "put in what `cargo xtask simulate` prints");
        }
    }
}
