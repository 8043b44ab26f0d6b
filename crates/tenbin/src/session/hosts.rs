//! The hosts of a plan: their agents, and the addresses and interfaces by which they meet.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Shutdown};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenbin_core::plan::{Host, Lab as LabPlan, Link as LabLink, Place, Plan};
use tenbin_engines::Stop;
use tenbin_linux::lab::{Lab, LabError, LabSpec, LinkSpec};
use tenbin_linux::set::{Applied, Setting};

use crate::agent::deploy::{self, ConnectError};
use crate::agent::link::{AskError, Link};
use crate::agent::protocol::{self, Numbered, Reply, Request};
use crate::agent::serve;

/// How long an agent may take for a question that needs no measurement.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Why hosts could not be brought together.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No agent.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// No lab.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The agent's answer was no.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The plan does not say enough.
    #[error("{0}")]
    Plan(String),
    /// The system failed a call.
    #[error("cannot start the agent thread of host {host}: {source}")]
    Thread {
        /// The host as the plan calls it.
        host: String,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// One side of a measured pair as the other sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Its address on the measured network.
    pub address: IpAddr,
    /// Its interface on the measured network; unknown where there is no agent.
    pub interface: Option<String>,
}

/// The agents in use. Arms may put other machines under the same name, so agents are kept by where they are.
pub struct Hosts {
    links: Vec<(Host, Arc<Link>)>,
    /// What was there before the settings in force, by host. An agent puts it back; if it can't any more, the next
    /// agent on that host does.
    owed: Vec<(String, Host, Vec<Applied>)>,
    lab: Option<Lab>,
    stop: Stop,
}

impl Hosts {
    /// Starts the lab if the plan has one; agents start when first used; `stop` ends the wait for one.
    pub fn new(plan: &Plan, stop: &Stop) -> Result<Hosts, HostError> {
        let lab = match &plan.lab {
            Some(lab) => Some(Lab::up(&lab_spec(plan, lab))?),
            None => None,
        };
        Ok(Hosts { links: Vec::new(), owed: Vec::new(), lab, stop: stop.clone() })
    }

    /// Whether all hosts are namespaces of this machine.
    pub fn is_lab(&self) -> bool {
        self.lab.is_some()
    }

    /// The agent of `host`, started if need be.
    pub fn link(&mut self, name: &str, host: &Host) -> Result<Arc<Link>, HostError> {
        if let Some((_, link)) = self.links.iter().find(|(known, _)| known == host) {
            return Ok(Arc::clone(link));
        }
        let link = match (&host.place, &self.lab) {
            (Place::Lab(lab_name), Some(lab)) => start_in_lab(name, lab_name, lab)?,
            (Place::Lab(lab_name), None) => {
                return Err(HostError::Plan(format!(
                    "host {name} is in the lab ({lab_name}), which is not up"
                )));
            }
            (Place::Address, _) => {
                return Err(HostError::Plan(format!(
                    "host {name} is an address only and can't measure, be set or run commands"
                )));
            }
            _ => deploy::connect(name, host, &self.stop)?,
        };
        self.take_over(host, &link)?;
        self.links.push((host.clone(), Arc::clone(&link)));
        Ok(link)
    }

    /// Lets a new agent put back what one before it left changed.
    fn take_over(&mut self, host: &Host, link: &Link) -> Result<(), HostError> {
        while let Some(at) = self.owed.iter().position(|(_, owing, _)| owing == host) {
            let ways_back = self.owed[at].2.clone();
            link.ask(Request::TakeOver { ways_back }, PATIENCE)?;
            self.owed.remove(at);
        }
        Ok(())
    }

    /// Puts settings in force on a host. What was there before is known here first, so that it can be put back even
    /// if the agent is killed.
    pub fn apply(&mut self, name: &str, host: &Host, settings: Vec<Setting>) -> Result<(), HostError> {
        let link = self.link(name, host)?;
        match link.ask(Request::WaysBack { settings: settings.clone() }, PATIENCE)? {
            Reply::WaysBack { ways_back } => self.owed.push((name.to_owned(), host.clone(), ways_back)),
            other => return Err(unexpected(name, &other)),
        }
        link.ask(Request::Apply { settings }, PATIENCE)?;
        Ok(())
    }

    /// Asks an agent to put back what it has set.
    pub fn restore(&mut self, link: &Arc<Link>) -> Result<(), AskError> {
        link.ask(Request::Restore, PATIENCE)?;
        if let Some((host, _)) = self.links.iter().find(|(_, known)| Arc::ptr_eq(known, link)) {
            self.owed.retain(|(_, owing, _)| owing != host);
        }
        Ok(())
    }

    /// Starts agents where something is still owed, so that it is put back.
    pub fn settle(&mut self) -> Vec<HostError> {
        let owing: Vec<(String, Host)> =
            self.owed.iter().map(|(name, host, _)| (name.clone(), host.clone())).collect();
        owing.iter().filter_map(|(name, host)| self.link(name, host).err()).collect()
    }

    /// Address and interface of both hosts of a pair.
    pub fn pair(&mut self, from: (&str, &Host), to: (&str, &Host)) -> Result<(Side, Side), HostError> {
        let (from_address, to_address) = (self.known_address(from.1), self.known_address(to.1));
        let Some(to_peer) = to_address else {
            return Err(HostError::Plan(no_address(to.0)));
        };
        let (address, from_interface, source) = self.locate(from, &to_peer)?;
        let from_peer = from_address.unwrap_or_else(|| source.to_string());
        let (back, to_interface) = match to.1.place {
            Place::Address => (source, None),
            _ => {
                let (back, interface, _) = self.locate(to, &from_peer)?;
                (back, Some(interface))
            }
        };
        let interface = |host: &Host, found: Option<String>| host.interface.clone().or(found);
        Ok((
            Side { address: back, interface: interface(from.1, Some(from_interface)) },
            Side { address, interface: interface(to.1, to_interface) },
        ))
    }

    fn locate(&mut self, on: (&str, &Host), peer: &str) -> Result<(IpAddr, String, IpAddr), HostError> {
        let link = self.link(on.0, on.1)?;
        match link.ask(Request::Locate { peer: peer.to_owned() }, PATIENCE)? {
            Reply::Located { address, interface, source } => Ok((address, interface, source)),
            other => Err(unexpected(on.0, &other)),
        }
    }

    fn known_address(&self, host: &Host) -> Option<String> {
        if let Some(address) = host.address {
            return Some(address.to_string());
        }
        match (&host.place, &self.lab) {
            (Place::Lab(name), Some(lab)) => lab.address(name).map(|address| address.to_string()),
            (Place::Ssh(destination), _) => destination
                .rsplit_once('@')
                .map_or(Some(destination.clone()), |(_, name)| Some(name.to_owned())),
            _ => None,
        }
    }

    /// Asks every agent to restore and end, the last one first. Goes on past failures and returns them.
    pub fn close(&mut self) -> Vec<AskError> {
        let mut failures = Vec::new();
        while let Some((host, link)) = self.links.pop() {
            match link.close() {
                Ok(()) => self.owed.retain(|(_, owing, _)| *owing != host),
                Err(e) => failures.push(e),
            }
        }
        failures
    }
}

/// An answer of the wrong kind: a defect of the other side.
pub fn unexpected(host: &str, reply: &Reply) -> HostError {
    // Bounded while it is written: an answer may hold a million samples.
    let mut shown = String::new();
    let cut = write!(Brief { text: &mut shown, room: 80 }, "{reply:?}").is_err();
    HostError::Plan(format!(
        "the agent on {host} answered out of turn: {shown}{}",
        if cut { "..." } else { "" }
    ))
}

/// Takes so many characters and then refuses.
struct Brief<'a> {
    text: &'a mut String,
    room: usize,
}

impl Write for Brief<'_> {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        for c in more.chars() {
            self.room = self.room.checked_sub(1).ok_or(std::fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

fn no_address(name: &str) -> String {
    format!(
        "host {name} is measured to and has no address\nhint: give it address = \"...\" on the measured network"
    )
}

/// An agent in a thread that lives in a namespace. It speaks the same bytes as one behind ssh.
fn start_in_lab(name: &str, lab_name: &str, lab: &Lab) -> Result<Arc<Link>, HostError> {
    let thread = |source| HostError::Thread { host: name.to_owned(), source };
    let (ours, theirs) = UnixStream::pair().map_err(thread)?;
    let (write, end) = (theirs.try_clone().map_err(thread)?, theirs.try_clone().map_err(thread)?);
    let build = deploy::own_build().map_err(ConnectError::OwnBinary)?;
    lab.spawn(lab_name, move || {
        // Ends when the controller's side of the pair does; there is nobody left to tell an error.
        let _ = serve::serve(theirs, write, build, Arc::default(), move || {
            let _ = end.shutdown(Shutdown::Both);
        });
    })?;
    let mut input = ours.try_clone().map_err(thread)?;
    // The agent's first message. Reading it here keeps the link's own reader free of special cases.
    protocol::read::<Numbered<Reply>>(&mut input).map_err(thread)?;
    Ok(Link::new(name, input, ours, None, Arc::new(Mutex::new(String::new()))))
}

fn lab_spec(plan: &Plan, lab: &LabPlan) -> LabSpec {
    let places = plan.hosts.values().chain(plan.arms.iter().flat_map(|arm| arm.hosts.values()));
    let mut names: BTreeMap<&str, ()> = BTreeMap::new();
    for host in places {
        if let Place::Lab(name) = &host.place {
            names.insert(name, ());
        }
    }
    LabSpec { names: names.keys().map(|name| (*name).to_owned()).collect(), link: link_spec(&lab.link) }
}

/// The lab's default for a token bucket, in bytes.
const BURST: u64 = 8_000_000;

/// The plan's link in the lab's words.
pub fn link_spec(link: &LabLink) -> LinkSpec {
    LinkSpec {
        rate_bps: link.rate,
        burst_bytes: link.burst.unwrap_or(BURST),
        overhead_bytes: link.overhead.unwrap_or(0),
        wire_segments: link.wire_segments.unwrap_or(false),
        offload: link.offload,
        mtu: 1500,
    }
}
