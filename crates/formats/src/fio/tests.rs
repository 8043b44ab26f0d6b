//! Debian's fio 3.33 (`testdata/fio`), older texts by hand, and what becomes of them on the way.

use tenbin_core::run::Run;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/fio/fio-3.33-debian12-", $name))
    };
}

fn read(text: &str) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    Fio.parse(&mut text.as_bytes(), &mut runs).map_err(|error| error.to_string())?;
    Ok(runs)
}

/// Each series of each run as `run metric param=value ... value`, then each run's caveats.
fn brief(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, run) in read(text).unwrap().iter().enumerate() {
        for series in &run.series {
            let params: Vec<String> =
                series.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            lines.push(format!(
                "{at} {} {} {:?}",
                series.metric.name,
                params.join(" "),
                series.values().first().copied().unwrap_or(0.0)
            ));
        }
        let kinds = run.caveats.iter().map(|caveat| serde_json::to_string(&caveat.kind).unwrap());
        lines.push(format!("{at}: {}", kinds.collect::<Vec<_>>().join(" ").replace('"', "")));
    }
    lines
}

fn check(text: &str, runs: usize, wanted: &[&str]) {
    assert!(Fio.sniff(text.as_bytes()), "{text}");
    assert_eq!(read(text).unwrap().len(), runs, "{text}");
    let lines = brief(text);
    for line in wanted {
        assert!(lines.iter().any(|have| have == line), "no {line} in {lines:#?}");
    }
}

/// A figure of the latency of a direction in the first run.
fn latency(text: &str, op: &str, figure: &str, wanted: Option<f64>) {
    let run = &read(text).unwrap()[0];
    let of = |series: &&tenbin_core::sample::Series| {
        series.metric.name == "latency" && series.params.get("op") == Some(&op.into())
    };
    let series = run.series.iter().find(of).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    let have = series.reported.get(figure).copied();
    assert!(have == wanted || have.zip(wanted).is_some_and(|(a, b)| near(a, b)), "{op} {figure}: {have:?}");
}

#[test]
fn documents() {
    let read_4k = "block_bytes=4096 job=randread op=read pattern=rand queue_depth=4";
    check(
        sample!("randread.json"),
        1,
        &[
            &format!("0 bandwidth {read_4k} 121930677.0"),
            &format!("0 iops {read_4k} 29768.231768"),
            &format!("0 duration {read_4k} 1.001"),
            "0 cpu_utilization job=randread 0.372",
            "0: ",
        ],
    );
    latency(sample!("randread.json"), "read", "mean", Some(120_796.441_305e-9));
    latency(sample!("randread.json"), "read", "p99.99", Some(5_144_576e-9));
    latency(sample!("randread.json"), "read", "n", Some(29_798.0));
    check(
        sample!("two-jobs.json"),
        2,
        &[
            "0 bandwidth block_bytes=65536 job=w op=write pattern=seq 699050666.0",
            "1 bandwidth block_bytes=8192 job=r op=read pattern=rand 46941460.0",
            "1 iops block_bytes=8192 job=r op=write pattern=rand 2396.825397",
        ],
    );
    check(
        sample!("mixed.json"),
        1,
        &["0 bandwidth block_bytes=4096 job=uni op=mixed pattern=rand 89240510.0"],
    );
    // Without clat the whole latency counts.
    latency(sample!("lat-only.json"), "write", "mean", Some(4_393.752_93e-9));
    latency(sample!("json-plus.json"), "read", "p1", Some(35e-9));
    // Three states of one invocation; the text around a document.
    check(sample!("interval.json"), 1, &["0 iops block_bytes=131072 job=often op=read pattern=seq 399.6004"]);
    check(
        sample!("normal-json.txt"),
        1,
        &["0 bandwidth block_bytes=1048576 job=both op=read pattern=seq 559240533.0"],
    );
    // Sections full of zeros are none.
    assert_eq!(brief(sample!("randread.json")).iter().filter(|line| line.contains("bandwidth")).count(), 1);
}

#[test]
fn normal_text() {
    let read_4k = "block_bytes=4096 job=randread op=read pattern=rand queue_depth=4 threads=1";
    check(
        sample!("randread.txt"),
        1,
        &[
            &format!("0 bandwidth {read_4k} {:?}", 104.0 * 1048576.0),
            &format!("0 iops {read_4k} 26700.0"),
            "0 cpu_utilization job=randread 0.39",
            "0: ",
        ],
    );
    for (figure, wanted) in
        [("mean", 135.84e-6), ("max", 6847e-6), ("sd", 364.6e-6), ("p50", 82e-6), ("p99.99", 6849e-6)]
    {
        latency(sample!("randread.txt"), "read", figure, Some(wanted));
    }
    check(
        sample!("two-jobs.txt"),
        2,
        &[
            "0 iops block_bytes=65536 job=w op=write pattern=seq queue_depth=1 threads=1 21300.0",
            "1 iops block_bytes=8192 job=r op=write pattern=rand queue_depth=1 threads=1 3212.0",
        ],
    );
    // A group in one block; its sync latencies are no others.
    check(
        sample!("group.txt"),
        1,
        &["0 iops block_bytes=4096 job=grp op=write pattern=rand queue_depth=8 threads=3 17500.0"],
    );
    latency(sample!("group.txt"), "write", "p50", Some(545e-6));
    latency(sample!("group.txt"), "write", "max", Some(7601e-6));
    check(
        sample!("mixed.txt"),
        1,
        &["0 iops block_bytes=4096 job=uni op=mixed pattern=rand queue_depth=1 threads=1 19300.0"],
    );
    check(
        sample!("trim.txt"),
        1,
        &["0 iops block_bytes=65536 job=trim op=trim pattern=seq queue_depth=1 threads=1 16000.0"],
    );
    check(
        sample!("eta.txt"),
        1,
        &["0 iops block_bytes=16384 job=eta op=write pattern=rand queue_depth=1 threads=1 1270.0"],
    );
    let no_latency = brief(sample!("gtod.txt"));
    assert!(!no_latency.iter().any(|line| line.contains("latency")), "{no_latency:#?}");
    check(
        sample!("terse.txt"),
        1,
        &["0 bandwidth job=terse op=read 45100032.0", "0 iops job=terse op=read 11010.0"],
    );
    latency(sample!("terse.txt"), "read", "p99.9", Some(4145e-6));
    assert_eq!(
        read(sample!("enospc.txt")).unwrap_err(),
        "fio measured nothing: full: error 28: No space left on device"
    );
}

const OLD: &str = "\
w: (g=0): rw=rw, bs=64K-64K/32K-32K/64K-64K, ioengine=libaio, iodepth=16
fio-2.1.11
Starting 1 process

w: (groupid=0, jobs=1): err= 0: pid=4242: Mon Feb  2 10:11:12 2015
  read : io=512.00MB, bw=26214KB/s, iops=409, runt= 20000msec
    slat (usec): min=4, max=1020, avg=11.52, stdev= 9.01
    clat (msec): min=1, max=512, avg=38.25, stdev=21.50
     lat (msec): min=1, max=512, avg=38.30, stdev=21.50
    clat percentiles (msec):
     |  1.00th=[    3],  5.00th=[   10], 50.00th=[   36], 99.00th=[  104],
     | 99.99th=[  510]
    bw (KB  /s): min=18000, max=33000, per=100.00%, avg=26300.00, stdev=2000.00
  write: io=510.00MB, bw=25.5MB/s, iops=816, runt= 20000msec
    clat (usec): min=60, max=120K, avg=900.25, stdev=10.50
    lat (msec) : 2=0.01%, 4=0.40%, 10=4.00%, 20=16.00%, 50=60.00%
  cpu          : usr=0.50%, sys=2.00%, ctx=9000, majf=0, minf=20
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=99.9%, 32=0.0%, >=64=0.0%
     issued    : total=r=8192/w=8160/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=512.00MB, aggrb=26214KB/s, minb=26214KB/s, maxb=26214KB/s, mint=20000msec, maxt=20000msec
  WRITE: io=510.00MB, aggrb=26112KB/s, minb=26112KB/s, maxb=26112KB/s, mint=20000msec, maxt=20000msec
";

#[test]
fn older_texts() {
    check(
        OLD,
        1,
        &[
            "0 bandwidth block_bytes=65536 job=w op=read pattern=seq queue_depth=16 threads=1 26843136.0",
            "0 bandwidth block_bytes=32768 job=w op=write pattern=seq queue_depth=16 threads=1 26738688.0",
            "0 iops block_bytes=65536 job=w op=read pattern=seq queue_depth=16 threads=1 409.0",
            "0 duration block_bytes=65536 job=w op=read pattern=seq queue_depth=16 threads=1 20.0",
            "0: unit-corrected",
        ],
    );
    latency(OLD, "read", "mean", Some(38.25e-3));
    latency(OLD, "read", "p99", Some(104e-3));
    latency(OLD, "write", "max", Some(0.12));
    assert_eq!(read(OLD).unwrap()[0].tool_version.as_deref(), Some("2.1.11"));
    // Only the group's summary was published.
    let summary = &OLD[OLD.find("Run status").unwrap()..];
    check(summary, 1, &["0 bandwidth op=write 26738688.0", "0 duration op=read 20.0"]);
    // Two of them are two invocations; a block that lost its first line has its summary behind it.
    let two = format!("// before:\n{summary}\n// after:\n{}", summary.replace("26112", "24064"));
    check(&two, 2, &["0 bandwidth op=write 26738688.0", "1 bandwidth op=write 24641536.0"]);
    let block = "  write: IOPS=812, BW=3248KiB/s (3326kB/s)(31.7MiB/10001msec)\n";
    let behind = "Run status group 0 (all jobs):\n  WRITE: bw=3248KiB/s (3326kB/s), 3248KiB/s-3248KiB/s (3326kB/s-3326kB/s), io=31.7MiB (33.3MB), run=10001-10001msec\n";
    check(&format!("{block}{behind}"), 1, &["0 iops op=write 812.0"]);
    let summary = "Run status group 0 (all jobs):\n  READ: bw=104MiB/s (109MB/s), 104MiB/s-104MiB/s (109MB/s-109MB/s), io=104MiB (109MB), run=1001-1001msec\n";
    check(summary, 1, &["0 bandwidth op=read 109051904.0", "0 duration op=read 1.001"]);
    // Only a direction's line.
    check(
        "  write: IOPS=1270, BW=19.8MiB/s (20.8MB/s)(19.9MiB/1003msec); 0 zone resets\n",
        1,
        &["0 iops op=write 1270.0", "0: truncated"],
    );
    check(
        "  read: IOPS=1270, BW=872Mbit/s (109MB/s)(19.9MiB/1003msec)\n",
        1,
        &["0 bandwidth op=read 109000000.0"],
    );
}

#[test]
fn texts_as_they_are_found() {
    let text = sample!("randread.txt");
    let same = brief(text);
    // An invocation after another; a server's prefix; a later state of the same process.
    assert_eq!(read(&text.repeat(2)).unwrap().len(), 2);
    let state = &text[text.find("\nrandread: (groupid").unwrap()..];
    let early = state.replace("26.7k", "20.1k");
    assert_eq!(brief(&text.replace(state, &(early + state))), same);
    let served: String = text.lines().map(|line| format!("<node1> {line}\n")).collect();
    assert_eq!(brief(&served), same);
    let progress = text.replace(
        "\nrandread: (group",
        "\nJobs: 1 (f=1): [r(1)][100.0%][r=104MiB/s][eta 00m:00s]randread: (group",
    );
    assert_eq!(brief(&progress), same);
    // Another's line, and an end that came early.
    let foreign = text.replace("  cpu   ", "[ 12.3] sda: reset\n  cpu   ");
    assert_eq!(brief(&foreign).last().unwrap(), "0: foreign-lines");
    let cut = &text[..text.find(", stdev=364").unwrap()];
    latency(cut, "read", "sd", None);
    latency(cut, "read", "mean", None);
    latency(&format!("{cut}, "), "read", "mean", Some(135.84e-6));
    assert_eq!(brief(cut).last().unwrap(), "0: truncated");
    let stopped = text
        .replace("\nrandread: (group", "^Cfio: terminating on signal 2\n\nrandread: (group")
        .replace("^Cf", "f");
    assert_eq!(brief(&stopped).last().unwrap(), "0: interrupted");
    // Two jobs in one block, of which nobody knows which is which.
    let two = sample!("group.txt").replace("\n...\n", "\nother: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 8192B-8192B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\n");
    check(&two, 1, &["0 iops job=grp op=write queue_depth=8 threads=3 17500.0"]);
}

#[test]
fn documents_as_they_are_found() {
    let text = sample!("two-jobs.json");
    let same = brief(text);
    assert_eq!(
        brief(&text.replace("\n      \"read\"", "\nfio: this line does not belong here\n      \"read\""))
            [..3],
        same[..3]
    );
    assert_eq!(brief(&format!("$ fio x.fio\nfio: {{odd}}\n{text}\n$ \n")), same);
    assert_eq!(brief(&format!("{text}{text}")), same);
    assert_eq!(brief(&text.replace("\"bw_dev\" : 0.000000", "\"bw_dev\" : -nan")), same);
    // Invocations of the same jobs, one after another.
    let later = text
        .replace("\"timestamp_ms\" : 1796", "\"timestamp_ms\" : 1797")
        .replace("\"io_bytes\" : 4", "\"io_bytes\" : 5");
    assert_eq!(read(&format!("{text}{later}")).unwrap().len(), 4);
    // Cut within the second job: what was read of it, and that it was cut.
    let at = text.rfind("\"write\" : {").unwrap();
    let cut = brief(&text[..at]);
    assert_eq!((cut.last().unwrap().as_str(), cut[..5].to_vec()), ("1: truncated", same[..5].to_vec()));
    // Without its beginning.
    let tail = &text[text.rfind("    {\n      \"jobname\"").unwrap()..];
    check(tail, 1, &["0: truncated"]);
    let failed = text.replacen("\"error\" : 0", "\"error\" : 5", 1);
    let failed =
        format!("fio: pid=7, err=5/file:io_u.c:1876, func=io_u error, error=Input/output error\n{failed}");
    let run = &read(&failed).unwrap()[0];
    assert_eq!(run.caveats[0].text, "w: error 5: Input/output error");
    let refused = "fio: /dev/sdx appears mounted, and 'allow_mounted_write' isn't set. Aborting.\n{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n  ]\n}\n";
    assert!(read(refused).unwrap_err().contains("appears mounted"));
}

#[test]
fn prints_what_it_reads() {
    for text in
        [sample!("randread.json"), sample!("two-jobs.json"), sample!("mixed.json"), sample!("trim.txt"), OLD]
    {
        for run in read(text).unwrap() {
            let mut printed = String::new();
            Fio.print(&run, &mut printed).unwrap();
            let again = &read(&printed).unwrap()[0];
            assert_eq!(again.series.len(), run.series.len(), "{printed}");
            for (before, after) in run.series.iter().zip(&again.series) {
                assert_eq!((&before.metric, &before.params), (&after.metric, &after.params), "{printed}");
                assert_eq!(
                    before.reported.keys().collect::<Vec<_>>(),
                    after.reported.keys().collect::<Vec<_>>()
                );
                for (name, value) in &before.reported {
                    assert!((after.reported[name] - value).abs() <= 1e-9 * value.abs(), "{name} {printed}");
                }
            }
            assert_eq!(run.tool_version, again.tool_version);
        }
    }
}

#[test]
fn not_ours() {
    for text in [
        "",
        "fio-3.33 is a nice tool\n",
        "{\"start\": {\"connected\": []}, \"end\": {}}",
        "print(result[\"fio version\"], \"jobname\", 'groupid')\n",
        "Run status group\nread: 500 MB/s\n",
        "[global]\nrw=randread\nbs=4k\n[job]\niodepth=4\n",
    ] {
        assert!(!Fio.sniff(text.as_bytes()), "{text}");
    }
}

#[test]
fn damaged_logs_never_panic() {
    for text in
        [sample!("randread.txt"), sample!("group.txt"), sample!("mixed.json"), sample!("terse.txt"), OLD]
    {
        for cut in (0..text.len()).step_by(97) {
            let _ = read(&text[..cut]);
            let _ = read(&text[cut..]);
        }
        let _ = read(&text.replace(['0', '1', '2'], "999999999"));
        let _ = read(&text.replace('=', "é"));
    }
    let _ = read(&"{\"jobs\":".repeat(20_000));
    let _ = read(&"{\"fio version\":\"é".repeat(2_000));
    let _ = read(&"x: (g=0): rw=read, bs=\nx: (groupid=0, jobs=1): err= 0: pid=1: \n".repeat(5_000));
}
