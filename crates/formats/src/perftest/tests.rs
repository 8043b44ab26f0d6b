//! perftest's text and JSON by hand: it needs an RDMA device.

use crate::brief::{briefs, cut_anywhere};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/perftest/", $name))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn bandwidth_of_many_sizes() {
    check(
        sample!("4.5-write-bw-sweep-byhand.txt"),
        &[&[
            "bandwidth[benchmark=ib_write_bw size_bytes=2] 10464788.5 | max 10611589.1 mean 10464788.5 n 5000",
            "message_rate[benchmark=ib_write_bw size_bytes=2] 5232394 | mean 5232394 n 5000",
            "bandwidth[benchmark=ib_write_bw size_bytes=4096] 12056789000 | max 12092283300 mean 12056789000 n 5000",
            "message_rate[benchmark=ib_write_bw size_bytes=4096] 2943552 | mean 2943552 n 5000",
            "bandwidth[benchmark=ib_write_bw size_bytes=65536] 12166103000 | mean 12166103000 n 5000",
            "message_rate[benchmark=ib_write_bw size_bytes=65536] 185640 | mean 185640 n 5000",
            "unit-corrected note",
        ]],
    );
}

#[test]
fn latency() {
    check(
        sample!("24.04-send-lat-byhand.txt"),
        &[&[
            "latency[benchmark=ib_send_lat size_bytes=2] 0.00000169 | max 0.00000512 mean 0.00000169 median 0.00000167 min 0.00000161 n 1000 p99 0.00000192 p99.9 0.0000044 sd 6e-8",
            "latency[benchmark=ib_send_lat size_bytes=4] 0.00000168 | max 0.00000602 mean 0.00000168 median 0.00000166 min 0.0000016 n 1000 p99 0.0000019 p99.9 0.00000471 sd 8e-8",
            "summary-only biased-deviation",
        ]],
    );
    check(
        sample!("24.04-send-lat-unsorted-byhand.txt"),
        &[&[
            "latency[benchmark=ib_read_lat size_bytes=8] 0.0000031 0.00000295 0.00000305 0.0000402 | max 0.0000402 mean 0.00000303 median 0.00000305 min 0.00000295 n 5 p99 0.0000031 p99.9 0.0000031 sd 0",
            "biased-deviation",
        ]],
    );
}

#[test]
fn decimal_bits_both_ways_and_cpu() {
    check(
        sample!("24.04-read-bw-gbits-cpu-byhand.txt"),
        &[&[
            "bandwidth[benchmark=ib_read_bw direction=bidirectional size_bytes=65536] 24413750000 | mean 24413750000 n 20000",
            "message_rate[benchmark=ib_read_bw direction=bidirectional size_bytes=65536] 372525 | mean 372525 n 20000",
            "cpu_utilization[benchmark=ib_read_bw direction=bidirectional size_bytes=65536] 0.2451",
        ]],
    );
}

#[test]
fn few_columns_of_old_versions() {
    check(
        sample!("1.2-old-byhand.txt"),
        &[
            &[
                "bandwidth[benchmark=ib_write_bw size_bytes=65536] 3071069390 | max 3071100850 mean 3071069390 n 5000",
                "unit-corrected",
            ],
            &[
                "latency[benchmark=ib_send_lat size_bytes=2] 0.00000131 | max 0.00001831 median 0.00000131 min 0.00000122 n 1000",
                "summary-only",
            ],
        ],
    );
}

#[test]
fn json() {
    check(
        sample!("24.04-write-bw-byhand.json"),
        &[&[
            "bandwidth[benchmark=ib_write_bw size_bytes=65536] 12103750000 | max 12113750000 mean 12103750000 n 5000",
            "message_rate[benchmark=ib_write_bw size_bytes=65536] 184689 | mean 184689 n 5000",
            "unit-corrected",
        ]],
    );
    check(
        sample!("24.04-write-lat-byhand.json"),
        &[&[
            "latency[benchmark=ib_write_lat size_bytes=2] 0.00000106 | max 0.00000411 mean 0.00000106 median 0.00000105 min 0.00000102 n 1000 p99 0.00000117 p99.9 0.0000032 sd 0",
            "summary-only biased-deviation",
        ]],
    );
}

#[test]
fn nothing_measured() {
    check(
        sample!("4.5-unreachable-byhand.txt"),
        &[&["perftest measured nothing: Couldn't connect to 192.0.2.9:18515"]],
    );
}

#[test]
fn the_command_names_a_table_without_banner() {
    let head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
    let row = " 1024       1000             8.20               8.19               1.000000\n";
    let of = |test: &str| {
        let of = if test.is_empty() { String::new() } else { format!("benchmark={test} ") };
        vec![
            format!("bandwidth[{of}size_bytes=1024] 1023750000 | max 1025000000 mean 1023750000 n 1000"),
            format!("message_rate[{of}size_bytes=1024] 1000000 | mean 1000000 n 1000"),
        ]
    };
    assert_eq!(
        briefs(&format!(
            "$ ssh a /opt/bin/ib_read_bw -d mlx5_0 192.0.2.1\n{head}{row}##### ib_send_bw\n{head}{row}{head}{row}"
        )),
        [of("ib_read_bw"), of("ib_send_bw"), of("")]
    );
    // The banner knows better.
    assert_eq!(
        briefs(&format!("$ ib_write_bw\n                    RDMA_Read BW Test\n{head}{row}")),
        [of("ib_read_bw")]
    );
}

#[test]
fn counters_that_ran_over() {
    let head = "                    Send BW Test\n Dual-port       : OFF          Device         : mlx5_0\n \
                #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
    let bad = " 65536      -104859          0.00               -11.29             -0.021631\n";
    let said = "perftest measured nothing: a row with numbers below zero is none: \
                65536      -104859          0.00               -11.29             -0.021631";
    check(&format!("{head}{bad}"), &[&[said]]);
    check(
        &format!("{head} 1024       1000             8.20               8.19               1.000000\n{bad}"),
        &[&[
            "bandwidth[benchmark=ib_send_bw size_bytes=1024] 1023750000 | max 1025000000 mean 1023750000 n 1000",
            "message_rate[benchmark=ib_send_bw size_bytes=1024] 1000000 | mean 1000000 n 1000",
            "error-reported",
        ]],
    );
}

#[test]
fn the_new_title_changes_nothing_but_the_caveat() {
    let old = sample!("4.5-write-bw-sweep-byhand.txt");
    let (mut old, mut new) = (briefs(old).concat(), briefs(&old.replace("MB/sec", "MiB/sec")).concat());
    assert_eq!((old.pop().unwrap().as_str(), new.pop().unwrap().as_str()), ("unit-corrected note", "note"));
    assert_eq!(old, new);
}

#[test]
fn rows_that_contradict_themselves_and_columns_of_ports() {
    let head = " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n";
    check(
        &format!("{head} 65536      5000             0.00               100.00             0.100000\n"),
        &[&[
            "bandwidth[size_bytes=65536] 104857600 | mean 104857600 n 5000",
            "message_rate[size_bytes=65536] 100000 | mean 100000 n 5000",
            "inconsistent",
        ]],
    );
    let ports = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]\n \
                 65536  100  0.00  20.00  0.038147  10.00  0.019073  10.00  0.019073\n";
    assert_eq!(briefs(ports)[0].len(), 6);
    let rate = " #bytes        #iterations       t_avg[usec]    tps average\n 2       1000            1.50        333333.33\n";
    check(
        rate,
        &[&[
            "transaction_rate[size_bytes=2] 333333.33",
            "latency[size_bytes=2] 0.0000015 | mean 0.0000015 n 1000",
            "summary-only",
        ]],
    );
}

#[test]
fn cut() {
    cut_anywhere(sample!("4.5-write-bw-sweep-byhand.txt"));
    cut_anywhere(sample!("24.04-send-lat-byhand.txt"));
    cut_anywhere(sample!("24.04-write-lat-byhand.json"));
}
