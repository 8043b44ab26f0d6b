//! Logs of other tools through the program: what is printed, what is stored, which code it ends with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{Bench, json};

fn log(name: &str) -> String {
    format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

const PING: &str = "ping/iputils-20221126-debian12-plain.txt";
const IPERF: &str = "iperf3/3.12-debian12-tcp-client.txt";
const REFUSED: &str = "iperf3/3.12-debian12-refused-client.txt";

#[test]
fn one_document_for_programs() {
    let bench = Bench::new();
    let run = bench
        .tenbin(&["import", "--json", &log(PING), &log(IPERF), "--arm", "old", "--fact", "slot=3"])
        .output();
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let document = json(&run.out);
    assert_eq!(document["schema"], "tenbin.run/1");
    assert_eq!(document["errors"], serde_json::json!([]));
    let tools: Vec<_> = document["runs"].as_array().unwrap().iter().map(|run| run["tool"].clone()).collect();
    assert_eq!(tools, ["ping", "iperf3"]);
    assert_eq!(document["runs"][0]["source"], log(PING));
    assert_eq!(document["runs"][0]["facts"]["arm"], "old");
    assert_eq!(document["runs"][1]["facts"]["slot"], "3");
    assert_eq!(document["runs"][0]["series"][0]["unit"], "s");
    // Nothing is stored unless it is said where.
    assert!(!bench.path("data").exists());
}

#[test]
fn what_can_not_be_read_is_said() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("logs")).unwrap();
    std::fs::write(bench.path("logs/notes.txt"), "\n  Dear diary,\ntoday\n").unwrap();
    std::fs::write(bench.path("logs/a.gz"), b"\x1f\x8b\x08\0\0\0").unwrap();
    std::fs::write(bench.path("logs/empty"), "").unwrap();
    std::fs::write(bench.path("logs/.hidden"), "x").unwrap();
    std::fs::copy(log(PING), bench.path("logs/ping")).unwrap();
    std::fs::copy(log(REFUSED), bench.path("logs/refused")).unwrap();
    let run = bench.tenbin(&["import", "--json", "logs", "missing", "/dev/null"]).output();
    assert_eq!(run.code, 3, "{}", run.err);
    let document = json(&run.out);
    assert_eq!(document["runs"].as_array().unwrap().len(), 1);
    let errors: Vec<_> =
        document["errors"].as_array().unwrap().iter().map(|e| e["text"].as_str().unwrap()).collect();
    let expected = [
        "logs/a.gz: it is compressed; hint: `gunzip -c FILE | tenbin import -`",
        "logs/empty: it is empty",
        "logs/notes.txt: no known tool wrote this (first line: Dear diary,)",
        "logs/refused: iperf3 measured nothing: unable to connect to server: Connection refused",
        "missing: no such file or directory",
        "/dev/null: it is a device",
    ];
    assert_eq!(errors, expected);
    assert_eq!(bench.tenbin(&["import"]).output().code, 2);
    assert_eq!(bench.tenbin(&["import", "--fact", "x", "logs"]).output().code, 2);
    std::fs::create_dir(bench.path("nothing")).unwrap();
    assert_eq!(bench.tenbin(&["import", "nothing"]).output().code, 2);
}

#[test]
fn logs_are_stored_once() {
    let bench = Bench::new();
    let run = bench.tenbin(&["import", &log(PING), &log(IPERF), "--arm", "old NIC"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("rtt"), "{}", run.out);
    assert!(run.err.contains("2 runs stored in "), "{}", run.err);
    let run = bench.tenbin(&["import", &log(PING), "--arm", "new NIC"]).output();
    assert_eq!(run.code, 0);
    assert!(run.out.contains("known already"), "{}", run.out);
    assert!(run.err.contains("known already as run 1 of old NIC"), "{}", run.err);
    let list = json(&bench.tenbin(&["list", "--runs", "--json"]).output().out);
    assert_eq!(list["runs"].as_array().unwrap().len(), 2);
    assert_eq!((&list["runs"][1]["run"], &list["runs"][1]["arm"]), (&1.into(), &"old NIC".into()));
    let list = bench.tenbin(&["list"]).output();
    assert!(list.out.contains("run:2") && !list.out.contains("experiments"), "{}", list.out);
    let shown = json(&bench.tenbin(&["show", "run:2", "--json"]).output().out);
    let printed = json(&bench.tenbin(&["import", "--json", &log(IPERF), "--arm", "old NIC"]).output().out);
    assert_eq!(shown, printed);
    assert!(bench.tenbin(&["show", "run:1"]).output().out.contains("rtt *"));
}

#[test]
fn stores_bring_their_runs() {
    let bench = Bench::new();
    let run = bench.tenbin(&["import", &log(PING), "--store", "there.db"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    let run = bench.tenbin(&["import", "there.db", &log(PING), "--store", "here.db"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("1 runs added") && run.out.contains("known already: rtt"), "{}", run.out);
    let run = bench.tenbin(&["import", "there.db", "--json"]).output();
    assert_eq!(run.code, 3);
    assert!(run.out.contains("--store FILE"), "{}", run.out);
}

#[test]
fn a_session_of_several_tools() {
    let bench = Bench::new();
    let (ping, iperf) =
        (std::fs::read_to_string(log(PING)).unwrap(), std::fs::read_to_string(log(IPERF)).unwrap());
    let refused = std::fs::read_to_string(log(REFUSED)).unwrap();
    let session = format!("$ ping ...\n{ping}$ iperf3 ...\n{iperf}\n$ ping again\n{ping}> {refused}");
    let mut child = bench.tenbin(&["import", "--json", "-"]);
    child.0.stdin(Stdio::piped());
    let mut child = child.spawn();
    child.stdin.take().unwrap().write_all(session.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let document = json(&String::from_utf8(output.stdout).unwrap());
    let runs = document["runs"].as_array().unwrap();
    let tools: Vec<_> = runs.iter().map(|run| run["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["ping", "iperf3", "ping"]);
    assert_eq!(runs[0]["series"], runs[2]["series"]);
    let alone = json(&bench.tenbin(&["import", "--json", &log(IPERF)]).output().out);
    assert_eq!(runs[1]["series"], alone["runs"][0]["series"]);
    assert_eq!(output.status.code(), Some(0));
}
