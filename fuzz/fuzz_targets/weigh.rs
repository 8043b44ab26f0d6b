//! Values of any size and sign: an analysis of what a foreign store may hold ends in words, never in a panic.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tenbin_core::experiment::{self, Experiment, Record, State};
use tenbin_core::metric::RTT;
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce, Sample, Series};
use tenbin_core::{analysis, plan, schedule};

const PLAN: &str = "blocks = 8\n[hosts]\nhere = { local = true }\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n\
                    [[measure]]\nengine = \"null\"\nfrom = \"here\"\n";

fuzz_target!(|values: Vec<f64>| {
    let Ok(plan) = plan::parse("fuzz.toml", PLAN, &tenbin_engines::specs()) else { return };
    let order = schedule::balanced(7, plan.arms.len(), plan.blocks as usize);
    let schedule = experiment::slots(&order, plan.measures.len());
    let finite = values.into_iter().filter(|value| value.is_finite());
    let records = schedule.iter().zip(finite).enumerate().map(|(index, (slot, value))| Record {
        id: index as i64 + 1,
        slot: *slot,
        state: State::Done,
        started_at: 0.0,
        ended_at: None,
        error: None,
        run: Some(Run {
            series: vec![Series {
                metric: RTT,
                params: Params::new(),
                headline: Some(Reduce::Median),
                samples: vec![Sample::of(value)],
                reported: BTreeMap::new(),
            }],
            ..Run::default()
        }),
    });
    let records = records.collect();
    let experiment =
        Experiment { id: 1, uid: "0".to_owned(), created_at: 0.0, plan, seed: 7, schedule, records };
    let analysis = analysis::weigh(&experiment);
    let _ = tenbin_report::text::summary(&experiment, &analysis, 80);
    let _ = tenbin_report::json::document(&experiment, &analysis, Path::new("store"), None);
});
