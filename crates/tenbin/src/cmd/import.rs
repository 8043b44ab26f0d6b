//! `tenbin import FILE...`: logs of other tools into runs; stores of other machines into this one.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use tenbin_core::env::{Class, Fact};
use tenbin_core::run::Run;
use tenbin_formats::{Unread, clean};

use crate::args::ImportArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

mod walk;

use walk::Input;

/// Enough for a format to be recognised by, and few calls of the system for a long log.
const BUFFER: usize = 256 * 1024;

/// Reads every file; what can't be read is said, and the rest is there.
pub fn import(args: &ImportArgs) -> Outcome {
    let mut intake = Intake { args, runs: Vec::new(), errors: Vec::new(), failed: 0 };
    let inputs = walk::inputs(&args.files);
    for input in &inputs {
        intake.input(input)?;
    }
    if args.json {
        output::print(&format!("{:#}\n", tenbin_report::json::imported(&intake.runs, &intake.errors)))?;
    } else {
        output::print(&tenbin_report::text::imported(&intake.runs, output::width()))?;
    }
    match (inputs.len(), intake.failed) {
        (0, _) => Err(Failure::usage("there is no file in what was named\nhint: hidden files are left out")),
        (_, 0) => Ok(Exit::Done),
        (all, failed) => {
            Err(Failure::new(Exit::Partial, format!("{failed} of {all} files could not be imported whole")))
        }
    }
}

struct Intake<'a> {
    args: &'a ImportArgs,
    runs: Vec<Run>,
    /// Source and what is to be said about it.
    errors: Vec<(String, String)>,
    /// Files that gave nothing.
    failed: usize,
}

impl Intake<'_> {
    fn input(&mut self, input: &Input) -> Result<(), Failure> {
        let name = input.name();
        match input {
            Input::Stdin => {
                self.read(&name, &mut BufReader::with_capacity(BUFFER, io::stdin().lock()));
            }
            Input::File(path) => match File::open(path) {
                Ok(file) => {
                    let mut reader = BufReader::with_capacity(BUFFER, file);
                    match store_or_other(&mut reader) {
                        Some(Ok(())) => return self.merge(path, &name),
                        Some(Err(why)) => self.fail(&name, why),
                        None => self.read(&name, &mut reader),
                    }
                }
                Err(error) => self.fail(&name, &format!("cannot open it: {}", output::why(&error))),
            },
            Input::Unreadable(_, why) => self.fail(&name, why),
        }
        Ok(())
    }

    /// Reads a log.
    fn read(&mut self, name: &str, reader: &mut dyn BufRead) {
        match reader.fill_buf() {
            Ok([]) => return self.fail(name, "it is empty"),
            Ok(head) => {
                if let Some(what) = clean::binary(head) {
                    return self.fail(name, what);
                }
            }
            Err(error) => return self.fail(name, &format!("cannot read it: {}", output::why(&error))),
        }
        let before = self.runs.len();
        let mut sink = Labelled { intake: self, name };
        let unread = tenbin_formats::read_log(reader, &mut sink);
        let nothing = self.runs.len() == before;
        self.failed += usize::from(nothing);
        for part in &unread {
            self.say(name, &part.to_string());
        }
        if nothing && unread.is_empty() {
            self.say(name, &Unread::Unknown("none".to_owned()).to_string());
        }
    }

    fn merge(&mut self, path: &std::path::Path, name: &str) -> Result<(), Failure> {
        if self.args.json && self.args.store.is_none() {
            self.fail(name, "it is a store of tenbin\nhint: name the store to add it to with --store FILE");
            return Ok(());
        }
        let (mut store, _) = output::open_store(self.args.store.as_deref())?;
        match store.merge(path) {
            Ok(merged) => {
                for failure in &merged.failed {
                    self.say(name, &failure.to_string());
                }
                self.failed += usize::from(!merged.failed.is_empty());
                let text = format!(
                    "{name}: {} experiments added, {} brought up to date, {} known already",
                    merged.added.len(),
                    merged.updated.len(),
                    merged.unchanged
                );
                if self.args.json {
                    output::say(&text);
                } else {
                    output::print(&format!("{text}\n"))?;
                }
            }
            Err(error) => self.fail(name, &error.to_string()),
        }
        Ok(())
    }

    fn fail(&mut self, name: &str, why: &str) {
        self.failed += 1;
        self.say(name, why);
    }

    fn say(&mut self, name: &str, why: &str) {
        let text = if why.contains(name) { why.to_owned() } else { format!("{name}: {why}") };
        if !self.args.json {
            output::say(&format!("tenbin: {text}"));
        }
        self.errors.push((name.to_owned(), text));
    }
}

/// Runs with where they came from and what the user said about them.
struct Labelled<'a, 'b> {
    intake: &'a mut Intake<'b>,
    name: &'a str,
}

impl tenbin_formats::RunSink for Labelled<'_, '_> {
    fn run(&mut self, mut run: Run) {
        self.name.clone_into(&mut run.source);
        let told = |value: &str| Fact::new(Class::Identity, value, "tenbin import");
        for (key, value) in &self.intake.args.facts {
            run.facts.insert(key.clone(), told(value));
        }
        if let Some(arm) = &self.intake.args.arm {
            run.facts.insert("arm".to_owned(), told(arm));
        }
        // JSON has no words for them, and no tool means them.
        for series in &mut run.series {
            series
                .samples
                .retain(|sample| sample.value.is_finite() && sample.time().is_none_or(f64::is_finite));
            series.reported.retain(|_, value| value.is_finite());
        }
        self.intake.runs.push(run);
    }
}

/// Whether a file is a store, by its first page; the error says of which program a database is.
fn store_or_other(reader: &mut impl BufRead) -> Option<Result<(), &'static str>> {
    let head = reader.fill_buf().ok()?;
    if !head.starts_with(b"SQLite format 3\0") {
        return None;
    }
    Some(match head.get(68..72) {
        Some(id) if id == tenbin_store::APPLICATION_ID.to_be_bytes() => Ok(()),
        _ => Err("it is a database of another program"),
    })
}
