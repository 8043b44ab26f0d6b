//! Native measurements. Each engine is a folder; the list at the end of this file is its only other mention.
//!
//! An engine measures and leaves samples in a [`Recorder`]. It never prints, never sees the store, and its hot
//! loops neither allocate nor lock. Threads, not async: an engine measures by owning a core, and a network
//! namespace belongs to a thread; threads started by an engine inherit it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenbin_core::job::Job;
use tenbin_core::recorder::Recorder;
use tenbin_core::spec::EngineSpec;

pub mod external;
pub mod iperf3;
pub mod null;
pub mod ping;

/// A measurement that plans can name.
pub trait Engine: Sync {
    /// What it accepts and gives. Touches nothing.
    fn spec(&self) -> &'static EngineSpec;

    /// Measures as `job` says and leaves the samples in `rec`. Ends early, with what it has, once `stop` is set.
    fn run(&self, job: &Job, rec: &mut Recorder, stop: &Stop) -> Result<(), RunError>;

    /// The passive side: calls `ready` with the address it listens on, serves one run, ends early on `stop`.
    fn serve(&self, _job: &Job, _ready: &mut dyn FnMut(SocketAddr), _stop: &Stop) -> Result<(), RunError> {
        Err(RunError::Unsupported { what: format!("engine {} has no passive side", self.spec().name) })
    }
}

/// Asks a measurement to end early. Clones share the request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a measurement gave nothing. Each says what was attempted, on what, and why.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The far side does not answer.
    #[error("cannot reach {peer}: {why}")]
    Unreachable {
        /// The address as asked for.
        peer: String,
        /// The system's or protocol's reason.
        why: String,
    },
    /// The far side is there and declines: busy, not authorised.
    #[error("{peer} refused the test: {why}")]
    Refused {
        /// The address as asked for.
        peer: String,
        /// Its reason.
        why: String,
    },
    /// This user may not.
    #[error("cannot {what}: permission denied\nhint: {hint}")]
    Permission {
        /// What was attempted.
        what: String,
        /// The cure.
        hint: String,
    },
    /// The far side broke the protocol.
    #[error("{peer} broke the protocol: {why}")]
    Protocol {
        /// The address as asked for.
        peer: String,
        /// What came and what was expected.
        why: String,
    },
    /// A program that was started did not do its work.
    #[error("`{command}` {why}")]
    Failed {
        /// The program and its arguments.
        command: String,
        /// How it ended and what it said.
        why: String,
    },
    /// The system failed a call.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was attempted, on what.
        what: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A parameter that passed the plan but not the engine.
    #[error("{what}")]
    BadParameter {
        /// What is wrong with which.
        what: String,
    },
    /// Not possible here.
    #[error("{what}")]
    Unsupported {
        /// What is not.
        what: String,
    },
    /// [`Stop`] was set before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

/// Every engine, in the order help lists them.
pub static ENGINES: &[&dyn Engine] = &[&null::Null, &ping::Ping, &iperf3::Iperf3, &external::External];

/// The engine of that name.
pub fn find(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.spec().name == name)
}

/// The specs of all engines, for reading plans.
pub fn specs() -> Vec<&'static EngineSpec> {
    ENGINES.iter().map(|engine| engine.spec()).collect()
}
