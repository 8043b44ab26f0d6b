//! `tenbin compare --report DIR`: a folder to be published, honest about what logs can't say.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Bench;

/// A ping-pong over sizes as a table; `start` is the time of the smallest message.
fn curve(bench: &Bench, name: &str, start: f64, runs: u32) {
    let mut text = "run,tool,metric,unit,size_bytes,value\n".to_owned();
    for run in 1..=runs {
        for size in [0u32, 64, 4096, 65536] {
            let value = (start + f64::from(size) / 1e9) * (1.0 + 0.003 * f64::from(run * 7 % 5));
            text += &format!("{run},pingpong,latency,s,{size},{value}\n");
        }
    }
    std::fs::write(bench.path(name), text).unwrap();
}

fn report(runs: u32) -> (Bench, String) {
    let bench = Bench::new();
    curve(&bench, "old.csv", 31e-6, runs);
    curve(&bench, "new.csv", 20e-6, runs);
    let output = bench.tenbin(&["compare", "old.csv", "new.csv", "--report", "out"]).output();
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("report: out/report.html"), "{}", output.err);
    let markdown = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    (bench, markdown)
}

#[test]
fn logs_become_a_report() {
    let (bench, markdown) = report(7);
    assert!(markdown.starts_with("# new against old\n"), "{markdown}");
    for part in ["| 0 B | 31.", "| 64 KiB |", "several of each, not interleaved", "| old | 7 | old.csv |"] {
        assert!(markdown.contains(part), "no {part}: {markdown}");
    }
    assert!(markdown.contains("new against old: faster at all 4 sizes"), "{markdown}");
    assert!(markdown.contains("tenbin compare old.csv new.csv --report out"), "{markdown}");
    for figure in ["latency-by-size-ratio.svg", "latency-by-size-values-dark.svg"] {
        assert!(bench.path("out").join(figure).is_file(), "{figure}");
    }
}

#[test]
fn one_run_each_gets_no_verdict() {
    let (_bench, markdown) = report(1);
    assert!(markdown.contains("one of each: described, not tested"), "{markdown}");
    assert!(!markdown.contains("faster at"), "{markdown}");
    let fifth = markdown.lines().find(|line| line.starts_with("| 5 | ")).unwrap();
    assert!(fifth.contains("not met"), "{fifth}");
}

#[test]
fn a_folder_that_cannot_be_written_is_one_line() {
    let bench = Bench::new();
    curve(&bench, "old.csv", 31e-6, 1);
    std::fs::write(bench.path("out"), "").unwrap();
    let output = bench.tenbin(&["compare", "old.csv", "old.csv", "--report", "out"]).output();
    assert_eq!(output.code, 4, "{}", output.err);
    assert!(output.err.contains("cannot write the report to out"), "{}", output.err);
}
