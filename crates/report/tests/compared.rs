//! A report of runs that existed already: the same sections, and honest about what such runs can't say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;

use tenbin_core::compare::{Answer, Options, Seen, Side, compare};
use tenbin_core::experiment::Experiment;
use tenbin_report::compared::{SideText, files};

/// The first `runs` runs of an arm.
fn side(experiment: &Experiment, arm: u32, runs: usize, blocks: bool) -> Side {
    let name = experiment.plan.arms[arm as usize].name.clone();
    let records = experiment.records.iter().filter(|record| record.slot.arm == arm).take(runs);
    let seen = records.enumerate().map(|(number, record)| {
        let block = blocks.then_some(record.slot.block);
        Seen::of(record.run.as_ref().unwrap(), number as i64 + 1, &name, block, 0.02)
    });
    let runs = seen.collect();
    Side::of(name, runs)
}

fn report(runs: usize, blocks: bool) -> Vec<(String, String)> {
    let experiment = fixture::curves::experiment(&["old", "new", "twin"]);
    let sides = [0, 1, 2].map(|arm| side(&experiment, arm, runs, blocks));
    let [base, arms @ ..] = &sides;
    let answers: Vec<Answer> = arms.iter().map(|arm| compare(base, arm, &Options::default())).collect();
    let named = sides.each_ref().map(|side| SideText {
        name: side.name.clone(),
        source: format!("{}.log", side.name),
        runs,
    });
    files(&named, &answers, &[], &fixture::about())
}

fn file<'a>(files: &'a [(String, String)], name: &str) -> &'a str {
    let found = files.iter().find(|(other, _)| other == name);
    assert!(found.is_some(), "no {name} among {:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>());
    found.map_or("", |(_, content)| content)
}

/// The row of a rule in Markdown.
fn rule(markdown: &str, number: usize) -> &str {
    markdown.lines().find(|line| line.starts_with(&format!("| {number} | "))).unwrap()
}

#[test]
fn one_run_each_is_described_and_drawn() {
    let files = report(1, false);
    let (html, markdown) = (file(&files, "report.html"), file(&files, "report.md"));
    for text in [html, markdown] {
        assert!(text.contains("new, twin against old"));
        assert!(text.contains("one of each: described, not tested"));
        assert!(text.contains("described only"), "{text}");
        assert!(text.contains("one run each: no statement about the difference"), "{text}");
        assert!(text.contains("old.log"));
    }
    assert!(markdown.contains("latency-by-size-ratio.svg"), "{markdown}");
    file(&files, "latency-by-size-values-dark.svg");
    assert!(rule(markdown, 7).contains("| not met | "), "{}", rule(markdown, 7));
    assert!(rule(markdown, 5).contains("| not met | "), "{}", rule(markdown, 5));
    assert!(!html.contains("NaN") && !html.contains(">inf"));
}

#[test]
fn runs_without_blocks_have_intervals_and_no_blessing() {
    let files = report(8, false);
    let markdown = file(&files, "report.md");
    assert!(markdown.contains("n = 8 runs"), "{markdown}");
    assert!(markdown.contains("Mann-Whitney"), "{markdown}");
    assert!(!markdown.contains("signed-rank"), "{markdown}");
    assert!(markdown.contains("| 0 B | 31."), "{markdown}");
    assert!(rule(markdown, 7).contains("| not met | ") && rule(markdown, 7).contains("not interleaved"));
    assert!(rule(markdown, 5).contains("| met | "), "{}", rule(markdown, 5));
}

#[test]
fn runs_that_share_blocks_are_paired() {
    let files = report(8, true);
    let markdown = file(&files, "report.md");
    assert!(markdown.contains("paired by the blocks they share") && markdown.contains("signed-rank"));
    assert!(rule(markdown, 7).contains("| met | "), "{}", rule(markdown, 7));
    assert!(rule(markdown, 9).contains("| not met | "), "{}", rule(markdown, 9));
    assert!(markdown.contains("twin against old: no difference at all 12 sizes"), "{markdown}");
}
