//! Reads results of CrystalDiskMark and KDiskMark: rows into a run for each result.

use std::io::BufRead;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, IOPS, LATENCY};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};

use super::row::{Piece, Row, pieces, unquoted};
use crate::clean::Lines;
use crate::sheet::Sheet;
use crate::{ParseError, RunSink};

/// Which of the two programs wrote a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// CrystalDiskMark.
    Crystal,
    /// KDiskMark.
    K,
}

impl Tool {
    /// The name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Crystal => "crystaldiskmark",
            Tool::K => "kdiskmark",
        }
    }
}

/// Whose result `head` begins with: told by a header, or by the look of two rows.
pub(crate) fn whose(head: &str) -> Option<Tool> {
    let mut rows = 0;
    let mut spaced = false;
    for line in head.lines() {
        if let Some((tool, _, _)) = header(line) {
            return Some(tool);
        }
        for piece in pieces(line) {
            if let Piece::Row(row) = piece {
                rows += 1;
                spaced |= row.spaced;
            }
        }
        if rows >= 2 {
            return Some(if spaced { Tool::K } else { Tool::Crystal });
        }
    }
    None
}

/// Reads a file of results.
pub(crate) fn parse(input: &mut dyn BufRead, tool: Tool, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut found = Found { result: Printed::new(tool), tool, out, any: false };
    while let Some(line) = lines.next()? {
        found.line(line.text, line.whole);
    }
    found.flush(Printed::new(tool));
    if found.any {
        return Ok(());
    }
    let said = "the result has no row with a value".to_owned();
    Err(ParseError::NothingMeasured { tool: tool.name(), said })
}

/// `CrystalDiskMark 8.0.4 Shizuku Edition x64 (C) ...`, `KDiskMark (3.1.4): https://...`: tool, version, the rest.
/// The version is empty where none is printed.
fn header(line: &str) -> Option<(Tool, &str, &str)> {
    let text = unquoted(line);
    if let Some(rest) = text.strip_prefix("CrystalDiskMark ") {
        let rest = rest.trim_start();
        let (version, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let dated = rest.contains("(C)") || rest.contains('©') || rest.contains("hiyohiyo");
        let numbered = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
        return (numbered && dated).then_some((Tool::Crystal, version, rest));
    }
    if text.starts_with("KDiskMark: http") {
        // Up to 1.5.0.
        return Some((Tool::K, "", ""));
    }
    let (version, rest) = text.strip_prefix("KDiskMark (")?.split_once(')')?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some((Tool::K, version, rest))
}

/// What is printed around the rows.
#[derive(Debug, Default)]
struct Around {
    version: Option<String>,
    notes: Vec<(&'static str, String)>,
    passes: Option<i64>,
    profile: Option<String>,
    /// The lines behind the rows were reached.
    footer: bool,
}

/// One result.
#[derive(Debug)]
struct Printed {
    tool: Tool,
    headed: bool,
    group: Option<&'static str>,
    rows: Vec<Row>,
    unmeasured: usize,
    around: Around,
}

impl Printed {
    fn new(tool: Tool) -> Printed {
        let around = Around::default();
        Printed { tool, headed: false, group: None, rows: Vec::new(), unmeasured: 0, around }
    }
}

struct Found<'a> {
    result: Printed,
    tool: Tool,
    out: &'a mut dyn RunSink,
    any: bool,
}

impl Found<'_> {
    fn line(&mut self, text: &str, whole: bool) {
        if let Some((tool, version, rest)) = header(text) {
            self.flush(Printed::new(tool));
            self.tool = tool;
            self.result.headed = true;
            self.result.around.version = Some(version.to_owned()).filter(|version| !version.is_empty());
            let edition = rest.split("(C)").next().unwrap_or("").trim();
            if tool == Tool::Crystal && !edition.is_empty() && edition.len() < 60 {
                self.result.around.notes.push(("edition", edition.to_owned()));
            }
            return;
        }
        let pieces = pieces(text);
        if pieces.is_empty() {
            self.around(text, whole);
        }
        for piece in pieces {
            match piece {
                Piece::Group(op) => {
                    // Reads come first.
                    let again = op == "read" && self.result.rows.iter().any(|row| row.op.is_some());
                    if self.result.around.footer || again {
                        self.flush(Printed::new(self.tool));
                    }
                    if op == "write" {
                        // Rows of a copy that lost its first mark.
                        let lost = self.result.rows.iter_mut().filter(|row| row.op.is_none());
                        lost.for_each(|row| row.op = Some("read"));
                    }
                    if op == "mixed" {
                        let ratio = text.split_once(']').map_or("", |(_, ratio)| ratio.trim());
                        if ratio.len() < 40 && ratio.ends_with('%') {
                            self.result.around.notes.push(("mix", ratio.to_owned()));
                        }
                    }
                    self.result.group = Some(op);
                }
                Piece::Row(row) => self.row(Row { op: row.op.or(self.result.group), ..row }),
            }
        }
    }

    fn row(&mut self, row: Row) {
        let rows = &self.result.rows;
        // The first row once more, behind others: the next result of a file of bare rows.
        let again = rows.len() > 1
            && self.result.group.is_none()
            && rows.first().is_some_and(|first| first.same_test(&row));
        if self.result.around.footer || again {
            self.flush(Printed::new(self.tool));
        }
        if row.bandwidth > 0.0 {
            self.result.rows.push(row);
        } else {
            self.result.unmeasured += 1;
        }
    }

    /// A line of the header or footer.
    fn around(&mut self, text: &str, whole: bool) {
        let result = &mut self.result;
        let text = unquoted(text);
        if let Some(version) =
            text.strip_prefix("Flexible I/O Tester (").and_then(|rest| rest.split(')').next())
        {
            result.around.notes.push(("fio_version", version.trim_start_matches("fio-").to_owned()));
            return;
        }
        if result.rows.is_empty() && !result.headed || !whole && !text.contains(')') {
            return;
        }
        let Some((key, value)) = text.split_once(':') else { return };
        let value: String = value.trim().chars().take(200).collect();
        let key = match key.trim() {
            "Profile" => {
                result.around.profile = Some(value.clone());
                "profile"
            }
            "Test" => {
                let times = value.split_once("(x").and_then(|(_, rest)| rest.split_once(')'));
                result.around.passes = times.and_then(|(n, _)| n.trim().parse().ok());
                if result.around.passes.is_none() {
                    return;
                }
                "test"
            }
            "Mode" => "mode",
            "Time" => "time",
            "Date" => "date",
            "OS" => "os",
            "Target" => "target",
            "Comment" => "comment",
            _ => return,
        };
        // Behind the comment nothing belongs to this result.
        result.around.footer |= matches!(key, "test" | "date" | "os" | "profile");
        if !value.is_empty() && !result.around.notes.iter().any(|(have, _)| *have == key) {
            result.around.notes.push((key, value));
        }
    }

    /// Hands over the current result and goes on with `next`.
    fn flush(&mut self, next: Printed) {
        let result = std::mem::replace(&mut self.result, next);
        if let Some(run) = run_of(&result) {
            self.any = true;
            self.out.run(run);
        }
    }
}

fn run_of(result: &Printed) -> Option<Run> {
    let tool = result.tool.name();
    let mut sheet = Sheet::new(tool);
    sheet.run.tool_version.clone_from(&result.around.version);
    let factor = match result.tool {
        Tool::Crystal => 1.0,
        Tool::K => kdiskmark_factor(result),
    };
    for row in &result.rows {
        let params = params_of(row);
        sheet.headline(&BANDWIDTH, &params, Reduce::Total, row.bandwidth * factor);
        for (metric, value) in [(&IOPS, row.iops), (&LATENCY, row.latency)] {
            if let Some(value) = value.filter(|value| *value > 0.0) {
                sheet.headline(metric, &params, Reduce::Total, value);
            }
        }
    }
    for (key, value) in &result.around.notes {
        sheet.fact(&format!("{tool}.{key}"), value.as_str());
    }
    if let Some(passes) = result.around.passes {
        sheet.fact(&format!("{tool}.passes"), passes);
    }
    caveats(result, factor, &mut sheet);
    sheet.finish()
}

/// The params of a row's series.
pub(crate) fn params_of(row: &Row) -> Params {
    let mut params = Params::new();
    let numbers = [("block_bytes", row.block), ("queue_depth", row.queue), ("threads", row.threads)];
    for (name, value) in numbers {
        if let Some(value) = value {
            params.insert(name.to_owned(), value.into());
        }
    }
    if let Some(op) = row.op {
        params.insert("op".to_owned(), op.into());
    }
    params.insert("pattern".to_owned(), row.pattern.into());
    params
}

/// KDiskMark calls MB/s what is KiB/s / 1000, and up to 1.5.0 what is MiB/s. Its requests in a second tell which.
fn kdiskmark_factor(result: &Printed) -> f64 {
    let rows = || result.rows.iter().filter(|row| row.block.is_some() && row.iops.is_some());
    let moved: f64 = rows().map(|row| row.iops.unwrap_or(0.0) * row.block.unwrap_or(0) as f64).sum();
    let printed: f64 = rows().map(|row| row.bandwidth).sum();
    let kinds = [1.024, 1.048_576, 1.0];
    let near = |factor: &&f64| (moved / (printed * **factor) - 1.0).abs() < 0.004;
    let old = result.around.version.as_deref().is_some_and(|version| {
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (1, 5, 1)
    });
    kinds.iter().find(near).copied().unwrap_or(if old { 1.048_576 } else { 1.024 })
}

fn caveats(result: &Printed, factor: f64, sheet: &mut Sheet) {
    let around = &result.around;
    let latencies = result.rows.iter().any(|row| row.latency.is_some());
    let apart = if latencies { ", latency and speed not always of the same pass" } else { "" };
    let best = match result.tool {
        Tool::Crystal => true,
        // The mean of its passes, except in these profiles.
        Tool::K => around
            .profile
            .as_deref()
            .is_some_and(|name| ["Peak", "Real", "Demo"].iter().any(|p| name.starts_with(p))),
    };
    match around.passes {
        Some(passes) if best && passes > 1 => {
            sheet.caveat(CaveatKind::BestOf, format!("each number is the best of {passes} passes{apart}"));
        }
        None if best => {
            let text = format!("each number is the best of its passes, whose number was not printed{apart}");
            sheet.caveat(CaveatKind::BestOf, text);
        }
        _ => {}
    }
    if factor == 1.024 {
        sheet.caveat(CaveatKind::UnitCorrected, "KDiskMark's MB/s are KiB/s / 1000, counted as such here");
    } else if factor > 1.024 {
        sheet.caveat(CaveatKind::UnitCorrected, "this KDiskMark's MB/s are MiB/s, counted as such here");
    }
    if result.rows.iter().any(|row| row.comma) {
        sheet.caveat(
            CaveatKind::Locale,
            "numbers with commas were read by how many decimals the program prints",
        );
    }
    if result.unmeasured > 0 {
        let text = format!("{} rows print 0.000 MB/s: not run or stopped", result.unmeasured);
        sheet.caveat(CaveatKind::NotMeasured, text);
    }
    if result.rows.iter().any(|row| row.op.is_none()) {
        sheet.caveat(CaveatKind::Note, "whether these rows are reads or writes was not printed");
    }
    let count = |op: &str| result.rows.iter().filter(|row| row.op == Some(op)).count();
    let uneven = count("write") < count("read") && result.unmeasured == 0;
    if !around.footer && (result.headed || uneven) {
        sheet.caveat(CaveatKind::Truncated, format!("the result ends after {} rows", result.rows.len()));
    }
}
