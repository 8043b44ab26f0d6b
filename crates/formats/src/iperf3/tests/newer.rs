//! Real output of iperf3 3.21 between two network namespaces, and rows as mail programs leave them.

use std::fs;

use super::{check, parse, series};

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/iperf3");
    fs::read_to_string(format!("{folder}/3.21-veth-{name}")).unwrap()
}

/// A figure of the `end` object, as the document prints it.
fn printed(log: &str, sum: &str, key: &str) -> f64 {
    let document: serde_json::Value = serde_json::from_str(log).unwrap();
    document["end"][sum][key].as_f64().unwrap()
}

#[test]
fn a_server_of_datagrams_says_what_arrived() {
    let log = fixture("udp-server.json");
    let rate = printed(&log, "sum_received", "bits_per_second");
    assert!(rate > 7e6);
    check(&log, "throughput", "side=receiver window=total", 1, rate);
    check(&log, "transferred", "side=receiver window=total", 1, 3e6);
}

#[test]
fn both_directions_of_datagrams_have_both_sides() {
    let log = fixture("udp-bidir-client.json");
    for (direction, suffix) in [("forward", ""), ("reverse", "_bidir_reverse")] {
        for (side, sum) in [("sender", "sum_sent"), ("receiver", "sum_received")] {
            let rate = printed(&log, &format!("{sum}{suffix}"), "bits_per_second");
            let params = format!("direction={direction} side={side} window=total");
            check(&log, "throughput", &params, 1, rate);
        }
        check(&log, "reordered", &format!("direction={direction} side=receiver window=total"), 1, 0.0);
    }
}

#[test]
fn a_server_that_sends_datagrams() {
    let log = fixture("udp-reverse-server.txt");
    check(&log, "throughput", "direction=reverse side=sender", 2, 8e6);
    check(&log, "throughput", "direction=reverse side=sender window=total", 1, 8e6);
}

#[test]
fn events_without_and_with_the_whole_document_behind() {
    let warm = parse(&fixture("tcp-p2-o1-stream-client.json")).unwrap();
    assert_eq!(series(&warm[0], "throughput", "side=sender").unwrap().samples.len(), 2);
    let full = parse(&fixture("tcp-full-stream-client.json")).unwrap();
    assert_eq!(full.len(), 1);
    assert_eq!(series(&full[0], "throughput", "side=sender").unwrap().samples.len(), 2);
}

#[test]
fn an_event_that_tells_of_a_failure_only() {
    let said = parse(&fixture("refused-stream-client.json")).unwrap_err().to_string();
    let words = "unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: \
        Connection refused";
    assert_eq!(said, format!("iperf3 measured nothing: {words}"));
}

#[test]
fn any_stamp_ahead_of_the_row() {
    for (name, rate) in [
        ("tcp-timestamps-default", 4.00e7),
        ("tcp-timestamps-glued", 4.03e7),
        ("tcp-timestamps-ampm", 4.02e7),
        ("udp-timestamps-odd", 8.00e6),
    ] {
        let log = fixture(&format!("{name}-client.txt"));
        check(&log, "throughput", "side=receiver window=total", 1, rate);
        let runs = parse(&log).unwrap();
        assert_eq!(series(&runs[0], "throughput", "side=sender").unwrap().samples.len(), 2, "{name}");
    }
}

#[test]
fn rows_that_a_mail_program_broke() {
    let log = "> Connecting to host 192.0.2.2, port 5201\n\
        > [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
        > [  5]   0.00-1.00   sec  4.88 MBytes  40.9 Mbits/sec    2    273\n\
        > KBytes\n\
        > - - - - - - - - - - - - -\n\
        > [ ID] Interval           Transfer     Bitrate         Retr\n\
        > [  5]   0.00-1.00   sec  4.88 MBytes  40.9 Mbits/sec   73\n\
        >     sender\n\
        > [  5]   0.00-1.01   sec  4.80 MBytes  39.9 Mbits/sec\n\
        >     receiver\n\
        >\n\
        > iperf Done.\n";
    assert_eq!(parse(log).unwrap().len(), 1);
    check(log, "cwnd", "side=sender", 1, 273.0 * 1024.0);
    check(log, "throughput", "side=sender window=total", 1, 4.09e7);
    check(log, "throughput", "side=receiver window=total", 1, 3.99e7);
    let log = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/To=\n\
        tal Datagrams\n\
        > [  5]   0.00-5.00   sec   610 KBytes  1.00 Mbits/sec  0.000 ms  0/432 (=\n\
        0%)  sender\n\
        > [  5]   0.00-5.03   sec   566 KBytes   923 Kbits/sec  0.051 ms  31/432 =\n\
        (7.2%)  receiver\n\
        > iperf Done.\n";
    check(log, "throughput", "side=sender window=total", 1, 1e6);
    check(log, "throughput", "side=receiver window=total", 1, 9.23e5);
    check(log, "loss", "side=receiver window=total", 1, 31.0 / 432.0);
}

#[test]
fn times_that_fill_their_column() {
    let log = "[ ID] Interval           Transfer     Bandwidth       Retr\n\
        [  4]   0.00-20.00sec  2.30 GBytes   988 Mbits/sec   12             sender\n\
        [  4]   0.00-20.00sec  2.29 GBytes   984 Mbits/sec                  receiver\n";
    check(log, "throughput", "side=sender window=total", 1, 9.88e8);
    check(log, "throughput", "side=receiver window=total", 1, 9.84e8);
}

#[test]
fn roles_tell_whose_rows_they_are() {
    let log = "[  5][TX-C]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec    1    147 KBytes\n\
        [  7][RX-C]   0.00-1.00   sec  11.0 MBytes  92.3 Mbits/sec\n\
        [  5][RX-S]   0.00-1.00   sec  11.9 MBytes  99.8 Mbits/sec\n\
        [  8][TX-S]   0.00-1.00   sec  11.2 MBytes  94.0 Mbits/sec    0    158 KBytes\n";
    let runs = parse(log).unwrap();
    let rate = |run: usize, params: &str| series(&runs[run], "throughput", params).unwrap().samples[0].value;
    assert_eq!(rate(0, "direction=forward side=sender"), 1.01e8);
    assert_eq!(rate(0, "direction=reverse side=receiver"), 9.23e7);
    assert_eq!(rate(1, "direction=forward side=receiver"), 9.98e7);
    assert_eq!(rate(1, "direction=reverse side=sender"), 9.40e7);
}
