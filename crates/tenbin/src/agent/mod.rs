//! An agent does on one host what the controller asks: look, set, measure, restore.
//!
//! The same code runs in a namespace thread of this process and as `tenbin agent` behind a command prefix;
//! [`serve`] is the agent's side, [`link`] the controller's, [`deploy`] brings the binary to the far side.

pub mod deploy;
pub mod link;
pub mod protocol;
pub mod serve;
