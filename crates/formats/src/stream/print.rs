//! The text of STREAM 5.10.

use std::fmt::{self, Write};

use tenbin_core::env::FactValue;
use tenbin_core::metric::{BANDWIDTH, DURATION, Metric};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};

use super::{BYTES_PER_MB, KERNELS};

const RULE: &str = "-------------------------------------------------------------";

/// A whole run. What a run does not keep, such as the grain of the clock, is left out.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let count = |key: &str| match run.facts.get(key)?.value {
        Some(FactValue::Int(count)) => Some(count),
        _ => None,
    };
    writeln!(out, "{RULE}")?;
    writeln!(out, "STREAM version $Revision: {} $", run.tool_version.as_deref().unwrap_or("5.10"))?;
    writeln!(out, "{RULE}")?;
    if let Some(bytes) = count("stream.element_bytes") {
        writeln!(out, "This system uses {bytes} bytes per array element.")?;
        writeln!(out, "{RULE}")?;
    }
    if let Some(elements) = count("stream.elements") {
        let offset = count("stream.offset").unwrap_or(0);
        writeln!(out, "Array size = {elements} (elements), Offset = {offset} (elements)")?;
        if let Some(bytes) = count("stream.array_bytes") {
            let [mib, gib] = [20, 30].map(|power| bytes as f64 / 2f64.powi(power));
            writeln!(out, "Memory per array = {mib:.1} MiB (= {gib:.1} GiB).")?;
            writeln!(out, "Total memory required = {:.1} MiB (= {:.1} GiB).", 3.0 * mib, 3.0 * gib)?;
        }
    }
    if let Some(passes) = count("stream.passes") {
        writeln!(out, "Each kernel will be executed {passes} times.")?;
        writeln!(out, " The *best* time for each kernel (excluding the first iteration)")?;
        writeln!(out, " will be used to compute the reported bandwidth.")?;
    }
    if let Some(threads) = count("stream.threads") {
        writeln!(out, "{RULE}")?;
        writeln!(out, "Number of Threads requested = {threads}")?;
        writeln!(out, "Number of Threads counted = {threads}")?;
    }
    writeln!(out, "{RULE}")?;
    writeln!(out, "Function    Best Rate MB/s  Avg time     Min time     Max time")?;
    for (label, kernel) in KERNELS {
        row(run, label, kernel, out)?;
    }
    writeln!(out, "{RULE}")?;
    match run.facts.get("stream.validated").and_then(|fact| fact.value.as_ref()) {
        Some(FactValue::Bool(true)) => {
            writeln!(out, "Solution Validates: avg error less than 1.000000e-13 on all three arrays")?;
        }
        Some(_) => writeln!(out, "Failed Validation")?,
        None => return Ok(()),
    }
    writeln!(out, "{RULE}")
}

fn row(run: &Run, label: &str, kernel: &str, out: &mut dyn Write) -> fmt::Result {
    let of = |metric: &Metric| {
        run.series.iter().find(|series| series.metric.name == metric.name && is_kernel(series, kernel))
    };
    let Some(rate) = of(&BANDWIDTH).and_then(Series::headline_value) else { return Ok(()) };
    write!(out, "{:<11}{:>12.1}", format!("{label}:"), rate / BYTES_PER_MB)?;
    let times = of(&DURATION);
    for figure in ["mean", "min", "max"] {
        let Some(seconds) = times.and_then(|series| series.reported.get(figure)) else { break };
        write!(out, "  {seconds:>11.6}")?;
    }
    writeln!(out)
}

fn is_kernel(series: &Series, kernel: &str) -> bool {
    series.params.get("kernel") == Some(&Param::from(kernel))
}
