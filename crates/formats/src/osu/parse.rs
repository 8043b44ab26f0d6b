//! A log of OSU's programs, cut into their tables.

use std::io::BufRead;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::metric::{BANDWIDTH, DURATION, LATENCY, MESSAGE_RATE, Metric, OVERLAP};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};

use super::columns::{self, Column};
use super::title::{self, Title};
use crate::clean::Lines;
use crate::mpi::{Cells, Foreign, Shape, Trouble, is_digits, rows, scaled, unlabelled};
use crate::sheet::{Sheet, params};
use crate::{ParseError, RunSink, mpi};

/// Reads a log; every program's table is a run.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader { out, table: Table::default(), ahead: Vec::new(), held: None, lost: Vec::new() };
    while let Some(line) = lines.next()? {
        for text in mpi::lines(line.text) {
            reader.line(unlabelled(text), line.whole);
        }
    }
    reader.end_table();
    match reader.held {
        Some(run) => reader.out.run(run),
        None => {
            let said = reader
                .lost
                .into_iter()
                .next()
                .unwrap_or_else(|| "the log holds no row of a table".to_owned());
            return Err(ParseError::NothingMeasured { tool: "osu", said });
        }
    }
    Ok(())
}

/// A table while it is read.
#[derive(Debug, Default)]
struct Table {
    title: Option<Title>,
    facts: Vec<(&'static str, String)>,
    /// Pairs of processes.
    pairs: Option<i64>,
    /// Empty until the line above the rows was seen.
    columns: Vec<Column>,
    shapes: Vec<Shape>,
    /// With -V: the table holds message rates, not bandwidths.
    messages: bool,
    sheet: Option<Sheet>,
    failed: Vec<String>,
    foreign: Foreign,
    trouble: Trouble,
    cut: bool,
}

impl Table {
    fn is_begun(&self) -> bool {
        self.title.is_some() || !self.columns.is_empty() || self.sheet.is_some()
    }
}

struct Reader<'a> {
    out: &'a mut dyn RunSink,
    table: Table,
    /// What was said before the title that it belongs to.
    ahead: Vec<(&'static str, String)>,
    /// The last run, which may yet get caveats.
    held: Option<Run>,
    /// What was to be measured and was not, and why.
    lost: Vec<String>,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, whole: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(title) = title::read(text) {
            self.end_table();
            let facts = std::mem::take(&mut self.ahead);
            self.table = Table { title: Some(title), facts, ..Table::default() };
        } else if let Some(header) = columns::header(text) {
            if self.table.sheet.is_some() {
                self.end_table();
            }
            self.announce(header.columns);
            self.row(&header.after, whole);
        } else if let Some(columns) = columns::windows(text).filter(|_| self.table.title.is_some()) {
            self.announce(columns);
        } else if let Some(startup) = startup(text, whole) {
            self.startup(&startup);
        } else if text.starts_with('#') || self.table.columns.is_empty() && text.starts_with("[ pairs:") {
            self.comment(text.trim_start_matches('#').trim());
        } else if !self.row(text, whole) {
            self.table.trouble.hear(text);
            if !self.table.columns.is_empty() {
                self.table.foreign.hear(text);
            }
        }
    }

    fn announce(&mut self, columns: Vec<Column>) {
        self.table.shapes = columns.iter().map(|column| column.shape()).collect();
        self.table.columns = columns;
    }

    /// Takes in a line that may be a row; false if it is another program's.
    fn row(&mut self, text: &str, whole: bool) -> bool {
        let table = &mut self.table;
        let rows = rows(&table.shapes, text, whole);
        if rows.is_empty() {
            let number = text.starts_with(|first: char| first.is_ascii_digit());
            table.cut = !whole && number && table.sheet.is_some();
            return text.is_empty() || table.cut;
        }
        table.foreign.settle();
        for row in rows {
            if row.mixed {
                table.trouble.hear(text);
                table.foreign.hear(text);
                table.foreign.settle();
            }
            table.cut |= row.cut;
            table.take(&row);
        }
        true
    }

    fn comment(&mut self, text: &str) {
        let fact =
            |words: &str| text.strip_prefix(words).map(|rest| rest.trim().trim_end_matches('.').to_owned());
        if text.starts_with("Number of ") {
            // Printed before the title.
            if self.table.sheet.is_some() {
                self.end_table();
            }
            let known = [
                ("Number of Sender threads:", "osu.sender_threads"),
                ("Number of Receiver threads:", "osu.receiver_threads"),
                ("Number of forked processes in sender:", "osu.sender_processes"),
                ("Number of forked processes in receiver:", "osu.receiver_processes"),
            ];
            self.ahead.extend(known.iter().filter_map(|(words, name)| Some((*name, fact(words)?))));
        } else if text.starts_with("Uni-directional Bandwidth") {
            self.table.messages = false;
        } else if text.starts_with("Message Rate Profile") {
            self.table.messages = true;
        } else if text.starts_with("[ pairs:") {
            let mut numbers = text.split([' ', ']']).filter(|word| is_digits(word));
            self.table.pairs = numbers.next().and_then(|pairs| pairs.parse().ok());
            self.table.facts.extend(numbers.next().map(|window| ("osu.window", window.to_owned())));
        } else if text.starts_with("Send Buffer on ") || text.starts_with("Rank 0 Memory on ") {
            self.table.facts.push(("osu.buffers", text.to_owned()));
        } else {
            let known = [
                ("Datatype:", "osu.datatype"),
                ("Window creation:", "osu.window_creation"),
                ("Synchronization:", "osu.synchronization"),
            ];
            self.table.facts.extend(known.iter().filter_map(|(words, name)| Some((*name, fact(words)?))));
        }
    }

    fn startup(&mut self, startup: &Startup) {
        if self.table.sheet.is_some() {
            self.end_table();
        }
        let sheet = self.table.sheet.get_or_insert_with(|| Sheet::new("osu"));
        for (stat, seconds) in &startup.stats {
            let params = params([
                ("benchmark", "osu_init".into()),
                ("ranks", startup.ranks.into()),
                ("stat", (*stat).into()),
            ]);
            sheet.printed(&DURATION, &params, *seconds).headline = (*stat == "avg").then_some(Reduce::Median);
        }
        sheet.run.benchmark = Some("osu_init".to_owned());
    }

    fn end_table(&mut self) {
        let table = std::mem::take(&mut self.table);
        let (begun, name) = (table.is_begun(), table.title.as_ref().map(|title| title.program.clone()));
        let said = table.trouble.any().map(str::to_owned);
        if let Some(run) = table.run() {
            if let Some(run) = self.held.replace(run) {
                self.out.run(run);
            }
        } else if begun {
            let name = name.unwrap_or_else(|| "the table".to_owned());
            self.lost.push(said.unwrap_or_else(|| format!("{name} has no row")));
        }
        // Hung on the run before it, or, where there is none, on the first that comes.
        if let Some(run) = &mut self.held {
            let lost = self.lost.drain(..);
            run.caveats.extend(lost.map(|text| Caveat::new(CaveatKind::NotMeasured, text)));
        }
    }
}

impl Table {
    fn take(&mut self, row: &Cells<'_>) {
        let at = |wanted: Column| self.columns.iter().position(|column| *column == wanted);
        let word = |wanted| row.words.get(at(wanted)?).copied().flatten();
        let program = self.title.as_ref().map(|title| title.program.as_str());
        let mut base = Params::new();
        if let Some(program) = program {
            base.insert("benchmark".to_owned(), program.into());
        }
        let size = word(Column::Size).and_then(|size| size.parse::<i64>().ok());
        if let Some(operation) = word(Column::Operation) {
            base.insert("op".to_owned(), operation.into());
        }
        let ranks = self.pairs.and_then(|pairs| pairs.checked_mul(2));
        for (name, value) in [("size_bytes", size), ("ranks", ranks)] {
            if let Some(value) = value {
                base.insert(name.to_owned(), value.into());
            }
        }
        let iterations = word(Column::Iterations).and_then(|n| scaled(n, 0));
        let tails: Vec<(u8, &str)> = self.columns.iter().zip(&row.words).filter_map(tail).collect();
        // One pair has no ranks to average over: the same figure as under the older title.
        let paired = program.is_some_and(is_paired);
        let sheet = self.sheet.get_or_insert_with(|| Sheet::new("osu"));
        for (column, word) in self.columns.iter().zip(&row.words) {
            let Some(word) = word else { continue };
            let Some(cell) = cell(*column, paired, self.messages) else { continue };
            let Some(value) = scaled(word, cell.power) else { continue };
            let mut params = base.clone();
            if let Some((name, value)) = cell.param {
                params.insert(name.to_owned(), value.into());
            }
            if let Column::Window(window) = column {
                params.insert("window_size".to_owned(), i64::from(*window).into());
            }
            let series = sheet.printed(&cell.metric, &params, value);
            series.headline = (cell.headline && value > 0.0).then_some(Reduce::Median);
            if cell.metric == LATENCY {
                series.reported.extend(iterations.map(|n| ("n".to_owned(), n)));
            }
            if cell.headline && *column != Column::Messages {
                let figures = tails
                    .iter()
                    .filter_map(|(percent, word)| Some((format!("p{percent}"), scaled(word, cell.power)?)));
                series.reported.extend(figures);
            }
        }
        if word(Column::Validation).is_some_and(|word| word.starts_with("Fail")) {
            self.failed.push(size.map_or_else(String::new, |size| size.to_string()));
        }
    }

    fn run(self) -> Option<Run> {
        let mut sheet = self.sheet?;
        if let Some(title) = self.title {
            sheet.run.tool_version = title.version;
            sheet.run.benchmark = Some(title.program);
            sheet.fact("osu.title", title.text);
            if let Some(language) = title.language {
                sheet.fact("osu.language", language);
            }
            if let Some(device) = title.device {
                sheet.fact("osu.device", device);
            }
        }
        for (name, value) in self.facts {
            sheet.fact(name, value);
        }
        if let Some(pairs) = self.pairs {
            sheet.fact("osu.pairs", pairs);
        }
        if !self.columns.iter().any(|column| matches!(column, Column::Tail(_))) {
            sheet.caveat(
                CaveatKind::SummaryOnly,
                "OSU prints means over its iterations; no spread can be computed",
            );
        }
        if !self.failed.is_empty() {
            let text =
                format!("the data did not arrive as they were sent at {} bytes", self.failed.join(", "));
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        if let Some(text) = self.foreign.text() {
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        if self.cut {
            sheet.caveat(CaveatKind::Truncated, "the log ends in the middle of a row");
        }
        if let Some(text) = self.trouble.fatal() {
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        sheet.finish()
    }
}

/// What a cell measures.
struct Cell {
    metric: Metric,
    param: Option<(&'static str, &'static str)>,
    headline: bool,
    /// The power of ten of its unit.
    power: i32,
}

fn cell(column: Column, paired: bool, messages: bool) -> Option<Cell> {
    let latency = |param, headline| Some(Cell { metric: LATENCY, param, headline, power: -6 });
    let other = |metric, power| Some(Cell { metric, param: None, headline: true, power });
    match column {
        Column::Latency => latency(None, true),
        Column::Avg if paired => latency(None, true),
        Column::Avg | Column::Pure => latency(Some(("stat", "avg")), true),
        Column::Min | Column::PureMin => latency(Some(("stat", "min")), false),
        Column::Max | Column::PureMax => latency(Some(("stat", "max")), false),
        Column::Part(part) => latency(Some(("part", part)), false),
        Column::Overlap => Some(Cell { headline: false, ..other(OVERLAP, -2)? }),
        Column::Rate => other(BANDWIDTH, 6),
        Column::GigaRate => other(BANDWIDTH, 9),
        Column::MegaCalls => other(MESSAGE_RATE, 6),
        Column::Window(_) if messages => other(MESSAGE_RATE, 0),
        Column::Window(_) => other(BANDWIDTH, 6),
        Column::Messages => other(MESSAGE_RATE, 0),
        Column::Size
        | Column::Operation
        | Column::Again
        | Column::Iterations
        | Column::Tail(_)
        | Column::Validation
        | Column::Transmitted => None,
    }
}

/// Whether `program` measures pairs of processes rather than an operation of all.
pub fn is_paired(program: &str) -> bool {
    let names = ["osu_latency", "osu_multi_lat", "osu_put_", "osu_get_", "osu_acc_", "osu_cas_", "osu_fop_"];
    let names = names.iter().any(|name| program.starts_with(name));
    names || program.ends_with("_latency") || program.ends_with("_latency_persistent")
}

fn tail<'a>((column, word): (&Column, &Option<&'a str>)) -> Option<(u8, &'a str)> {
    match column {
        Column::Tail(percent) => Some((*percent, (*word)?)),
        _ => None,
    }
}

/// What osu_init prints.
#[derive(Debug, PartialEq)]
pub struct Startup {
    ranks: i64,
    stats: Vec<(&'static str, f64)>,
}

/// `nprocs: 2, min: 241 ms, max: 243 ms, avg: 242 ms`; older versions leave out the unit, which is the same.
/// `whole`: the line's end was seen.
pub fn startup(line: &str, whole: bool) -> Option<Startup> {
    let line = line.trim_end();
    let mut parts = line.get(line.find("nprocs: ")?..)?.split(", ");
    let mut next = |key: &str| {
        let value = parts.next()?.strip_prefix(key)?.trim();
        let value = value.strip_suffix("ms").unwrap_or(value).trim();
        is_digits(value).then_some(value)
    };
    let ranks = next("nprocs:")?.parse().ok()?;
    let mut stat = |name| Some((name, scaled(next(&format!("{name}:"))?, -3)?));
    let mut stats = vec![stat("min")?, stat("max")?, stat("avg")?];
    if !whole && !line.ends_with("ms") {
        // Without a unit behind it nobody can tell whether further digits were lost.
        stats.pop();
    }
    Some(Startup { ranks, stats })
}
