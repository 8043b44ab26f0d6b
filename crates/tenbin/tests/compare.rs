//! Questions that people asked of logs, with the answers that a sound comparison gives. Figures are rebuilt as tables.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Bench, Output, json};
use serde_json::Value;

/// A table in tenbin's own form: rows of `run,tool,metric,unit,size_bytes,window,figure,at_seconds,value`.
fn table(bench: &Bench, name: &str, rows: &[String]) {
    let head = "run,tool,metric,unit,size_bytes,window,figure,at_seconds,value";
    std::fs::write(bench.path(name), format!("{head}\n{}\n", rows.join("\n"))).unwrap();
}

fn compare(bench: &Bench, arguments: &[&str]) -> Output {
    bench.tenbin(&[&["compare"], arguments].concat()).output()
}

/// What is printed, its lines joined, so that sentences can be looked for.
fn told(bench: &Bench, arguments: &[&str]) -> String {
    let output = compare(bench, arguments);
    assert_eq!(output.code, 0, "{}", output.err);
    output.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn document(bench: &Bench, arguments: &[&str]) -> Value {
    json(&compare(bench, &[arguments, &["--json"]].concat()).out)
}

#[track_caller]
fn says(text: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(text.contains(sentence), "\"{sentence}\" is not in {text}");
    }
}

/// The last lines of a ping, as a table: n, mean, min, max and deviation in ms.
fn summary(bench: &Bench, name: &str, [min, mean, max, sd]: [f64; 4]) {
    let row = |figure: &str, ms: f64| format!("1,ping,rtt,s,,,{figure},,{}", ms / 1e3);
    let rows = [row("min", min), row("mean", mean), row("max", max), row("sd", sd)];
    table(bench, name, &[&rows[..], &["1,ping,rtt,s,,,n,,60".to_owned()]].concat());
}

#[test]
fn ping_summaries_are_described_by_packets() {
    let bench = Bench::new();
    summary(&bench, "pv.csv", [0.194, 0.255, 0.362, 0.041]);
    summary(&bench, "vfio.csv", [0.145, 0.173, 0.249, 0.020]);
    summary(&bench, "ax.csv", [0.104, 0.144, 0.769, 0.082]);
    let text = told(&bench, &["pv.csv", "vfio.csv", "ax.csv"]);
    says(
        &text,
        &[
            "one run each: no statement about the difference between configurations is possible",
            "host, day and neighbours may have differed",
            "the means are 255 and 173 us: -32.2 % (Welch 95 % -37 to -28 %",
            "t = -13.8, df = 85.6), which takes samples for independent, as they hardly are",
            "one value, 769 us, carries the printed deviation of ax (without it the mean is about 133 us)",
            "a robust statistic is needed and per-packet data is missing",
        ],
    );
    let document = document(&bench, &["pv.csv", "vfio.csv"]);
    let row = &document["comparisons"][0];
    assert_eq!(
        (&row["verdict"], &row["lo"], &row["p"]),
        (&"description_only".into(), &Value::Null, &Value::Null)
    );
    let within = |end: &str| (row["within"][end].as_f64().unwrap() - 1.0) * 100.0;
    assert!((within("lo") + 36.8).abs() < 0.1 && (within("hi") + 27.5).abs() < 0.1, "{row}");
}

/// A PingPong: microseconds and repetitions by size.
fn pingpong(bench: &Bench, name: &str, times: &[(u64, f64, u64)]) {
    let rows = times.iter().flat_map(|(size, us, repetitions)| {
        let rate = *size as f64 / us * 1e6;
        [
            format!("1,imb,latency,s,{size},,,,{}", us / 1e6),
            format!("1,imb,latency,s,{size},,n,,{repetitions}"),
            format!("1,imb,bandwidth,byte/s,{size},,,,{rate}"),
        ]
    });
    table(bench, name, &rows.collect::<Vec<_>>());
}

#[test]
fn three_curves_have_an_order_with_exceptions_and_a_limiter() {
    let bench = Bench::new();
    let sizes = [32, 1024, 4096, 32768, 65536, 131_072, 4_194_304];
    let curve = |name: &str, times: [f64; 7]| {
        let repetitions = |size: u64| if size > 1 << 20 { 10 } else { 1000 };
        let rows: Vec<_> =
            sizes.iter().zip(times).map(|(size, us)| (*size, us, repetitions(*size))).collect();
        pingpong(&bench, name, &rows);
    };
    curve("pv.csv", [30.1, 33.3, 36.9, 78.8, 148.0, 252.0, 23171.0]);
    curve("vfio.csv", [18.6, 21.7, 42.2, 69.1, 458.0, 901.0, 25353.0]);
    curve("ax.csv", [19.8, 20.3, 21.8, 42.0, 235.0, 461.0, 11590.0]);
    let text = told(&bench, &["pv.csv", "vfio.csv", "ax.csv", "--fact", "link.rate=1Gbit/s"]);
    says(
        &text,
        &[
            "one run each: no statement",
            "bandwidth of vfio: cliff at 64 KiB, where the rate falls to 30 %",
            "bandwidth of ax: cliff at 64 KiB",
            "bandwidth of pv: cliff at 4 MiB",
            "bandwidth of ax at 32 KiB: 780 MB/s (6.24 Gbit/s) is 6.2 times the nominal link rate of 125 MB/s (1 \
             Gbit/s): burst credit, or no hard limit; from 64 KiB on, where it falls off, a rate limiter was measured",
            "latency below 64 KiB, where the first of them falls off, best first: ax, vfio, pv; but vfio before ax at \
             32 B (18.60 against 19.80 us); pv before vfio at 4 KiB (36.90 against 42.20 us)",
            "the order changes along the curve",
        ],
    );
    // The same fall is not told twice, as a rate and as a time.
    assert!(!text.contains("latency of vfio: cliff"), "{text}");
    let document = document(&bench, &["pv.csv", "vfio.csv", "ax.csv", "--fact", "link.rate=1Gbit/s"]);
    assert_eq!(document["ceilings"].as_array().unwrap().len(), 3);
    let small =
        &document["rankings"].as_array().unwrap().iter().find(|one| one["metric"] == "latency").unwrap();
    assert_eq!(small["order"], serde_json::json!(["ax", "vfio", "pv"]));
    assert_eq!(small["exceptions"][0]["at"], serde_json::json!([32.0]));
}

#[test]
fn jumbo_frames_are_weighed_against_headers_and_packets() {
    let bench = Bench::new();
    let iperf = |name: &str, total: f64, intervals: [f64; 10]| {
        let at = |(second, rate): (usize, &f64)| {
            format!("1,iperf3,throughput,bit/s,,,,{},{}", second + 1, rate * 1e9)
        };
        let mut rows: Vec<String> = intervals.iter().enumerate().map(at).collect();
        rows.push(format!("1,iperf3,throughput,bit/s,,total,,,{}", total * 1e9));
        // What verdicts are made of is marked, as the importer of the tool does it.
        let marked = |row: &String| {
            row.replacen("1,iperf3,", if row.contains("total") { "1,iperf3,total," } else { "1,iperf3,," }, 1)
        };
        let head = "run,tool,headline,metric,unit,size_bytes,window,figure,at_seconds,value";
        let rows: Vec<String> = rows.iter().map(marked).collect();
        std::fs::write(bench.path(name), format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    };
    iperf("small.csv", 4.18, [4.86, 4.21, 3.57, 4.14, 3.87, 4.27, 4.39, 4.35, 3.85, 4.27]);
    iperf("jumbo.csv", 8.47, [7.88, 8.67, 8.60, 8.45, 8.77, 8.63, 8.68, 7.83, 8.65, 8.53]);
    let asked = ["small.csv", "jumbo.csv", "--fact", "link.rate=10Gbit/s", "--fact", "link.mtu=1500,9000"];
    says(
        &told(&bench, &asked),
        &[
            "one run each: no statement",
            "+102.6 %",
            "the first of 10 intervals, 4.86 Gbit/s, is high",
            "the first of 10 intervals, 7.88 Gbit/s, is low",
            "headers explain +5.2 % of the +102.6 %; full packets were 361 kpps in small (MTU 1500) and 118 kpps in \
             jumbo (MTU 9000); small leaves 56 % of the link idle, so that work for each packet (CPU, virtual NIC) is \
             its limit, not the wire",
            "throughput of small: 4.18 Gbit/s is 44 % of the ceiling of 9.41 Gbit/s",
            "throughput of jumbo: 8.47 Gbit/s is 86 % of the ceiling of 9.9 Gbit/s",
        ],
    );
    let wrong = compare(&bench, &["small.csv", "jumbo.csv", "--fact", "link.rate=fast"]);
    assert_eq!((wrong.code, wrong.err.contains("--fact link.rate: ")), (2, true), "{}", wrong.err);
}

/// Repetitions of one test, a line each, as qperf prints them when called in a loop.
fn qperf(bench: &Bench, name: &str, test: &str, values: &[&str]) {
    let label = if test == "tcp_bw" { "bw" } else { "latency" };
    let lines: String = values.iter().map(|value| format!("    {label}  =  {value}\n")).collect();
    std::fs::write(bench.path(name), format!("{test}:\n{lines}")).unwrap();
}

#[test]
fn repetitions_are_compared_by_means_and_ranks() {
    let bench = Bench::new();
    qperf(
        &bench,
        "bw-battery.txt",
        "tcp_bw",
        &["2.59 GB/sec", "2.66 GB/sec", "2.63 GB/sec", "2.65 GB/sec", "2.57 GB/sec"],
    );
    qperf(
        &bench,
        "bw-mains.txt",
        "tcp_bw",
        &["3.92 GB/sec", "3.69 GB/sec", "3.58 GB/sec", "3.62 GB/sec", "3.52 GB/sec"],
    );
    let text = told(&bench, &["bw-battery.txt", "bw-mains.txt"]);
    says(
        &text,
        &[
            "bw-mains is faster than bw-battery",
            "by means: +39.9 % (Welch 95 % +33 to +47 %",
            "by ranks (Mann-Whitney) p = 0.008",
            "the runs were not interleaved: whatever changed with time counts as a difference",
        ],
    );
    let row = document(&bench, &["bw-battery.txt", "bw-mains.txt"])["comparisons"][0].clone();
    assert_eq!((&row["verdict"], &row["design"]), (&"faster".into(), &"unpaired".into()));
    let percent = |end: &str| (row["within"][end].as_f64().unwrap() - 1.0) * 100.0;
    assert!((percent("lo") - 32.7).abs() < 0.1 && (percent("hi") - 47.2).abs() < 0.1, "{row}");
}

#[test]
fn a_borderline_case_among_others_does_not_survive() {
    let bench = Bench::new();
    qperf(&bench, "plain.txt", "tcp_lat", &["18.2 us", "18.3 us", "18.7 us", "21.6 us", "18.5 us"]);
    qperf(&bench, "hook.txt", "tcp_lat", &["22.6 us", "20.5 us", "21.9 us", "20.2 us", "21.5 us"]);
    let alone = told(&bench, &["plain.txt", "hook.txt"]);
    says(
        &alone,
        &[
            "+12.0 % (Welch 95 % +2 to +22 %, p = 0.022); by ranks (Mann-Whitney) p = 0.056, on the other side of \
             0.05: a borderline case",
            "far from the other runs: 1 of 5 of plain (21.6 us); without, the verdict alone would be slower",
            "can't tell hook from plain",
        ],
    );
    for (name, by) in [("b.txt", 1.0), ("c.txt", 2.0), ("d.txt", 3.0)] {
        let values: Vec<String> =
            (0..5).map(|i| format!("{:.1} us", 18.3 + by + 0.2 * f64::from(i))).collect();
        qperf(&bench, name, "tcp_lat", &values.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let four = told(&bench, &["plain.txt", "hook.txt", "b.txt", "c.txt", "d.txt"]);
    says(&four, &["one of 4 comparisons: p = ", "0.087 by means (Bonferroni)"]);
    // Every pair: ten of them.
    let pairs = document(&bench, &["plain.txt", "hook.txt", "b.txt", "c.txt", "d.txt", "--against", "all"]);
    assert_eq!(pairs["comparisons"].as_array().unwrap().len(), 10);
    assert_eq!(pairs["comparisons"][0]["family"]["questions"], 10);
}

#[test]
fn small_messages_hide_what_large_ones_show() {
    let bench = Bench::new();
    let rates = |name: &str, factor: &dyn Fn(u32) -> f64| {
        let row = |power: u32| {
            let rate = f64::from(1 << power) * 2e6 / (1.0 + f64::from(1 << power) / 2e4) * factor(power);
            format!("1,perftest,bandwidth,byte/s,{},,,,{rate}", 1 << power)
        };
        table(&bench, name, &(1..20).map(row).collect::<Vec<_>>());
    };
    rates("far.csv", &|_| 1.0);
    rates("near.csv", &|power| if power <= 10 { 1.03 } else { 1.0 + 0.119 * f64::from(power - 10) });
    let text = told(&bench, &["far.csv", "near.csv"]);
    says(&text, &["to x2.07 at 512 KiB", "up to 1 KiB the two are within 3 %"]);
    let row = document(&bench, &["far.csv", "near.csv"])["comparisons"][0].clone();
    assert_eq!(row["verdict"], "description_only");
}

#[test]
fn one_repetition_and_other_sizes_make_no_statement() {
    let bench = Bench::new();
    pingpong(&bench, "one.csv", &[(64, 1.66, 1000), (268_435_456, 21957.9, 1)]);
    pingpong(&bench, "other.csv", &[(64, 1.60, 1000), (134_217_728, 10935.6, 1), (268_435_456, 21864.2, 1)]);
    says(
        &told(&bench, &["one.csv", "other.csv"]),
        &[
            "one run each: no statement",
            "-3.6 % at 64 B to -0.4 % at 256 MiB",
            "from 256 MiB on there is one repetition only: nothing tells noise from effect",
            "compared at the 2 sizes that both have (64 B to 256 MiB); other alone has 1 more",
        ],
    );
}

#[test]
fn where_one_log_ends_nothing_is_compared() {
    let bench = Bench::new();
    let curve = |name: &str, last: u32, factor: f64| {
        let row = |power: u32| {
            format!("1,osu,bandwidth,byte/s,{},,,,{}", 1u64 << power, factor * f64::from(power + 1))
        };
        table(&bench, name, &(0..=last).map(row).collect::<Vec<_>>());
    };
    curve("old.csv", 22, 1e6);
    curve("new.csv", 9, 1.07e6);
    let text = told(&bench, &["old.csv", "new.csv"]);
    says(
        &text,
        &[
            "compared at the 10 sizes that both have (1 B to 512 B); no common data above 512 B: only old goes on",
        ],
    );
    assert_eq!(document(&bench, &["old.csv", "new.csv"])["comparisons"].as_array().unwrap().len(), 10);
}

#[test]
fn one_side_alone_is_described() {
    let bench = Bench::new();
    let stream = |rate: f64| {
        format!(
            "STREAM version $Revision: 5.10 $\nEach kernel will be executed 100 times.\n\
             Function    Best Rate MB/s  Avg time     Min time     Max time\n\
             Triad:          {rate:.1}     0.0087     0.0084     0.0092\n"
        )
    };
    let rates = [28701.1, 28171.7, 28138.7, 27223.2, 27226.2, 27560.9, 26906.0, 28395.1, 26220.5, 28561.0];
    let text: String = rates.iter().map(|rate| stream(*rate)).collect();
    std::fs::write(bench.path("stream.log"), text).unwrap();
    says(
        &told(&bench, &["stream.log", "--fact", "memory.rate=38.4GB/s"]),
        &[
            "mean 27.7 GB/s over 10 runs, sd 812 MB/s (2.9 %), 95 % interval of the mean ±581 MB/s (2.1 %)",
            "a mean of bests is no mean",
            "is 73 % of the ceiling of 38.4 GB/s",
        ],
    );
    assert_eq!(document(&bench, &["stream.log"])["levels"][0]["n"], 10);
}

#[test]
fn ranges_and_a_roofline() {
    let bench = Bench::new();
    let text = "arm,min_flop_rate_MFLOPS,max_flop_rate_MFLOPS\n8 ranks,12600,12900\n16 ranks,11300,12300\n";
    std::fs::write(bench.path("ht.csv"), text).unwrap();
    let facts = ["--fact", "benchmark=himeno", "--fact", "memory.rate=34.128GB/s"];
    let asked = [&["ht.csv#8 ranks", "ht.csv#16 ranks"][..], &facts].concat();
    says(
        &told(&bench, &asked),
        &[
            "by the ranges given, 11.3 to 12.3 against 12.6 to 12.9 GFLOPS, -12.4 % to -2.4 %; no repeats are known",
            "12.8 GFLOPS is 79 % of the ceiling of 16.1 GFLOPS (34.13 GB/s of all channels (given); 34 flop for 72 bytes",
        ],
    );
    let none = compare(&bench, &["ht.csv#9", "ht.csv#16 ranks"]);
    assert!(none.code == 2 && none.err.contains("ht.csv has 2 runs, and none is called 9"), "{}", none.err);
}

const NULL_PLAN: &str = r#"
blocks = 6
tolerate = { steal = "100%" }
[hosts]
here = { local = true }
[[arm]]
name = "a"
[[arm]]
name = "b"
params = { null = { value = "2s" } }
[[measure]]
engine = "null"
from = "here"
value = "1s"
"#;

#[test]
fn logs_and_stored_runs_are_compared() {
    let bench = Bench::new();
    let log = |name: &str, rtts: &[f64]| {
        let mut text = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n".to_owned();
        for (seq, rtt) in (1..).zip(rtts) {
            text += &format!("64 bytes from 192.0.2.1: icmp_seq={seq} ttl=64 time={rtt} ms\n");
        }
        std::fs::write(bench.path(name), text).unwrap();
    };
    log("old.log", &[1.0, 1.1, 0.9, 1.05]);
    log("new.log", &[0.5, 0.55, 0.45, 0.52]);
    let compare = |arguments: &[&str]| bench.tenbin(&[&["compare"], arguments].concat()).output();
    let told = compare(&["old.log", "new.log"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.contains("no statement about the difference between configurations"), "{}", told.out);
    let document = json(&compare(&["old.log", "new.log", "--json"]).out);
    assert_eq!(document["comparisons"][0]["verdict"], "description_only");
    assert_eq!(document["comparisons"][0]["arm"], "new");
    // One run each decides nothing: only the stricter gate trips.
    assert_eq!(compare(&["old.log", "new.log", "--fail-if", "slower"]).code, 0);
    assert_eq!(compare(&["old.log", "new.log", "--fail-if", "slower,unclear"]).code, 1);

    bench.plan("null.toml", NULL_PLAN);
    assert_eq!(bench.tenbin(&["run", "null.toml", "-q"]).output().code, 0);
    let paired = compare(&["null:a", "null:b", "--json", "--fail-if", "slower"]);
    assert_eq!(paired.code, 1, "{}", paired.err);
    let row = json(&paired.out)["comparisons"][0].clone();
    assert_eq!((&row["verdict"], &row["design"], &row["n"]), (&"slower".into(), &"paired".into(), &6.into()));

    for arm in ["old", "new"] {
        let file = format!("{arm}.log");
        assert_eq!(bench.tenbin(&["import", &file, "--arm", arm]).output().code, 0);
    }
    assert!(compare(&["arm:old", "arm:new"]).out.contains("rtt"));
    let refuse = |arguments: &[&str], part: &str| {
        let output = compare(arguments);
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(part), "{}", output.err);
    };
    refuse(&[], "required");
    refuse(&["old.log", "none.log"], "no such file");
    refuse(
        &["old.log", "null:a"],
        "old has rtt in s, null:a has duration in s, and different metrics or units are",
    );
    refuse(&["old.log", "new.log", "--against", "none"], "there are old, new");
    refuse(&["old.log", "new.log", "--against", "old.log,new"], "nothing is left to compare");
    refuse(&["null:a", "null:c"], "it has a, b");
    refuse(&["arm:old", "arm:other"], "no run that counts");
    refuse(&["old.log", "new.log", "--margin", "2"], "--margin");
}

#[test]
fn the_gate_knows_the_margin() {
    let bench = Bench::new();
    let rates = |name: &str, factor: f64| {
        let values: Vec<String> =
            (0..8).map(|i| format!("{:.4} GB/sec", factor * (2.0 + 0.001 * f64::from(i)))).collect();
        qperf(&bench, name, "tcp_bw", &values.iter().map(String::as_str).collect::<Vec<_>>());
    };
    rates("old.txt", 1.0);
    rates("new.txt", 0.96);
    let code = |arguments: &[&str]| compare(&bench, &[&["old.txt", "new.txt"], arguments].concat()).code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--fail-if", "slower", "--margin", "3%"]), 1);
    assert_eq!(code(&["--fail-if", "slower", "--margin", "10%"]), 0);
    // Against the new one the old one is faster.
    assert_eq!(code(&["--fail-if", "slower", "--margin", "3%", "--against", "new"]), 0);
    // Bytes and bits of the same thing are converted; of other things nothing is guessed.
    let row = |value: &str| vec![format!("1,csv,{value}")];
    table(&bench, "bits.csv", &row("throughput,bit/s,,,,,8e9"));
    table(&bench, "bytes.csv", &row("bandwidth,byte/s,,,,,2e9"));
    let converted = told(&bench, &["bits.csv", "bytes.csv"]);
    says(
        &converted,
        &["8.00 Gbit/s 16.0 Gbit/s 2.00", "was converted to throughput in bit/s (8 bit are 1 byte)"],
    );
    table(&bench, "time.csv", &row("latency,s,,,,,1e-5"));
    let refused = compare(&bench, &["bits.csv", "time.csv"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
}

#[test]
fn any_arm_can_be_what_the_others_are_compared_with() {
    let bench = Bench::new();
    let third = "[[arm]]\nname = \"c\"\nparams = { null = { value = \"3s\" } }\n[[measure]]";
    bench.plan("null.toml", &NULL_PLAN.replace("[[measure]]", third));
    let pairs = |arguments: &[&str]| -> Vec<String> {
        let output = bench.tenbin(arguments).output();
        assert_eq!(output.code, 0, "{}", output.err);
        let rows = json(&output.out)["comparisons"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| format!("{}/{}", row["arm"].as_str().unwrap(), row["base"].as_str().unwrap()))
            .collect()
    };
    // What can't be weighed so is not measured at all.
    let refused = bench.tenbin(&["run", "null.toml", "--against", "d"]).output();
    assert!(refused.code == 2 && refused.err.contains("there are a, b, c"), "{}", refused.err);
    assert_eq!(pairs(&["run", "null.toml", "-q", "--json", "--against", "b"]), ["a/b", "c/b"]);
    assert_eq!(pairs(&["show", "--json"]), ["b/a", "c/a"]);
    assert_eq!(pairs(&["show", "--json", "--against", "c,a"]), ["b/c", "b/a"]);
    assert_eq!(pairs(&["show", "--json", "--against", "all", "--correction", "holm"]), ["b/a", "c/a", "c/b"]);
    let holm =
        json(&bench.tenbin(&["show", "--json", "--against", "all", "--correction", "holm"]).output().out);
    assert_eq!(holm["comparisons"][0]["family"]["correction"], "holm");
    let report = bench.tenbin(&["report", "--against", "c"]).output();
    let page = std::fs::read_to_string(report.out.trim().replace("report.html", "report.md"));
    let page = page.or_else(|_| std::fs::read_to_string(bench.path("tenbin-null/report.md"))).unwrap();
    assert!(page.contains("all ratios are to c"), "{page}");
    let sides = ["null:a", "null:b", "null:c"];
    assert_eq!(
        pairs(&[&["compare"], &sides[..], &["--json", "--against", "null:c"]].concat()),
        ["null:a/null:c", "null:b/null:c"]
    );
}
