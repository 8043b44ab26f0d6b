//! This machine: what it is ([`probe`]), how it fares while something is measured on it ([`sense`]), settings with
//! their way back ([`set`]), hosts made of namespaces ([`lab`]), links and routes ([`net`]).
//!
//! What is read from files goes through a [`sysroot::SysRoot`], so that the parts that think are tested on other
//! machines' files.

pub mod lab;
pub mod net;
pub mod probe;
pub mod sense;
pub mod set;
pub mod sysroot;
