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
    let Run { source, tool, tool_version, benchmark, series: _, facts, hosts: _, caveats, taint } = run;
    serde_json::to_string(&Run {
        source: source.clone(),
        tool: tool.clone(),
        tool_version: tool_version.clone(),
        benchmark: benchmark.clone(),
        series: Vec::new(),
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
