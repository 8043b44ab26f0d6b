//! `tenbin ping` as its users run it, and word for word beside Debian's ping.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Bench, Output, json};
use tenbin_core::run::Run;
use tenbin_formats::Format;

/// `None`, said aloud, where this user may not ping.
fn ping(arguments: &[&str]) -> Option<Output> {
    let words = [&["ping"], arguments].concat();
    let output = Bench::new().tenbin(&words).output();
    let forbidden = output.err.contains("permission denied");
    if forbidden {
        println!("skipped: {}", output.err);
    }
    (!forbidden).then_some(output)
}

fn read(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    tenbin_formats::ping::Ping.parse(&mut text.as_bytes(), &mut runs).unwrap();
    runs
}

#[test]
fn what_is_printed_is_a_log_of_ping() {
    let Some(output) = ping(&["-c", "24", "-i", "0.01", "127.0.0.1"]) else { return };
    assert_eq!(output.code, 0, "{}", output.err);
    let runs = read(&output.out);
    assert_eq!(runs[0].series[0].samples.len(), 24, "{}", output.out);
    assert!(runs[0].caveats.is_empty(), "{:?}", runs[0].caveats);
    assert!(output.out.contains("percentiles: p50 ") && output.out.ends_with("(n=24)\n"), "{}", output.out);
}

#[test]
fn documents() {
    let Some(output) = ping(&["-c", "3", "-A", "--json", "127.0.0.1"]) else { return };
    let document = json(&output.out);
    assert_eq!(document["schema"], "tenbin.run/1");
    let run = &document["runs"][0];
    assert_eq!((&run["tool"], &run["benchmark"]), (&"tenbin".into(), &"ping".into()));
    assert_eq!(run["series"][0]["samples"].as_array().unwrap().len(), 3);
    assert_eq!(run["facts"]["ping.address"], "127.0.0.1");
}

#[test]
fn exit_codes() {
    let check = |arguments: &[&str], code: i32, said: &str| {
        let Some(output) = ping(arguments) else { return };
        assert_eq!(output.code, code, "{arguments:?}: {}", output.err);
        assert!(output.err.contains(said), "{arguments:?}: {}", output.err);
    };
    check(&["-c", "1", "127.0.0.1"], 0, "");
    check(&["-w", "0.1", "-i", "0.02", "127.0.0.1"], 0, "");
    check(&["-c", "1", "255.255.255.255"], 4, "cannot ping 255.255.255.255: it is a broadcast address");
    check(&["-c", "1", "-6", "127.0.0.1"], 4, "cannot reach 127.0.0.1: it has no IPv6 address");
    check(&["-c", "1", "-I", "::1", "127.0.0.1"], 4, "it has no IPv6 address");
    check(&["-c", "0", "127.0.0.1"], 2, "-c");
    check(&["-i", "-1", "127.0.0.1"], 2, "-1");
    check(&["-4", "-6", "127.0.0.1"], 2, "-4");
    check(&[], 2, "HOST");
}

#[test]
fn ctrl_c_prints_the_summary() {
    let interrupted = |arguments: &[&str]| {
        let words = [&["ping", "-i", "0.02"], arguments].concat();
        let mut child = Bench::new().tenbin(&words).spawn();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let signal = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(signal.unwrap().success());
        let code = child.wait().unwrap().code();
        let mut out = String::new();
        std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
        (code, out)
    };
    if ping(&["-c", "1", "127.0.0.1"]).is_none() {
        return;
    }
    // Without a count this is how a ping ends; with one it was cut short.
    for (arguments, wanted) in [(&["127.0.0.1"][..], 0), (&["-c", "100000", "127.0.0.1"][..], 130)] {
        let (code, out) = interrupted(arguments);
        assert_eq!(code, Some(wanted), "{out}");
        assert!(out.contains("packets transmitted") && out.contains("rtt min/avg/max/mdev = "), "{out}");
    }
}

mod peer {
    use std::process::Command;

    use super::*;

    /// Every number as `#`: what is left are the words, in their places.
    fn words(text: &str) -> String {
        let masked: String = text
            .lines()
            .filter(|line| !line.starts_with("percentiles: "))
            .flat_map(|line| line.chars().chain(['\n']))
            .map(|c| if c.is_ascii_digit() { '#' } else { c })
            .collect();
        let mut shorter = masked.replace("##", "#").replace("##", "#").replace("##", "#");
        while shorter.contains("##") {
            shorter = shorter.replace("##", "#");
        }
        // Whether there is a fraction depends on the time (four significant digits), the pipe on the scheduler.
        shorter.replace("#.# ms", "# ms").replace(", pipe #", "")
    }

    #[test]
    fn the_same_words_as_debians_ping() {
        let there = Command::new("ping").arg("-V").output().is_ok();
        assert!(there || std::env::var_os("CI").is_none(), "needs ping");
        if !there {
            return println!("skipped: needs ping");
        }
        let check = |arguments: &[&str]| {
            let Some(ours) = ping(arguments) else { return };
            let theirs = Command::new("ping").args(arguments).env("LC_ALL", "C").output().unwrap();
            let theirs = String::from_utf8(theirs.stdout).unwrap();
            assert_eq!(words(&ours.out), words(&theirs), "{arguments:?}");
            let (mut ours, mut theirs) = (read(&ours.out), read(&theirs));
            // With -A these two are measured.
            for facts in [&mut ours[0].facts, &mut theirs[0].facts] {
                facts.retain(|key, _| key != "ping.interval" && key != "ping.moving_average");
            }
            assert_eq!(ours[0].facts, theirs[0].facts);
            let names = |run: &Run| run.series.iter().map(|s| s.metric.name.to_string()).collect::<Vec<_>>();
            assert_eq!(names(&ours[0]), names(&theirs[0]));
        };
        check(&["-n", "-c", "3", "-i", "0.1", "127.0.0.1"]);
        check(&["-n", "-q", "-c", "5", "-i", "0.02", "127.0.0.1"]);
        check(&["-n", "-D", "-c", "2", "-i", "0.1", "127.0.0.1"]);
        check(&["-n", "-s", "1000", "-c", "2", "-i", "0.1", "127.0.0.1"]);
        check(&["-n", "-I", "127.0.0.1", "-t", "9", "-c", "2", "-i", "0.1", "127.0.0.1"]);
        check(&["-n", "-A", "-c", "20", "127.0.0.2"]);
        if std::net::UdpSocket::bind("[::1]:0").is_ok() {
            check(&["-n", "-6", "-c", "2", "-i", "0.1", "::1"]);
        }
    }
}
