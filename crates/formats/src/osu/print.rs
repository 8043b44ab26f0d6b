//! The table of a run, in OSU's columns: the size 10 characters wide, values 18 with two decimals, microseconds and
//! 10^6 bytes a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use tenbin_core::metric::{BANDWIDTH, DURATION, LATENCY, MESSAGE_RATE, Metric, OVERLAP};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};
use tenbin_core::stats;

use super::parse::is_paired;

/// Characters of a value; of a size it is 10, of the iterations 12.
const WIDTH: usize = 18;

/// A column of values.
struct Column {
    title: &'static str,
    metric: Metric,
    key: Option<(&'static str, &'static str)>,
    times: f64,
}

impl Column {
    fn shows(&self, series: &Series) -> bool {
        let wanted = |name| self.key.filter(|(key, _)| *key == name).map(|(_, value)| value);
        series.metric.name == self.metric.name
            && text(series, "stat") == wanted("stat")
            && text(series, "part") == wanted("part")
            && value(series).is_some()
    }
}

/// The columns that `run` has values for.
fn columns(run: &Run) -> Vec<Column> {
    let column = |title, metric, key, times| Column { title, metric, key, times };
    let parts = run.series.iter().any(|series| series.params.contains_key("part"));
    let titles = if parts {
        ["Pure Comm.(us)", "Min Comm.(us)", "Max Comm.(us)"]
    } else {
        ["Avg Latency(us)", "Min Latency(us)", "Max Latency(us)"]
    };
    let rate = if is_multiple(run) { "MB/s" } else { "Bandwidth (MB/s)" };
    let all = [
        column("Overall(us)", LATENCY, Some(("part", "overall")), 1e6),
        column("Compute(us)", LATENCY, Some(("part", "compute")), 1e6),
        column("Coll. Init(us)", LATENCY, Some(("part", "init")), 1e6),
        column("MPI_Test(us)", LATENCY, Some(("part", "test")), 1e6),
        column("MPI_Wait(us)", LATENCY, Some(("part", "wait")), 1e6),
        column(pair_title(run), LATENCY, None, 1e6),
        column(titles[0], LATENCY, Some(("stat", "avg")), 1e6),
        column(titles[1], LATENCY, Some(("stat", "min")), 1e6),
        column(titles[2], LATENCY, Some(("stat", "max")), 1e6),
        column("Overlap(%)", OVERLAP, None, 1e2),
        column(rate, BANDWIDTH, None, 1e-6),
        column("Messages/s", MESSAGE_RATE, None, 1.0),
    ];
    all.into_iter().filter(|column| run.series.iter().any(|series| column.shows(series))).collect()
}

/// Version 7 changed the title for programs of MPI's two-sided calls.
fn pair_title(run: &Run) -> &'static str {
    let major = run.tool_version.as_deref().and_then(|version| version.split('.').next()?.parse().ok());
    let name = run.benchmark.as_deref().unwrap_or_default();
    let two_sided = name.starts_with("osu_latency") || name == "osu_multi_lat";
    if is_paired(name) && two_sided && major.is_some_and(|major: u32| major >= 7) {
        "Avg Latency(us)"
    } else {
        "Latency (us)"
    }
}

/// Whether bandwidth and message rate stand side by side.
fn is_multiple(run: &Run) -> bool {
    run.series.iter().any(|series| series.metric.name == MESSAGE_RATE.name)
}

fn text<'a>(series: &'a Series, name: &str) -> Option<&'a str> {
    match series.params.get(name) {
        Some(Param::Text(text)) => Some(text),
        _ => None,
    }
}

fn int(series: &Series, name: &str) -> Option<i64> {
    match series.params.get(name) {
        Some(Param::Int(number)) => Some(*number),
        _ => None,
    }
}

fn value(series: &Series) -> Option<f64> {
    series.reported.get("mean").copied().or_else(|| stats::median(&series.values()))
}

/// Prints `run` as OSU's program would.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    head(run, out)?;
    if run.series.iter().any(|series| series.metric.name == DURATION.name) {
        return startup(run, out);
    }
    if run.series.iter().any(|series| series.params.contains_key("window_size")) {
        return windows(run, out);
    }
    if run.series.iter().any(|series| series.params.contains_key("op")) {
        return calls(run, out);
    }
    let columns = columns(run);
    let mut rows: BTreeMap<Option<i64>, Vec<Option<&Series>>> = BTreeMap::new();
    for series in &run.series {
        if let Some(at) = columns.iter().position(|column| column.shows(series)) {
            let row = rows.entry(int(series, "size_bytes")).or_insert_with(|| vec![None; columns.len()]);
            if let Some(cell) = row.get_mut(at) {
                *cell = Some(series);
            }
        }
    }
    let sized = rows.keys().any(Option::is_some);
    let iterations = run.series.iter().any(|series| series.reported.contains_key("n"));
    let percentiles = percentiles(run);
    let (first, rest) = match columns.split_first() {
        Some((first, rest)) if !sized => {
            write!(out, "# {}", first.title)?;
            (WIDTH - 1 - 4 * usize::from(first.title == "Overall(us)"), rest)
        }
        _ => {
            write!(out, "{:<10}", "# Size")?;
            (WIDTH, columns.as_slice())
        }
    };
    for column in rest {
        write!(out, "{:>WIDTH$}", column.title)?;
    }
    if iterations {
        write!(out, "{:>12}", "Iterations")?;
    }
    let of = if run.series.iter().any(|series| series.metric.name == BANDWIDTH.name) {
        "BW(MB/s)"
    } else {
        "Lat(us)"
    };
    for percentile in &percentiles {
        write!(out, "{:>WIDTH$}", format!("P{percentile} Tail {of}"))?;
    }
    writeln!(out)?;
    for (size, cells) in &rows {
        if let Some(size) = size {
            write!(out, "{size:<10}")?;
        }
        for (index, (cell, column)) in cells.iter().zip(&columns).enumerate() {
            let width = if index == 0 && !sized { first } else { WIDTH };
            match cell.and_then(value) {
                Some(value) => write!(out, "{:>width$.2}", value * column.times)?,
                None => write!(out, "{:>width$}", "-")?,
            }
        }
        let figure = |key: &str| {
            let mut found = cells
                .iter()
                .zip(&columns)
                .filter_map(|(cell, column)| Some(cell.as_ref()?.reported.get(key)? * column.times));
            found.next()
        };
        if iterations {
            // Counted, not timed: no factor.
            let n = cells.iter().flatten().find_map(|series| series.reported.get("n"));
            write!(out, "{:>12.0}", n.copied().unwrap_or_default())?;
        }
        for percentile in &percentiles {
            match figure(&format!("p{percentile}")) {
                Some(value) => write!(out, "{value:>WIDTH$.2}")?,
                None => write!(out, "{:>WIDTH$}", "-")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn percentiles(run: &Run) -> BTreeSet<u8> {
    let keys = run.series.iter().flat_map(|series| series.reported.keys());
    keys.filter_map(|key| key.strip_prefix('p')?.parse().ok()).collect()
}

/// The lines above the table, as far as the run knows them.
fn head(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let fact = |key: &str| run.facts.get(key).and_then(|fact| fact.value.as_ref()).map(ToString::to_string);
    let mut line = |words: &str, key: &str, end: &str| match fact(key) {
        Some(value) => writeln!(out, "# {words}{value}{end}"),
        None => Ok(()),
    };
    line("Number of Sender threads: ", "osu.sender_threads", " ")?;
    line("Number of Receiver threads: ", "osu.receiver_threads", "")?;
    line("Number of forked processes in sender: ", "osu.sender_processes", "")?;
    line("Number of forked processes in receiver: ", "osu.receiver_processes", "")?;
    if let Some(title) = fact("osu.title") {
        let version = run.tool_version.as_ref().map_or_else(String::new, |version| format!(" v{version}"));
        writeln!(out, "\n# {title}{version}")?;
    }
    if let Some(pairs) = fact("osu.pairs") {
        let window = fact("osu.window").unwrap_or_else(|| "varied".to_owned());
        writeln!(out, "# [ pairs: {pairs} ] [ window size: {window} ]")?;
    }
    let mut line = |words: &str, key: &str, end: &str| match fact(key) {
        Some(value) => writeln!(out, "# {words}{value}{end}"),
        None => Ok(()),
    };
    line("Window creation: ", "osu.window_creation", "")?;
    line("Synchronization: ", "osu.synchronization", "")?;
    line("Datatype: ", "osu.datatype", ".")?;
    line("", "osu.buffers", "")
}

/// The one line of osu_init.
fn startup(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let ms = |stat: &str| {
        let series = run.series.iter().find(|series| text(series, "stat") == Some(stat));
        series.and_then(value).unwrap_or_default() * 1e3
    };
    let ranks = run.series.iter().find_map(|series| int(series, "ranks")).unwrap_or_default();
    writeln!(
        out,
        "nprocs: {ranks}, min: {:.0} ms, max: {:.0} ms, avg: {:.0} ms",
        ms("min"),
        ms("max"),
        ms("avg")
    )
}

/// The two tables of osu_mbw_mr -V: a column for each number of messages in flight.
fn windows(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let tables = [
        (BANDWIDTH, "Uni-directional Bandwidth (MB/sec)", 1e-6),
        (MESSAGE_RATE, "Message Rate Profile", 1.0),
    ];
    for (metric, title, times) in tables {
        let mut rows: BTreeMap<i64, BTreeMap<i64, f64>> = BTreeMap::new();
        for series in run.series.iter().filter(|series| series.metric.name == metric.name) {
            if let (Some(size), Some(window), Some(value)) =
                (int(series, "size_bytes"), int(series, "window_size"), value(series))
            {
                rows.entry(size).or_default().insert(window, value * times);
            }
        }
        let windows: BTreeSet<i64> = rows.values().flat_map(BTreeMap::keys).copied().collect();
        if windows.is_empty() {
            continue;
        }
        write!(out, "\n# {title}\n#      ")?;
        for window in &windows {
            write!(out, "  {window:>10}")?;
        }
        writeln!(out)?;
        for (size, cells) in rows {
            write!(out, "{size:<7}")?;
            for window in &windows {
                match cells.get(window) {
                    Some(value) => write!(out, "  {value:>10.2}")?,
                    None => write!(out, "  {:>10}", "-")?,
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The table of osu_oshm_atomics: a row for each call, in the order of the run.
fn calls(run: &Run, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "{:<20}{:>WIDTH$}{:>WIDTH$}", "# Operation", "Million ops/s", "Latency (us)")?;
    let of = |metric: &Metric, call: &str| {
        let mut all = run.series.iter().filter(|series| series.metric.name == metric.name);
        all.find(|series| text(series, "op") == Some(call)).and_then(value)
    };
    let mut printed = BTreeSet::new();
    for call in run.series.iter().filter_map(|series| text(series, "op")) {
        if !printed.insert(call) {
            continue;
        }
        write!(out, "{call:<20}")?;
        for value in [of(&MESSAGE_RATE, call).map(|rate| rate * 1e-6), of(&LATENCY, call).map(|t| t * 1e6)] {
            match value {
                Some(value) => write!(out, "{value:>WIDTH$.2}")?,
                None => write!(out, "{:>WIDTH$}", "-")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
