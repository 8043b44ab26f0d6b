//! Reads STREAM's text.

use std::io::BufRead;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, DURATION};
use tenbin_core::sample::Reduce;
use tenbin_core::unit::Unit;

use super::{BYTES_PER_MB, KERNELS};
use crate::clean::{Line, Lines};
use crate::sheet::{Sheet, params};
use crate::{ParseError, RunSink};

/// Whether only STREAM writes such a line.
pub fn is_stream(text: &str) -> bool {
    version(text).is_some() || is_head(text)
}

/// Reads every table of a log.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut table = Table::default();
    let mut said = None;
    let mut any = false;
    loop {
        let line = lines.next()?;
        if table.ends_before(line.as_ref()) {
            said = said.or(table.said.take());
            if let Some(run) = std::mem::take(&mut table).sheet().and_then(Sheet::finish) {
                any = true;
                out.run(run);
            }
        }
        let Some(line) = line else { break };
        table.line(line);
    }
    if any {
        return Ok(());
    }
    let said = said.unwrap_or_else(|| "the log ends before the table of rates".to_owned());
    Err(ParseError::NothingMeasured { tool: "stream", said })
}

/// One run of the program, up to and including what it says about its results.
#[derive(Default)]
struct Table {
    version: Option<String>,
    elements: Option<i64>,
    offset: Option<i64>,
    element_bytes: Option<i64>,
    passes: Option<i64>,
    threads: Option<i64>,
    ticks: Option<f64>,
    /// Whether the head of the table was seen, and whether its third column is a root mean square.
    head: bool,
    rms: bool,
    rows: Vec<Row>,
    validated: bool,
    failed: Option<String>,
    /// A line that tells why there is no table.
    said: Option<String>,
}

struct Row {
    kernel: &'static str,
    bytes_per_second: f64,
    /// Average, shortest, longest pass in seconds, as far as they were printed.
    seconds: [Option<f64>; 3],
}

impl Table {
    /// Whether `line` (`None`: the end) belongs to the next run.
    fn ends_before(&self, line: Option<&Line<'_>>) -> bool {
        let Some(line) = line else { return true };
        let text = line.text.trim_start();
        if version(text).is_some() {
            return self.version.is_some() || self.head;
        }
        // A table pasted without what stands above it.
        is_head(text) && self.head
            || row(text, true).is_some_and(|next| self.rows.iter().any(|row| row.kernel == next.kernel))
    }

    fn line(&mut self, line: Line<'_>) {
        let text = line.text.trim();
        if let Some(version) = version(text) {
            self.version = Some(version.to_owned());
        } else if is_head(text) {
            self.head = true;
            self.rms = text.contains("RMS");
        } else if let Some(row) = row(text, line.whole) {
            // Prose may begin with "Copy: 5"; a row without a head has its times.
            if self.head || row.seconds.iter().all(Option::is_some) {
                self.rows.push(row);
            }
        } else if text.starts_with("Solution Validates") {
            self.validated = true;
        } else if text.starts_with("Failed Validation") {
            self.failed.get_or_insert_with(|| text.to_owned());
        } else if ["rror", "egmentation fault", "Killed", "not found"].iter().any(|word| text.contains(word))
        {
            self.said.get_or_insert_with(|| text.to_owned());
        } else if line.whole {
            self.setting(text);
        }
    }

    fn setting(&mut self, text: &str) {
        let after = |label: &str| text.split_once(label).and_then(|(_, rest)| integer(rest));
        if text.starts_with("Array size") {
            self.elements = after("=");
            self.offset = self.offset.or(after("Offset ="));
        } else if text.starts_with("Offset ") {
            self.offset = after("=");
        } else if text.starts_with("This system uses ") {
            self.element_bytes = after("uses");
        } else if text.starts_with("Assuming ") && text.contains("bytes per") {
            self.element_bytes = after("Assuming");
        } else if text.contains(" executed ") && text.ends_with(" times.") {
            self.passes = after("executed");
        } else if text.contains("each test") || text.starts_with("Each test is run") {
            self.passes = after("test").or(after("run")).or(self.passes);
        } else if text.starts_with("Number of Threads") {
            // The counted ones come after the requested ones.
            self.threads = after("=").or(self.threads);
        } else if text.starts_with("(=") && text.contains("clock ticks") {
            self.ticks = after("(=").map(|ticks| ticks as f64);
        }
    }

    fn sheet(self) -> Option<Sheet> {
        let mut sheet = Sheet::new("stream");
        for row in &self.rows {
            let kernel = params([("kernel", row.kernel.into())]);
            sheet.headline(&BANDWIDTH, &kernel, Reduce::Total, row.bytes_per_second);
            let [average, shortest, longest] = row.seconds;
            if let Some(average) = average {
                if self.rms {
                    sheet.reported(&DURATION, &kernel, "rms", average);
                } else {
                    sheet.printed(&DURATION, &kernel, average);
                }
            }
            // The first pass counts in no figure.
            let counted = self.passes.filter(|passes| *passes > 1).map(|passes| (passes - 1) as f64);
            let figures = [("min", shortest), ("max", longest)];
            for (name, value) in figures.into_iter().chain([("n", counted.filter(|_| average.is_some()))]) {
                if let Some(value) = value {
                    sheet.reported(&DURATION, &kernel, name, value);
                }
            }
        }
        if self.rows.is_empty() {
            return None;
        }
        self.caveats(&mut sheet);
        self.facts(&mut sheet);
        Some(sheet)
    }

    fn caveats(&self, sheet: &mut Sheet) {
        if self.passes != Some(1) {
            let passes = self.passes.map_or_else(|| "all".to_owned(), |passes| passes.to_string());
            let text = format!("each rate is the best of {passes} passes, the first left out; it is no mean");
            sheet.caveat(CaveatKind::BestOf, text);
        }
        if let Some(failed) = &self.failed {
            sheet.caveat(CaveatKind::ErrorReported, format!("the results were wrong: {failed}"));
        }
        if self.rows.len() < KERNELS.len() {
            let text = format!("{} of {} kernels are in the log", self.rows.len(), KERNELS.len());
            sheet.caveat(CaveatKind::Truncated, text);
        } else if !self.validated && self.failed.is_none() {
            let text = "no line says whether the results were right: the log ends after the table";
            sheet.caveat(CaveatKind::Truncated, text);
        }
        // STREAM asks for 20 itself.
        if let Some(ticks) = self.ticks.filter(|ticks| *ticks < 20.0) {
            let text =
                format!("a pass took {ticks} ticks of the clock: too few for a rate, make the arrays larger");
            sheet.caveat(CaveatKind::CoarseClock, text);
        }
    }

    fn facts(&self, sheet: &mut Sheet) {
        sheet.run.tool_version.clone_from(&self.version);
        let counts = [
            ("stream.elements", self.elements, None),
            ("stream.offset", self.offset, None),
            ("stream.element_bytes", self.element_bytes, Some(Unit::Byte)),
            ("stream.passes", self.passes, None),
            ("stream.threads", self.threads, None),
        ];
        for (key, value, unit) in counts {
            match (value, unit) {
                (Some(value), Some(unit)) => sheet.fact_in(key, value, unit),
                (Some(value), None) => sheet.fact(key, value),
                (None, _) => {}
            }
        }
        if let (Some(elements), Some(bytes)) = (self.elements, self.element_bytes)
            && let Some(bytes) = elements.checked_mul(bytes)
        {
            sheet.fact_in("stream.array_bytes", bytes, Unit::Byte);
        }
        if self.validated {
            sheet.fact("stream.validated", true);
        } else if self.failed.is_some() {
            sheet.fact("stream.validated", false);
        }
    }
}

/// `STREAM version $Revision: 5.10 $`
fn version(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("STREAM version").or_else(|| text.strip_prefix("STREAM Version"))?;
    let version = rest.trim().trim_start_matches("$Revision:").trim_end_matches('$').trim();
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// The head of the table: a rate in MB/s and times.
fn is_head(text: &str) -> bool {
    text.starts_with("Function") && text.contains("Rate") && text.contains("MB/s") && text.contains("ime")
}

/// `Copy:           25956.9     0.006271     0.006164     0.006907`
fn row(text: &str, whole: bool) -> Option<Row> {
    let (label, figures) = text.split_once(':')?;
    let (_, kernel) = KERNELS.into_iter().find(|(name, _)| label.eq_ignore_ascii_case(name))?;
    let words: Vec<&str> = figures.split_whitespace().take(4).collect();
    let mut seconds = [None; 3];
    for (at, slot) in seconds.iter_mut().enumerate() {
        let word = words.get(at + 1);
        // All times have equally many decimals, six in most versions: a cut one shows.
        let wanted = if at == 0 { 6 } else { decimals(words.get(at)) };
        let cut = !whole && at + 2 == words.len() && decimals(word) < wanted;
        *slot = word.filter(|_| !cut).and_then(|word| number(word));
    }
    let rate = words.first().filter(|_| whole || words.len() > 1).and_then(|word| number(word))?;
    Some(Row { kernel, bytes_per_second: rate * BYTES_PER_MB, seconds })
}

fn decimals(word: Option<&&str>) -> usize {
    word.and_then(|word| word.split_once('.')).map_or(0, |(_, decimals)| decimals.len())
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// The whole number at the start.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}
