//! Facts about this machine, a file a subsystem. Start at [`all`]; [`warnings`] says what would spoil a result now.
//!
//! Probes read files, ioctls and netlink and start no programs. A fact is a value, absent (no such hardware) or
//! unreadable (with the reason); a probe that fails leaves the others alone.

use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::unit::Unit;
use thiserror::Error;

use crate::sysroot::{ReadError, SysRoot};

mod ask;
pub(crate) mod cpu;
mod kernel;
pub(crate) mod limits;
mod memory;
mod net;
mod noise;
pub(crate) mod pci;
mod platform;
mod stack;
#[cfg(test)]
mod tests;
mod warnings;

pub use warnings::warnings;

/// Notes the facts of one subsystem.
pub type Probe = fn(&SysRoot, &mut Environment) -> Result<(), ProbeError>;

/// Why a subsystem gave no facts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProbeError {
    /// This machine has no such subsystem: nothing is wrong.
    #[error("{what}: absent")]
    Absent {
        /// The subsystem's root file or directory.
        what: String,
    },
    /// It has one that could not be read.
    #[error(transparent)]
    Read(ReadError),
}

impl From<ReadError> for ProbeError {
    fn from(e: ReadError) -> ProbeError {
        match e {
            ReadError::Absent { path } => ProbeError::Absent { what: path },
            other => ProbeError::Read(other),
        }
    }
}

/// Every probe with the first part of its keys.
pub const PROBES: &[(&str, Probe)] = &[
    ("kernel", kernel::probe),
    ("cpu", cpu::probe),
    ("platform", platform::probe),
    ("memory", memory::probe),
    ("net", net::probe),
    ("net.stack", stack::probe),
    ("pci", pci::probe),
    ("limits", limits::probe),
    ("noise", noise::probe),
];

/// All facts of the machine at `sys`. What could not be read is a fact with an error, under the probe's own
/// name where a whole subsystem failed.
pub fn all(sys: &SysRoot) -> Environment {
    let mut env = Environment::default();
    for (name, probe) in PROBES {
        match probe(sys, &mut env) {
            Ok(()) => {}
            Err(ProbeError::Absent { what }) => env.insert(*name, Fact::absent(Class::State, what)),
            Err(ProbeError::Read(e)) => {
                let source = match &e {
                    ReadError::Absent { path }
                    | ReadError::Denied { path }
                    | ReadError::Unreadable { path, .. } => path,
                };
                env.insert(*name, Fact::unreadable(Class::State, source, e.why()));
            }
        }
    }
    env
}

/// How the text of a file becomes a value.
#[derive(Clone, Copy)]
enum As {
    /// As it stands, runs of white space made one blank.
    Text,
    /// A whole number.
    Int(Unit),
    /// A whole number of kilo-units (kHz) in the base unit.
    Kilo(Unit),
    /// 0 or 1.
    Switch,
    /// The word in brackets: `always [madvise] never`.
    Choice,
}

/// A fact that is one file: its key, the file, what its change would mean, how it is read.
type Row = (&'static str, &'static str, Class, As);

/// Notes the facts of a table.
fn rows(sys: &SysRoot, env: &mut Environment, rows: &[Row]) {
    for &(key, path, class, how) in rows {
        file(sys, env, key, path, class, how);
    }
}

/// Notes the fact that is the file at `path`.
fn file(sys: &SysRoot, env: &mut Environment, key: &str, path: &str, class: Class, how: As) {
    note(env, key, class, path, sys.read(path).and_then(|text| interpret(path, &text, how)));
}

/// Notes a value, an absence or an error.
fn note(
    env: &mut Environment,
    key: &str,
    class: Class,
    source: &str,
    read: Result<(FactValue, Option<Unit>), ReadError>,
) {
    let fact = match read {
        Ok((value, unit)) => Fact { unit, ..Fact::new(class, value, source) },
        Err(ReadError::Absent { .. }) => Fact::absent(class, source),
        Err(e) => Fact::unreadable(class, source, e.why()),
    };
    env.insert(key, fact);
}

/// Notes words.
fn note_text(env: &mut Environment, key: &str, class: Class, source: &str, read: Result<String, ReadError>) {
    note(env, key, class, source, read.map(|text| (FactValue::Text(text), None)));
}

fn interpret(path: &str, text: &str, how: As) -> Result<(FactValue, Option<Unit>), ReadError> {
    let nonsense = || ReadError::nonsense(path, text);
    let int = || text.trim().parse::<i64>().map_err(|_| nonsense());
    Ok(match how {
        As::Text => (FactValue::Text(text.split_whitespace().collect::<Vec<_>>().join(" ")), None),
        As::Int(unit) => (FactValue::Int(int()?), Some(unit)),
        As::Kilo(unit) => (FactValue::Int(int()?.checked_mul(1000).ok_or_else(nonsense)?), Some(unit)),
        As::Switch => match text.trim() {
            "0" | "N" | "n" => (FactValue::Bool(false), None),
            "1" | "Y" | "y" => (FactValue::Bool(true), None),
            _ => return Err(nonsense()),
        },
        As::Choice => {
            let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            (FactValue::Text(chosen.ok_or_else(nonsense)?.0.to_owned()), None)
        }
    })
}

/// How many numbers a list such as `0-3,8` holds. `None` for nonsense.
fn count_of_list(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(0);
    }
    text.split(',').try_fold(0i64, |sum, part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.trim().parse::<i64>().ok()?, to.trim().parse::<i64>().ok()?);
        (0 <= from && from <= to).then_some(())?;
        sum.checked_add(to - from)?.checked_add(1)
    })
}
