//! The report folder: well-formed, self-contained, escaped, complete, and without a panic on poor data.

mod fixture;

use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::verdict::Verdict;
use tenbin_report::figure::{self, Flavour, Size};
use tenbin_report::{About, files};

/// Elements that HTML never closes.
const VOID: [&str; 4] = ["meta", "link", "br", "img"];

/// Checks that tags nest, attributes are quoted, entities are known. Content of style and script is skipped.
fn well_formed(name: &str, text: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        entities(name, &rest[..at]);
        let tag_end = rest[at..].find('>').map_or(rest.len() - 1, |end| end + at);
        let tag = &rest[at + 1..tag_end];
        rest = &rest[tag_end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "{name}: </{closed}> closes another element");
            continue;
        }
        let element = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        assert!(!element.is_empty() && element.chars().all(|c| c.is_ascii_alphanumeric()), "{name}: <{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: quotes of <{tag}>");
        entities(name, tag);
        if matches!(element.as_str(), "style" | "script") {
            let end = format!("</{element}>");
            rest = rest.split_once(&end).map_or("", |(_, after)| after);
        } else if !tag.ends_with('/') && !VOID.contains(&element.as_str()) {
            open.push(element);
        }
    }
    assert!(open.is_empty(), "{name}: {open:?} never closed");
}

fn entities(name: &str, text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = &text[at..text[at..].find(';').map_or(text.len(), |end| at + end + 1)];
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.contains(&entity), "{name}: {entity:.20} in {text:.200}");
    }
}

fn report(experiment: &Experiment, analysis: &Analysis) -> Vec<(String, String)> {
    files(experiment, analysis, &fixture::about())
}

fn sample() -> Vec<(String, String)> {
    let experiment = fixture::experiment();
    report(&experiment, &fixture::analysis(&experiment))
}

fn file<'a>(files: &'a [(String, String)], name: &str) -> &'a str {
    let found = files.iter().find(|(other, _)| other == name);
    assert!(found.is_some(), "no {name} among {:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>());
    found.map_or("", |(_, content)| content)
}

/// Everything that can be checked of any report.
fn check(files: &[(String, String)]) {
    for (name, content) in files {
        if !name.ends_with(".md") {
            well_formed(name, content);
        }
        for none in ["NaN", "\"inf", "-inf", ">inf"] {
            let before =
                content.find(none).map(|at| content[..at].chars().rev().take(90).collect::<Vec<_>>());
            let before = before.map(|before| before.into_iter().rev().collect::<String>());
            assert_eq!(before, None, "{name} holds {none}");
        }
        if name.ends_with(".svg") {
            assert!(!content.contains("var(--"), "{name} depends on a page");
            assert!(content.contains("role=\"img\" aria-label=\""), "{name}");
        }
    }
}

#[test]
fn a_report_is_complete() {
    let files = sample();
    check(&files);
    let html = file(&files, "report.html");
    let sections = [
        "Does a jumbo MTU raise TCP throughput",
        "mtu-9000 is faster than mtu-1500",
        "11 % of 23.9 Gbit/s",
        "What bounds it",
        "25 Gbit/s x 1448 / 1514",
        "State of the runs",
        "core_throttle_count",
        "What differed that nobody declared",
        "net.va.qdisc",
        "Every run in time order",
        "Distributions",
        "To be read with care",
        "share its kernel and CPUs",
        "Environment",
        "permission denied",
        "Method",
        "drawn from seed 7",
        "Hodges-Lehmann",
        "Repeat it",
        "tenbin run examples/mtu.toml --seed 7",
        "link = { rate",
        "0.0078",
        "Schedule: 32 slots",
        "The twelve rules",
    ];
    let mut from = 0;
    for section in sections {
        let at = html[from..].find(section).unwrap_or_else(|| panic!("no {section} where it belongs"));
        from += at;
    }
    let markdown = file(&files, "report.md");
    for (name, _) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
        assert!(markdown.contains(&format!("\"{name}\"")), "report.md does not show {name}");
    }
    for part in
        ["mtu-9000 is faster than mtu-1500", "| mtu-1500 | 8 | 2.61 Gbit/s |", "```toml", "net.va.qdisc"]
    {
        assert!(markdown.contains(part), "no {part}");
    }
    for name in [
        "throughput-ratio",
        "throughput-values",
        "throughput-runs",
        "throughput-intervals",
        "rtt-distribution",
    ] {
        file(&files, &format!("{name}.svg"));
        file(&files, &format!("{name}-dark.svg"));
    }
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let files = sample();
    let html = file(&files, "report.html");
    for asks in ["http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "srcset"] {
        assert!(!html.contains(asks), "{asks}");
    }
    let script = html.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(script.len() <= 8 * 1024, "{} bytes of script", script.len());
}

#[test]
fn foreign_text_stays_text() {
    let (experiment, analysis) = fixture::hostile();
    let files = report(&experiment, &analysis);
    check(&files);
    for (name, content) in &files {
        // A fenced block in Markdown shows the plan as it is.
        let content = if name.ends_with(".md") { content.split("```toml").next().unwrap() } else { content };
        assert!(!content.contains("<script>alert"), "{name}");
        assert!(!name.ends_with(".md") || !content.contains("[x](javascript"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)), "{name}");
    }
    let mut about = fixture::about();
    (about.version, about.command, about.created) =
        (fixture::HOSTILE.to_owned(), fixture::HOSTILE.to_owned(), "\u{0}\u{fffe}".to_owned());
    let files = tenbin_report::files(&experiment, &analysis, &about);
    check(&files);
    assert!(!file(&files, "report.html").contains('\u{0}'));
}

#[test]
fn figures_draw_in_every_flavour_and_size() {
    let experiment = fixture::experiment();
    let analysis = fixture::analysis(&experiment);
    for figure in figure::all(&experiment, &analysis, &fixture::about()) {
        for flavour in [Flavour::Light, Flavour::Dark, Flavour::Inline] {
            for size in [Size::Wide, Size::Narrow] {
                let svg = figure.svg(flavour, size);
                well_formed(&figure.name, &svg);
                assert!(svg.contains("<title>"), "{} has no tooltips", figure.name);
                assert!(svg.contains("data-arm=\"1\""), "{} has no groups", figure.name);
                assert_eq!(svg.contains("var(--arm1)"), flavour == Flavour::Inline, "{}", figure.name);
                assert_eq!(svg.contains("xmlns"), flavour != Flavour::Inline, "{}", figure.name);
            }
        }
        let longest = figure
            .svg(Flavour::Light, Size::Wide)
            .split("points=\"")
            .map(|points| points.split('"').next().unwrap().split(' ').count())
            .max();
        assert!(longest.unwrap() <= 512, "{}", figure.name);
    }
}

#[test]
fn poor_data_draw_too() {
    let with = |change: &dyn Fn(usize, &mut f64)| {
        let mut experiment = fixture::experiment();
        for (index, record) in experiment.records.iter_mut().enumerate() {
            for series in record.run.iter_mut().flat_map(|run| &mut run.series) {
                series.samples.iter_mut().for_each(|sample| change(index, &mut sample.value));
            }
        }
        let analysis = fixture::analysis(&experiment);
        check(&report(&experiment, &analysis));
    };
    with(&|_, value| *value = 0.0);
    with(&|_, value| *value = 5.0);
    with(&|_, value| *value = -*value);
    with(&|index, value| *value *= if index == 3 { 1e9 } else { 1.0 });
    with(&|_, value| *value *= 1e-300);
    with(&|index, value| *value = if index % 2 == 0 { 0.0 } else { *value });

    let mut experiment = fixture::experiment();
    let full = fixture::analysis(&experiment);
    check(&report(&experiment, &Analysis::default()));
    experiment.records.truncate(1);
    check(&report(&experiment, &fixture::analysis(&experiment)));
    experiment.records.clear();
    check(&report(&experiment, &fixture::analysis(&experiment)));
    check(&report(&experiment, &full));
    experiment.schedule.clear();
    experiment.plan.arms.clear();
    experiment.plan.measures.clear();
    check(&files(&experiment, &Analysis::default(), &About::default()));
}

#[test]
fn every_verdict_has_its_card() {
    let experiment = fixture::experiment();
    let mut analysis = fixture::analysis(&experiment);
    let verdicts = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::FasterSizeUncertain,
        Verdict::SlowerSizeUncertain,
        Verdict::NoDifference,
        Verdict::DifferentButNegligible,
        Verdict::CantTell,
        Verdict::NeedMoreBlocks,
        Verdict::DescriptionOnly,
    ];
    for verdict in verdicts {
        let result = &mut analysis.comparisons[0].result;
        result.verdict = verdict;
        if matches!(verdict, Verdict::NeedMoreBlocks | Verdict::DescriptionOnly) {
            (result.lo, result.hi, result.p, result.mde) = (None, None, None, None);
        }
        check(&report(&experiment, &analysis));
    }
    let files = report(&experiment, &analysis);
    let html = file(&files, "report.html");
    assert!(html.contains("no finite interval"));
    assert!(html.contains("comparisons have too few runs or alternations for a test: described only"));
}

#[test]
fn failures_are_told() {
    let mut experiment = fixture::experiment();
    experiment.records[2].state = State::Failed;
    experiment.records[2].run = None;
    experiment.records[2].error = Some("cannot reach server: no route".to_owned());
    let files = report(&experiment, &fixture::analysis(&experiment));
    check(&files);
    for name in ["report.html", "report.md"] {
        assert!(file(&files, name).contains("cannot reach server: no route"), "{name}");
        assert!(file(&files, name).contains("one run failed"), "{name}");
    }
}

/// iperf3 tells TCP's round trips beside its throughput, and its streams one by one beside their sum.
#[test]
fn a_figure_shows_its_own_measure_and_the_sum_of_streams() {
    let mut experiment = fixture::experiment();
    for run in experiment.records.iter_mut().filter_map(|record| record.run.as_mut()) {
        let Some(sum) = run.series.iter().position(|s| s.metric.name == "throughput" && s.headline.is_none())
        else {
            continue;
        };
        let mut stream = run.series[sum].clone();
        stream.params.insert("stream".to_owned(), 5i64.into());
        stream.samples.truncate(2);
        let mut namesake = stream.clone();
        namesake.metric = tenbin_core::metric::RTT;
        run.series.splice(0..0, [stream, namesake]);
    }
    let analysis = fixture::analysis(&experiment);
    let figures = figure::all(&experiment, &analysis, &fixture::about());
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert!(!names.contains(&"rtt-intervals"), "{names:?}");
    let within = figures.iter().find(|figure| figure.name == "throughput-intervals").unwrap();
    let svg = within.svg(Flavour::Inline, Size::Wide);
    assert!(svg.contains("30 intervals") && !svg.contains("2 intervals"), "{svg}");
}
