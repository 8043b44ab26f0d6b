//! Logs of real runs from testdata; older versions, other people's copies and broken logs by hand.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/osu/", $name, ".txt"))
    };
}

/// Every log of a program that measured.
const MEASURED: &[&str] = &[
    sample!("5.3-openmpi-4.1.4-latency"),
    sample!("5.3-openmpi-4.1.4-bw"),
    sample!("5.3-openmpi-4.1.4-mbw_mr"),
    sample!("5.3-openmpi-4.1.4-barrier"),
    sample!("5.3-openmpi-4.1.4-bcast-full"),
    sample!("5.3-openmpi-4.1.4-iallgather-full"),
    sample!("5.3-openmpi-4.1.4-put_bw"),
    sample!("5.3-openmpi-4.1.4-init"),
    sample!("7.4-openmpi-4.1.4-latency"),
    sample!("7.4-openmpi-4.1.4-latency-validated-tail"),
    sample!("7.4-openmpi-4.1.4-latency_mp"),
    sample!("7.4-openmpi-4.1.4-latency_mt"),
    sample!("7.4-openmpi-4.1.4-latency_persistent"),
    sample!("7.4-openmpi-4.1.4-multi_lat"),
    sample!("7.4-openmpi-4.1.4-bw"),
    sample!("7.4-openmpi-4.1.4-bw-tail"),
    sample!("7.4-openmpi-4.1.4-bibw"),
    sample!("7.4-openmpi-4.1.4-mbw_mr"),
    sample!("7.4-openmpi-4.1.4-mbw_mr-windows"),
    sample!("7.4-openmpi-4.1.4-allreduce-full"),
    sample!("7.4-openmpi-4.1.4-alltoall"),
    sample!("7.4-openmpi-4.1.4-barrier-full"),
    sample!("7.4-openmpi-4.1.4-ialltoall"),
    sample!("7.4-openmpi-4.1.4-iallreduce-full"),
    sample!("7.4-openmpi-4.1.4-ibarrier"),
    sample!("7.4-openmpi-4.1.4-put_latency"),
    sample!("7.4-openmpi-4.1.4-get_bw"),
    sample!("7.4-openmpi-4.1.4-cas_latency-crash"),
    sample!("7.4-openmpi-4.1.4-init"),
    sample!("5.3-openmpi-4.1.4-oshm_atomics-crash"),
];

fn read(text: &str) -> Result<Vec<Run>, String> {
    assert!(Osu.sniff(text.as_bytes()), "not recognised: {text}");
    let mut runs = Vec::new();
    Osu.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// A run in one line: version, benchmark, caveats; then its first and last series, or all if they are few. Values are
/// in microseconds, percent, 10^6 bytes or messages a second.
fn brief(run: &Run) -> String {
    let kind = |caveat: &tenbin_core::caveat::Caveat| {
        serde_json::to_string(&caveat.kind).unwrap().trim_matches('"').to_owned()
    };
    let caveats: Vec<String> = run.caveats.iter().map(kind).filter(|kind| kind != "summary-only").collect();
    let series = run.series.iter().map(|series| {
        let factor = match series.metric.name.as_ref() {
            "latency" => 1e6,
            "duration" => 1e3,
            "overlap" => 1e2,
            "bandwidth" => 1e-6,
            _ => 1.0,
        };
        let show = |value: f64| ((value * factor * 1e3).round() / 1e3).to_string();
        let values: Vec<String> = series.values().into_iter().map(show).collect();
        let keys: Vec<String> = series
            .params
            .iter()
            .filter(|(name, _)| *name != "benchmark")
            .map(|(_, v)| v.to_string())
            .collect();
        let mut figures = series.reported.get("n").map_or(String::new(), |n| format!(" n={n}"));
        for (key, value) in series.reported.iter().filter(|(key, _)| key.starts_with('p')) {
            figures += &format!(" {key}={}", show(*value));
        }
        let mark = if series.headline.is_some() { "*" } else { "" };
        format!("{}{mark}({}) {}{figures}", series.metric.name, keys.join(" "), values.join(" "))
    });
    let mut series: Vec<String> = series.collect();
    if series.len() > 8 {
        let left_out = series.len() - 5;
        series.splice(3..3 + left_out, [format!("... {left_out} ...")]);
    }
    let version = run.tool_version.as_deref().unwrap_or("?");
    let name = run.benchmark.as_deref().unwrap_or("?");
    format!("{version} {name} [{}]: {}", caveats.join(" "), series.join("; "))
}

fn briefs(text: &str) -> String {
    match read(text) {
        Ok(runs) => runs.iter().map(brief).collect::<Vec<_>>().join("\n"),
        Err(error) => error,
    }
}

#[test]
fn versions_that_run_here() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted);
    check(
        sample!("5.3-openmpi-4.1.4-latency"),
        "5.3 osu_latency []: latency*(0) 0.32; latency*(1) 0.37; latency*(2) 0.32; ... 19 ...; \
         latency*(2097152) 1546.27; latency*(4194304) 5321.18",
    );
    check(
        sample!("5.3-openmpi-4.1.4-mbw_mr"),
        "5.3 osu_mbw_mr []: bandwidth*(4 1) 7.94; message_rate*(4 1) 7935585.37; bandwidth*(4 2) 8.7; ... 41 ...; \
         bandwidth*(4 4194304) 6424.53; message_rate*(4 4194304) 1531.73",
    );
    check(sample!("5.3-openmpi-4.1.4-barrier"), "5.3 osu_barrier []: latency*(avg) 1.12");
    check(
        sample!("5.3-openmpi-4.1.4-iallgather-full"),
        "5.3 osu_iallgather []: latency(overall 1) 1.82; latency(compute 1) 1; latency(init 1) 0.44; ... 30 ...; \
         latency*(16 avg) 0.88; overlap(16) 2.73",
    );
    check(
        sample!("5.3-openmpi-4.1.4-init"),
        "? osu_init []: duration(2 min) 318; duration(2 max) 322; duration*(2 avg) 320",
    );
    check(
        sample!("7.4-openmpi-4.1.4-init"),
        "7.4 osu_init []: duration(2 min) 259; duration(2 max) 285; duration*(2 avg) 272",
    );
    check(
        sample!("7.4-openmpi-4.1.4-latency"),
        "7.4 osu_latency []: latency*(1) 0.43; latency*(2) 0.41; latency*(4) 0.38; latency*(8) 0.39; \
         latency*(16) 0.59; latency*(32) 0.56; latency*(64) 0.57",
    );
    check(
        sample!("7.4-openmpi-4.1.4-latency-validated-tail"),
        "7.4 osu_latency []: latency*(1) 0.57 p50=0.46 p90=0.61 p99=3.44; latency*(2) 0.48 p50=0.47 p90=0.66 p99=0.77; \
         latency*(4) 0.55 p50=0.44 p90=0.64 p99=3.49; latency*(8) 0.59 p50=0.45 p90=0.61 p99=4.07; \
         latency*(16) 0.58 p50=0.51 p90=0.65 p99=3.5; latency*(32) 0.58 p50=0.47 p90=0.65 p99=3.61; \
         latency*(64) 1.09 p50=0.46 p90=0.66 p99=3.38",
    );
    check(
        sample!("7.4-openmpi-4.1.4-latency_mt"),
        "7.4 osu_latency_mt [error-reported]: latency*(1) 0.56; latency*(2) 12040.34; latency*(4) 14400.32; \
         latency*(8) 15800.24; latency*(16) 13794.39",
    );
    check(
        sample!("7.4-openmpi-4.1.4-bw-tail"),
        "7.4 osu_bw []: bandwidth*(1) 7.27 p50=8.01 p99=8.98; bandwidth*(2) 15.4 p50=15.81 p99=21; \
         bandwidth*(4) 29.83 p50=31.98 p99=42.15; bandwidth*(8) 69.26 p50=73.01 p99=84.14; \
         bandwidth*(16) 102.02 p50=98.45 p99=151.28",
    );
    check(
        sample!("7.4-openmpi-4.1.4-mbw_mr-windows"),
        "7.4 osu_mbw_mr []: bandwidth*(4 1 1) 0.21; bandwidth*(4 1 2) 0.47; bandwidth*(4 1 4) 0.78; ... 59 ...; \
         message_rate*(4 8 64) 6312438.59; message_rate*(4 8 128) 736448.04",
    );
    check(
        sample!("7.4-openmpi-4.1.4-barrier-full"),
        "7.4 osu_barrier []: latency*(avg) 0.34 n=20; latency(min) 0.34 n=20; latency(max) 0.35 n=20",
    );
    check(
        sample!("7.4-openmpi-4.1.4-ibarrier"),
        "7.4 osu_ibarrier []: latency(overall) 5.93; latency(compute) 4.8; latency*(avg) 2.67; overlap() 57.89",
    );
    check(
        sample!("7.4-openmpi-4.1.4-put_latency"),
        "7.4 osu_put_latency []: latency*(1) 0.11; latency*(2) 0.1; latency*(4) 0.1; latency*(8) 0.1; latency*(16) 0.1",
    );
    check(
        sample!("7.4-openmpi-4.1.4-cas_latency-crash"),
        "7.4 osu_cas_latency [error-reported]: latency*(1) 0.24",
    );
    let facts = |text: &str, key: &str| read(text).unwrap()[0].facts[key].value.as_ref().unwrap().to_string();
    assert_eq!(facts(sample!("7.4-openmpi-4.1.4-latency_mt"), "osu.sender_threads"), "2");
    assert_eq!(facts(sample!("7.4-openmpi-4.1.4-mbw_mr"), "osu.window"), "64");
    assert_eq!(facts(sample!("7.4-openmpi-4.1.4-get_bw"), "osu.synchronization"), "MPI_Win_flush");
    assert_eq!(facts(sample!("7.4-openmpi-4.1.4-allreduce-full"), "osu.datatype"), "MPI_CHAR");
}

#[test]
fn copies_and_interruptions() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted, "{text}");
    let head = "# OSU MPI Latency Test v5.4.1\n# Size          Latency (us)\n";
    let rows = "0                       0.52\n1                       0.60\n";
    let values = "latency*(0) 0.52; latency*(1) 0.6";
    check(&format!("{head}{rows}"), &format!("5.4.1 osu_latency []: {values}"));
    // Version 3: tabs, another way to write the version.
    check(
        "# OSU MPI Bandwidth Test (Version 2.0)\n# Size\t\tBandwidth (MB/s) \n1\t\t0.14\n4194304\t\t120.25\n",
        "2.0 osu_bw []: bandwidth*(1) 0.14; bandwidth*(4194304) 120.25",
    );
    // Marks of comments lost, and ends of lines.
    check(&format!("{head}{rows}").replace("# ", ""), &format!("5.4.1 osu_latency []: {values}"));
    check("# Size Latency (us) 0 0.52 1 0.60\n", &format!("? ? []: {values}"));
    // Labels of launchers; several ranks' chatter around; prompts.
    let dated = "Sun Dec 24 09:52:05 2017[1,0]<stdout>:";
    for label in ["[1,0]<stdout>:", "0: ", "[0] "] {
        let text: String = format!("{head}{rows}").lines().map(|line| format!("{label}{line}\n")).collect();
        check(&text, &format!("5.4.1 osu_latency []: {values}"));
    }
    let text: String = format!("{head}{rows}").lines().map(|line| format!("{dated}{line}\n")).collect();
    let Some(Ok(runs)) = crate::read(text.as_bytes()) else { panic!("not recognised: {text}") };
    assert_eq!(brief(&runs[0]), format!("5.4.1 osu_latency []: {values}"));
    // Two lines of which the first lost its end.
    let glued = format!("[1,0]<stdout>:{head}[1,0]<stdout>:{}[1,0]<stdout>:{}", "0  0.52", "1  0.60\n");
    check(&glued, &format!("5.4.1 osu_latency []: {values}"));
    let chatter = "[0] MPI startup(): 0       3518     host-a  {0,1,2,3}\n$ mpirun -np 2 osu_latency\n";
    check(&format!("{chatter}{head}{rows}$ exit\n"), &format!("5.4.1 osu_latency []: {values}"));
    let (first, second) = rows.split_at(rows.find("1   ").unwrap());
    check(
        &format!("{head}{first}[1606] host-a UCX  WARN  network device is not available\n{second}"),
        &format!("5.4.1 osu_latency [foreign-lines]: {values}"),
    );
    check(
        &format!("{head}{}[host-a:1] a warning\n{second}", first.trim_end()),
        &format!("5.4.1 osu_latency [foreign-lines]: {values}"),
    );
    // Cut.
    check(&format!("{head}{first}1            "), "5.4.1 osu_latency [truncated]: latency*(0) 0.52");
    check(&format!("{head}{first}1            0.6"), "5.4.1 osu_latency [truncated]: latency*(0) 0.52");
    check(&format!("{head}{first}1            0.60"), &format!("5.4.1 osu_latency []: {values}"));
    // Several programs; one that died; one before any that measured.
    let died = "mpirun noticed that process rank 1 with PID 7 on node a exited on signal 9 (Killed).\n";
    check(
        &format!("{head}{rows}{head}{died}{head}{rows}"),
        &format!("5.4.1 osu_latency [not-measured]: {values}\n5.4.1 osu_latency []: {values}"),
    );
    check(&format!("{head}{died}{head}{rows}"), &format!("5.4.1 osu_latency [not-measured]: {values}"));
    check(&format!("{head}{rows}{died}"), &format!("5.4.1 osu_latency [error-reported]: {values}"));
    // Damaged data.
    check(
        "# OSU MPI-CUDA Bandwidth Test v7.2\n# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n\
         # Size      Bandwidth (MB/s)        Validation\n1                       0.14              Pass\n\
         2                       0.29              Fail\n\
         DATA VALIDATION ERROR: osu_bw exited with status 1 on message size 2.\n",
        "7.2 osu_bw [error-reported error-reported]: bandwidth*(1) 0.14; bandwidth*(2) 0.29",
    );
    // No numbers.
    check(&format!("{head}0 nan\n1 0.60\n2 -1.00\n4 1e3\n"), "5.4.1 osu_latency []: latency*(1) 0.6");
}

#[test]
fn other_languages_and_libraries() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted, "{text}");
    let python = "# OMB Python MPI Latency Test\n# Size (B)      Latency (us)\n\
                  1                       1.93\n4194304              1042.10\n";
    check(python, "? osu_latency []: latency*(1) 1.93; latency*(4194304) 1042.1");
    let run = &read(python).unwrap()[0];
    assert_eq!(run.facts["osu.language"].value.as_ref().unwrap().to_string(), "Python");
    check(
        "# OMB-Py MPI Bandwidth Test\n# Size (B)  Bandwidth (MB/s)\n1                       0.52\n",
        "? osu_bw []: bandwidth*(1) 0.52",
    );
    check(
        "# OMB-Py MPI Bandwidth Test\n# Size (B)  Bandwidth (GB/s)\n1048576                 9.31\n",
        "? osu_bw []: bandwidth*(1048576) 9310",
    );
    // Through Python's logging.
    let logged: String = python
        .lines()
        .map(|line| format!("[2024-02-03 04:05:06,789] {{osu_latency.py:64}} INFO - {line}\n"))
        .collect();
    let Some(Ok(runs)) = crate::read(logged.as_bytes()) else { panic!("not recognised: {logged}") };
    assert_eq!(brief(&runs[0]), "? osu_latency []: latency*(1) 1.93; latency*(4194304) 1042.1");
    // mpi4py's demonstrations, Java.
    check(
        "# MPI Latency Test\n# Size [B]        Latency [us]\n0                       0.84\n",
        "? osu_latency []: latency*(0) 0.84",
    );
    check(
        "# OSU Bandwidth Test v7.4\n# Size [B]\t\tBandwidth [MB/s]\tBandwidth [Gb/s]\n1024\t\t\t512.25\t\t\t4.10\n",
        "7.4 osu_bw []: bandwidth*(1024) 512.25",
    );
    check(
        "# OSU Allgather Test v7.4\n# Size\t\tLat Avg[us]\t\tLat Min[us]\t\tLat Max[us]\n8\t\t3.10\t\t2.95\t\t3.25\n",
        "7.4 osu_allgather []: latency*(8 avg) 3.1; latency(8 min) 2.95; latency(8 max) 3.25",
    );
}

#[test]
fn atomic_operations() {
    assert_eq!(
        briefs(sample!("5.3-openmpi-4.1.4-oshm_atomics-crash")),
        "5.3 osu_oshm_atomics [foreign-lines error-reported]: message_rate*(shmem_int_fadd) 14290000; \
         latency*(shmem_int_fadd) 0.07; message_rate*(shmem_int_finc) 19230000; latency*(shmem_int_finc) 0.05; \
         message_rate*(shmem_int_add) 4240000; latency*(shmem_int_add) 0.24; message_rate*(shmem_int_inc) 9620000; \
         latency*(shmem_int_inc) 0.1"
    );
    let log = "# OSU OpenSHMEM Atomic Operation Rate Test v7.4\n\
               # Operation              Million ops/s      Latency (us)\n\
               shmem_int_fadd                    0.61              1.64\n\
               a warning 2.00\n\
               shmem_longlong_fadd               0.60              1.67\n";
    assert_eq!(
        briefs(log),
        "7.4 osu_oshm_atomics [foreign-lines]: message_rate*(shmem_int_fadd) 610000; latency*(shmem_int_fadd) 1.64; \
         message_rate*(shmem_longlong_fadd) 600000; latency*(shmem_longlong_fadd) 1.67"
    );
}

#[test]
fn nothing_measured() {
    let check = |text: &str, wanted: &str| {
        assert_eq!(read(text).unwrap_err(), format!("osu measured nothing: {wanted}"));
    };
    check(sample!("7.4-openmpi-4.1.4-hello"), "osu_hello has no row");
    check("# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n", "osu_latency has no row");
    check(
        "# OSU MPI Latency Test v7.4\n[a:1] *** An error occurred in MPI_Send\n",
        "[a:1] *** An error occurred in MPI_Send",
    );
    assert!(!Osu.sniff(sample!("7.4-openmpi-4.1.4-one-rank").as_bytes()));
}

#[test]
fn other_texts() {
    let check = |text: &str| assert!(!Osu.sniff(text.as_bytes()), "{text}");
    check("#define BENCHMARK \"OSU MPI%s Latency Test\"\n");
    check("printf(\"%-*s%*s\", 10, \"# Size\", 18, \"Latency (us)\");\n");
    check("# Size\n\n# Size of messages\nWe use the OSU MPI Latency Test.\n");
    check("       #bytes #repetitions      t[usec]   Mbytes/sec\n");
    check("Latency (us)\n12.5\nMB/s\n1\n");
}

#[test]
fn printed_tables_are_read_back() {
    for text in MEASURED {
        for mut run in read(text).unwrap() {
            // What the log said about the job is not in the table.
            run.caveats.retain(|caveat| caveat.kind == tenbin_core::caveat::CaveatKind::SummaryOnly);
            let mut printed = String::new();
            Osu.print(&run, &mut printed).unwrap();
            assert_eq!(read(&printed).unwrap(), [run], "{printed}");
        }
    }
    // To the letter, without the column of the validation.
    let check = |original: &str| {
        let mut printed = String::new();
        Osu.print(&read(original).unwrap()[0], &mut printed).unwrap();
        assert_eq!(printed, original);
    };
    check(sample!("7.4-openmpi-4.1.4-latency"));
    check(sample!("7.4-openmpi-4.1.4-allreduce-full"));
    check(sample!("7.4-openmpi-4.1.4-barrier-full"));
}
