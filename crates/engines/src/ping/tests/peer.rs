//! Against iputils ping, and through a router that refuses, made of namespaces with ip (needs root).

use std::fs::File;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns};
use tenbin_core::stats;

use super::*;

/// Whether `program` can be used; says what is skipped. In CI a missing peer is a failure.
fn have(program: &str) -> bool {
    let there = Command::new(program).arg("-V").output().is_ok();
    assert!(there || std::env::var_os("CI").is_none(), "needs {program}");
    if !there {
        println!("skipped: needs {program}");
    }
    there
}

#[test]
fn figures_agree_with_iputils() {
    if !have("ping") {
        return;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let count = 60;
    for round in 0..4 {
        let mut we = || {
            let params = [("count", Value::Count(count)), ("interval", Value::Seconds(0.02))];
            let rec = run(&job(HERE, &params))?.unwrap();
            assert_eq!(rec.series[0].samples.len() as u64, count);
            ours.push(stats::median(&rec.series[0].values())?);
            Some(())
        };
        let mut they = || {
            let args = ["-n", "-c", &count.to_string(), "-i", "0.02", "127.0.0.1"];
            let output = Command::new("ping").args(args).output().unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            let times = text.lines().filter_map(|line| line.split_once("time=")?.1.strip_suffix(" ms"));
            let seconds: Vec<f64> = times.map(|time| time.parse::<f64>().unwrap() / 1e3).collect();
            theirs.push(stats::median(&seconds).unwrap());
        };
        if round % 2 == 0 {
            they();
        }
        if we().is_none() {
            return;
        }
        if round % 2 == 1 {
            they();
        }
    }
    let (us, them) = (stats::median(&ours).unwrap(), stats::median(&theirs).unwrap());
    println!("ours {ours:?}, theirs {theirs:?}");
    // Loopback on a busy machine: the same order, not the same value.
    assert!(us < 5.0 * them && them < 5.0 * us, "ours {us} s, theirs {them} s");
}

/// Three namespaces in a row, left - router - right; gone when dropped.
struct Row {
    prefix: String,
}

impl Row {
    fn new() -> Option<Row> {
        if !have("ip") || !nix::unistd::Uid::effective().is_root() {
            println!("skipped: needs ip and root");
            return None;
        }
        let row = Row { prefix: format!("tbp{}", std::process::id()) };
        let [left, router, right] = ["l", "m", "r"].map(|end| row.name(end));
        let mut script = format!("netns add {left}\nnetns add {router}\nnetns add {right}\n");
        script += &format!("link add name ea mtu 1500 netns {left} type veth peer name ea netns {router}\n");
        script += &format!("link add name eb mtu 1500 netns {right} type veth peer name eb netns {router}\n");
        ip(&[], &script);
        ip(
            &["-n", &left],
            "link set lo up\naddr add 10.9.1.1/24 dev ea\naddr add fd09:1::1/64 dev ea nodad\nlink set ea up\n",
        );
        ip(&["-n", &left], "route add default via 10.9.1.2\nroute add default via fd09:1::2\n");
        let middle = "addr add 10.9.1.2/24 dev ea\naddr add fd09:1::2/64 dev ea nodad\n\
                      addr add 10.9.2.2/24 dev eb\naddr add fd09:2::2/64 dev eb nodad\n\
                      link set ea up\nlink set eb mtu 1280 up\n";
        ip(&["-n", &router], middle);
        ip(
            &["-n", &right],
            "addr add 10.9.2.1/24 dev eb\naddr add fd09:2::1/64 dev eb nodad\nlink set eb up\n",
        );
        ip(&["-n", &right], "route add default via 10.9.2.2\nroute add default via fd09:2::2\n");
        let forward =
            "echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding";
        let status = Command::new("ip").args(["netns", "exec", &router, "sh", "-c", forward]).status();
        assert!(status.unwrap().success());
        // IPv6 routers take their time before they answer.
        let args = ["netns", "exec", &left, "ping", "-c", "1", "-w", "10", "fd09:2::1"];
        let output = Command::new("ip").args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        Some(row)
    }

    fn name(&self, end: &str) -> String {
        format!("{}{end}", self.prefix)
    }

    /// Runs the engine in the left namespace. `unprivileged`: by the datagram socket.
    fn ping(&self, peer: &str, unprivileged: bool, params: &[(&str, Value)]) -> Result<Recorder, RunError> {
        let group = if unprivileged { "0 0" } else { "1 0" };
        let set = format!("echo {group} > /proc/sys/net/ipv4/ping_group_range");
        let left = self.name("l");
        let status = Command::new("ip").args(["netns", "exec", &left, "sh", "-c", &set]).status();
        assert!(status.unwrap().success());
        let mut all = vec![
            ("count", Value::Count(3)),
            ("interval", Value::Seconds(0.02)),
            ("timeout", Value::Seconds(0.5)),
        ];
        all.extend_from_slice(params);
        let job = job(peer.parse().unwrap(), &all);
        let namespace = File::open(format!("/run/netns/{left}")).unwrap();
        let there = thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            let mut rec = Recorder::default();
            Ping.run(&job, &mut rec, &Stop::default()).map(|()| rec)
        });
        there.join().unwrap()
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for end in ["l", "m", "r"] {
            let _ = Command::new("ip").args(["netns", "del", &self.name(end)]).status();
        }
    }
}

fn ip(before: &[&str], script: &str) {
    for line in script.lines() {
        let status = Command::new("ip").args(before).args(line.split_whitespace()).status();
        assert!(status.unwrap().success(), "ip {before:?} {line}");
    }
}

#[test]
fn errors_on_the_way_are_told_apart() {
    let Some(row) = Row::new() else { return };
    for unprivileged in [false, true] {
        let fails = |peer: &str, params: &[(&str, Value)], wanted: &str| {
            let error = row.ping(peer, unprivileged, params).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some(wanted), "unprivileged {unprivileged}");
        };
        let socket = if unprivileged { "datagram" } else { "raw" };
        for peer in ["10.9.2.1", "fd09:2::1"] {
            let rec = row.ping(peer, unprivileged, &[]).unwrap();
            assert_eq!(value(&rec, &PACKETS_RECEIVED), 3.0);
            let fact = &rec.facts.iter().find(|(key, _)| key == "ping.socket").unwrap().1;
            assert_eq!(fact.value, Some(socket.into()), "{peer}");
        }
        let ttl = [("ttl", Value::Count(1))];
        fails(
            "10.9.2.1",
            &ttl,
            "cannot reach 10.9.2.1: none of 3 requests was answered; \
             3 refused: time to live exceeded (from 10.9.1.2)",
        );
        fails(
            "fd09:2::1",
            &ttl,
            "cannot reach fd09:2::1: none of 3 requests was answered; \
             3 refused: time to live exceeded (from fd09:1::2)",
        );
        // The first is refused by the router; then this host knows the path and refuses by itself.
        let large = [("size", Value::Count(1400)), ("dont_fragment", Value::Switch(true))];
        let first = |from: &str, what: &str| {
            format!(
                "none of 3 requests was answered; 3 refused: {what}: the path takes 1280 bytes (from {from})"
            )
        };
        if !unprivileged {
            let why = first("10.9.1.2", "fragmentation needed");
            fails("10.9.2.1", &large, &format!("cannot reach 10.9.2.1: {why}"));
            let why = first("fd09:1::2", "packet too big");
            fails("fd09:2::1", &large, &format!("cannot reach fd09:2::1: {why}"));
        }
        let why =
            "none of 3 requests was answered; 3 refused: the packet is larger than the MTU of 1280 bytes";
        fails("10.9.2.1", &large, &format!("cannot reach 10.9.2.1: {why}"));
        fails(
            "10.9.1.2",
            &[("size", Value::Count(1473)), ("dont_fragment", Value::Switch(true))],
            "cannot reach 10.9.1.2: none of 3 requests was answered; \
             3 refused: the packet is larger than the MTU of 1500 bytes",
        );
        // Nobody answers ARP: the own host says so after a while.
        let patient = [("count", Value::Count(1)), ("timeout", Value::Seconds(8.0))];
        fails(
            "10.9.1.77",
            &patient,
            "cannot reach 10.9.1.77: the request was not answered; \
             1 refused: host unreachable (from 10.9.1.1)",
        );
        fails(
            "10.9.1.78",
            &[("count", Value::Count(2))],
            "cannot reach 10.9.1.78: none of 2 requests was answered",
        );
    }
}
