//! The table of iozone 3.489 for a run of any tool, and the lines of throughput mode.

use std::collections::BTreeMap;
use std::fmt;

use tenbin_core::env::FactValue;
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};

use super::read::WORKERS;
use super::table::COLUMNS;

const WIDTHS: [usize; 17] = [9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9, 8, 9, 8, 9];
const ABOVE: &str = "random    random     bkwd    record    stride";
const NAMES: &str = "kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   \
                     fwrite frewrite    fread  freread";
const MORE: &str = "  pwrite repwrite   pread   repread";

/// By file and record size, a cell for each column.
type Rows = BTreeMap<(i64, i64), [Option<f64>; 17]>;

/// Prints `run`.
pub fn run(run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
    out.write_str("\tIozone: Performance Test of File I/O\n")?;
    if let (true, Some(version)) = (run.tool == "iozone", &run.tool_version) {
        writeln!(out, "\t        Version $Revision: {version} $")?;
    }
    let facts =
        [("build", "\t\tBuild: "), ("date", "\n\tRun began: "), ("command", "\n\tCommand line used: ")];
    for (key, title) in facts {
        if let Some(Some(FactValue::Text(text))) =
            run.facts.get(&format!("iozone.{key}")).map(|fact| &fact.value)
        {
            writeln!(out, "{title}{text}")?;
        }
    }
    let has = |name: &str| run.series.iter().any(|series| series.metric.name == name);
    // A log has one of them: the table has no place for more.
    let (metric, title, scale) = match (has("bandwidth"), has("iops")) {
        (true, _) => ("bandwidth", "Output is in kBytes/sec", 1.0 / 1024.0),
        (false, true) => ("iops", "OPS Mode. Output is in operations per second.", 1.0),
        _ => ("latency", "Microseconds/op Mode. Output is in microseconds per operation.", 1e6),
    };
    writeln!(out, "\t{title}")?;
    let options = [
        ("direct", "O_DIRECT feature enabled"),
        ("include_fsync", "Include fsync in write timing"),
        ("include_close", "Include close in write timing"),
    ];
    for (key, title) in options {
        if run.facts.contains_key(&format!("iozone.{key}")) {
            writeln!(out, "\t{title}")?;
        }
    }
    let of_metric = || run.series.iter().filter(|series| series.metric.name == metric);
    let mut rows = Rows::new();
    for series in of_metric().filter(|series| !series.params.contains_key("threads")) {
        let column = op(series).and_then(|op| COLUMNS.iter().position(|column| *column == op));
        let (Some(column), Some(file)) = (column, whole(series, "file_bytes")) else { continue };
        let row = rows.entry((file, whole(series, "record_bytes").unwrap_or(0))).or_default();
        if let Some(cell) = row.get_mut(column) {
            *cell = value(series).map(|value| value * scale);
        }
    }
    if !rows.is_empty() {
        table(&rows, out)?;
    }
    blocks(of_metric(), metric, scale, out)?;
    out.write_str("\niozone test complete.\n")
}

fn table(rows: &Rows, out: &mut dyn fmt::Write) -> fmt::Result {
    let positional = rows.values().any(|row| row.iter().skip(13).any(Option::is_some));
    let (shown, more) = if positional { (17, MORE) } else { (13, "") };
    writeln!(out, "{:62}{ABOVE:<80}", "")?;
    writeln!(out, "{:14}{NAMES}{more}", "")?;
    for ((file, record), cells) in rows {
        write!(out, "{:16}{:8}", file / 1024, record / 1024)?;
        for (cell, width) in cells.iter().zip(WIDTHS).take(shown) {
            match cell {
                Some(value) => write!(out, "{:width$}", value.round() as i64)?,
                None => write!(out, "{:width$}", "")?,
            }
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// `Children see throughput for  2 initial writers  =  971312.50 kB/sec`
fn blocks<'a>(
    series: impl Iterator<Item = &'a Series>,
    metric: &str,
    scale: f64,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    let unit = if metric == "bandwidth" { "kB/sec" } else { "ops/sec" };
    let mut sized = false;
    for series in series {
        let (Some(threads), Some(value)) = (whole(series, "threads"), value(series)) else { continue };
        let Some((_, name)) = WORKERS.iter().find(|(test, _)| op(series) == Some(test)) else { continue };
        let kb = |name: &str| whole(series, name).map(|bytes| bytes / 1024);
        if let (false, Some(file), Some(record)) = (sized, kb("file_bytes"), kb("record_bytes")) {
            writeln!(out, "\tEach process writes a {file} kByte file in {record} kByte records\n")?;
            sized = true;
        }
        let parent = series.params.get("part") == Some(&"parent".into());
        let who = if parent { "Parent sees" } else { "Children see" };
        writeln!(out, "\t{who} throughput for {threads:2} {name} \t= {:10.2} {unit}", value * scale)?;
    }
    Ok(())
}

fn op(series: &Series) -> Option<&str> {
    match series.params.get("op")? {
        Param::Text(op) => Some(op),
        _ => None,
    }
}

fn whole(series: &Series, name: &str) -> Option<i64> {
    match series.params.get(name)? {
        Param::Int(n) => Some(*n),
        _ => None,
    }
}

fn value(series: &Series) -> Option<f64> {
    series.reported.get("mean").copied().or_else(|| series.headline_value())
}
