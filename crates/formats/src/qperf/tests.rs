//! Debian's qperf, whose output lies in testdata, and other output by hand.

use crate::brief::{briefs, cut_anywhere};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/qperf/0.4.11-debian12-", $name, ".txt"))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn a_test_is_a_run() {
    check(
        sample!("default"),
        &[
            &["throughput[benchmark=tcp_bw] 5344000000"],
            &["latency[benchmark=tcp_lat] 0.00000829"],
            &[
                "throughput[benchmark=udp_bw side=sender] 46480000000",
                "throughput[benchmark=udp_bw side=receiver] 16960000000",
            ],
            &["latency[benchmark=udp_lat] 0.00000747"],
        ],
    );
    check(
        sample!("use-bits-per-sec"),
        &[
            &["throughput[benchmark=tcp_bw] 6570000000"],
            &[
                "throughput[benchmark=udp_bw side=sender] 27000000000",
                "throughput[benchmark=udp_bw side=receiver] 6950000000",
            ],
        ],
    );
}

#[test]
fn verbose() {
    check(
        sample!("v"),
        &[
            &[
                "throughput[benchmark=tcp_bw] 4456000000",
                "message_rate[benchmark=tcp_bw] 8510",
                "cpu_per_byte[benchmark=tcp_bw side=sender] 3.59e-9",
                "cpu_per_byte[benchmark=tcp_bw side=receiver] 3.61e-9",
                "cpu_utilization[benchmark=tcp_bw side=sender] 2.01",
                "cpu_utilization[benchmark=tcp_bw side=receiver] 2.01",
            ],
            &[
                "latency[benchmark=tcp_lat] 0.0000118",
                "message_rate[benchmark=tcp_lat] 84500",
                "cpu_utilization[benchmark=tcp_lat side=sender] 2",
                "cpu_utilization[benchmark=tcp_lat side=receiver] 2",
            ],
            &[
                "throughput[benchmark=udp_bw side=sender] 37520000000",
                "throughput[benchmark=udp_bw side=receiver] 5656000000",
                "message_rate[benchmark=udp_bw] 21600",
                "cpu_per_byte[benchmark=udp_bw side=sender] 4.22e-10",
                "cpu_per_byte[benchmark=udp_bw side=receiver] 2.8e-9",
                "cpu_utilization[benchmark=udp_bw side=sender] 1.98",
                "cpu_utilization[benchmark=udp_bw side=receiver] 1.98",
            ],
            &[
                "latency[benchmark=udp_lat] 0.0000101",
                "message_rate[benchmark=udp_lat] 99400",
                "cpu_utilization[benchmark=udp_lat side=sender] 2.01",
                "cpu_utilization[benchmark=udp_lat side=receiver] 2.01",
            ],
        ],
    );
    check(
        sample!("vvs"),
        &[&[
            "throughput[benchmark=tcp_bw] 6832000000",
            "message_rate[benchmark=tcp_bw] 13000",
            "transferred[benchmark=tcp_bw side=sender] 857000000",
            "packets_sent[benchmark=tcp_bw] 13078",
            "transferred[benchmark=tcp_bw side=receiver] 854000000",
            "packets_received[benchmark=tcp_bw] 13027",
        ]],
    );
    check(
        sample!("vv"),
        &[
            &[
                "throughput[benchmark=tcp_bw size_bytes=65536] 4480000000",
                "message_rate[benchmark=tcp_bw size_bytes=65536] 8540",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=65536] 3.55e-9",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=65536] 3.57e-9",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=65536] 2",
                "cpu_utilization[benchmark=tcp_bw part=user side=sender size_bytes=65536] 1.65",
                "cpu_utilization[benchmark=tcp_bw part=intr side=sender size_bytes=65536] 0.08",
                "cpu_utilization[benchmark=tcp_bw part=kernel side=sender size_bytes=65536] 0.27",
                "duration[benchmark=tcp_bw side=sender size_bytes=65536] 1",
                "cpu_time[benchmark=tcp_bw side=sender size_bytes=65536] 2",
                "transferred[benchmark=tcp_bw side=sender size_bytes=65536] 563000000",
                "packets_sent[benchmark=tcp_bw size_bytes=65536] 8591",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=65536] 2",
                "cpu_utilization[benchmark=tcp_bw part=user side=receiver size_bytes=65536] 1.65",
                "cpu_utilization[benchmark=tcp_bw part=intr side=receiver size_bytes=65536] 0.08",
                "cpu_utilization[benchmark=tcp_bw part=kernel side=receiver size_bytes=65536] 0.27",
                "duration[benchmark=tcp_bw side=receiver size_bytes=65536] 1",
                "cpu_time[benchmark=tcp_bw side=receiver size_bytes=65536] 2",
                "transferred[benchmark=tcp_bw side=receiver size_bytes=65536] 560000000",
                "packets_received[benchmark=tcp_bw size_bytes=65536] 8543",
            ],
            &[
                "latency[benchmark=tcp_lat size_bytes=1] 0.0000106",
                "message_rate[benchmark=tcp_lat size_bytes=1] 94500",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=1] 2",
                "cpu_utilization[benchmark=tcp_lat part=user side=sender size_bytes=1] 1.28",
                "cpu_utilization[benchmark=tcp_lat part=intr side=sender size_bytes=1] 0.2",
                "cpu_utilization[benchmark=tcp_lat part=kernel side=sender size_bytes=1] 0.52",
                "duration[benchmark=tcp_lat side=sender size_bytes=1] 1",
                "cpu_time[benchmark=tcp_lat side=sender size_bytes=1] 2",
                "transferred[benchmark=tcp_lat part=sent side=sender size_bytes=1] 47300",
                "transferred[benchmark=tcp_lat part=received side=sender size_bytes=1] 47300",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=1] 2",
                "cpu_utilization[benchmark=tcp_lat part=user side=receiver size_bytes=1] 1.28",
                "cpu_utilization[benchmark=tcp_lat part=intr side=receiver size_bytes=1] 0.2",
                "cpu_utilization[benchmark=tcp_lat part=kernel side=receiver size_bytes=1] 0.52",
                "duration[benchmark=tcp_lat side=receiver size_bytes=1] 1",
                "cpu_time[benchmark=tcp_lat side=receiver size_bytes=1] 2",
                "transferred[benchmark=tcp_lat part=sent side=receiver size_bytes=1] 47300",
                "transferred[benchmark=tcp_lat part=received side=receiver size_bytes=1] 47300",
            ],
            &[
                "throughput[benchmark=udp_bw side=sender size_bytes=32768] 23520000000",
                "throughput[benchmark=udp_bw side=receiver size_bytes=32768] 1416000000",
                "message_rate[benchmark=udp_bw size_bytes=32768] 5420",
                "cpu_per_byte[benchmark=udp_bw side=sender size_bytes=32768] 6.77e-10",
                "cpu_per_byte[benchmark=udp_bw side=receiver size_bytes=32768] 1.12e-8",
                "cpu_utilization[benchmark=udp_bw side=sender size_bytes=32768] 1.99",
                "cpu_utilization[benchmark=udp_bw part=user side=sender size_bytes=32768] 0.97",
                "cpu_utilization[benchmark=udp_bw part=intr side=sender size_bytes=32768] 0.38",
                "cpu_utilization[benchmark=udp_bw part=kernel side=sender size_bytes=32768] 0.64",
                "duration[benchmark=udp_bw side=sender size_bytes=32768] 1",
                "cpu_time[benchmark=udp_bw side=sender size_bytes=32768] 1.99",
                "transferred[benchmark=udp_bw side=sender size_bytes=32768] 2940000000",
                "packets_sent[benchmark=udp_bw size_bytes=32768] 89742",
                "cpu_utilization[benchmark=udp_bw side=receiver size_bytes=32768] 1.99",
                "cpu_utilization[benchmark=udp_bw part=user side=receiver size_bytes=32768] 0.97",
                "cpu_utilization[benchmark=udp_bw part=intr side=receiver size_bytes=32768] 0.38",
                "cpu_utilization[benchmark=udp_bw part=kernel side=receiver size_bytes=32768] 0.64",
                "duration[benchmark=udp_bw side=receiver size_bytes=32768] 1",
                "cpu_time[benchmark=udp_bw side=receiver size_bytes=32768] 1.99",
                "transferred[benchmark=udp_bw side=receiver size_bytes=32768] 177000000",
                "packets_received[benchmark=udp_bw size_bytes=32768] 5415",
                "loss[benchmark=udp_bw size_bytes=32768] 0.93966036",
            ],
        ],
    );
}

#[test]
fn sizes() {
    check(
        sample!("sweep-v"),
        &[
            &[
                "latency[benchmark=tcp_lat size_bytes=1] 0.00000934",
                "message_rate[benchmark=tcp_lat size_bytes=1] 107000",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=1] 2",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=1] 2",
            ],
            &[
                "latency[benchmark=tcp_lat size_bytes=16] 0.00000664",
                "message_rate[benchmark=tcp_lat size_bytes=16] 151000",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=16] 1.99",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=16] 1.99",
            ],
            &[
                "latency[benchmark=tcp_lat size_bytes=256] 0.0000107",
                "message_rate[benchmark=tcp_lat size_bytes=256] 93300",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=256] 2",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=256] 2",
            ],
            &[
                "latency[benchmark=tcp_lat size_bytes=4096] 0.000161",
                "message_rate[benchmark=tcp_lat size_bytes=4096] 6190",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=4096] 2",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=4096] 2",
            ],
            &[
                "latency[benchmark=tcp_lat size_bytes=65536] 0.0000224",
                "message_rate[benchmark=tcp_lat size_bytes=65536] 44700",
                "cpu_utilization[benchmark=tcp_lat side=sender size_bytes=65536] 2.01",
                "cpu_utilization[benchmark=tcp_lat side=receiver size_bytes=65536] 2.01",
            ],
            &[
                "throughput[benchmark=tcp_bw size_bytes=1] 3680000",
                "message_rate[benchmark=tcp_bw size_bytes=1] 460000",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=1] 0.000004327",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=1] 0.000004327",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=1] 1.99",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=1] 1.99",
            ],
            &[
                "throughput[benchmark=tcp_bw size_bytes=16] 56400000",
                "message_rate[benchmark=tcp_bw size_bytes=16] 441000",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=16] 2.83e-7",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=16] 2.84e-7",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=16] 2",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=16] 2",
            ],
            &[
                "throughput[benchmark=tcp_bw size_bytes=256] 928000000",
                "message_rate[benchmark=tcp_bw size_bytes=256] 454000",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=256] 1.66e-8",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=256] 1.72e-8",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=256] 2",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=256] 2",
            ],
            &[
                "throughput[benchmark=tcp_bw size_bytes=4096] 6152000000",
                "message_rate[benchmark=tcp_bw size_bytes=4096] 188000",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=4096] 2.61e-9",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=4096] 2.63e-9",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=4096] 2.02",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=4096] 2.02",
            ],
            &[
                "throughput[benchmark=tcp_bw size_bytes=65536] 5672000000",
                "message_rate[benchmark=tcp_bw size_bytes=65536] 10800",
                "cpu_per_byte[benchmark=tcp_bw side=sender size_bytes=65536] 2.79e-9",
                "cpu_per_byte[benchmark=tcp_bw side=receiver size_bytes=65536] 2.82e-9",
                "cpu_utilization[benchmark=tcp_bw side=sender size_bytes=65536] 1.99",
                "cpu_utilization[benchmark=tcp_bw side=receiver size_bytes=65536] 2",
            ],
        ],
    );
}

#[test]
fn nothing_measured() {
    check(sample!("unsupported"), &[]);
}

#[test]
fn pasted() {
    // Repeated figures, somebody's notes, a cut unit, a second column.
    let log = "$ qperf 192.0.2.2 tcp_bw\n\ntcp_bw:\n    bw  =  2.5 GB/sec\n    bw  =  2.6 GB/se\n    bw  =  2.7 GB/sec   (renice)   1 GB/sec\n\n\
               avg = 2.6\nstd dev = 0.1/4%\n";
    check(log, &[&["throughput[benchmark=tcp_bw] 20000000000 21600000000", "foreign-lines"]]);
    check(
        "udp_bw:     send_bw  =  1 Gb/sec     recv_bw  =  900 Mb/sec\n",
        &[&[
            "throughput[benchmark=udp_bw side=sender] 1000000000",
            "throughput[benchmark=udp_bw side=receiver] 900000000",
        ]],
    );
    let rdma = "rc_fetch_add_mr:\n    msg_rate  =  2.5 M/sec\nrc_rdma_write_poll_lat:\n    latency  =  1.2 us\nfailed to connect\n";
    check(
        rdma,
        &[
            &["message_rate[benchmark=rc_fetch_add_mr] 2500000"],
            &["latency[benchmark=rc_rdma_write_poll_lat] 0.0000012", "error-reported"],
        ],
    );
    check("tcp_bw:\nfailed to connect\n", &[&["qperf measured nothing: failed to connect"]]);
    let not = |text: &str| assert!(briefs(text).is_empty(), "{text}");
    not("tcp_bw:\n  enabled: true\n");
    not("latency = 5 us\n");
}

#[test]
fn cut() {
    cut_anywhere(sample!("vv"));
    cut_anywhere(sample!("sweep-v"));
}
