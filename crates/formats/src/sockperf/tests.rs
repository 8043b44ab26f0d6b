//! Debian's sockperf, whose output lies in testdata, and other versions by hand.

use crate::brief::{briefs, cut_anywhere};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/sockperf/3.7-debian12-", $name))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn ping_pong() {
    check(
        sample!("pingpong-udp.txt"),
        &[&[
            "latency 0.000010072 | max 0.011638947 mean 0.000010072 median 0.000004117 min 0.000003314 n 77491 p25 0.000004 p75 0.000004365 p90 0.000005793 p99 0.000030163 p99.9 0.001561996 p99.99 0.002542748 p99.999 0.005159019 sd 0.00009612",
            "duration 1.568",
            "packets_sent 77491",
            "packets_received 77491",
            "packets_lost 0",
            "duplicates 0",
            "reordered 0",
            "loss 0",
            "summary-only",
        ]],
    );
}

#[test]
fn full_round_trips_are_another_metric() {
    check(
        sample!("pingpong-tcp-full-rtt.txt"),
        &[&[
            "rtt 0.000020272 | max 0.031340681 mean 0.000020272 median 0.000009785 min 0.000006246 n 77357 p25 0.000009368 p75 0.000010463 p90 0.000015633 p99 0.000061023 p99.9 0.003050198 p99.99 0.005291823 p99.999 0.007308967 sd 0.00019403",
            "duration 1.576",
            "packets_sent 77357",
            "packets_received 77357",
            "packets_lost 0",
            "duplicates 0",
            "reordered 0",
            "loss 0",
            "summary-only",
        ]],
    );
}

#[test]
fn under_load_and_its_full_log() {
    check(
        sample!("underload-udp.txt"),
        &[&[
            "latency 0.001053415 | max 0.003998857 mean 0.001053415 median 0.000045811 min 0.000008857 n 14 p25 0.000023107 p75 0.003095098 p90 0.003135106 p99 0.003998857 p99.9 0.003998857 p99.99 0.003998857 p99.999 0.003998857 sd 0.001540891",
            "duration 1.304",
            "packets_sent 1301",
            "packets_received 14",
            "packets_lost 0",
            "duplicates 0",
            "reordered 0",
            "summary-only",
        ]],
    );
    check(
        sample!("underload-udp-full-log.csv"),
        &[&[
            "latency[size_bytes=100] 0.000009137@2.50555664 0.000023492@2.60330571 0.000023108@2.70330504 0.000009445@2.80554779 0.000008857@2.90472837 0.003135107@3.0095284 0.000043734@3.10557433 0.000064856@3.20969152 0.000045811@3.30963824 0.00312057@3.40949948 0.001119205@3.50549707 0.003095099@3.60944859 0.003998857@3.71349651 0.00005054@3.80963971 | max 0.003998857 mean 0.001053415 median 0.000045811 min 0.000008857 n 14 p25 0.000023107 p75 0.003095098 p90 0.003135106 p99 0.003998857 p99.9 0.003998857 p99.99 0.003998857 p99.999 0.003998857 sd 0.001540891",
            "duration[size_bytes=100] 1.304",
            "packets_sent[size_bytes=100] 1301",
            "packets_received[size_bytes=100] 14",
            "packets_lost[size_bytes=100] 0",
            "duplicates[size_bytes=100] 0",
            "reordered[size_bytes=100] 0",
        ]],
    );
}

#[test]
fn throughput_is_binary_and_what_was_sent() {
    check(
        sample!("throughput-tcp.txt"),
        &[&[
            "packets_sent[size_bytes=1000] 847322",
            "duration[size_bytes=1000] 2.001",
            "message_rate[side=sender size_bytes=1000] 423547",
            "throughput[side=sender size_bytes=1000] 3388376880",
            "unit-corrected sender-only",
        ]],
    );
}

#[test]
fn nothing_measured() {
    check(
        sample!("refused.txt"),
        &[&["sockperf measured nothing: Can`t connect socket (errno=111 Connection refused)"]],
    );
}

#[test]
fn other_versions() {
    let log = "$ sockperf pp -i 192.0.2.2 -m 64\nsockperf: == version #3.10-23.gited92afb185e6 == \n\
               sockperf: ====> avg-latency=10.000 (std-dev=2.000, mean-ad=1.000, median-ad=0.500, siqr=0.400, cv=0.200, std-error=0.010, 99.0% ci=[9.974, 10.026])\n\
               sockperf: # dropped messages = 0; # duplicated messages = 2; # out-of-order messages = 1\n\
               sockperf: Summary: Latency is 10.000 usec\n";
    check(
        log,
        &[&[
            "latency[size_bytes=64] 0.00001 | ci_high 0.000010026 ci_low 0.000009974 mad 0.000001 mean 0.00001 median_ad 5e-7 sd 0.000002 siqr 4e-7",
            "packets_lost[size_bytes=64] 0",
            "duplicates[size_bytes=64] 2",
            "reordered[size_bytes=64] 1",
            "summary-only truncated duplicates",
        ]],
    );
    let giga = "sockperf: Summary: Message Rate is 1000 [msg/sec]\nsockperf: Summary: BandWidth is 1.000 GBps (8.000 Gbps)\n";
    check(
        &giga.repeat(2),
        &[
            &[
                "message_rate[side=sender] 1000",
                "throughput[side=sender] 8388608000",
                "unit-corrected sender-only",
            ],
            &[
                "message_rate[side=sender] 1000",
                "throughput[side=sender] 8388608000",
                "unit-corrected sender-only",
            ],
        ],
    );
    check(
        "sockperf: == version #2.6 ==\nsockperf: No messages were received from the server. Is the server down?\n",
        &[&["sockperf measured nothing: No messages were received from the server. Is the server down?"]],
    );
}

#[test]
fn copies_from_web_pages() {
    let log = "sockperf: [Valid Duration] RunTime=1.5 sec; SentMessages=10; ReceivedMessages=10\n\
               sockperf: ====> avg-rtt=40.250 (std-dev=1.500)\n\
               **sockperf: Summary: Round trip is 40.250 usec**\n\
               sockperf: ---> MAX observation = **52.125**\nsockperf: ---> percentile 99.000 = **52.125**\n\
               sockperf: ---> MIN observation =   38.500\n";
    let figures =
        "rtt 0.00004025 | max 0.000052125 mean 0.00004025 min 0.0000385 p99 0.000052125 sd 0.0000015";
    let wanted: &[&[&str]] =
        &[&[figures, "duration 1.5", "packets_sent 10", "packets_received 10", "summary-only"]];
    check(log, wanted);
    check(&log.replace("MAX ", "").replace("MIN ", ""), wanted);
    check(&log.replace("MAX", "&lt;MAX&gt;").replace("MIN", "<MIN>"), wanted);
}

#[test]
fn cut() {
    cut_anywhere(sample!("pingpong-udp.txt"));
    cut_anywhere(sample!("underload-udp-full-log.csv"));
    cut_anywhere(sample!("throughput-tcp.txt"));
}
