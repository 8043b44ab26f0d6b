//! The table of a run, in IMB's columns: 13 characters wide, two decimals, microseconds and 10^6 bytes a second.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, LATENCY, MESSAGE_RATE, Metric, OVERLAP};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};
use tenbin_core::stats;

use super::parse::FACTS;
use crate::mpi::MEBI_OVER_MEGA;

/// Characters of a cell.
const WIDTH: usize = 13;

/// What a column shows, its title, how many digits it has behind the point, and by what it multiplies.
struct Column {
    title: &'static str,
    metric: Metric,
    key: Option<(&'static str, &'static str)>,
    digits: usize,
    times: f64,
}

/// The columns that `run` has values for.
fn columns(run: &Run) -> Vec<Column> {
    let mebi = run.caveats.iter().any(|caveat| caveat.kind == CaveatKind::UnitCorrected);
    let megabytes = if mebi { 1e-6 / MEBI_OVER_MEGA } else { 1e-6 };
    let parts = run.series.iter().any(|series| series.params.contains_key("part"));
    let plain = if parts { "t_pure[usec]" } else { "t[usec]" };
    let column = |title, metric, key, digits, times| Column { title, metric, key, digits, times };
    let all = [
        column("t_ovrl[usec]", LATENCY, Some(("part", "overall")), 2, 1e6),
        column(plain, LATENCY, None, 2, 1e6),
        column("t_CPU[usec]", LATENCY, Some(("part", "compute")), 2, 1e6),
        column("t_min[usec]", LATENCY, Some(("stat", "min")), 2, 1e6),
        column("t_max[usec]", LATENCY, Some(("stat", "max")), 2, 1e6),
        column("t_avg[usec]", LATENCY, Some(("stat", "avg")), 2, 1e6),
        column("overlap[%]", OVERLAP, None, 2, 1e2),
        column("Mbytes/sec", BANDWIDTH, None, 2, megabytes),
        column("Msg/sec", MESSAGE_RATE, None, 0, 1.0),
    ];
    let shown = |column: &Column| run.series.iter().any(|series| shows(column, series));
    all.into_iter().filter(shown).collect()
}

fn shows(column: &Column, series: &Series) -> bool {
    let text = |name| match series.params.get(name) {
        Some(Param::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let wanted = |name| column.key.filter(|(key, _)| *key == name).map(|(_, value)| value);
    series.metric.name == column.metric.name
        && text("stat") == wanted("stat")
        && text("part") == wanted("part")
        && value(series).is_some()
}

fn value(series: &Series) -> Option<f64> {
    series.reported.get("mean").copied().or_else(|| stats::median(&series.values()))
}

/// Prints `run` as IMB would.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    head(run, out)?;
    let columns = columns(run);
    // (group, size) to the cells of the row; group and size -1 where there is none.
    let mut rows: BTreeMap<(i64, i64), Vec<Option<&Series>>> = BTreeMap::new();
    for series in &run.series {
        let int = |name| match series.params.get(name) {
            Some(Param::Int(number)) => *number,
            _ => -1,
        };
        if let Some(at) = columns.iter().position(|column| shows(column, series)) {
            let row = rows.entry((int("size_bytes"), int("group")));
            if let Some(cell) = row.or_insert_with(|| vec![None; columns.len()]).get_mut(at) {
                *cell = Some(series);
            }
        }
    }
    let grouped = rows.keys().any(|(_, group)| *group >= 0);
    let sized = rows.keys().any(|(size, _)| *size >= 0);
    let line = "-".repeat((columns.len() + 1 + usize::from(sized) + usize::from(grouped)) * WIDTH - 1);
    writeln!(out, "#{line}")?;
    writeln!(out, "# Benchmarking {} ", run.benchmark.as_deref().unwrap_or("-"))?;
    processes(run, out)?;
    writeln!(out, "#{line}")?;
    if let Some(Param::Text(mode)) = param(run, "mode") {
        writeln!(out, "#\n#    MODE: {} \n#", mode.to_uppercase())?;
    }
    if grouped {
        write!(out, "{:>WIDTH$}", "Group")?;
    }
    if sized {
        write!(out, "{:>WIDTH$}", "#bytes")?;
    }
    write!(out, "{:>WIDTH$}", "#repetitions")?;
    for column in &columns {
        write!(out, "{:>WIDTH$}", column.title)?;
    }
    writeln!(out)?;
    let mut before = None;
    for ((size, group), cells) in &rows {
        if grouped && before != Some(size) {
            writeln!(out)?;
        }
        before = Some(size);
        row(out, grouped.then_some(*group), sized.then_some(*size), cells, &columns)?;
    }
    for caveat in run.caveats.iter().filter(|caveat| caveat.kind == CaveatKind::NotMeasured) {
        if let Some((size, reason)) = caveat.text.split_once(" bytes: ") {
            writeln!(out, "{size:>WIDTH$} {reason}")?;
        }
    }
    writeln!(out, "\n\n# All processes entering MPI_Finalize\n")
}

fn row(
    out: &mut dyn Write,
    group: Option<i64>,
    size: Option<i64>,
    cells: &[Option<&Series>],
    columns: &[Column],
) -> fmt::Result {
    for key in [group, size].into_iter().flatten() {
        write!(out, "{key:>WIDTH$}")?;
    }
    let series = cells.iter().copied().flatten().next();
    let n =
        series.map_or(0.0, |series| series.reported.get("n").copied().unwrap_or(series.samples.len() as f64));
    write!(out, "{n:>WIDTH$.0}")?;
    for (cell, column) in cells.iter().zip(columns) {
        let digits = column.digits;
        match cell.and_then(value) {
            Some(value) => write!(out, "{:>WIDTH$.digits$}", value * column.times)?,
            None => write!(out, "{:>WIDTH$}", "-")?,
        }
    }
    writeln!(out)
}

/// The lines above the first table, as far as the run knows them.
fn head(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let text = |key: &str| run.facts.get(key).and_then(|fact| fact.value.as_ref()).map(ToString::to_string);
    let version = run.tool_version.as_deref().filter(|_| run.tool == "imb");
    if let (Some(version), Some(part)) = (version, text("imb.part")) {
        let age =
            version.split(['.', ' ']).next().and_then(|age| age.parse::<u32>().ok()).unwrap_or_default();
        let name = match age {
            0..4 => "Intel (R) MPI Benchmark Suite V",
            4..2019 => "Intel (R) MPI Benchmarks ",
            _ => "Intel(R) MPI Benchmarks ",
        };
        let line = "-".repeat(64);
        writeln!(out, "#{line}\n#    {name}{version}, {part} part\n#{line}")?;
    }
    for (title, key) in FACTS {
        if let Some(value) = text(key) {
            writeln!(out, "# {title:<22}: {value}")?;
        }
    }
    if let Some(command) = text("imb.command") {
        writeln!(out, "\n\n# Calling sequence was: \n\n# {command} ")?;
    }
    writeln!(out)
}

fn processes(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let fact = |key: &str| run.facts.get(key).and_then(|fact| fact.value.clone());
    if let Some(ranks) = param(run, "ranks") {
        match fact("imb.groups") {
            Some(groups) => {
                writeln!(out, "# ( {groups} groups of {ranks} processes each running simultaneous ) ")?;
            }
            None => {
                write!(out, "# #processes = {ranks} ")?;
                if let Some(threads) = param(run, "threads") {
                    write!(out, "(threads: {threads})")?;
                }
                writeln!(out)?;
            }
        }
    }
    if let Some(waiting) = fact("imb.waiting") {
        writeln!(out, "# ( {waiting} additional processes waiting in MPI_Barrier)")?;
    }
    if let Some(window) = fact("imb.window") {
        writeln!(out, "# window_size = {window}")?;
    }
    Ok(())
}

fn param<'a>(run: &'a Run, name: &str) -> Option<&'a Param> {
    run.series.iter().find_map(|series| series.params.get(name))
}
