//! The text of CrystalDiskMark 8 for a run of any tool; that of version 3 where a row names no block or queue.

use std::fmt;

use tenbin_core::env::FactValue;
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Series};

const RULE: &str = "------------------------------------------------------------------------------";

/// Prints `run`.
pub fn run(run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
    if run.tool == "crystaldiskmark"
        && let Some(version) = &run.tool_version
    {
        let edition = fact(run, "edition").map(|edition| format!(" {edition}")).unwrap_or_default();
        writeln!(out, "{RULE}\nCrystalDiskMark {version}{edition} (C) hiyohiyo")?;
        writeln!(out, "{:>78}\n{RULE}", "Crystal Dew World: https://crystalmark.info/")?;
    }
    writeln!(out, "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]")?;
    writeln!(out, "* KB = 1000 bytes, KiB = 1024 bytes")?;
    let rows: Vec<&Series> = run.series.iter().filter(|series| series.metric.name == "bandwidth").collect();
    let complete = |series: &&Series| {
        let names = ["block_bytes", "queue_depth", "threads"];
        names.iter().all(|name| whole(&series.params, name).is_some())
    };
    if rows.iter().all(complete) {
        for (op, mark) in [("read", "[Read]"), ("write", "[Write]"), ("mixed", "[Mix]")] {
            let mut of_op =
                rows.iter().filter(|series| series.params.get("op") == Some(&op.into())).peekable();
            if of_op.peek().is_some() {
                let ratio = fact(run, "mix").filter(|_| op == "mixed");
                let ratio = ratio.map(|ratio| format!(" {ratio}")).unwrap_or_default();
                writeln!(out, "\n{mark}{ratio}")?;
            }
            for series in of_op {
                write!(out, "  {}:", label(&series.params))?;
                figures(run, series, 9, out)?;
            }
        }
        out.write_char('\n')?;
    } else {
        out.write_char('\n')?;
        for series in rows {
            write!(out, "{:>26} :", old_label(&series.params))?;
            let width = if series.params.contains_key("threads") { 9 } else { 8 };
            figures(run, series, width, out)?;
        }
        out.write_char('\n')?;
    }
    let notes = [("profile", "Profile"), ("test", "   Test"), ("mode", "   Mode"), ("time", "   Time")];
    let more = [("date", "   Date"), ("os", "     OS"), ("comment", "Comment")];
    for (key, name) in notes.into_iter().chain(more) {
        if let Some(value) = fact(run, key) {
            writeln!(out, "{name}: {value}")?;
        }
    }
    Ok(())
}

fn fact<'a>(run: &'a Run, key: &str) -> Option<&'a str> {
    match &run.facts.get(&format!("{}.{key}", run.tool))?.value {
        Some(FactValue::Text(text)) => Some(text),
        _ => None,
    }
}

fn whole(params: &Params, name: &str) -> Option<i64> {
    match params.get(name)? {
        Param::Int(n) => Some(*n),
        _ => None,
    }
}

fn random(params: &Params) -> bool {
    params.get("pattern") == Some(&"rand".into())
}

/// `SEQ    1MiB (Q=  8, T= 1)`
fn label(params: &Params) -> String {
    let kind = if random(params) { "RND" } else { "SEQ" };
    let number = |name| whole(params, name).unwrap_or(1);
    let kib = number("block_bytes") / 1024;
    let (size, unit) = if kib >= 1024 { (kib / 1024, "MiB") } else { (kib, "KiB") };
    format!("{kind} {size:4}{unit} (Q={:3}, T={:2})", number("queue_depth"), number("threads"))
}

/// `Random Read 4KB (QD=32)`, and the labels of 5 and 6 in between.
fn old_label(params: &Params) -> String {
    let kind = if random(params) { "Random" } else { "Sequential" };
    let op = match params.get("op") {
        Some(Param::Text(op)) if op == "write" => " Write",
        Some(_) => " Read",
        None => "",
    };
    let (queue, threads) = (whole(params, "queue_depth"), whole(params, "threads"));
    let unit = if threads.is_some() { "KiB" } else { "KB" };
    let size =
        whole(params, "block_bytes").map(|bytes| format!(" {}{unit}", bytes / 1024)).unwrap_or_default();
    let settings = match (queue, threads) {
        (Some(queue), Some(threads)) => format!(" (Q={queue:3},T={threads:2})"),
        (Some(queue), None) => format!(" (QD={queue})"),
        (None, Some(threads)) => format!(" (T={threads:2})"),
        (None, None) => String::new(),
    };
    format!("{kind}{op}{size}{settings}")
}

fn figures(run: &Run, series: &Series, width: usize, out: &mut dyn fmt::Write) -> fmt::Result {
    let of = |name: &str| {
        let same = |other: &&Series| other.metric.name == name && other.params == series.params;
        run.series.iter().find(same).and_then(figure)
    };
    write!(out, " {:9.3} MB/s", figure(series).unwrap_or(0.0) / 1e6)?;
    if let Some(iops) = of("iops") {
        write!(out, " [{iops:width$.1} IOPS]")?;
    }
    if let Some(latency) = of("latency") {
        write!(out, " <{:9.2} us>", latency * 1e6)?;
    }
    out.write_char('\n')
}

/// The figure as printed, else the one by which runs are compared.
fn figure(series: &Series) -> Option<f64> {
    series
        .reported
        .get("mean")
        .copied()
        .or_else(|| series.headline_value())
        .or_else(|| series.values().first().copied())
}
