//! Finds the lines of Himeno's programs in a log.

use std::io::BufRead;

use super::reading::{Reading, Reference};
use crate::clean::{Line, Lines};
use crate::{ParseError, RunSink};

/// Whether only Himeno's benchmark writes such a line.
pub fn is_himeno(text: &str) -> bool {
    match mark(text) {
        Some(
            Mark::Rate(_)
            | Mark::RateIn { .. }
            | Mark::Score(..)
            | Mark::Residual(_)
            | Mark::Arrays(_)
            | Mark::Rehearsal,
        ) => true,
        Some(Mark::Loops(_)) => text.starts_with("Loop executed"),
        Some(Mark::Suite(_)) => true,
        _ => false,
    }
}

/// Whether the benchmark's output has begun by this line.
pub fn opens(text: &str) -> bool {
    matches!(mark(text), Some(Mark::Arrays(_) | Mark::Whole | Mark::Rehearsal))
}

/// Reads every run of a log.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut reading = Reading::default();
    let mut said = None;
    let mut any = false;
    loop {
        let line = lines.next()?;
        let mark = line.as_ref().and_then(|line| mark_of(line));
        if line.is_none() || mark.as_ref().is_some_and(|mark| begins(mark, &reading)) {
            said = said.or(reading.said.take());
            if let Some(run) = std::mem::take(&mut reading).run() {
                any = true;
                out.run(run);
            }
        }
        let Some(line) = line else { break };
        match mark {
            Some(mark) => take(mark, &mut reading),
            None => other(line.text.trim(), &mut reading),
        }
    }
    if any {
        return Ok(());
    }
    let said = said.unwrap_or_else(|| "the log ends before the measurement does".to_owned());
    Err(ParseError::NothingMeasured { tool: "himeno", said })
}

/// What a line says.
enum Mark {
    /// The extents of the arrays (`mimax`).
    Arrays([i64; 3]),
    /// The points of the grid, or of one process's part of it (`imax`).
    Points([i64; 3]),
    /// How the grid is divided.
    Parts([i64; 3]),
    /// `Sequential version array size`: of the whole grid.
    Whole,
    /// `Parallel version array size`: of one process's part.
    Part,
    /// `1 node used.`
    Nodes(i64),
    Rehearsal,
    /// `MFLOPS: 1 time(s): 2 3`: the rehearsal or, in Fortran, the result.
    Pair {
        mflops: f64,
        seconds: Option<f64>,
    },
    /// The final measurement begins.
    Start,
    Loops(i64),
    Residual(f64),
    /// `MFLOPS measured :` and what follows.
    Rate(f64),
    /// `MFLOPS measured : ... cpu : ...` in one line.
    RateIn {
        mflops: f64,
        seconds: f64,
    },
    Seconds(f64),
    Score(f64, Reference),
    /// The Phoronix Test Suite's heading, or its name of the test.
    Suite(Option<String>),
}

/// Whether `mark` belongs to the next run.
fn begins(mark: &Mark, reading: &Reading) -> bool {
    match mark {
        Mark::Arrays(_) => (reading.arrays.is_some() && !reading.parted) || reading.mflops.is_some(),
        Mark::Whole | Mark::Nodes(_) | Mark::Suite(_) => reading.begun(),
        Mark::Rehearsal => reading.rehearsed() || reading.mflops.is_some(),
        Mark::Rate(_) | Mark::RateIn { .. } => reading.mflops.is_some(),
        Mark::Seconds(_) | Mark::Loops(_) | Mark::Residual(_) | Mark::Pair { .. } => reading.score.is_some(),
        Mark::Score(..) => reading.score.is_some(),
        Mark::Points(_) | Mark::Parts(_) | Mark::Part | Mark::Start => false,
    }
}

fn take(mark: Mark, reading: &mut Reading) {
    match mark {
        // The first of an MPI program's pair is the whole grid's.
        Mark::Arrays(extents) => {
            reading.arrays.get_or_insert(extents);
        }
        Mark::Points(points) => {
            reading.points.get_or_insert(points);
        }
        Mark::Parts(parts) => reading.parts = Some(parts),
        Mark::Whole => {}
        Mark::Part => reading.parted = true,
        Mark::Nodes(count) => reading.ranks = Some(count),
        Mark::Rehearsal => reading.rehearsing = true,
        Mark::Start => reading.rehearsing = false,
        Mark::Pair { mflops, seconds } if reading.is_final() => {
            reading.mflops = Some(mflops);
            reading.seconds = seconds;
        }
        Mark::Pair { mflops, .. } => reading.rehearsal = Some(mflops),
        Mark::Loops(count) => reading.loops = Some(count),
        Mark::Residual(value) => reading.residual = Some(value),
        Mark::Rate(mflops) => reading.mflops = Some(mflops),
        Mark::RateIn { mflops, seconds } => {
            reading.mflops = Some(mflops);
            reading.seconds = Some(seconds);
        }
        Mark::Seconds(seconds) => reading.seconds = Some(seconds),
        Mark::Score(score, reference) => reading.score = Some((score, reference)),
        Mark::Suite(test) => {
            reading.suite = true;
            reading.test = reading.test.take().or(test);
        }
    }
}

/// Lines that only mean something in their place, and what tells why there is no result.
fn other(text: &str, reading: &mut Reading) {
    if reading.suite {
        if let Some(mflops) = number(text).filter(|_| !text.contains(' ')) {
            reading.trials.push(mflops);
        } else if let Some(average) = text.strip_prefix("Average:").filter(|rest| rest.contains("MFLOPS")) {
            reading.average = first(average);
        }
    }
    let errors =
        ["nvalid number of PE", "Invalid input", "MALLOC FAILED", "Invalid argument", "egmentation fault"];
    if errors.iter().any(|words| text.contains(words)) {
        reading.said.get_or_insert_with(|| text.to_owned());
    }
}

/// The mark of a line; of a cut line only what is complete beyond doubt.
fn mark_of(line: &Line<'_>) -> Option<Mark> {
    let text = line.text.trim_start();
    if line.whole {
        return mark(text);
    }
    // C prints six decimals behind single blanks; how many Fortran prints depends on its compiler.
    if text.contains("  ") {
        return None;
    }
    let last = text.split_whitespace().last()?;
    let whole = last.split_once('.').is_some_and(|(_, decimals)| {
        decimals.len() >= 6 && (decimals.contains("e-") && decimals.len() == 10 || !decimals.contains('e'))
    });
    if whole { mark(text) } else { None }
}

fn mark(text: &str) -> Option<Mark> {
    if text.starts_with("mimax") {
        return extents(text, ["mimax", "mjmax", "mkmax"]).map(Mark::Arrays);
    }
    if text.starts_with("imax") {
        return extents(text, ["imax", "jmax", "kmax"]).map(Mark::Points);
    }
    if text.starts_with("I-decomp") {
        return extents(text, ["I-decomp", "J-decomp", "K-decomp"]).map(Mark::Parts);
    }
    if text.starts_with("Sequential version array size") {
        return Some(Mark::Whole);
    }
    if text.starts_with("Parallel version array size") {
        return Some(Mark::Part);
    }
    if text.starts_with("Start rehearsal measurement") {
        return Some(Mark::Rehearsal);
    }
    if text.starts_with("Now, start the actual measurement") {
        return Some(Mark::Start);
    }
    if text.starts_with("pts/himeno") {
        return Some(Mark::Suite(text.split_whitespace().next().map(str::to_owned)));
    }
    if text.starts_with("Himeno Benchmark 3") && text.ends_with(':') {
        return Some(Mark::Suite(None));
    }
    if let Some(rest) = text.strip_prefix("MFLOPS measured") {
        let mflops = first(rest)?;
        let seconds = rest.split_once("cpu").and_then(|(_, rest)| first(rest));
        return Some(match seconds {
            Some(seconds) => Mark::RateIn { mflops, seconds },
            None => Mark::Rate(mflops),
        });
    }
    if let Some(rest) = text.strip_prefix("MFLOPS:") {
        let seconds = rest.split_once("time(s):").and_then(|(_, rest)| first(rest));
        return first(rest).map(|mflops| Mark::Pair { mflops, seconds });
    }
    if let Some(rest) = text.strip_prefix("Loop executed for") {
        return first(rest).map(|count| Mark::Loops(count as i64));
    }
    if let Some(rest) = text.strip_prefix("Gosa") {
        return first(rest).map(Mark::Residual);
    }
    if let Some(rest) = text.strip_prefix("cpu") {
        return first(rest).map(Mark::Seconds).filter(|_| rest.trim_start().starts_with(':'));
    }
    if let Some(rest) = text.strip_prefix("Score based on") {
        let (machine, score) = rest.rsplit_once(':')?;
        let reference =
            if machine.contains("Pentium III") { Reference::PentiumIii } else { Reference::Other };
        return number(score.trim()).map(|score| Mark::Score(score, reference));
    }
    let (count, rest) = text.split_once(' ')?;
    (rest.starts_with("node used") || rest.starts_with("nodes used"))
        .then(|| count.parse().ok().map(Mark::Nodes))
        .flatten()
}

/// Three numbers behind their names: `mimax = 65 mjmax = 65 mkmax = 129`.
fn extents(text: &str, names: [&str; 3]) -> Option<[i64; 3]> {
    let mut found = [0; 3];
    let mut rest = text;
    for (name, slot) in names.into_iter().zip(&mut found) {
        rest = rest.split_once(name)?.1.trim_start().strip_prefix('=')?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        *slot = rest.get(..end)?.parse().ok().filter(|n: &i64| (1..=1 << 20).contains(n))?;
    }
    Some(found)
}

/// The first word that is a number, behind at most a colon.
fn first(text: &str) -> Option<f64> {
    let text = text.trim_start();
    number(text.strip_prefix(':').unwrap_or(text).split_whitespace().next()?)
}

/// A number of C or Fortran (`1.7D-03`).
fn number(word: &str) -> Option<f64> {
    let plain = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let value = word.parse().ok().or_else(|| word.replace(['D', 'd'], "e").parse().ok());
    value.filter(|value: &f64| plain && value.is_finite())
}
