//! A run as fio 3.33's JSON document: one job for each set of params that differ in more than the direction.

use std::fmt;

use serde_json::{Map, Value, json};
use tenbin_core::env::FactValue;
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Series};

/// A job of the document.
struct Entry {
    /// What its series have in common.
    params: Params,
    /// The block of each direction.
    blocks: Vec<(String, Option<Param>)>,
    job: Map<String, Value>,
}

/// Prints `run`.
pub fn run(run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
    let mut entries: Vec<Entry> = Vec::new();
    for series in &run.series {
        let Some(Param::Text(op)) = series.params.get("op") else { continue };
        let mut params = series.params.clone();
        params.remove("op");
        let block = params.remove("block_bytes");
        let fits = |entry: &Entry| {
            let other = |(name, of): &(String, Option<Param>)| name == op && *of != block;
            entry.params == params && !entry.blocks.iter().any(other)
        };
        let at = entries.iter().position(fits).unwrap_or_else(|| {
            let job = head(run, &params, entries.len());
            entries.push(Entry { params: params.clone(), blocks: Vec::new(), job });
            entries.len() - 1
        });
        let Some(entry) = entries.get_mut(at) else { continue };
        if !entry.blocks.iter().any(|(name, _)| name == op) {
            entry.blocks.push((op.clone(), block));
        }
        let section = entry.job.entry(op.clone()).or_insert_with(|| json!({}));
        if let Some(section) = section.as_object_mut() {
            figures(series, section);
        }
    }
    let mut jobs = Vec::new();
    for mut entry in entries {
        options(run, &mut entry);
        cpu(run, &mut entry.job);
        jobs.push(Value::Object(entry.job));
    }
    let mut document = Map::new();
    let version = run.tool_version.as_deref().filter(|_| run.tool == "fio");
    document.insert("fio version".to_owned(), format!("fio-{}", version.unwrap_or("3.33")).into());
    document.extend(fact(run, "date").map(|date| ("time".to_owned(), date)));
    document.insert("jobs".to_owned(), jobs.into());
    if let Some(Value::String(disks)) = fact(run, "disks") {
        let disks: Vec<Value> = disks.split(' ').map(|name| json!({ "name": name })).collect();
        document.insert("disk_util".to_owned(), disks.into());
    }
    let text = serde_json::to_string_pretty(&Value::Object(document)).map_err(|_| fmt::Error)?;
    writeln!(out, "{text}")
}

fn head(run: &Run, params: &Params, number: usize) -> Map<String, Value> {
    let name = match params.get("job") {
        Some(name) => name.to_string(),
        None => format!("job{}", number + 1),
    };
    let mut job = Map::new();
    job.insert("jobname".to_owned(), name.into());
    job.insert("groupid".to_owned(), fact(run, "group").unwrap_or(0.into()));
    job.insert("error".to_owned(), 0.into());
    job.extend(fact(run, "host").map(|host| ("hostname".to_owned(), host)));
    job
}

/// The options that the params stand for, and those that the log of a fio named.
fn options(run: &Run, entry: &mut Entry) {
    let mut options = Map::new();
    for (key, fact) in &run.facts {
        let kept = ["cpu_user", "cpu_system", "group", "host", "date", "disks"];
        if let (Some(name), Some(FactValue::Text(value))) = (key.strip_prefix("fio."), &fact.value)
            && !kept.contains(&name)
        {
            options.insert(name.to_owned(), value.as_str().into());
        }
    }
    let active = |op: &str| entry.blocks.iter().any(|(name, _)| name == op || name == "mixed");
    let kind = match (active("read"), active("write"), active("trim")) {
        (true, true, _) => "rw",
        (false, true, true) => "trimwrite",
        (_, true, _) => "write",
        (false, _, true) => "trim",
        _ => "read",
    };
    let mut put = |names: [&str; 2], value: Option<String>| {
        if let (Some(value), false) = (value, names.iter().any(|name| options.contains_key(*name))) {
            options.insert(names[0].to_owned(), value.into());
        }
    };
    let of = |name: &str| entry.params.get(name).map(ToString::to_string);
    let random = of("pattern").map(|pattern| if pattern == "rand" { "rand" } else { "" });
    put(["rw", "readwrite"], random.map(|random| format!("{random}{kind}")));
    put(["bs", "blocksize"], block(&entry.blocks));
    put(["iodepth", "iodepth"], of("queue_depth"));
    put(["numjobs", "numjobs"], of("threads"));
    entry.job.insert("job options".to_owned(), options.into());
}

/// `4096`, or `4096,8192,8192` for reads, writes and trims where they differ.
fn block(blocks: &[(String, Option<Param>)]) -> Option<String> {
    let (_, first) = blocks.first()?;
    let first = first.as_ref()?.to_string();
    let of = |op: &str| blocks.iter().find(|(name, _)| name == op).and_then(|(_, block)| block.as_ref());
    let [read, write, trim] =
        ["read", "write", "trim"].map(|op| of(op).map_or_else(|| first.clone(), ToString::to_string));
    Some(if read == write && write == trim { first } else { format!("{read},{write},{trim}") })
}

fn cpu(run: &Run, job: &mut Map<String, Value>) {
    let mut share = |key: &str, name: &str| {
        if let Some(value) = fact(run, key).and_then(|value| value.as_f64()) {
            job.insert(name.to_owned(), (value * 100.0).into());
        }
    };
    share("cpu_user", "usr_cpu");
    share("cpu_system", "sys_cpu");
}

fn figures(series: &Series, section: &mut Map<String, Value>) {
    let Some(value) = series.reported.get("mean").copied().or_else(|| series.headline_value()) else {
        return;
    };
    let mut put = |name: &str, value: Value| section.insert(name.to_owned(), value);
    match series.metric.name.as_ref() {
        "bandwidth" => {
            put("bw_bytes", value.into());
            put("bw", ((value / 1024.0).floor() as i64).into());
        }
        "iops" => {
            put("iops", value.into());
        }
        "duration" => {
            put("runtime", ((value * 1e3).round() as i64).into());
        }
        "latency" => {
            put("clat_ns", latency(series, value));
        }
        _ => {}
    }
}

fn latency(series: &Series, mean: f64) -> Value {
    let mut figures = Map::new();
    let ns = |seconds: f64| Value::from(seconds * 1e9);
    for (key, name) in [("min", "min"), ("max", "max"), ("sd", "stddev")] {
        figures.extend(series.reported.get(key).map(|value| (name.to_owned(), ns(*value))));
    }
    figures.insert("mean".to_owned(), ns(mean));
    figures.extend(series.reported.get("n").map(|n| ("N".to_owned(), (*n as i64).into())));
    let mut percentiles: Vec<(f64, f64)> = Vec::new();
    for (key, value) in &series.reported {
        percentiles.extend(key.strip_prefix('p').and_then(|percent| percent.parse().ok()).zip(Some(*value)));
    }
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    if !percentiles.is_empty() {
        let list: Map<String, Value> =
            percentiles.into_iter().map(|(percent, value)| (format!("{percent:.6}"), ns(value))).collect();
        figures.insert("percentile".to_owned(), list.into());
    }
    Value::Object(figures)
}

fn fact(run: &Run, key: &str) -> Option<Value> {
    match run.facts.get(&format!("fio.{key}"))?.value.as_ref()? {
        FactValue::Text(text) => Some(text.as_str().into()),
        other => serde_json::to_value(other).ok(),
    }
}
