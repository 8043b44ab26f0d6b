//! `tenbin probe` on machines kept as files and on this one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Bench, json};

fn machine(name: &str) -> String {
    format!("{}/../../testdata/machines/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_kept_server() {
    let bench = Bench::new();
    let probe = bench.tenbin(&["probe", "--json", "--sysroot", &machine("server-mlx5-25g")]).output();
    assert_eq!(probe.code, 0, "{}", probe.err);
    let document = json(&probe.out);
    assert_eq!(document["schema"], "tenbin.probe/1");
    let speed = &document["facts"]["net.enp61s0f0np0.speed"];
    assert_eq!((&speed["value"], &speed["unit"]), (&25_000_000_000_i64.into(), &"bit/s".into()));
    assert_eq!(speed["class"], "state");
    assert_eq!(document["facts"]["pci.0000:3d:00.0.link_width"]["value"], 8);
    assert_eq!(document["facts"]["platform.profile"]["absent"], true);
    assert!(document["facts"]["net.enp61s0f1np1.speed"]["error"].is_string());
    let ceilings = document["ceilings"].as_array().unwrap();
    assert_eq!(ceilings[0]["name"], "Ethernet goodput");
    assert!((ceilings[0]["limit"].as_f64().unwrap() / 24.751e9 - 1.0).abs() < 1e-4);
    assert_eq!(ceilings[1]["name"], "PCIe path");
    let warnings = document["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning["text"].as_str().unwrap().contains("governor is powersave"))
    );
    let text = bench.tenbin(&["probe", "--sysroot", &machine("server-mlx5-25g")]).output().out;
    for part in
        ["PowerEdge R640", "25 Gbit/s", "x 128/130", "governor is powersave", "absent on this machine"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_virtual_link_is_said_to_have_no_ceiling() {
    let bench = Bench::new();
    let probe = bench.tenbin(&["probe", "--json", "--sysroot", &machine("lab-veth")]).output();
    let document = json(&probe.out);
    assert_eq!(document["ceilings"][0]["name"], "token bucket goodput");
    let probe = bench.tenbin(&["probe", "--sysroot", &machine("vm-virtio")]).output();
    assert!(probe.out.contains("virtual link (virtio_net): no physical ceiling"), "{}", probe.out);
}

#[test]
fn this_machine() {
    let probe = Bench::new().tenbin(&["probe", "--json"]).output();
    assert_eq!(probe.code, 0, "{}", probe.err);
    assert!(json(&probe.out)["facts"]["kernel.release"]["value"].is_string());
}

#[test]
fn a_directory_that_is_none() {
    let bench = Bench::new();
    for (dir, why) in [("none", "there is no such directory"), (".", "no machine is kept there")] {
        let probe = bench.tenbin(&["probe", "--sysroot", dir]).output();
        assert_eq!(probe.code, 2);
        assert!(probe.err.contains(why) && probe.err.contains("hint: "), "{}", probe.err);
    }
}
