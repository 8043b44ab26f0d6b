//! The answer as JSON and as terminal text: contract keys, figures, widths, foreign text.

mod fixture;

use std::path::Path;

use serde_json::{Value, json};
use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::State;
use tenbin_core::metric;
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Sample, Series};
use tenbin_report::{json, junit, openmetrics, text};

fn document() -> Value {
    let experiment = fixture::experiment();
    let analysis = fixture::analysis(&experiment);
    json::document(&experiment, &analysis, Path::new("s.db"), Some(Path::new("tenbin-mtu/report.html")))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str)).collect()
}

#[test]
fn a_document_has_every_key_of_the_contract() {
    let document = document();
    let check = |pointer: &str, expected: &[&str]| {
        let found = keys(document.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")));
        for key in expected {
            assert!(found.contains(key), "{pointer} lacks {key}: {found:?}");
        }
    };
    check("", &["schema", "plan", "seed", "blocks", "comparisons", "ceilings", "runs"]);
    check("", &["undeclared_differences", "caveats", "store", "report", "schedule"]);
    check("/comparisons/0", &["metric", "params", "base", "arm", "better", "ratio", "lo", "hi", "level"]);
    check("/comparisons/0", &["n", "p", "margin", "verdict", "more_blocks", "mde", "text"]);
    check("/ceilings/0", &["arm", "name", "limit", "unit", "share", "steps"]);
    check("/runs", &["clean", "suspect", "invalid", "unknown"]);
    check("/undeclared_differences/0", &["host", "key", "values"]);
    check("/caveats/0", &["kind", "text"]);
    check("/schedule/0", &["block", "slot", "arm", "measure", "run", "state"]);
    assert_eq!(document["schema"], "tenbin.report/1");
    assert_eq!(document["comparisons"][0]["verdict"], "faster");
    assert_eq!(document["comparisons"][1]["verdict"], "no_difference");
    assert_eq!(document["comparisons"][0]["better"], "higher");
    assert_eq!(document["ceilings"][0]["unit"], "bit/s");
    assert_eq!(document["undeclared_differences"][0]["values"]["mtu-1500"], "tbf");
    assert_eq!(document["store"], "s.db");
}

#[test]
fn a_description_has_no_interval_and_no_p() {
    let experiment = fixture::experiment();
    let mut analysis = fixture::analysis(&experiment);
    let result = &mut analysis.comparisons[0].result;
    (result.lo, result.hi, result.p) = (None, None, None);
    let document = json::document(&experiment, &analysis, Path::new("s.db"), None);
    for key in ["lo", "hi", "p", "more_blocks"] {
        assert_eq!(document["comparisons"][0].get(key), Some(&Value::Null), "{key}");
    }
    assert_eq!(document["report"], Value::Null);
    assert!(text::summary(&experiment, &analysis, 80).contains("no finite interval"));
}

#[test]
fn verdicts_are_test_cases_and_levels_metrics() {
    let experiment = fixture::experiment();
    let mut analysis = fixture::analysis(&experiment);
    analysis.comparisons[0].result.verdict = tenbin_core::verdict::Verdict::Slower;
    analysis.comparisons[0].text = "a < b & \"c\"".to_owned();
    let xml = junit::document("mtu", &analysis);
    let n = analysis.comparisons.len();
    assert!(xml.contains(&format!("<testsuite name=\"mtu\" tests=\"{n}\" failures=\"1\"")), "{xml}");
    assert!(xml.contains("<failure message=\"a &lt; b &amp; &quot;c&quot;\" type=\"slower\"/>"), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), n);
    let text = openmetrics::levels("mtu", &analysis);
    let line = "tenbin_throughput_bits_per_second{plan=\"mtu\",arm=\"mtu-1500\"";
    assert!(text.contains(line) && text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn the_schedule_names_the_run_that_counts() {
    let mut experiment = fixture::experiment();
    let slot = experiment.schedule[13];
    let counts = experiment.done(slot).unwrap().id;
    assert_eq!(json::schedule(&experiment)[13]["run"], counts);
    experiment.records.retain(|record| record.id != counts);
    let entry = &json::schedule(&experiment)[13];
    assert_eq!((&entry["state"], &entry["run"]), (&json!("invalid"), &json!(counts - 1)));
    experiment.records.clear();
    let entry = &json::schedule(&experiment)[13];
    assert_eq!((&entry["state"], &entry["run"]), (&json!("pending"), &Value::Null));
}

#[test]
fn figures_are_computed_from_samples() {
    let check = |metric: &metric::Metric, samples: &[(Option<f64>, f64)], expected: Value| {
        let samples = samples.iter().map(|&(at, value)| Sample::new(at, value)).collect();
        let series = Series {
            metric: metric.clone(),
            params: Params::new(),
            headline: None,
            samples,
            reported: Default::default(),
        };
        let run = Run { series: vec![series], ..Run::default() };
        let document = json::runs(&[run]);
        assert_eq!(document["schema"], "tenbin.run/1");
        let entry = &document["runs"][0]["series"][0];
        assert_eq!(entry["metric"], metric.name.as_ref());
        for (key, value) in expected.as_object().unwrap() {
            let found = &entry["computed"][key];
            match (found.as_f64(), value.as_f64()) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * b.abs(), "{key}: {a} instead of {b}"),
                _ => assert_eq!(found, value, "{key}"),
            }
        }
    };
    check(&metric::RTT, &[], json!({ "n": 0, "mean": null, "sd": null }));
    check(&metric::RTT, &[(None, 2e-5)], json!({ "n": 1, "mean": 2e-5, "median": 2e-5, "sd": null }));
    let four: Vec<_> = [1.0, 2.0, 4.0, 9.0].iter().map(|&value| (None, value)).collect();
    let sd = (38.0f64 / 3.0).sqrt();
    check(&metric::RTT, &four, json!({ "n": 4, "mean": 4, "median": 3, "min": 1, "max": 9, "sd": sd }));
    // A rate counts by the length of its interval: 1 s of 10 and 0.5 s of 4.
    check(&metric::THROUGHPUT, &[(Some(1.0), 10.0), (Some(1.5), 4.0)], json!({ "mean": 8 }));
    // Replies have times too, but no lengths.
    check(&metric::RTT, &[(Some(1.0), 10.0), (Some(1.5), 4.0)], json!({ "mean": 7 }));
    let many: Vec<_> = (0..=100).map(|i| (None, f64::from(i))).collect();
    check(&metric::RTT, &many, json!({ "p90": 90, "p99": null }));
    check(&metric::RTT, &many[..60], json!({ "p90": null }));
}

#[test]
fn run_documents_hold_plain_facts() {
    let experiment = fixture::experiment();
    let run = experiment.records[0].run.clone().unwrap();
    let entry = json::run(&run);
    assert_eq!(entry["facts"]["tcp.congestion"], "cubic");
    assert_eq!(entry["tool"], "tenbin");
    assert_eq!(entry["benchmark"], "iperf3");
    assert_eq!(entry["hosts"]["client"]["net.va.mtu"]["value"], 1500);
    assert_eq!(entry["series"][0]["headline"], "total");
    assert_eq!(entry["series"][0]["computed"]["n"], 1);
}

#[test]
fn the_summary_says_interval_before_verdict_and_fits() {
    let experiment = fixture::experiment();
    let analysis = fixture::analysis(&experiment);
    for width in [80, 100, 60] {
        let text = text::summary(&experiment, &analysis, width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} columns at {width}:\n{text}");
        assert!(
            text.find("mtu-9000 / mtu-1500: 1.") < text.find("mtu-9000 is faster than mtu-1500"),
            "{text}"
        );
    }
    let text = text::summary(&experiment, &analysis, 80);
    for part in ["11 % of 23.9 Gbit/s", "net.va.qdisc", "[1] the hosts", "core_throttle_count", "block 4"] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
}

#[test]
fn runs_with_one_mark_are_told_of_once() {
    let mut experiment = fixture::experiment();
    for record in &mut experiment.records {
        record.run.as_mut().unwrap().taint = Default::default();
        record.run.as_mut().unwrap().taint.add(tenbin_core::taint::TaintLevel::Unknown, "no sensor");
        record.state = State::Done;
    }
    let text = text::summary(&experiment, &Analysis::default(), 80);
    assert_eq!(text.matches("no sensor").count(), 1, "{text}");
    assert!(text.contains("33 runs unknown: no sensor"), "{text}");
}

#[test]
fn nothing_measured_is_no_panic() {
    let mut experiment = fixture::experiment();
    experiment.records.clear();
    let text = text::summary(&experiment, &Analysis::default(), 0);
    assert!(text.contains("32 of 32 slots have no run that counts"), "{text}");
    assert!(text::run(&Run::default(), 80).contains("nothing was measured"));
    assert_eq!(text::list(&[], 80), "no experiments yet\n");
}

#[test]
fn foreign_text_does_not_move_the_cursor() {
    let mut experiment = fixture::experiment();
    experiment.plan.arms[0].name = "a\x1b[2Jb\r\n".to_owned();
    let mut analysis = fixture::analysis(&experiment);
    analysis.caveats[0].text = "x\x1b]0;title\x07y".to_owned();
    let text = text::summary(&experiment, &analysis, 80);
    assert!(!text.contains(['\x1b', '\r', '\x07']), "{text:?}");
}

#[test]
fn lists_and_runs() {
    let row = text::ListRow {
        id: 3,
        created: "2026-03-14 15:09".to_owned(),
        plan: "mtu".to_owned(),
        arms: vec!["mtu-1500".to_owned(), "mtu-9000".to_owned()],
        done: 12,
        slots: 32,
    };
    let text = text::list(&[row], 80);
    assert!(text.contains("mtu-1500, mtu-9000") && text.contains("12 of 32"), "{text}");
    let run = fixture::experiment().records[0].run.clone().unwrap();
    let text = text::run(&run, 80);
    assert!(text.contains("throughput *") && text.contains("2.53 Gbit/s"), "{text}");
    assert!(text.contains("state: clean"), "{text}");
}
