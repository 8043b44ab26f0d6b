//! Running other programs.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The workspace's root folder.
pub fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map(PathBuf::from).unwrap_or(own)
}

/// Runs a program in the workspace's root and fails if it does.
pub fn run(program: &str, arguments: &[&str]) -> Result<()> {
    run_with(program, arguments, &[])
}

/// The same with environment variables.
pub fn run_with(program: &str, arguments: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let shown = format!("{program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).envs(env.iter().copied()).current_dir(root());
    let status = command.status().with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// What a program prints on stdout; fails if it does.
pub fn read(program: &str, arguments: &[&str]) -> Result<String> {
    let shown = format!("{program} {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program of that name is on the PATH (or where Debian keeps servers).
pub fn there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| PathBuf::from(folder).join(program).is_file())
}

/// Whether this is CI: nothing is asked and nothing may be missing.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}
