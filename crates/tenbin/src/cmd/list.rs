//! `tenbin list`: the experiments in the store.

use tenbin_store::Filter;

use crate::args::ListArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Prints the newest experiments.
pub fn list(args: &ListArgs) -> Outcome {
    let (store, _) = output::open_store_to_read(args.store.as_deref())?;
    let experiments = store.list(Filter::default(), args.most).map_err(Failure::cannot)?;
    if args.json {
        let rows: Vec<_> = experiments
            .iter()
            .map(|e| {
                serde_json::json!({
                    "id": e.id, "uid": e.uid, "name": e.name, "question": e.question, "arms": e.arms,
                    "created_at_seconds": e.created_at, "slots": e.slots, "done": e.done, "failed": e.failed,
                })
            })
            .collect();
        let document = serde_json::json!({ "schema": "tenbin.list/1", "experiments": rows });
        output::print(&format!("{document:#}\n"))?;
    } else {
        let rows: Vec<_> = experiments.iter().map(output::list_row).collect();
        output::print(&tenbin_report::text::list(&rows, output::width()))?;
    }
    Ok(Exit::Done)
}
