//! Real output of iperf 2.1.8 (`testdata/iperf2`), and lines of other versions and of people who paste them.

use std::fs;
use std::path::PathBuf;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;

use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/iperf2");

fn fixtures() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn fixture(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/2.1.8-debian12-{name}")).unwrap()
}

fn parse(log: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    Iperf2.parse(&mut log.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    assert!(Iperf2.sniff(log.as_bytes()), "not recognised: {log}");
    Ok(runs)
}

/// `metric params: number of samples, last value`, for the series whose metric is `metric`; `*` marks a headline.
fn told(run: &Run, metric: &str) -> String {
    let mut lines = Vec::new();
    for series in run.series.iter().filter(|series| series.metric.name == metric) {
        let words: Vec<String> = series.params.values().map(ToString::to_string).collect();
        let star = if series.headline.is_some() { "*" } else { "" };
        let last = series.samples.last().map(|sample| sample.value).unwrap();
        let line = format!("{}{star} {}x {last:.6e}", words.join(" "), series.samples.len());
        lines.push(line.trim_start().to_owned());
    }
    lines.join("; ")
}

#[track_caller]
fn check(log: &str, number: usize, metric: &str, wanted: &str) {
    let runs = parse(log).unwrap();
    assert_eq!(told(&runs[number], metric), wanted);
}

fn kinds(run: &Run) -> Vec<CaveatKind> {
    run.caveats.iter().map(|caveat| caveat.kind).collect()
}

#[test]
fn streams() {
    let log = fixture("tcp-client.txt");
    check(&log, 0, "throughput", "sender 2x 5.380000e9; sender total* 1x 4.310000e9");
    let log = fixture("tcp-server.txt");
    check(&log, 0, "throughput", "receiver 2x 5.350000e9; receiver total* 1x 4.400000e9");
    let log = fixture("tcp-e-p2-client.txt");
    let wanted = "sender 1 2x 2.620000e9; sender 2 2x 2.260000e9; sender 2x 4.880000e9; sender 1 total 1x 3.180000e9; \
                  sender 2 total 1x 2.700000e9; sender total* 1x 5.970000e9";
    check(&log, 0, "throughput", wanted);
    let wanted = "sender 1 2x 0.000000e0; sender 2 2x 5.070000e2; sender 2x 5.070000e2; sender 1 total 1x 5.630000e2; \
                  sender 2 total 1x 5.070000e2; sender total 1x 1.070000e3";
    check(&log, 0, "retransmits", wanted);
    check(&log, 0, "cwnd", "sender 1 2x 1.386496e6; sender 2 2x 1.511424e6");
    let runs = parse(&fixture("tcp-e-p2-server.txt")).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(told(&runs[0], "throughput").ends_with("receiver total* 1x 5.980000e9"));
    assert_eq!(runs[0].facts["iperf2.peer_version"].value, Some("2.1.8".into()));
    check(&fixture("f-mbytes-client.txt"), 0, "throughput", "sender total* 1x 5.226103e9");
}

#[test]
fn both_directions() {
    let wanted = "forward sender total* 1x 3.680000e9; reverse receiver total* 1x 2.840000e9";
    let log = fixture("dualtest-client.txt");
    let sorted = |log: &str| {
        let mut lines: Vec<String> =
            told(&parse(log).unwrap()[0], "throughput").split("; ").map(str::to_owned).collect();
        lines.sort();
        lines.join("; ")
    };
    assert_eq!(sorted(&log), wanted);
    let wanted = "forward receiver total* 1x 3.700000e9; reverse sender total* 1x 2.820000e9";
    assert_eq!(sorted(&fixture("dualtest-server.txt")), wanted);
    let wanted = "forward sender 2x 2.830000e9; forward sender total* 1x 3.110000e9; \
                  reverse receiver 2x 2.800000e9; reverse receiver total* 1x 3.630000e9";
    assert_eq!(sorted(&fixture("fullduplex-client.txt")), wanted);
    let wanted = "reverse receiver 2x 8.440000e9; reverse receiver total* 1x 7.480000e9";
    assert_eq!(sorted(&fixture("reverse-client.txt")), wanted);
    // One direction after the other.
    let log = fixture("tradeoff-client.txt");
    check(&log, 0, "throughput", "sender total* 1x 4.580000e9");
    check(&log, 1, "throughput", "reverse receiver total* 1x 5.720000e9");
    let log = fixture("tradeoff-server.txt");
    check(&log, 0, "throughput", "receiver total* 1x 4.610000e9");
    check(&log, 1, "throughput", "reverse sender total* 1x 5.660000e9");
}

#[test]
fn datagrams() {
    let log = fixture("udp-e-client.txt");
    let wanted = "sender 2x 2.000000e7; sender total 1x 2.000000e7; receiver total* 1x 2.010000e7";
    check(&log, 0, "throughput", wanted);
    check(&log, 0, "jitter", "receiver total 1x 3.000000e-6");
    check(&log, 0, "loss", "receiver total 1x 0.000000e0");
    check(&log, 0, "packets_sent", "sender total 1x 3.406000e3");
    check(&log, 0, "latency", "receiver total 1x 3.000000e-5");
    let log = fixture("udp-server.txt");
    let runs = parse(&log).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(told(&runs[0], "throughput").ends_with("receiver 1x 4.010000e7; receiver total* 1x 4.000000e7"));
    check(
        &log,
        0,
        "reordered",
        "receiver 1 1x 1.000000e0; receiver 1 total 1x 1.000000e0; \
                                 receiver 1x 1.000000e0; receiver total 1x 1.000000e0",
    );
    let log = fixture("udp-p2-client.txt");
    check(&log, 0, "packets_lost", "receiver 2 total 1x 0.000000e0; receiver 1 total 1x 1.000000e0");
    check(
        &log,
        0,
        "packets_sent",
        "sender 2 total 1x 3.406000e3; sender 1 total 1x 3.406000e3; sender total 1x 6.812000e3",
    );
    let runs = parse(&fixture("noack-client.txt")).unwrap();
    assert_eq!(
        kinds(&runs[0]),
        [CaveatKind::ErrorReported, CaveatKind::ErrorReported, CaveatKind::SenderOnly]
    );
    check(
        &fixture("triptimes-server.txt"),
        0,
        "latency",
        "receiver 2x 5.300000e-4; receiver total 1x 4.660000e-4",
    );
}

#[test]
fn datagrams_of_old_versions() {
    let client = "\
------------------------------------------------------------
Client connecting to h, UDP port 5001
Sending 1470 byte datagrams
UDP buffer size:  208 KByte (default)
------------------------------------------------------------
[  3] local 192.0.2.1 port 40001 connected with 192.0.2.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec   129 KBytes  1.06 Mbits/sec
[  3]  1.0- 2.0 sec   128 KBytes  1.05 Mbits/sec
[  3]  0.0- 2.0 sec   257 KBytes  1.05 Mbits/sec
[  3] Sent 179 datagrams
[  3] Server Report:
[  3]  0.0- 2.0 sec   243 KBytes   992 Kbits/sec   0.022 ms   10/  179 (5.6%)
[  3]  0.0- 2.0 sec  3 datagrams received out-of-order
";
    check(
        client,
        0,
        "throughput",
        "sender 2x 1.050000e6; sender total 1x 1.050000e6; receiver total* 1x 9.920000e5",
    );
    check(client, 0, "loss", "receiver total 1x 5.586592e-2");
    check(client, 0, "reordered", "receiver total 1x 3.000000e0");
    let loss = parse(client).unwrap()[0].series.iter().find(|series| series.metric.name == "loss").cloned();
    assert!((loss.unwrap().reported["mean"] - 0.056).abs() < 1e-12);
    // The line that announces it fell out of the log.
    let bare = client.replace("[  3] Server Report:\n", "");
    check(&bare, 0, "jitter", "receiver total 1x 2.200000e-5");
    // A counter that ran over, and one that counted nothing: no share.
    for counts in ["-5/  179 (-2.8%)", "0/    0 (-nan%)", "400/  179 (223%)"] {
        let runs = parse(&client.replace("10/  179 (5.6%)", counts)).unwrap();
        assert_eq!(told(&runs[0], "loss"), "", "{counts}");
    }
}

#[test]
fn bounceback() {
    let log = fixture("bounceback-client.txt");
    check(&log, 0, "rtt", "sender 2x 2.700000e-5; sender total* 1x 2.570000e-4");
    check(&log, 0, "transaction_rate", "sender 2x 3.731300e4; sender total 1x 3.891000e3");
    let runs = parse(&log).unwrap();
    let total = runs[0].series.iter().find(|series| series.headline.is_some()).unwrap();
    assert_eq!(total.reported["max"], 0.004623);
    assert_eq!(total.reported["n"], 20.0);
    let later = "[  1] 0.00-1.00 sec  1.95 KBytes  16.0 Kbits/sec    10=0.487/0.012/4.623/1.453 ms    0   14K(10)/20(5) us  \
                 Tx=1000 Rx=1000  RPS=2053(2060)\n";
    check(later, 0, "transaction_rate", "sender total 1x 2.053000e3");
}

#[test]
fn comma_separated() {
    let log = fixture("p2-client.csv");
    let wanted = "sender 1 2x 3.796894e9; sender 2 2x 4.556063e9; sender 1 total* 1x 3.386168e9; sender 2 total* 1x 3.899571e9";
    check(&log, 0, "throughput", wanted);
    let log = fixture("udp-client.csv");
    check(&log, 0, "throughput", "sender 2x 9.996000e6; sender total* 1x 1.001106e7");
    check(&log, 0, "loss", "");
    let log = fixture("udp-p2-server.csv");
    check(
        &log,
        0,
        "packets_lost",
        "receiver 2 2x 0.000000e0; receiver 1 2x 0.000000e0; \
                                    receiver 2 total 1x 1.000000e0; receiver 1 total 1x 0.000000e0",
    );
    // 2.0: sums under the id -1, the server's report behind the client's line with the ends swapped.
    let sums = "\
20110407104300,192.0.2.1,50123,192.0.2.2,5001,3,0.0-10.0,1000000,800000
20110407104300,192.0.2.1,50124,192.0.2.2,5001,4,0.0-10.0,2000000,1600000
20110407104300,192.0.2.1,0,192.0.2.2,5001,-1,0.0-10.0,3000000,2400000
";
    check(
        sums,
        0,
        "throughput",
        "sender 3 total 1x 8.000000e5; sender 4 total 1x 1.600000e6; sender total* 1x 2.400000e6",
    );
    let report = "\
20110407104300,192.0.2.1,50123,192.0.2.2,5001,3,0.0-10.0,1312710,1049998
20110407104300,192.0.2.2,5001,192.0.2.1,50123,3,0.0-10.0,1300000,1040000,0.021,8,893,0.896,0
";
    check(report, 0, "throughput", "sender total 1x 1.049998e6; receiver total* 1x 1.040000e6");
    check(report, 0, "loss", "receiver total 1x 8.958567e-3");
    // A server of 2.0, and three clients of it at once and after each other.
    let line = |host: &str, span: &str, bits: u32| {
        format!("20110407104300,192.0.2.2,5001,{host},40000,4,{span},{},{bits}\n", bits / 8)
    };
    let server = [
        line("192.0.2.1", "0.0-1.0", 8000),
        line("192.0.2.3", "0.0-1.0", 80000),
        line("192.0.2.1", "1.0-2.0", 16000),
        line("192.0.2.3", "1.0-2.0", 80000),
    ];
    let log = server.concat();
    check(&log, 0, "throughput", "receiver 2x 1.600000e4");
    check(&log, 1, "throughput", "receiver 2x 8.000000e4");
    assert_eq!(kinds(&parse(&log).unwrap()[0]), [CaveatKind::Truncated]);
    // 2.2 with -e names its columns.
    let named = "\
time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar
-0700:20240407104300.123456,192.0.2.1,50123,192.0.2.2,5001,1,0.0,2.0,1000000,4000000,8,0,5,14,10,250,20
";
    check(named, 0, "throughput", "sender total* 1x 4.000000e6");
    check(named, 0, "retransmits", "sender total 1x 5.000000e0");
    check(named, 0, "rtt", "sender total 1x 2.500000e-4");
    // The last line was cut within its last number.
    assert!(parse("20110407104300,192.0.2.1,50123,192.0.2.2,5001,3,0.0-10.0,1000000,80").is_err());
}

#[test]
fn several_tests_in_one_log() {
    let log = fixture("four-clients-server.txt");
    let rates: Vec<String> = parse(&log).unwrap().iter().map(|run| told(run, "throughput")).collect();
    assert_eq!(rates.len(), 4);
    assert_eq!(rates[3], "receiver total* 1x 5.010000e9");
    // Clients of several hosts at once: each has its own run.
    let server = "\
Server listening on TCP port 5001
[  4] local 192.0.2.9 port 5001 connected with 192.0.2.1 port 1111
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec
[  5] local 192.0.2.9 port 5001 connected with 192.0.2.2 port 2222
[  4]  1.0- 2.0 sec  1.00 MBytes  8.39 Mbits/sec
[  5]  0.0- 1.0 sec  2.00 MBytes  16.8 Mbits/sec
[  4]  0.0- 2.0 sec  2.00 MBytes  8.39 Mbits/sec
[  5]  1.0- 2.0 sec  2.00 MBytes  16.8 Mbits/sec
[  5]  0.0- 2.0 sec  4.00 MBytes  16.8 Mbits/sec
";
    check(server, 0, "throughput", "receiver 2x 8.390000e6; receiver total* 1x 8.390000e6");
    check(server, 1, "throughput", "receiver 2x 1.680000e7; receiver total* 1x 1.680000e7");
    // End lines that a grep left over.
    let lines = "[  3]  0.0-10.0 sec  1.09 GBytes   934 Mbits/sec\n[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n";
    assert_eq!(parse(lines).unwrap().len(), 2);
    let lines = "[  1] 0.0000-10.0113 sec  1.09 GBytes   934 Mbits/sec\n[  1] 0.0000-10.0134 sec  1.10 GBytes   941 Mbits/sec\n";
    assert_eq!(parse(lines).unwrap().len(), 2);
    // A lone interval that was the whole test, printed twice.
    let lines = "[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n".repeat(2);
    check(&lines, 0, "throughput", "1x 9.410000e8; total* 1x 9.410000e8");
}

#[test]
fn pasted_and_cut() {
    let cut = "[  3]  0.0- 1.0 sec  1.00 MBytes  8.39 Mbits/sec\n[  3]  1.0- 2.0 sec  1.00 MBytes  8.39 Mbits/sec\n";
    assert_eq!(kinds(&parse(cut).unwrap()[0]), [CaveatKind::Truncated]);
    // The last line may lack its end.
    check(&format!("{cut}[  3]  2.0- 3.0 sec  1.00 MBytes  8.3"), 0, "throughput", "2x 8.390000e6");
    check(
        &format!("{cut}[  3]  2.0- 3.0 sec  1.00 MBytes  8.40 Mbits/sec"),
        0,
        "throughput",
        "3x 8.400000e6",
    );
    let stopped = format!(
        "Client connecting to h, TCP port 5001\n{cut}^C[  3]  0.0- 2.5 sec  2.60 MBytes  8.39 Mbits/sec\n"
    );
    check(&stopped, 0, "throughput", "sender 2x 8.390000e6; sender total* 1x 8.390000e6");
    assert_eq!(kinds(&parse(&stopped).unwrap()[0]), [CaveatKind::Interrupted]);
    // Columns that ran together, as web pages leave them.
    let web = "user@h:~$ iperf -s\n[ 4] 0.0-10.0 sec 1.25 MBytes 1.05 Mbits/sec 0.003 ms 0/ 893 (0%)\n";
    check(web, 0, "jitter", "receiver total 1x 3.000000e-6");
    // Two decimals, as iperf3 has, but iperf 2's columns.
    let enhanced = "[  3] 0.00-2.00 sec  15961817088 Bytes  25537890933 bits/sec  121779/0          7       -1K/98 us  32573840.48\n";
    check(enhanced, 0, "throughput", "sender total* 1x 2.553789e10");
    check(enhanced, 0, "retransmits", "sender total 1x 7.000000e0");
    check(enhanced, 0, "cwnd", "");
    let inflight = "[  1] 0.00-1.00 sec  2.63 GBytes  22.6 Gbits/sec  21554/0         3     1471K(1041)/3062K(2167)/26(5) us  108.5\n\
                    [  1] 1.00-2.00 sec  2.63 GBytes  22.6 Gbits/sec  21554/0         3     1471K(1041)/3063K(2167)/27(5) us  108.5\n";
    check(inflight, 0, "cwnd", "sender 2x 3.136512e6");
    check(inflight, 0, "rtt", "sender 2x 2.700000e-5");
    assert_eq!(
        parse(&fixture("refused-client.txt")).unwrap_err(),
        "iperf2 measured nothing: tcp connect failed: Connection refused"
    );
}

#[test]
fn not_ours() {
    for log in [
        "",
        "hello",
        "[  5]   0.00-1.00   sec  1.10 GBytes  9.47 Gbits/sec    0    767 KBytes\n",
        "Connecting to host h, port 5201\n[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n",
        "-----\nServer listening on 5201 (test #1)\n-----\n",
        "20261201042852,a,b,c\n",
        "let text = \"[ ID] Interval       Transfer     Bandwidth\";\n",
    ] {
        assert!(!Iperf2.sniff(log.as_bytes()), "{log}");
    }
}

#[test]
fn every_fixture_reads_and_damaged_ones_never_panic() {
    for file in fixtures() {
        let log = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(parse(&log).is_err(), name.contains("refused"), "{name}");
        let read = |log: &str| {
            let _ = Iperf2.parse(&mut log.as_bytes(), &mut Vec::new());
        };
        let step = (log.len() / 61).max(1);
        for cut in (0..log.len()).step_by(step) {
            read(&log[..cut]);
            read(&log[cut..]);
            read(&format!("{}{}", &log[..cut], &log[(cut + step).min(log.len())..]));
        }
        read(&log.replace(['0', '1', '2'], "9"));
        read(&log.replace(' ', ""));
        read(&log.replace("sec", "é"));
    }
}

#[test]
fn no_datagram_arrived() {
    let runs = parse(&fixture("udp-reverse-nothing-client.txt")).unwrap();
    assert_eq!(
        runs[0].caveats.iter().map(|caveat| caveat.kind).collect::<Vec<_>>(),
        [CaveatKind::NothingDelivered]
    );
    assert_eq!(
        told(&runs[0], "throughput"),
        "reverse receiver 6x 0.000000e0; reverse receiver total* 1x 0.000000e0"
    );
    assert_eq!(told(&runs[0], "jitter"), "");
    assert_eq!(told(&runs[0], "loss"), "");
}
