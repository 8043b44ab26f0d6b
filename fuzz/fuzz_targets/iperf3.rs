#![no_main]

libfuzzer_sys::fuzz_target!(|log: &[u8]| tenbin_fuzz::one_format("iperf3", log));
