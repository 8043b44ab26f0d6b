//! Documents as `tenbin show --json` prints them.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::sample::{Param, Reduce, Sample};

use super::*;
use crate::brief::briefs;

const DOCUMENT: &str = r#"{
  "errors": [ { "source": "y.txt", "text": "y.txt: no known tool wrote this" } ],
  "runs": [
    { "source": "ping a->b", "tool": "imb", "tool_version": "2018", "benchmark": "PingPong",
      "series": [
        { "metric": "latency", "unit": "s", "better": "lower", "headline": "median",
          "params": { "size_bytes": 4096, "entity": "208.10", "load": 0.5 },
          "samples": [ [null, 2.176e-5], [1.5, 2.2e-5] ],
          "reported": { "n": 1000, "mean": 2.176e-5 },
          "computed": { "n": 2, "mean": 2.188e-5 } },
        { "metric": "oddity", "unit": "furlong", "params": {}, "samples": [ [null, 1] ] } ],
      "facts": { "mpi.version": "3.1", "mpi.ranks": 2, "mpi.bound": true },
      "caveats": [ { "kind": "summary-only", "text": "only means were printed" } ],
      "taint": {} },
    { "source": "empty", "tool": "ping", "series": [], "facts": {}, "caveats": [] } ],
  "schema": "tenbin.run/1"
}"#;

#[test]
fn a_run_comes_back() {
    let runs = crate::read(DOCUMENT.as_bytes()).unwrap().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!((run.tool.as_str(), run.tool_version.as_deref()), ("imb", Some("2018")));
    assert_eq!(run.benchmark.as_deref(), Some("PingPong"));
    let series = &run.series[0];
    assert_eq!(series.headline, Some(Reduce::Median));
    assert_eq!(series.samples, [Sample::of(2.176e-5), Sample::at(1.5, 2.2e-5)]);
    assert_eq!(series.params["entity"], Param::from("208.10"));
    assert_eq!(series.params["size_bytes"], Param::Int(4096));
    assert_eq!(series.reported["n"], 1000.0);
    assert_eq!(run.facts.len(), 3);
    assert_eq!(run.caveats[0].kind, CaveatKind::SummaryOnly);
    // Of what is not known it says so.
    assert_eq!(run.caveats[1].kind, CaveatKind::Note);
}

#[test]
fn documents_without_a_run() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), [[wanted]], "{text}");
    check(
        r#"{"schema":"tenbin.run/1","runs":[],"errors":[{"source":"x","text":"x: busy"}]}"#,
        "tenbin measured nothing: x: busy",
    );
    check(r#"{"schema":"tenbin.run/1","runs":[]}"#, "tenbin measured nothing: the document holds no run");
    let cut = briefs(&DOCUMENT.replace("  \"errors\"", "  \"schema\": \"tenbin.run/1\", \"errors\"")[..300]);
    assert!(cut[0][0].contains("ends early"), "{cut:?}");
    assert!(!Tenbin.sniff(br#"{"schema": "tenbin.report/1", "runs": []}"#));
    assert!(!Tenbin.sniff(b"{\"results\": [{\"command\": \"x\", \"mean\": 1}]}"));
}
