//! A file a verb.

mod ab;
mod agent;
mod compare;
mod completions;
mod demo;
mod experiment;
mod export;
mod import;
mod iperf3;
mod list;
mod ping;
mod probe;
mod report;
mod resume;
mod run;
mod show;
mod table;
mod weigh;

use crate::args::Verb;
use crate::exit::Outcome;

/// Does what the command line says.
pub fn dispatch(verb: Verb) -> Outcome {
    match verb {
        Verb::Run(args) => run::run(&args),
        Verb::Ab(args) => ab::ab(&args),
        Verb::Demo(args) => demo::demo(&args),
        Verb::Probe(args) => probe::probe(&args),
        Verb::Ping(args) => ping::ping(&args),
        Verb::Iperf3(args) => iperf3::iperf3(&args),
        Verb::Resume(args) => resume::resume(&args),
        Verb::List(args) => list::list(&args),
        Verb::Show(args) => show::show(&args),
        Verb::Report(args) => report::report(&args),
        Verb::Compare(args) => compare::compare(&args),
        Verb::Export(args) => export::export(&args),
        Verb::Table(args) => table::table(&args),
        Verb::Import(args) => import::import(&args),
        Verb::Agent => agent::agent(),
        Verb::Completions { shell } => completions::completions(shell),
    }
}
