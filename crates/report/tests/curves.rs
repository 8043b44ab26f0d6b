//! Curves: one section instead of one a size, with a table, two figures, and what is not common.

mod fixture;

use fixture::curves::{SIZES, experiment};
use tenbin_core::analysis::weigh;
use tenbin_report::figure::{self, Flavour, Size};
use tenbin_report::{files, text};

fn report(arms: &[&str]) -> Vec<(String, String)> {
    let experiment = experiment(arms);
    files(&experiment, &weigh(&experiment), &fixture::about())
}

fn file<'a>(files: &'a [(String, String)], name: &str) -> &'a str {
    let found = files.iter().find(|(other, _)| other == name);
    assert!(found.is_some(), "no {name} among {:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>());
    found.map_or("", |(_, content)| content)
}

#[test]
fn a_curve_is_one_section() {
    let files = report(&["old", "new"]);
    let (html, markdown) = (file(&files, "report.html"), file(&files, "report.md"));
    assert_eq!(html.matches("<h3>latency by size</h3>").count(), 1);
    assert_eq!(html.matches("class=\"verdict ").count(), 1, "a card for the whole curve only");
    assert_eq!(markdown.matches("\n## latency").count(), 1, "{markdown}");
    for name in ["latency-by-size-ratio.svg", "latency-by-size-values.svg", "latency-by-size-runs.svg"] {
        assert!(markdown.contains(&format!("\"{name}\"")), "{name}");
        file(&files, name);
    }
    for text in [html, markdown] {
        assert!(
            text.contains("new against old: faster at 0 B to 256 KiB; different but negligible at 1 MiB"),
            "{text}"
        );
        assert!(text.contains("new has nothing at 4 MiB: not compared there"));
        assert!(text.contains("lower is better"));
    }
    let row = markdown.lines().find(|line| line.starts_with("| 16 KiB |")).unwrap();
    // Medians, ratio and its interval bear no more digits than their intervals do.
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(cells.len(), 5, "{row}");
    assert!(cells[1].starts_with("45.") && cells[1].contains(" µs (") && cells[1].ends_with(" µs)"), "{row}");
    assert!(cells[3].starts_with("0.756") && cells[3].contains(" to 0.7"), "{row}");
    assert_eq!(cells[4], "faster");
    let last = markdown.lines().find(|line| line.starts_with("| 4 MiB |")).unwrap();
    assert!(last.contains("|  |  | not compared |"), "{last}");
}

#[test]
fn a_terminal_gets_a_row_a_size() {
    let experiment = experiment(&["old", "new"]);
    let text = text::summary(&experiment, &weigh(&experiment), 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let rows = text.lines().filter(|line| line.contains("faster") && line.contains("0."));
    assert!(rows.count() >= 8, "{text}");
    for part in ["latency by size, lower is better", "  0 B ", " 64 KiB ", "not compared"] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
    // The whole curve goes over the sizes that both have.
    assert!(text.contains("new / old over 11 sizes: 0.7"), "{text}");
    assert!(text.contains("=> new is faster than old: "), "{text}");
}

#[test]
fn a_fall_with_size_is_told_once_an_arm() {
    let mut experiment = experiment(&["old", "odd"]);
    let text = text::summary(&experiment, &weigh(&experiment), 100);
    assert!(text.contains("latency of odd: 256 B took"), "{text}");
    assert!(!text.contains("latency of old:"), "{text}");
    for record in experiment.records.iter_mut().filter(|record| record.slot.arm == 1) {
        let run = record.run.as_mut().unwrap();
        run.series[2].samples[0].value *= 0.5;
    }
    let text = text::summary(&experiment, &weigh(&experiment), 100);
    assert!(text.contains("latency of odd falls with size in 2 places, the most from 1 B to 16 B"), "{text}");
}

#[test]
fn figures_leave_a_gap_where_nothing_was_measured() {
    let mut experiment = experiment(&["old", "new"]);
    for record in experiment.records.iter_mut().filter(|record| record.slot.arm == 1) {
        record.run.as_mut().unwrap().series.remove(5);
    }
    let analysis = weigh(&experiment);
    let figures = figure::all(&experiment, &analysis, &fixture::about());
    let values = figures.iter().find(|figure| figure.name == "latency-by-size-values").unwrap();
    for size in [Size::Wide, Size::Narrow] {
        let svg = values.svg(Flavour::Light, size);
        let new = svg.split("data-arm=\"1\"").nth(1).unwrap().split("</g>").next().unwrap();
        assert_eq!(new.matches("<polyline").count(), 2, "the line is parted at 1 KiB: {new}");
        assert_eq!(new.matches("<title>").count(), SIZES.len() - 2, "a mark a size: {new}");
        for label in [">0 B<", "log scale"] {
            assert!(svg.contains(label), "no {label} in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn many_arms_get_letters_and_every_pair() {
    let experiment = experiment(&["old", "new", "twin", "odd"]);
    let analysis = weigh(&experiment);
    let files = files(&experiment, &analysis, &fixture::about());
    let (html, markdown) = (file(&files, "report.html"), file(&files, "report.md"));
    for text in [html, markdown] {
        assert!(text.contains("they are not all alike (Friedman"), "{text}");
        assert!(text.contains("Geometric means over 11 sizes. Arms that share a letter"), "{text}");
    }
    let letters = |arm: &str| {
        let row = markdown.lines().find(|line| line.starts_with(&format!("| {arm} | 8 |"))).unwrap();
        row.trim_matches('|').split('|').next_back().unwrap().trim().to_owned()
    };
    assert_eq!((letters("new"), letters("old")), ("a".to_owned(), letters("twin")));
    assert_ne!(letters("odd"), letters("old"));
    let pairs = markdown.split("<summary>Every pair of arms").nth(1).unwrap();
    let pairs = pairs.split("</details>").next().unwrap();
    assert_eq!(pairs.lines().filter(|line| line.contains(" to ")).count(), 6, "{pairs}");
    let text = text::summary(&experiment, &analysis, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["Friedman", "letters", "share a letter"] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
}
