//! Finds qperf's blocks in a log.

use std::collections::BTreeMap;
use std::io::BufRead;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::Fact;
use tenbin_core::run::Run;

use super::block::Block;
use super::value::{self, Value};
use crate::clean::Lines;
use crate::{ParseError, RunSink};

/// Transports and what is measured over them, as they make up a test's name.
const TRANSPORTS: [&str; 10] = ["tcp", "udp", "sctp", "sdp", "rds", "rc", "uc", "ud", "xrc", "ver_rc"];
const MEASURES: [&str; 12] = [
    "bw",
    "lat",
    "bi_bw",
    "rdma_read_bw",
    "rdma_read_lat",
    "rdma_write_bw",
    "rdma_write_lat",
    "rdma_write_poll_lat",
    "compare_swap_mr",
    "fetch_add_mr",
    "compare_swap",
    "fetch_add",
];

/// How the lines begin by which qperf says that a test went wrong.
const FAILURES: [&str; 14] = [
    "failed to ",
    "Failed to ",
    "unable to ",
    "server: ",
    "remote: ",
    "socket failed",
    "connect failed",
    "accept failed",
    "bind ",
    "getaddrinfo failed",
    "rdma_",
    "CQ poll failed",
    "query ",
    "malloc failed",
];

/// Reads every block of a log.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut found = Found::default();
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let (test, rest) = title(text).map_or((None, text), |(test, rest)| (Some(test), rest));
        if let Some(test) = test {
            found.end();
            found.block = Some(Block::new(test));
        }
        let last = !line.whole;
        for pair in pairs(rest) {
            found.pair(&pair, last);
        }
        if is_failure(rest) {
            found.failed(rest);
        }
    }
    found.end();
    let Found { runs, mut said, conf, .. } = found;
    if runs.is_empty() {
        let said = said.take().unwrap_or_else(|| "the log ends before the first figure".to_owned());
        return Err(ParseError::NothingMeasured { tool: "qperf", said });
    }
    for mut run in runs {
        // What both ends are holds for every test of the log.
        for (key, fact) in &conf {
            run.facts.entry(key.clone()).or_insert_with(|| fact.clone());
        }
        let version = run.facts.get("qperf.loc_qperf").and_then(|fact| fact.value.as_ref());
        run.tool_version = version.map(ToString::to_string);
        out.run(run);
    }
    Ok(())
}

#[derive(Default)]
struct Found {
    runs: Vec<Run>,
    block: Option<Block>,
    /// The first of each: further blocks repeat them.
    conf: BTreeMap<String, Fact>,
    said: Option<String>,
}

impl Found {
    fn pair(&mut self, pair: &Pair<'_>, last: bool) {
        let Some(block) = &mut self.block else { return };
        if is_conf(pair.key) {
            block.describe(pair.key, pair.words.join(" "));
            return;
        }
        let unit = value::unit_words(&pair.words);
        let number = pair.number;
        let end = unit.min(pair.words.len());
        let (unit, behind) = pair.words.split_at(end);
        // A plain number may have lost its end with the log's.
        if last && unit.is_empty() {
            return;
        }
        if let Some(value) = value::read(&format!("{number} {}", unit.join(" "))) {
            // A unit that is not known, or cut: no count.
            if value.kind == value::Kind::Count && !behind.is_empty() {
                return;
            }
            block.value(pair.key, value);
            if !behind.is_empty() {
                block.foreign(&behind.join(" "));
            }
        }
    }

    fn failed(&mut self, text: &str) {
        self.said.get_or_insert_with(|| text.to_owned());
        if let Some(block) = &mut self.block {
            block.failed(text);
        }
    }

    /// The block is over.
    fn end(&mut self) {
        let Some(block) = self.block.take() else { return };
        let (test, failure) = (block.test.clone(), block.failure.clone());
        if test == "conf" {
            for (key, fact) in block.facts() {
                self.conf.entry(key).or_insert(fact);
            }
            return;
        }
        if let Some(run) = block.run() {
            self.runs.push(run);
        } else if let Some(run) = self.runs.last_mut() {
            let why = failure.unwrap_or_else(|| "the log has no figure of it".to_owned());
            run.caveats.push(Caveat::new(
                CaveatKind::NotMeasured,
                format!("the next test, {test}, measured nothing: {why}"),
            ));
        }
    }
}

/// The test whose name and colon begin a line, and the rest of it.
pub fn title(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let known = name == "conf"
        || TRANSPORTS.iter().any(|transport| {
            let measure = name.strip_prefix(transport).and_then(|rest| rest.strip_prefix('_'));
            measure.is_some_and(|measure| MEASURES.contains(&measure))
        });
    known.then_some((name, rest.trim()))
}

/// Whether a line is one of qperf's figures.
pub fn is_value(text: &str) -> bool {
    pairs(text).iter().any(|pair| {
        is_conf(pair.key) || {
            let unit = value::unit_words(&pair.words);
            let read =
                value::read(&format!("{} {}", pair.number, pair.words.get(..unit).unwrap_or(&[]).join(" ")));
            read.is_some_and(|value: Value| value.kind != value::Kind::Count)
        }
    })
}

/// Whether a line says that a test went wrong.
pub fn is_failure(text: &str) -> bool {
    FAILURES.iter().any(|words| text.starts_with(words)) && !text.contains(" = ")
}

fn is_conf(key: &str) -> bool {
    let what = key.strip_prefix("loc_").or_else(|| key.strip_prefix("rem_"));
    matches!(what, Some("node" | "cpu" | "os" | "qperf"))
}

/// `key = number words`.
struct Pair<'a> {
    key: &'a str,
    number: &'a str,
    words: Vec<&'a str>,
}

/// Every `key = value` of a line: columns may have lost their lines.
fn pairs(text: &str) -> Vec<Pair<'_>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let signs: Vec<usize> = (1..words.len()).filter(|at| words.get(*at) == Some(&"=")).collect();
    let mut found = Vec::new();
    for (nth, sign) in signs.iter().enumerate() {
        let end = signs.get(nth + 1).map_or(words.len(), |next| next - 1);
        let (Some(key), Some(value)) = (words.get(sign - 1), words.get(sign + 1..end)) else { continue };
        if let Some((number, rest)) = value.split_first() {
            // Conf's values are words; others begin with a number.
            let words = if is_conf(key) { value.to_vec() } else { rest.to_vec() };
            found.push(Pair { key, number, words });
        }
    }
    found
}
