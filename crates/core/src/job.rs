//! One measurement as an engine sees it, and the sentences of the two sides about it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::spec::Values;

/// What an engine is asked to do, on either side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The engine's name.
    pub engine: String,
    /// Checked parameters with defaults.
    pub params: Values,
    /// The address to measure to; for engines with a passive side, where it listens.
    #[serde(default)]
    pub peer: Option<SocketAddr>,
    /// The own address on the measured network, to bind to.
    #[serde(default)]
    pub bind: Option<IpAddr>,
    /// Random, equal on both sides: data connections without it are refused.
    #[serde(default)]
    pub cookie: String,
    /// Environment variables for what the engine starts.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}
