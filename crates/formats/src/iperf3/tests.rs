//! Real output of iperf3 3.12 (`testdata/iperf3`), and lines of other versions and of people who paste them.

use std::fs;
use std::path::PathBuf;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;
use tenbin_core::sample::Series;

use super::model::{Role, Side, Test};
use super::*;
use crate::iperf3::text::{RateUnit, Style};

mod newer;

fn fixtures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/iperf3");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/iperf3");
    fs::read_to_string(format!("{folder}/3.12-debian12-{name}")).unwrap()
}

fn parse(log: &str) -> Result<Vec<Run>, ParseError> {
    let mut runs = Vec::new();
    Iperf3.parse(&mut log.as_bytes(), &mut runs).map(|()| runs)
}

/// The series of `metric` whose params are `params` in the form `side=sender window=total`.
fn series<'a>(run: &'a Run, metric: &str, params: &str) -> Option<&'a Series> {
    let told = |series: &Series| {
        let words: Vec<String> = series.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        words.join(" ")
    };
    run.series.iter().find(|series| series.metric.name == metric && told(series) == params)
}

/// The first run of `log` has `n` samples of a series, and the last of them is `value` within the printed digits.
fn check(log: &str, metric: &str, params: &str, n: usize, value: f64) {
    let runs = parse(log).unwrap();
    let found = series(&runs[0], metric, params).unwrap_or_else(|| panic!("no {metric} {params}"));
    assert_eq!(found.samples.len(), n, "{metric} {params}");
    let last = found.samples[n - 1].value;
    assert!((last - value).abs() <= value.abs() * 1e-9, "{metric} {params}: {last}");
}

fn kinds(run: &Run) -> Vec<CaveatKind> {
    run.caveats.iter().map(|caveat| caveat.kind).collect()
}

#[test]
fn real_text() {
    let tcp = fixture("tcp-client.txt");
    check(&tcp, "throughput", "side=receiver window=total", 1, 4.58e9);
    check(&tcp, "throughput", "side=sender", 2, 4.46e9);
}

#[test]
fn every_fixture_gives_its_runs() {
    for file in fixtures() {
        let log = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(Iperf3.sniff(log.as_bytes()), "{name}");
        let runs = parse(&log);
        if name.contains("refused") {
            let said = runs.unwrap_err().to_string();
            assert!(
                said.starts_with("iperf3 measured nothing: unable to connect to server"),
                "{name}: {said}"
            );
            assert!(said.ends_with(": Connection refused"), "{name}: {said}");
            continue;
        }
        let runs = runs.unwrap();
        assert_eq!(runs.len(), if name.contains("two-clients") { 2 } else { 1 }, "{name}");
        for run in &runs {
            let mut seen: Vec<String> = Vec::new();
            for series in &run.series {
                let key = format!("{} {:?}", series.metric.name, series.params);
                assert!(!seen.contains(&key) && !series.samples.is_empty(), "{name}: {key}");
                seen.push(key);
            }
        }
        let expected = match name.contains("interrupted") || name.contains("two-clients") {
            true => vec![CaveatKind::Interrupted],
            false => vec![],
        };
        assert_eq!(kinds(&runs[0]), expected, "{name}");
    }
}

/// The text of one test, without the lines that a waiting server prints and the first lines of `-V`.
fn body(log: &str) -> String {
    let lines = log.lines().filter(|line| {
        !line.starts_with("-----")
            && !line.starts_with("Server listening")
            && !["iperf 3", "Linux ", "Control connection", "Time: "]
                .iter()
                .any(|head| line.starts_with(head))
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn text_comes_back_to_the_letter() {
    for name in [
        "tcp-client.txt",
        "tcp-server.txt",
        "tcp-p2-o1-client.txt",
        "tcp-p2-o1-server.txt",
        "tcp-reverse-client.txt",
        "tcp-reverse-server.txt",
        "tcp-bidir-p2-client.txt",
        "udp-client.txt",
        "udp-reverse-client.txt",
        "udp-server.txt",
    ] {
        let log = fixture(name);
        let read = read_text::read(&log);
        assert_eq!(read.len(), 1, "{name}");
        let style = Style { verbose: log.contains("Cookie"), ..Style::default() };
        let mut printed = String::new();
        text::test(&read[0].test, style, &mut printed).unwrap();
        assert_eq!(printed, body(&log), "{name}");
    }
}

#[test]
fn json_comes_back_with_every_key() {
    let names = ["tcp-client", "tcp-p2-reverse-client", "tcp-server", "tcp-bidir-client", "udp-client"];
    for name in names.map(|name| format!("{name}.json")) {
        let name = name.as_str();
        let log = fixture(name);
        let read = read_json::read(&log);
        let printed = json::document(&read[0].test);
        let original: serde_json::Value = serde_json::from_str(&log).unwrap();
        same_keys(&original, &printed, name);
        let again = read_json::read(&printed.to_string());
        let runs = |reading: &reading::Reading| reading.clone().run().unwrap();
        let (before, after) = (runs(&read[0]), runs(&again[0]));
        assert_eq!(before.series.len(), after.series.len());
        for (before, after) in before.series.iter().zip(&after.series) {
            assert_eq!((&before.metric, &before.params), (&after.metric, &after.params), "{name}");
            for (before, after) in before.samples.iter().zip(&after.samples) {
                assert!((before.value - after.value).abs() <= before.value.abs() * 1e-9, "{name}");
            }
        }
    }
}

/// Both hold the same keys in the same order, and equal text.
fn same_keys(original: &serde_json::Value, printed: &serde_json::Value, place: &str) {
    use serde_json::Value;
    match (original, printed) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = [a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>()];
            // A server puts its buffers elsewhere; the order of keys means nothing.
            keys.iter_mut().for_each(|keys| keys.sort());
            assert_eq!(keys[0], keys[1], "{place}");
            // The receiver's `seconds` of 3.12 are those of the sender.
            let sound = a.iter().filter(|(key, _)| *key != "seconds");
            sound.for_each(|(key, value)| same_keys(value, &b[key], &format!("{place}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).for_each(|(a, b)| same_keys(a, b, place));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            // iperf3's `seconds` is rounded otherwise than end minus start.
            assert!((a - b).abs() <= a.abs() * 1e-5, "{place}: {a} {b}");
        }
        _ => assert_eq!(original, printed, "{place}"),
    }
}

#[test]
fn both_directions() {
    let log = fixture("tcp-bidir-p2-client.txt");
    check(&log, "throughput", "direction=forward side=sender window=total", 1, 3.64e9);
    check(&log, "throughput", "direction=reverse side=receiver window=total", 1, 1.52e9);
    check(&log, "throughput", "direction=reverse side=sender stream=12 window=total", 1, 765e6);
    check(&log, "retransmits", "direction=reverse side=sender window=total", 1, 109.0);
    check(&log, "throughput", "direction=reverse side=receiver", 2, 1.67e9);
    check(&log, "throughput", "direction=forward side=sender stream=7", 2, 1.87e9);
    let runs = parse(&fixture("tcp-bidir-client.json")).unwrap();
    for params in ["direction=forward side=sender", "direction=reverse side=receiver"] {
        assert!(series(&runs[0], "throughput", params).is_some());
        assert!(series(&runs[0], "throughput", &format!("{params} window=total")).is_some());
    }
    let runs = parse(&fixture("tcp-reverse-client.txt")).unwrap();
    assert!(series(&runs[0], "throughput", "direction=reverse side=receiver").is_some());
    let runs = parse(&fixture("tcp-reverse-server.txt")).unwrap();
    assert!(series(&runs[0], "throughput", "direction=reverse side=sender window=total").is_some());
}

#[test]
fn datagrams() {
    let log = fixture("udp-client.txt");
    check(&log, "throughput", "side=sender window=total", 1, 20.0e6);
    check(&log, "throughput", "side=receiver window=total", 1, 19.8e6);
    check(&log, "jitter", "side=receiver window=total", 1, 8e-6);
    check(&log, "loss", "side=receiver window=total", 1, 0.0);
    check(&log, "throughput", "side=sender", 2, 19.8e6);
    check(&fixture("udp-server.txt"), "jitter", "side=receiver", 2, 8e-6);
    check(&fixture("udp-client.json"), "packets_lost", "side=receiver window=total", 1, 0.0);
    let old = "\
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16
[  4]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  16
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-2.00   sec   256 KBytes  1.05 Mbits/sec  0.250 ms  8/32 (25%)
[  4] Sent 32 datagrams
";
    check(old, "throughput", "side=sender window=total", 1, 1.05e6);
    check(old, "loss", "side=receiver window=total", 1, 0.25);
    check(old, "jitter", "side=receiver window=total", 1, 250e-6);
    let runs = parse(old).unwrap();
    assert!(series(&runs[0], "throughput", "side=receiver window=total").is_none());
    assert_eq!(kinds(&runs[0]), [CaveatKind::SenderOnly]);
    // Datagrams that are in no counter: the loss is not known.
    let runs = parse(&old.replace("8/32 (25%)", "0/1 (0%)")).unwrap();
    assert!(runs[0].series.iter().all(|series| series.metric.name != "loss"));
}

#[test]
fn pasted_text() {
    let quoted = "\
> > $ iperf3 -c a
> > [ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
> > [  4]   0.00-1.00   sec  1.00 MBytes  8.39 Mbits/sec    1   14.1 KBytes       (omitted)
> > [  4]   0.00-1.00   sec  2.00 MBytes  16.8 Mbits/sec    2   28.3 KBytes
> > ^C[  4]   1.00-1.50   sec  1.00 MBytes  16.8 Mbits/sec    0   28.3 KBytes
> > - - - - - - - - - - - - - - - - - - - - - - - - -
> > [ ID] Interval           Transfer     Bandwidth       Retr
> > [  4]   0.00-1.50   sec  3.00 MBytes  16.8 Mbits/sec    2             sender
> > [  4]   0.00-1.50   sec  0.00 Bytes  0.00 bits/sec                  receiver
> > iperf3: interrupt - the client has terminated
";
    check(quoted, "throughput", "side=sender", 2, 16.8e6);
    check(quoted, "transferred", "side=sender window=total", 1, 3.0 * 1024.0 * 1024.0);
    check(quoted, "cwnd", "side=sender", 2, 28.3 * 1024.0);
    check(quoted, "retransmits", "side=sender", 2, 0.0);
    let runs = parse(quoted).unwrap();
    assert!(series(&runs[0], "throughput", "side=receiver window=total").is_none());
    assert_eq!(kinds(&runs[0]), [CaveatKind::Interrupted]);
    // The same test twice: two runs. Cut before its totals: a caveat.
    assert_eq!(parse(&quoted.repeat(2)).unwrap().len(), 2);
    let cut = quoted.split("> > - -").next().unwrap();
    assert_eq!(kinds(&parse(cut).unwrap()[0]), [CaveatKind::Truncated]);
    // A receiver that got nothing in a test that came to its end.
    let dead = quoted.replace("> > iperf3: interrupt - the client has terminated", "> > iperf Done.");
    check(&dead, "throughput", "side=receiver window=total", 1, 0.0);
    assert_eq!(kinds(&parse(&dead).unwrap()[0]), [CaveatKind::NothingDelivered]);
    let more = dead.replace("0.00 Bytes  0.00 bits/sec", "33.0 MBytes  168 Mbits/sec");
    assert_eq!(kinds(&parse(&more).unwrap()[0]), [CaveatKind::Inconsistent]);
    // Lines that a grep left over.
    let lines = "[  5]   0.00-9.99   sec  1.00 GBytes   860 Mbits/sec    7             sender\n\
                 [  5]   0.00-10.04  sec  1.00 GBytes   856 Mbits/sec                  receiver\n";
    check(lines, "throughput", "side=receiver window=total", 1, 856e6);
    assert_eq!(parse(&lines.repeat(3)).unwrap().len(), 3);
}

#[test]
fn units_of_the_rate_column() {
    let check_unit = |column: &str, bits: f64| {
        let log = format!("[  5]   0.00-1.00   sec  1.00 MBytes  {column}    0   14.1 KBytes\n");
        check(&log, "throughput", "side=sender", 1, bits);
    };
    check_unit("8.39 Mbits/sec", 8.39e6);
    check_unit("8192 Kbits/sec", 8.192e6);
    check_unit("0.01 Gbits/sec", 1e7);
    check_unit("1.00 MBytes/sec", 8.0 * 1024.0 * 1024.0);
    check_unit("1024 KBytes/sec", 8.0 * 1024.0 * 1024.0);
    check_unit("12.0 bits/sec", 12.0);
    assert!(parse("[  5]   0.00-1.00   sec  1.00 MBytes  8.39 furlongs/sec\n").is_err());
}

#[test]
fn not_ours() {
    for log in [
        "",
        "hello",
        "[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n",
        "[  1] 0.0000-10.0000 sec  1.10 GBytes   941 Mbits/sec\n",
        "PING a (192.0.2.1) 56(84) bytes of data.\n",
        "{\"fio version\": \"fio-3.36\", \"jobs\": []}",
        "{\"events\": [], \"start\": 1}",
    ] {
        assert!(!Iperf3.sniff(log.as_bytes()), "{log}");
    }
}

#[test]
fn documents_as_they_are_found() {
    let whole = fixture("tcp-client.json");
    let same = parse(&whole).unwrap();
    let check = |log: String| {
        let runs = parse(&log).unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].series, same[0].series);
    };
    check(format!("$ iperf3 -c a -J\n{whole}$ \n"));
    check(format!("warning: {{odd}}\n{whole}iperf3: interrupt\n"));
    check(format!("{whole}{whole}"));
    check(whole.replace("\"tos\":\t0", "\"tos\":\tnan,\"x\":-nan,\"y\":\"inf nan\""));
    // Cut behind the first interval: that interval, and a caveat.
    let at = whole.find("\"end\":\t{").unwrap();
    let first = parse(&whole[..at]).unwrap();
    assert_eq!(series(&first[0], "throughput", "side=sender").unwrap().samples.len(), 2);
    assert_eq!(kinds(&first[0]), [CaveatKind::Truncated]);
    // The old unsigned minus one is no count.
    let unsigned =
        parse(&whole.replace("\"retransmits\":\t", "\"retransmits\":\t18446744073709551615,\"r\":\t"))
            .unwrap();
    assert!(unsigned[0].series.iter().all(|series| series.metric.name != "retransmits"));
}

#[test]
fn events_of_json_stream() {
    let whole: serde_json::Value = serde_json::from_str(&fixture("tcp-client.json")).unwrap();
    let mut lines = format!("{}\n", serde_json::json!({"event": "start", "data": whole["start"]}));
    for interval in whole["intervals"].as_array().unwrap() {
        lines += &format!("{}\n", serde_json::json!({"event": "interval", "data": interval}));
    }
    let cut = parse(&lines).unwrap();
    assert_eq!(kinds(&cut[0]), [CaveatKind::Truncated]);
    // A line that is cut is no interval.
    assert_eq!(parse(&lines[..lines.len() - 20]).unwrap()[0].series[0].samples.len(), 1);
    lines += &format!("{}\n", serde_json::json!({"event": "end", "data": whole["end"]}));
    let all = parse(&lines).unwrap();
    assert_eq!(all[0].series, parse(&whole.to_string()).unwrap()[0].series);
    // The whole document behind the events repeats them.
    assert_eq!(parse(&format!("{lines}{whole}")).unwrap().len(), 1);
    let failed =
        "{\"event\":\"start\",\"data\":{\"connected\":[]}}\n{\"event\":\"error\",\"data\":\"no route\"}\n";
    assert!(parse(failed).unwrap_err().to_string().ends_with("no route"));
}

#[test]
fn embedded_reports_belong_to_the_client() {
    for name in ["tcp-server-output-client.txt", "tcp-server-output-client.json"] {
        let runs = parse(&fixture(name)).unwrap();
        assert_eq!(runs.len(), 1);
        assert!(series(&runs[0], "throughput", "side=receiver").is_some(), "{name}");
        assert_eq!(series(&runs[0], "throughput", "side=receiver window=total").unwrap().samples.len(), 1);
    }
}

#[test]
fn a_servers_report() {
    let runs = parse(&fixture("tcp-server.json")).unwrap();
    assert!(series(&runs[0], "throughput", "side=receiver window=total").is_some());
    assert!(series(&runs[0], "throughput", "side=receiver").is_some());
    assert!(runs[0].series.iter().all(|series| series.params.get("side") != Some(&"sender".into())));
    let runs = parse(&fixture("two-clients-server.txt")).unwrap();
    assert_eq!(runs.iter().map(|run| kinds(run).len()).collect::<Vec<_>>(), [1, 0]);
    // The last interval of the interrupted one is printed twice.
    assert_eq!(series(&runs[0], "throughput", "side=receiver").unwrap().samples.len(), 2);
}

#[test]
fn damaged_logs_never_panic() {
    for file in fixtures() {
        let log = fs::read_to_string(&file).unwrap();
        let step = (log.len() / 97).max(1);
        for cut in (0..log.len()).step_by(step) {
            let _ = parse(&log[..cut]);
            let _ = parse(&log[cut..]);
            let holed = format!("{}{}", &log[..cut], &log[(cut + step).min(log.len())..]);
            let _ = parse(&holed);
        }
        let _ = parse(&log.replace(['0', '1', '2'], "9"));
        let _ = parse(&log.replace(' ', ""));
        let _ = parse(&log.replace("sec", "é"));
    }
    let _ = parse(&"{".repeat(100_000));
    let _ = parse(&format!("\"start\" \"connected\" {}", "{\"é\":".repeat(10_000)));
    let _ =
        parse("{\"start\":{\"connected\":[{\"socket\":1e300,\"local_port\":-5}]},\"end\":{\"sum_sent\":[]}}");
}

#[test]
fn numbers_have_four_characters() {
    let check = |bits: f64, text: &str| assert_eq!(text::rate(bits, RateUnit::Adaptive), text);
    check(0.0, "0.00 bits/sec");
    check(999.0, " 999 bits/sec");
    check(1000.0, "1.00 Kbits/sec");
    check(9.994e6, "9.99 Mbits/sec");
    check(9.996e6, "10.0 Mbits/sec");
    check(99.94e9, "99.9 Gbits/sec");
    check(99.96e9, " 100 Gbits/sec");
    check(123e15, "123000 Tbits/sec");
    assert_eq!(text::size(1024.0 * 640.0), " 640 KBytes");
    assert_eq!(text::rate(8e9, RateUnit::of("m").unwrap()), "8000 Mbits/sec");
    assert_eq!(text::rate(8e9, RateUnit::of("M").unwrap()), " 954 MBytes/sec");
    assert_eq!(RateUnit::of("x"), None);
}

#[test]
fn dates() {
    assert_eq!(json::http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_eq!(json::http_date(1_796_090_160), "Tue, 01 Dec 2026 01:56:00 GMT");
    assert_eq!(json::http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
    assert_eq!(json::http_date(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
}

#[test]
fn a_failed_test_prints_as_iperf3_does() {
    let error = Some("unable to connect to server: Connection refused".to_owned());
    let test = Test { error, ..Test::default() };
    let original: serde_json::Value = serde_json::from_str(&fixture("refused-client.json")).unwrap();
    let printed = json::document(&test);
    assert_eq!(printed["error"], original["error"]);
    assert_eq!(printed["end"], original["end"]);
    assert_eq!(test.start.role, Role::Client);
    assert_eq!(Side::Sender.other(), Side::Receiver);
}

#[test]
fn documents_are_read_as_they_stream_by() {
    let whole = fixture("tcp-client.json");
    let same = parse(&whole).unwrap();
    let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
    // In one line; keys in another order, so that intervals come before what explains them.
    for log in [
        value.to_string(),
        format!(
            "{{\"intervals\":{},\"end\":{},\"start\":{}}}",
            value["intervals"], value["end"], value["start"]
        ),
    ] {
        assert_eq!(parse(&log).unwrap()[0].series, same[0].series);
    }
    // One that was cut and a whole one behind it.
    let at = whole.find("\"end\":\t{").unwrap();
    let two = format!("{}\n{}", &whole[..at], whole.replace("\"cookie\":\t\"", "\"cookie\":\t\"x"));
    let runs = parse(&two).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(kinds(&runs[0]), [CaveatKind::Truncated]);
    assert_eq!(runs[1].series, same[0].series);
    // A message in the middle of it.
    let warned = whole.replacen("\t\"intervals\":", "iperf3: warning: odd\n\t\"intervals\":", 1);
    let runs = parse(&warned).unwrap();
    assert_eq!(runs[0].series, same[0].series);
    assert_eq!(kinds(&runs[0]), [CaveatKind::ForeignLines]);
    // What was received is what counts; nothing does of a test that was stopped.
    let star: Vec<_> = same[0].series.iter().filter(|series| series.headline.is_some()).collect();
    assert_eq!(star.len(), 1);
    assert_eq!(star[0].params.get("side"), Some(&"receiver".into()));
    let stopped = parse(&fixture("interrupted-client.txt")).unwrap();
    assert!(stopped[0].series.iter().all(|series| series.headline.is_none()));
    // A last line without its end.
    let cut = "[  5]   0.00-1.00   sec  1.10 GBytes  9.47 Gbits/sec    0    767 KBytes\n\
               [  5]   1.00-2.00   sec  1.10 GBytes  9.47 Gbits/sec   12";
    check(cut, "throughput", "side=sender", 2, 9.47e9);
    check(cut, "retransmits", "side=sender", 1, 0.0);
}
