//! Debian's hyperfine, whose output lies in testdata, and older output by hand.

use crate::brief::{briefs, cut_anywhere};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/hyperfine/1.15.0-debian12-", $name))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn json() {
    check(
        sample!("two.json"),
        &[
            &[
                "duration 0.015633245 0.015989021 0.012085889 0.015750465 0.012476841 0.015341367 0.016206297 0.014170241 0.013199841 0.015894425 0.015009571 0.012009189 | max 0.016206297 mean 0.0144805327 median 0.015175469 min 0.012009189 sd 0.00161831485",
                "cpu_time[part=user] 0.00107283333",
                "cpu_time[part=system] 0.000765666667",
            ],
            &[
                "duration 0.021984104 0.021962881 0.022332992 0.022254597 0.026018345 0.022111989 0.022386835 0.023182886 0.022323255 0.032232536 0.022521049 0.022080044 | max 0.032232536 mean 0.0234492927 median 0.0223281235 min 0.021962881 sd 0.00298126917",
                "cpu_time[part=user] 0.0017135",
                "cpu_time[part=system] 0.00019175",
            ],
        ],
    );
    check(
        sample!("param.json"),
        &[
            &[
                "duration[n=1] 0.012689612 0.012640969 0.014331838 0.021534753 0.013879418 | max 0.021534753 mean 0.015015318 median 0.013879418 min 0.012640969 sd 0.00371843005",
                "cpu_time[n=1 part=user] 0.0016742",
                "cpu_time[n=1 part=system] 0.0004066",
            ],
            &[
                "duration[n=2] 0.030278436 0.026369927 0.024670641 0.022055893 0.022468122 | max 0.030278436 mean 0.0251686038 median 0.024670641 min 0.022055893 sd 0.00334600882",
                "cpu_time[n=2 part=user] 0.0014642",
                "cpu_time[n=2 part=system] 0.0003596",
            ],
            &[
                "duration[n=3] 0.033518733 0.038686428 0.031902706 0.035928167 0.03562149 | max 0.038686428 mean 0.0351315048 median 0.03562149 min 0.031902706 sd 0.0025757722",
                "cpu_time[n=3 part=user] 0.0014818",
                "cpu_time[n=3 part=system] 0.0003874",
            ],
        ],
    );
    check(
        sample!("fail.json"),
        &[&[
            "duration 0 0.00043229572 0 | max 0.00043229572 mean 0.000144098573 median 0 min 0 sd 0.00024958605",
            "cpu_time[part=user] 0.0000910266667",
            "cpu_time[part=system] 0",
            "error-reported",
        ]],
    );
    check(
        sample!("one.json"),
        &[&[
            "duration 0.015748212 | max 0.015748212 mean 0.015748212 median 0.015748212 min 0.015748212",
            "cpu_time[part=user] 0.001794",
            "cpu_time[part=system] 0",
        ]],
    );
}

#[test]
fn text() {
    check(
        sample!("two.txt"),
        &[
            &[
                "duration 0.0145 | max 0.0162 mean 0.0145 min 0.012 n 12 sd 0.0016",
                "cpu_time[part=user] 0.0011",
                "cpu_time[part=system] 0.0008",
                "summary-only",
            ],
            &[
                "duration 0.0234 | max 0.0322 mean 0.0234 min 0.022 n 12 sd 0.003",
                "cpu_time[part=user] 0.0017",
                "cpu_time[part=system] 0.0002",
                "summary-only",
            ],
        ],
    );
    check(
        sample!("one.txt"),
        &[&[
            "duration 0.0157 | mean 0.0157 n 1",
            "cpu_time[part=user] 0.0018",
            "cpu_time[part=system] 0",
            "summary-only",
        ]],
    );
    check(
        sample!("fail.txt"),
        &[&[
            "duration 0.0001 | max 0.0004 mean 0.0001 min 0 n 3 sd 0.0002",
            "cpu_time[part=user] 0.0001",
            "cpu_time[part=system] 0",
            "summary-only error-reported note note",
        ]],
    );
}

#[test]
fn tables() {
    check(
        sample!("two.csv"),
        &[
            &[
                "duration 0.0144805327 | max 0.016206297 mean 0.0144805327 median 0.015175469 min 0.012009189 sd 0.00161831485",
                "cpu_time[part=user] 0.00107283333",
                "cpu_time[part=system] 0.000765666667",
                "summary-only",
            ],
            &[
                "duration 0.0234492927 | max 0.032232536 mean 0.0234492927 median 0.0223281235 min 0.021962881 sd 0.00298126917",
                "cpu_time[part=user] 0.0017135",
                "cpu_time[part=system] 0.00019175",
                "summary-only",
            ],
        ],
    );
    check(
        sample!("two.md"),
        &[
            &["duration 0.0145 | max 0.0162 mean 0.0145 min 0.012 sd 0.0016", "summary-only"],
            &["duration 0.0234 | max 0.0322 mean 0.0234 min 0.022 sd 0.003", "summary-only"],
        ],
    );
}

#[test]
fn before_and_after() {
    let log = "$ hyperfine make\nBenchmark #1: make\n  Time (mean ± σ):      1.234 s ±  0.021 s    [User: 1.100 s, System: 98.1 ms]\n  \
               Range (min … max):    1.201 s …  1.270 s    10 runs\n$\n";
    check(
        log,
        &[&[
            "duration 1.234 | max 1.27 mean 1.234 min 1.201 n 10 sd 0.021",
            "cpu_time[part=user] 1.1",
            "cpu_time[part=system] 0.0981",
            "summary-only",
        ]],
    );
    // A document cut in the middle holds nothing that is whole.
    let json = sample!("param.json");
    assert_eq!(briefs(&json[..json.len() / 2]).len(), 1);
    check("{\n \"results\": []\n}\n", &[]);
}

#[test]
fn cut() {
    cut_anywhere(sample!("two.txt"));
    cut_anywhere(sample!("two.md"));
}
