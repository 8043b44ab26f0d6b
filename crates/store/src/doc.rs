//! The parts of a run as documents: JSON, which knows no NaN and no infinity, so those are put in words.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};

use crate::samples;

/// The longest document, in bytes of JSON: plans, runs and facts of one host are far smaller.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// The run without its series and hosts, which are kept beside it.
pub(crate) fn run(run: &Run) -> serde_json::Result<String> {
    let Run {
        source,
        tool,
        tool_version,
        benchmark,
        series: _,
        events,
        states,
        facts,
        hosts: _,
        caveats,
        taint,
    } = run;
    serde_json::to_string(&Run {
        source: source.clone(),
        tool: tool.clone(),
        tool_version: tool_version.clone(),
        benchmark: benchmark.clone(),
        series: Vec::new(),
        events: events.clone(),
        states: states.clone(),
        facts: facts.iter().map(|(key, fact)| (key.clone(), in_words(fact))).collect(),
        hosts: BTreeMap::new(),
        caveats: caveats.clone(),
        taint: taint.clone(),
    })
}

/// A series without its samples.
#[derive(Serialize, Deserialize)]
struct SeriesDoc {
    #[serde(flatten)]
    series: Series,
    /// Reported figures that are no number: `NaN`, `inf`, `-inf`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reported_in_words: BTreeMap<String, String>,
}

/// The series without its samples, which are kept beside it.
pub(crate) fn series(series: &Series) -> serde_json::Result<String> {
    let Series { metric, params, headline, samples: _, reported } = series;
    let (finite, other): (Vec<_>, Vec<_>) = reported.iter().partition(|(_, figure)| figure.is_finite());
    let param = |param: &Param| match param {
        Param::Num(x) if !x.is_finite() => Param::Text(x.to_string()),
        param => param.clone(),
    };
    serde_json::to_string(&SeriesDoc {
        series: Series {
            metric: metric.clone(),
            params: params.iter().map(|(name, value)| (name.clone(), param(value))).collect(),
            headline: *headline,
            samples: Vec::new(),
            reported: finite.into_iter().map(|(name, figure)| (name.clone(), *figure)).collect(),
        },
        reported_in_words: other.into_iter().map(|(name, x)| (name.clone(), x.to_string())).collect(),
    })
}

/// Reads what [`series`] wrote. Errors say what is wrong with it.
pub(crate) fn read_series(json: &str) -> Result<Series, String> {
    let SeriesDoc { mut series, reported_in_words } = read(json)?;
    for (name, word) in reported_in_words {
        let figure = word.parse().map_err(|_| format!("\"{word}\" is no number"))?;
        series.reported.insert(name, figure);
    }
    Ok(series)
}

/// The facts of a host in two documents.
pub(crate) struct Facts {
    /// What seldom changes, shared between runs.
    pub(crate) lasting: Vec<u8>,
    /// SHA-256 of `lasting` before compression.
    pub(crate) sha256: [u8; 32],
    /// The counters, different for every run.
    pub(crate) counters: Vec<u8>,
}

/// The facts of a host, compressed.
pub(crate) fn facts(env: &Environment) -> Result<Facts, String> {
    let part = |counters: bool| -> Result<Vec<u8>, String> {
        let facts = env.facts.iter().filter(|(_, fact)| (fact.class == Class::Counter) == counters);
        let part: BTreeMap<_, _> = facts.map(|(key, fact)| (key, in_words(fact))).collect();
        serde_json::to_vec(&part).map_err(|error| error.to_string())
    };
    let lasting = part(false)?;
    let zip = |json: &[u8]| samples::compress(json).map_err(|error| error.to_string());
    Ok(Facts {
        sha256: Sha256::digest(&lasting).into(),
        lasting: zip(&lasting)?,
        counters: zip(&part(true)?)?,
    })
}

/// Reads what [`facts`] wrote. Errors say what is wrong with it.
pub(crate) fn read_facts(lasting: &[u8], sha256: &[u8], counters: &[u8]) -> Result<Environment, String> {
    let lasting = samples::decompress(lasting, MOST_BYTES)?;
    if Sha256::digest(&lasting).as_slice() != sha256 {
        return Err("the facts differ from their checksum".to_owned());
    }
    let text = |bytes| String::from_utf8(bytes).map_err(|_| "facts that are no text".to_owned());
    let mut env: Environment = read(&text(lasting)?)?;
    let counters: Environment = read(&text(samples::decompress(counters, MOST_BYTES)?)?)?;
    env.facts.extend(counters.facts);
    Ok(env)
}

/// Reads a document. Errors say what is wrong with it.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    if json.len() > MOST_BYTES {
        return Err(format!("a document of {} bytes", json.len()));
    }
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// The fact; a number that JSON lacks becomes the word that tables print for it.
fn in_words(fact: &Fact) -> Fact {
    match &fact.value {
        Some(FactValue::Num(x)) if !x.is_finite() => {
            Fact { value: Some(FactValue::Text(x.to_string())), ..fact.clone() }
        }
        _ => fact.clone(),
    }
}

#[cfg(test)]
mod tests {
    use tenbin_core::metric::DURATION;
    use tenbin_core::plan::{Change, Plan};
    use tenbin_core::taint::TaintLevel;

    use super::*;

    // As the first release wrote them. Never to be edited: a field that is added to the vocabulary needs
    // `#[serde(default)]`, or every store in the world becomes unreadable.
    const PLAN: &str = r#"{"name":"g","question":"q","blocks":6,"margin":0.02,"seed":null,"order":"balanced",
        "rest":1.0,"hosts":{"client":{"place":{"lab":"left"},"sudo":false,"address":null,"interface":null}},
        "lab":{"link":{"rate":25000000000,"burst":8388608,"overhead":24,"wire_segments":true,"offload":false}},
        "arms":[{"name":"a","set":{"mtu":1500,"offload":null,"congestion":"reno","env":{"A":"b"},"link":null},
        "before":[],"after":[],"change":"free","hosts":{},"params":{}},{"name":"b","set":{"mtu":9000,
        "offload":null,"congestion":null,"env":{},"link":{"rate":10000000000,"burst":null,"overhead":null,
        "wire_segments":null,"offload":null}},"before":[{"host":null,"argv":["sh","-c","true"]}],"after":[],
        "change":{"seconds":120.0},"hosts":{},"params":{}}],"measures":[{"engine":"null","name":null,
        "from":"client","to":null,"params":{"fail":false,"time":0.0,"value":1.0}}],"text":"question = 1"}"#;
    const RUN: &str = r#"{"source":"null on client","tool":"tenbin","tool_version":"0.1.0","benchmark":"null",
        "series":[],"facts":{"path.from.host":{"value":"client","source":"plan","class":"state"}},"caveats":
        [{"kind":"interval","text":"t"}],"taint":{"level":"suspect","reasons":["r"]}}"#;
    const SERIES: &str = r#"{"name":"duration","unit":"s","better":"lower","params":{"n":1,"x":0.5,"w":"a"},
        "headline":"total","samples":[],"reported":{"mean":1.5},"reported_in_words":{"max":"inf"}}"#;
    const FACTS: &str = r#"{"cpu.model":{"value":"x","source":"s","class":"identity"},
        "net.eth0.mtu":{"value":1500,"unit":"byte","source":"s","class":"state"},
        "a":{"absent":true,"source":"s","class":"state"},"e":{"error":"why","source":"s","class":"counter"}}"#;

    #[test]
    fn what_the_first_release_wrote_is_read() {
        let plan: Plan = read(PLAN).unwrap();
        assert_eq!((plan.arms.len(), plan.arms[1].change), (2, Change::Seconds(120.0)));
        let run: Run = read(RUN).unwrap();
        assert_eq!((run.caveats.len(), run.taint.level), (1, TaintLevel::Suspect));
        let series = read_series(SERIES).unwrap();
        assert_eq!((series.metric, series.reported["max"]), (DURATION, f64::INFINITY));
        let env: Environment = read(FACTS).unwrap();
        assert_eq!((env.number("net.eth0.mtu"), env.facts["a"].absent), (Some(1500.0), true));
    }
}
