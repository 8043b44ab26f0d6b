//! Texts by hand in the layouts of versions 3 to 9, and what becomes of them on the web.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/crystaldiskmark/crystaldiskmark-", $name, ".txt"))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    CrystalDiskMark.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// All runs of `text`: each series as `op pattern block q t metric value`, then the caveats.
pub(crate) fn brief(runs: &[Run]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        for series in &run.series {
            let param = |name: &str| series.params.get(name).map_or("-".to_owned(), ToString::to_string);
            let place = ["op", "pattern", "block_bytes", "queue_depth", "threads"].map(param).join(" ");
            lines.push(format!("{place} {} {:?}", series.metric.name, series.values()[0]));
        }
        let kinds = run.caveats.iter().map(|caveat| serde_json::to_string(&caveat.kind).unwrap());
        lines.push(kinds.collect::<Vec<_>>().join(" ").replace('"', ""));
    }
    lines
}

fn check(text: &str, wanted: &[&str]) {
    let lines = brief(&read(text).unwrap());
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
}

#[test]
fn versions() {
    check(
        sample!("3.0.4-byhand"),
        &[
            "read seq - - - bandwidth 187204000.0",
            "write rand 524288 - - bandwidth 98070000.0",
            "read rand 4096 1 - iops 196.0",
            "write rand 4096 32 - bandwidth 1598000.0",
            "best-of",
        ],
    );
    check(
        sample!("8.0.6-byhand-mix"),
        &[
            "read seq 1048576 8 1 bandwidth 3512440000.0",
            "read seq 131072 32 1 latency 0.0012327",
            "write rand 4096 1 1 iops 44067.4",
            "mixed rand 4096 32 16 bandwidth 1500500000.0",
            "best-of not-measured",
        ],
    );
    check(sample!("9.0.1-byhand-demo"), &["write seq 1048576 8 1 bandwidth 12650250000.0", ""]);
    let runs = read(sample!("8.0.6-byhand-mix")).unwrap();
    assert_eq!(runs.len(), 1);
    let bandwidths = runs[0].series.iter().filter(|series| series.metric.name == "bandwidth").count();
    assert_eq!((bandwidths, runs[0].tool_version.as_deref()), (11, Some("8.0.6")));
    let fact =
        |key: &str| serde_json::to_string(&runs[0].facts[&format!("crystaldiskmark.{key}")].value).unwrap();
    assert_eq!(fact("passes"), "3");
    assert_eq!(fact("edition"), "\"Aoi Edition x64\"");
    assert_eq!(fact("mode"), "\"[Admin] <0Fill>\"");
    assert_eq!(fact("mix"), "\"Read 70%/Write 30%\"");
    let old = &read(sample!("3.0.4-byhand")).unwrap()[0];
    assert!(old.series.iter().all(|series| series.metric.name != "latency"));
}

#[test]
fn labels() {
    let check = |label: &str, wanted: &str| {
        let text = format!("{label} 1.500 MB/s\n{label} 2.500 MB/s\n");
        assert!(CrystalDiskMark.sniff(text.as_bytes()), "{label}");
        assert_eq!(brief(&read(&text).unwrap())[0], format!("{wanted} bandwidth 1500000.0"), "{label}");
    };
    check("Sequential Read :", "read seq - - -");
    check("   Sequential Write (Q= 32,T= 1) :", "write seq - 32 1");
    check("  Random Read 4KiB (T= 1) :", "read rand 4096 - 1");
    check("> > Random Write 512KB :", "write rand 524288 - -");
    check("  RND    1MiB (Q=  8, T= 2):", "- rand 1048576 8 2");
    check("| SEQ 128KiB |", "- seq 131072 - -");
    check("Sequenzielles Lesen :", "read seq - - -");
    check("Zufälliges Schreiben 4KB (QD=32) :", "write rand 4096 32 -");
    check("随机 读取 4KB (QD=1) :", "read rand 4096 1 -");
}

#[test]
fn published_copies() {
    let whole = sample!("8.0.6-byhand-mix");
    let same = brief(&read(whole).unwrap());
    let quoted: String = whole.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(brief(&read(&quoted).unwrap()), same);
    let collapsed: String =
        whole.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    assert_eq!(brief(&read(&collapsed).unwrap()), same);
    assert_eq!(brief(&read(&whole.replace('\n', "\n\n")).unwrap()), same);
    // Two results behind each other, with headers and without.
    assert_eq!(read(&whole.repeat(2)).unwrap().len(), 2);
    let rows = |text: &str| {
        text.lines()
            .filter(|line| line.contains("MB/s [") || line.contains("] ") || line.ends_with(']'))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let bare = rows(sample!("3.0.4-byhand")).replace("[SATA", "");
    assert_eq!(read(&bare.repeat(3)).unwrap().len(), 3);
    let line = "[Read] SEQ 1MiB (Q= 8, T= 1): 101.514 MB/s [ 96.8 IOPS] < 81970.32 us> RND 4KiB (Q= 1, T= 1): 0.408 MB/s [ 99.6 IOPS] <10013.33 us>";
    check(line, &["read seq 1048576 8 1 latency 0.08197032", "read rand 4096 1 1 iops 99.6"]);
    // Cut within a row, and before the first.
    let at = whole.find("1390.40").unwrap();
    check(&whole[..at], &["write seq 131072 32 1 iops 22979.0", "best-of truncated"]);
    assert!(
        !brief(&read(&whole[..at]).unwrap())
            .iter()
            .any(|line| line.contains("write seq 131072 32 1 latency"))
    );
    let headless = &whole[whole.find("RND    4KiB").unwrap()..];
    check(headless, &["read rand 4096 32 16 iops 539771.7", "write seq 1048576 8 1 iops 2880.2"]);
    let said = read(&whole[..whole.find("[Read]").unwrap()]).unwrap_err();
    assert_eq!(said, "crystaldiskmark measured nothing: the result has no row with a value");
}

#[test]
fn as_the_program_saves_it() {
    let mut runs = Vec::new();
    let bytes = include_bytes!("../../../../testdata/crystaldiskmark/crystaldiskmark-5.5.0-byhand-utf16.txt");
    CrystalDiskMark.parse(&mut bytes.as_slice(), &mut runs).unwrap();
    let lines = brief(&runs);
    let wanted = [
        "read seq - 32 1 bandwidth 558913000.0",
        "write rand 4096 32 1 iops 86670.2",
        "write seq - - 1 bandwidth 501250000.0",
        "read rand 4096 1 1 bandwidth 38750000.0",
    ];
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
    assert_eq!((lines.len(), lines.last().unwrap().as_str()), (8 + 4 + 1, "best-of"));
    assert_eq!(runs[0].tool_version.as_deref(), Some("5.5.0"));
}

#[test]
fn commas_and_tags() {
    let page = "<p>The array:</p>\n<blockquote>Sequential Read : 612.500 MB/s<br />\nSequential Write : 588.250 MB/s<br>\n\
                Random Read 4KB (QD=1) : 26.125 MB/s [ 6378.2 IOPS]</blockquote>\nThe disk:\n<blockquote>\
                Sequential Read : 88.500 MB/s\nRandom Read 4KB (QD=1) : 0.625 MB/s [ 152.6 IOPS]</blockquote>\n";
    check(page, &["read seq - - - bandwidth 612500000.0", "read seq - - - bandwidth 88500000.0"]);
    assert_eq!(read(page).unwrap().len(), 2);
    let comma = "[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3.250,125 MB/s [   3099,6 IOPS] <  2577,75 us>\n  RND    4KiB (Q=  1, T= 1): \
                 61,440 MB/s [  15000,0 IOPS] <    66,25 us>\n";
    let wanted = [
        "read seq 1048576 8 1 bandwidth 3250125000.0",
        "read seq 1048576 8 1 iops 3099.6",
        "read rand 4096 1 1 latency 6.625e-5",
        "best-of locale truncated",
    ];
    check(comma, &wanted);
}

#[test]
fn not_ours() {
    for text in [
        "",
        "CrystalDiskMark 8.0.4 says that the disk reads 500 MB/s, which is fine.\n",
        "Sequential Read: 560 MB/s\nSequential Write: 530 MB/s\n",
        "Timing buffered disk reads: 512.123 MB/s\nTiming cached reads: 9.123 MB/s\n",
        "KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark\n  Sequential   1 MiB (Q=  8, T= 1):  3276.800 MB/s\n",
    ] {
        assert!(!CrystalDiskMark.sniff(text.as_bytes()), "{text}");
    }
}

#[test]
fn prints_what_it_reads() {
    for text in [sample!("3.0.4-byhand"), sample!("8.0.6-byhand-mix"), sample!("9.0.1-byhand-demo")] {
        let run = &read(text).unwrap()[0];
        let mut printed = String::new();
        CrystalDiskMark.print(run, &mut printed).unwrap();
        let again = &read(&printed).unwrap()[0];
        assert_eq!(again.series, run.series, "{printed}");
        assert_eq!((&again.facts, &again.tool_version), (&run.facts, &run.tool_version), "{printed}");
        // Row by row to the letter.
        let rows = |text: &str| {
            text.lines()
                .map(str::trim)
                .filter(|line| line.contains(" MB/s") && !line.starts_with('*') && !line.contains(" 0.000"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(&printed), rows(text));
    }
}

#[test]
fn damaged_texts_never_panic() {
    for text in [sample!("3.0.4-byhand"), sample!("8.0.6-byhand-mix")] {
        for cut in (0..text.len()).step_by(7) {
            let _ = read(&text[..cut]);
            let _ = read(&text[cut..]);
        }
        let _ = read(&text.replace(' ', ""));
        let _ = read(&text.replace("MB/s", "é"));
    }
    let _ = read(&"[".repeat(100_000));
    let _ = read(&"a MB/s ".repeat(50_000));
}
