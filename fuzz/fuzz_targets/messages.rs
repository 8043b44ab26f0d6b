//! What agents and stores hand over as JSON: what is read is written and read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tenbin_core::env::Environment;
use tenbin_core::experiment::Experiment;
use tenbin_core::job::Job;
use tenbin_core::plan::Plan;
use tenbin_core::run::Run;
use tenbin_core::sample::Series;

fn there_and_back<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(bytes) else { return };
    let Ok(written) = serde_json::to_string(&read) else { panic!("read and not writable") };
    assert!(serde_json::from_str::<T>(&written).is_ok(), "not read back: {written}");
}

fuzz_target!(|bytes: &[u8]| {
    there_and_back::<Run>(bytes);
    there_and_back::<Series>(bytes);
    there_and_back::<Job>(bytes);
    there_and_back::<Environment>(bytes);
    there_and_back::<Plan>(bytes);
    there_and_back::<Experiment>(bytes);
});
