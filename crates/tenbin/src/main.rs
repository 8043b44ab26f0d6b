//! tenbin: weighs one hardware configuration against another.
//!
//! The binary: arguments ([`args`]), a file a verb ([`cmd`]), the order of an experiment ([`session`]) and the
//! agents that act on hosts ([`agent`]). No arithmetic of its own.

mod agent;
mod args;
mod cmd;
mod exit;
mod holder;
mod output;
mod progress;
mod session;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Single-threaded from here until the verb decides: a user namespace can only be entered alone.
    let cli = args::Cli::parse();
    exit::finish(cmd::dispatch(cli.verb))
}
