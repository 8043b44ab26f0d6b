//! Logs of real runs from testdata; older versions, other people's copies and broken logs by hand.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/imb/", $name, ".txt"))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    assert!(Imb.sniff(text.as_bytes()), "not recognised: {text}");
    let mut runs = Vec::new();
    Imb.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// A run in one line: version, benchmark, caveats; then its first and last series, or all if they are few. Values
/// are in microseconds, percent, 10^6 bytes or messages a second.
fn brief(run: &Run) -> String {
    let kind = |caveat: &tenbin_core::caveat::Caveat| {
        serde_json::to_string(&caveat.kind).unwrap().trim_matches('"').to_owned()
    };
    let caveats: Vec<String> = run.caveats.iter().map(kind).filter(|kind| kind != "summary-only").collect();
    let series = run.series.iter().map(|series| {
        let factor = match series.metric.name.as_ref() {
            "latency" => 1e6,
            "overlap" => 1e2,
            "bandwidth" => 1e-6,
            _ => 1.0,
        };
        let values: Vec<String> =
            series.values().iter().map(|value| ((value * factor * 1e3).round() / 1e3).to_string()).collect();
        let keys: Vec<String> = series
            .params
            .iter()
            .filter(|(name, _)| *name != "benchmark")
            .map(|(_, v)| v.to_string())
            .collect();
        let n = series.reported.get("n").map_or(String::new(), |n| format!(" n={n}"));
        let mark = if series.headline.is_some() { "*" } else { "" };
        format!("{}{mark}({}) {}{n}", series.metric.name, keys.join(" "), values.join(" "))
    });
    let mut series: Vec<String> = series.collect();
    if series.len() > 8 {
        let left_out = series.len() - 6;
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

/// A banner, a title and the line above the rows of PingPong.
fn pingpong(banner: &str) -> String {
    format!(
        "#----\n#    {banner} part    \n#----\n# Date       : Thu Nov 26 2009\n# Machine    : x86_64# System     : Linux\n\n\
         # Maximum message length in bytes:   65536\n#\n# List of Benchmarks to run:\n\n# PingPong\n\n\
         # Benchmarking PingPong \n# #processes = 2 \n#----\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    )
}

#[test]
fn versions_that_run_here() {
    let check = |text: &str, wanted: &[&str]| assert_eq!(briefs(text), wanted.join("\n"));
    check(
        sample!("2018.0-openmpi-4.1.4-pingpong"),
        &[
            "2018 PingPong []: latency*(2 0) 0.49 n=1000; bandwidth(2 0) 0 n=1000; latency*(2 1) 0.56 n=1000; \
           ... 22 ...; bandwidth*(2 2048) 189.49 n=1000; latency*(2 4096) 4.6 n=1000; \
           bandwidth*(2 4096) 890.52 n=1000",
        ],
    );
    check(
        sample!("2018.0-openmpi-4.1.4-multi0"),
        &[
            "2018 Multi-PingPong []: latency(2 0 min) 5.41 n=1000; latency(2 0 max) 5.43 n=1000; \
             latency*(2 0 avg) 5.42 n=1000; ... 10 ...; latency(2 32 max) 4.93 n=1000; \
             latency*(2 32 avg) 4.92 n=1000; bandwidth*(2 32) 6.49 n=1000",
            "2018 Barrier []: latency(4 min) 8.4 n=1000; latency(4 max) 8.4 n=1000; latency*(4 avg) 8.4 n=1000",
        ],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-pingpong"),
        &["2021.11 PingPong []: latency*(2 0) 0.37 n=50; bandwidth(2 0) 0 n=50; latency*(2 1) 0.38 n=50; \
           ... 42 ...; bandwidth*(2 2097152) 759.18 n=20; latency*(2 4194304) 3666.65 n=10; \
           bandwidth*(2 4194304) 1143.91 n=10"],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-mt"),
        &[
            "2021.11 PingPongMT []: latency(2 4 min 1) 0.61 n=20; latency(2 4 max 1) 0.62 n=20; \
             latency*(2 4 avg 1) 0.62 n=20; bandwidth*(2 4 1) 6.41 n=20; latency(2 256 min 1) 0.85 n=20; \
             latency(2 256 max 1) 0.86 n=20; latency*(2 256 avg 1) 0.86 n=20; bandwidth*(2 256 1) 297.25 n=20",
            "2021.11 UniBandMT []: latency*(2 4 avg 1) 0.22 n=20; bandwidth*(2 4 1) 17.77 n=20; \
             message_rate*(2 4 1) 4449442 n=20; latency*(2 256 avg 1) 0.46 n=20; bandwidth*(2 256 1) 553.44 n=20; \
             message_rate*(2 256 1) 2163508 n=20",
            "2021.11 AllReduceMT []: latency(2 4 min 1) 1.46 n=20; latency(2 4 max 1) 1.5 n=20; \
             latency*(2 4 avg 1) 1.48 n=20; latency(2 256 min 1) 0.95 n=20; latency(2 256 max 1) 1.01 n=20; \
             latency*(2 256 avg 1) 0.98 n=20",
            "2021.11 BarrierMT []: latency(2 min 1) 0.8 n=20; latency(2 max 1) 0.81 n=20; latency*(2 avg 1) 0.81 n=20",
        ],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-p2p"),
        &["2021.11 PingPong [not-measured]: latency*(2 8) 2.04 n=20; bandwidth*(2 8) 3.9 n=20; \
           message_rate*(2 8) 487936 n=20; ... 3 ...; latency*(2 32) 0.45 n=20; bandwidth*(2 32) 71.11 n=20; \
           message_rate*(2 32) 2222099 n=20"],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-out-of-mem"),
        &["2021.11 Allgather [not-measured]: latency(2 0 min) 0.05 n=5; latency(2 0 max) 0.05 n=5; \
           latency*(2 0 avg) 0.05 n=5; latency(2 262144 min) 36.95 n=5; latency(2 262144 max) 43.12 n=5; \
           latency*(2 262144 avg) 40.03 n=5"],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-overflow"),
        &["2021.11 Alltoall [note not-measured]: latency(16 0 min) 0.15 n=1; latency(16 0 max) 0.63 n=1; \
           latency*(16 0 avg) 0.25 n=1"],
    );
    check(
        sample!("2021.11-openmpi-4.1.4-time-out"),
        &[
            "2021.11 PingPong [not-measured]: latency*(2 0) 0.32 n=1000; bandwidth(2 0) 0 n=1000",
            "2021.11 Sendrecv [not-measured]: latency(2 0 min) 0.47 n=1000; latency(2 0 max) 0.47 n=1000; \
             latency*(2 0 avg) 0.47 n=1000; bandwidth(2 0) 0 n=1000",
        ],
    );
}

#[test]
fn tables_of_one_program() {
    // The run that stands at `index` of all.
    let check =
        |text: &str, index: usize, wanted: &str| assert_eq!(brief(&read(text).unwrap()[index]), wanted);
    let many = sample!("2021.11-openmpi-4.1.4-many");
    assert_eq!(read(many).unwrap().len(), 13);
    check(
        many,
        2,
        "2021.11 Sendrecv []: latency(4 0 min) 3.22 n=100; latency(4 0 max) 3.23 n=100; \
         latency*(4 0 avg) 3.22 n=100; ... 10 ...; latency(4 32 max) 5.61 n=100; latency*(4 32 avg) 5.6 n=100; \
         bandwidth*(4 32) 11.41 n=100",
    );
    check(
        many,
        9,
        "2021.11 Uniband []: bandwidth(2 0) 0 n=100; message_rate*(2 0) 3126994 n=100; bandwidth*(2 8) 22.5 n=100; \
         message_rate*(2 8) 2812236 n=100; bandwidth*(2 16) 41.67 n=100; message_rate*(2 16) 2604481 n=100; \
         bandwidth*(2 32) 85.22 n=100; message_rate*(2 32) 2663191 n=100",
    );
    assert_eq!(read(many).unwrap()[1].facts["imb.waiting"].value, Some(2.into()));
    let groups = sample!("2021.11-openmpi-4.1.4-multi1");
    assert_eq!(read(groups).unwrap().len(), 7);
    assert_eq!(read(groups).unwrap()[0].facts["imb.groups"].value, Some(2.into()));
    check(
        groups,
        3,
        "2021.11 Multi-Barrier []: latency(0 2 min) 4.98 n=100; latency(0 2 max) 4.99 n=100; \
         latency*(0 2 avg) 4.98 n=100; latency(1 2 min) 4.97 n=100; latency(1 2 max) 5 n=100; \
         latency*(1 2 avg) 4.99 n=100",
    );
    check(
        sample!("2021.11-openmpi-4.1.4-nbc"),
        1,
        "2021.11 Ibarrier []: latency*(2) 1.04 n=20; latency(overall 2) 1.66 n=20; latency(compute 2) 0.83 n=20; \
         overlap(2) 20.09 n=20",
    );
    let rma = sample!("2021.11-openmpi-4.1.4-rma");
    check(
        rma,
        4,
        "2021.11 Truly_passive_put []: latency*(2 0) 0.85 n=20; latency(overall 2 0) 0.73 n=20; \
         latency*(2 8) 1.58 n=20; latency(overall 2 8) 1.72 n=20; latency*(2 16) 1.69 n=20; \
         latency(overall 2 16) 1.42 n=20; latency*(2 32) 1.27 n=20; latency(overall 2 32) 1.46 n=20",
    );
    check(
        rma,
        6,
        "2021.11 Fetch_and_op []: latency*(aggregate 2 4) 2.73 n=20; bandwidth*(aggregate 2 4) 1.47 n=20",
    );
    assert_eq!(read(sample!("2021.11-openmpi-4.1.4-ext")).unwrap().len(), 5);
}

#[test]
fn megabytes_of_old_versions() {
    let check =
        |head: &str, rows: &str, wanted: &str| assert_eq!(briefs(&(pingpong(head) + rows)), wanted, "{head}");
    let rows = "            0         1000         1.00         0.00\n        65536          640        62.50      1000.00\n";
    let tail = "latency*(2 0) 1 n=1000; bandwidth(2 0) 0 n=1000; latency*(2 65536) 62.5 n=640; \
                bandwidth*(2 65536) 1048.576 n=640";
    // Size and time show it, whatever the version says.
    for (head, version) in [
        ("PALLAS MPI Benchmark Suite V2.2, MPI-1", "2.2"),
        ("Intel (R) MPI Benchmark Suite V3.0v modified by Someone, MPI-1", "3.0"),
        ("Intel (R) MPI Benchmarks 4.0 Update 1, MPI-1", "4.0 Update 1"),
        ("Intel (R) MPI Benchmarks 2017 update 1, MPI-1", "2017 update 1"),
    ] {
        check(head, rows, &format!("{version} PingPong [unit-corrected]: {tail}"));
    }
    // Too few digits: the version decides.
    let short = "        65536          640    990000.00         0.07\n";
    let value = |rate| format!("latency*(2 65536) 990000 n=640; bandwidth*(2 65536) {rate} n=640");
    check(
        "Intel (R) MPI Benchmark Suite V3.2, MPI-1",
        short,
        &format!("3.2 PingPong [unit-corrected]: {}", value("0.073")),
    );
    check("Intel (R) MPI Benchmarks 2018, MPI-1", short, &format!("2018 PingPong []: {}", value("0.07")));
}

#[test]
fn copies_and_interruptions() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted, "{text}");
    let title = "# Benchmarking PingPong \n# #processes = 2 \n";
    let line = "       #bytes #repetitions      t[usec]   Mbytes/sec\n";
    let rows = "            8         1000         2.00         4.00\n        65536            1        62.50      1048.58\n";
    let values = "latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000; latency*(2 65536) 62.5 n=1; \
                  bandwidth*(2 65536) 1048.58 n=1";
    check(&format!("{title}{line}{rows}"), &format!("? PingPong [note]: {values}"));
    // Blanks, marks of comments and ends of lines lost.
    let squeezed = format!("{title}{line}{rows}").replace("  ", " ").replace('#', "");
    check(&squeezed, &format!("? PingPong [note]: {values}"));
    check(
        "# Benchmarking PingPong # #processes = 2 #---- #bytes #repetitions t[usec] Mbytes/sec 8 1000 2.00 4.00 \
         65536 1 62.50 1048.58\n",
        &format!("? PingPong [note]: {values}"),
    );
    // Labels of launchers.
    for label in ["[1,0]<stdout>:", "0: ", "[0] "] {
        let text: String =
            format!("{title}{line}{rows}").lines().map(|line| format!("{label}{line}\n")).collect();
        check(&text, &format!("? PingPong [note]: {values}"));
    }
    // Other programs between rows and in the same line; lines behind the table are not in it.
    let (first, second) = rows.split_at(rows.find("    65536").unwrap());
    let text = format!(
        "{title}{line}{first}[h:1] 3 more processes have sent help\n{second}salloc: Relinquishing 1\n"
    );
    check(&text, &format!("? PingPong [note foreign-lines]: {values}"));
    let text = format!("{title}{line}{}[h:1] 3 more\nLID = 786 {second}", first.trim_end());
    check(&text, &format!("? PingPong [note foreign-lines]: {values}"));
    // Cut at the end: half a row, half a number, a whole row without an end.
    let cut = |keep: usize| format!("{title}{line}{}", &rows[..rows.len() - keep]);
    check(&cut(8), "? PingPong [truncated]: latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000");
    check(
        &cut(2),
        "? PingPong [note truncated]: latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000; latency*(2 65536) 62.5 n=1",
    );
    check(&cut(1), &format!("? PingPong [note]: {values}"));
    // Cut between rows: the head says how far it was to go.
    let text = pingpong("Intel(R) MPI Benchmarks 2021.2, MPI-1") + first;
    check(&text, "2021.2 PingPong [truncated]: latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000");
    // A job that was killed.
    let text = text + "slurmstepd: error: *** JOB 1 ON a CANCELLED AT 2020 DUE TO TIME LIMIT ***\n";
    check(
        &text,
        "2021.2 PingPong [error-reported truncated]: latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000",
    );
    // No numbers where numbers belong.
    check(
        &format!(
            "{title}{line} 8 1000 nan inf\n 16 1000 1.00 ****\n 8 1e3 1.00 1.00\n -8 10 1.00 1.00\n 16 10 - -\n"
        ),
        "? PingPong [not-measured not-measured foreign-lines]: latency*(2 16) 1 n=1000",
    );
    // Two tables without anything between, the second without a title.
    check(
        &format!("{title}{line}{first}{line}{first}"),
        "? PingPong []: latency*(2 8) 2 n=1000; bandwidth*(2 8) 4 n=1000\n\
         ? ? []: latency*(8) 2 n=1000; bandwidth*(8) 4 n=1000",
    );
}

#[test]
fn checked_data() {
    let check = |text: &str, wanted: &str| assert_eq!(briefs(text), wanted, "{text}");
    let head = "# Benchmarking Allreduce \n# #processes = 4 \n";
    check(
        &format!(
            "{head}       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects\n \
             4         1000         1.31         1.35         1.33         0.00\n \
             8         1000         1.41         1.45         1.43         1.00\n"
        ),
        "? Allreduce [error-reported]: latency(4 4 min) 1.31 n=1000; latency(4 4 max) 1.35 n=1000; \
         latency*(4 4 avg) 1.33 n=1000; latency(4 8 min) 1.41 n=1000; latency(4 8 max) 1.45 n=1000; \
         latency*(4 8 avg) 1.43 n=1000",
    );
    // Name and processes in every row.
    check(
        "#Benchmarking #procs #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] defects\n\
         Allreduce 4 4 1000 1.31 1.35 1.33 0.00\n",
        "? ? []: latency(4 4 min) 1.31 n=1000; latency(4 4 max) 1.35 n=1000; latency*(4 4 avg) 1.33 n=1000",
    );
}

#[test]
fn heads() {
    let check = |text: &str, key: &str, wanted: &str| {
        let run = &read(text).unwrap()[0];
        assert_eq!(run.facts[key].value.as_ref().unwrap().to_string(), wanted, "{text}");
    };
    let table = "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n8 1000 2.00 4.00\n";
    let head = "# Machine    : x86_64# System     : Linux\n# Version : #1 SMP\n# MPI Version : 3.1\n";
    check(&format!("{head}{table}"), "imb.machine", "x86_64");
    check(&format!("{head}{table}"), "imb.system", "Linux");
    check(&format!("{head}{table}"), "imb.system_version", "#1 SMP");
    check(&format!("{head}{table}"), "mpi.version", "3.1");
    let command = |rest: &str| format!("# Calling sequence was:\n\n# ./IMB-MPI1 -npmin 4\n{rest}{table}");
    let banner = "#----\n#    Intel(R) MPI Benchmarks 2021.8, MPI-1\npart\n#----\n";
    assert_eq!(read(&format!("{banner}{table}")).unwrap()[0].tool_version.as_deref(), Some("2021.8"));
    check(&command("\n# Minimum message length in bytes: 0\n"), "imb.command", "./IMB-MPI1 -npmin 4");
    check(&command("# Minimum message length in bytes: 0\n"), "imb.command", "./IMB-MPI1 -npmin 4");
    check(&command("#            PingPong Barrier\n"), "imb.command", "./IMB-MPI1 -npmin 4 PingPong Barrier");
}

#[test]
fn nothing_measured() {
    let check = |text: &str, wanted: &str| {
        assert_eq!(read(text).unwrap_err(), format!("imb measured nothing: {wanted}"));
    };
    let head = pingpong("Intel (R) MPI Benchmark Suite V2.3, MPI-1");
    check(&head, "PingPong has no row");
    let died =
        "mpirun noticed that process rank 6 with PID 1 on node a exited on signal 11 (Segmentation fault).";
    check(
        &format!(
            "{head}[a:1] *** Process received signal ***\n[a:1] Signal: Segmentation fault (11)\n----\n{died}\n"
        ),
        died,
    );
    check(&format!("{head}[a:1] PML ucx cannot be selected\n"), "[a:1] PML ucx cannot be selected");
    check(&format!("{head}            0         1"), "PingPong has no row");
    check(
        &format!("{head}            1 out-of-mem.; needed X=   0.002 GB\n"),
        "PingPong: out-of-mem.; needed X=   0.002 GB",
    );
    // Beside a run that measured, its own caveat tells.
    let text = format!("{head} 65536 640 62.50 1000.00\n{head}{died}\n");
    let runs = read(&text).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].caveats.last().unwrap().text, died);
}

#[test]
fn other_texts() {
    let check = |text: &str| assert!(!Imb.sniff(text.as_bytes()), "{text}");
    check("# Benchmarking\n\nHow we benchmark with the Intel(R) MPI Benchmarks, in part.\n");
    check("    fprintf(unit, \"#    Intel(R) MPI Benchmarks %s, MPI-1 part\\n\", VERSION);\n");
    check("#bytes sent 12\n# Size Latency (us)\n1 2.00\n");
    check("strcat(aux_string, \"&#bytes&#repetitions&t[usec]&Mbytes/sec&\");\n");
    check("mpirun -np 2 IMB-MPI1 PingPong\n");
}

#[test]
fn printed_tables_are_read_back() {
    let check = |text: &str| {
        for mut run in read(text).unwrap() {
            // What the log said about others is not in the table.
            run.caveats.retain(|caveat| !caveat.text.starts_with("Benchmark "));
            let mut printed = String::new();
            Imb.print(&run, &mut printed).unwrap();
            assert_eq!(read(&printed).unwrap(), [run], "{printed}");
        }
    };
    check(sample!("2018.0-openmpi-4.1.4-pingpong"));
    check(sample!("2018.0-openmpi-4.1.4-multi0"));
    check(sample!("2021.11-openmpi-4.1.4-pingpong"));
    check(sample!("2021.11-openmpi-4.1.4-many"));
    check(sample!("2021.11-openmpi-4.1.4-multi1"));
    check(sample!("2021.11-openmpi-4.1.4-nbc"));
    check(sample!("2021.11-openmpi-4.1.4-rma"));
    check(sample!("2021.11-openmpi-4.1.4-ext"));
    check(sample!("2021.11-openmpi-4.1.4-mt"));
    check(sample!("2021.11-openmpi-4.1.4-p2p"));
    check(sample!("2021.11-openmpi-4.1.4-out-of-mem"));
    check(sample!("2021.11-openmpi-4.1.4-overflow"));
    check(sample!("2021.11-openmpi-4.1.4-time-out"));
    check(&(pingpong("Intel (R) MPI Benchmark Suite V3.2, MPI-1") + " 65536 640 62.50 1000.00\n"));
    // The table itself is the tool's, to the letter.
    let original = sample!("2018.0-openmpi-4.1.4-pingpong");
    let mut printed = String::new();
    Imb.print(&read(original).unwrap()[0], &mut printed).unwrap();
    let table = |text: &str| text[text.find("#bytes").unwrap()..].to_owned();
    assert_eq!(table(&printed), table(original));
}
