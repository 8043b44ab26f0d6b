//! The programs built from RIKEN's sources with gcc 12, measuring for two seconds, and others by hand.

use crate::brief::{briefs, cut_anywhere};

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

#[test]
fn by_others() {
    // 1998's score is against another machine.
    let old = "1 node used. \nmimax = 65 mjmax = 65 mkmax = 129\nimax = 64 jmax = 64 kmax =128\ncpu : 2.000000 sec.\n\
               Loop executed for 200 times\nGosa : 1.688606e-03 \nMFLOPS measured : 1646.769600\n\
               Score based on MMX Pentium 200MHz : 51.030974\n";
    check(
        old,
        &[&[
            "flop_rate[grid=S ranks=1] 1646769600",
            "residual[grid=S ranks=1] 0.001688606",
            "duration[grid=S ranks=1] 2",
            "score[grid=S ranks=1] 51.030974",
        ]],
    );
    let suite = "Himeno Benchmark 3.0:\n    pts/himeno-1.3.0\n    Test 1 of 1\n        Started Run 1 @ 10:00:00\n\
                 \n    Poisson Pressure Solver:\n        100.5\n        101.5\n\n    Average: 101.0 MFLOPS\n";
    check(suite, &[&["flop_rate 100500000 101500000 | mean 101000000"]]);
    // A sum that got stuck, and a rate that its own loops and time contradict.
    let large = "mimax = 257 mjmax = 257 mkmax = 513\n Loop executed for 100 times\n Gosa : 4.882812e-04 \n \
                 MFLOPS measured : 9999.000000\tcpu : 20.000000\n";
    check(
        large,
        &[&[
            "flop_rate[grid=L] 9999000000",
            "residual[grid=L] 0.0004882812",
            "duration[grid=L] 20",
            "inconsistent note truncated",
        ]],
    );
    let lines = " MFLOPS measured : 100.000000\tcpu : 60.0\n MFLOPS measured : 101.000000\tcpu : 59.0\n";
    check(lines, &[&["flop_rate 100000000", "duration 60"], &["flop_rate 101000000", "duration 59"]]);
}

#[test]
fn nothing_measured() {
    let rehearsal = "mimax = 65 mjmax = 65 mkmax = 129\n Start rehearsal measurement process.\n\n MFLOPS: 1.5 time(s): 2.0 3e-3\n";
    check(rehearsal, &[&["himeno measured nothing: the log ends before the measurement does"]]);
    let not = |text: &str| assert!(briefs(text).is_empty(), "{text}");
    not("  printf(\" MFLOPS measured : %f\\tcpu : %f\\n\",mflops(nn,cpu,flop),cpu);\n");
    not("The Himeno Benchmark 3.0 is a program\n");
}

#[test]
fn printed_is_read_back() {
    for log in [sample!("c-static-s"), sample!("c-dynamic-s"), sample!("f90-gfortran12-s")] {
        let run = &crate::read(log.as_bytes()).unwrap().unwrap()[0];
        let print = |run: &tenbin_core::run::Run| {
            let mut text = String::new();
            crate::View::print(&super::Himeno, run, &mut text).unwrap();
            text
        };
        let text = print(run);
        let read = &crate::read(text.as_bytes()).unwrap().unwrap()[0];
        // Fortran has more digits than C prints.
        assert_eq!(print(read), text);
        assert_eq!(read.series[0].params, run.series[0].params);
        assert!((read.series[0].values()[0] / run.series[0].values()[0] - 1.0).abs() < 1e-9);
        cut_anywhere(log);
    }
}
