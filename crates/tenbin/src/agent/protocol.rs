//! What controller and agent say to each other: JSON messages, each behind its length.
//!
//! The agent speaks first ([`Reply::Hello`]). Every request has a number; its replies carry the same number.
//! Silence of the controller for [`DEAD_MAN`] ends the agent, which restores what it set.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tenbin_core::caveat::Caveat;
use tenbin_core::env::{Environment, Fact};
use tenbin_core::job::Job;
use tenbin_core::plan::Tolerance;
use tenbin_core::recorder::Progress;
use tenbin_core::sample::Series;
use tenbin_core::taint::Taint;
use tenbin_linux::set::{Applied, Setting};

/// The version of these messages. Raised with every change that an older agent would misread.
pub const VERSION: u32 = 1;

/// An agent that hears nothing for so long restores what it set and ends.
pub const DEAD_MAN: Duration = Duration::from_secs(10);

/// How often the controller lets each agent hear from it.
pub const HEARTBEAT: Duration = Duration::from_secs(2);

/// The longest message. A run of a million samples fits several times.
const MAX_MESSAGE: u32 = 256 << 20;

/// A request with its number.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbered<T> {
    /// Chosen by the controller; 0 is the agent's hello.
    pub id: u64,
    /// The message.
    pub body: T,
}

/// What a controller asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The controller is there.
    Heartbeat,
    /// Which interface and address lead to `peer`, a name or an address?
    Locate {
        /// As in the plan.
        peer: String,
    },
    /// What is this host?
    Probe,
    /// What is there now that these settings would change? Changes nothing.
    WaysBack {
        /// The settings to come.
        settings: Vec<Setting>,
    },
    /// Put back what an agent before this one changed and can't put back any more.
    TakeOver {
        /// What it found, oldest first.
        ways_back: Vec<Applied>,
    },
    /// Change settings, remembering what was there.
    Apply {
        /// In this order.
        settings: Vec<Setting>,
    },
    /// Put back everything that was changed.
    Restore,
    /// Run a command to its end.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Added to the agent's own environment.
        env: BTreeMap<String, String>,
    },
    /// Measure.
    Run {
        /// What.
        job: Job,
        /// The interface whose counters are watched meanwhile; `None`: another agent watches this machine.
        watch: Option<Watched>,
    },
    /// Be the passive side of one measurement.
    Serve {
        /// What.
        job: Job,
        /// As in `Run`.
        watch: Option<Watched>,
    },
    /// End the request of that number early.
    Cancel {
        /// Its number.
        id: u64,
    },
    /// Restore and end.
    Bye,
}

/// What is watched during a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watched {
    /// Interfaces whose counters matter.
    pub interfaces: Vec<String>,
    /// What the run may suffer and still count.
    #[serde(default)]
    pub tolerate: Tolerance,
}

/// What an agent answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// First message of an agent.
    Hello {
        /// Its [`VERSION`].
        protocol: u32,
        /// Its release.
        version: String,
        /// The SHA-256 of its binary in hex.
        build: String,
    },
    /// Done, nothing to tell.
    Ok,
    /// Answer to `Locate`.
    Located {
        /// The peer's address.
        address: IpAddr,
        /// The interface that leads there.
        interface: String,
        /// The own address used towards it.
        source: IpAddr,
    },
    /// Answer to `Probe`.
    Facts {
        /// This host's facts.
        facts: Environment,
    },
    /// Answer to `WaysBack`.
    WaysBack {
        /// In the order of the settings.
        ways_back: Vec<Applied>,
    },
    /// How far `Run` has come.
    Progress {
        /// Since the last.
        progress: Progress,
    },
    /// `Serve` listens.
    Ready {
        /// Where.
        address: SocketAddr,
    },
    /// `Run` or `Serve` ended well.
    Measured(Box<Measured>),
    /// A request failed: one line and perhaps a hint.
    Failed {
        /// What, on what, why.
        error: String,
        /// The far side declines or is not there, as opposed to a defect.
        kind: Failure,
    },
}

/// Sorts of failure that the controller treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Stopped because it was asked to.
    Interrupted,
    /// Anything else.
    Other,
}

/// What a measurement left.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Its series.
    pub series: Vec<Series>,
    /// Facts about it.
    pub facts: Vec<(String, Fact)>,
    /// Caveats.
    pub caveats: Vec<Caveat>,
    /// Telemetry of the host meanwhile.
    pub telemetry: Vec<Series>,
    /// Judgement of the host's state meanwhile; `None` where nothing was watched.
    pub taint: Option<Taint>,
}

/// Writes one message and flushes.
pub fn write<T: Serialize>(out: &mut (impl Write + ?Sized), message: &T) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok().filter(|n| *n <= MAX_MESSAGE);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "message too long"))?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(&body)?;
    out.flush()
}

/// Reads one message; `None` at the end of the stream.
pub fn read<T: DeserializeOwned>(input: &mut (impl Read + ?Sized)) -> io::Result<Option<T>> {
    let mut head = [0; 4];
    let mut got = 0;
    while got < head.len() {
        match input.read(&mut head[got..]) {
            Ok(0) if got == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let length = u32::from_be_bytes(head);
    if length > MAX_MESSAGE {
        let what = format!("a message of {length} bytes announced, at most {MAX_MESSAGE} expected");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    // Grows with what really arrives: a forged length alone costs no memory.
    let mut body = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&body)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        let mut bytes = Vec::new();
        let asked = Numbered { id: 7, body: Request::Locate { peer: "10.0.0.2".to_owned() } };
        write(&mut bytes, &asked).unwrap();
        write(&mut bytes, &Numbered { id: 8, body: Request::Bye }).unwrap();
        let mut input = bytes.as_slice();
        let first: Numbered<Request> = read(&mut input).unwrap().unwrap();
        assert_eq!(first.id, 7);
        assert!(matches!(first.body, Request::Locate { peer } if peer == "10.0.0.2"));
        let second: Numbered<Request> = read(&mut input).unwrap().unwrap();
        assert!(matches!(second.body, Request::Bye));
        assert!(read::<Numbered<Request>>(&mut input).unwrap().is_none());
    }

    #[test]
    fn hostile_streams_are_errors() {
        let check = |bytes: &[u8]| assert!(read::<Numbered<Request>>(&mut &*bytes).is_err(), "{bytes:?}");
        check(&[0]);
        check(&[0xff, 0xff, 0xff, 0xff]);
        check(&[0, 0, 0, 9, b'{']);
        check(&[0, 0, 0, 2, b'{', b'}']);
        check(b"\0\0\0\x15{\"id\":1,\"body\":\"fly\"}");
    }

    #[test]
    fn mangled_streams_are_survived() {
        let mut rng = tenbin_core::rng::Rng::new(7);
        let mut honest = Vec::new();
        let settings = vec![Setting::Mtu { interface: "eth0".to_owned(), bytes: 9000 }];
        write(&mut honest, &Numbered { id: 7, body: Request::Apply { settings } }).unwrap();
        write(&mut honest, &Numbered { id: 8, body: Reply::Measured(Box::default()) }).unwrap();
        for _ in 0..20_000 {
            let mut bytes = honest.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize);
            // Each read takes at least a length, so this ends; what matters is that nothing else happens.
            let mut input = bytes.as_slice();
            while let Ok(Some(_)) = read::<Numbered<Request>>(&mut input) {}
            let mut input = bytes.as_slice();
            while let Ok(Some(_)) = read::<Numbered<Reply>>(&mut input) {}
        }
    }
}
