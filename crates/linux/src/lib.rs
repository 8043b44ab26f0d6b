//! This machine: what it is ([`probe`]), settings with their way back ([`set`]), hosts made of namespaces ([`lab`]),
//! links and routes ([`net`]).
//!
//! What is read from files goes through a [`sysroot::SysRoot`], so that the parts that think are tested on other
//! machines' files.

pub mod lab;
pub mod net;
pub mod probe;
mod sense;
pub mod set;
pub mod sysroot;
