//! `tenbin completions SHELL`.

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::{Exit, Outcome};
use crate::output;

/// Prints the completion script of `shell`.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tenbin", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
