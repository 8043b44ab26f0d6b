//! Ceilings: the most a link, a bus or a memory can give, derived in readable steps.

use serde::{Deserialize, Serialize};

use crate::unit::Unit;

pub mod ethernet;
pub mod memory;
pub mod pcie;
pub use ethernet::{Ip, NoCeiling, Transport, for_environment, for_receiver};

/// A physical limit with its derivation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// What limits: `Ethernet goodput`.
    pub name: String,
    /// The limit in `unit`.
    pub limit: f64,
    /// The unit of `limit`.
    pub unit: Unit,
    /// The derivation, one readable step a line; each says which inputs were read and which assumed.
    pub steps: Vec<String>,
    /// Whether every input was read rather than assumed.
    pub all_read: bool,
}
