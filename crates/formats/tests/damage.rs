//! Every log in `testdata`, damaged: cut at either end, lines lost, lines in another order, bytes changed.
//!
//! The rule, beside that nothing panics and every run is [`sound`]: each number, sample or figure as reported, is
//! - one that the undamaged log gives for the same metric, or
//! - one that stands in the undamaged log as a whole number, times the factor of some unit (another part of a log
//!   speaks up when the better one is gone, so the number may be new), or
//! - of a metric that is counted or worked out from what is left ([`WORKED_OUT`], [`SUMMED`]), or in a run that says that numbers
//!   were recomputed.
//!
//! So half a number, which stands nowhere as a whole one, is caught, be it cut off by the end of the log or put together
//! from two halves. A changed byte makes a number another one or two: there only soundness is asked for. Params are left out of the rule: what stood in a lost line can't be known.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::rng::Rng;
use tenbin_core::run::Run;
use tenbin_formats::{FORMATS, Format, recognise};

mod sound;

/// Counted from the lines that are there, the quotient of such counts, or the sum of shares.
const WORKED_OUT: [&str; 7] = [
    "cpu_utilization",
    "packets_sent",
    "packets_received",
    "packets_lost",
    "duplicates",
    "reordered",
    "loss",
];

/// By tool: sums over the targets that are there, divided by the time.
const SUMMED: [(&str, &str); 2] = [("diskspd", "bandwidth"), ("diskspd", "iops")];

/// What a printed number is multiplied with: prefixes, bits of a byte, KDiskMark's 1024 * 1000, halves of round trips.
fn factors() -> Vec<f64> {
    let mut all = Vec::new();
    for prefix in [1e-9, 1e-6, 1e-3, 1e-2, 1.0, 1e3, 1e6, 1e9, 1e12] {
        all.extend([1.0, 8.0, 0.125, 0.5, 1.024].map(|more| prefix * more));
    }
    for power in 1..=4 {
        let binary = 1024_f64.powi(power);
        all.extend([binary, binary * 8.0, 1.0 / binary]);
    }
    all
}

/// A way to damage a log.
type Damage = fn(&[u8], &mut Rng) -> Vec<u8>;

fn place(log: &[u8], rng: &mut Rng) -> usize {
    rng.below(log.len() as u64 + 1) as usize
}

fn lines(log: &[u8], change: impl FnOnce(&mut Vec<&[u8]>)) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    change(&mut lines);
    lines.concat()
}

fn end_lost(log: &[u8], rng: &mut Rng) -> Vec<u8> {
    log[..place(log, rng)].to_vec()
}

/// Never within a number: that a file begins in the middle of one can't be seen.
fn beginning_lost(log: &[u8], rng: &mut Rng) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_digit() || b".,".contains(byte));
    let mut from = place(log, rng);
    while from > 0 && digit(log.get(from - 1)) && digit(log.get(from)) {
        from += 1;
    }
    log[from..].to_vec()
}

fn lines_lost(log: &[u8], rng: &mut Rng) -> Vec<u8> {
    lines(log, |lines| {
        let from = rng.below(lines.len() as u64) as usize;
        // Mostly a few, now and then many.
        let most = if rng.below(4) == 0 { lines.len() } else { 3 };
        let to = (from + 1 + rng.below(most as u64) as usize).min(lines.len());
        lines.drain(from..to);
    })
}

fn lines_swapped(log: &[u8], rng: &mut Rng) -> Vec<u8> {
    lines(log, |lines| {
        let [a, b] = [(); 2].map(|()| rng.below(lines.len() as u64) as usize);
        lines.swap(a, b);
    })
}

fn bytes_changed(log: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut log = log.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(log.len() as u64) as usize;
        log[at] = match rng.below(3) {
            0 => rng.below(256) as u8,
            1 => b"0123456789.-e,:|\"{}[] \t\n"[rng.below(24) as usize],
            _ => log[at] ^ (1 << rng.below(8)),
        };
    }
    log
}

fn parse(format: &dyn Format, mut log: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let _ = format.parse(&mut log, &mut runs);
    runs
}

/// The numbers of a log, and what each of them is of.
fn numbers(runs: &[Run]) -> BTreeSet<(&str, u64)> {
    let series = runs.iter().filter(|run| !recomputed(run)).flat_map(|run| &run.series);
    let numbers = series.flat_map(|series| {
        let samples = series.samples.iter().map(|sample| sample.value);
        let all = samples.chain(series.reported.values().copied());
        all.map(|number| (series.metric.name.as_ref(), number.to_bits()))
    });
    numbers.collect()
}

fn recomputed(run: &Run) -> bool {
    run.caveats.iter().any(|caveat| caveat.kind == CaveatKind::Recomputed)
}

/// The numbers that stand in a text as whole ones, in order.
fn words(text: &[u8]) -> Vec<f64> {
    let text = String::from_utf8_lossy(text);
    let mut found = vec![0.0];
    // As they are, with a comma in the place of the point, and with commas or blanks between thousands.
    for apart in [false, true] {
        let part =
            |c: char| c.is_ascii_digit() || c == '.' || (apart && matches!(c, ',' | 'e' | 'E' | '+' | '-'));
        for word in text.split(|c: char| !part(c)) {
            for word in [word.to_owned(), word.replace(',', "."), word.replace(',', "")] {
                found.extend(word.trim_matches(['.', '-', '+', 'e', 'E']).parse::<f64>().ok());
            }
        }
    }
    found.retain(|number| number.is_finite());
    found.sort_by(f64::total_cmp);
    found
}

fn stands_in(words: &[f64], number: f64) -> bool {
    let number = number.abs();
    let near = |wanted: f64| {
        let from = words.partition_point(|word| *word < wanted * (1.0 - 1e-9));
        words.get(from).is_some_and(|word| *word <= wanted * (1.0 + 1e-9))
    };
    factors().iter().any(|factor| near(number / factor))
}

/// Damages every log `times` times.
fn check(damage: Damage, changes_numbers: bool, times: u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let mut logs = 0;
    for format in FORMATS {
        let tool = format.name();
        for entry in fs::read_dir(folder.join(tool)).into_iter().flatten() {
            let file = entry.unwrap().path();
            let log = fs::read(&file).unwrap();
            logs += 1;
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let whole = parse(*format, &log);
            let (known, mut printed) = (numbers(&whole), None);
            let mut rng = Rng::new(
                name.bytes().fold(log.len() as u64, |hash, byte| hash * 31 % 1_000_003 + u64::from(byte)),
            );
            for _ in 0..times {
                let damaged = damage(&log, &mut rng);
                let runs = parse(*format, &damaged);
                let mut tell = |what: String| {
                    wrong.entry(what).or_insert_with(|| {
                        format!("{tool}/{name} as\n{}", String::from_utf8_lossy(&damaged))
                    });
                };
                for run in &runs {
                    sound::breaches(run, tool).into_iter().for_each(&mut tell);
                }
                if changes_numbers {
                    continue;
                }
                let unknown = numbers(&runs).into_iter().filter(|number| !known.contains(number));
                let asked = |metric: &str| !WORKED_OUT.contains(&metric) && !SUMMED.contains(&(tool, metric));
                for (metric, bits) in unknown.filter(|(metric, _)| asked(metric)) {
                    let number = f64::from_bits(bits);
                    if !stands_in(printed.get_or_insert_with(|| words(&log)), number) {
                        tell(format!("{tool}: {metric} {number:e}"));
                    }
                }
            }
            // What asks every format asks with every kind of damage once.
            let _ = recognise(&damage(&log, &mut rng));
        }
    }
    assert!(logs > 200, "{logs} logs in {}", folder.display());
    if let Some((what, first)) = wrong.first_key_value() {
        let rest: Vec<&str> = wrong.keys().map(String::as_str).collect();
        panic!("{} wrong:\n{}\nfirst: {what} in {first}", wrong.len(), rest.join("\n"));
    }
}

#[test]
fn without_their_end() {
    check(end_lost, false, 5);
}

#[test]
fn without_their_beginning() {
    check(beginning_lost, false, 3);
}

#[test]
fn with_lines_lost() {
    check(lines_lost, false, 3);
}

#[test]
fn with_lines_swapped() {
    check(lines_swapped, false, 3);
}

#[test]
fn with_bytes_changed() {
    check(bytes_changed, true, 3);
}

mod slow {
    use super::*;

    #[test]
    fn many_times() {
        for damage in [end_lost, beginning_lost, lines_lost, lines_swapped] as [Damage; 4] {
            check(damage, false, 40);
        }
        check(bytes_changed, true, 40);
    }
}
