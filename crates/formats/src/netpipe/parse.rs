//! Rows into runs.

use std::io::BufRead;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{LATENCY, THROUGHPUT};
use tenbin_core::sample::Reduce;
use tenbin_core::unit::Unit;

use super::line::{self, Figure, Left, Row};
use crate::clean::Lines;
use crate::mpi::{Foreign, MEBI_OVER_MEGA, Trouble, counts_in_mebi, is_digits, scaled};
use crate::sheet::{Sheet, params};
use crate::{ParseError, RunSink};

/// Reads a log, or np.out.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader { out, test: Test::default(), any: false, trouble: Trouble::default() };
    while let Some(line) = lines.next()? {
        reader.line(line.text.trim(), line.whole);
    }
    reader.end();
    if reader.any {
        return Ok(());
    }
    let said = reader.trouble.any().unwrap_or("the log holds no row with a result").to_owned();
    Err(ParseError::NothingMeasured { tool: "netpipe", said })
}

/// One start of the program.
#[derive(Default)]
struct Test {
    rows: Vec<Row>,
    /// Rows of np.out.
    filed: Vec<Filed>,
    /// A row whose second half has not come yet.
    open: Option<Left>,
    buffers: Option<(i64, i64)>,
    trials: Option<i64>,
    /// Rates count both directions.
    combined: bool,
    foreign: Foreign,
}

struct Reader<'a> {
    out: &'a mut dyn RunSink,
    test: Test,
    any: bool,
    trouble: Trouble,
}

impl Reader<'_> {
    fn line(&mut self, text: &str, whole: bool) {
        if text.is_empty() {
            return;
        }
        // A last word without its end may be half a unit.
        let whole = whole || text.ends_with("sec") || text.ends_with("secs") || text.ends_with("failures");
        if let Some(row) = line::row(text).filter(|_| whole) {
            self.row(row);
        } else if let Some(left) = text.split_once("-->").and_then(|(before, _)| line::left(before)) {
            // The result stands in a later line: another process wrote in between.
            self.restart(left.size);
            self.test.open = Some(left);
        } else if let Some(row) = self.test.open.and_then(|left| line::right(left, text)).filter(|_| whole) {
            self.row(row);
        } else if let Some(filed) = filed(text).filter(|_| whole) {
            self.test.filed.push(filed);
        } else if let Some(buffers) = line::buffers(text) {
            self.end();
            self.test.buffers = Some(buffers);
        } else if line::is_start(text) {
            if !self.test.rows.is_empty() {
                self.end();
            }
            let trials = text.split_whitespace().find(|word| is_digits(word));
            self.test.trials = trials.and_then(|trials| trials.parse().ok());
        } else if text == "Output is for the combined bandwidth."
            || text.starts_with("Bidirectional mode using ")
        {
            self.test.combined = true;
        } else {
            self.trouble.hear(text);
            if !self.test.rows.is_empty() || self.test.open.is_some() {
                self.test.foreign.hear(text);
            }
        }
    }

    fn row(&mut self, row: Row) {
        if self.test.open.take().is_none() {
            self.restart(row.left.size);
        }
        self.test.foreign.settle();
        self.test.rows.push(row);
    }

    /// Sizes only grow; where they begin again, so did the program.
    fn restart(&mut self, size: i64) {
        if self.test.rows.last().is_some_and(|last| size < last.left.size) {
            self.end();
        }
    }

    fn end(&mut self) {
        let mut test = std::mem::take(&mut self.test);
        let filed = std::mem::take(&mut test.filed);
        // A file of its own, or numbers that happen to stand in a log.
        let sheet =
            if test.rows.is_empty() && !filed.is_empty() { Some(from_file(&filed)) } else { test.sheet() };
        let Some(mut sheet) = sheet else { return };
        if let Some(text) = self.trouble.fatal() {
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        self.trouble = Trouble::default();
        if let Some(run) = sheet.finish() {
            self.any = true;
            self.out.run(run);
        }
    }
}

impl Test {
    fn sheet(self) -> Option<Sheet> {
        let first = self.rows.first()?;
        let modern = first.left.modern;
        let mut sheet = Sheet::new("netpipe");
        let compared =
            self.rows.iter().filter(|row| row.left.size > 0 && row.time.value > 0.0 && !row.left.rounded);
        let shown = counts_in_mebi(compared.map(|row| {
            (row.rate.value, row.left.size as f64 * 8.0 / row.time.value, row.rate.slack + row.time.slack)
        }));
        let mebi = shown.unwrap_or(!modern);
        for row in &self.rows {
            let factor = if mebi && row.rate.mega { MEBI_OVER_MEGA } else { 1.0 };
            put(&mut sheet, row.left.size, Some(row.left.times), row.rate.value * factor, row.time.value);
        }
        if let Some((send, receive)) = self.buffers {
            sheet.fact_in("netpipe.send_buffer", send, Unit::Byte);
            sheet.fact_in("netpipe.receive_buffer", receive, Unit::Byte);
        }
        if let Some(trials) = self.trials {
            sheet.fact("netpipe.trials", trials);
        }
        if self.combined {
            sheet.fact("netpipe.bidirectional", true);
        }
        if mebi {
            correct(&mut sheet);
        }
        if modern {
            sheet.caveat(
                CaveatKind::SummaryOnly,
                "NetPIPE prints means over its trials; no spread can be computed",
            );
        } else {
            best(&mut sheet);
        }
        if self.rows.iter().any(|row| row.left.rounded) {
            let text = "sizes from 1 MB on are printed with three decimals of a MB: sizes beside each other share a name";
            sheet.caveat(CaveatKind::Note, text);
        }
        let damaged: Vec<String> = self
            .rows
            .iter()
            .filter(|row| row.failures.is_some_and(|n| n > 0))
            .map(|row| row.left.size.to_string())
            .collect();
        if !damaged.is_empty() {
            sheet.caveat(
                CaveatKind::ErrorReported,
                format!("messages arrived damaged at {} bytes", damaged.join(", ")),
            );
        }
        if let Some(text) = self.foreign.text() {
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        Some(sheet)
    }
}

fn put(sheet: &mut Sheet, size: i64, times: Option<f64>, rate: f64, time: f64) {
    let params = params([("size_bytes", size.into())]);
    for (metric, value) in [(&THROUGHPUT, rate), (&LATENCY, time)] {
        // A printed 0 has lost its digits.
        if value > 0.0 {
            let series = sheet.headline(metric, &params, Reduce::Median, value);
            series.reported.extend(times.map(|n| ("n".to_owned(), n)));
        }
    }
}

fn correct(sheet: &mut Sheet) {
    sheet.caveat(CaveatKind::UnitCorrected, "Mbps counts 2^20 bits here; given as bits per second");
}

fn best(sheet: &mut Sheet) {
    sheet.caveat(CaveatKind::BestOf, "each row is the fastest of several trials, not their mean");
}

/// A row of np.out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Filed {
    size: i64,
    /// As printed, in 10^6 or 10^9 bit/s.
    rate: Figure,
    time: Figure,
    /// The slowest and the fastest trial: version 5.
    spread: Option<(f64, f64)>,
}

/// `       1 1.624331   0.00000470` of version 3, or `        2     0.019     0.019     0.016    0.86` of version 5.
fn filed(text: &str) -> Option<Filed> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let size = |word: &str| word.parse::<i64>().ok().filter(|size| is_digits(word) && *size < 1 << 50);
    let shaped = |word: &str, wanted: usize| crate::mpi::decimals(word) == wanted;
    match words[..] {
        [bytes, rate, time] if shaped(rate, 6) && shaped(time, 8) => Some(Filed {
            size: size(bytes)?,
            rate: line::figure(rate, 6)?,
            time: line::figure(time, 0)?,
            spread: None,
        }),
        [bytes, rate, min, max, time, ..]
            if shaped(rate, 3) && shaped(min, 3) && shaped(max, 3) && shaped(time, 2) =>
        {
            let spread = Some((scaled(min, 9)?, scaled(max, 9)?));
            Some(Filed {
                size: size(bytes)?,
                rate: line::figure(rate, 9)?,
                time: line::figure(time, -6)?,
                spread,
            })
        }
        _ => None,
    }
}

/// Whether `head` begins np.out: every line has its shape, and the rates follow from sizes and times.
pub fn is_file(head: &str) -> bool {
    let lines: Vec<&str> = head.lines().filter(|text| !text.trim().is_empty()).take(12).collect();
    let rows: Vec<Filed> = lines.iter().filter_map(|text| filed(text)).collect();
    // The last line of a head may be cut.
    if rows.len() < 2 || rows.len() + 1 < lines.len() || !rows.is_sorted_by_key(|row| row.size) {
        return false;
    }
    let follows = |row: &&Filed| {
        let expected = row.size as f64 * 8.0 / row.time.value;
        let ratio = row.rate.value / expected;
        let near =
            |wanted: f64| (ratio / wanted - 1.0).abs() < (row.rate.slack + row.time.slack + 0.01).min(0.3);
        [1.0, 2.0].iter().any(|times| near(*times) || near(times / MEBI_OVER_MEGA))
    };
    rows.iter().filter(follows).count() * 4 >= rows.len() * 3
}

fn from_file(rows: &[Filed]) -> Sheet {
    let mut sheet = Sheet::new("netpipe");
    let modern = rows.iter().any(|row| row.spread.is_some());
    for row in rows {
        let factor = if row.spread.is_some() { 1.0 } else { MEBI_OVER_MEGA };
        put(&mut sheet, row.size, None, row.rate.value * factor, row.time.value);
        let ordered =
            row.spread.filter(|(min, max)| *min > 0.0 && *min <= row.rate.value && row.rate.value <= *max);
        if let Some((min, max)) = ordered {
            let params = params([("size_bytes", row.size.into())]);
            sheet.reported(&THROUGHPUT, &params, "min", min);
            sheet.reported(&THROUGHPUT, &params, "max", max);
        }
    }
    if modern {
        sheet.caveat(CaveatKind::SummaryOnly, "np.out holds means over trials; no spread can be computed");
    } else {
        correct(&mut sheet);
        best(&mut sheet);
    }
    sheet
}
