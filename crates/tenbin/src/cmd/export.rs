//! `tenbin export`: an experiment or a run for other programs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use tenbin_core::analysis;
use tenbin_core::experiment::Experiment;
use tenbin_core::run::Run;
use tenbin_formats::{VIEWS, View};
use tenbin_report::{csv, json, junit, openmetrics};

use super::show::{run_number, stored_run};
use crate::args::ExportArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Forms of an experiment.
const EXPERIMENT: &[&str] = &["json", "csv", "openmetrics", "junit"];
/// Forms of a run that are no tool's table.
const RUN: &[&str] = &["json", "openmetrics"];

/// Prints what was asked for in the form asked for.
pub fn export(args: &ExportArgs) -> Outcome {
    let (store, path) = output::open_store_to_read(args.store.as_deref())?;
    let what = args.what.as_deref().unwrap_or("last");
    let text = match what.strip_prefix("run:") {
        Some(number) => of_run(&stored_run(&store, what, run_number(what, number)?)?, what, &args.format)?,
        None => {
            let id = store.find(what).map_err(Failure::usage)?;
            let experiment = store.load(id).map_err(Failure::cannot)?;
            of_experiment(&experiment, &path, &args.format)?
        }
    };
    match &args.output {
        None => output::print(&text)?,
        Some(file) => write(file, &text)?,
    }
    Ok(Exit::Done)
}

fn of_run(run: &Run, what: &str, format: &str) -> Result<String, Failure> {
    match format {
        "json" => return Ok(format!("{:#}\n", json::runs(std::slice::from_ref(run)))),
        "openmetrics" => return Ok(openmetrics::run(run)),
        _ => {}
    }
    let Some(view) = view(format) else {
        let known = RUN.iter().copied().chain(VIEWS.iter().map(|view| view.name()));
        return Err(unknown("a run", format, known));
    };
    let mut text = String::new();
    // Writing to a string does not fail: an error is the view's own.
    let printed = view.print(run, &mut text).is_ok() && !text.trim().is_empty();
    match printed {
        true => Ok(text),
        false => Err(Failure::usage(format!(
            "cannot print {what} as {format}: it holds nothing that goes into that form"
        ))),
    }
}

fn of_experiment(experiment: &Experiment, store: &Path, format: &str) -> Result<String, Failure> {
    let name = &experiment.plan.name;
    let weighed = || analysis::weigh(experiment);
    match format {
        "json" => Ok(format!("{:#}\n", json::document(experiment, &weighed(), store, None))),
        "csv" => Ok(csv::experiment(experiment)),
        "openmetrics" => Ok(openmetrics::levels(name, &weighed())),
        "junit" => Ok(junit::document(name, &weighed())),
        other if view(other).is_some() => Err(Failure::usage(format!(
            "cannot print an experiment as {other}: that form holds one run\nhint: name the run: run:NUMBER"
        ))),
        other => Err(unknown("an experiment", other, EXPERIMENT.iter().copied())),
    }
}

fn view(name: &str) -> Option<&'static dyn View> {
    VIEWS.iter().copied().find(|view| view.name() == name)
}

fn unknown<'a>(what: &str, format: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known = known.collect::<Vec<_>>().join(", ");
    Failure::usage(format!(
        "cannot print {what} as {format}: there is no such form\nhint: --format takes {known}"
    ))
}

/// Writes a file that was not there.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written
        .map_err(|error| Failure::cannot(format!("cannot write {}: {}", path.display(), output::why(&error))))
}
