//! Logs in which several tools speak: whatever a file holds, it is read to runs or to errors that can be shown, and
//! every table prints every run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenbin_formats::{VIEWS, read_log};

fuzz_target!(|bytes: &[u8]| {
    let mut runs = Vec::new();
    for unread in read_log(&mut &*bytes, &mut runs) {
        assert!(!unread.to_string().is_empty());
    }
    for (run, view) in runs.iter().flat_map(|run| VIEWS.iter().map(move |view| (run, view))) {
        let _ = view.print(run, &mut String::new());
    }
});
