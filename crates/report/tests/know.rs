//! What to know about the numbers: one plain sentence each, alike ones folded, nothing left out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;

use tenbin_core::analysis::weigh;
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::sample::Reduce;
use tenbin_report::{files, text};

/// Changes the goodput of every interval: (arm, block, interval) to a factor; totals follow.
fn with(factor: impl Fn(u32, u32, usize) -> f64) -> Experiment {
    let mut experiment = fixture::experiment();
    for record in experiment.records.iter_mut().filter(|record| record.state == State::Done) {
        let slot = record.slot;
        let series = &mut record.run.as_mut().unwrap().series;
        let is_rate = series[0].metric.name == "throughput";
        if !is_rate {
            continue;
        }
        for (index, sample) in series[1].samples.iter_mut().enumerate() {
            sample.value *= factor(slot.arm, slot.block, index);
        }
        assert_eq!(series[0].headline, Some(Reduce::Total));
        let total = series[1].samples.iter().map(|s| s.value).sum::<f64>() / series[1].samples.len() as f64;
        series[0].samples[0].value = total;
    }
    experiment
}

/// The sentences of the section in Markdown, by chapter.
fn section(experiment: &Experiment) -> String {
    let all = files(experiment, &weigh(experiment), &fixture::about());
    let markdown = &all.iter().find(|(name, _)| name == "report.md").unwrap().1;
    let html = &all.iter().find(|(name, _)| name == "report.html").unwrap().1;
    let section = markdown.split("## What to know about these numbers").nth(1);
    assert_eq!(section.is_some(), html.contains("What to know about these numbers"));
    section.map(|text| text.split("\n## ").next().unwrap_or(text).to_owned()).unwrap_or_default()
}

#[test]
fn a_step_down_is_told_once_with_plateaus_and_bytes() {
    let section = section(&with(|arm, block, i| if arm == 0 && block < 5 && i >= 15 { 0.3 } else { 1.0 }));
    let lines: Vec<&str> = section.lines().filter(|line| line.contains("burst credit or throttle")).collect();
    assert_eq!(lines.len(), 1, "{section}");
    assert!(lines[0].starts_with("- throughput, 5 of 8 runs: "), "{section}");
    for part in ["two plateaus", "Gbit/s and ", "MiB moved before the step"] {
        assert!(lines[0].contains(part), "no {part}: {}", lines[0]);
    }
    let mine = section.split("### mtu-1500").nth(1).unwrap();
    assert!(mine.split("###").next().unwrap().contains("burst credit"), "under its arm: {section}");
}

#[test]
fn a_far_block_is_flagged_with_both_verdicts() {
    let section = section(&with(|arm, block, _| if arm == 1 && block == 2 { 3.0 } else { 1.0 }));
    let line = section.lines().find(|line| line.contains("far from the others")).unwrap();
    assert!(line.contains("mtu-9000 against mtu-1500: block 3 lies far from the others"), "{line}");
    assert!(line.contains("without them the verdict is the same, \"faster\""), "{line}");
}

#[test]
fn a_drift_of_the_session_is_told_apart_from_the_arms() {
    let section = section(&with(|_, block, _| 1.0 - 0.06 * f64::from(block)));
    let session = section.split("### the session").nth(1).unwrap();
    assert!(session.contains("throughput drifted by -"), "{section}");
    assert!(session.contains("blocks cancel that"), "{section}");
}

#[test]
fn what_is_told_here_is_no_note_again() {
    let experiment = with(|arm, _, i| if arm == 0 && i >= 15 { 0.3 } else { 1.0 });
    let analysis = weigh(&experiment);
    let text = text::summary(&experiment, &analysis, 100);
    assert_eq!(text.matches("burst credit or throttle").count(), 1, "{text}");
    assert!(text.contains("throughput, all 8 runs: burst credit"), "{text}");
    assert!(text.contains("[1] the hosts are network namespaces"), "{text}");
    let all = files(&experiment, &analysis, &fixture::about());
    let html = &all.iter().find(|(name, _)| name == "report.html").unwrap().1;
    // Every reference has its note.
    for number in 1.. {
        let (to, note) = (format!("href=\"#note-{number}\""), format!("id=\"note-{number}\""));
        assert_eq!(html.contains(&to), html.contains(&note), "{number}");
        if !html.contains(&to) {
            assert!(number > 1);
            break;
        }
    }
}
