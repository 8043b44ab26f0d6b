//! `tenbin iperf3` as its users run it, in both roles, and beside Debian's iperf3.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{Bench, Output, json};
use tenbin_core::run::Run;
use tenbin_formats::Format;

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Waits until the port is taken, without connecting: that would be a client.
fn taken(port: &str) {
    for _ in 0..100 {
        if TcpListener::bind(format!("0.0.0.0:{port}")).is_err() {
            return;
        }
        sleep(Duration::from_millis(30));
    }
    panic!("nobody listens on port {port}");
}

/// A server of ours.
fn serve(port: &str, more: &[&str]) -> Child {
    let words = [&["iperf3", "-s", "-p", port], more].concat();
    let child = Bench::new().tenbin(&words).spawn();
    taken(port);
    child
}

fn end(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn client(port: &str, more: &[&str]) -> Output {
    let words = [&["iperf3", "-c", "127.0.0.1", "-p", port], more].concat();
    Bench::new().tenbin(&words).output()
}

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// The only run in what was printed, with its totals as sender and receiver in bit/s.
fn read(text: &str) -> (Run, Option<f64>, Option<f64>) {
    let mut runs = Vec::new();
    tenbin_formats::iperf3::Iperf3.parse(&mut text.as_bytes(), &mut runs).unwrap();
    assert_eq!(runs.len(), 1, "{text}");
    let run = runs.remove(0);
    let total = |side: &str| {
        let found = run.series.iter().find(|series| {
            series.metric.name == "throughput"
                && series.params.get("side") == Some(&side.into())
                && series.params.contains_key("window")
                && !series.params.contains_key("stream")
        });
        found.map(|series| series.samples[0].value)
    };
    let (sent, received) = (total("sender"), total("receiver"));
    (run, sent, received)
}

#[test]
fn what_is_printed_is_a_log_of_iperf3() {
    for more in [&[][..], &["-P", "2"], &["-R"], &["-V"], &["-J"], &["-J", "-P", "2", "-R"]] {
        let port = free_port();
        let own: &[&str] = if more.contains(&"-J") { &["-1", "-J"] } else { &["-1"] };
        let server = serve(&port, own);
        let near = client(&port, &[&["-t", "0.4", "-i", "0.1"], more].concat());
        let far = end(server);
        assert_eq!((near.code, far.code), (0, 0), "{more:?}: {}{}", near.err, far.err);
        let (run, sent, received) = read(&near.out);
        assert!(sent.unwrap() > 0.0 && received.unwrap() > 0.0, "{more:?}: {}", near.out);
        assert!(run.caveats.is_empty(), "{:?}", run.caveats);
        let (run, sent, received) = read(&far.out);
        assert!(sent.is_some() != received.is_some(), "{more:?}: {}", far.out);
        assert!(run.caveats.is_empty(), "{:?}", run.caveats);
    }
}

#[test]
fn exit_codes() {
    let port = free_port();
    let check = |arguments: &[&str], code: i32, said: &str| {
        let output = Bench::new().tenbin(&[&["iperf3"], arguments].concat()).output();
        assert_eq!(output.code, code, "{arguments:?}: {}", output.err);
        assert!(output.err.contains(said), "{arguments:?}: {}", output.err);
    };
    check(
        &["-c", "127.0.0.1", "-p", &port],
        4,
        &format!("cannot reach 127.0.0.1:{port}: connection refused"),
    );
    check(&["-c", "127.0.0.1", "-p", &port, "-6"], 4, "it has no IPv6 address");
    check(&["-c", "127.0.0.1", "-u"], 2, "UDP tests are not available yet");
    check(&[], 2, "--client");
    check(&["-c", "a", "-s"], 2, "cannot be used with");
    check(&["-c", "a", "-t", "0"], 2, "seconds between");
    check(&["-c", "a", "-l", "2M"], 2, "at most 1M");
    check(&["-c", "a", "-P", "129"], 2, "129");
    check(&["-c", "a", "-f", "x"], 2, "k m g t");
    check(&["-c", "a", "-b", "fast"], 2, "fast");
    check(&["-c", "a", "-t", "1", "-n", "1M"], 2, "cannot be used with");
    let refused = client(&port, &["-J"]);
    assert_eq!(refused.code, 4);
    assert!(json(&refused.out)["error"].as_str().unwrap().contains("connection refused"));
}

#[test]
fn interrupted_on_either_side() {
    let port = free_port();
    let server = serve(&port, &[]);
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "20", "-i", "0.1"];
    let running = Bench::new().tenbin(&words).spawn();
    sleep(Duration::from_millis(700));
    interrupt(&running);
    let near = end(running);
    assert_eq!(near.code, 130, "{}", near.err);
    assert!(near.err.contains("interrupt - the client has terminated"));
    let (_, sent, received) = read(&near.out);
    assert!(sent.unwrap() > 0.0 && received.is_none());
    // The server goes on, and ends well when told to.
    let next = client(&port, &["-n", "1M"]);
    assert_eq!(next.code, 0, "{}", next.err);
    interrupt(&server);
    let far = end(server);
    assert_eq!(far.code, 0, "{}", far.err);
    assert!(far.out.contains("Server listening on"), "{}", far.out);
    assert!(far.err.contains("stopped during the test"), "{}", far.err);

    let server = serve(&port, &["-1"]);
    let running = Bench::new().tenbin(&words).spawn();
    sleep(Duration::from_millis(700));
    interrupt(&server);
    assert_eq!(end(server).code, 130);
    let near = end(running);
    assert_eq!(near.code, 4, "{}", near.err);
    assert!(near.err.contains("stopped during the test"), "{}", near.err);
}

mod peer {
    use super::*;
    use common::there;

    /// iperf3's server for one client.
    fn theirs(port: &str) -> Child {
        let child = Command::new("iperf3")
            .args(["-s", "-1", "-p", port])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        taken(port);
        child
    }

    fn iperf3(port: &str, more: &[&str]) -> Output {
        let command = Command::new("iperf3")
            .args(["-c", "127.0.0.1", "-p", port])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        end(command.unwrap())
    }

    #[test]
    fn figures_agree_in_every_pairing() {
        if !there("iperf3") {
            return;
        }
        for more in [&["-t", "1"][..], &["-t", "1", "-R"], &["-t", "1", "-P", "2"]] {
            let mut rates = Vec::new();
            for (client_ours, server_ours) in [(true, true), (true, false), (false, true), (false, false)] {
                let port = free_port();
                let server = if server_ours { serve(&port, &["-1"]) } else { theirs(&port) };
                let near = if client_ours { client(&port, more) } else { iperf3(&port, more) };
                assert_eq!(near.code, 0, "{more:?}: {}{}", near.out, near.err);
                assert_eq!(end(server).code, 0);
                rates.push(read(&near.out).2.unwrap());
            }
            for rate in &rates {
                assert!((0.2..5.0).contains(&(rate / rates[3])), "{more:?}: {rates:?}");
            }
        }
    }

    /// Where the text differs from iperf3's, it does so in figures, ports and nothing else.
    #[test]
    fn text_is_laid_out_as_theirs() {
        if !there("iperf3") {
            return;
        }
        let shape = |text: &str| {
            let digit = |c: char| if c.is_ascii_digit() { '0' } else { c };
            let lines = text.lines().filter(|line| !line.contains("port "));
            lines.map(|line| line.chars().map(digit).collect::<String>()).collect::<Vec<_>>()
        };
        // Widths vary with the size of a figure, so only the words of each line are compared.
        let words = |text: &str| -> Vec<Vec<String>> {
            let unit = |word: &str| {
                let plain = word.trim_start_matches(['K', 'M', 'G', 'T']);
                if plain.chars().any(|c| c.is_ascii_digit()) { "0".to_owned() } else { plain.to_owned() }
            };
            shape(text).iter().map(|line| line.split_whitespace().map(unit).collect()).collect()
        };
        for more in [&["-t", "2"][..], &["-t", "2", "-P", "2"], &["-t", "2", "-R"]] {
            let port = free_port();
            let server = theirs(&port);
            let ours = client(&port, more);
            end(server);
            let port = free_port();
            let server = theirs(&port);
            let theirs = iperf3(&port, more);
            end(server);
            assert_eq!(words(&ours.out), words(&theirs.out), "{more:?}");
        }
    }
}
