//! The document of `--export-json`.

use serde_json::{Map, Value};

use super::{Command, Commands, param};

/// The longest document that is read, in bytes.
pub const LONGEST: usize = 256 * 1024 * 1024;

/// Whether a document that begins so is hyperfine's. The beginning may end in the middle of it.
pub fn is_hyperfine(head: &str) -> bool {
    let Some((_, document)) = head.split_once('{') else { return false };
    let Some(rest) = document.trim_start().strip_prefix("\"results\"") else { return false };
    rest.contains("\"command\"") && ["\"mean\"", "\"times\""].iter().any(|key| rest.contains(key))
}

/// Reads every result; the reason if the document can't be read.
pub fn read(text: &str, commands: &mut Commands<'_>) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    // Several documents may follow each other.
    let mut said = None;
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match document {
            Ok(document) => {
                let results = document.get("results").and_then(Value::as_array);
                for result in results.into_iter().flatten().filter_map(Value::as_object) {
                    commands.take(command(result));
                }
            }
            Err(error) => {
                said = Some(format!("the JSON ends early or is broken: {error}"));
                break;
            }
        }
    }
    said
}

fn command(result: &Map<String, Value>) -> Command {
    let number = |key: &str| result.get(key).and_then(Value::as_f64).filter(|value| value.is_finite());
    let numbers = |key: &str| {
        let all = result.get(key).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_f64).collect::<Vec<f64>>()
    };
    let names = [("mean", "mean"), ("stddev", "sd"), ("median", "median"), ("min", "min"), ("max", "max")];
    let mut command = Command {
        name: result.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
        times: numbers("times"),
        figures: names.iter().filter_map(|(key, name)| Some((*name, number(key)?))).collect(),
        user: number("user"),
        system: number("system"),
        memory: numbers("memory_usage_byte"),
        ..Command::default()
    };
    if let Some(parameters) = result.get("parameters").and_then(Value::as_object) {
        let values =
            parameters.iter().filter_map(|(name, value)| Some((name.clone(), param(value.as_str()?))));
        command.params = values.collect();
    }
    // A signal leaves no exit code.
    let codes = result.get("exit_codes").and_then(Value::as_array);
    let codes: Vec<&Value> = codes.into_iter().flatten().filter(|code| code.as_i64() != Some(0)).collect();
    if let Some(first) = codes.first() {
        let first = if first.is_null() { "a signal".to_owned() } else { format!("exit code {first}") };
        command.errors.push(format!("{} runs of the command failed, the first with {first}", codes.len()));
    }
    command
}
