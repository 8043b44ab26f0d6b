//! `tenbin import FILE...`: logs of other tools into runs; stores of other machines into this one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tenbin_core::env::{Class, Fact};
use tenbin_core::run::Run;
use tenbin_formats::{RunSink, clean};
use tenbin_report::text::{self, ImportedRow};
use tenbin_store::{Kept, Parcel, Store};

use crate::args::ImportArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::{self, Printer};

mod walk;

use walk::Input;

/// Enough for a format to be recognised by, and few calls of the system for a long log.
const BUFFER: usize = 256 * 1024;

/// So many runs, or so many bytes of them, are stored together: a disk takes milliseconds to keep anything.
const TOGETHER: usize = 400;
const TOGETHER_BYTES: usize = 32 << 20;

/// Reads every file; what can't be read is said, and the rest is there.
pub fn import(args: &ImportArgs) -> Outcome {
    let store = match args.json && args.store.is_none() {
        true => None,
        false => Some(output::open_store(args.store.as_deref())?),
    };
    let mut intake = Intake { args, store, ..Intake::default_for(args) };
    let inputs = walk::inputs(&args.files);
    if inputs.is_empty() {
        return Err(Failure::usage("there is no file in what was named\nhint: hidden files are left out"));
    }
    if args.json {
        let mut out = Printer::new();
        let written = tenbin_report::json::write_runs(&mut out, |print| {
            intake.all(&inputs, &mut |run| print(run));
            std::mem::take(&mut intake.errors)
        });
        written
            .and_then(|()| io::Write::flush(&mut out))
            .map_err(|e| Failure::cannot(format!("cannot write to stdout: {}", output::why(&e))))?;
    } else {
        intake.all(&inputs, &mut |_| Ok(()));
        output::print(&text::imported(&intake.rows, output::width()))?;
    }
    intake.conclude(inputs.len())
}

/// What prints a run as soon as it is there.
type Print<'a> = dyn FnMut(&Run) -> io::Result<()> + 'a;

struct Intake<'a> {
    args: &'a ImportArgs,
    store: Option<(Store, PathBuf)>,
    /// Runs on their way into the store, and their lines.
    parcels: Vec<(Parcel, ImportedRow)>,
    rows: Vec<ImportedRow>,
    added: usize,
    /// Source and what is to be said about it.
    errors: Vec<(String, String)>,
    /// Files that gave nothing.
    failed: usize,
    /// Why nothing more can be stored or printed.
    broken: Option<Failure>,
    now: f64,
}

impl<'a> Intake<'a> {
    fn default_for(args: &'a ImportArgs) -> Intake<'a> {
        Intake {
            args,
            store: None,
            parcels: Vec::new(),
            rows: Vec::new(),
            added: 0,
            errors: Vec::new(),
            failed: 0,
            broken: None,
            now: output::now(),
        }
    }

    fn all(&mut self, inputs: &[Input], print: &mut Print<'_>) {
        for input in inputs {
            if self.broken.is_none() {
                self.input(input, print);
            }
        }
        self.store_parcels();
    }

    fn input(&mut self, input: &Input, print: &mut Print<'_>) {
        let name = input.name();
        match input {
            Input::Stdin => self.read(&name, io::stdin().lock(), None, print),
            Input::File(path) => match File::open(path) {
                Ok(file) => self.read(&name, file, Some(path), print),
                Err(error) => self.fail(&name, &format!("cannot open it: {}", output::why(&error))),
            },
            Input::Unreadable(_, why) => self.fail(&name, why),
        }
    }

    /// Reads a log, or takes over the runs of a store.
    fn read(&mut self, name: &str, from: impl Read, path: Option<&Path>, print: &mut Print<'_>) {
        let hash = self.store.is_some().then(Sha256::new);
        let mut reader = BufReader::with_capacity(BUFFER, Hashing { from, hash });
        match reader.fill_buf() {
            Ok([]) => return self.fail(name, "it is empty"),
            Ok(head) => {
                if let Some(database) = database(head) {
                    return match (database, path) {
                        (Ok(()), Some(path)) => self.merge(path, name),
                        (Ok(()), None) => self.fail(name, "a store can't be read from a pipe"),
                        (Err(why), _) => self.fail(name, why),
                    };
                }
                if let Some(what) = clean::binary(head) {
                    return self.fail(name, what);
                }
            }
            Err(error) => return self.fail(name, &format!("cannot read it: {}", output::why(&error))),
        }
        let first = self.parcels.len();
        let mut sink = Labelled { intake: self, name, print, count: 0 };
        let unread = tenbin_formats::read_log(&mut reader, &mut sink);
        let count = sink.count;
        self.failed += usize::from(count == 0);
        for part in &unread {
            self.say(name, &part.to_string());
        }
        if count == 0 && unread.is_empty() {
            self.say(name, "nothing was measured in it");
        }
        if count > 0 && self.store.is_some() {
            // What a parser left unread is part of the log too. It failed to be read before if it does now.
            let _ = io::copy(&mut reader, &mut io::sink());
            let hash = reader.into_inner().hash.map(|hash| hex(&hash.finalize())).unwrap_or_default();
            for (index, (parcel, _)) in self.parcels.iter_mut().skip(first).enumerate() {
                parcel.identity = format!("log-{hash}-{index}");
            }
            let bytes: usize = self.parcels.iter().map(|(parcel, _)| parcel.size()).sum();
            if self.parcels.len() >= TOGETHER || bytes >= TOGETHER_BYTES {
                self.store_parcels();
            }
        }
    }

    fn store_parcels(&mut self) {
        let (parcels, rows): (Vec<Parcel>, Vec<ImportedRow>) = self.parcels.drain(..).unzip();
        let Some((store, _)) = self.store.as_mut().filter(|_| !parcels.is_empty()) else { return };
        match store.keep(&parcels) {
            Ok(kept) => {
                for (kept, mut row) in kept.iter().zip(rows) {
                    (row.run, row.known) = (kept.run(), matches!(kept, Kept::Known(..)));
                    self.added += usize::from(!row.known);
                    if let Kept::Known(run, arm) = kept
                        && *arm != self.args.arm
                        && self.args.arm.is_some()
                    {
                        let arm =
                            arm.as_deref().map_or("without an arm".to_owned(), |arm| format!("of {arm}"));
                        let text = format!("{}: known already as run {run} {arm}, left as it is", row.source);
                        output::say(&format!("tenbin: {text}"));
                    }
                    self.rows.push(row);
                }
            }
            Err(error) => self.broken = Some(Failure::cannot(error)),
        }
    }

    fn merge(&mut self, path: &Path, name: &str) {
        // What came before it is stored before it.
        self.store_parcels();
        let Some((store, _)) = &mut self.store else {
            return self
                .fail(name, "it is a store of tenbin\nhint: name the one to add it to with --store FILE");
        };
        match store.merge(path) {
            Ok(merged) => {
                for failure in &merged.failed {
                    self.say(name, &failure.to_string());
                }
                self.failed += usize::from(!merged.failed.is_empty());
                let mut text = format!(
                    "{name}: {} experiments added, {} brought up to date, {} known already",
                    merged.added.len(),
                    merged.updated.len(),
                    merged.unchanged
                );
                if merged.lone_added + merged.lone_known > 0 {
                    text +=
                        &format!("; {} runs added, {} known already", merged.lone_added, merged.lone_known);
                }
                let said = if self.args.json {
                    output::say(&text);
                    Ok(())
                } else {
                    output::print(&format!("{text}\n"))
                };
                self.broken = said.err();
            }
            Err(error) => self.fail(name, &error.to_string()),
        }
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
        self.errors.push((name.to_owned(), text.replace('\n', "; ")));
    }

    fn conclude(self, files: usize) -> Outcome {
        if let Some(failure) = self.broken {
            return Err(failure);
        }
        if let (Some((_, path)), false) = (&self.store, self.rows.is_empty()) {
            let known = self.rows.len() - self.added;
            let known = if known > 0 { format!(", {known} known already") } else { String::new() };
            output::say(&format!("tenbin: {} runs stored{known} in {}", self.added, path.display()));
        }
        match self.failed {
            0 => Ok(Exit::Done),
            failed => Err(Failure::new(
                Exit::Partial,
                format!("{failed} of {files} files could not be imported whole"),
            )),
        }
    }
}

/// Runs with where they came from and what the user said about them.
struct Labelled<'a, 'b, 'p> {
    intake: &'a mut Intake<'b>,
    name: &'a str,
    print: &'a mut Print<'p>,
    count: usize,
}

impl RunSink for Labelled<'_, '_, '_> {
    fn run(&mut self, mut run: Run) {
        let Labelled { intake, name, print, count } = self;
        *count += 1;
        (*name).clone_into(&mut run.source);
        let told = |value: &str| Fact::new(Class::Identity, value, "tenbin import");
        for (key, value) in &intake.args.facts {
            run.facts.insert(key.clone(), told(value));
        }
        if let Some(arm) = &intake.args.arm {
            run.facts.insert("arm".to_owned(), told(arm));
        }
        // JSON has no words for them, and no tool means them.
        for series in &mut run.series {
            series
                .samples
                .retain(|sample| sample.value.is_finite() && sample.time().is_none_or(f64::is_finite));
            series.reported.retain(|_, value| value.is_finite());
        }
        if let Err(error) = print(&run) {
            let why = output::why(&error);
            intake.broken.get_or_insert_with(|| Failure::cannot(format!("cannot write to stdout: {why}")));
        }
        if intake.store.is_none() {
            return;
        }
        let row = ImportedRow {
            source: run.source.clone(),
            tool: run.tool.clone(),
            benchmark: run.benchmark.clone().unwrap_or_default(),
            figures: text::figures(&run),
            caveats: run.caveats.len(),
            ..ImportedRow::default()
        };
        match Parcel::new(&run, intake.args.arm.as_deref(), intake.now, None) {
            Ok(parcel) => intake.parcels.push((parcel, row)),
            Err(error) => intake.fail(name, &error.to_string()),
        }
    }
}

/// Hashes what is read through it, if anybody wants to know.
struct Hashing<R> {
    from: R,
    hash: Option<Sha256>,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        if let (Some(hash), Some(read)) = (&mut self.hash, into.get(..n)) {
            hash.update(read);
        }
        Ok(n)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a file is a store, by its first page; the error says so of another database.
fn database(head: &[u8]) -> Option<Result<(), &'static str>> {
    if !head.starts_with(b"SQLite format 3\0") {
        return None;
    }
    Some(match head.get(68..72) {
        Some(id) if id == tenbin_store::APPLICATION_ID.to_be_bytes() => Ok(()),
        _ => Err("it is a database of another program"),
    })
}
