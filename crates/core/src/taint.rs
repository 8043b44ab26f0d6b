//! Whether the machine was in a state in which a run's numbers can be trusted.

use serde::{Deserialize, Serialize};

/// The state of the machines during a run. Ordered by how much it spoils.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaintLevel {
    /// Everything of the minimum set was read and nothing stood out.
    Clean,
    /// A signal of the minimum set exists but could not be read, or nobody watched.
    #[default]
    Unknown,
    /// Something stood out; the run counts, with a mark.
    Suspect,
    /// The run does not count: stored, excluded, measured again.
    Invalid,
}

/// The level with the reasons for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// The worst level of all reasons.
    pub level: TaintLevel,
    /// Each names the counter, the host, before and after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl Taint {
    /// Of a machine that is watched and has shown nothing so far.
    pub fn clean() -> Taint {
        Taint { level: TaintLevel::Clean, reasons: Vec::new() }
    }

    /// Adds a reason; the level only ever rises.
    pub fn add(&mut self, level: TaintLevel, reason: impl Into<String>) {
        self.level = self.level.max(level);
        self.reasons.push(reason.into());
    }

    /// Takes over all reasons of `other`.
    pub fn merge(&mut self, other: Taint) {
        self.level = self.level.max(other.level);
        self.reasons.extend(other.reasons);
    }
}
