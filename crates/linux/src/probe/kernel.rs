//! The kernel and the distribution around it.

use tenbin_core::env::{Class, Environment};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, Row, note_text, rows};
use crate::sysroot::{ReadError, SysRoot};

const ROWS: &[Row] = &[
    ("kernel.release", "/proc/sys/kernel/osrelease", Class::Identity, As::Text),
    ("kernel.version", "/proc/sys/kernel/version", Class::Identity, As::Text),
    ("kernel.tainted", "/proc/sys/kernel/tainted", Class::Identity, As::Int(Unit::None)),
    ("kernel.lsm", "/sys/kernel/security/lsm", Class::Identity, As::Text),
    ("kernel.boot_id", "/proc/sys/kernel/random/boot_id", Class::State, As::Text),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    rows(sys, env, ROWS);
    let path = "/proc/cmdline";
    note_text(env, "kernel.cmdline", Class::Identity, path, sys.read(path).map(|text| for_kernel(&text)));
    let path = "/etc/os-release";
    let name =
        sys.read(path).and_then(|text| pretty_name(&text).ok_or_else(|| ReadError::nonsense(path, &text)));
    note_text(env, "os.name", Class::Identity, path, name);
    Ok(())
}

/// The words of a command line that are the kernel's. What follows `--` is for the first program.
fn for_kernel(text: &str) -> String {
    text.split_whitespace().take_while(|word| *word != "--").collect::<Vec<_>>().join(" ")
}

fn pretty_name(text: &str) -> Option<String> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        assert_eq!(for_kernel("ro  quiet -- --secret x"), "ro quiet");
        assert_eq!(for_kernel("a=--b"), "a=--b");
    }

    #[test]
    fn names() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(pretty_name(text).as_deref(), expected);
        check("NAME=Arch\nPRETTY_NAME=\"Arch Linux\"", Some("Arch Linux"));
        check("NAME='Void'", Some("Void"));
        check("ID=x", None);
    }
}
