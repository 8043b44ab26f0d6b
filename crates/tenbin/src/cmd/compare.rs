//! `tenbin compare A B [C...]`: runs that exist already, each configuration against the first.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use tenbin_core::compare::{Answer, Member, Options, Side, compare as weigh};
use tenbin_core::experiment::State;
use tenbin_core::quantity;
use tenbin_core::run::Run;
use tenbin_core::verdict::{Correction, Verdict};
use tenbin_store::Store;

use super::show::stored_run;
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
    let sides: Vec<Named> = args.sides.iter().map(|side| named(side, args)).collect::<Result<_, _>>()?;
    let [base, arms @ ..] = sides.as_slice() else {
        return Err(Failure::usage("nothing to compare\nhint: tenbin compare old.log new.log"));
    };
    let answers: Vec<Answer> = arms.iter().map(|arm| weigh(&base.side(), &arm.side(), &options)).collect();
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

/// A side that was named, with runs of its own.
struct Named {
    name: String,
    runs: Vec<(Run, Option<u32>)>,
}

impl Named {
    fn side(&self) -> Side<'_> {
        let runs = self.runs.iter().map(|(run, block)| Member { run, block: *block });
        Side { name: self.name.clone(), runs: runs.collect() }
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
fn named(word: &str, args: &CompareArgs) -> Result<Named, Failure> {
    let runs = if let Some(numbers) = word.strip_prefix("run:") {
        let (store, _) = output::open_store_to_read(args.store.as_deref())?;
        let runs = numbers.split(',').map(|number| Ok((stored_run(&store, word, number)?, None)));
        runs.collect::<Result<_, Failure>>()?
    } else if let Some(arm) = word.strip_prefix("arm:") {
        let (store, _) = output::open_store_to_read(args.store.as_deref())?;
        let lone = store.lone(usize::MAX).map_err(Failure::cannot)?;
        let of_arm = lone.iter().rev().filter(|run| run.arm.as_deref() == Some(arm));
        of_arm
            .map(|run| Ok((stored_run(&store, word, &run.id.to_string())?, None)))
            .collect::<Result<_, Failure>>()?
    } else if Path::new(word).exists() {
        read(Path::new(word))?.into_iter().map(|run| (run, None)).collect()
    } else if let Some((experiment, arm)) = word.rsplit_once(':') {
        let (store, _) = output::open_store_to_read(args.store.as_deref())?;
        of_experiment(&store, experiment, arm)?
    } else {
        return Err(Failure::usage(format!(
            "cannot compare {word}: there is no such file\nhint: name a log, run:N or run:N,M, arm:NAME of imported \
             logs, or EXPERIMENT:ARM"
        )));
    };
    if runs.is_empty() {
        return Err(Failure::usage(format!("cannot compare {word}: it has no run that counts")));
    }
    Ok(Named { name: name(word, &args.sides), runs })
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

/// The runs of a log.
fn read(path: &Path) -> Result<Vec<Run>, Failure> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {}", output::why(&error))))?;
    let mut runs: Vec<Run> = Vec::new();
    let unread = tenbin_formats::read_log(&mut BufReader::with_capacity(1 << 18, file), &mut runs);
    for part in &unread {
        output::say(&format!("tenbin: {shown}: {part}"));
    }
    match runs.is_empty() {
        true => Err(Failure::usage(format!("cannot compare {shown}: no run could be read from it"))),
        false => Ok(runs),
    }
}

/// The runs of an arm that count, with their blocks.
fn of_experiment(store: &Store, selector: &str, arm: &str) -> Result<Vec<(Run, Option<u32>)>, Failure> {
    let experiment = store.load(store.find(selector).map_err(Failure::usage)?).map_err(Failure::cannot)?;
    let arms = &experiment.plan.arms;
    let Some(index) = arms.iter().position(|one| one.name == arm) else {
        let known: Vec<&str> = arms.iter().map(|one| one.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "cannot compare {selector}:{arm}: the experiment has no such arm\nhint: it has {}",
            known.join(", ")
        )));
    };
    let counts = experiment.records.into_iter().filter(|record| record.state == State::Done);
    let of_arm = counts.filter(|record| record.slot.arm as usize == index);
    Ok(of_arm.filter_map(|record| Some((record.run?, Some(record.slot.block)))).collect())
}
