//! The lines of `--minimal`, versions 3 to 5: fields between semicolons, latencies in microseconds.

use super::model::{Job, Latency, percentile};
use crate::crystaldiskmark::number::decimal;

/// Whether `line` is one.
pub(super) fn is_terse(line: &str) -> bool {
    ["3;fio-", "4;fio-", "5;fio-"].iter().any(|begin| line.starts_with(begin))
}

/// The job of a line; what a cut line lacks is absent.
pub(super) fn job(line: &str, whole: bool) -> Option<Job> {
    let mut fields = line.split(';').collect::<Vec<_>>();
    if !whole {
        fields.pop();
    }
    let mut fields = fields.into_iter();
    let five = fields.next()? == "5";
    let four = line.starts_with('4') || five;
    let version = fields.next()?.strip_prefix("fio-")?.to_owned();
    let name = fields.next()?.to_owned();
    let group = fields.next()?.parse().ok()?;
    let error = fields.next()?.parse().ok()?;
    let mut job = Job {
        version: Some(version),
        name: Some(name),
        group: Some(group),
        error,
        cut: !whole,
        ..Job::default()
    };
    let mut fields = fields.peekable();
    for op in ["read", "write", "trim"] {
        if op == "trim" && !four {
            break;
        }
        let mut next =
            |power: i32| fields.next().and_then(|field| decimal(field.trim_end_matches('%'), power));
        let section = job.section(op);
        next(0);
        section.bytes_per_second = next(0).map(|rate| rate * 1024.0);
        section.iops = next(0);
        section.seconds = next(-3);
        for _ in 0..4 {
            next(0);
        }
        let mut clat = figures(&mut next);
        while let Some((percent, value)) =
            fields.next_if(|field| field.contains("%=")).and_then(|f| f.split_once("%="))
        {
            let name = percent.parse().ok().and_then(percentile);
            clat.percentiles.extend(name.zip(decimal(value, -6)));
        }
        let mut next =
            |power: i32| fields.next().and_then(|field| decimal(field.trim_end_matches('%'), power));
        let lat = figures(&mut next);
        for _ in 0..if five { 11 } else { 5 } {
            next(0);
        }
        let section = job.section(op);
        (section.clat, section.lat) = (clat, lat);
    }
    let mut share = || fields.next().and_then(|field| decimal(field.strip_suffix('%')?, -2));
    job.cpu = share().zip(share());
    Some(job)
}

fn figures(next: &mut impl FnMut(i32) -> Option<f64>) -> Latency {
    let (min, max, mean, sd) = (next(-6), next(-6), next(-6), next(-6));
    Latency { n: None, mean, min, max, sd, percentiles: Vec::new() }
}
