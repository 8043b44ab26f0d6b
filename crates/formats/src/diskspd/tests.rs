//! Results by hand in the layouts of 2.0.21 and 2.1.

use tenbin_core::run::Run;

use super::*;

const TEXT: &str = include_str!("../../../../testdata/diskspd/diskspd-2.0.21-byhand.txt");
const XML: &str = include_str!("../../../../testdata/diskspd/diskspd-2.1.0-byhand.xml");

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    DiskSpd.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

fn brief(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for run in read(text).unwrap() {
        for series in &run.series {
            let params: Vec<String> =
                series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            lines.push(format!("{} {} {:?}", series.metric.name, params.join(" "), series.values()[0]));
            lines.extend(series.reported.iter().map(|(name, value)| format!("{name} {value:?}")));
        }
        lines.extend(run.caveats.iter().map(|caveat| serde_json::to_string(&caveat.kind).unwrap()));
    }
    lines
}

fn check(text: &str, wanted: &[&str]) {
    assert!(DiskSpd.sniff(text.as_bytes()), "{text}");
    let lines = brief(text);
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
}

#[test]
fn results() {
    let place = "block_bytes=4096 op=read pattern=rand queue_depth=32 threads=2";
    check(
        TEXT,
        &[
            &format!("bandwidth {place} {:?}", 273.44 * 1_048_576.0),
            &format!("iops {place} 70000.0"),
            &format!("latency {place} 0.0006"),
            "iops block_bytes=4096 op=write pattern=rand queue_depth=32 threads=2 30000.0",
            "p50 0.00058",
            "p99.9 0.004",
            "max 0.012",
            "sd 0.00025",
            "duration  5.0",
        ],
    );
    assert_eq!(brief(TEXT).iter().filter(|line| line.starts_with("bandwidth")).count(), 2);
    check(&TEXT.replace("MiB/s ", "MB/s  "), &["\"unit-corrected\""]);
    let place = "block_bytes=131072 op=read pattern=seq queue_depth=8 threads=2";
    check(
        XML,
        &[
            &format!("bandwidth {place} 2621440000.0"),
            &format!("iops {place} 20000.0"),
            &format!("latency {place} 0.0008"),
            "p99.9 0.0025",
            "min 0.0002",
        ],
    );
    let run = &read(XML).unwrap()[0];
    assert_eq!((run.tool_version.as_deref(), run.caveats.len()), (Some("2.1.0"), 0));
}

#[test]
fn tables_alone() {
    let table = |rate: &str| {
        format!(
            "Read IO\nthread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n------\n\
             total:       62914560000 |       960000 |    1000.00 |   {rate} |    0.125 |     0.250\n"
        )
    };
    let text = format!("Local disk:\n{}\nShare:\n{}", table("16000.00"), table("15000.00"));
    check(&text, &["iops op=read 16000.0", "iops op=read 15000.0", "bandwidth op=read 1048576000.0"]);
    assert_eq!(read(&text).unwrap().len(), 2);
}

#[test]
fn found_and_damaged() {
    assert_eq!(read(&TEXT.repeat(2)).unwrap().len(), 2);
    assert_eq!(read(&XML.repeat(2)).unwrap().len(), 2);
    check(&TEXT[..TEXT.find("Write IO").unwrap()], &["\"truncated\""]);
    // Only a part of the threads was summed: no rates.
    let cut = brief(&XML[..XML.rfind("<Thread>").unwrap()]);
    assert!(
        !cut.iter().any(|line| line.starts_with("iops")) && cut.contains(&"\"truncated\"".to_owned()),
        "{cut:?}"
    );
    let said = "Results for timespan 1:\n***\nThe test was interrupted before the measurements began. No results are displayed.\n";
    assert!(read(said).unwrap_err().contains("interrupted before"));
    for text in ["", "<Results>\n</Results>\n", "<TimeSpan>", "diskspd -b4K gives Results for timespan\n"] {
        assert!(!DiskSpd.sniff(text.as_bytes()), "{text}");
    }
    for text in [TEXT, XML] {
        for at in (0..text.len()).step_by(37) {
            let _ = (read(&text[..at]), read(&text[at..]));
        }
        let _ = read(&text.replace(['0', '1'], "999999999"));
    }
}
