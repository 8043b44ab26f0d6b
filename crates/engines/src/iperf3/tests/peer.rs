//! Against iperf3 itself, in both roles.

use std::process::{Child, Command, Output, Stdio};

use super::*;

/// Whether iperf3 is here. On a build server it must be.
fn here() -> bool {
    let found = Command::new("iperf3").arg("--version").output().is_ok_and(|out| out.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "iperf3 is missing");
    if !found {
        println!("skipped: needs iperf3");
    }
    found
}

/// `iperf3 -s` on a port of its own, killed when dropped.
struct Theirs(Child, SocketAddr);

impl Theirs {
    fn start() -> Theirs {
        let address = TcpListener::bind(local()).unwrap().local_addr().unwrap();
        let port = address.port().to_string();
        let child = Command::new("iperf3").args(["-s", "-p", &port]).stdout(Stdio::null()).spawn().unwrap();
        let server = Theirs(child, address);
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(30));
            // Not by connecting: that would be a client. A taken port can no longer be bound.
            if TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], address.port()))).is_err() {
                break;
            }
        }
        server
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn iperf3(address: SocketAddr, args: &[&str]) -> Output {
    let port = address.port().to_string();
    Command::new("iperf3").args(["-c", "127.0.0.1", "-p", &port]).args(args).output().unwrap()
}

/// A server of ours that goes on until told to stop.
fn serving() -> (SocketAddr, Stop, thread::JoinHandle<Vec<Result<Outcome, RunError>>>) {
    let mut server = Server::open(local()).unwrap();
    let (address, stop) = (server.address(), Stop::default());
    let until = stop.clone();
    let thread = thread::spawn(move || {
        let mut outcomes = Vec::new();
        while !until.is_set() {
            outcomes.push(server.serve(None, Some(0.5), &until, &mut |_| {}));
        }
        outcomes
    });
    (address, stop, thread)
}

#[test]
fn our_client_and_their_server() {
    if !here() {
        return;
    }
    let server = Theirs::start();
    let check = |params: &[(&str, &str)]| {
        // Between two tests it closes its socket and opens another.
        let refused = |e: &RunError| e.to_string().contains("connection refused");
        let mut tries = (0..50).map(|_| run(server.1, "", params)).inspect(|rec| {
            if rec.as_ref().is_err_and(refused) {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let rec = tries.find(|rec| !rec.as_ref().is_err_and(refused)).unwrap();
        let rec = rec.unwrap_or_else(|e| panic!("{params:?}: {e}"));
        let (sent, received) = (one(&rec, "throughput", "sender"), one(&rec, "throughput", "receiver"));
        assert!((0.2..5.0).contains(&(sent / received)), "{params:?}: {sent} {received}");
        assert!(one(&rec, "retransmits", "sender") >= 0.0);
        assert!(one(&rec, "cpu_utilization", "receiver") > 0.0);
        rec
    };
    let rec = check(&[("time", "1s"), ("interval", "250ms")]);
    assert_eq!(series(&rec, "throughput", "sender", false)[0].samples.len(), 4);
    check(&[("time", "1s"), ("parallel", "2")]);
    check(&[("time", "1s"), ("parallel", "8")]);
    check(&[("time", "1s"), ("reverse", "true")]);
    check(&[("time", "1s"), ("reverse", "true"), ("parallel", "2")]);
    check(&[("time", "1s"), ("omit", "1s")]);
    check(&[("time", "1s"), ("omit", "1s"), ("reverse", "true")]);
    check(&[("bytes", "20m")]);
    check(&[("bytes", "20m"), ("reverse", "true")]);
    check(&[("time", "1s"), ("mss", "1000"), ("window", "64k"), ("nodelay", "true"), ("length", "4k")]);
    check(&[("time", "1s"), ("congestion", "reno")]);
    check(&[("time", "1s"), ("bitrate", "50Mbit")]);
}

#[test]
fn their_client_and_our_server() {
    if !here() {
        return;
    }
    let (address, stop, server) = serving();
    let mut tests = 0;
    let mut check = |args: &[&str]| {
        let out = iperf3(address, args);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success() && out.stderr.is_empty(), "{args:?}: {text}{out:?}");
        tests += 1;
        text
    };
    for args in [
        &["-t", "1"][..],
        &["-t", "1", "-P", "2"],
        &["-t", "1", "-P", "8"],
        &["-t", "1", "-R"],
        &["-t", "1", "-R", "-P", "2"],
        &["-t", "1", "-O", "1"],
        &["-t", "1", "-O", "1", "-R"],
        &["-n", "20M"],
        &["-n", "20M", "-R"],
        &["-k", "100"],
        &["-t", "1", "-M", "1000", "-w", "64K", "-N", "-l", "4K", "-C", "reno"],
        &["-t", "1", "-b", "50M", "-R"],
        &["-t", "1", "-Z"],
        &["-t", "1", "--get-server-output"],
    ] {
        let text = check(args);
        assert!(text.contains("iperf Done."), "{args:?}: {text}");
        assert!(text.contains("receiver"), "{args:?}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&check(&["-t", "1", "-P", "2", "-J"])).unwrap();
    assert!(json.get("error").is_none());
    let rate = |key: &str| json["end"][key]["bits_per_second"].as_f64().unwrap();
    assert!((0.2..5.0).contains(&(rate("sum_sent") / rate("sum_received"))));
    assert_eq!(json["end"]["streams"].as_array().unwrap().len(), 2);
    stop.set();
    let outcomes = server.join().unwrap();
    assert_eq!(
        outcomes.iter().filter(|outcome| outcome.as_ref().is_ok_and(|o| o.test.end.is_some())).count(),
        tests
    );
}

#[test]
fn their_client_is_refused_in_words() {
    if !here() {
        return;
    }
    let (address, stop, server) = serving();
    let out = iperf3(address, &["-u", "-t", "1"]);
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("not implemented"), "{out:?}");
    // A refusal is not the server's end.
    assert!(iperf3(address, &["-t", "1"]).status.success());
    stop.set();
    let outcomes = server.join().unwrap();
    assert!(outcomes[0].as_ref().unwrap_err().to_string().contains("UDP tests are not available yet"));
}

#[test]
fn busy_in_both_roles() {
    if !here() {
        return;
    }
    let (address, stop, server) = serving();
    let first = thread::spawn(move || iperf3(address, &["-t", "2"]));
    thread::sleep(Duration::from_millis(700));
    let second = iperf3(address, &["-t", "1"]);
    assert!(String::from_utf8_lossy(&second.stderr).contains("busy"), "{second:?}");
    assert!(first.join().unwrap().status.success());
    stop.set();
    server.join().unwrap();

    let theirs = Theirs::start();
    let address = theirs.1;
    let first = thread::spawn(move || iperf3(address, &["-t", "2"]));
    thread::sleep(Duration::from_millis(700));
    assert!(matches!(run(address, "", &[("time", "1s")]), Err(RunError::Refused { .. })));
    assert!(first.join().unwrap().status.success());
}

#[test]
fn killed_and_interrupted_peers() {
    if !here() {
        return;
    }
    // Killed: nothing more comes. Interrupted: a last byte says so.
    for signal in ["-KILL", "-INT"] {
        for reverse in ["false", "true"] {
            let theirs = Theirs::start();
            let address = theirs.1;
            let client = thread::spawn(move || run(address, "", &[("time", "20s"), ("reverse", reverse)]));
            thread::sleep(Duration::from_millis(700));
            let pid = theirs.0.id().to_string();
            Command::new("kill").args([signal, &pid]).status().unwrap();
            let began = Instant::now();
            let said = client.join().unwrap().err().unwrap();
            assert!(began.elapsed() < Duration::from_secs(5), "{said}");
        }
        for reverse in [None, Some("-R")] {
            let (address, stop, server) = serving();
            let port = address.port().to_string();
            let mut client = Command::new("iperf3")
                .args(["-c", "127.0.0.1", "-t", "20", "-p", &port])
                .args(reverse)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(700));
            Command::new("kill").args([signal, &client.id().to_string()]).status().unwrap();
            client.wait().unwrap();
            // The server is free again at once.
            assert!(iperf3(address, &["-t", "1"]).status.success());
            stop.set();
            let outcomes = server.join().unwrap();
            assert!(outcomes[0].is_err() && outcomes[1].is_ok());
        }
    }
}

#[test]
fn our_interrupted_client_frees_their_server() {
    if !here() {
        return;
    }
    let theirs = Theirs::start();
    let stop = Stop::default();
    let soon = stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        soon.set();
    });
    let mut rec = Recorder::default();
    Iperf3.run(&job(theirs.1, "", &[("interval", "100ms")]), &mut rec, &stop).unwrap();
    // It takes a moment to notice.
    let began = Instant::now();
    while let Err(error) = run(theirs.1, "", &[("time", "1s")]) {
        assert!(began.elapsed() < Duration::from_secs(10), "{error}");
        thread::sleep(Duration::from_millis(100));
    }
}
