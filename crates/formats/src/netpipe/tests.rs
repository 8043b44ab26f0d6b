//! Logs of real runs from testdata; copies and broken logs by hand.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/netpipe/", $name, ".txt"))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    assert!(NetPipe.sniff(text.as_bytes()), "not recognised: {text}");
    let mut runs = Vec::new();
    NetPipe.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// A run in one line: how many sizes, the caveats, and two sizes with 10^6 bit/s and microseconds.
fn brief(run: &Run) -> String {
    let kind = |caveat: &tenbin_core::caveat::Caveat| {
        serde_json::to_string(&caveat.kind).unwrap().trim_matches('"').to_owned()
    };
    let caveats: Vec<String> = run.caveats.iter().map(kind).collect();
    let series = run.series.iter().map(|series| {
        let factor = if series.metric.name == "latency" { 1e6 } else { 1e-6 };
        let show = |value: f64| ((value * factor * 1e4).round() / 1e4).to_string();
        let values: Vec<String> = series.values().into_iter().map(show).collect();
        let n = series.reported.get("n").map_or(String::new(), |n| format!(" n={n}"));
        format!("{}({}) {}{n}", series.metric.name, series.params["size_bytes"], values.join(" "))
    });
    let mut series: Vec<String> = series.collect();
    if series.len() > 5 {
        let left_out = series.len() - 4;
        series.splice(2..2 + left_out, [format!("... {left_out} ...")]);
    }
    format!("[{}] {}", caveats.join(" "), series.join("; "))
}

fn briefs(text: &str) -> String {
    match read(text) {
        Ok(runs) => runs.iter().map(brief).collect::<Vec<_>>().join("\n"),
        Err(error) => error,
    }
}

#[test]
fn versions_that_run_here() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted);
    // 589.15 * 2^20 bit/s.
    check(
        sample!("3.7.2-debian12-tcp"),
        "[unit-corrected best-of] throughput(1) 1.6987 n=26921; latency(1) 4.7 n=26921; ... 88 ...; \
         throughput(1027) 617.7686 n=3020; latency(1027) 13.3 n=3020",
    );
    check(
        sample!("3.7.2-debian12-tcp-np.out"),
        "[unit-corrected best-of] throughput(1) 1.7032; latency(1) 4.7; ... 88 ...; throughput(1027) 617.7679; \
         latency(1027) 13.3",
    );
    check(
        sample!("3.7.2-debian12-tcp-bidirectional"),
        "[unit-corrected best-of] throughput(1) 1.5729 n=2199; latency(1) 10.18 n=2199; ... 64 ...; \
         throughput(259) 259.4282 n=3039; latency(259) 15.97 n=3039",
    );
    // Host names stand in the middle of the first row.
    check(
        sample!("3.7.2-debian12-mpi"),
        "[unit-corrected best-of foreign-lines] throughput(1) 1.3002 n=175493; latency(1) 6.17 n=175493; ... 64 ...; \
         throughput(259) 984.3717 n=13580; latency(259) 2.1 n=13580",
    );
    check(
        sample!("5-openmpi-4.1.4-mpi"),
        "[summary-only note] throughput(1) 0.2311 n=1; latency(1) 34.62 n=1; ... 80 ...; throughput(2097000) 3651 n=1; \
         latency(2097000) 4595 n=1",
    );
    // A rate of 0.000 Gbps has lost its digits.
    check(
        sample!("5-openmpi-4.1.4-mpi-np.out"),
        "[summary-only] latency(1) 34.62; throughput(2) 19; ... 79 ...; throughput(2097152) 3651; \
         latency(2097152) 4595.35",
    );
    let facts = &read(sample!("3.7.2-debian12-tcp-bidirectional")).unwrap()[0].facts;
    assert_eq!(facts["netpipe.bidirectional"].value, Some(true.into()));
    assert_eq!(facts["netpipe.send_buffer"].value, Some(16384.into()));
}

#[test]
fn copies_and_interruptions() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted, "{text}");
    let rows = "  0:       1 bytes   2000 times -->      1.00 Mbps in       7.63 usec\n\
                \x20 1:   65536 bytes    100 times -->   1000.00 Mbps in     500.00 usec\n";
    let values = "throughput(1) 1.0486 n=2000; latency(1) 7.63 n=2000; throughput(65536) 1048.576 n=100; \
                  latency(65536) 500 n=100";
    check(rows, &format!("[unit-corrected best-of] {values}"));
    check(&rows.replace("  ", " "), &format!("[unit-corrected best-of] {values}"));
    check(&format!("$ NPtcp -h a\n{rows}$ exit\n"), &format!("[unit-corrected best-of] {values}"));
    // Twice.
    let both = format!("[unit-corrected best-of] {values}\n[unit-corrected best-of] {values}");
    check(&format!("{rows}{rows}"), &both);
    check(&format!("Now starting the main loop\n{rows}Now starting the main loop\n{rows}"), &both);
    // Cut: a row without its end, a row whose end is whole.
    let first = "[unit-corrected best-of] throughput(1) 1.0486 n=2000; latency(1) 7.63 n=2000";
    let cut = |keep: usize| &rows[..rows.len() - keep];
    check(cut(3), first);
    check(cut(8), first);
    check(cut(1), &format!("[unit-corrected best-of] {values}"));
    // Version 5: every row has units of its own, and says when data were damaged.
    check(
        "  1:      1  B        10 times -->   80.000 Mbps  in  100.000 nsecs\n  \
         2:  1.000 KB        10 times -->    8.000 Gbps  in    1.000 usecs   3 failures\n",
        "[summary-only error-reported] throughput(1) 80 n=10; latency(1) 0.1 n=10; throughput(1000) 8000 n=10; \
         latency(1000) 1 n=10",
    );
    check(
        "  0:       1 bytes   2000 times -->  inf Mbps in nan usec\nNow starting the main loop\nNPtcp: cannot connect\n",
        "netpipe measured nothing: NPtcp: cannot connect",
    );
}

#[test]
fn other_texts() {
    let check = |text: &str| assert!(!NetPipe.sniff(text.as_bytes()), "{text}");
    check("1 1.000000 0.00000100\n2 1.000000 0.00000100\n3 1.000000 0.00000100\n");
    check("1 2.000 3.000 4.000 5.00\n2 2.000 3.000 4.000 5.00\n");
    check("1,2\n");
    check("printf(\"%3d: %7d bytes %6d times --> \", n, size, nrepeat);\n");
    check("10 times --> faster\n");
}
