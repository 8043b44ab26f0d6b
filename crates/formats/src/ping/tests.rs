//! Debian's ping, whose output lies in testdata, and the others by hand.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/ping/iputils-20221126-debian12-",
            $name,
            ".txt"
        ))
    };
}

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/ping/", $name, ".txt"))
    };
}

mod company;
mod languages;
mod tools;

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    Ping.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

fn one(text: &str) -> Run {
    let mut runs = read(text).unwrap();
    assert!(Ping.sniff(text.as_bytes()), "not recognised: {text}");
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0)
}

/// What matters of a run in one line: microseconds of samples and figures, counts, caveats.
fn brief(run: &Run) -> String {
    let mut text = String::new();
    for series in &run.series {
        let values = series.values();
        match series.metric.name.as_ref() {
            "rtt" => {
                let us = |seconds: &f64| (seconds * 1e6).round().to_string();
                let samples: Vec<String> = values.iter().map(us).collect();
                text += &format!("rtt {}", samples.join(" "));
                for key in ["min", "mean", "max", "sd"] {
                    text += &format!(" {}", series.reported.get(key).map_or_else(|| "-".to_owned(), us));
                }
            }
            name => text += &format!("; {name} {}", (values[0] * 1e6).round() / 1e6),
        }
    }
    for caveat in &run.caveats {
        text += &format!("; {}", serde_json::to_string(&caveat.kind).unwrap().trim_matches('"'));
    }
    text.trim_start_matches("; ").to_owned()
}

#[test]
fn iputils_as_debian_has_it() {
    let check = |text: &str, wanted: &str| assert_eq!(brief(&one(text)), wanted, "{text}");
    check(
        sample!("plain"),
        "rtt 138 45 40 43 43 40 61 138 38; packets_sent 5; packets_received 5; loss 0; duration 0.82",
    );
    check(
        sample!("quiet"),
        "rtt  28 33 42 3; packets_sent 20; packets_received 20; loss 0; duration 0.321; summary-only; note",
    );
    check(
        sample!("ipv6"),
        "rtt 61 61 58 58 60 61 1; packets_sent 3; packets_received 3; loss 0; duration 0.406",
    );
    check(
        sample!("timestamps"),
        "rtt 27 44 56 27 42 56 11; packets_sent 3; packets_received 3; loss 0; duration 0.406",
    );
    check(
        sample!("loss"),
        "rtt 69 55 51 56 51 57 69 6; packets_sent 6; packets_received 4; loss 0.333333; duration 1.017",
    );
    check(
        sample!("flood"),
        "rtt  2 3 47 3; packets_sent 200; packets_received 200; loss 0; duration 0.002; summary-only; note",
    );
    check(
        sample!("unreachable"),
        "packets_sent 5; packets_received 0; loss 1; duration 4.088; error-reported",
    );
    check(
        sample!("ttl-exceeded"),
        "packets_sent 2; packets_received 0; loss 1; duration 0.204; error-reported",
    );
    check(
        sample!("frag-needed"),
        "packets_sent 2; packets_received 0; loss 1; duration 0.203; error-reported",
    );
    check(sample!("too-long"), "packets_sent 2; packets_received 0; loss 1; duration 0.2; error-reported");
    check(sample!("bound-empty"), "packets_sent 2; packets_received 2; loss 0; duration 0.202");
    check(
        sample!("device"),
        "rtt 22 46 22 34 46 12; packets_sent 2; packets_received 2; loss 0; duration 0.202",
    );
    check(sample!("no-answer"), "packets_sent 3; packets_received 0; loss 1; duration 0.654");
    assert_eq!(one(sample!("adaptive")).series[0].samples.len(), 50);
    let stamps: Vec<_> = one(sample!("timestamps")).series[0].samples.iter().map(|s| s.time()).collect();
    assert_eq!(stamps[0], Some(0.0));
    assert!((stamps[2].unwrap() - 0.406393).abs() < 1e-5);
    assert_eq!(
        read(sample!("unknown-host")).unwrap_err(),
        "ping measured nothing: ping: no.such.host.invalid: Temporary failure in name resolution"
    );
}

#[test]
fn other_pings() {
    let check = |text: &str, wanted: &str| assert_eq!(brief(&one(text)), wanted, "{text}");
    // macOS.
    check(
        "PING h (10.0.0.9): 56 data bytes\n\
         64 bytes from 10.0.0.9: icmp_seq=0 ttl=55 time=15.087 ms\n\
         64 bytes from 10.0.0.9: icmp_seq=0 ttl=55 time=15.190 ms (DUP!)\n\
         Request timeout for icmp_seq 1\n\
         92 bytes from gw (10.0.0.1): Destination Host Unreachable\n\
         Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst\n \
         4  5  00 5400 567b   0 0000  3f  01 a024 10.0.0.2  10.0.0.9\n\n\
         --- h ping statistics ---\n\
         2 packets transmitted, 1 packets received, +1 duplicates, 50.0% packet loss\n\
         round-trip min/avg/max/stddev = 15.087/15.138/15.190/0.052 ms\n",
        "rtt 15087 15087 15138 15190 52; packets_sent 2; packets_received 1; loss 0.5; duplicates 1; \
         duplicates; error-reported",
    );
    // FreeBSD ping6.
    check(
        "PING6(56=40+8+8 bytes) fd00::1 --> fd00::2\n\
         16 bytes from fd00::2, icmp_seq=0 hlim=64 time=0.870 ms\n\n\
         --- h ping6 statistics ---\n\
         1 packets transmitted, 1 packets received, 0.0% packet loss\n\
         round-trip min/avg/max/std-dev = 0.870/0.870/0.870/0.000 ms\n",
        "rtt 870 870 870 870 0; packets_sent 1; packets_received 1; loss 0",
    );
    // BusyBox.
    check(
        "PING 127.0.0.1 (127.0.0.1): 56 data bytes\n\
         64 bytes from 127.0.0.1: seq=0 ttl=64 time=0.046 ms\n\n\
         --- 127.0.0.1 ping statistics ---\n\
         1 packets transmitted, 1 packets received, 0% packet loss\n\
         round-trip min/avg/max = 0.046/0.046/0.046 ms\n",
        "rtt 46 46 46 46 -; packets_sent 1; packets_received 1; loss 0",
    );
    // iputils in another language.
    check(
        "PING 10.0.0.9 (10.0.0.9) 56(84) Bytes an Daten.\n\
         64 Bytes von 10.0.0.9: icmp_seq=1 ttl=64 Zeit=0.050 ms\n\n\
         --- 10.0.0.9 ping-Statistik ---\n\
         2 Pakete übertragen, 1 empfangen, 50% Paketverlust, Zeit 1004ms\n\
         rtt min/avg/max/mdev = 0.050/0.050/0.050/0.000 ms\n",
        "rtt 50 50 50 50 0; packets_sent 2; packets_received 1; loss 0.5; duration 1.004",
    );
    // iputils -j.
    check(
        "{\"bytes\": 64, \"host\": \"h\", \"seq\": 1, \"ttl\": 64, \"time\": \"0.230\"}\n\
         {\"host\": \"h\", \"transmitted\": 2, \"received\": 1, \"duplicates\": 0, \"errors\": 0, \"loss\": 50, \
         \"time\": 1011, \"rtt\": {\"min\": \"0.230\", \"avg\": \"0.230\", \"max\": \"0.230\", \"mdev\": \"0.000\"}}\n",
        "rtt 230 230 230 230 0; packets_sent 2; packets_received 1; loss 0.5; duration 1.011",
    );
}

#[test]
fn windows() {
    let check = |text: &str, wanted: &str| assert_eq!(brief(&one(text)), wanted, "{text}");
    check(
        "\r\nPinging h [10.0.0.9] with 32 bytes of data:\r\n\
         Reply from 10.0.0.9: bytes=32 time=16ms TTL=64\r\n\
         Reply from 10.0.0.9: bytes=32 time<1ms TTL=64\r\n\
         Request timed out.\r\n\
         Reply from 10.0.0.1: Destination host unreachable.\r\n\r\n\
         Ping statistics for 10.0.0.9:\r\n    \
         Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\r\n\
         Approximate round trip times in milli-seconds:\r\n    \
         Minimum = 0ms, Maximum = 16ms, Average = 8ms\r\n",
        "rtt 16000 - 8000 16000 -; packets_sent 4; packets_received 2; packets_lost 2; loss 0.5; \
         error-reported; counted-as-received; note",
    );
    check(
        "Ping wird ausgeführt für 10.0.0.9 mit 32 Bytes Daten:\n\
         Antwort von 10.0.0.9: Bytes=32 Zeit=9ms TTL=57\n\
         Zeitüberschreitung der Anforderung.\n\n\
         Ping-Statistik für 10.0.0.9:\n    \
         Pakete: Gesendet = 2, Empfangen = 1, Verloren = 1\n    (50% Verlust),\n\
         Ca. Zeitangaben in Millisek.:\n    Minimum = 9ms, Maximum = 9ms, Mittelwert = 9ms\n",
        "rtt 9000 9000 9000 9000 -; packets_sent 2; packets_received 1; packets_lost 1; loss 0.5",
    );
    check(
        "Pinging ::1 with 32 bytes of data:\nReply from ::1: time=2ms\nReply from ::1: time=4ms\n\n\
         Ping statistics for ::1:\n    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n\
         Approximate round trip times in milli-seconds:\n    Minimum = 2ms, Maximum = 4ms, Average = 3ms\n",
        "rtt 2000 4000 2000 3000 4000 -; packets_sent 2; packets_received 2; packets_lost 0; loss 0",
    );
}

#[test]
fn logs_that_are_broken_or_mixed() {
    let check = |text: &str, wanted: &[&str]| {
        let briefs: Vec<String> = read(text).unwrap_or_default().iter().map(brief).collect();
        assert_eq!(briefs, wanted, "{text}");
    };
    let reply = "64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0.050 ms\n";
    let header = "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n";
    check(&[header, reply].concat(), &["rtt 50 - - - -; truncated"]);
    check(&[header, "hello\n", reply].concat(), &["rtt 50 - - - -; truncated; foreign-lines"]);
    check(
        &[header, reply, "64 bytes from 10.0.0.9: icmp_seq=2 ttl=64 time=0.0"].concat(),
        &["rtt 50 - - - -; truncated"],
    );
    check(header, &[]);
    check("", &[]);
    check("nothing of ours\n", &[]);
    // Summaries only, one after the other.
    let summary = "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n\
                   rtt min/avg/max/mdev = 0.104/0.144/0.184/0.040 ms\n";
    let wanted =
        "rtt  104 144 184 40; packets_sent 2; packets_received 2; loss 0; duration 1.001; summary-only";
    check(&summary.repeat(2), &[wanted, wanted]);
    // Replies that belong to no statistics before them.
    check(&[summary, reply].concat(), &[wanted, "rtt 50 - - - -; truncated"]);
    // Other tools, prose.
    for text in
        ["# Benchmarking PingPong\n", "10.0.0.9 : [0], 64 bytes, 0.4 ms (0.4 avg, 0% loss)\n", "time=5ms\n"]
    {
        assert!(!Ping.sniff(text.as_bytes()), "{text}");
    }
}

#[test]
fn nothing_makes_it_panic() {
    // Every prefix, and every byte replaced in turn by one that cuts a character.
    for text in [
        sample!("plain"),
        sample!("unreachable"),
        sample!("flood"),
        "送信 = 4、受信 = 4、損失 = 0 (0% の損失)、",
    ] {
        let bytes = text.as_bytes();
        for cut in 0..bytes.len() {
            let mut runs: Vec<Run> = Vec::new();
            let _ = Ping.parse(&mut &bytes[..cut], &mut runs);
            let mut broken = bytes.to_vec();
            broken[cut] = 0xe3;
            let _ = Ping.parse(&mut &broken[..], &mut runs);
            broken[cut] = b'=';
            let _ = Ping.parse(&mut &broken[..], &mut runs);
        }
    }
}

#[test]
fn a_deviation_that_the_replies_contradict() {
    let with = |sd: &str| {
        let text = format!(
            "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n\
             64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0.100 ms\n\
             64 bytes from 10.0.0.9: icmp_seq=2 ttl=64 time=0.120 ms\n\n\
             --- 10.0.0.9 ping statistics ---\n\
             2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n\
             rtt min/avg/max/mdev = 0.100/0.110/0.120/{sd} ms\n"
        );
        one(&text).caveats.first().map(|caveat| caveat.kind)
    };
    assert_eq!(with("0.010"), None);
    assert_eq!(with("0.014"), Some(CaveatKind::BiasedDeviation));
}

#[test]
fn printed_like_ping() {
    // What ping printed is printed again from what was read.
    let check = |text: &str| {
        let mut printed = String::new();
        print::run(&one(text), &mut printed).unwrap();
        assert_eq!(printed, text);
    };
    check(sample!("plain"));
    check(sample!("quiet"));
    check(sample!("ipv6"));
    check(
        sample!("no-answer")
            .replace("no answer yet for icmp_seq=1\nno answer yet for icmp_seq=2\n", "")
            .as_str(),
    );
}

#[test]
fn what_is_printed_is_read_back() {
    for text in [sample!("plain"), sample!("quiet"), sample!("ipv6"), sample!("timestamps"), sample!("loss")]
    {
        let run = one(text);
        let mut printed = String::new();
        Ping.print(&run, &mut printed).unwrap();
        assert_eq!(brief(&one(&printed)), brief(&run));
        assert_eq!(one(&printed).facts, run.facts);
    }
}

#[test]
fn spreads_as_ping_works_them_out() {
    for text in
        [sample!("plain"), sample!("ipv6"), sample!("timestamps"), sample!("loss"), sample!("adaptive")]
    {
        let series = &one(text).series[0];
        let own = print::Spread::of(&series.values()).unwrap();
        let ours = [own.min, own.mean, own.max, own.mdev.unwrap()].map(|x| (x * 1e6).round() as i64);
        let printed = ["min", "mean", "max", "sd"].map(|key| (series.reported[key] * 1e6).round() as i64);
        assert_eq!(ours, printed, "{text}");
    }
    assert_eq!(print::Spread::of(&[]), None);
}

#[test]
fn reply_lines() {
    let check = |micros: f64, time: &str| {
        let mut out = String::new();
        let reply = print::Reply {
            stamp: None,
            bytes: 64,
            from: "10.0.0.9",
            sequence: 7,
            ttl: Some(64),
            seconds: Some(micros / 1e6),
            duplicate: true,
        };
        print::reply(&mut out, &reply).unwrap();
        assert_eq!(out, format!("64 bytes from 10.0.0.9: icmp_seq=7 ttl=64 time={time} ms (DUP!)\n"));
    };
    check(0.0, "0.000");
    check(38.4, "0.038");
    check(999.4, "0.999");
    check(1000.0, "1.00");
    check(4174.0, "4.17");
    check(4175.0, "4.18");
    check(9994.0, "9.99");
    check(9995.0, "10.0");
    check(12_749.0, "12.7");
    check(99_949.0, "99.9");
    check(99_950.0, "100");
    check(1_276_448.0, "1276");
}

#[test]
fn summaries() {
    let check = |summary: print::Summary<'_>, wanted: &str| {
        let mut out = String::new();
        print::summary(&mut out, &print::Summary { host: "h", ..summary }).unwrap();
        assert_eq!(out, format!("\n--- h ping statistics ---\n{wanted}"));
    };
    let some = |sent, received| print::Summary { sent, received, seconds: Some(1.0), ..Default::default() };
    check(some(3, 0), "3 packets transmitted, 0 received, 100% packet loss, time 1000ms\n\n");
    check(some(3, 1), "3 packets transmitted, 1 received, 66.6667% packet loss, time 1000ms\n\n");
    check(some(8, 3), "8 packets transmitted, 3 received, 62.5% packet loss, time 1000ms\n\n");
    check(
        some(1_000_000, 999_999),
        "1000000 packets transmitted, 999999 received, 0.0001% packet loss, time 1000ms\n\n",
    );
    check(
        some(8_000_000, 7_999_999),
        "8000000 packets transmitted, 7999999 received, 1.25e-05% packet loss, time 1000ms\n\n",
    );
    let refused = print::Summary { errors: 5, pipe: 4, ..some(5, 0) };
    check(refused, "5 packets transmitted, 0 received, +5 errors, 100% packet loss, time 1000ms\npipe 4\n");
    let spread = print::Spread::of(&[2e-6, 4e-6]);
    let flood = print::Summary { duplicates: 1, spread, pipe: 2, pace: Some((7e-6, 3e-6)), ..some(2, 2) };
    check(
        flood,
        "2 packets transmitted, 2 received, +1 duplicates, 0% packet loss, time 1000ms\n\
         rtt min/avg/max/mdev = 0.002/0.003/0.004/0.001 ms, pipe 2, ipg/ewma 0.007/0.003 ms\n",
    );
}

#[test]
fn figures_of_our_own() {
    let check = |n: usize, wanted: &str| {
        let values: Vec<f64> = (1..=n).map(|us| us as f64 / 1e6).collect();
        let mut out = String::new();
        print::percentiles(&mut out, &values).unwrap();
        assert_eq!(out, wanted);
        // The line is not taken for one of ping's.
        assert!(read(&out).is_err());
    };
    check(1, "");
    check(19, "");
    check(21, "percentiles: p50 0.011 ms (n=21)\n");
    check(101, "percentiles: p50 0.051 ms, p90 0.091 ms (n=101)\n");
    check(1001, "percentiles: p50 0.501 ms, p90 0.901 ms, p99 0.991 ms (n=1001)\n");
    assert_eq!(print::moving_average(&[8.0, 16.0]), Some(9.0));
    assert_eq!(print::moving_average(&[]), None);
}

#[test]
fn a_time_beyond_all_measure_is_printed() {
    let run = one("PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.\n\
                   64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=99999999999999999999999 ms\n\n\
                   --- 192.0.2.2 ping statistics ---\n\
                   1 packets transmitted, 1 received, 0% packet loss, time 0ms\n");
    let mut printed = String::new();
    crate::View::print(&Ping, &run, &mut printed).unwrap();
    assert!(printed.contains("time=18446744073709551 ms"), "{printed}");
}
