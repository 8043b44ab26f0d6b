//! What an iperf3 peer announces: parameters, results, lengths.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenbin_engines::iperf3::wire::{Cookie, Parameters, RESULTS_LIMIT, Results, framed_length};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(parameters) = Parameters::from_json(bytes) {
        let again = Parameters::from_json(&parameters.to_json());
        assert!(again.is_ok(), "not read back: {parameters:?}");
    }
    if let Ok(results) = Results::from_json(bytes, &[1, 3, 4]) {
        let _ = results.to_json();
    }
    if let Some((head, _)) = bytes.split_first_chunk::<4>() {
        assert!(framed_length(*head, RESULTS_LIMIT).unwrap_or_default() <= RESULTS_LIMIT);
    }
    let _ = Cookie::from_text(&String::from_utf8_lossy(bytes)).text();
});
