//! What the targets have in common. A target for a format is a file of three lines; [`one_format`] is its body.

use std::fs;

use tenbin_core::run::Run;
use tenbin_formats::{FORMATS, Format, ParseError, VIEWS, recognise};

#[path = "../../crates/formats/tests/sound/mod.rs"]
mod sound;

/// Reads `log` as the format of `tool`: it ends in sound runs or an error, in time that grows with the log's length,
/// and what the tool's own view prints of the runs can be read too.
pub fn one_format(tool: &str, log: &[u8]) {
    let Some(format) = FORMATS.iter().copied().find(|format| format.name() == tool) else {
        panic!("no format is called {tool}");
    };
    let _ = recognise(log);
    let (runs, outcome) = parsed(format, log);
    for run in &runs {
        let breaches = sound::breaches(run, tool);
        assert!(breaches.is_empty(), "{}", breaches.join("\n"));
        assert!(serde_json::to_string(run).is_ok(), "no document");
    }
    if let Err(error) = outcome {
        assert!(!error.to_string().is_empty());
    }
    for view in VIEWS.iter().filter(|view| view.name().trim_end_matches("-json") == tool) {
        let mut table = String::new();
        for run in &runs {
            let _ = view.print(run, &mut table);
        }
        let _ = parsed(format, table.as_bytes());
    }
    if sampled(log) {
        linear(format, log);
    }
}

fn parsed(format: &dyn Format, log: &[u8]) -> (Vec<Run>, Result<(), ParseError>) {
    let (mut log, mut runs) = (log, Vec::new());
    let outcome = format.parse(&mut log, &mut runs);
    (runs, outcome)
}

/// Whether to spend more time on `log`: one in some hundreds, always the same ones.
fn sampled(log: &[u8]) -> bool {
    let hash = log.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32).is_multiple_of(499)
}

const SHORT: usize = 32 << 10;
/// How many times as long the second log is.
const LONGER: u32 = 8;
/// Less CPU time than this says nothing about growth.
const TELLING: u64 = 300_000_000;

/// The log again and again: eight times as long must not take much more than eight times as long, be it many runs,
/// many rows, or one row or word that goes on and on.
fn linear(format: &dyn Format, log: &[u8]) {
    let last = log.split(|byte| *byte == b'\n').next_back().unwrap_or_default();
    let longest =
        log.split_inclusive(|byte| *byte == b'\n').max_by_key(|line| line.len()).unwrap_or_default();
    let (first, rest) = log.split_at(log.len() / 2);
    for (before, again) in [(&[][..], log), (log, longest), (log, last), (first, rest)] {
        if again.is_empty() {
            continue;
        }
        let time = |length: usize| {
            let long: Vec<u8> = before.iter().chain(again.iter().cycle()).take(length).copied().collect();
            let began = cpu_nanoseconds();
            let _ = parsed(format, &long);
            cpu_nanoseconds().saturating_sub(began)
        };
        let long = time(SHORT * LONGER as usize);
        if long > TELLING {
            let short = time(SHORT).max(time(SHORT));
            assert!(
                long < short * u64::from(LONGER) * 3,
                "{SHORT} bytes: {short} ns, {LONGER} times: {long} ns"
            );
        }
    }
}

/// CPU time of this thread so far: other load does not count.
fn cpu_nanoseconds() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default()
}
