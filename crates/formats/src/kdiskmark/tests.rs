//! A text by hand in the layout of version 3, and one row of the oldest.

use super::*;
use crate::crystaldiskmark::CrystalDiskMark;
use crate::crystaldiskmark::tests::brief;

const SAMPLE: &str = include_str!("../../../../testdata/kdiskmark/kdiskmark-3.1.4-byhand.txt");

fn check(text: &str, wanted: &[&str]) {
    assert!(KDiskMark.sniff(text.as_bytes()) && !CrystalDiskMark.sniff(text.as_bytes()), "{text}");
    let mut runs = Vec::new();
    KDiskMark.parse(&mut text.as_bytes(), &mut runs).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].tool, "kdiskmark");
    let lines = brief(&runs);
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
}

#[test]
fn its_megabyte_is_its_own() {
    check(
        SAMPLE,
        &[
            "read seq 1048576 8 1 bandwidth 3355443200.0",
            "read seq 131072 32 1 iops 24218.8",
            "write rand 4096 32 16 latency 0.0022",
            "unit-corrected",
        ],
    );
    // The best pass instead of the mean.
    check(&SAMPLE.replace("Default", "Peak Performance"), &["best-of unit-corrected"]);
    // Rows without a header.
    check(&SAMPLE[SAMPLE.find("[Read]").unwrap()..], &["write rand 4096 1 1 bandwidth 153600000.0"]);
    // Up to 1.5.0 they are MiB.
    check(
        "KDiskMark: https://github.com/JonMagon/KDiskMark\n\n[Read]\n\
         Sequential 1 MiB (Q= 8, T= 1):   500.000 MB/s [    500.0 IOPS] < 15000.00 us>\n",
        &["read seq 1048576 8 1 bandwidth 524288000.0"],
    );
}
