//! `tenbin completions SHELL`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::Cli;
use crate::exit::{Exit, Failure, Outcome};

/// Prints the completion script of `shell`.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tenbin", &mut script);
    std::io::stdout()
        .write_all(&script)
        .map_err(|e| Failure::cannot(format!("cannot write to stdout: {e}")))?;
    Ok(Exit::Done)
}
