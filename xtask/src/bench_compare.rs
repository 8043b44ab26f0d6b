//! `cargo xtask bench compare`: how long large stored runs take to be compared, and how much memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;

use crate::measured::{Folder, measured, noise, told};

/// Runs of both sides together.
const RUNS: u64 = 50;
/// Sizes along the curve: 1 byte to 8 MiB.
const SIZES: u64 = 24;
/// Samples of a run over all its sizes.
const SAMPLES: u64 = 1_000_000;

/// Makes a store of two configurations, compares them and prints a line of JSON.
pub fn compare(program: Option<&str>) -> Result<()> {
    let tenbin = crate::measured::program(program)?;
    let folder = Folder::new("compare")?;
    let store = folder.path("runs.db");
    for run in 0..RUNS {
        let arm = ["old", "new"][(run % 2) as usize];
        let log = folder.path(&format!("{arm}-{run}.json"));
        document(Path::new(&log), run)?;
        measured(&[&tenbin, "import", &log, "--arm", arm, "--store", &store])?;
        fs::remove_file(&log)?;
    }
    for (case, extra) in [("50-runs-of-a-million", None), ("50-runs-of-a-million-json", Some("--json"))] {
        let command = [tenbin.as_str(), "compare", "arm:old", "arm:new", "--store", &store];
        let words: Vec<&str> = command.into_iter().chain(extra).collect();
        println!("{}", told("compare", case, &measured(&words)?));
    }
    Ok(())
}

/// A run's document: latencies of every size, spread as latencies are, those of the new arm a tenth lower.
fn document(path: &Path, run: u64) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write!(
        out,
        r#"{{"schema":"tenbin.run/1","runs":[{{"source":"run {run}","tool":"tenbin","benchmark":"pingpong","series":["#
    )?;
    for size in 0..SIZES {
        let comma = if size > 0 { "," } else { "" };
        write!(
            out,
            r#"{comma}{{"metric":"latency","unit":"s","better":"lower","headline":"median","params":{{"size_bytes":{}}},"samples":["#,
            1_u64 << size
        )?;
        for i in 0..SAMPLES / SIZES {
            let comma = if i > 0 { "," } else { "" };
            let of_run = noise(run * SIZES + size) % 1000;
            let unit = 10_000 + (10 << size.min(16)) + of_run;
            // The least of two is skewed, as latencies are: many near the lowest, some far off.
            let (a, b) = (noise(run << 40 | size << 32 | i), noise(run << 40 | size << 32 | 1 << 30 | i));
            let nanoseconds = (unit + a.min(b) % 8000) * if run.is_multiple_of(2) { 10 } else { 9 } / 10;
            write!(out, "{comma}[null,{nanoseconds}e-9]")?;
        }
        write!(out, "]}}")?;
    }
    write!(out, "]}}]}}")?;
    Ok(out.flush()?)
}
