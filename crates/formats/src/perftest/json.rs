//! The JSON of `--out_json`. It is printed by hand, with commas too many and keys without quotes, and says of no
//! bandwidth in which unit it is: so it is read pair by pair.

use super::banner;
use super::columns::{Column, Columns, number};
use super::table::Table;

/// Whether a line opens such a document.
pub fn is_opening(text: &str) -> bool {
    text.contains("\"test_info\"") || text.contains("\"Dual_port\"")
}

/// Whether a line holds a result.
pub fn is_result(text: &str) -> bool {
    ["\"MsgSize\"", "\"n_iterations\"", "\"BW_average\"", "\"t_typical\""]
        .iter()
        .any(|key| text.contains(key))
}

/// Takes over the pairs of a line. True if the line begins the next document: nothing of it was taken then.
pub fn take(text: &str, table: &mut Table, row: &mut Vec<(Column, f64)>) {
    for (key, value) in pairs(text) {
        match key {
            "test" => {
                if let Some((test, bidirectional)) = banner::test(&value.replace('_', " ")) {
                    (table.test, table.bidirectional) = (Some(test), bidirectional);
                }
            }
            "MsgSize" => {
                end_row(table, row);
                push(row, Column::Size, value);
            }
            "sl" => push(row, Column::Level, value),
            "n_iterations" => push(row, Column::Iterations, value),
            "BW_peak" => push(row, Column::Peak(1.0), value),
            "BW_average" => push(row, Column::Bandwidth(None, 0.0), value),
            "MsgRate" => push(row, Column::Rate(None, 1e6), value),
            "t_min" => push(row, Column::Latency("min"), value),
            "t_max" => push(row, Column::Latency("max"), value),
            "t_typical" => push(row, Column::Latency("median"), value),
            "t_avg" => push(row, Column::Latency("mean"), value),
            "t_stdev" => push(row, Column::Latency("sd"), value),
            "percentile_99" => push(row, Column::Latency("p99"), value),
            "percentile_99.9" => push(row, Column::Latency("p99.9"), value),
            "tps_average" => push(row, Column::Transactions, value),
            "CPU_util" => push(row, Column::Cpu, value),
            key => {
                // The same words as in the banner, with underscores.
                let setting = banner::settings(&format!("{}: {value}", key.replace('_', " ")));
                table.settings.extend(setting);
            }
        }
    }
}

/// The row is over: its keys are the columns.
pub fn end_row(table: &mut Table, row: &mut Vec<(Column, f64)>) {
    let row = std::mem::take(row);
    if row.is_empty() {
        return;
    }
    table.unit_unknown = true;
    let (all, cells): (Vec<Column>, Vec<f64>) = row.into_iter().unzip();
    // All rows of a document have the same keys; one that is cut is left out.
    match &table.columns {
        Some(columns) if columns.all != all => {}
        Some(_) => table.rows.push(cells),
        None => {
            table.columns = Some(Columns { all, says_mb: false });
            table.rows.push(cells);
        }
    }
}

fn push(row: &mut Vec<(Column, f64)>, column: Column, value: &str) {
    row.extend(number(value).map(|number| (column, number)));
}

/// Every `"key": value` of a line.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(':') {
        let key = before.rsplit(['{', ',']).next().unwrap_or(before).trim().trim_matches('"');
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            // An object has pairs of its own.
            None if after.starts_with('{') => ("", after),
            None => after.split_at(after.find([',', '}']).unwrap_or(after.len())),
        };
        let value = value.trim();
        if !key.is_empty() && !value.is_empty() {
            found.push((key, value));
        }
        rest = next;
    }
    found
}
