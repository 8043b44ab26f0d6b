//! Reads anybody's table whose head names metrics and units.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample};

use super::cells::Cell;
use super::head::{self, Column};
use super::own;
use super::table::Table;
use crate::sheet::Sheet;

/// Params of which any number is one, with decimals too.
const PARAMS: [&str; 18] = [
    "benchmark",
    "size_bytes",
    "ranks",
    "stat",
    "direction",
    "side",
    "stream",
    "target",
    "op",
    "pattern",
    "record_bytes",
    "block_bytes",
    "file_bytes",
    "queue_depth",
    "threads",
    "kernel",
    "grid",
    "sensor",
];

/// A column's name is no sentence.
const LONGEST_NAME: usize = 64;

/// Whether these are the names of such a table's columns: one at least names a metric with its unit.
pub fn is_head(head: &[Cell]) -> bool {
    let named = |cell: &Cell| matches!(head::column(&cell.text), Column::Value { unit_named: true, .. });
    head.iter().all(|cell| cell.text.len() <= LONGEST_NAME) && head.iter().any(named)
}

/// The runs of a table, in the order of their first rows.
pub fn runs(table: &Table) -> Vec<Run> {
    let columns: Vec<Column> = table.head.iter().map(|cell| head::column(&cell.text)).collect();
    let kept: Vec<bool> = (0..columns.len()).map(|at| is_param(table, &columns, at)).collect();
    let mut runs: Vec<((String, String), Sheet)> = Vec::new();
    for row in &table.rows {
        let of = |wanted: &Column| {
            let at = columns.iter().position(|column| column == wanted)?;
            row.get(at).map(|cell| cell.text.clone())
        };
        let key = (of(&Column::Run).unwrap_or_default(), of(&Column::Arm).unwrap_or_default());
        let at = runs.iter().rposition(|(other, _)| *other == key).unwrap_or_else(|| {
            let sheet = own::sheet("csv", &key.0, &key.1);
            runs.push((key, sheet));
            runs.len() - 1
        });
        if let Some((_, sheet)) = runs.get_mut(at) {
            put(table, &columns, &kept, row, sheet);
        }
    }
    let finish = |(_, mut sheet): (_, Sheet)| {
        noted(table, &columns, &kept, &mut sheet);
        sheet.finish()
    };
    runs.into_iter().filter_map(finish).collect()
}

/// Whether a column without a metric tells configurations apart: words and whole numbers do. A number with decimals
/// is more likely a measurement in a unit that is not known, by which every row would become a series of its own.
fn is_param(table: &Table, columns: &[Column], at: usize) -> bool {
    if columns.get(at) != Some(&Column::Other) {
        return false;
    }
    let name = table.head.get(at).map_or("", |cell| cell.text.as_str());
    if PARAMS.contains(&name) {
        return true;
    }
    let measured = |row: &Vec<Cell>| {
        row.get(at).is_some_and(|cell| {
            !cell.quoted && cell.text.parse::<i64>().is_err() && number(table, cell).is_some()
        })
    };
    !table.rows.iter().any(measured)
}

fn put(table: &Table, columns: &[Column], kept: &[bool], row: &[Cell], sheet: &mut Sheet) {
    let mut params = Params::new();
    let mut at = None;
    for (((column, kept), name), cell) in columns.iter().zip(kept).zip(&table.head).zip(row) {
        if *kept && !cell.text.is_empty() {
            params.insert(name.text.clone(), own::param(cell));
        }
        if let Column::At((times, over)) = column {
            at = number(table, cell).map(|value| value * times / over);
        }
    }
    for (column, cell) in columns.iter().zip(row) {
        let Column::Value { metric, figure, factor: (times, over), .. } = column else { continue };
        let Some(value) = number(table, cell) else { continue };
        let value = value * times / over;
        let series = sheet.series(metric, &params);
        series.headline = Some(Reduce::Median);
        match figure {
            None => series.samples.push(Sample::new(at, value)),
            Some(figure) => {
                series.reported.insert(figure.clone(), value);
            }
        }
    }
}

fn noted(table: &Table, columns: &[Column], kept: &[bool], sheet: &mut Sheet) {
    for series in &mut sheet.run.series {
        // A mean without samples stands for them; a count of losses is no verdict.
        if let (true, Some(mean)) = (series.samples.is_empty(), series.reported.get("mean")) {
            series.samples.push(Sample::of(*mean));
        }
        if series.metric.better == tenbin_core::metric::Better::Neither {
            series.headline = None;
        }
    }
    let unread = columns.iter().zip(kept).zip(&table.head);
    let unread: Vec<&str> = unread
        .filter(|((column, kept), name)| **column == Column::Other && !**kept && !name.text.is_empty())
        .map(|(_, name)| name.text.as_str())
        .collect();
    if !unread.is_empty() {
        let text =
            format!("columns that name no known metric with its unit were left out: {}", unread.join(", "));
        sheet.caveat(CaveatKind::Note, text);
    }
    if table.decimal_comma && table.rows.iter().flatten().any(|cell| cell.text.contains(',')) {
        sheet.caveat(CaveatKind::Locale, "numbers have a comma in the place of the point");
    }
    own::noted(table, sheet);
}

/// The number in a cell. An empty one, `NA` and `nan` are none.
fn number(table: &Table, cell: &Cell) -> Option<f64> {
    let text = if table.decimal_comma { cell.text.replace(',', ".") } else { cell.text.clone() };
    text.parse().ok().filter(|value: &f64| value.is_finite())
}
