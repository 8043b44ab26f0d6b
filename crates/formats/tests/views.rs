//! Every view, fed with every log in `testdata` of its tool: what it prints is read back.
//!
//! Twice: the second reading equals the first in all that forms hold (series with params, samples, figures; states and
//! events), and the first equals the run that was printed but for digits that the form does not print, and for what
//! stands in [`LOST`] with its reason.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use tenbin_core::run::Run;
use tenbin_core::sample::Series;
use tenbin_formats::{FORMATS, Format, VIEWS, View, recognise};

/// Views by name: the format that reads them, and how much of a value its digits may take away.
const READ_BY: [(&str, &str, f64); 12] = [
    ("crystaldiskmark", "crystaldiskmark", 1e-3),
    ("csv", "csv", 1e-12),
    ("fio-json", "fio", 1e-6),
    ("himeno", "himeno", 1e-5),
    ("imb", "imb", 0.02),
    ("iozone", "iozone", 1e-3),
    ("iperf3", "iperf3", 6e-3),
    ("iperf3-json", "iperf3", 1e-9),
    ("ipmitool", "ipmitool", 1e-3),
    ("osu", "osu", 0.02),
    ("ping", "ping", 1e-2),
    ("stream", "stream", 1e-3),
];

/// What a form has no place for: view, part of the log's name, how the series' name and params begin, why.
const LOST: &[(&str, &str, &str, &str)] = &[
    ("csv", "", "states and events", "it holds series only"),
    ("himeno", "-c-mpi-", "", "the one-process form names no ranks"),
    ("ipmitool", "-get.txt", "states and events", "lists have a status of two letters in every row"),
    ("iperf3", "", "cpu_utilization", "printed with -V only"),
    ("iperf3", "", "rtt", "in no column"),
    ("iperf3", "", "reordered", "on a line of its own, which the client prints for the server"),
    ("iperf3", "server-output", "throughput side=receiver", "intervals of the far side"),
    ("iperf3", "server-output", "transferred side=receiver", "intervals of the far side"),
    ("iperf3-json", "server-output", "throughput side=receiver", "intervals of the far side"),
    ("iperf3-json", "server-output", "transferred side=receiver", "intervals of the far side"),
];

/// Half of the last printed digit where values come close to it: a microsecond of iperf3's jitter.
const SMALL: f64 = 5e-7;

fn format(tool: &str) -> &'static dyn Format {
    FORMATS.iter().copied().find(|format| format.name() == tool).unwrap()
}

fn parsed(format: &dyn Format, mut log: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let _ = format.parse(&mut log, &mut runs);
    runs
}

fn printed(view: &dyn View, run: &Run) -> String {
    let mut text = String::new();
    view.print(run, &mut text).unwrap();
    text
}

fn name_of(series: &Series) -> String {
    let params: Vec<String> = series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", series.metric.name, params.join(" "))
}

fn near(a: f64, b: f64, share: f64) -> bool {
    a == b || (a - b).abs() <= (share * a.abs().max(b.abs())).max(if share > 1e-3 { SMALL } else { 0.0 })
}

fn is_lost(view: &str, file: &str, name: &str) -> bool {
    LOST.iter().any(|(of, log, start, _)| {
        // A start that names a side means intervals, whose totals are another series.
        let meant = !start.contains("side=") || !name.contains("window");
        *of == view && file.contains(log) && name.starts_with(start) && meant
    })
}

/// What `back` lacks of `run`, or has otherwise.
fn differences(view: &str, file: &str, run: &Run, back: &Run, share: f64) -> Vec<String> {
    let mut found = Vec::new();
    for series in &run.series {
        let name = name_of(series);
        if is_lost(view, file, &name) {
            continue;
        }
        let Some(other) = back.series.iter().find(|other| name_of(other) == name) else {
            found.push(format!("no {name}"));
            continue;
        };
        let (values, others) = (series.values(), other.values());
        if values.len() != others.len() || values.iter().zip(&others).any(|(a, b)| !near(*a, *b, share)) {
            let shown = |values: &[f64]| format!("{} {:?}", values.len(), &values[..values.len().min(3)]);
            found.push(format!("{name}: {} became {}", shown(&values), shown(&others)));
        }
    }
    let names: Vec<String> = run.series.iter().map(name_of).collect();
    let new = back.series.iter().map(name_of).filter(|name| !names.contains(name));
    let new = new.filter(|name| !is_lost(view, file, name));
    found.extend(new.map(|name| format!("made up {name}")));
    let states = |run: &Run| {
        let of = |state: &tenbin_core::run::SensorState| {
            (state.sensor.clone(), state.entity.clone(), state.status.clone())
        };
        (run.states.iter().map(of).collect::<Vec<_>>(), run.events.len())
    };
    if states(run) != states(back) && !is_lost(view, file, "states and events") {
        found.push(format!("states and events {:?} became {:?}", states(run), states(back)));
    }
    found
}

fn check(view: &dyn View, log: &Path, wrong: &mut Vec<String>) {
    let Some((_, tool, share)) = READ_BY.iter().find(|(name, _, _)| *name == view.name()) else {
        panic!("no format reads what {} prints", view.name());
    };
    let bytes = fs::read(log).unwrap();
    let Some(found) = recognise(&bytes) else { return };
    if found.name() != *tool && view.name() != "csv" {
        return;
    }
    for run in parsed(found, &bytes) {
        if run.series.is_empty() && is_lost(view.name(), "", "states and events") {
            continue;
        }
        let first = printed(view, &run);
        let file = log.file_name().unwrap().to_string_lossy();
        let back = parsed(format(tool), first.as_bytes());
        let [back] = back.as_slice() else {
            wrong.push(format!("{}: {file}: {} runs were read back", view.name(), back.len()));
            continue;
        };
        let lost = differences(view.name(), &file, &run, back, *share);
        wrong.extend(lost.into_iter().map(|what| format!("{}: {file}: {what}", view.name())));
        let again = parsed(format(tool), printed(view, back).as_bytes());
        match again.as_slice() {
            [again] => {
                let changed = differences(view.name(), &file, back, again, 1e-12);
                let said = |what| format!("{}: {file}, the second time: {what}", view.name());
                wrong.extend(changed.into_iter().map(said));
            }
            other => {
                wrong.push(format!("{}: {file}, the second time: {} runs", view.name(), other.len()));
            }
        }
    }
}

#[test]
fn what_is_printed_is_read_back() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata"));
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (tool, _, _) in READ_BY.iter().map(|(_, tool, share)| (tool, share, ())) {
        let Ok(logs) = fs::read_dir(folder.join(tool)) else { continue };
        for log in logs.map(|log| log.unwrap().path()).filter(|path| path.is_file()) {
            for view in VIEWS {
                check(*view, &log, &mut wrong);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}
