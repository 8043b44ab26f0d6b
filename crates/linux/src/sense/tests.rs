//! Runs on machines kept as files, with something happening between the two looks, and on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use tenbin_core::taint::TaintLevel;

use super::*;

const SERVER: &str = "server-mlx5-25g";
const PORT: &str = "enp61s0f0np0";
const PORT_DIR: &str = "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:08.0/0000:3d:00.0";

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from).unwrap(), to).unwrap();
        } else if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Watches a copy of `machine`, itself changed by `first`, while each file of `meanwhile` gets a new content.
/// `None` removes it.
fn watched(machine: &str, first: &[(&str, &str)], meanwhile: &[(&str, Option<&str>)]) -> Sensed {
    let dir = tempfile::tempdir().unwrap();
    let from: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../testdata/machines", machine].iter().collect();
    copy(&from, dir.path());
    for (file, text) in first {
        fs::write(dir.path().join(file), text).unwrap();
    }
    let interface = match machine {
        SERVER => PORT,
        "vm-virtio" => "eth0",
        _ => "lab0",
    };
    let watch =
        Watch::start(&SysRoot::dir(dir.path()).unwrap(), &[interface.to_owned()], Tolerance::default());
    for (file, text) in meanwhile {
        match text {
            Some(text) => fs::write(dir.path().join(file), text).unwrap(),
            None => fs::remove_file(dir.path().join(file)).unwrap(),
        }
    }
    watch.finish()
}

/// On the server with its governor at rest, so that only what happens meanwhile is judged.
fn check(meanwhile: &[(&str, Option<&str>)], level: TaintLevel, reason: &str) {
    let governors: Vec<String> =
        (0..8).map(|n| format!("sys/devices/system/cpu/cpufreq/policy{n}/scaling_governor")).collect();
    let first: Vec<(&str, &str)> = governors.iter().map(|file| (file.as_str(), "performance")).collect();
    let sensed = watched(SERVER, &first, meanwhile);
    assert_eq!(sensed.taint.level, level, "{meanwhile:?}: {:?}", sensed.taint);
    let found = sensed.taint.reasons.iter().any(|text| text.contains(reason));
    assert!(found || (reason.is_empty() && sensed.taint.reasons.is_empty()), "{:?}", sensed.taint);
}

const STAT: &str = "proc/stat";

#[test]
fn nothing_happens() {
    check(&[], TaintLevel::Clean, "");
    for machine in ["vm-virtio", "lab-veth"] {
        let sensed = watched(machine, &[], &[]);
        assert_eq!(sensed.taint, Taint::clean(), "{machine}");
        assert!(sensed.caveats.is_empty());
    }
}

#[test]
fn counters_that_spoil_a_run() {
    let throttle = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    check(&[(throttle, Some("4"))], TaintLevel::Invalid, "throttle_count 3 -> 4");
    let port = |file: &str| format!("{PORT_DIR}/net/{PORT}/{file}");
    check(
        &[(&port("carrier_changes"), Some("4"))],
        TaintLevel::Invalid,
        "enp61s0f0np0 carrier_changes 2 -> 4",
    );
    check(&[(&port("mtu"), Some("1500"))], TaintLevel::Invalid, "enp61s0f0np0 mtu 9000 -> 1500");
    check(&[(&port("speed"), Some("10000"))], TaintLevel::Invalid, "speed 25000 -> 10000");
    check(&[(&port("statistics/rx_errors"), Some("1"))], TaintLevel::Suspect, "rx_errors 0 -> 1");
    let few = [(port("statistics/rx_dropped"), "9"), (port("statistics/rx_packets"), "100")];
    check(&[(&few[0].0, Some(few[0].1)), (&few[1].0, Some(few[1].1))], TaintLevel::Clean, "");
    let many = [(port("statistics/rx_dropped"), "50"), (port("statistics/rx_packets"), "1000")];
    check(
        &[(&many[0].0, Some(many[0].1)), (&many[1].0, Some(many[1].1))],
        TaintLevel::Suspect,
        "rx_dropped 0 -> 50, 5.0 % of 1000",
    );
    let width = format!("{PORT_DIR}/current_link_width");
    check(&[(&width, Some("2"))], TaintLevel::Invalid, "0000:3d:00.0 current_link_width 8 -> 2");
    let hop = "sys/devices/pci0000:3a/0000:3a:00.0/current_link_speed";
    check(&[(hop, Some("2.5 GT/s PCIe"))], TaintLevel::Invalid, "8.0 GT/s PCIe -> 2.5 GT/s PCIe");
    let aer = format!("{PORT_DIR}/aer_dev_correctable");
    check(&[(&aer, Some("TOTAL_ERR_COR 3"))], TaintLevel::Suspect, "0000:3d:00.0 pci_corrected 2 -> 3");
    let ue = "sys/devices/system/edac/mc/mc0/ue_count";
    check(&[(ue, Some("1"))], TaintLevel::Invalid, "mc0 memory_uncorrected 0 -> 1");
    check(&[("proc/vmstat", Some("pswpin 0\npswpout 9"))], TaintLevel::Suspect, "swapped_pages 0 -> 9");
    check(&[("proc/vmstat", Some("pswpin 0\npswpout 900"))], TaintLevel::Invalid, "swapped_pages 0 -> 900");
    let group = "sys/fs/cgroup/user.slice/cpu.stat";
    check(
        &[(group, Some("throttled_usec 60000000"))],
        TaintLevel::Invalid,
        "cgroup_throttled 0 -> 60000000 us",
    );
    let heat = "sys/class/hwmon/hwmon0/temp3_input";
    check(
        &[(heat, Some("93000"))],
        TaintLevel::Suspect,
        "coretemp Core 1 reached 93 °C, 4 °C below critical",
    );
}

#[test]
fn times_that_others_took() {
    // Before: cpu  1000 50 2000 996000 500 10 440 0
    check(&[(STAT, Some("cpu 1000 50 2000 996980 500 10 440 20"))], TaintLevel::Suspect, "others 2.0 %");
    check(&[(STAT, Some("cpu 1000 50 2000 996900 500 10 440 100"))], TaintLevel::Invalid, "others 10 %");
    // A single stolen tick of a short run is no evidence.
    check(&[(STAT, Some("cpu 1000 50 2000 996050 500 10 440 1"))], TaintLevel::Clean, "");
    let process = |pid: u32, parent: u32, name: &str, ticks: u32| {
        format!("{pid} ({name}) R {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 1000 0 0")
    };
    let busy = (STAT, Some("cpu 1800 50 2000 996200 500 10 440 0"));
    // We worked, all of it.
    let us = process(500, 400, "tenbin", 810);
    check(&[busy, ("proc/500/stat", Some(&us))], TaintLevel::Clean, "");
    // What init waited for.
    let init = "1 (init) S 0 1 1 0 -1 4194560 100 0 0 0 20 20 800 400 20 0 1 0 10 1000000 100";
    check(&[busy, ("proc/1/stat", Some(init))], TaintLevel::Suspect, "other programs (init) used 80 %");
    // Nobody that we see.
    check(&[busy], TaintLevel::Suspect, "programs that can't be seen from here used 80 %");
}

#[test]
fn what_cannot_be_read_is_not_clean() {
    check(&[("proc/vmstat", Some("pswpin x"))], TaintLevel::Unknown, "cannot read /proc/vmstat");
    let softnet = ("proc/net/softnet_stat", Some("zz 0 0"));
    check(&[softnet], TaintLevel::Unknown, "cannot read /proc/net/softnet_stat");
    check(&[(STAT, Some("junk"))], TaintLevel::Unknown, "cannot read /proc/stat");
    check(&[("sys/class/hwmon/hwmon0/temp1_input", Some("junk"))], TaintLevel::Unknown, "temp1_input");
    // What is gone was there.
    check(&[("sys/devices/system/edac/mc/mc0/ue_count", None)], TaintLevel::Invalid, "is gone");
    let carrier = format!("{PORT_DIR}/net/{PORT}/carrier_changes");
    check(&[(&carrier, None)], TaintLevel::Invalid, "carrier_changes was there before and is gone");
}

#[test]
fn a_governor_that_follows_the_load_is_suspect() {
    let sensed = watched(SERVER, &[], &[]);
    assert_eq!(sensed.taint.reasons, ["the CPU frequency governor is powersave"]);
}

#[test]
fn what_is_told_without_a_verdict() {
    let snmp = "Tcp: OutSegs RetransSegs\nTcp: 6000 40\n";
    let sensed = watched("vm-virtio", &[], &[("proc/net/snmp", Some(snmp))]);
    assert_eq!(sensed.taint.level, TaintLevel::Invalid, "the protocols left out count as gone");
    let snmp = "Tcp: OutSegs RetransSegs\nTcp: 5170 40\n";
    let sensed = watched(
        "vm-virtio",
        &[("proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 5170 0\n")],
        &[("proc/net/snmp", Some(snmp))],
    );
    assert_eq!(sensed.taint.level, TaintLevel::Clean);
    let counters: Vec<(String, f64)> = sensed
        .series
        .iter()
        .filter(|series| series.metric == COUNTER)
        .map(|series| (series.params["counter"].to_string(), series.values()[0]))
        .collect();
    assert_eq!(counters, [("tcp_retransmits".to_owned(), 40.0)]);
}

#[test]
fn a_plan_may_tolerate_what_others_took() {
    let dir = tempfile::tempdir().unwrap();
    let mut before = Snapshot::take(&SysRoot::dir(dir.path()).unwrap(), &[]);
    before.cpu = Ok(stat::CpuTimes::default());
    let mut after = before.clone();
    after.cpu = Ok(stat::CpuTimes { idle: 800, steal: 200, ..stat::CpuTimes::default() });
    for (steal, level) in [(0.05, TaintLevel::Invalid), (0.25, TaintLevel::Suspect)] {
        let second = Duration::from_secs(1);
        let sensed = judge::judge(&before, &after, Some(&[]), second, Tolerance { steal });
        assert_eq!(sensed.taint.level, level, "{steal}");
    }
}

#[test]
fn lateness_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = Snapshot::take(&SysRoot::dir(dir.path()).unwrap(), &[]);
    for (at, level) in [
        (&[1.0, 2.0, 3.0, 3.1][..], TaintLevel::Clean),
        (&[1.0, 2.4, 3.0][..], TaintLevel::Clean),
        (&[1.0, 2.6, 3.6][..], TaintLevel::Suspect),
        (&[1.6][..], TaintLevel::Suspect),
        (&[0.3][..], TaintLevel::Clean),
    ] {
        let ticks: Vec<Tick> =
            at.iter().map(|at| Tick { at: Duration::from_secs_f64(*at), ..Tick::default() }).collect();
        let sensed =
            judge::judge(&snapshot, &snapshot, Some(&ticks), Duration::from_secs(3), Tolerance::default());
        assert_eq!(sensed.taint.level, level, "{at:?}");
    }
    let sensed = judge::judge(&snapshot, &snapshot, None, Duration::from_secs(3), Tolerance::default());
    assert_eq!(sensed.taint.level, TaintLevel::Unknown);
}

#[test]
fn series_have_times_and_stay_unique() {
    let dir = tempfile::tempdir().unwrap();
    let mut snapshot = Snapshot::take(&SysRoot::dir(dir.path()).unwrap(), &[]);
    let cpu = |user, idle| stat::CpuTimes { user, idle, ..stat::CpuTimes::default() };
    snapshot.cpu = Ok(cpu(0, 0));
    let tick = |seconds, user, idle| Tick {
        at: Duration::from_secs(seconds),
        cpu: Some(cpu(user, idle)),
        celsius: Some(50.0 + seconds as f64),
        hertz: None,
    };
    let found = series(&snapshot, &[tick(1, 50, 150), tick(2, 200, 200), tick(2, 201, 200)]);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].metric.name.as_ref(), found[0].values()), ("cpu_busy", vec![0.25, 0.75]));
    assert_eq!(found[1].samples[1], Sample::at(2.0, 52.0));
    assert!(found.iter().all(|series| series.headline.is_none()));
}

#[test]
fn this_machine_is_watched() {
    let watch = Watch::start(&SysRoot::live(), &["lo".to_owned()], Tolerance::default());
    std::thread::sleep(Duration::from_millis(1300));
    let sensed = watch.finish();
    assert!(!sensed.taint.reasons.iter().any(|reason| reason.contains("cannot read")), "{:?}", sensed.taint);
    let busy = sensed.series.iter().find(|series| series.metric == CPU_BUSY).unwrap();
    assert!(busy.values().iter().all(|share| (0.0..=1.0).contains(share)), "{busy:?}");
    // A watch that is dropped ends its thread; finishing at once does not wait for a tick.
    drop(Watch::start(&SysRoot::live(), &[], Tolerance::default()));
    let began = Instant::now();
    Watch::start(&SysRoot::live(), &["none".to_owned()], Tolerance::default()).finish();
    assert!(began.elapsed() < Duration::from_secs(1));
}

mod slow {
    use super::*;
    use std::process::{Command, Stdio};

    /// Our own load on every CPU is no taint; a stranger's is.
    #[test]
    fn our_own_load_is_told_from_a_strangers() {
        let cpus = std::thread::available_parallelism().unwrap().get();
        let spin = |time: Duration| {
            let threads: Vec<_> = (0..cpus)
                .map(|_| {
                    std::thread::spawn(move || {
                        let began = Instant::now();
                        while began.elapsed() < time {
                            std::hint::spin_loop();
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        };
        let foreign = |sensed: &Sensed| {
            sensed.series.iter().find(|series| series.metric == CPU_FOREIGN).unwrap().values()[0]
        };
        // A build next door can hide the difference for a while: one clear try of three is proof.
        let mut tries = (0..3).map(|_| {
            let watch = Watch::start(&SysRoot::live(), &[], Tolerance::default());
            spin(Duration::from_secs(2));
            let quiet = watch.finish();
            // Detached, so that it is nobody's child but the system's.
            let hogs = "for i in $(seq $N); do (timeout 4 sh -c 'while :; do :; done' &) ; done";
            let started = Command::new("setsid")
                .args(["sh", "-c", hogs])
                .env("N", cpus.to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(started.unwrap().success(), "setsid is part of every system");
            let watch = Watch::start(&SysRoot::live(), &[], Tolerance::default());
            spin(Duration::from_secs(2));
            let crowded = watch.finish();
            // What is left of the hogs must not count as quiet in the next try.
            std::thread::sleep(Duration::from_secs(3));
            (quiet, crowded)
        });
        let clear = tries.find(|(quiet, crowded)| foreign(crowded) > foreign(quiet) + 0.1);
        let (_, crowded) = clear.unwrap();
        assert!(crowded.taint.level >= TaintLevel::Suspect, "{crowded:?}");
        assert!(
            crowded.taint.reasons.iter().any(|reason| reason.contains("other programs (")),
            "{crowded:?}"
        );
    }
}
