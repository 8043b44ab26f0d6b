//! One table of IMB as a run.

use std::collections::BTreeMap;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, LATENCY, MESSAGE_RATE, Metric, OVERLAP};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};

use super::columns::Column;
use crate::mpi::{Cells, Foreign, MEBI_OVER_MEGA, Shape, counts_in_mebi, decimals, scaled};
use crate::sheet::Sheet;

/// Bytes that IMB calls a Mbyte; before 2018 it was 2^20.
const BYTES_PER_MBYTE: f64 = 1e6;

/// Rows that get a caveat of their own.
const MOST_CAVEATS: usize = 32;

/// A row: a number for each column that holds one.
#[derive(Debug)]
pub struct Row {
    cells: Vec<Option<Number>>,
}

/// A number as printed.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: f64,
    decimals: usize,
}

impl Row {
    /// The numbers of `cells`.
    pub fn new(cells: &Cells<'_>) -> Row {
        let number = |word: &Option<&str>| {
            let word = (*word)?;
            Some(Number { value: scaled(word, 0)?, decimals: decimals(word) })
        };
        Row { cells: cells.words.iter().map(number).collect() }
    }

    fn number(&self, at: Option<usize>) -> Option<Number> {
        *self.cells.get(at?)?
    }

    fn value(&self, at: Option<usize>) -> Option<f64> {
        self.number(at).map(|number| number.value)
    }
}

/// A table while it is read.
#[derive(Debug, Default)]
pub struct Table {
    /// As printed after "Benchmarking".
    pub benchmark: Option<String>,
    /// Processes; where several groups ran at once, those of one group.
    pub ranks: Option<i64>,
    /// Groups that ran at once.
    pub groups: Option<i64>,
    /// Processes that waited.
    pub waiting: Option<i64>,
    /// Threads of a process.
    pub threads: Option<i64>,
    /// Messages in flight.
    pub window: Option<i64>,
    /// `aggregate`: one synchronisation for all repetitions; `non-aggregate`: one for each.
    pub mode: Option<&'static str>,
    /// Empty until the line above the rows was seen.
    pub columns: Vec<Column>,
    /// Of the columns.
    pub shapes: Vec<Shape>,
    /// What was measured.
    pub rows: Vec<Row>,
    /// Rows that were not measured.
    pub skipped: Vec<(Option<i64>, String)>,
    /// Lines of other programs between the rows.
    pub foreign: Foreign,
    /// The last row was cut.
    pub cut: bool,
}

impl Table {
    /// The table as a run with `facts`; `None` if it holds no number. `version` is that of the suite.
    pub fn run(self, version: Option<&str>, facts: &BTreeMap<&'static str, String>) -> Option<Run> {
        let mut sheet = Sheet::new("imb");
        sheet.run.tool_version = version.map(str::to_owned);
        sheet.run.benchmark.clone_from(&self.benchmark);
        for (key, value) in facts {
            sheet.fact(key, value.as_str());
        }
        let numbers =
            [("imb.groups", self.groups), ("imb.waiting", self.waiting), ("imb.window", self.window)];
        for (key, value) in numbers {
            if let Some(value) = value {
                sheet.fact(key, value);
            }
        }
        let mebi = self.column(Column::Rate).is_some() && self.is_in_mebi(version);
        let unit = if mebi { BYTES_PER_MBYTE * MEBI_OVER_MEGA } else { BYTES_PER_MBYTE };
        for row in &self.rows {
            self.row(&mut sheet, row, unit);
        }
        if mebi {
            sheet.caveat(
                CaveatKind::UnitCorrected,
                "Mbytes/sec counts 2^20 bytes here (sizes and times show it, or the version); given as bytes per second",
            );
        }
        self.caveats(&mut sheet);
        sheet.finish()
    }

    /// The last message size with a result, or with a reason why there is none.
    pub fn last_size(&self) -> Option<i64> {
        let at = self.column(Column::Bytes)?;
        let measured = self.rows.iter().filter_map(|row| row.value(Some(at)));
        let skipped = self.skipped.iter().filter_map(|(size, _)| *size);
        measured.map(|size| size as i64).chain(skipped).max()
    }

    fn column(&self, wanted: Column) -> Option<usize> {
        self.columns.iter().position(|column| *column == wanted)
    }

    /// Rates that do not follow from size and time (windows of many messages) are taken as the version has them.
    fn is_in_mebi(&self, version: Option<&str>) -> bool {
        let shown = counts_in_mebi(self.rows.iter().filter_map(|row| {
            let rounded = |column| {
                let number = row.number(self.column(column))?;
                Some((number.value, 0.5 * 0.1f64.powi(number.decimals.min(30) as i32) / number.value))
            };
            let (rate, rate_slack) = rounded(Column::Rate)?;
            let (time, time_slack) = rounded(Column::Time).or_else(|| rounded(Column::Max))?;
            let (size, _) = rounded(Column::Bytes)?;
            (size > 0.0 && time > 0.0).then_some((rate, size / time, rate_slack + time_slack))
        }));
        let age = version.and_then(|version| version.split(['.', ' ']).next()?.parse::<u32>().ok());
        shown.unwrap_or_else(|| age.is_some_and(|age| age < 2018))
    }

    fn row(&self, sheet: &mut Sheet, row: &Row, unit: f64) {
        let cell = |wanted| row.value(self.column(wanted));
        let mut params = Params::new();
        let mut param = |name: &str, value: Option<i64>| {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        };
        param("size_bytes", cell(Column::Bytes).map(|size| size as i64));
        param("ranks", self.ranks.or_else(|| cell(Column::Processes).map(|ranks| ranks as i64)));
        param("threads", self.threads);
        param("group", cell(Column::Group).map(|group| group as i64));
        for (name, value) in [("benchmark", self.benchmark.as_deref()), ("mode", self.mode)] {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        }
        let repetitions = cell(Column::Repetitions);
        let mut put = |metric: &Metric, extra: Option<(&str, &str)>, headline: bool, value: Option<f64>| {
            let Some(value) = value else { return };
            let mut params = params.clone();
            params.extend(extra.map(|(name, value)| (name.to_owned(), value.into())));
            let series = sheet.printed(metric, &params, value);
            // A rate of 0 belongs to messages without bytes or has lost its digits: nothing to compare.
            series.headline = (headline && value > 0.0).then_some(Reduce::Median);
            series.reported.extend(repetitions.map(|n| ("n".to_owned(), n)));
        };
        let seconds = |column| cell(column).and_then(scaled_down);
        put(&LATENCY, None, true, seconds(Column::Time));
        put(&LATENCY, Some(("stat", "min")), false, seconds(Column::Min));
        put(&LATENCY, Some(("stat", "max")), false, seconds(Column::Max));
        // The mean over ranks stands for an operation: it is the one figure that OSU's benchmarks print for the same
        // operations, and a single late rank moves it least.
        put(&LATENCY, Some(("stat", "avg")), true, seconds(Column::Avg));
        put(&LATENCY, None, true, seconds(Column::Pure));
        put(&LATENCY, Some(("part", "overall")), false, seconds(Column::Overall));
        put(&LATENCY, Some(("part", "compute")), false, seconds(Column::Compute));
        put(&OVERLAP, None, false, cell(Column::Overlap).map(|percent| percent / 100.0));
        put(&BANDWIDTH, None, true, cell(Column::Rate).map(|rate| rate * unit));
        put(&MESSAGE_RATE, None, true, cell(Column::Messages));
    }

    fn caveats(&self, sheet: &mut Sheet) {
        sheet.caveat(
            CaveatKind::SummaryOnly,
            "IMB prints means over its repetitions; no spread can be computed",
        );
        let at = (self.column(Column::Repetitions), self.column(Column::Bytes));
        let once = self.rows.iter().filter(|row| row.value(at.0) == Some(1.0));
        let sizes: Vec<f64> = once.filter_map(|row| row.value(at.1)).collect();
        if let Some(smallest) = sizes.iter().copied().reduce(f64::min) {
            let text = format!("{smallest} bytes and others were sent once: nothing tells noise from effect");
            let text = if sizes.len() == 1 { text.replace(" and others were", " were") } else { text };
            sheet.caveat(CaveatKind::Note, text);
        }
        let wrong = self.rows.iter().filter(|row| row.value(self.column(Column::Defects)) > Some(0.0));
        let wrong: Vec<String> = wrong.filter_map(|row| Some(row.value(at.1)?.to_string())).collect();
        if !wrong.is_empty() {
            let text = format!("the data did not arrive as they were sent at {} bytes", wrong.join(", "));
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        let hollow = self.rows.iter().filter(|row| {
            let mut measured = self.columns.iter().zip(&row.cells).filter(|(column, _)| !column.is_key());
            !self.cut && measured.all(|(_, cell)| cell.is_none())
        });
        let hollow = hollow.map(|row| (row.value(at.1).map(|size| size as i64), "no number in the row"));
        let skipped = self.skipped.iter().map(|(size, reason)| (*size, reason.as_str()));
        let mut lost = hollow.chain(skipped);
        for (size, reason) in lost.by_ref().take(MOST_CAVEATS) {
            let size = size.map_or_else(String::new, |size| format!("{size} bytes: "));
            sheet.caveat(CaveatKind::NotMeasured, format!("{size}{reason}"));
        }
        let further = lost.count();
        if further > 0 {
            sheet.caveat(CaveatKind::NotMeasured, format!("{further} further rows without a result"));
        }
        if let Some(text) = self.foreign.text() {
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        if self.cut {
            sheet.caveat(CaveatKind::Truncated, "the log ends in the middle of a row");
        }
    }
}

/// Microseconds, as they were printed, in seconds: through text, for the nearest number to what was printed.
fn scaled_down(us: f64) -> Option<f64> {
    scaled(&us.to_string(), -6)
}
