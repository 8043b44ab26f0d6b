//! `cargo xtask bench import`: how long large logs take to be read into a store, and how much memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;

use crate::measured::{Folder, measured, noise, told};

/// Replies in the long log of ping: a gigabyte.
const REPLIES: u64 = 10_000_000;
/// Intervals of a tenth of a second in a day.
const INTERVALS: u64 = 864_000;
/// Logs in the folder of small ones.
const LOGS: u64 = 10_000;

/// Makes a log, or a folder of logs, at a path.
type Maker = fn(&Path) -> Result<()>;

/// Makes each log in turn, reads it into a store of its own and prints a line of JSON.
pub fn import(program: Option<&str>) -> Result<()> {
    let tenbin = crate::measured::program(program)?;
    let folder = Folder::new("import")?;
    let cases: [(&str, Maker); 4] = [
        ("ping-1-gb", long_ping),
        ("iperf3-json-day", iperf3_day),
        ("iperf3-text-day", iperf3_text_day),
        ("10000-logs", small_logs),
    ];
    for (case, make) in cases {
        let log = folder.path(case);
        make(Path::new(&log))?;
        let store = folder.path(&format!("{case}.db"));
        println!("{}", told("import", case, &measured(&[&tenbin, "import", &log, "--store", &store])?));
        if Path::new(&log).is_dir() { fs::remove_dir_all(&log) } else { fs::remove_file(&log) }?;
        fs::remove_file(&store)?;
    }
    Ok(())
}

fn replies(out: &mut impl Write, seed: u64, count: u64) -> Result<()> {
    writeln!(out, "PING server.example.net (192.0.2.17) 56(84) bytes of data.")?;
    for i in 1..=count {
        let micros = 80 + noise(seed + i) % 400;
        let (whole, part) = (micros / 1000, micros % 1000);
        let (second, micro) = (1_700_000_000 + i / 100, i % 100 * 10_000 + micros);
        let seq = i % 65_536;
        writeln!(
            out,
            "[{second}.{micro:06}] 64 bytes from server.example.net (192.0.2.17): icmp_seq={seq} ttl=64 time={whole}.{part:03} ms"
        )?;
    }
    writeln!(out, "\n--- server.example.net ping statistics ---")?;
    writeln!(out, "{count} packets transmitted, {count} received, 0% packet loss, time {}ms", count * 10)?;
    Ok(writeln!(out, "rtt min/avg/max/mdev = 0.080/0.279/0.479/0.115 ms")?)
}

fn long_ping(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    replies(&mut out, 0, REPLIES)?;
    Ok(out.flush()?)
}

fn small_logs(folder: &Path) -> Result<()> {
    fs::create_dir(folder)?;
    for i in 0..LOGS {
        let mut out = BufWriter::new(File::create(folder.join(format!("{i:05}.txt")))?);
        replies(&mut out, i * 100, 10)?;
        out.flush()?;
    }
    Ok(())
}

/// The text of `iperf3 -c server -t 86400 -i 0.1`.
fn iperf3_text_day(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "Connecting to host 192.0.2.2, port 5201")?;
    writeln!(out, "[  5] local 192.0.2.1 port 40000 connected to 192.0.2.2 port 5201")?;
    writeln!(out, "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd")?;
    for i in 0..INTERVALS {
        let (start, end) = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
        let (mbytes, retransmits) = (100 + noise(i) % 20, noise(i) % 5);
        let (gbits, window) = (mbytes as f64 * 0.0838861, 300 + noise(i) % 700);
        writeln!(
            out,
            "[  5] {start:6.2}-{end:<6.2} sec   {mbytes} MBytes  {gbits:4.2} Gbits/sec  {retransmits:3}    {window} KBytes       "
        )?;
    }
    writeln!(out, "- - - - - - - - - - - - - - - - - - - - - - - - -")?;
    writeln!(out, "[ ID] Interval           Transfer     Bitrate         Retr")?;
    for (side, retransmits) in [("sender", "1728000"), ("receiver", "")] {
        writeln!(
            out,
            "[  5]   0.00-86400.00 sec  90.2 TBytes  9.18 Gbits/sec  {retransmits:7}         {side}"
        )?;
    }
    writeln!(out, "\niperf Done.")?;
    Ok(out.flush()?)
}

/// The document of `iperf3 -c server -t 86400 -i 0.1 -J`.
fn iperf3_day(path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(
        out,
        r#"{{
	"start":	{{
		"connected":	[{{
				"socket":	5,
				"local_host":	"192.0.2.1",
				"local_port":	40000,
				"remote_host":	"192.0.2.2",
				"remote_port":	5201
			}}],
		"version":	"iperf 3.12",
		"system_info":	"Linux client 6.1.0",
		"timestamp":	{{
			"time":	"Tue, 14 Nov 2023 22:13:20 GMT",
			"timesecs":	1700000000
		}},
		"connecting_to":	{{
			"host":	"192.0.2.2",
			"port":	5201
		}},
		"cookie":	"abcdefghijklmnopqrstuvwxyz0123456789",
		"tcp_mss_default":	1448,
		"test_start":	{{
			"protocol":	"TCP",
			"num_streams":	1,
			"blksize":	131072,
			"omit":	0,
			"duration":	86400,
			"bytes":	0,
			"blocks":	0,
			"reverse":	0,
			"tos":	0,
			"target_bitrate":	0
		}}
	}},
	"intervals":	["#
    )?;
    let mut total = 0;
    for i in 0..INTERVALS {
        let bytes = 117_000_000 + noise(i) % 1_000_000;
        total += bytes;
        let (start, end) = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
        let row = format!(
            r#""start":	{start},
					"end":	{end},
					"seconds":	0.10000000149011612,
					"bytes":	{bytes},
					"bits_per_second":	{},
					"retransmits":	{},"#,
            bytes as f64 * 79.99999880790712,
            noise(i) % 5
        );
        let comma = if i + 1 < INTERVALS { ", " } else { "" };
        write!(
            out,
            r#"{{
			"streams":	[{{
					"socket":	5,
					{row}
					"snd_cwnd":	{},
					"snd_wnd":	{},
					"rtt":	{},
					"rttvar":	{},
					"pmtu":	1500,
					"omitted":	false,
					"sender":	true
				}}],
			"sum":	{{
				{row}
				"omitted":	false,
				"sender":	true
			}}
		}}{comma}"#,
            1_000_000 + noise(i) % 900_000,
            3_000_000 + noise(i) % 90_000,
            200 + noise(i) % 100,
            10 + noise(i) % 20,
        )?;
    }
    let rate = total as f64 * 8.0 / 86_400.0;
    let row = format!(
        r#""start":	0,"end":	86400.0,"seconds":	86400.0,"bytes":	{total},"bits_per_second":	{rate},"#
    );
    writeln!(
        out,
        r#"],
	"end":	{{
		"streams":	[{{
				"sender":	{{"socket":	5,{row}"retransmits":	1700000,"max_snd_cwnd":	1900000,"sender":	true}},
				"receiver":	{{"socket":	5,{row}"sender":	true}}
			}}],
		"sum_sent":	{{{row}"retransmits":	1700000,"sender":	true}},
		"sum_received":	{{{row}"sender":	true}},
		"cpu_utilization_percent":	{{
			"host_total":	12.5,"host_user":	1.5,"host_system":	11,
			"remote_total":	30.5,"remote_user":	3.5,"remote_system":	27
		}},
		"sender_tcp_congestion":	"cubic",
		"receiver_tcp_congestion":	"cubic"
	}}
}}"#
    )?;
    Ok(out.flush()?)
}
