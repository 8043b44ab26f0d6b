//! Three machines kept as files, broken files, and this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tenbin_core::env::{Environment, Fact};

use super::*;

fn machine(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/machines").join(name)
}

fn probed(name: &str) -> Environment {
    all(&SysRoot::dir(&machine(name)).unwrap())
}

fn shown(fact: Option<&Fact>) -> String {
    match fact {
        None => "no fact".to_owned(),
        Some(Fact { value: Some(value), unit: Some(unit), .. }) if unit.name() != "none" => {
            format!("{value} {}", unit.name())
        }
        Some(Fact { value: Some(value), .. }) => value.to_string(),
        Some(Fact { absent: true, .. }) => "absent".to_owned(),
        Some(Fact { error, .. }) => format!("error: {}", error.as_deref().unwrap_or_default()),
    }
}

fn check(env: &Environment, key: &str, expected: &str) {
    let got = shown(env.facts.get(key));
    assert!(
        got == expected || (expected.ends_with("...") && got.starts_with(expected.trim_end_matches('.'))),
        "{key}: {got}, expected {expected}"
    );
}

#[test]
fn a_small_virtual_machine() {
    let env = probed("vm-virtio");
    check(&env, "kernel.release", "6.18.44");
    check(&env, "kernel.cmdline", "console=ttyS0 root=/dev/vda rw");
    check(&env, "kernel.lsm", "absent");
    check(&env, "os.name", "Debian GNU/Linux 12 (bookworm)");
    check(&env, "cpu.model", "Intel(R) Xeon(R) Processor");
    check(&env, "cpu.online", "2 count");
    check(&env, "cpu.microcode", "0x1");
    check(&env, "cpu.smt", "notsupported");
    check(&env, "cpu.smt_active", "off");
    check(&env, "cpu.isolated", "");
    check(&env, "cpu.governor", "absent");
    check(&env, "cpu.turbo", "absent");
    check(&env, "cpu.clocksource", "tsc");
    check(&env, "cpu.mitigations", "mitigated: spectre_v1; vulnerable: retbleed");
    check(&env, "cpu.vulnerability.meltdown", "Not affected");
    check(&env, "platform.vendor", "absent");
    check(&env, "virt.guest", "on");
    check(&env, "memory.total", "25276502016 byte");
    check(&env, "memory.thp", "madvise");
    check(&env, "memory.numa_nodes", "1 count");
    check(&env, "net.eth0.driver", "virtio_net");
    check(&env, "net.eth0.speed", "absent");
    assert!(env.facts["net.eth0.speed"].source.contains("the driver knows no speed"));
    check(&env, "net.eth0.duplex", "absent");
    check(&env, "net.eth0.mtu", "1400 byte");
    check(&env, "net.eth0.carrier", "on");
    check(&env, "net.eth0.pci", "0000:00:03.0");
    check(&env, "net.eth0.rx_queues", "1 count");
    check(&env, "net.ifb0.speed", "error: invalid argument: down, or a link without it");
    check(&env, "net.ifb0.carrier", "error: invalid argument...");
    check(&env, "net.ifb0.driver", "ifb");
    check(&env, "net.ifb0.kind", "ifb");
    check(&env, "net.eth0.kind", "absent");
    check(&env, "net.eth0.qdisc", "fq_codel");
    check(&env, "net.eth0.firmware", "absent");
    check(&env, "net.eth0.offload.gro", "on");
    check(&env, "net.eth0.tbf.rate", "no fact");
    check(&env, "pci.0000:00:03.0.vendor", "0x1af4");
    check(&env, "pci.0000:00:03.0.link_speed", "absent");
    check(&env, "pci.0000:00:03.0.path_rate", "no fact");
    check(&env, "net.tcp.congestion", "cubic");
    check(&env, "net.tcp.rmem", "4096 131072 6291456");
    check(&env, "net.core.rmem_max", "212992 byte");
    check(&env, "limits.cpu_quota", "1.5 count");
    check(&env, "limits.affinity", "0-1");
    check(&env, "limits.memlock", "8388608 byte");
    check(&env, "noise.psi_cpu", "0.0057 ratio");
    check(&env, "noise.throttle_count", "absent");
    check(&env, "noise.temperature", "absent");
}

#[test]
fn a_server_whose_fast_port_sits_behind_a_narrow_hop() {
    let env = probed("server-mlx5-25g");
    check(&env, "cpu.governor", "powersave");
    check(&env, "cpu.driver", "intel_pstate");
    check(&env, "cpu.max_frequency", "3700000000 hertz");
    check(&env, "cpu.turbo", "on");
    check(&env, "cpu.smt", "on");
    check(&env, "cpu.isolated", "2-3");
    check(&env, "virt.guest", "off");
    check(&env, "platform.product", "PowerEdge R640");
    check(&env, "kernel.lsm", "error: permission denied");
    check(&env, "memory.numa_nodes", "2 count");
    check(&env, "net.enp61s0f0np0.driver", "mlx5_core");
    check(&env, "net.enp61s0f0np0.firmware", "14.32.1010 (MT_0000000080)");
    check(&env, "net.enp61s0f0np0.speed", "25000000000 bit/s");
    check(&env, "net.enp61s0f0np0.duplex", "full");
    check(&env, "net.enp61s0f0np0.mtu", "9000 byte");
    check(&env, "net.enp61s0f0np0.pci", "0000:3d:00.0");
    check(&env, "net.enp61s0f1np1.speed", "error: invalid argument...");
    check(&env, "net.bonding_masters.mtu", "no fact");
    check(&env, "pci.0000:3d:00.0.link_speed", "8000000000 bit/s");
    check(&env, "pci.0000:3d:00.0.link_width", "8 count");
    check(&env, "pci.0000:3d:00.0.max_link_width", "8 count");
    check(&env, "pci.0000:3b:00.0.link_width", "4 count");
    check(&env, "pci.0000:3d:00.0.path_slowest", "0000:3a:00.0");
    check(&env, "pci.0000:3d:00.0.path_rate", "31507692308 bit/s");
    check(&env, "pci.0000:3d:00.0.aer_dev_correctable", "2 count");
    check(&env, "limits.cpu_quota", "absent");
    check(&env, "limits.memlock", "unlimited");
    check(&env, "noise.throttle_count", "3 count");
    check(&env, "noise.temperature", "61 celsius");
    check(&env, "noise.headroom", "36 celsius");
    check(&env, "noise.psi_io", "absent");
    let texts: Vec<String> = warnings(&env).into_iter().map(|caveat| caveat.text).collect();
    assert_eq!(
        texts,
        [
            "tasks waited for a CPU in this share of the last 10 s: 12 % (limit 5.0 %)",
            "5 other tasks are running on 8 CPUs",
            "the CPU frequency governor is powersave, not performance: clocks follow the load",
            "enp61s0f0np0: the PCIe path of 0000:3d:00.0 is slowest at 0000:3a:00.0, 8 GT/s x4, 31.5 Gbit/s",
            "enp61s0f1np1: the PCIe path of 0000:3d:00.1 is slowest at 0000:3a:00.0, 8 GT/s x4, 31.5 Gbit/s",
        ]
    );
}

#[test]
fn a_lab_host() {
    let env = probed("lab-veth");
    check(&env, "net.lab0.driver", "veth");
    check(&env, "net.lab0.kind", "veth");
    check(&env, "net.lab0.qdisc", "tbf");
    check(&env, "net.lab0.tbf.rate", "25000000000 bit/s");
    check(&env, "net.lab0.tbf.burst", "8388608 byte");
    check(&env, "net.lab0.tbf.overhead", "24 byte");
    check(&env, "net.lab0.gso_max_segs", "1 count");
    check(&env, "net.lab0.offload.tso", "off");
    check(&env, "net.lab0.offload.tx_checksum", "off");
    check(&env, "net.lo.driver", "absent");
    check(&env, "net.lo.offload.tso", "absent");
    check(&env, "net.lab0.speed", "10000000000 bit/s");
    check(&env, "net.lab0.mtu", "9000 byte");
    check(&env, "net.lab0.pci", "no fact");
    check(&env, "net.lo.speed", "error: invalid argument...");
    check(&env, "net.eth0.mtu", "no fact");
    check(&env, "net.core.rmem_max", "absent");
    check(&env, "net.tcp.timestamps", "1");
    assert!(warnings(&env).iter().all(|caveat| !caveat.text.contains("PCIe")));
}

#[test]
fn a_link_below_what_it_could_be_is_told() {
    let mut env = probed("server-mlx5-25g");
    let slow = Fact::new(Class::State, 2i64, "test").in_unit(Unit::Count);
    env.insert("pci.0000:3d:00.0.link_width", slow);
    env.insert("pci.0000:3d:00.0.path_rate", Fact::new(Class::State, 1.57e10, "test"));
    let texts: Vec<String> = warnings(&env).into_iter().map(|caveat| caveat.text).collect();
    assert!(
        texts.iter().any(|text| text
            == "enp61s0f0np0: the PCIe link of 0000:3d:00.0 runs at 8 GT/s x2, it could 8 GT/s x8"),
        "{texts:?}"
    );
    assert!(
        texts.iter().any(|text| text
            == "enp61s0f0np0: its PCIe path carries 15.7 Gbit/s, less than the port's 25.0 Gbit/s"),
        "{texts:?}"
    );
}

/// Every file of a machine in turn becomes junk; facts turn into errors, nothing else happens.
#[test]
fn broken_files_are_errors_of_single_facts() {
    let junk: [&[u8]; 5] =
        [b"\xff\xfe\x00\x01", b"", b"-99999999999999999999", b"cpu  1 2\n[: - , x", &[b'9'; (1 << 20) + 5]];
    for (index, bytes) in junk.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        copy(&machine("server-mlx5-25g"), dir.path(), bytes);
        let env = all(&SysRoot::dir(dir.path()).unwrap());
        assert!(env.facts.len() > 100, "{index}");
        assert_eq!(env.number("net.enp61s0f0np0.mtu"), None, "{index}");
        let _ = warnings(&env);
    }
}

/// Copies a tree with the content of every file replaced.
fn copy(from: &Path, to: &Path, content: &[u8]) {
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from).unwrap(), to).unwrap();
        } else if from.is_dir() {
            fs::create_dir(&to).unwrap();
            if from.file_name().is_none_or(|name| name != "tenbin") {
                copy(&from, &to, content);
            }
        } else {
            fs::write(to, content).unwrap();
        }
    }
}

#[test]
fn an_empty_directory_has_only_absent_facts() {
    let dir = tempfile::tempdir().unwrap();
    let env = all(&SysRoot::dir(dir.path()).unwrap());
    for (key, fact) in &env.facts {
        assert!(fact.absent, "{key}: {fact:?}");
    }
    assert!(warnings(&env).is_empty());
}

#[test]
fn this_machine_answers_quickly() {
    let sys = SysRoot::live();
    let began = Instant::now();
    let env = all(&sys);
    // A generous bound: it is a few milliseconds on an idle machine.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(env.text("kernel.release").is_some());
    assert!(env.number("cpu.online").is_some_and(|n| n >= 1.0));
    assert!(env.number("memory.total").is_some_and(|n| n > 1e6));
    for (key, fact) in &env.facts {
        let shapes = [fact.value.is_some(), fact.absent, fact.error.is_some()];
        assert_eq!(shapes.iter().filter(|shape| **shape).count(), 1, "{key}");
    }
}

/// A lab host is a thread with a network namespace and a `/sys` of its own.
#[test]
fn a_thread_in_a_namespace_sees_its_own_interfaces() {
    let probed = std::thread::spawn(|| {
        use nix::mount::{MsFlags, mount};
        use nix::sched::{CloneFlags, unshare};
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)?;
        mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
        mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), None::<&str>)?;
        let sys = SysRoot::live();
        Ok::<_, nix::errno::Errno>((all(&sys), sys.read(&sys.net("dev")).unwrap()))
    });
    match probed.join().unwrap() {
        Ok((env, dev)) => {
            check(&env, "net.lo.operstate", "down");
            check(&env, "net.lo.mtu", "65536 byte");
            assert!(!dev.contains("eth0") && dev.contains("lo:"), "{dev}");
            let real = env.facts.keys().filter(|key| key.starts_with("net.") && key.ends_with(".pci"));
            assert_eq!(real.count(), 0);
        }
        Err(_) => println!("skipped: needs root"),
    }
}

#[test]
fn lists_of_numbers() {
    for (text, expected) in [
        ("0-3,8", Some(5)),
        ("0", Some(1)),
        ("", Some(0)),
        ("3-1", None),
        ("a", None),
        ("-1", None),
        ("0-9223372036854775807", None),
    ] {
        assert_eq!(count_of_list(text), expected, "{text}");
    }
}
