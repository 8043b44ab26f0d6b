//! What benches without a peer share: a folder for what they make, and the time and memory of a command.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use crate::shell;

/// A folder that is gone when dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder of this process.
    pub fn new(bench: &str) -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("tenbin-bench-{bench}-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed now is removed with the machine.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The tenbin to measure: one that was named, or a fresh build.
pub fn program(named: Option<&str>) -> Result<String> {
    if let Some(program) = named {
        return Ok(program.to_owned());
    }
    shell::run("cargo", &["build", "--release", "--quiet", "-p", "tenbin"])?;
    Ok(shell::root().join("target/release/tenbin").display().to_string())
}

/// The line of a case.
pub fn told(bench: &str, case: &str, told: &Value) -> Value {
    json!({
        "bench": bench, "case": case, "seconds": told["seconds"], "cpu_seconds": told["cpu_seconds"],
        "rss_bytes": told["rss_bytes"],
    })
}

/// Seconds, CPU time and peak memory of a command. A process of its own waits for it: the system tells of all children together.
pub fn measured(command: &[&str]) -> Result<Value> {
    let output = Command::new(std::env::current_exe()?)
        .arg("measure")
        .args(command)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process that measures")?;
    let told: Value = serde_json::from_slice(&output.stdout).context("nothing was measured")?;
    if told["code"] != 0 {
        bail!("{} ended with {}", command.join(" "), told["code"]);
    }
    Ok(told)
}

/// Runs a command without its output and prints what it took.
pub fn measure(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().context("no command")?;
    let begun = Instant::now();
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {program}"))?;
    let seconds = begun.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu: f64 = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .iter()
        .sum();
    let rss = usage.max_rss() * 1024;
    let told = json!({ "code": status.code(), "seconds": seconds, "cpu_seconds": cpu, "rss_bytes": rss });
    println!("{told}");
    Ok(())
}

/// A number that looks random, the same for every run.
pub fn noise(i: u64) -> u64 {
    let mixed = i.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
}
