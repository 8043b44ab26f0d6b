//! The foreign programs that tests talk to, from Debian's packages and crates.io.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};

use crate::shell;

/// A program and the Debian package that brings it.
const PEERS: &[(&str, &str)] = &[
    ("iperf3", "iperf3"),
    ("ping", "iputils-ping"),
    ("ethtool", "ethtool"),
    ("ip", "iproute2"),
    ("sshd", "openssh-server"),
    ("ssh", "openssh-client"),
    ("sudo", "sudo"),
    ("chromium", "chromium"),
    ("setpriv", "util-linux"),
];

/// Installs what is missing. Outside CI it asks first, and goes on without what it may not install: the tests
/// that need it then say that they are skipped and why.
pub fn install(yes: bool) -> Result<()> {
    let missing: Vec<&str> =
        PEERS.iter().filter(|(program, _)| !shell::there(program)).map(|(_, package)| *package).collect();
    let nextest = !shell::there("cargo-nextest");
    if missing.is_empty() && !nextest {
        return Ok(());
    }
    let mut wanted: Vec<&str> = missing.clone();
    if nextest {
        wanted.push("cargo-nextest (from crates.io)");
    }
    let agreed = yes || shell::in_ci() || ask(&wanted)?;
    if !agreed {
        eprintln!("xtask: going on without {}", wanted.join(", "));
        return Ok(());
    }
    if !missing.is_empty() {
        let env = [("DEBIAN_FRONTEND", "noninteractive")];
        let install = || {
            let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
            arguments.extend(&missing);
            shell::run_with("apt-get", &arguments, &env)
        };
        // Package lists may be missing or old.
        shell::run_with("apt-get", &["update", "-q"], &env)
            .and_then(|()| install())
            .with_context(|| format!("cannot install {}", missing.join(", ")))?;
    }
    if nextest {
        shell::run("cargo", &["install", "--locked", "--quiet", "cargo-nextest"])?;
    }
    Ok(())
}

fn ask(wanted: &[&str]) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("The tests talk to {}. Install with apt-get and cargo? [y/N] ", wanted.join(", "));
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
