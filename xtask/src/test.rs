//! `cargo xtask test`: every check, each as a stage with its time.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{licences, peers, shell, tidy};

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Args {
    /// Install missing peers without asking
    #[arg(long, short)]
    yes: bool,
    /// Only the stages whose names contain this
    #[arg(long)]
    only: Option<String>,
}

type Stage<'a> = (&'a str, Box<dyn Fn() -> Result<()> + 'a>);

/// Runs every stage, also after a failure, and fails if one did.
pub fn test(args: &Args) -> Result<()> {
    let stages: Vec<Stage<'_>> = vec![
        ("peers", Box::new(move || peers::install(args.yes))),
        ("format", Box::new(|| shell::run("cargo", &["fmt", "--all", "--check"]))),
        ("tidy", Box::new(tidy::tidy)),
        ("licences", Box::new(licences::licences)),
        (
            "clippy",
            Box::new(|| {
                let arguments = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
                shell::run("cargo", &arguments)
            }),
        ),
        // The tests of the whole program use the build that users get.
        ("release build", Box::new(|| shell::run("cargo", &["build", "--release", "--quiet"]))),
        ("quick tests", Box::new(|| shell::run("cargo", &["nextest", "run", "--workspace"]))),
        (
            "peer and slow tests",
            Box::new(|| {
                let filter = "test(/(^|::)(peer|slow)::/)";
                shell::run("cargo", &["nextest", "run", "--workspace", "--profile", "full", "-E", filter])
            }),
        ),
        ("doc tests", Box::new(|| shell::run("cargo", &["test", "--workspace", "--doc", "--quiet"]))),
        (
            "documentation",
            Box::new(|| {
                let env = [("RUSTDOCFLAGS", "-D warnings")];
                shell::run_with("cargo", &["doc", "--workspace", "--no-deps", "--quiet"], &env)
            }),
        ),
    ];
    let mut times: Vec<(&str, Duration, bool)> = Vec::new();
    for (name, stage) in &stages {
        if args.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        eprintln!("== {name}");
        let began = Instant::now();
        let result = stage();
        if let Err(e) = &result {
            eprintln!("xtask: {name}: {e:#}");
        }
        times.push((name, began.elapsed(), result.is_ok()));
    }
    eprintln!("== stages");
    for (name, time, good) in &times {
        eprintln!("{:>7.1} s  {}{name}", time.as_secs_f64(), if *good { "" } else { "FAILED " });
    }
    let failed = times.iter().filter(|(_, _, good)| !good).count();
    println!("{} passed, {failed} failed", times.len() - failed);
    if failed > 0 {
        bail!("{failed} of {} stages failed", times.len());
    }
    Ok(())
}
