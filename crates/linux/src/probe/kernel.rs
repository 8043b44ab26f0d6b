//! The kernel and the distribution around it.

use tenbin_core::env::{Class, Environment};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, Row, note_text, rows};
use crate::sysroot::{ReadError, SysRoot};

const ROWS: &[Row] = &[
    ("kernel.release", "/proc/sys/kernel/osrelease", Class::Identity, As::Text),
    ("kernel.version", "/proc/sys/kernel/version", Class::Identity, As::Text),
    ("kernel.cmdline", "/proc/cmdline", Class::Identity, As::Text),
    ("kernel.tainted", "/proc/sys/kernel/tainted", Class::Identity, As::Int(Unit::None)),
    ("kernel.lsm", "/sys/kernel/security/lsm", Class::Identity, As::Text),
    ("kernel.boot_id", "/proc/sys/kernel/random/boot_id", Class::State, As::Text),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    rows(sys, env, ROWS);
    let path = "/etc/os-release";
    let name =
        sys.read(path).and_then(|text| pretty_name(&text).ok_or_else(|| ReadError::nonsense(path, &text)));
    note_text(env, "os.name", Class::Identity, path, name);
    Ok(())
}

fn pretty_name(text: &str) -> Option<String> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}
