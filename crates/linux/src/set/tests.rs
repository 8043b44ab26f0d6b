use super::*;
use crate::lab::tests::lab;
use crate::lab::{INTERFACE, Lab, LinkSpec};

fn eth0() -> String {
    INTERFACE.to_owned()
}

/// All that the settings touch, in one value.
#[derive(Debug, PartialEq)]
struct State {
    link: LinkInfo,
    queue: RootQdisc,
    features: Vec<ethtool::Feature>,
    addresses: Vec<Address>,
    congestion: String,
}

fn state() -> State {
    State {
        link: net::link(INTERFACE).unwrap(),
        queue: net::root_qdisc(INTERFACE).unwrap(),
        features: ethtool::features(INTERFACE).unwrap(),
        addresses: net::addresses(INTERFACE).unwrap(),
        congestion: read(CONGESTION).unwrap(),
    }
}

fn shaped() -> LinkSpec {
    LinkSpec {
        rate_bps: Some(100_000_000),
        burst_bytes: 200_000,
        overhead_bytes: 24,
        wire_segments: true,
        offload: Some(false),
        mtu: 1500,
    }
}

fn other_algorithm(lab: &Lab) -> String {
    lab.run("left", || if read(CONGESTION).unwrap() == "reno" { "cubic" } else { "reno" }).unwrap().to_owned()
}

/// Applies to an interface in the state that `base` makes, and checks that the way back leads there, also from a
/// journal and twice.
fn check(base: Option<LinkSpec>, setting: Setting, changed: impl Fn(&State, &State) + Send + 'static) {
    let Some(lab) = lab(base.unwrap_or_default()) else { return };
    lab.run("left", move || {
        let before = state();
        assert_eq!(state(), before);
        let expected = way_back(&setting).unwrap();
        assert_eq!(state(), before, "looking changed something");
        let applied = apply(&setting).unwrap();
        assert_eq!(applied, expected);
        changed(&before, &state());
        let journaled: Applied = serde_json::from_str(&serde_json::to_string(&applied).unwrap()).unwrap();
        restore(&journaled).unwrap();
        assert_eq!(state(), before);
        restore(&applied).unwrap();
        assert_eq!(state(), before);
    })
    .unwrap();
}

#[test]
fn mtu() {
    let set = |bytes| Setting::Mtu { interface: eth0(), bytes };
    let changes = |bytes| move |_: &State, now: &State| assert_eq!(now.link.mtu, bytes);
    check(None, set(9000), changes(9000));
    check(None, set(65535), changes(65535));
    check(None, set(1500), changes(1500));
    check(Some(LinkSpec { mtu: 9000, ..shaped() }), set(1500), changes(1500));
    // Takes IPv6 away, which comes back.
    check(None, set(576), |before, now| assert_eq!((before.addresses.len(), now.addresses.len()), (2, 1)));
}

#[test]
fn offload() {
    let all = |on: bool| {
        move |_: &State, now: &State| {
            for flag in
                now.features.iter().filter(|f| f.available && Offload::ALL.iter().any(|o| o.has(&f.name)))
            {
                assert_eq!(flag.active, on, "{flag:?}");
            }
        }
    };
    for base in [None, Some(true), Some(false)] {
        let base = || Some(LinkSpec { offload: base, ..LinkSpec::default() });
        for on in [false, true] {
            check(base(), Setting::Offload { interface: eth0(), on }, all(on));
        }
    }
}

#[test]
fn each_flag_is_restored_by_itself() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    lab.run("left", || {
        let mixed =
            [("rx-gro", true), ("tx-tcp6-segmentation", false)].map(|(name, on)| (name.to_owned(), on));
        ethtool::set_features(INTERFACE, &mixed).unwrap();
        let before = state();
        let applied = apply(&Setting::Offload { interface: eth0(), on: true }).unwrap();
        assert_ne!(state(), before);
        restore(&applied).unwrap();
        assert_eq!(state(), before);
    })
    .unwrap();
}

#[test]
fn congestion() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    let algorithm = other_algorithm(&lab);
    let now_in_force = algorithm.clone();
    let setting = Setting::Congestion { algorithm };
    check(None, setting, move |_, now| assert_eq!(now.congestion, now_in_force));
}

#[test]
fn link() {
    let set = |link| Setting::Link { interface: eth0(), link };
    let rate = |state: &State| match &state.queue {
        RootQdisc::Tbf(tbf) => tbf.decode().map(|tbf| tbf.rate),
        _ => None,
    };
    check(None, set(shaped()), move |before, now| {
        assert_eq!((rate(before), rate(now)), (None, Some(100_000_000)));
        assert_eq!(now.link.gso_max_segs, 1);
    });
    let wide = LinkSpec { rate_bps: Some(50_000_000_000), burst_bytes: 8_000_000, ..shaped() };
    check(Some(wide.clone()), set(shaped()), move |before, now| {
        assert_eq!((rate(before), rate(now)), (Some(50_000_000_000), Some(100_000_000)));
    });
    check(Some(wide), set(LinkSpec::default()), move |_, now| assert_eq!(rate(now), None));
}

#[test]
fn a_stack_is_undone_newest_first() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    let algorithm = other_algorithm(&lab);
    lab.run("left", move || {
        let settings = [
            Setting::Link { interface: eth0(), link: shaped() },
            Setting::Mtu { interface: eth0(), bytes: 9000 },
            Setting::Offload { interface: eth0(), on: true },
            Setting::Mtu { interface: eth0(), bytes: 576 },
            Setting::Congestion { algorithm },
        ];
        let before = state();
        let mut undo = Undo::default();
        for setting in &settings {
            undo.apply(setting).unwrap();
        }
        assert_eq!(undo.applied().len(), settings.len());
        assert!(undo.restore().is_empty());
        assert_eq!(state(), before);

        for setting in &settings {
            undo.apply(setting).unwrap();
        }
        drop(undo);
        assert_eq!(state(), before);
    })
    .unwrap();
}

#[test]
fn restoring_goes_on_past_failures() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    lab.run("left", || {
        let before = state();
        let gone = Applied::Link {
            interface: "eth7".to_owned(),
            queue: RootQdisc::Default { kind: "noqueue".to_owned() },
            gso_max_segs: 65535,
            flags: vec![("rx-gro".to_owned(), true)],
        };
        assert_eq!(restore(&gone).unwrap_err().failures.len(), 3);
        let mtu = apply(&Setting::Mtu { interface: eth0(), bytes: 9000 }).unwrap();
        let failures = Undo::from(vec![mtu, gone]).restore();
        assert_eq!(failures.len(), 3);
        assert_eq!(state(), before);
    })
    .unwrap();
}

#[test]
fn impossible_settings_say_what_is_possible() {
    let Some(lab) = lab(shaped()) else { return };
    let check = |setting: Setting, expected: &str| {
        let error = lab.run("left", move || {
            let before = state();
            let error = apply(&setting).unwrap_err().to_string();
            assert_eq!(state(), before);
            error
        });
        let error = error.unwrap();
        assert!(error.contains(expected), "{error}");
    };
    let set = |bytes| Setting::Mtu { interface: eth0(), bytes };
    let link = |link| Setting::Link { interface: eth0(), link };
    check(set(65536), "cannot set mtu 65536 on eth0: it takes 68 to 65535");
    check(set(67), "cannot set mtu 67 on eth0: it takes 68 to 65535");
    check(
        Setting::Mtu { interface: "eth7".to_owned(), bytes: 1500 },
        "no network interface \"eth7\" here\nhint: there",
    );
    check(Setting::Offload { interface: "eth7".to_owned(), on: true }, "on eth7: no such device");
    check(
        Setting::Congestion { algorithm: "warp".to_owned() },
        "no congestion control \"warp\"\nhint: there are ",
    );
    check(
        link(LinkSpec { burst_bytes: 1000, ..shaped() }),
        "a burst of 1000 byte lets no packet of 1514 byte pass",
    );
    lab.run("left", || {
        apply(&Setting::Link { interface: eth0(), link: LinkSpec { burst_bytes: 3000, ..shaped() } })
    })
    .unwrap()
    .unwrap();
    check(set(9000), "mtu 9000 makes packets of 9014 byte, and the one it has holds 3000");
}

#[test]
fn what_the_kernel_restricts_is_said() {
    let Some(lab) = lab(LinkSpec::default()) else { return };
    let (available, allowed) = (read(AVAILABLE).unwrap(), read(ALLOWED).unwrap());
    let restricted =
        available.split_whitespace().find(|name| !allowed.split_whitespace().any(|a| a == *name));
    let Some(algorithm) = restricted.map(str::to_owned) else {
        println!("skipped: every congestion control is allowed here");
        return;
    };
    let setting = Setting::Congestion { algorithm: algorithm.clone() };
    let error = lab.run("left", move || apply(&setting).unwrap_err()).unwrap().to_string();
    let expected = format!("cannot make {algorithm} the congestion control of a lab host");
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn settings_are_shown_in_words() {
    let check = |setting: Setting, expected: &str| assert_eq!(setting.to_string(), expected);
    check(Setting::Mtu { interface: eth0(), bytes: 9000 }, "mtu 9000 on eth0");
    check(Setting::Offload { interface: eth0(), on: false }, "offloads off on eth0");
    check(Setting::Congestion { algorithm: "reno".to_owned() }, "congestion control reno");
    check(Setting::Link { interface: eth0(), link: shaped() }, "link of 100000000 bit/s on eth0");
}

/// Against iproute2 and ethtool: they see what is set here, and what they set is put back.
mod peer {
    use std::process::Command;

    use super::*;

    /// Runs a command line and gives what it prints.
    fn run(line: &str) -> String {
        let mut words = line.split_whitespace();
        let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn on_a_host(link: LinkSpec, work: impl FnOnce() + Send + 'static) {
        for (tool, asks) in [("ip", "-V"), ("tc", "-V"), ("ethtool", "--version")] {
            if Command::new(tool).arg(asks).output().is_err() {
                assert!(std::env::var_os("CI").is_none(), "CI has {tool}");
                println!("skipped: needs {tool}");
                return;
            }
        }
        let Some(lab) = lab(link) else { return };
        lab.run("left", work).unwrap();
    }

    #[test]
    fn they_see_what_is_set() {
        on_a_host(LinkSpec { mtu: 9000, ..shaped() }, || {
            let link = run("ip -d link show eth0");
            for part in
                ["mtu 9000", "qdisc tbf", "state UP", "link/ether 02:74:65:6e:00:01", "gso_max_segs 1 "]
            {
                assert!(link.contains(part), "no {part:?} in {link}");
            }
            let addresses = run("ip address show eth0");
            for part in ["inet 10.117.0.1/24", "inet6 fd00:7e::1/64"] {
                assert!(addresses.contains(part), "no {part:?} in {addresses}");
            }
            let queue = run("tc -s qdisc show dev eth0");
            // The kernel tells the time that a full bucket lasts with its overhead, which tc turns into 200012 byte.
            for part in ["rate 100Mbit", "burst 2000", "overhead 24"] {
                assert!(queue.contains(part), "no {part:?} in {queue}");
            }
            let features = run("ethtool -k eth0");
            for part in [
                "tx-checksumming: off",
                "tcp-segmentation-offload: off",
                "generic-segmentation-offload: off",
                "generic-receive-offload: off",
            ] {
                assert!(features.contains(part), "no {part:?} in {features}");
            }
            let wide = LinkSpec { rate_bps: Some(100_000_000_000), burst_bytes: 8_000_000, ..shaped() };
            apply(&Setting::Link { interface: eth0(), link: wide }).unwrap();
            let queue = run("tc qdisc show dev eth0");
            assert!(queue.contains("rate 100Gbit"), "{queue}");
        });
    }

    #[test]
    fn what_they_set_is_put_back() {
        let link = || Setting::Link { interface: eth0(), link: shaped() };
        on_a_host(LinkSpec::default(), move || {
            run(
                "tc qdisc add dev eth0 root handle 7: tbf rate 40gbit burst 1mb limit 3mb overhead 8 peakrate 50gbit mtu 70000",
            );
            run("ethtool -K eth0 tx-tcp6-segmentation off gro on");
            run("ip link set eth0 gso_max_segs 17");
            let told =
                || (run("tc qdisc show dev eth0"), run("ethtool -k eth0"), run("ip -d link show eth0"));
            let (before, told_before) = (state(), told());
            for setting in [link(), Setting::Offload { interface: eth0(), on: false }] {
                let applied = apply(&setting).unwrap();
                assert_ne!(state(), before);
                restore(&applied).unwrap();
                assert_eq!(state(), before);
                assert_eq!(told(), told_before);
            }
        });
        on_a_host(LinkSpec::default(), move || {
            run("tc qdisc add dev eth0 root handle 1: htb default 1");
            let before = state();
            let error = apply(&link()).unwrap_err().to_string();
            let expected = "it has a queueing discipline \"htb\" that could not be put back\nhint: `tc qdisc del dev eth0 root`";
            assert!(error.contains(expected), "{error}");
            assert_eq!(state(), before);
        });
    }

    #[test]
    fn routes_are_those_of_ip() {
        on_a_host(LinkSpec::default(), || {
            run("ip route add 10.9.0.0/16 via 10.117.0.2 mtu 1400");
            let route = net::route_to("10.9.1.1".parse().unwrap()).unwrap();
            let expected = net::Route {
                interface: eth0(),
                source: Some("10.117.0.1".parse().unwrap()),
                gateway: Some("10.117.0.2".parse().unwrap()),
                mtu: 1400,
                local: false,
            };
            assert_eq!(route, expected);
            assert!(net::route_to("10.117.0.1".parse().unwrap()).unwrap().local);
            let error = net::route_to("192.0.2.1".parse().unwrap()).unwrap_err().to_string();
            assert_eq!(error, "cannot find a route to 192.0.2.1: network is unreachable");
        });
    }
}
