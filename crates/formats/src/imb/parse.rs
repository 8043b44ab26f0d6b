//! A log of IMB, cut into its tables.

use std::collections::BTreeMap;
use std::io::BufRead;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::run::Run;

use super::columns;
use super::table::{Row, Table};
use crate::clean::Lines;
use crate::mpi::{Trouble, rows, unlabelled};
use crate::{ParseError, RunSink, mpi};

/// Reads a log; every table is a run.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader {
        out,
        suite: Suite::default(),
        table: Table::default(),
        held: None,
        any: false,
        lost: Vec::new(),
    };
    while let Some(line) = lines.next()? {
        for text in mpi::lines(line.text) {
            reader.line(unlabelled(text), line.whole);
        }
    }
    reader.end_suite();
    if let Some(run) = reader.held.take() {
        reader.out.run(run);
    } else if !reader.any {
        let said =
            reader.lost.into_iter().next().unwrap_or_else(|| "the log holds no row of a table".to_owned());
        return Err(ParseError::NothingMeasured { tool: "imb", said });
    }
    Ok(())
}

/// The version in the first line of a suite: `#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part`.
pub fn banner(line: &str) -> Option<(String, String)> {
    let line = line.trim_matches(|c: char| c == '#' || c.is_whitespace());
    let maker = ["Intel", "PALLAS", "Pallas"].iter().any(|maker| line.starts_with(maker));
    let (_, rest) = line.split_once("MPI Benchmark").filter(|_| maker)?;
    // The word stands in the next line of a copy that was wrapped.
    let ended = rest.strip_suffix(" part");
    let (version, part) = ended.unwrap_or(rest).rsplit_once(", ")?;
    if ended.is_none() && !part.starts_with("MPI") {
        return None;
    }
    let version = version.trim_start_matches('s').trim().trim_start_matches("Suite").trim();
    let mut words = version.split_whitespace();
    let number = words.next()?.trim_start_matches('V');
    let mut version = number.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned();
    if let (Some(word), Some(update)) = (words.next(), words.next())
        && word.eq_ignore_ascii_case("update")
    {
        version = format!("{version} {word} {update}");
    }
    Some((version, part.to_owned()))
}

/// What one start of the program says before its tables.
#[derive(Debug, Default)]
struct Suite {
    version: Option<String>,
    facts: BTreeMap<&'static str, String>,
    /// The largest message asked for.
    largest: Option<i64>,
    /// Benchmarks asked for that have not begun.
    to_run: Vec<String>,
    trouble: Trouble,
    /// Something of IMB's was seen.
    begun: bool,
    /// Tables that held a number.
    runs: usize,
    /// The last line was seen.
    finished: bool,
    expects: Expects,
}

/// What the next comment is.
#[derive(Debug, Default, PartialEq)]
enum Expects {
    #[default]
    Nothing,
    /// The command.
    Command,
    /// The rest of the command, in versions up to 2018.
    Arguments,
    /// Names of benchmarks.
    Names,
}

impl Suite {
    fn fact(&mut self, name: &'static str, value: &str) {
        self.facts.insert(name, value.to_owned());
    }
}

struct Reader<'a> {
    out: &'a mut dyn RunSink,
    suite: Suite,
    table: Table,
    /// The last run of the suite, which may yet get caveats.
    held: Option<Run>,
    /// Some run was handed out.
    any: bool,
    /// What was to be measured and was not, and why.
    lost: Vec<String>,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, whole: bool) {
        if text.is_empty() {
            self.end_command();
            return;
        }
        if let Some((version, part)) = banner(text) {
            self.end_suite();
            self.suite = Suite { version: Some(version), begun: true, ..Suite::default() };
            self.suite.fact("imb.part", &part);
            return;
        }
        if let Some(header) = columns::header(text) {
            if !self.table.columns.is_empty() {
                self.end_table();
            }
            if let Some(at) = header.before.find("# Benchmarking ") {
                self.begin_table(header.before.get(at..).and_then(title));
                self.setting(header.before);
            }
            self.suite.begun = true;
            self.table.shapes = header.columns.iter().map(|column| column.shape()).collect();
            self.table.columns = header.columns;
            self.row(header.after, whole);
            return;
        }
        let comment = text.strip_prefix('#');
        if let Some(name) = title(text) {
            self.begin_table(Some(name));
        }
        if comment.is_some() || self.table.columns.is_empty() {
            self.setting(text);
        }
        if text.contains("All processes entering MPI_Finalize") {
            self.end_table();
            self.suite.finished = true;
        } else if let Some(comment) = comment {
            self.comment(comment);
        } else if !self.row(text, whole) {
            self.suite.trouble.hear(text);
            if !self.table.columns.is_empty() {
                self.table.foreign.hear(text);
            }
        }
    }

    /// Takes in a line that may be a row; false if it is another program's.
    fn row(&mut self, text: &str, whole: bool) -> bool {
        let table = &mut self.table;
        if table.columns.is_empty() || text.trim().is_empty() {
            return table.columns.is_empty() && is_known(text);
        }
        if let Some(skipped) = columns::skipped(&table.columns, text) {
            table.skipped.push(skipped);
            return true;
        }
        let rows = rows(&table.shapes, text, whole);
        if rows.is_empty() {
            let started = !table.rows.is_empty();
            let number = text.starts_with(|first: char| first.is_ascii_digit());
            table.cut = !whole && number && started;
            return table.cut;
        }
        table.foreign.settle();
        for row in rows {
            if row.mixed {
                self.suite.trouble.hear(text);
                table.foreign.hear(text);
                table.foreign.settle();
            }
            table.cut |= row.cut;
            table.rows.push(Row::new(&row));
        }
        true
    }

    /// Numbers of processes and the like, in comments and, in copies that lost the mark, elsewhere.
    fn setting(&mut self, text: &str) {
        let number = |words: &str| {
            let (_, rest) = text.split_once(words)?;
            let digits = rest.trim_start();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse::<i64>().ok()
        };
        let table = &mut self.table;
        if let Some(ranks) = number("processes =") {
            table.ranks = Some(ranks);
            table.threads = number("(threads:");
        }
        if text.contains("running simultaneous") {
            table.groups = number("(");
            table.ranks = number("groups of");
        } else if text.contains("waiting in MPI_Barrier") {
            table.waiting = number("(");
        }
        table.window = number("window_size =").or(table.window);
        if text.contains("MODE: NON-AGGREGATE") {
            table.mode = Some("non-aggregate");
        } else if text.contains("MODE: AGGREGATE") {
            table.mode = Some("aggregate");
        }
        self.suite.largest = number("Maximum message length in bytes:").or(self.suite.largest);
    }

    /// A line behind its mark.
    fn comment(&mut self, text: &str) {
        let indented = text.starts_with("    ");
        let text = text.trim();
        if text.is_empty() {
            self.end_command();
            return;
        }
        if text.starts_with("--") {
            self.suite.expects = Expects::Nothing;
        } else if text.starts_with("Calling sequence was") {
            self.suite.expects = Expects::Command;
        } else if text.starts_with("List of Benchmarks to run") {
            self.suite.expects = Expects::Names;
        } else if text.starts_with("!!") || text.starts_with("NO SUCCESSFUL EXECUTIONS") {
            let name = self.table.benchmark.as_deref().unwrap_or_default();
            let text = text.trim_matches(|c: char| c == '!' || c.is_whitespace());
            let text = if text.starts_with("NO ") { format!("{name}: {text}") } else { text.to_owned() };
            self.suite.to_run.retain(|listed| !text.contains(listed.as_str()));
            self.lost.push(text);
        } else if self.suite.expects == Expects::Command {
            self.suite.expects = Expects::Arguments;
            self.suite.fact("imb.command", text);
        } else if self.suite.expects == Expects::Arguments && indented {
            if let Some(command) = self.suite.facts.get_mut("imb.command") {
                *command = format!("{command} {text}");
            }
            self.suite.expects = Expects::Nothing;
        } else if let Some((key, value)) = text.split_once(':') {
            let key = key.trim();
            let known = FACTS.iter().find(|(printed, _)| *printed == key);
            // Old versions forget to end the line of the machine.
            let (value, rest) = match value.split_once('#').filter(|_| key == "Machine") {
                Some((value, rest)) => (value, Some(rest)),
                None => (value, None),
            };
            if let (Some((_, name)), false) = (known, value.trim().is_empty()) {
                self.suite.fact(name, value.trim());
            }
            if let Some(rest) = rest {
                self.comment(rest.trim());
            }
        } else if self.suite.expects == Expects::Names
            && !text.contains(char::is_whitespace)
            && self.suite.to_run.len() < MOST_NAMES
        {
            self.suite.to_run.push(text.trim_start_matches("(Multi-)").to_owned());
        }
    }

    fn begin_table(&mut self, name: Option<&str>) {
        self.end_table();
        self.suite.begun = true;
        self.suite.expects = Expects::Nothing;
        if let Some(name) = name {
            self.suite.to_run.retain(|listed| listed != name.trim_start_matches("Multi-"));
        }
        self.table.benchmark = name.map(str::to_owned);
    }

    fn end_command(&mut self) {
        if self.suite.expects == Expects::Arguments {
            self.suite.expects = Expects::Nothing;
        }
    }

    fn end_table(&mut self) {
        let table = std::mem::take(&mut self.table);
        let name = table.benchmark.clone();
        let reason = table.skipped.first().map(|(_, reason)| reason.clone());
        match table.run(self.suite.version.as_deref(), &self.suite.facts) {
            Some(run) => {
                self.any = true;
                self.suite.runs += 1;
                if let Some(run) = self.held.replace(run) {
                    self.out.run(run);
                }
                self.note_losses();
            }
            None => {
                if let (Some(name), Some(reason)) = (name, reason) {
                    self.lost.push(format!("{name}: {reason}"));
                }
            }
        }
    }

    /// Hangs what was not measured on the run before it, or, where there is none, on the first that comes.
    fn note_losses(&mut self) {
        if let Some(run) = &mut self.held {
            for text in self.lost.drain(..) {
                run.caveats.push(Caveat::new(CaveatKind::NotMeasured, text));
            }
        }
    }

    fn end_suite(&mut self) {
        let last = self.table.last_size();
        let waited_for = self.table.benchmark.clone();
        self.end_table();
        let suite = std::mem::take(&mut self.suite);
        if !suite.begun {
            return;
        }
        if suite.runs == 0 {
            let said = suite.trouble.any().map(str::to_owned);
            self.lost.extend(said.or_else(|| waited_for.map(|name| format!("{name} has no row"))));
            self.note_losses();
            return;
        }
        self.note_losses();
        let Some(run) = &mut self.held else { return };
        if let Some(said) = suite.trouble.fatal() {
            run.caveats.push(Caveat::new(CaveatKind::ErrorReported, said));
        }
        let mut truncated = |text: String| {
            if !run.caveats.iter().any(|caveat| caveat.kind == CaveatKind::Truncated) {
                run.caveats.push(Caveat::new(CaveatKind::Truncated, text));
            }
        };
        let short = last.zip(suite.largest).filter(|(last, largest)| last < largest);
        if let Some((last, largest)) = short.filter(|_| !suite.finished) {
            truncated(format!("the table ends at {last} bytes, the benchmark was to go to {largest}"));
        } else if !suite.finished && !suite.to_run.is_empty() {
            truncated(format!("the log ends before {}", suite.to_run.join(", ")));
        }
    }
}

/// More benchmarks than the suite has: no list of a real log is longer.
const MOST_NAMES: usize = 200;

/// The keys of IMB's first lines and the names of the facts.
pub const FACTS: &[(&str, &str)] = &[
    ("Date", "imb.date"),
    ("Machine", "imb.machine"),
    ("System", "imb.system"),
    ("Release", "imb.release"),
    ("Version", "imb.system_version"),
    ("MPI Version", "mpi.version"),
    ("MPI Thread Environment", "mpi.threads"),
    ("Minimum message length in bytes", "imb.smallest"),
    ("Maximum message length in bytes", "imb.largest"),
    ("MPI_Datatype", "imb.datatype"),
    ("MPI_Datatype for reductions", "imb.reduction_datatype"),
    ("MPI_Op", "imb.op"),
];

/// The benchmark that `# Benchmarking PingPong` announces.
fn title(text: &str) -> Option<&str> {
    let marked = text.starts_with('#');
    let rest = text.trim_start_matches('#').trim_start().strip_prefix("Benchmarking ")?;
    let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A sentence that begins with the word goes on with others.
    let known = marked && name.starts_with(|first: char| first.is_ascii_alphabetic());
    (known && (rest.is_empty() || rest.contains(['#', '('])) || rest.is_empty() && !name.is_empty())
        .then_some(name)
}

/// Lines of IMB's head in copies that lost the mark of comments: no messages of other programs.
fn is_known(text: &str) -> bool {
    let key = text.split(':').next().unwrap_or_default().trim();
    FACTS.iter().any(|(known, _)| *known == key) || title(text).is_some() || key.starts_with("processes =")
}
