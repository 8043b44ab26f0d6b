//! The programs built from RIKEN's sources with gcc 12, measuring for two seconds, and others by hand.

use crate::brief::briefs;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/himeno/bmtxp3-", $name, ".txt"))
    };
}

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

#[test]
fn c() {
    check(
        sample!("c-static-s"),
        &[&[
            "flop_rate[grid=S] 1641274200",
            "residual[grid=S] 0.001908446",
            "duration[grid=S] 1.434788",
            "score[grid=S] 19.8125809 | mean 20.015539",
            "recomputed",
        ]],
    );
    check(
        sample!("c-dynamic-s"),
        &[&[
            "flop_rate[grid=S] 2697255020",
            "residual[grid=S] 0.001764233",
            "duration[grid=S] 1.037767",
            "score[grid=S] 32.5598143 | mean 32.893354",
            "recomputed note",
        ]],
    );
}

#[test]
fn fortran() {
    check(
        sample!("f77-gfortran12-s"),
        &[&[
            "flop_rate[grid=S] 6451020510",
            "residual[grid=S] 0.00084400893",
            "duration[grid=S] 1.48824",
            "score[grid=S] 77.8732605",
        ]],
    );
    check(
        sample!("f90-gfortran12-s"),
        &[&[
            "flop_rate[grid=S] 7229014160",
            "residual[grid=S] 0.000967355154",
            "duration[grid=S] 1.139",
            "score[grid=S] 87.2647781",
        ]],
    );
}

#[test]
fn mpi() {
    check(
        sample!("c-mpi-2x1x1-xs"),
        &[&[
            "flop_rate[grid=XS ranks=2] 130894276",
            "residual[grid=XS ranks=2] 0",
            "duration[grid=XS ranks=2] 37.365894",
            "score[grid=XS ranks=2] 1.580085",
        ]],
    );
}
