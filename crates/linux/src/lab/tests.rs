use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::net::ethtool::{Offload, driver, link_mode, offload};
use crate::net::{link, queue, route_to};

/// A lab, or `None` where this user cannot have one in a process of many threads.
pub(crate) fn lab(link: LinkSpec) -> Option<Lab> {
    if !namespace::may_administer() {
        assert!(std::env::var_os("CI").is_none(), "CI is root");
        println!("skipped: needs root");
        return None;
    }
    let names = vec!["left".to_owned(), "right".to_owned()];
    Some(Lab::up(&LabSpec { names, link }).unwrap())
}

fn bucket(rate_bps: u64) -> LinkSpec {
    LinkSpec { rate_bps: Some(rate_bps), overhead_bytes: 24, wire_segments: true, ..LinkSpec::default() }
}

#[test]
fn hosts_reach_each_other() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    assert_eq!(lab.names().collect::<Vec<_>>(), ["left", "right"]);
    for to in [lab.address("right").unwrap(), lab.address_v6("right").unwrap()] {
        let listener = lab.run("right", move || TcpListener::bind((to, 0)).unwrap()).unwrap();
        let datagrams = lab.run("right", move || UdpSocket::bind((to, 0)).unwrap()).unwrap();
        let (tcp, udp) = (listener.local_addr().unwrap(), datagrams.local_addr().unwrap());
        let server = lab.spawn("right", move || {
            listener.accept().unwrap().0.write_all(b"stream").unwrap();
            let mut word = [0; 16];
            let (length, from) = datagrams.recv_from(&mut word).unwrap();
            datagrams.send_to(&word[..length], from).unwrap();
        });
        let client = lab.run("left", move || {
            let mut text = String::new();
            TcpStream::connect(tcp).unwrap().read_to_string(&mut text).unwrap();
            let socket = UdpSocket::bind((if to.is_ipv4() { "0.0.0.0" } else { "::" }, 0)).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            socket.send_to(b"datagram", udp).unwrap();
            let mut word = [0; 16];
            let length = socket.recv(&mut word).unwrap();
            (text, String::from_utf8_lossy(&word[..length]).into_owned(), route_to(to).unwrap())
        });
        let (stream, datagram, route) = client.unwrap();
        server.unwrap().join().unwrap();
        assert_eq!((stream.as_str(), datagram.as_str()), ("stream", "datagram"));
        assert_eq!((route.interface.as_str(), route.mtu, route.local), (INTERFACE, 1500, false));
        let source = if to.is_ipv4() { lab.address("left") } else { lab.address_v6("left") };
        assert_eq!(route.source, source);
    }
}

#[test]
fn a_host_sees_only_its_own() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    let outside: Vec<String> = net::links().unwrap().into_iter().map(|link| link.name).collect();
    let here = fs::canonicalize(".").unwrap();
    let groups = Path::new("/sys/fs/cgroup").read_dir().map_or(0, Iterator::count);
    lab.run("right", move || {
        let mut names: Vec<String> = net::links().unwrap().into_iter().map(|link| link.name).collect();
        names.sort();
        assert!(names.contains(&"lo".to_owned()) && names.contains(&INTERFACE.to_owned()), "{names:?}");
        let mut shown: Vec<String> = Path::new("/sys/class/net")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        shown.sort();
        assert_eq!(shown, names);
        let mac = fs::read_to_string(format!("/sys/class/net/{INTERFACE}/address")).unwrap();
        assert_eq!(mac.trim(), "02:74:65:6e:00:02");
        assert_eq!(fs::canonicalize(".").unwrap(), here);
        assert_eq!(Path::new("/sys/fs/cgroup").read_dir().map_or(0, Iterator::count), groups);
        // Born here, too.
        let child = std::thread::spawn(|| link(INTERFACE).unwrap().mtu).join().unwrap();
        assert_eq!(child, 1500);
        let program = Command::new("cat").arg(format!("/sys/class/net/{INTERFACE}/mtu")).output().unwrap();
        assert_eq!(program.stdout, b"1500\n");
    })
    .unwrap();
    assert_eq!(outside, net::links().unwrap().into_iter().map(|link| link.name).collect::<Vec<_>>());
}

#[test]
fn links_are_as_specified() {
    let read = |lab: &Lab, host: &str| {
        lab.run(host, || {
            let link = link(INTERFACE).unwrap();
            assert_eq!((link.kind.as_str(), link.up, link.carrier), ("veth", true, true));
            let tso = offload(INTERFACE, Offload::Tso).unwrap();
            (link.mtu, link.gso_max_segs, tso, queue(INTERFACE).unwrap().1)
        })
        .unwrap()
    };
    let Some(lab) = lab(LinkSpec { mtu: 65535, ..LinkSpec::default() }) else { return };
    for host in ["left", "right"] {
        assert_eq!(read(&lab, host), (65535, 65535, true, None));
    }
    let check = |spec: LinkSpec, mtu: u32, segments: u32, tso: bool| {
        lab.set_link(&spec).unwrap();
        for host in ["left", "right"] {
            let (found_mtu, found_segments, found_tso, bucket) = read(&lab, host);
            assert_eq!((found_mtu, found_segments, found_tso), (mtu, segments, tso), "{spec:?}");
            assert_eq!(bucket.map(|b| b.rate), spec.rate_bps);
            if let Some(bucket) = bucket {
                assert_eq!(u32::from(bucket.overhead), spec.overhead_bytes);
                let share = f64::from(bucket.burst) / spec.burst_bytes as f64;
                assert!((share - 1.0).abs() < 0.001, "{bucket:?} for {spec:?}");
            }
        }
    };
    check(bucket(100_000_000), 1500, 1, true);
    check(LinkSpec { mtu: 9000, offload: Some(false), ..bucket(25_000_000_000) }, 9000, 1, false);
    // Above 2^32 byte/s.
    check(
        LinkSpec { wire_segments: false, offload: Some(true), ..bucket(100_000_000_000) },
        1500,
        65535,
        true,
    );
    check(LinkSpec { burst_bytes: 2000, offload: Some(false), ..bucket(1_000_000) }, 1500, 1, false);
    check(LinkSpec { mtu: 9000, ..LinkSpec::default() }, 9000, 65535, true);
    // IPv6 goes below 1280 and comes back.
    check(LinkSpec { mtu: 576, ..LinkSpec::default() }, 576, 65535, true);
    check(LinkSpec::default(), 1500, 65535, true);
    assert_eq!(lab.run("left", || net::addresses(INTERFACE).unwrap().len()).unwrap(), 2);
    let speed =
        lab.run("left", || (link_mode(INTERFACE).unwrap(), driver(INTERFACE).unwrap().driver)).unwrap();
    assert_eq!((speed.0.speed_bps, speed.1.as_str()), (Some(10_000_000_000), "veth"));
}

#[test]
fn impossible_labs_are_refused() {
    let check = |names: &[&str], link: LinkSpec, expected: &str| {
        if !namespace::may_administer() {
            return;
        }
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let error = Lab::up(&LabSpec { names, link }).err().expect(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    let two = ["left", "right"];
    let plain = LinkSpec::default;
    check(&[], plain(), "a lab joins two hosts with a name each, not none");
    check(&["left"], plain(), "not \"left\" alone");
    check(&["left", "left"], plain(), "not \"left\", \"left\"");
    check(&["a", "b", "c"], plain(), "not \"a\", \"b\", \"c\"");
    check(
        &two,
        LinkSpec { mtu: 65536, ..plain() },
        "lab host left: cannot set mtu 65536 on eth0: it takes 68 to 65535",
    );
    check(&two, LinkSpec { mtu: 10, ..plain() }, "cannot set mtu 10 on eth0: it takes 68 to 65535");
    check(
        &two,
        LinkSpec { burst_bytes: 1000, ..bucket(1_000_000) },
        "lets no packet of 1514 byte pass\nhint: raise",
    );
    check(&two, LinkSpec { burst_bytes: 1 << 32, ..bucket(1_000_000) }, "does not fit in 32 bits");
    check(&two, LinkSpec { overhead_bytes: 1 << 16, ..bucket(1_000_000) }, "does not fit in 16 bits");
    check(&two, bucket(7), "less than a byte a second");
}

#[test]
fn unknown_hosts_are_named() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    let error = lab.spawn("middle", || ()).err().unwrap();
    assert_eq!(error.to_string(), "the lab has no host \"middle\"\nhint: it has left and right");
    assert_eq!(lab.address("middle"), None);
    assert!(lab.run("left", || panic!("on purpose")).is_err());
}

/// The example `lab`, where every user may run it.
fn program() -> (tempfile::TempDir, PathBuf) {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap().parent().unwrap().join("examples/lab");
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("lab");
    fs::copy(&built, &program)
        .unwrap_or_else(|e| panic!("{}: {e}: run `cargo build --examples`", built.display()));
    (folder, program)
}

/// Whether this process can become somebody else.
fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root() && namespace::may_administer();
    assert!(root || std::env::var_os("CI").is_none(), "CI is root");
    if !root {
        println!("skipped: needs root");
    }
    root
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn any_user_has_a_lab() {
    if !is_root() {
        return;
    }
    let (_folder, program) = program();
    for user in [0, 65534] {
        let output = Command::new(&program).uid(user).gid(user).current_dir("/").output().unwrap();
        let said = text(&output);
        if user != 0 && said.contains("hint: run as root") && std::env::var_os("CI").is_none() {
            println!("skipped: {said}");
            continue;
        }
        assert!(output.status.success(), "user {user}: {said}");
        assert!(said.contains("10.117.0.2 says hello\nfd00:7e::2 says hello\n"), "{said}");
        let echo = if user == 0 { "0 2147483647" } else { "0 0" };
        assert!(said.contains(&format!("with mtu 9000 in /sys, echo for groups {echo}")), "{said}");
    }
}

#[test]
fn forbidden_namespaces_are_explained() {
    if !is_root() {
        return;
    }
    let (_folder, program) = program();
    // In a user namespace of its own, so that the limit holds for nobody else.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all \"$0\"";
    let output = Command::new("unshare").args(["-Ur", "sh", "-c", script]).arg(&program).output().unwrap();
    assert_eq!(
        text(&output),
        "error: cannot make a user namespace: no space left on device\nhint: run as root, or allow user namespaces: \
         sysctl user.max_user_namespaces=10000\n"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn nothing_is_left_after_kill() {
    if !is_root() {
        return;
    }
    let (_folder, program) = program();
    let links = || net::links().unwrap().into_iter().map(|link| link.name).collect::<Vec<_>>();
    let before = links();
    for user in [0, 65534] {
        let mut command = Command::new(&program);
        command.arg("hold").uid(user).gid(user).current_dir("/").stdout(Stdio::piped());
        let mut holder = command.spawn().unwrap();
        let mut namespaces = Vec::new();
        let mut child = None;
        for line in BufReader::new(holder.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(at) = line.find("net:[") {
                namespaces.push(line[at..=line.find(']').unwrap()].to_owned());
            }
            if let Some(number) = line.strip_prefix("holding ") {
                child = Some(number.to_owned());
                break;
            }
        }
        let Some(child) = child else {
            assert!(user != 0 && std::env::var_os("CI").is_none(), "no lab for user {user}");
            println!("skipped: user {user} cannot have a lab");
            holder.wait().unwrap();
            continue;
        };
        assert_eq!(namespaces.len(), 2);
        assert!(users_of(&namespaces).contains(&child), "the child is not on its host");
        holder.kill().unwrap();
        holder.wait().unwrap();
        let patience = Instant::now() + Duration::from_secs(10);
        while !users_of(&namespaces).is_empty() {
            assert!(Instant::now() < patience, "{:?} still live in {namespaces:?}", users_of(&namespaces));
            std::thread::sleep(Duration::from_millis(10));
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!namespaces.iter().any(|namespace| mounts.contains(namespace)), "{mounts}");
    }
    assert_eq!(links(), before);
}

/// Which processes live in those network namespaces, or hold a descriptor of them.
fn users_of(namespaces: &[String]) -> Vec<String> {
    let ours = |path: PathBuf| {
        fs::read_link(path)
            .is_ok_and(|to| namespaces.iter().any(|namespace| to.as_os_str() == namespace.as_str()))
    };
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    let mut users = Vec::new();
    for process in entries("/proc".into()) {
        let lives = entries(process.path().join("task")).any(|task| ours(task.path().join("ns/net")));
        let holds = entries(process.path().join("fd")).any(|fd| ours(fd.path()));
        if lives || holds {
            users.push(process.file_name().to_string_lossy().into_owned());
        }
    }
    users
}
