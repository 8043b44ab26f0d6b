//! Real output of netperf 2.7 (`testdata/netperf`), and lines of other versions and of people who paste them.

use std::fs;
use std::path::PathBuf;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;

use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/netperf");

fn fixture(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/2.7-git-{name}.txt")).unwrap()
}

fn parse(log: &str) -> Result<Vec<Run>, String> {
    assert!(Netperf.sniff(log.as_bytes()), "not recognised: {log}");
    let mut runs = Vec::new();
    Netperf.parse(&mut log.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// Every series of a run: metric, params, last sample, figures that are no mean; `*` marks a headline.
fn told(run: &Run) -> String {
    let mut lines = vec![run.benchmark.clone().unwrap_or_default()];
    for series in &run.series {
        let mut line = series.metric.name.to_string();
        if series.headline.is_some() {
            line += "*";
        }
        for param in series.params.values().filter(|param| **param != "total".into()) {
            line += &format!(" {param}");
        }
        if let Some(sample) = series.samples.last() {
            line += &format!(" {:.6e}", sample.value);
        }
        for (figure, value) in series.reported.iter().filter(|(figure, _)| *figure != "mean") {
            line += &format!(" {figure}={value:.6e}");
        }
        lines.push(line);
    }
    lines.join("; ")
}

#[track_caller]
fn check(log: &str, wanted: &str) {
    let runs = parse(log).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(told(&runs[0]), wanted);
}

fn kinds(run: &Run) -> Vec<CaveatKind> {
    run.caveats.iter().map(|caveat| caveat.kind).collect()
}

#[test]
fn streams() {
    check(&fixture("tcp-stream"), "TCP_STREAM; throughput* 5.980400e9; duration 2.000000e0");
    check(
        &fixture("tcp-stream-cpu"),
        "TCP_STREAM; throughput* 5.562610e9; duration 2.000000e0; cpu_utilization sender 1.000000e0; \
         cpu_utilization receiver 1.000000e0; cpu_per_byte sender 2.875977e-9; cpu_per_byte receiver 2.875977e-9",
    );
    check(&fixture("tcp-maerts"), "TCP_MAERTS; throughput* reverse 3.460320e9; duration 1.000000e0");
    check(&fixture("f-mbytes"), "TCP_STREAM; throughput* 4.711629e9; duration 1.000000e0");
    // What was not measured is printed as -1.
    let half = fixture("tcp-stream-cpu")
        .replace("100.00   100.00   2.945   2.945", "99.51    -1.00    2.945   -1.000");
    check(
        &half,
        "TCP_STREAM; throughput* 5.562610e9; duration 2.000000e0; cpu_utilization sender 9.951000e-1; \
         cpu_per_byte sender 2.875977e-9",
    );
    // Tests that never were part of the omni suite have no "MIGRATED" before their name.
    let many = fixture("tcp-stream-cpu").replace("MIGRATED TCP STREAM", "SCTP 1-TO-MANY STREAM");
    check(
        &many,
        "SCTP_STREAM_MANY; throughput* 5.562610e9; duration 2.000000e0; cpu_utilization sender 1.000000e0; \
         cpu_utilization receiver 1.000000e0; cpu_per_byte sender 2.875977e-9; cpu_per_byte receiver 2.875977e-9",
    );
    for (title, test) in [("SDP STREAM", "SDP_STREAM"), ("XTI TCP STREAM", "XTI_TCP_STREAM")] {
        let log = fixture("tcp-stream").replace("MIGRATED TCP STREAM", title);
        check(&log, &format!("{test}; throughput* 5.980400e9; duration 2.000000e0"));
    }
    let runs = parse(&fixture("tcp-stream-conf")).unwrap();
    assert_eq!(told(&runs[0]), "TCP_STREAM; throughput* 5.160730e9; duration 1.000000e0");
    assert_eq!(kinds(&runs[0]), [CaveatKind::NotConverged]);
    assert!(runs[0].caveats[0].text.ends_with("233.957%"));
}

#[test]
fn datagrams() {
    check(
        &fixture("udp-stream"),
        "UDP_STREAM; throughput sender 1.144690e9; throughput* receiver 3.953900e8; duration 1.000000e0; \
         packets_sent sender 1.397610e5; packets_received receiver 4.827500e4; packets_lost receiver 9.148600e4; \
         loss receiver 6.545889e-1",
    );
    assert!(
        told(&parse(&fixture("udp-stream-cpu")).unwrap()[0]).contains("cpu_per_byte receiver 1.241016e-8")
    );
    // Cut between its two rows.
    let log = fixture("udp-stream");
    let cut = log.split("212992           1.00").next().unwrap();
    assert_eq!(kinds(&parse(cut).unwrap()[0]), [CaveatKind::SenderOnly]);
    let dead = log.replace("48275            395.39", "0               0.00");
    let runs = parse(&dead).unwrap();
    assert_eq!(kinds(&runs[0]), [CaveatKind::NothingDelivered]);
    assert!(told(&runs[0]).contains("loss receiver 1.000000e0"));
    let more = log.replace("48275            395.39", "999999           9999.00");
    assert_eq!(kinds(&parse(&more).unwrap()[0]), [CaveatKind::Inconsistent]);
}

#[test]
fn responses() {
    check(&fixture("tcp-rr"), "TCP_RR; transaction_rate* 4.299740e4; duration 1.000000e0");
    check(&fixture("tcp-crr"), "TCP_CRR; transaction_rate* 1.048821e4; duration 1.000000e0");
    check(
        &fixture("tcp-rr-v2"),
        "TCP_RR; transaction_rate* 4.835988e4; duration 1.000000e0; rtt 2.067800e-5 n=4.836800e4",
    );
    check(
        &fixture("tcp-rr-cpu"),
        "TCP_RR; transaction_rate* 5.308100e4; duration 1.000000e0; cpu_utilization sender 1.000000e0; \
         cpu_utilization receiver 1.000000e0",
    );
}

#[test]
fn outputs_that_were_chosen() {
    check(&fixture("tcp-k"), "OMNI; throughput* 5.545610e9; duration 1.000000e0");
    check(&fixture("omni"), "OMNI; throughput* 4.796960e9; duration 1.000000e0");
    let rest =
        "max=5.422000e-3 median=1.000000e-5 min=6.000000e-6 p90=1.500000e-5 p99=2.200000e-5 sd=1.469600e-4";
    check(&fixture("rr-columns"), &format!("TCP_RR; transaction_rate* 5.819930e4; rtt {rest}"));
    let rest =
        "max=5.419000e-3 median=7.000000e-6 min=6.000000e-6 p90=1.100000e-5 p99=5.700000e-5 sd=1.728800e-4";
    check(&fixture("rr-o"), &format!("TCP_RR; transaction_rate* 5.984189e4; rtt {rest}"));
    let rest =
        "max=7.644000e-3 median=1.100000e-5 min=6.000000e-6 p90=1.400000e-5 p99=2.000000e-5 sd=1.704500e-4";
    check(&fixture("rr-k"), &format!("TCP_RR; transaction_rate* 5.056158e4; rtt 1.977800e-5 {rest}"));
    // Without its banner, and two of them.
    let bare: String = fixture("rr-k").lines().skip(1).map(|line| format!("{line}\n")).collect();
    assert_eq!(parse(&bare.repeat(2)).unwrap().len(), 2);
    // A mail program wrapped the heading and the values.
    let wrapped = fixture("rr-o").replace("Mean Latency", "Mean\nLatency").replace(",7,", ",7,\n");
    check(&wrapped, &told(&parse(&fixture("rr-o")).unwrap()[0]));
    check(
        "THROUGHPUT_UNITS=10^6bits/s\nPROTOCOL=UDP\nLOCAL_SEND_THROUGHPUT=548.73\nREMOTE_RECV_THROUGHPUT=236.54\n\
         LOCAL_SEND_CALLS=400\nREMOTE_RECV_CALLS=100\nLOCAL_CPU_UTIL=-1.00\n",
        "; throughput sender 5.487300e8; throughput* receiver 2.365400e8; packets_sent sender 4.000000e2; \
         packets_received receiver 1.000000e2; packets_lost receiver 3.000000e2; loss receiver 7.500000e-1",
    );
}

#[test]
fn interim_results() {
    let runs = parse(&fixture("tcp-demo")).unwrap();
    let samples: Vec<_> = runs[0].series[0].samples.iter().map(|sample| sample.value).collect();
    assert_eq!(samples, [4413.25e6, 4987e6, 5429.83e6, 4858.01e6]);
    assert!(!runs[0].series[0].params.contains_key("window"));
    assert_eq!(
        told(&runs[0]),
        "TCP_STREAM; throughput 4.858010e9; throughput* 4.903470e9; duration 2.000000e0"
    );
    let log = fixture("rr-demo");
    let cut = log.split("Local /Remote").next().unwrap();
    let runs = parse(cut).unwrap();
    assert_eq!(told(&runs[0]), "TCP_RR; transaction_rate 5.606009e4");
    assert_eq!(kinds(&runs[0]), [CaveatKind::Truncated]);
}

#[test]
fn old_versions_and_several_results() {
    let old = "\
TCP STREAM TEST to h : histogram
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.00     941.28
";
    check(old, "TCP_STREAM; throughput* 9.412800e8; duration 1.000000e1");
    assert_eq!(parse(&old.repeat(3)).unwrap().len(), 3);
    // A loop with -P 0 behind the first.
    let looped =
        format!("{old} 87380  16384  16384    10.00     940.11\n 87380  16384  16384    10.00     939.22\n");
    let rates: Vec<_> = parse(&looped).unwrap().iter().map(|run| run.series[0].samples[0].value).collect();
    assert_eq!(rates, [941.28e6, 940.11e6, 939.22e6]);
    let unit = |unit: &str, bits: f64| {
        let runs = parse(&old.replace("10^6bits/sec", unit)).unwrap();
        assert_eq!(runs[0].series[0].samples[0].value, 941.28 * bits, "{unit}");
    };
    unit("10^9bits/sec", 1e9);
    unit("KBytes/sec", 8192.0);
    unit("KBytes  /sec", 8192.0);
    // A last row that was cut may lack digits.
    assert!(parse(old.trim_end().strip_suffix("28").unwrap()).is_err());
}

#[test]
fn nothing_measured() {
    let said = parse(&fixture("refused")).unwrap_err();
    assert_eq!(
        said,
        "netperf measured nothing: establish control: are you sure there is a netserver listening on 192.0.2.9 at \
         port 12865?"
    );
    for log in [
        "",
        "hello",
        "87380 16384 16384 10.00 941.28\n",
        "A TEST from here\n",
        "THROUGHPUT=1\n",
        "a,b,c\n1,2,3\n",
    ] {
        assert!(!Netperf.sniff(log.as_bytes()), "{log}");
    }
}

#[test]
fn damaged_logs_never_panic() {
    let mut files: Vec<PathBuf> = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let log = fs::read_to_string(&file).unwrap();
        let read = |log: &str| {
            let _ = Netperf.parse(&mut log.as_bytes(), &mut Vec::new());
        };
        let step = (log.len() / 61).max(1);
        for cut in (0..log.len()).step_by(step) {
            read(&log[..cut]);
            read(&log[cut..]);
            read(&format!("{}{}", &log[..cut], &log[(cut + step).min(log.len())..]));
        }
        read(&log.replace(['0', '1', '2'], "9"));
        read(&log.replace(' ', ""));
        read(&log.replace("Size", "é"));
    }
}

#[test]
fn intervals_by_name() {
    let log = "MIGRATED UDP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.1 () port 0 AF_INET : demo\n\
               NETPERF_INTERIM_RESULT[0]=2034.50\nNETPERF_UNITS[0]=Trans/s\nNETPERF_INTERVAL[0]=0.250\n\
               NETPERF_ENDING[0]=1600000000.250\n\
               NETPERF_INTERIM_RESULT[1]=2114.00\nNETPERF_UNITS[1]=Trans/s\nNETPERF_INTERVAL[1]=0.251\n\
               NETPERF_ENDING[1]=1600000000.501\n";
    let end = "THROUGHPUT=2074.00\nTHROUGHPUT_UNITS=Trans/s\n";
    let runs = parse(&format!("{log}{end}")).unwrap();
    let values: Vec<Vec<f64>> = runs[0].series.iter().map(|series| series.values()).collect();
    assert_eq!(values, [vec![2034.5, 2114.0], vec![2074.0]]);
    let at: Vec<String> =
        runs[0].series[0].samples.iter().map(|sample| format!("{:.3}", sample.time().unwrap())).collect();
    assert_eq!(at, ["0.250", "0.501"]);
    // Cut within the second interval.
    let cut = log.strip_suffix("501\n").unwrap();
    assert_eq!(parse(cut).unwrap()[0].series[0].values(), [2034.5]);
}
