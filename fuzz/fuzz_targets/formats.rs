//! Logs of other tools: whatever a file holds, it is read to runs or to an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenbin_formats::{FORMATS, VIEWS, recognise};

fuzz_target!(|bytes: &[u8]| {
    let _ = recognise(bytes);
    for format in FORMATS {
        let mut runs = Vec::new();
        let _ = format.parse(&mut &*bytes, &mut runs);
        for (run, view) in runs.iter().flat_map(|run| VIEWS.iter().map(move |view| (run, view))) {
            let _ = view.print(run, &mut String::new());
        }
        for run in &runs {
            assert!(serde_json::to_string(run).is_ok());
        }
    }
});
