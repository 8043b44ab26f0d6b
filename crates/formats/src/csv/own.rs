//! Reads tenbin's own table.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{Better, Metric};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::cells::Cell;
use super::table::Table;
use super::units;
use crate::sheet::Sheet;

/// Columns that are no params.
const FIXED: [&str; 10] =
    ["run", "arm", "tool", "metric", "unit", "better", "headline", "figure", "at_seconds", "value"];

/// Before the name of a param that is called like one of the columns.
const PREFIX: &str = "param:";

/// How a series becomes one value, by the word in the table.
pub const HEADLINES: [(&str, Reduce); 2] = [("median", Reduce::Median), ("total", Reduce::Total)];

/// The column of a param.
pub fn column_of(param: &str) -> String {
    if FIXED.contains(&param) || param.starts_with(PREFIX) {
        format!("{PREFIX}{param}")
    } else {
        param.to_owned()
    }
}

/// The word for a direction.
pub fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    }
}

/// Whether these are the names of such a table's columns.
pub fn is_head(head: &[Cell]) -> bool {
    ["metric", "unit", "value"].iter().all(|name| head.iter().any(|cell| cell.text == *name))
}

/// The runs of a table, in the order of their first rows.
pub fn runs(table: &Table) -> Vec<Run> {
    let mut runs: Vec<((String, String), Sheet)> = Vec::new();
    let mut unread = 0;
    for row in &table.rows {
        let cell =
            |name: &str| table.head.iter().position(|cell| cell.text == name).and_then(|at| row.get(at));
        let text = |name: &str| cell(name).map_or("", |cell| cell.text.as_str());
        let key = (text("run").to_owned(), text("arm").to_owned());
        let at = runs.iter().rposition(|(other, _)| *other == key).unwrap_or_else(|| {
            runs.push((key, sheet(text("tool"), text("run"), text("arm"))));
            runs.len() - 1
        });
        if runs.get_mut(at).and_then(|(_, sheet)| put(table, row, text, sheet)).is_none() {
            unread += 1;
        }
    }
    let note = |sheet: &mut Sheet| {
        if unread > 0 {
            sheet.caveat(CaveatKind::ForeignLines, format!("{unread} rows have no metric, unit or number"));
        }
        noted(table, sheet);
    };
    let finish = |(_, mut sheet): (_, Sheet)| {
        note(&mut sheet);
        sheet.finish()
    };
    runs.into_iter().filter_map(finish).collect()
}

/// A run, and by what it is told from others in the table.
pub fn sheet(tool: &str, run: &str, arm: &str) -> Sheet {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let known = !tool.is_empty() && tool.len() <= 32 && tool.chars().all(word);
    let mut sheet = Sheet::new(if known { tool } else { "csv" });
    for (key, value) in [("csv.run", run), ("csv.arm", arm)] {
        if !value.is_empty() {
            sheet.fact(key, value);
        }
    }
    sheet
}

/// What holds for all runs of a table.
pub fn noted(table: &Table, sheet: &mut Sheet) {
    if let Some((first, count)) = &table.foreign {
        let first: String = first.chars().take(80).collect();
        sheet.caveat(
            CaveatKind::ForeignLines,
            format!("{count} lines are no rows of the table, the first: {first}"),
        );
    }
    if table.cut {
        sheet.caveat(CaveatKind::Truncated, "the last row is not whole and was left out");
    }
}

/// Puts a row into its run; `None` if it can't be read.
fn put<'a>(
    table: &Table,
    row: &[Cell],
    text: impl Fn(&'static str) -> &'a str,
    sheet: &mut Sheet,
) -> Option<()> {
    let unit = Unit::from_name(text("unit"))?;
    let name = text("metric");
    let known = units::metric(name).filter(|metric| metric.unit == unit);
    let better = match text("better") {
        "higher" => Some(Better::Higher),
        "lower" => Some(Better::Lower),
        "neither" => Some(Better::Neither),
        _ => None,
    };
    let metric = match known {
        Some(metric) if better.is_none_or(|better| better == metric.better) => metric.clone(),
        _ if name.is_empty() => return None,
        _ => Metric { name: name.to_owned().into(), unit, better: better.unwrap_or(Better::Neither) },
    };
    let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    let value = number(text("value"))?;
    let at = text("at_seconds");
    let at = if at.is_empty() { None } else { Some(number(at)?) };
    let series = sheet.series(&metric, &params(table, row));
    series.headline = HEADLINES.iter().find(|(name, _)| *name == text("headline")).map(|(_, reduce)| *reduce);
    match text("figure") {
        "" => series.samples.push(Sample::new(at, value)),
        figure => {
            series.reported.insert(figure.to_owned(), value);
        }
    }
    Some(())
}

fn params(table: &Table, row: &[Cell]) -> Params {
    let mut params = Params::new();
    for (head, cell) in table.head.iter().zip(row) {
        let name = head.text.as_str();
        if FIXED.contains(&name) || name.is_empty() || cell.text.is_empty() && !cell.quoted {
            continue;
        }
        params.insert(name.strip_prefix(PREFIX).unwrap_or(name).to_owned(), param(cell));
    }
    params
}

/// A cell as a param: what is quoted is text.
pub fn param(cell: &Cell) -> Param {
    let text = cell.text.as_str();
    if cell.quoted {
        return Param::from(text);
    }
    let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    text.parse()
        .map(Param::Int)
        .ok()
        .or_else(|| number(text).map(Param::Num))
        .unwrap_or_else(|| Param::from(text))
}
