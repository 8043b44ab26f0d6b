//! STREAM built from its sources with gcc 12, and other versions by hand.

use crate::brief::{briefs, cut_anywhere};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/stream/", $name, ".txt"))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn c() {
    check(
        sample!("5.10-c-1m"),
        &[&[
            "bandwidth[kernel=copy] 26577800000",
            "duration[kernel=copy] 0.000745 | max 0.001333 mean 0.000745 min 0.000602 n 9",
            "bandwidth[kernel=scale] 24350100000",
            "duration[kernel=scale] 0.001204 | max 0.004572 mean 0.001204 min 0.000657 n 9",
            "bandwidth[kernel=add] 26694100000",
            "duration[kernel=add] 0.001199 | max 0.002027 mean 0.001199 min 0.000899 n 9",
            "bandwidth[kernel=triad] 27309600000",
            "duration[kernel=triad] 0.001285 | max 0.003656 mean 0.001285 min 0.000879 n 9",
            "best-of",
        ]],
    );
    check(
        sample!("5.10-c-openmp-1m"),
        &[&[
            "bandwidth[kernel=copy] 50801600000",
            "duration[kernel=copy] 0.008257 | max 0.013583 mean 0.008257 min 0.000315 n 9",
            "bandwidth[kernel=scale] 30188400000",
            "duration[kernel=scale] 0.008253 | max 0.01633 mean 0.008253 min 0.00053 n 9",
            "bandwidth[kernel=add] 28363800000",
            "duration[kernel=add] 0.008332 | max 0.014622 mean 0.008332 min 0.000846 n 9",
            "bandwidth[kernel=triad] 23786200000",
            "duration[kernel=triad] 0.010646 | max 0.017674 mean 0.010646 min 0.001009 n 9",
            "best-of",
        ]],
    );
}

#[test]
fn fortran() {
    check(
        sample!("5.6-fortran-5m"),
        &[&[
            "bandwidth[kernel=copy] 10252500000",
            "duration[kernel=copy] 0.010076 | max 0.013151 mean 0.010076 min 0.007803 n 9",
            "bandwidth[kernel=scale] 10124100000",
            "duration[kernel=scale] 0.011239 | max 0.018769 mean 0.011239 min 0.007902 n 9",
            "bandwidth[kernel=add] 11300600000",
            "duration[kernel=add] 0.013954 | max 0.018624 mean 0.013954 min 0.010619 n 9",
            "bandwidth[kernel=triad] 10966000000",
            "duration[kernel=triad] 0.014646 | max 0.018956 mean 0.014646 min 0.010943 n 9",
            "best-of",
        ]],
    );
}

#[test]
fn older_and_pasted() {
    let old = "Function      Rate (MB/s)   RMS time     Min time     Max time\n\
               Copy:        1000.0000       0.0330       0.0320       0.0345\n";
    check(
        old,
        &[&[
            "bandwidth[kernel=copy] 1000000000",
            "duration[kernel=copy] | max 0.0345 min 0.032 rms 0.033",
            "best-of truncated",
        ]],
    );
    // The same table twice without anything above it, and wrong results.
    let twice = format!("{old}Failed Validation on array a[], AvgRelAbsErr > epsilon (1e-13)\n{old}");
    let runs = briefs(&twice);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].last().unwrap(), "best-of error-reported truncated");
}

#[test]
fn not_its_text() {
    let not = |text: &str| assert!(briefs(text).is_empty(), "{text}");
    not("Copy: 5 files were moved\n");
    not("    printf(\"STREAM version $Revision: 5.10 $\\n\");\n");
    not(
        "Function    MBytes/sec  Min (sec)   Max         Average\nCopy        119837.2    0.001  0.002  0.001\n",
    );
}

#[test]
fn printed_is_read_back() {
    for log in [sample!("5.10-c-1m"), sample!("5.10-c-openmp-1m"), sample!("5.6-fortran-5m")] {
        let run = &crate::read(log.as_bytes()).unwrap().unwrap()[0];
        let mut text = String::new();
        crate::View::print(&super::Stream, run, &mut text).unwrap();
        assert_eq!(&crate::read(text.as_bytes()).unwrap().unwrap()[0], run, "{text}");
    }
    cut_anywhere(sample!("5.10-c-openmp-1m"));
    cut_anywhere(sample!("5.6-fortran-5m"));
}
