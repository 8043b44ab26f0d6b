//! The sides of a comparison out of words: logs, some of a log's runs, runs of a store, arms.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenbin_core::compare::{Seen, Side};
use tenbin_core::env::{Class, Fact};
use tenbin_core::experiment::State;
use tenbin_core::quantity;
use tenbin_core::run::Run;
use tenbin_formats::RunSink;
use tenbin_store::Store;

use super::super::show::{run_number, stored_run};
use crate::args::CompareArgs;
use crate::exit::Failure;
use crate::output;

/// All sides, in their order.
pub fn read(args: &CompareArgs, margin: f64) -> Result<Vec<Side>, Failure> {
    let count = args.sides.len();
    let side = |(index, word): (usize, &String)| {
        let of = Of { word, name: name(word, &args.sides), facts: facts(&args.facts, index, count)?, margin };
        let runs = match stored(word, args)? {
            Some(runs) => reduced(&of, args, &runs)?,
            None => log(&of)?,
        };
        match runs.is_empty() {
            true => Err(Failure::usage(format!("cannot compare {word}: it has no run that counts"))),
            false => Ok(Side::of(of.name, runs)),
        }
    };
    args.sides.iter().enumerate().map(side).collect()
}

/// What a side is to be.
struct Of<'a> {
    word: &'a str,
    name: String,
    facts: Vec<(String, String)>,
    margin: f64,
}

impl Of<'_> {
    /// What a run says, with what the user said of it.
    fn see(&self, mut run: Run, number: i64, block: Option<u32>) -> Seen {
        for (key, value) in &self.facts {
            run.facts.insert(key.clone(), Fact::new(Class::Identity, value.as_str(), "tenbin compare"));
        }
        Seen::of(&run, number, &self.name, block, self.margin)
    }
}

/// What is known of the side at `index` by what the user said: a value for all sides, or one for each.
fn facts(told: &[(String, String)], index: usize, sides: usize) -> Result<Vec<(String, String)>, Failure> {
    let own = |(key, values): &(String, String)| {
        let each: Vec<&str> = values.split(',').collect();
        let value = if each.len() == sides { each[index] } else { values };
        let wrong = match key.as_str() {
            "link.rate" => quantity::parse_bit_rate(value).err(),
            "memory.rate" => quantity::parse_byte_rate(value).err(),
            _ => None,
        };
        match wrong {
            Some(why) => Err(Failure::usage(format!("--fact {key}: {why}"))),
            None => Ok((key.clone(), value.to_owned())),
        }
    };
    told.iter().map(own).collect()
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
fn reduced(of: &Of<'_>, args: &CompareArgs, runs: &[Stored]) -> Result<Vec<Seen>, Failure> {
    let word = of.word;
    let next = AtomicUsize::new(0);
    let some_of_them = || -> Result<Vec<(usize, Seen)>, Failure> {
        let (store, _) = output::open_store_to_read(args.store.as_deref())?;
        let mut seen = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((id, block)) = runs.get(index).copied() else { return Ok(seen) };
            seen.push((index, of.see(stored_run(&store, word, id)?, id, block)));
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

/// What the runs of a log say, or those of them that were chosen.
fn log(of: &Of<'_>) -> Result<Vec<Seen>, Failure> {
    let word = of.word;
    let chosen =
        word.rsplit_once('#').filter(|(path, _)| !Path::new(word).exists() && Path::new(path).exists());
    let path = chosen.map_or(word, |(path, _)| path);
    if !Path::new(path).exists() {
        return Err(Failure::usage(format!(
            "cannot compare {word}: there is no such file\nhint: name a log, FILE#N for its Nth run, run:N or \
             run:N,M, arm:NAME of imported logs, or EXPERIMENT:ARM"
        )));
    }
    let file = File::open(path)
        .map_err(|error| Failure::usage(format!("cannot read {path}: {}", output::why(&error))))?;
    let mut runs = Reducing { of, chosen: chosen.map(|(_, runs)| runs), number: 0, seen: Vec::new() };
    let unread = tenbin_formats::read_log(&mut BufReader::with_capacity(1 << 18, file), &mut runs);
    for part in &unread {
        output::say(&format!("tenbin: {path}: {part}"));
    }
    match (runs.seen.is_empty(), chosen, runs.number) {
        (false, ..) => Ok(runs.seen),
        (true, Some((_, called)), count @ 1..) => Err(Failure::usage(format!(
            "cannot compare {word}: {path} has {count} runs, and none is called {called}\nhint: `tenbin import --json \
             {path}` shows them; the first is {path}#1"
        ))),
        _ => Err(Failure::usage(format!("cannot compare {path}: no run could be read from it"))),
    }
}

/// Reduces runs as they are read.
struct Reducing<'a> {
    of: &'a Of<'a>,
    /// Numbers of runs, or the arm that a table names; `None`: all.
    chosen: Option<&'a str>,
    number: i64,
    seen: Vec<Seen>,
}

impl RunSink for Reducing<'_> {
    fn run(&mut self, run: Run) {
        self.number += 1;
        let arm = run.facts.get("csv.arm").and_then(|fact| fact.value.as_ref()).map(ToString::to_string);
        let wanted = self.chosen.is_none_or(|chosen| {
            arm.is_some_and(|arm| arm == chosen)
                || chosen.split(',').any(|one| one.trim().parse() == Ok(self.number))
        });
        if wanted {
            self.seen.push(self.of.see(run, self.number, None));
        }
    }
}

/// What a side is called: a log by its name without folder and ending, where that tells it from the others.
pub fn name(word: &str, all: &[String]) -> String {
    let short = |word: &str| match word.strip_prefix("arm:") {
        Some(arm) => arm.to_owned(),
        None => Path::new(word)
            .file_stem()
            .filter(|_| !word.contains('#'))
            .map_or_else(|| last(word).to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let own = short(word);
    match all.iter().filter(|other| short(other) == own).count() {
        1 => own,
        _ => word.to_owned(),
    }
}

fn last(word: &str) -> &str {
    word.rsplit_once('/').map_or(word, |(_, last)| last)
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
