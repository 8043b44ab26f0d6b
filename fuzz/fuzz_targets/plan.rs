//! Plan files: every text is a plan or an error that can be shown, and a plan has a schedule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenbin_core::{plan, schedule};

fuzz_target!(|text: &str| {
    match plan::parse("fuzz.toml", text, &tenbin_engines::specs()) {
        Ok(plan) => {
            schedule::balanced(7, plan.arms.len(), plan.blocks as usize);
            for (arm, measure) in plan.arms.iter().flat_map(|arm| plan.measures.iter().map(move |m| (arm, m)))
            {
                let params = plan.params_of(arm, measure);
                let seconds = tenbin_engines::find(&measure.engine).map(|e| (e.spec().seconds)(&params));
                assert!(seconds.is_none_or(|s| s.is_finite() && s >= 0.0), "{text}");
            }
        }
        Err(e) => assert!(!e.render().is_empty()),
    }
});
