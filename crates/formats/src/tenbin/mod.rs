//! tenbin's own documents: what `tenbin show --json` and `tenbin import --json` print, `tenbin.run/1`.
//!
//! A run comes back as it was, with the tool that measured it. What a document lacks comes back lacking: the units and
//! sources of its facts. `computed` is not read, it follows from the samples.

use std::io::{BufRead, Read};

use serde_json::Value;

use crate::{Format, ParseError, RunSink};

mod read;

/// The format.
pub struct Tenbin;

/// The longest document that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// What a document says of itself.
const SCHEMA: &str = "tenbin.run/1";

impl Format for Tenbin {
    fn name(&self) -> &'static str {
        "tenbin"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let head = head.trim_start_matches('\u{feff}').trim_start();
        // The keys of a document are in the order of the alphabet or of the program: the schema may be far behind.
        let named = |rest: &str| {
            rest.trim_start().strip_prefix(':').is_some_and(|rest| {
                rest.trim_start().strip_prefix('"').is_some_and(|rest| rest.starts_with(SCHEMA))
            })
        };
        let schema =
            head.match_indices("\"schema\"").any(|(at, key)| head.get(at + key.len()..).is_some_and(named));
        let runs = ["\"runs\"", "\"metric\"", "\"samples\"", "\"tool\""];
        head.starts_with('{') && (schema || runs.iter().all(|key| head.contains(key)))
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut bytes = Vec::new();
        input.take(LONGEST).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut said = None;
        let mut any = false;
        // Several documents may follow each other.
        let documents =
            serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter::<Value>();
        for document in documents {
            let document = match document {
                Ok(document) => document,
                Err(error) => {
                    said.get_or_insert_with(|| format!("the document is broken or ends early: {error}"));
                    break;
                }
            };
            for entry in document.get("runs").and_then(Value::as_array).into_iter().flatten() {
                if let Some(run) = read::run(entry) {
                    any = true;
                    out.run(run);
                }
            }
            let errors = document.get("errors").and_then(Value::as_array);
            let error = errors.and_then(|errors| errors.first()?.get("text")?.as_str());
            said = said.or(error.map(str::to_owned));
        }
        if any {
            return Ok(());
        }
        let said = said.unwrap_or_else(|| "the document holds no run".to_owned());
        Err(ParseError::NothingMeasured { tool: "tenbin", said })
    }
}

#[cfg(test)]
mod tests;
