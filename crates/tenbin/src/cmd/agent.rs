//! `tenbin agent`: the far end of a command prefix.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::agent::{deploy, serve};
use crate::exit::{Exit, Failure, Outcome};

/// Serves the controller on stdin and stdout.
pub fn agent() -> Outcome {
    let build = deploy::own_build().map_err(Failure::cannot)?;
    let terminate = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&terminate))
            .map_err(|e| Failure::cannot(format!("cannot catch signal {signal}: {e}")))?;
    }
    let leave = || std::process::exit(Exit::Done as i32);
    match serve::serve(std::io::stdin(), std::io::stdout(), build, terminate, leave) {
        Ok(()) => Ok(Exit::Done),
        Err(e) => Err(Failure::cannot(format!("the controller's link broke: {e}"))),
    }
}
