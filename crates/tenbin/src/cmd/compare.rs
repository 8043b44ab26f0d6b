//! `tenbin compare A B [C...]`: runs that exist already, each configuration against the first.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenbin_core::compare::{Answer, Options, Seen, Side, compare as weigh};
use tenbin_core::experiment::State;
use tenbin_core::quantity;
use tenbin_core::run::Run;
use tenbin_core::verdict::{Correction, Verdict};
use tenbin_formats::RunSink;
use tenbin_store::Store;

use super::show::{run_number, stored_run};
use crate::args::{CompareArgs, CorrectionArg, Gate};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Compares what was named, prints the answer, and trips the gate that was asked for.
pub fn compare(args: &CompareArgs) -> Outcome {
    let margin =
        quantity::parse_percent(&args.margin).map_err(|why| Failure::usage(format!("--margin: {why}")))?;
    let correction = match args.correction {
        CorrectionArg::MaxT => Correction::MaxT,
        CorrectionArg::Holm => Correction::Holm,
        CorrectionArg::Bh => Correction::BenjaminiHochberg,
    };
    let options = Options { margin, correction, ..Options::default() };
    let sides = args.sides.iter().map(|word| side(word, args, margin));
    let sides: Vec<Side> = sides.collect::<Result<_, _>>()?;
    let [base, arms @ ..] = sides.as_slice() else {
        return Err(Failure::usage("nothing to compare\nhint: tenbin compare old.log new.log"));
    };
    let answers: Vec<Answer> = arms.iter().map(|arm| weigh(base, arm, &options)).collect();
    if args.json {
        output::print(&format!("{:#}\n", tenbin_report::json::answers(&answers)))?;
    } else {
        output::print(&tenbin_report::text::answers(&answers, output::width()))?;
    }
    if answers.iter().all(|answer| answer.rows.is_empty()) {
        return Err(Failure::usage("nothing was compared: the sides have no metric in common"));
    }
    let tripped = |answer: &Answer| answer.rows.iter().any(|row| trips(args, row.comparison.result.verdict));
    match answers.iter().any(tripped) {
        true => Ok(Exit::Tripped),
        false => Ok(Exit::Done),
    }
}

fn trips(args: &CompareArgs, verdict: Verdict) -> bool {
    args.fail_if.iter().any(|gate| match gate {
        Gate::Slower => verdict == Verdict::Slower,
        Gate::Unclear => matches!(
            verdict,
            Verdict::SlowerSizeUncertain
                | Verdict::CantTell
                | Verdict::NeedMoreBlocks
                | Verdict::DescriptionOnly
        ),
    })
}

/// Reads a side: a log, runs of the store, or an arm.
fn side(word: &str, args: &CompareArgs, margin: f64) -> Result<Side, Failure> {
    let name = name(word, &args.sides);
    let runs = match stored(word, args)? {
        Some(runs) => reduced(word, args, &runs, &name, margin)?,
        None if Path::new(word).exists() => read(Path::new(word), &name, margin)?,
        None => {
            return Err(Failure::usage(format!(
                "cannot compare {word}: there is no such file\nhint: name a log, run:N or run:N,M, arm:NAME of \
                 imported logs, or EXPERIMENT:ARM"
            )));
        }
    };
    if runs.is_empty() {
        return Err(Failure::usage(format!("cannot compare {word}: it has no run that counts")));
    }
    Ok(Side { name, runs })
}

/// A run in the store, with the block it was measured in.
type Stored = (i64, Option<u32>);

/// The stored runs that a word means; `None` if it means none.
fn stored(word: &str, args: &CompareArgs) -> Result<Option<Vec<Stored>>, Failure> {
    let open = || output::open_store_to_read(args.store.as_deref()).map(|(store, _)| store);
    if let Some(numbers) = word.strip_prefix("run:") {
        let runs = numbers.split(',').map(|number| Ok((run_number(word, number)?, None)));
        return runs.collect::<Result<_, Failure>>().map(Some);
    }
    if let Some(arm) = word.strip_prefix("arm:") {
        let lone = open()?.lone(usize::MAX).map_err(Failure::cannot)?;
        let of_arm = lone.iter().rev().filter(|run| run.arm.as_deref() == Some(arm));
        return Ok(Some(of_arm.map(|run| (run.id, None)).collect()));
    }
    match word.rsplit_once(':') {
        Some((experiment, arm)) if !Path::new(word).exists() => {
            of_experiment(&open()?, experiment, arm).map(Some)
        }
        _ => Ok(None),
    }
}

/// What stored runs say. Each is read, reduced and let go of, on every CPU that there is.
fn reduced(
    word: &str,
    args: &CompareArgs,
    runs: &[Stored],
    name: &str,
    margin: f64,
) -> Result<Vec<Seen>, Failure> {
    let next = AtomicUsize::new(0);
    let some_of_them = || -> Result<Vec<(usize, Seen)>, Failure> {
        let (store, _) = output::open_store_to_read(args.store.as_deref())?;
        let mut seen = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((id, block)) = runs.get(index).copied() else { return Ok(seen) };
            let run = stored_run(&store, word, id)?;
            seen.push((index, Seen::of(&run, id, name, block, margin)));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(runs.len());
    let parts: Vec<Result<Vec<(usize, Seen)>, Failure>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(some_of_them)).collect();
        let lost = || Err(Failure::cannot(format!("cannot compare {word}: a thread was lost")));
        started.into_iter().map(|worker| worker.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut all: Vec<(usize, Seen)> = Vec::new();
    for part in parts {
        all.extend(part?);
    }
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, seen)| seen).collect())
}

/// What a side is called: a log by its name without folder and ending, where that tells it from the others.
fn name(word: &str, all: &[String]) -> String {
    let short = |word: &str| match word.strip_prefix("arm:") {
        Some(arm) => arm.to_owned(),
        None => Path::new(word)
            .file_stem()
            .map_or_else(|| word.to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let own = short(word);
    match all.iter().filter(|other| short(other) == own).count() {
        1 => own,
        _ => word.to_owned(),
    }
}

/// What the runs of a log say.
fn read(path: &Path, name: &str, margin: f64) -> Result<Vec<Seen>, Failure> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {}", output::why(&error))))?;
    let mut runs = Reducing { name, margin, seen: Vec::new() };
    let unread = tenbin_formats::read_log(&mut BufReader::with_capacity(1 << 18, file), &mut runs);
    for part in &unread {
        output::say(&format!("tenbin: {shown}: {part}"));
    }
    match runs.seen.is_empty() {
        true => Err(Failure::usage(format!("cannot compare {shown}: no run could be read from it"))),
        false => Ok(runs.seen),
    }
}

/// Reduces runs as they are read.
struct Reducing<'a> {
    name: &'a str,
    margin: f64,
    seen: Vec<Seen>,
}

impl RunSink for Reducing<'_> {
    fn run(&mut self, run: Run) {
        let number = self.seen.len() as i64 + 1;
        self.seen.push(Seen::of(&run, number, self.name, None, self.margin));
    }
}

/// The runs of an arm that count, with their blocks.
fn of_experiment(store: &Store, selector: &str, arm: &str) -> Result<Vec<Stored>, Failure> {
    let experiment = store.outline(store.find(selector).map_err(Failure::usage)?).map_err(Failure::cannot)?;
    let arms = &experiment.plan.arms;
    let Some(index) = arms.iter().position(|one| one.name == arm) else {
        let known: Vec<&str> = arms.iter().map(|one| one.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "cannot compare {selector}:{arm}: the experiment has no such arm\nhint: it has {}",
            known.join(", ")
        )));
    };
    let counts = experiment.records.iter().filter(|record| record.state == State::Done);
    let of_arm = counts.filter(|record| record.slot.arm as usize == index);
    Ok(of_arm.map(|record| (record.id, Some(record.slot.block))).collect())
}
