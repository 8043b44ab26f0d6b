//! Reads fio's JSON: every entry of `jobs` and `client_stats`.
//!
//! Before 3.0 latencies are in microseconds; `bw` is KiB/s in every version. With `--status-interval` the document
//! comes again and again: the last one counts.

use serde_json::Value;

use super::documents::{self, Document};
use super::model::{Job, Latency, percentile};
use super::read_text;
use super::settings::Settings;

/// Every job of the documents in `log`.
pub(super) fn read(log: &str) -> Vec<Job> {
    let mut documents: Vec<Document> = Vec::new();
    for document in documents::find(log) {
        match documents.last_mut() {
            Some(last) if continues(&last.value, &document.value) => *last = document,
            _ => documents.push(document),
        }
    }
    let complaint = read_text::complaint(log);
    let mut jobs: Vec<Job> = documents.iter().flat_map(jobs_of).collect();
    for job in jobs.iter_mut().filter(|job| job.error != 0) {
        job.said.clone_from(&complaint);
    }
    let stopped = log.lines().any(read_text::stopped);
    jobs.iter_mut().for_each(|job| job.interrupted = stopped);
    jobs
}

fn jobs_of(document: &Document) -> Vec<Job> {
    let value = &document.value;
    let mut jobs: Vec<Job> = if value.get("jobname").is_some() {
        vec![job(value, &Value::Null)]
    } else {
        let lists = ["jobs", "client_stats"].into_iter().filter_map(|key| value.get(key)?.as_array());
        lists.flatten().map(|entry| job(entry, value)).collect()
    };
    let version = text(value, "fio version");
    let disks = value.get("disk_util").and_then(Value::as_array).into_iter().flatten();
    let disks: Vec<String> = disks.filter_map(|disk| text(disk, "name")).collect();
    let lone = value.get("jobname").is_some();
    let count = jobs.len();
    for (at, job) in jobs.iter_mut().enumerate() {
        job.version = version.as_deref().map(|version| version.trim_start_matches("fio-").to_owned());
        job.date = text(value, "time");
        job.disks.clone_from(&disks);
        job.cut = lone || document.cut && at + 1 == count;
        job.foreign = document.foreign.len();
        job.first_foreign = document.foreign.first().cloned();
    }
    jobs
}

fn job(entry: &Value, document: &Value) -> Job {
    let global = document.get("global options").and_then(Value::as_object);
    let own = entry.get("job options").and_then(Value::as_object);
    let both = global.into_iter().chain(own).flatten();
    let settings = Settings::of(both.map(|(name, value)| (name.as_str(), plain(value))));
    let share = |key: &str| number(entry, key).map(|percent| percent / 100.0);
    let mut job = Job {
        name: text(entry, "jobname"),
        group: number(entry, "groupid").map(|group| group as i64),
        host: text(entry, "hostname"),
        settings,
        cpu: share("usr_cpu").zip(share("sys_cpu")),
        error: number(entry, "error").map_or(0, |error| error as i64),
        ..Job::default()
    };
    for op in ["read", "write", "trim", "mixed"] {
        let Some(data) = entry.get(op) else { continue };
        let section = job.section(op);
        let exact = number(data, "bw_bytes").filter(|rate| *rate > 0.0);
        section.bytes_per_second = exact.or_else(|| number(data, "bw").map(|rate| rate * 1024.0));
        section.iops = number(data, "iops");
        section.seconds = number(data, "runtime").map(|ms| ms / 1e3);
        section.clat = latency(data, "clat");
        section.lat = latency(data, "lat");
    }
    job
}

fn latency(data: &Value, name: &str) -> Latency {
    let (figures, unit) = match (data.get(format!("{name}_ns")), data.get(name)) {
        (Some(figures), _) => (figures, 1e9),
        (None, Some(figures)) => (figures, 1e6),
        (None, None) => return Latency::default(),
    };
    let seconds = |key: &str| number(figures, key).map(|value| value / unit);
    let mut percentiles = Vec::new();
    for (key, value) in figures.get("percentile").and_then(Value::as_object).into_iter().flatten() {
        // Unused places of the list are called 0.00.
        let name = key.parse().ok().and_then(percentile);
        percentiles.extend(name.zip(value.as_f64().map(|value| value / unit)));
    }
    Latency {
        n: number(figures, "N").filter(|n| *n > 0.0),
        mean: seconds("mean"),
        min: seconds("min"),
        max: seconds("max"),
        sd: seconds("stddev"),
        percentiles,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn number(value: &Value, key: &str) -> Option<f64> {
    value.get(key)?.as_f64().filter(|number| *number >= 0.0)
}

/// An option's value as written.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether `next` is a later state of the same invocation, or the same document once more.
fn continues(last: &Value, next: &Value) -> bool {
    if last == next {
        return true;
    }
    let (Some(before), Some(after)) = (entries(last), entries(next)) else { return false };
    let names = |entries: &[Value]| {
        let name =
            |entry: &Value| (text(entry, "jobname"), text(entry, "hostname"), number(entry, "groupid"));
        entries.iter().map(name).collect::<Vec<_>>()
    };
    if text(last, "fio version") != text(next, "fio version") || names(before) != names(after) {
        return false;
    }
    let starts =
        |entries: &[Value]| entries.iter().map(|entry| number(entry, "job_start")).collect::<Vec<_>>();
    if starts(before).iter().all(Option::is_some) && starts(after).iter().all(Option::is_some) {
        return starts(before) == starts(after);
    }
    let grown = |key: &str| {
        let mut most = 0.0_f64;
        for (before, after) in before.iter().zip(after) {
            for op in ["read", "write", "trim", "mixed"] {
                let of = |entry: &Value| entry.get(op).and_then(|data| number(data, key)).unwrap_or(0.0);
                let more = of(after) - of(before);
                if more < 0.0 {
                    return None;
                }
                most = most.max(more);
            }
        }
        Some(most)
    };
    let (Some(bytes), Some(ran_ms)) = (grown("io_bytes"), grown("runtime")) else { return false };
    if bytes <= 0.0 {
        return false;
    }
    let Some(passed_ms) = stamp_ms(next).zip(stamp_ms(last)).map(|(next, last)| next - last) else {
        return ran_ms > 100.0;
    };
    // The jobs ran on for as long as the clock did; a second invocation would have begun anew.
    let elapsed =
        |entries: &[Value]| entries.iter().filter_map(|entry| number(entry, "elapsed")).fold(0.0, f64::max);
    let longer_ms = (elapsed(after) - elapsed(before)) * 1e3;
    let near = |span_ms: f64, slack_ms: f64| (passed_ms - span_ms).abs() <= 0.3 * passed_ms.abs() + slack_ms;
    near(ran_ms, 250.0) || longer_ms >= 2e3 && near(longer_ms, 1e3)
}

fn entries(document: &Value) -> Option<&[Value]> {
    let list = document.get("jobs").or_else(|| document.get("client_stats"))?;
    list.as_array().map(Vec::as_slice)
}

fn stamp_ms(document: &Value) -> Option<f64> {
    number(document, "timestamp_ms").or_else(|| number(document, "timestamp").map(|seconds| seconds * 1e3))
}
