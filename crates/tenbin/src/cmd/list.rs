//! `tenbin list`: the experiments in the store, and the runs of none.

use tenbin_report::text::LoneRow;
use tenbin_store::{Filter, LoneRun};

use crate::args::ListArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Prints the newest experiments and runs.
pub fn list(args: &ListArgs) -> Outcome {
    let (store, _) = output::open_store_to_read(args.store.as_deref())?;
    let experiments = match args.runs {
        true => Vec::new(),
        false => store.list(Filter::default(), args.most).map_err(Failure::cannot)?,
    };
    let runs = store.lone(args.most).map_err(Failure::cannot)?;
    if args.json {
        let experiments: Vec<_> = experiments
            .iter()
            .map(|e| {
                serde_json::json!({
                    "id": e.id, "uid": e.uid, "name": e.name, "question": e.question, "arms": e.arms,
                    "created_at_seconds": e.created_at, "slots": e.slots, "done": e.done, "failed": e.failed,
                })
            })
            .collect();
        let runs: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "run": run.id, "source": run.source, "tool": run.tool, "benchmark": run.benchmark, "arm": run.arm,
                    "stored_at_seconds": run.stored_at,
                })
            })
            .collect();
        let document =
            serde_json::json!({ "schema": "tenbin.list/1", "experiments": experiments, "runs": runs });
        output::print(&format!("{document:#}\n"))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    if !args.runs && (runs.is_empty() || !experiments.is_empty()) {
        let rows: Vec<_> = experiments.iter().map(output::list_row).collect();
        text += &tenbin_report::text::list(&rows, output::width());
    }
    if args.runs || !runs.is_empty() {
        let all = store.lone_count().map_err(Failure::cannot)?;
        if !text.is_empty() {
            text += "\nruns of no experiment\n";
        }
        let rows: Vec<_> = runs.iter().map(row).collect();
        text += &tenbin_report::text::lone(&rows, output::width());
        if all > runs.len() as u64 {
            text += &format!(" and {} older ones: -n {all} lists all\n", all - runs.len() as u64);
        }
    }
    output::print(&text)?;
    Ok(Exit::Done)
}

fn row(run: &LoneRun) -> LoneRow {
    LoneRow {
        id: run.id,
        stored: output::when(run.stored_at),
        arm: run.arm.clone().unwrap_or_default(),
        tool: run.tool.clone(),
        benchmark: run.benchmark.clone().unwrap_or_default(),
        source: run.source.clone(),
    }
}
