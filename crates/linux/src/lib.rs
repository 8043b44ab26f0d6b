//! This machine: what it is ([`probe`]).
//!
//! Everything reads through a [`sysroot::SysRoot`], so that the parts that think are tested on other machines' files.

pub mod probe;
mod sense;
pub mod sysroot;
