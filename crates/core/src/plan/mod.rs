//! A plan: the question, the hosts, the arms that are compared, and what is measured in each.
//!
//! [`parse`] reads the TOML text; every mistake is reported with its line and column. An arm may differ from the
//! plan in hosts, link and parameters: [`Plan::hosts_of`], [`Plan::link_of`] and [`Plan::params_of`] say what
//! holds in it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::quantity;
use crate::spec::Values;
use crate::unit::Unit;

mod parse;
mod reader;
#[cfg(test)]
mod tests;
pub use parse::{PlanError, parse};

/// A checked plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The file's stem or what `ab` was asked; names the report folder.
    pub name: String,
    /// The question in the user's words.
    pub question: Option<String>,
    /// Blocks; each holds every arm once.
    pub blocks: u32,
    /// Goes on after these blocks until its intervals are narrow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Differences below this share do not matter to the user: 0.02 = 2 %.
    pub margin: f64,
    /// The seed of the schedule, where the plan fixes it.
    pub seed: Option<u64>,
    /// The order of arms.
    pub order: Order,
    /// Rest before each slot, in seconds.
    pub rest: f64,
    /// What a run may suffer and still count.
    #[serde(default)]
    pub tolerate: Tolerance,
    /// Hosts by name.
    pub hosts: BTreeMap<String, Host>,
    /// The lab that `lab = "..."` hosts live in.
    pub lab: Option<Lab>,
    /// What is compared; the first is the base.
    pub arms: Vec<Arm>,
    /// What is measured in each arm, in order.
    pub measures: Vec<Measure>,
    /// The plan file's text.
    pub text: String,
}

/// When an experiment whose length is not fixed ends: [`crate::stopping`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The largest relative half-width of an interval that will do: 0.02 for `ci <= 2%`.
    pub ci: f64,
    /// When it ends all the same.
    pub at_most: Budget,
}

/// The most that an experiment may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// So many blocks.
    Blocks(u32),
    /// So many seconds of measuring.
    Seconds(f64),
}

/// What a run may suffer and still count. Whatever stands out taints the run all the same: it becomes suspect, and says
/// so.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The share of the CPUs' time that a hypervisor may give to other machines.
    pub steal: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { steal: 0.05 }
    }
}

impl Plan {
    /// The hosts as they are in `arm`: an arm's host replaces the plan's of that name altogether.
    pub fn hosts_of(&self, arm: &Arm) -> BTreeMap<String, Host> {
        let mut hosts = self.hosts.clone();
        hosts.extend(arm.hosts.iter().map(|(name, host)| (name.clone(), host.clone())));
        hosts
    }

    /// The lab's link as it is in `arm`; `None` where the arm's hosts are not in a lab.
    pub fn link_of(&self, arm: &Arm) -> Option<Link> {
        let in_lab = self.hosts_of(arm).values().any(|host| matches!(host.place, Place::Lab(_)));
        let link = self.lab.as_ref().map(|lab| lab.link.clone()).unwrap_or_default();
        in_lab.then(|| arm.set.link.as_ref().map_or(link.clone(), |over| link.overridden_by(over)))
    }

    /// The parameters of `measure` as they are in `arm`, complete.
    pub fn params_of(&self, arm: &Arm, measure: &Measure) -> Values {
        let mut values = measure.params.clone();
        if let Some(own) = arm.params.get(&measure.engine) {
            values.0.extend(own.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        values
    }
}

/// How arms are ordered over the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Randomised and balanced: the default.
    #[default]
    Balanced,
    /// As few changes of arms as possible, at the price of power.
    FewChanges,
}

/// A machine that takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Where it is.
    pub place: Place,
    /// Whether its agent runs through `sudo -n`, since a setter needs it.
    pub sudo: bool,
    /// Its address on the measured network; for lab hosts the lab gives one.
    pub address: Option<IpAddr>,
    /// Its interface on the measured network; otherwise that of the route to the peer.
    pub interface: Option<String>,
}

/// How a host is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// This machine, this process.
    Local,
    /// A network namespace of this process, by its name in the lab.
    Lab(String),
    /// The user's own OpenSSH.
    Ssh(String),
    /// An address and no agent: what is measured to already listens there. Nothing is set or watched on it.
    Address,
    /// Any command that passes its arguments on to a program on the host and joins stdin and stdout.
    Exec(Vec<String>),
}

/// Two hosts made of network namespaces on this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lab {
    /// The link between them.
    pub link: Link,
}

/// The lab's link. `None` means: as the kernel makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Token bucket rate in bit/s.
    pub rate: Option<u64>,
    /// Token bucket size in bytes; 8 MB where silent.
    pub burst: Option<u64>,
    /// Bytes counted on top of every packet: 24 = Ethernet's preamble, FCS and gap.
    pub overhead: Option<u32>,
    /// One segment per packet (gso_max_segs 1), so that the bucket sees what a wire would.
    pub wire_segments: Option<bool>,
    /// Segmentation and checksum offloads on both ends.
    pub offload: Option<bool>,
}

impl Link {
    /// This link with everything that `over` says replaced.
    pub fn overridden_by(&self, over: &Link) -> Link {
        Link {
            rate: over.rate.or(self.rate),
            burst: over.burst.or(self.burst),
            overhead: over.overhead.or(self.overhead),
            wire_segments: over.wire_segments.or(self.wire_segments),
            offload: over.offload.or(self.offload),
        }
    }
}

/// One of the configurations compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name in tables.
    pub name: String,
    /// Built-in settings, put back afterwards.
    pub set: Settings,
    /// Commands on hosts when the arm begins.
    pub before: Vec<HostCommand>,
    /// Commands on hosts when the arm ends, also after a failure.
    pub after: Vec<HostCommand>,
    /// What a change to this arm costs.
    pub change: Change,
    /// Hosts that are other machines in this arm.
    pub hosts: BTreeMap<String, Host>,
    /// Parameters of measures that differ in this arm, by engine: `iperf3 = { parallel = 4 }`.
    pub params: BTreeMap<String, Values>,
}

/// Built-in settings of an arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// MTU in bytes of the measured interfaces.
    pub mtu: Option<u32>,
    /// tso, gso, gro and transmit checksums of the measured interfaces.
    pub offload: Option<bool>,
    /// TCP congestion control algorithm.
    pub congestion: Option<String>,
    /// Environment of what is started on the hosts.
    pub env: BTreeMap<String, String>,
    /// Overrides of the lab's link.
    pub link: Option<Link>,
}

impl Settings {
    /// Each setting in a line for people.
    pub fn described(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.mtu.map(|bytes| format!("mtu {bytes} bytes on the measured interfaces")));
        let switch = |on| if on { "on" } else { "off" };
        lines.extend(self.offload.map(|on| format!("offloads {} on the measured interfaces", switch(on))));
        lines.extend(self.congestion.as_ref().map(|name| format!("congestion control {name}")));
        lines.extend(self.env.iter().map(|(name, value)| format!("environment {name}={value}")));
        if let Some(link) = &self.link {
            let rate = |rate: u64| quantity::trimmed(&quantity::human(rate as f64, Unit::BitPerSecond, 4));
            lines.extend(link.rate.map(|r| format!("lab link rate {}", rate(r))));
            lines.extend(link.burst.map(|bytes| format!("lab link burst {bytes} bytes")));
            lines.extend(link.overhead.map(|bytes| format!("lab link overhead {bytes} bytes a packet")));
            lines.extend(link.wire_segments.map(|on| format!("lab link wire segments {}", switch(on))));
            lines.extend(link.offload.map(|on| format!("lab link offloads {}", switch(on))));
        }
        lines
    }

    /// Whether a difference of the fact `key` between arms is what this arm asked for.
    pub fn declares(&self, key: &str) -> bool {
        let of_interface = |suffixes: &[&str]| {
            key.strip_prefix("net.").is_some_and(|rest| suffixes.iter().any(|suffix| rest.ends_with(suffix)))
        };
        let offload = of_interface(&[".offload.tso", ".offload.gso", ".offload.gro", ".offload.tx_checksum"]);
        let link = &[".qdisc", ".tbf.rate", ".tbf.burst", ".tbf.overhead", ".gso_max_segs"];
        (self.mtu.is_some() && of_interface(&[".mtu"]))
            || (self.offload.is_some() && offload)
            || (self.congestion.is_some() && key == "net.tcp.congestion")
            || self.link.as_ref().is_some_and(|l| of_interface(link) || (l.offload.is_some() && offload))
    }
}

/// A command run on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCommand {
    /// The host; `None`: every host of the plan.
    pub host: Option<String>,
    /// Program and arguments.
    pub argv: Vec<String>,
}

/// What a change of arms costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Next to nothing.
    #[default]
    Free,
    /// About so many seconds.
    Seconds(f64),
    /// A person's hands: a cable, a reboot.
    Manual,
}

/// One measurement made in every arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The engine's name.
    pub engine: String,
    /// A label where one engine is used twice.
    pub name: Option<String>,
    /// The host that measures.
    pub from: String,
    /// The host measured to; engines on one host have none.
    pub to: Option<String>,
    /// Checked parameters, defaults filled in.
    pub params: Values,
}

impl Measure {
    /// What tables call it: its label or the engine.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.engine)
    }
}
