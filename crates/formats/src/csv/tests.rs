//! The own table comes back as it was; foreign ones are read as far as their heads say what they hold.

use tenbin_core::metric::{BANDWIDTH, Better, LATENCY, Metric, PACKETS_SENT, THROUGHPUT};
use tenbin_core::sample::{Param, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::*;
use crate::brief::briefs;
use crate::sheet::{Sheet, params};

fn check(log: &str, wanted: &[&[&str]]) {
    assert_eq!(briefs(log), wanted, "{log}");
}

fn printed(run: &Run) -> String {
    let mut out = String::new();
    Csv.print(run, &mut out).unwrap();
    out
}

#[test]
fn what_is_printed_is_read_back() {
    let mut sheet = Sheet::new("imb");
    let size = |size: i64| params([("size_bytes", size.into()), ("benchmark", "PingPong".into())]);
    sheet.headline(&LATENCY, &size(0), Reduce::Median, 1.9e-6);
    sheet.series(&LATENCY, &size(4096)).samples = vec![Sample::at(0.5, 3.1e-7), Sample::of(1e300)];
    sheet.reported(&LATENCY, &size(4096), "p99.9", 1.0 / 3.0);
    // What looks like something else than it is.
    let odd = params([
        ("entity", "208.10".into()),
        ("value", "a,\"b\";c".into()),
        ("param:x", "".into()),
        ("load", Param::Num(1.0)),
        ("note", "two\nlines".into()),
    ]);
    sheet.printed(&BANDWIDTH, &odd, -0.1);
    let own = Metric::new("peak_memory", Unit::Byte, Better::Lower);
    sheet.headline(&own, &params([]), Reduce::Total, 1e17);
    let run = sheet.finish().unwrap();
    let text = printed(&run);
    let read = crate::read(text.as_bytes()).unwrap().unwrap();
    assert_eq!(read.len(), 1, "{text}");
    assert_eq!(read[0].series, run.series, "{text}");
    assert_eq!(read[0].tool, "imb");
}

#[test]
fn own_tables_of_several_runs() {
    let text = "run,arm,metric,unit,size_bytes,at_seconds,value\n\
                1,a,rtt,s,56,0.1,0.002\n1,a,rtt,s,56,0.2,0.003\n2,b,rtt,s,56,,0.004\n2,b,rtt,furlong,56,,0.004\n";
    check(
        text,
        &[
            &["rtt[size_bytes=56] 0.002@0.1 0.003@0.2", "foreign-lines"],
            &["rtt[size_bytes=56] 0.004", "foreign-lines"],
        ],
    );
    let mut sheet = Sheet::new("x");
    sheet.printed(&PACKETS_SENT, &params([]), 3.0);
    let one = printed(&sheet.finish().unwrap());
    // Two tables in one file, and the end of the second cut off.
    let two = format!("{one}{}", one.trim_end());
    check(&two, &[&["packets_sent 3"], &["packets_sent 3", "truncated"]]);
}

#[test]
fn heads_that_say_what_they_hold() {
    let check = |head: &str, row: &str, wanted: &str| {
        let text = format!("{head}\n{row}\n");
        assert_eq!(briefs(&text).concat().join("; "), wanted, "{text}");
    };
    check("size_bytes,latency_us", "64,1.5", "latency[size_bytes=64] 0.0000015");
    check("size_bytes;Latency [us]", "64;1,5", "latency[size_bytes=64] 0.0000015; locale");
    check("nic\tthroughput_gbps", "new\t9.4", "throughput[nic=new] 9400000000");
    check("op,bandwidth (MB/s),bandwidth_p99_MiB/s", "read,2,1", "bandwidth[op=read] 2000000 | p99 1048576");
    check("throughput_MBps,loss_percent", "1,5", "throughput 8000000; loss 0.05");
    check("p99_latency_ms,mean_latency_ms", "2,1", "latency 0.001 | mean 0.001 p99 0.002");
    check("time_s,power_w,temperature_c", "3,45.5,60", "power 45.5@3; temperature 60@3");
    check("i,iops,mtu", "1,5000,1500", "iops[mtu=1500] 5000");
    check("rtt_ms,load", "1.5,0.73", "rtt 0.0015; note");
    check("rtt_ms,host", "nan,a", "csv measured nothing: no row has a number below a metric's name");
}

#[test]
fn nothing_is_guessed() {
    let not = |text: &str| assert!(briefs(text).is_empty(), "{text}");
    not("size,latency\n64,1.5\n");
    not("name,bandwidth_mb/s\nx,3\n");
    not("bandwidth_KB/s,x\n1,2\n");
    not("score,name\n3,x\n");
    not("the latency_us, they say, is low\nand that is all\n");
    not("latency_us\n1.5\n");
    not("");
    assert_eq!(units::factor(THROUGHPUT.unit, "MiB/s"), Some((8.0 * 1_048_576.0, 1.0)));
    assert_eq!(units::factor(Unit::Watt, "mw"), None);
}

#[test]
fn samples_in_order_and_cut_rows() {
    check("arm,rtt_ms\na,1.0\nb,2.0\na,3.0\n", &[&["rtt 0.001 0.003"], &["rtt 0.002"]]);
    check("k,rtt_ms\na,1.25\na,2.5", &[&["rtt[k=a] 0.00125", "truncated"]]);
    check("k,rtt_ms\na,1.25\na,2.50", &[&["rtt[k=a] 0.00125 0.0025"]]);
    check("k,rtt_ms\na,1.25\nDone in 3 s\na,2\n", &[&["rtt[k=a] 0.00125 0.002", "foreign-lines"]]);
}
