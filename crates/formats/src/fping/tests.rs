//! Debian's fping, whose output lies in testdata, and other versions by hand.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/fping/fping-5.1-debian12-", $name, ".txt"))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    Fping.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// What matters of a run in one line: samples and figures in microseconds by the end of the target's name, counts,
/// caveats.
fn brief(run: &Run) -> String {
    let mut parts = Vec::new();
    for series in &run.series {
        let us = |seconds: &f64| (seconds * 1e6).round().to_string();
        let name = series.metric.name.as_ref();
        let target = series.params.get("target").map_or_else(String::new, ToString::to_string);
        let target = target.rsplit('.').next().unwrap_or_default();
        let total = if series.params.contains_key("window") { "*" } else { "" };
        parts.push(match name {
            "rtt" => {
                let samples: Vec<String> = series.values().iter().map(us).collect();
                let figure = |key| series.reported.get(key).map_or_else(|| "-".to_owned(), us);
                let figures = ["min", "mean", "max"].map(figure).join("/");
                format!("{target}{total} rtt {} {figures}", samples.join(" "))
            }
            name => format!("{target}{total} {name} {}", (series.values()[0] * 1e4).round() / 1e4),
        });
    }
    for caveat in &run.caveats {
        parts.push(serde_json::to_string(&caveat.kind).unwrap().trim_matches('"').to_owned());
    }
    parts.join("; ").replace("packets_sent", "sent").replace("packets_received", "got")
}

fn check(text: &str, wanted: &[&str]) {
    assert!(Fping.sniff(text.as_bytes()), "not recognised: {text}");
    let briefs: Vec<String> = read(text).unwrap().iter().map(brief).collect();
    assert_eq!(briefs, wanted, "{text}");
}

#[test]
fn as_debian_has_it() {
    check(
        sample!("c"),
        &["2 sent 3; 2 got 3; 2 loss 0; 2 rtt 46 49 54 46/50/54; 77 sent 3; 77 got 0; 77 loss 1"],
    );
    check(
        sample!("vcount-quiet"),
        &["2 sent 4; 2 got 4; 2 loss 0; 2 rtt 47 60 53 57 -/-/-; 77 sent 4; 77 got 0; 77 loss 1; \
           2001:db8::2 sent 4; 2001:db8::2 got 0; 2001:db8::2 loss 1"],
    );
    check(
        sample!("vcount"),
        &["2 sent 2; 2 got 2; 2 loss 0; 2 rtt 47 53 -/-/-; 77 sent 2; 77 got 0; 77 loss 1"],
    );
    check(
        sample!("icmp"),
        &["2 sent 2; 2 got 2; 2 loss 0; 2 rtt 48 51 48/50/51; 7 sent 2; 7 got 0; 7 loss 1; error-reported"],
    );
    check(sample!("ts"), &["2 sent 3; 2 got 3; 2 loss 0; 2 rtt 32 45 37 32/38/45"]);
    check(sample!("loop"), &["2 sent 6; 2 got 6; 2 loss 0; 2 rtt 39 59 40 40 37 39 37/42/59"]);
    check(
        sample!("outage"),
        &["77 sent 3; 77 got 0; 77 loss 1; 2 sent 3; 2 got 3; 2 loss 0; 2 rtt  37/41/45; summary-only"],
    );
    check(
        sample!("stats"),
        &["2 sent 3; 2 got 3; 2 loss 0; 2 rtt  47/57/68; 3 sent 3; 3 got 3; 3 loss 0; 3 rtt  44/126/290; \
           * sent 6; * got 6; * rtt  44/92/290; * duration 0.21; summary-only"],
    );
    check(
        sample!("elapsed-stats"),
        &["2 rtt 11 -/-/-; * sent 3; * got 1; * rtt  11/11/11; * duration 1.269; error-reported"],
    );
    let at: Vec<_> = read(sample!("ts")).unwrap()[0].series[3].samples.iter().map(|s| s.time()).collect();
    assert_eq!(at[0], Some(0.0));
    assert!((at[2].unwrap() - 0.20161).abs() < 1e-6, "{at:?}");
    assert_eq!(read(sample!("alive")).unwrap_err(), "fping measured nothing: 192.0.2.2 is alive");
}

#[test]
fn periods() {
    check(
        sample!("c-Q"),
        &[
            "2 sent 5; 2 got 5; 2 loss 0; 2 rtt  35/47/51; 77 sent 4; 77 got 0; 77 loss 1; summary-only",
            "2* sent 8; 2* got 8; 2* loss 0; 2* rtt  35/46/51; 77* sent 8; 77* got 0; 77* loss 1; summary-only",
        ],
    );
    let runs = read(sample!("loop-interval")).unwrap();
    let clocks: Vec<_> = runs.iter().map(|run| run.facts.get("fping.time")?.value.clone()).collect();
    assert_eq!(clocks.len(), 5);
    assert_eq!(clocks[1], Some("04:29:25".into()));
    assert_eq!(clocks[4], None);
    // More came than was sent: the counters say nothing of loss.
    check(
        "[12:00:00]\na.example.org : xmt/rcv/%loss = 5/10/50%, min/avg/max = 1.00/2.00/3.00\n",
        &["org sent 5; org got 10; org rtt  1000/2000/3000; inconsistent; summary-only"],
    );
}

#[test]
fn other_versions_by_hand() {
    // 2.4 to 4.x: two decimals, the packet with its IP header, lost packets are silent, names with addresses.
    check(
        "a.example.org (192.0.2.5) : [0], 84 bytes, 0.42 ms (0.42 avg, 0% loss)\n\
         a.example.org (192.0.2.5) : [2], 84 bytes, 1.04 ms (0.73 avg, 33% loss) [<- 192.0.2.9]\n\n\
         a.example.org (192.0.2.5) : xmt/rcv/%loss = 3/2/33%, min/avg/max = 0.42/0.73/1.04\n",
        &["5) sent 3; 5) got 2; 5) loss 0.3333; 5) rtt 420 1040 420/730/1040"],
    );
    check(
        "192.0.2.5 : [0], 84 bytes, 0.42 ms (0.42 avg, 0% loss)\n\
         192.0.2.5 : duplicate for [0], 84 bytes, 0.52 ms [<- 192.0.2.6]\n\
         192.0.2.5 : xmt/rcv/%return = 1/2/200%, min/avg/max = 0.42/0.47/0.52\n",
        &["5 sent 1; 5 got 2; 5 rtt 420 420/470/520; 5 duplicates 1; inconsistent; duplicates"],
    );
    // 5.3: further marks in parentheses.
    check(
        "192.0.2.5 : [0], 64 bytes, 101 ms (101 avg, 0% loss) (TOS 0) (TTL 64)\n\
         192.0.2.5 : [1], timed out (101 avg, 50% loss)\n",
        &["5 rtt 101000 -/-/-; truncated"],
    );
    // 5.5 in JSON.
    check(
        "{\"resp\": {\"host\": \"192.0.2.5\", \"seq\": 0, \"size\": 64, \"rtt\": 5.12}}\n\
         {\"timeout\": {\"host\": \"192.0.2.5\", \"seq\": 1}}\n\
         {\"summary\": {\"host\": \"192.0.2.5\", \"xmt\": 2, \"rcv\": 1, \"loss\": 50, \"rttMin\": 5.12, \
         \"rttAvg\": 5.12, \"rttMax\": 5.12}}\n\
         {\"stats\": {\"targets\": 1, \"icmpEchosSent\": 2, \"icmpEchoRepliesReceived\": 1, \"elapsed\": 1.5}}\n\
         {\"vSum\": {\"host\": \"192.0.2.5\", \"values\": [0.054, null, 0.081]}}\n\
         {\"intSum\": {\"time\": 7, \"host\": \"192.0.2.5\", \"xmt\": 2, \"rcv\": 2, \"loss\": 0, \"rttMin\": 1.5, \
         \"rttAvg\": 1.5, \"rttMax\": 1.5}}\n\
         {\"intSum\": {\"time\": 8, \"host\": \"192.0.2.5\", \"xmt\": 2, \"rcv\": 0, \"loss\": 100}}\n",
        &[
            "5 sent 2; 5 got 1; 5 loss 0.5; 5 rtt 5120 5120/5120/5120; * sent 2; * got 1; * duration 1.5",
            "5 sent 3; 5 got 2; 5 loss 0.3333; 5 rtt 54 81 -/-/-",
            "5 sent 2; 5 got 2; 5 loss 0; 5 rtt  1500/1500/1500; summary-only",
            "5 sent 2; 5 got 0; 5 loss 1",
        ],
    );
}

#[test]
fn logs_that_are_broken_or_mixed() {
    let reply = "192.0.2.5 : [0], 64 bytes, 0.123 ms (0.123 avg, 0% loss)\n";
    let total = "192.0.2.5 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.123/0.123/0.123\n";
    let whole = "5 sent 1; 5 got 1; 5 loss 0; 5 rtt 123 123/123/123";
    check(&[reply, "\n", total, reply, "\n", total].concat(), &[whole, whole]);
    check(
        &["$ fping -c1 192.0.2.5\n", reply, "hello\n", total].concat(),
        &[&format!("{whole}; foreign-lines")],
    );
    // The replies stood in a buffer until the end.
    check(&[total, reply].concat(), &[whole]);
    check(&[total, total].concat(), &["5 sent 1; 5 got 1; 5 loss 0; 5 rtt  123/123/123; summary-only"; 2]);
    // Cut at either end.
    check(reply, &["5 rtt 123 -/-/-; truncated"]);
    check(reply.split_once(" (").unwrap().0, &["5 rtt 123 -/-/-; truncated"]);
}

#[test]
fn ends_that_were_cut() {
    let check = |text: &str, wanted: &str| {
        let briefs: Vec<String> = read(text).unwrap_or_default().iter().map(brief).collect();
        assert_eq!(briefs.join(" | "), wanted, "{text}");
    };
    check(
        "192.0.2.5 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.123/0.123/0.1",
        "5 sent 1; 5 got 1; 5 loss 0; 5 rtt  123/123/-; summary-only",
    );
    check(
        "192.0.2.5 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.123/0.123/0.124",
        "5 sent 1; 5 got 1; 5 loss 0; 5 rtt  123/123/124; summary-only",
    );
    check(
        "192.0.2.5 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 1.23/1.23/100",
        "5 sent 1; 5 got 1; 5 loss 0; 5 rtt  1230/1230/-; summary-only",
    );
    check("192.0.2.5 : xmt/rcv/%loss = 1/1", "");
    check("192.0.2.5 : 0.12", "");
    check("192.0.2.5 : 0.12 0.13", "5 sent 2; 5 got 2; 5 loss 0; 5 rtt 120 130 -/-/-");
    check("192.0.2.5 : 0.123 - 0.1", "5 sent 2; 5 got 1; 5 loss 0.5; 5 rtt 123 -/-/-");
    check("192.0.2.5 : [0], 64 bytes, 0.123 m", "");
}

#[test]
fn charts_of_netdata() {
    let text = sample!("netdata");
    let runs = read(text).unwrap();
    assert_eq!(runs.len(), 3);
    assert!(
        runs.iter().all(|run| run.series.iter().filter(|series| series.metric.name == "rtt").count() == 2)
    );
    let log = "CHART fping.192_0_2_5_packets '' 'FPing Packets' packets '192.0.2.5' fping.packets line 110020 1\n\
               BEGIN fping.192_0_2_5_packets\nSET xmt = 10\nSET rcv = 8\nEND\nBEGIN fping.192_0_2_5_latency\n\
               SET min = 18000\nSET avg = 38000\nSET max = 46000\nEND\nBEGIN fping.192_0_2_5_packets\nSET xmt = 10\n\
               SET rcv = 0\nEND\nBEGIN fping.192_0_2_5_packets\nSET xmt = 1";
    let runs = read(log).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(brief(&runs[0]), "5 sent 10; 5 got 8; 5 loss 0.2; 5 rtt  18/38/46; summary-only");
    assert_eq!(brief(&runs[1]), "5 sent 10; 5 got 0; 5 loss 1");
}

#[test]
fn only_alive() {
    assert_eq!(
        crate::read(b"192.0.2.5 is alive\n192.0.2.6 is unreachable\n").unwrap().unwrap_err().to_string(),
        "fping measured nothing: 192.0.2.5 is alive"
    );
    assert!(crate::read(b"the host is alive\nand well\n").is_none());
}

#[test]
fn other_tools() {
    for text in [
        "PING 192.0.2.5 (192.0.2.5) 56(84) bytes of data.\n64 bytes from 192.0.2.5: icmp_seq=1 ttl=64 time=0.05 ms\n",
        "FAN1 : 3000\nCPU Temp : 45.0 46.0\n",
        "Use fping to find hosts.\nlatency : 5\n",
        "",
    ] {
        assert!(!Fping.sniff(text.as_bytes()), "{text}");
    }
    for name in [sample!("c"), sample!("vcount-quiet"), sample!("stats"), sample!("loop-interval")] {
        assert_eq!(crate::recognise(name.as_bytes()).unwrap().name(), "fping");
    }
}

#[test]
fn nothing_makes_it_panic() {
    for text in [sample!("c"), sample!("stats"), sample!("vcount-quiet"), sample!("c-Q")] {
        let bytes = text.as_bytes();
        for cut in 0..bytes.len() {
            let mut runs: Vec<Run> = Vec::new();
            let _ = Fping.parse(&mut &bytes[..cut], &mut runs);
            let mut broken = bytes.to_vec();
            broken[cut] = 0xe3;
            let _ = Fping.parse(&mut &broken[..], &mut runs);
            broken[cut] = b'9';
            let _ = Fping.parse(&mut &broken[..], &mut runs);
        }
    }
    let huge = "192.0.2.5 : xmt/rcv/%loss = 18446744073709551615/0/100%, min/avg/max = 1e999/-1/inf\n";
    assert_eq!(read(huge).unwrap()[0].series.len(), 3);
}
