//! Debian's iozone 3.489 (`testdata/iozone`), other layouts by hand, and what becomes of tables on the web.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/iozone/iozone-3.489-debian12-", $name, ".txt"))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    Iozone.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// Each series of all runs as `metric param=value ... value`, then each run's caveats.
fn brief(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for run in read(text).unwrap() {
        for series in &run.series {
            let params: Vec<String> =
                series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            lines.push(format!("{} {} {:?}", series.metric.name, params.join(" "), series.values()[0]));
        }
        let kinds = run.caveats.iter().map(|caveat| serde_json::to_string(&caveat.kind).unwrap());
        lines.push(kinds.collect::<Vec<_>>().join(" ").replace('"', ""));
    }
    lines
}

/// `text` gives that many series, among them those `wanted`.
fn check(text: &str, count: usize, wanted: &[&str]) {
    assert!(Iozone.sniff(text.as_bytes()), "{text}");
    let lines = brief(text);
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.contains('=')).count(), count, "{lines:#?}");
}

fn kb(n: u64) -> String {
    format!("{:?}", n as f64 * 1024.0)
}

#[test]
fn tables() {
    let row = |size: u64, record: u64, op: &str, value: u64| {
        format!("bandwidth file_bytes={size} op={op} record_bytes={record} {}", kb(value))
    };
    check(
        sample!("auto"),
        18 * 13,
        &[
            &row(65_536, 4096, "write", 503_814),
            &row(65_536, 4096, "record_rewrite", 2_892_445),
            &row(262_144, 262_144, "stride_read", 12_661_199),
            &row(262_144, 262_144, "freread", 10_651_598),
            "unit-corrected",
        ],
    );
    // What was not run is a blank.
    let gaps = sample!("gaps");
    check(
        gaps,
        14,
        &[
            &row(1 << 20, 65_536, "random_read", 203_496),
            &row(1 << 20, 65_536, "stride_read", 256_449),
            &row(1 << 20, 262_144, "fread", 615_341),
            "unit-corrected",
        ],
    );
    let positional = sample!("pwrite");
    check(
        positional,
        8,
        &[&row(1 << 20, 65_536, "pwrite", 10_039_528), &row(1 << 20, 65_536, "repread", 14_044_758)],
    );
    // The report behind the table repeats it; without the table it is read.
    let excel = sample!("excel");
    check(excel, 66, &[&row(131_072, 131_072, "reread", 68_779_377)]);
    let report = &excel[excel.find("iozone test complete").unwrap()..];
    check(
        report,
        66,
        &[&row(131_072, 131_072, "reread", 68_779_377), &row(65_536, 4096, "random_write", 1_562_436)],
    );
    assert_eq!(read(gaps).unwrap()[0].tool_version.as_deref(), Some("3.489"));
}

#[test]
fn what_the_numbers_are() {
    check(sample!("ops"), 4, &["iops file_bytes=1048576 op=rewrite record_bytes=65536 53016.0", ""]);
    check(sample!("micros"), 4, &["latency file_bytes=1048576 op=write record_bytes=65536 1.8e-5", ""]);
    check(
        sample!("threads"),
        16,
        &[
            &format!(
                "bandwidth file_bytes=2097152 op=write part=children record_bytes=65536 threads=2 {:?}",
                2_275_596.5 * 1024.0
            ),
            &format!(
                "bandwidth file_bytes=2097152 op=rewrite part=parent record_bytes=65536 threads=2 {:?}",
                15748.49 * 1024.0
            ),
            &format!(
                "bandwidth file_bytes=2097152 op=backward_read part=children record_bytes=65536 threads=2 {:?}",
                9_332_533.75 * 1024.0
            ),
            "unit-corrected note",
        ],
    );
    check(
        sample!("all-ops"),
        8,
        &["iops file_bytes=1048576 op=reread part=parent record_bytes=65536 threads=2 2663.6", "note"],
    );
}

#[test]
fn stopped() {
    let lines = brief(sample!("interrupted"));
    assert_eq!(lines.last().unwrap(), "unit-corrected interrupted");
    let said = read(sample!("no-folder")).unwrap_err();
    assert_eq!(said, "iozone measured nothing: Can not open temp file: /nonexistent/zz");
    let gaps = sample!("gaps");
    // A number is complete where it ends at its column's end.
    let cut = &gaps[..gaps.find("  615341").unwrap() + 8];
    check(cut, 13, &["unit-corrected truncated"]);
    check(&cut[..cut.len() - 1], 12, &["unit-corrected truncated"]);
    check(&gaps[..gaps.find("  4679604").unwrap() + 2], 13, &["unit-corrected truncated"]);
    assert_eq!(
        read(&gaps[..gaps.find("1024      64").unwrap()]).unwrap_err(),
        "iozone measured nothing: the log ends before the first number"
    );
    // Cut before the header.
    check(
        &sample!("auto")[sample!("auto").find("             128       4").unwrap()..],
        13 * 13,
        &["unit-corrected"],
    );
}

#[test]
fn several_in_one_file() {
    let two = format!("$ iozone -e ...\n{}\n$ iozone -N\n{}", sample!("gaps"), sample!("micros"));
    assert_eq!(read(&two).unwrap().len(), 2);
    let quoted: String = sample!("gaps").lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(brief(&quoted), brief(sample!("gaps")));
    let foreign =
        sample!("auto").replace("              64      64", "kernel: eth0 up\n              64      64");
    assert_eq!(brief(&foreign).last().unwrap(), "unit-corrected foreign-lines");
}

#[test]
fn copies_without_blanks() {
    let squeeze = |text: &str| -> String {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
    };
    // Every test ran, or the command line tells which.
    assert_eq!(brief(&squeeze(sample!("auto"))), brief(sample!("auto")));
    assert_eq!(brief(&squeeze(sample!("gaps"))), brief(sample!("gaps")));
    // Else nobody knows.
    let lost = squeeze(sample!("gaps")).replace("Command line used: ", "");
    assert!(read(&lost).is_err());
    let trimmed: String = sample!("gaps").lines().map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(brief(&trimmed), brief(sample!("gaps")));
}

#[test]
fn older_layout() {
    let log = "\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.283 $
                                                            random  random    bkwd   record   stride
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
            4096      64   21000  310000                     81000   22500                    640000                     70000   700000
            4096     128   22000  320000   800000  1100000   82000   23500  900000  4000000   650000   330000   340000   71000   710000

iozone test complete.
";
    let row = |record: u64, op: &str, value: u64| {
        format!("bandwidth file_bytes=4194304 op={op} record_bytes={record} {}", kb(value))
    };
    check(
        log,
        20,
        &[
            &row(65_536, "random_read", 81_000),
            &row(65_536, "stride_read", 640_000),
            &row(65_536, "fread", 70_000),
            &row(131_072, "freread", 710_000),
        ],
    );
}

#[test]
fn prints_what_it_reads() {
    for text in [
        sample!("auto"),
        sample!("gaps"),
        sample!("ops"),
        sample!("micros"),
        sample!("pwrite"),
        sample!("threads"),
        sample!("all-ops"),
    ] {
        let run = &read(text).unwrap()[0];
        let mut printed = String::new();
        Iozone.print(run, &mut printed).unwrap();
        let again = &read(&printed).unwrap()[0];
        assert_eq!(again.series, run.series, "{printed}");
        assert_eq!(again.facts, run.facts, "{printed}");
        let table = |text: &str| {
            let lines = text.lines().skip_while(|line| !line.contains("reclen"));
            lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(table(&printed), table(text));
    }
}

#[test]
fn not_ours() {
    for text in [
        "",
        "I ran iozone test complete\n",
        "kB reclen\n",
        "64 4 1 2 3\n",
        "printf(\"Children see throughput\")\n",
    ] {
        assert!(!Iozone.sniff(text.as_bytes()), "{text}");
    }
}

#[test]
fn damaged_logs_never_panic() {
    for text in [sample!("gaps"), sample!("threads"), sample!("excel"), sample!("pwrite")] {
        for cut in (0..text.len()).step_by(61) {
            let _ = read(&text[..cut]);
            let _ = read(&text[cut..]);
        }
        let _ = read(&text.replace(['0', '1', '2'], "99999999"));
        let _ = read(&text.replace("reclen", "é"));
    }
}

#[test]
fn calls_without_headers() {
    let block = |write: &str, read: &str| {
        format!(
            ">> \tChildren see throughput for  4 initial writers \t= {write} kB/sec\n>> \tParent sees throughput for  4 \
             initial writers \t= {write} kB/sec\n>> \tChildren see throughput for  4 readers \t\t= {read} kB/sec\n"
        )
    };
    let text =
        format!("{}>> with the patch:\n>> \n{}", block("1000.50", "2000.25"), block("900.50", "2100.25"));
    check(
        &text,
        6,
        &[
            "bandwidth op=write part=children threads=4 1024512.0",
            "bandwidth op=write part=children threads=4 922112.0",
        ],
    );
    assert_eq!(read(&text).unwrap().len(), 2);
    // Two tables of a manual, and the throughput of a third call.
    let head = "              KB  reclen   write rewrite    read    reread\n";
    let text = format!(
        "$ ./iozone -a\n{head}              64       4  401000  902000  2703000  2904000\n\n$ ./iozone -Ra\n{head}              \
         64       4  405000  906000  2707000  2908000\n$ ./iozone -t 4\n{}",
        block("1000.50", "2000.25")
    );
    let write = |kb_per_second| {
        format!("bandwidth file_bytes=65536 op=write record_bytes=4096 {}", kb(kb_per_second))
    };
    check(
        &text,
        11,
        &[&write(401_000), &write(405_000), "bandwidth op=write part=children threads=4 1024512.0"],
    );
    assert_eq!(read(&text).unwrap().len(), 3);
}
