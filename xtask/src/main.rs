//! The project's own chores. `cargo xtask test` is all that CI calls; `cargo xtask bench NAME` measures us beside
//! the tools that people use today.

mod bench;
mod bench_compare;
mod bench_import;
mod fuzz;
mod licences;
mod measured;
mod peers;
mod shell;
mod simulate;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "The project's own chores")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install the peers (asks first outside CI) and run every check
    Test(test::Args),
    /// Measure us side by side with a peer, interleaved, and print the ratio with its interval
    Bench(bench::Args),
    /// Simulate campaigns and print how often the statistics are right: the table of METHODOLOGY.md
    Simulate(simulate::Args),
    /// Run a command and print what it took; used by benches
    #[command(hide = true)]
    Measure {
        /// The command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Fuzz every reader of foreign data for a while, from the test data
    Fuzz(fuzz::Args),
    /// Check the invariants that the compiler can't: who may use what
    Tidy,
    /// Check every dependency's licence
    Licences,
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Test(args) => test::test(&args),
        Chore::Bench(args) => return bench::bench(&args),
        Chore::Simulate(args) => simulate::simulate(&args),
        Chore::Measure { command } => measured::measure(&command),
        Chore::Fuzz(args) => fuzz::fuzz(&args),
        Chore::Tidy => tidy::tidy(),
        Chore::Licences => licences::licences(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}
