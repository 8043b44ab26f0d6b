//! `cargo xtask fuzz`: every libFuzzer target of `fuzz/` for a while each, from the test data.
//!
//! The toolchain that builds everything else builds these too: coverage for libFuzzer is a pass of LLVM that stable
//! rustc runs when asked. No nightly and no cargo-fuzz is needed; who has them can use them (`cargo +nightly fuzz run
//! fio`), for the address sanitizer for example, which safe code has little use for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Arguments of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Targets to run [default: all]
    targets: Vec<String>,
}

// What cargo-fuzz sets, but for the sanitizer.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1";

/// Longer inputs are slow without finding more.
const LONGEST_INPUT: u32 = 32 << 10;

/// Builds and runs the targets, one line each; fails if one crashed.
pub fn fuzz(args: &Args) -> Result<()> {
    let root = shell::root();
    let all = targets(&root)?;
    if let Some(unknown) = args.targets.iter().find(|target| !all.contains(target)) {
        bail!("no fuzz target is called {unknown}\nhint: there are {}", all.join(", "));
    }
    let chosen = if args.targets.is_empty() { &all } else { &args.targets };
    let built = build(&root, chosen)?;
    let mut crashed = 0;
    for target in chosen {
        let outcome = run(&root, &built, target, args.seconds)?;
        crashed += usize::from(outcome.crash.is_some());
        println!("{}", outcome.line(target));
    }
    if crashed > 0 {
        bail!("{crashed} of {} targets crashed", chosen.len());
    }
    Ok(())
}

/// The targets that there are, by name.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        found.extend(entry?.path().file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    found.sort();
    Ok(found)
}

/// Builds targets and says into which folder.
fn build(root: &Path, targets: &[String]) -> Result<PathBuf> {
    let version = shell::read("rustc", &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc does not say its host")?;
    // Naming the target keeps the flags away from build scripts.
    let mut arguments =
        vec!["build", "--release", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target", host];
    for target in targets {
        arguments.extend(["--bin", target]);
    }
    shell::run_with("cargo", &arguments, &[("RUSTFLAGS", FLAGS)])?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("fuzz/target"), PathBuf::from);
    Ok(folder.join(host).join("release"))
}

/// What a target did.
struct Outcome {
    executions: u64,
    new_units: u64,
    /// The input that crashed it, or what is known without one.
    crash: Option<String>,
}

impl Outcome {
    fn line(&self, target: &str) -> String {
        let Outcome { executions, new_units, crash } = self;
        let crash = crash.as_ref().map_or("no crash".to_owned(), |crash| format!("CRASH: {crash}"));
        format!("{target:<16} {executions:>9} executions {new_units:>6} new units  {crash}")
    }
}

fn run(root: &Path, built: &Path, target: &str, seconds: u32) -> Result<Outcome> {
    let of = |folder: &str| root.join("fuzz").join(folder).join(target);
    let (corpus, artifacts) = (of("corpus"), of("artifacts"));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    // What is found goes to the first folder; the others are only read.
    let mut command = Command::new(built.join(target));
    command.arg(&corpus).args(seeds(root, target)).current_dir(root);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={LONGEST_INPUT}"));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]);
    let output = command.output().with_context(|| format!("cannot start the target {target}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprint!("{said}");
    }
    Ok(outcome(&said, output.status.success(), &output.status.to_string()))
}

/// What libFuzzer's words mean.
fn outcome(said: &str, good: bool, status: &str) -> Outcome {
    let figure = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse().ok()).unwrap_or_default()
    };
    let kept = said.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, file)| file);
    Outcome {
        executions: figure("stat::number_of_executed_units:"),
        new_units: figure("stat::new_units_added:"),
        crash: (!good).then(|| kept.unwrap_or(status).to_owned()),
    }
}

/// Folders with inputs to begin with: the target's own, and the logs of the tool that it is named after.
fn seeds(root: &Path, target: &str) -> Vec<PathBuf> {
    let own = [root.join("fuzz/seeds").join(target), root.join("testdata").join(target)];
    let more = match target {
        "formats" => {
            fs::read_dir(root.join("testdata")).into_iter().flatten().flatten().map(|e| e.path()).collect()
        }
        "plan" => vec![root.join("examples")],
        _ => Vec::new(),
    };
    own.into_iter().chain(more).filter(|folder| folder.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_format_has_a_target() {
        let root = shell::root();
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let found = targets(&root).unwrap();
        for format in tenbin_formats::FORMATS {
            let name = format.name();
            let file = root.join(format!("fuzz/fuzz_targets/{name}.rs"));
            let text = fs::read_to_string(&file).unwrap_or_default();
            assert!(
                text.contains(&format!("one_format(\"{name}\"")),
                "{} does not fuzz {name}",
                file.display()
            );
        }
        let built: BTreeSet<&str> = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
            .collect();
        assert_eq!(
            built,
            found.iter().map(String::as_str).collect(),
            "fuzz/Cargo.toml and fuzz/fuzz_targets"
        );
    }

    #[test]
    fn words_of_libfuzzer() {
        let check = |said: &str, good: bool, line: &str| {
            assert_eq!(outcome(said, good, "signal: 6").line("fio"), format!("fio              {line}"));
        };
        let stats = "stat::number_of_executed_units: 512\nstat::average_exec_per_sec:     0\nstat::new_units_added:          7\n";
        check(stats, true, "      512 executions      7 new units  no crash");
        let kept = format!("{stats}artifact_prefix='a/'; Test unit written to a/crash-1\nBase64: \n");
        check(&kept, false, "      512 executions      7 new units  CRASH: a/crash-1");
        check("", false, "        0 executions      0 new units  CRASH: signal: 6");
    }
}
