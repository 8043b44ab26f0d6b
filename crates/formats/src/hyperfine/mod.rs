//! hyperfine: its JSON with every run of every command, the text on the terminal, and the tables of its CSV and
//! Markdown exports, which hold figures only. Each command is a run.

use std::io::BufRead;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{Better, CPU_TIME, DURATION, Metric};
use tenbin_core::sample::{Param, Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use crate::clean::Lines;
use crate::sheet::Sheet;
use crate::{Format, ParseError, RunSink};

mod json;
mod table;
mod text;

/// The format.
pub struct Hyperfine;

/// The most memory a command held at once.
const PEAK_MEMORY: Metric = Metric::new("peak_memory", Unit::Byte, Better::Lower);

impl Format for Hyperfine {
    fn name(&self) -> &'static str {
        "hyperfine"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        if json::is_hyperfine(&String::from_utf8_lossy(head)) {
            return true;
        }
        let mut head = head;
        let mut lines = Lines::new(&mut head);
        while let Ok(Some(line)) = lines.next() {
            if text::is_hyperfine(line.text) || table::columns(line.text).is_some() {
                return true;
            }
        }
        false
    }

    fn opens(&self, line: &str) -> bool {
        line.strip_prefix("Benchmark ").is_some_and(|rest| {
            let number = rest.trim_start_matches('#').split_once(": ").map_or("", |(number, _)| number);
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut lines = Lines::new(input);
        let mut commands = Commands { out, any: false };
        let mut document = String::new();
        let mut text = text::Reader::default();
        let mut table = table::Reader::default();
        while let Some(line) = lines.next()? {
            // A document goes on to its end; a terminal session may stand before it.
            if !document.is_empty() || line.text.trim_start().starts_with('{') {
                document.push_str(line.text);
                document.push('\n');
                if document.len() > json::LONGEST {
                    break;
                }
                continue;
            }
            if !table.line(line, &mut commands) {
                text.line(line, &mut commands);
            }
        }
        text.end(&mut commands);
        let said = json::read(&document, &mut commands);
        if commands.any {
            return Ok(());
        }
        Err(ParseError::NothingMeasured {
            tool: "hyperfine",
            said: said.or(text.said).unwrap_or_else(nothing),
        })
    }
}

fn nothing() -> String {
    "the log ends before the first result".to_owned()
}

/// Where the commands go.
struct Commands<'a> {
    out: &'a mut dyn RunSink,
    any: bool,
}

/// What is known of a command. Times in seconds.
#[derive(Default)]
struct Command {
    name: String,
    params: Params,
    times: Vec<f64>,
    /// `mean`, `sd` and so on.
    figures: Vec<(&'static str, f64)>,
    user: Option<f64>,
    system: Option<f64>,
    memory: Vec<f64>,
    /// What hyperfine warns of, and commands that failed.
    errors: Vec<String>,
    notes: Vec<String>,
}

impl Commands<'_> {
    fn take(&mut self, command: Command) {
        let mut sheet = Sheet::new("hyperfine");
        let params = &command.params;
        sheet.run.benchmark = Some(command.name.clone());
        sheet.fact("hyperfine.command", command.name.as_str());
        let mean = command.figures.iter().find(|(name, _)| *name == "mean").map(|(_, mean)| *mean);
        if command.times.is_empty() {
            let Some(mean) = mean else { return };
            sheet.headline(&DURATION, params, Reduce::Median, mean);
            sheet.caveat(CaveatKind::SummaryOnly, "only figures over all runs of the command were printed");
        }
        let series = sheet.series(&DURATION, params);
        series.headline = Some(Reduce::Median);
        series.samples.extend(command.times.iter().map(|seconds| Sample::of(*seconds)));
        series.reported.extend(command.figures.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        for (part, seconds) in [("user", command.user), ("system", command.system)] {
            if let Some(seconds) = seconds {
                let mut params = params.clone();
                params.insert("part".to_owned(), Param::from(part));
                sheet.printed(&CPU_TIME, &params, seconds);
            }
        }
        if !command.memory.is_empty() {
            let series = sheet.series(&PEAK_MEMORY, params);
            series.samples.extend(command.memory.iter().map(|bytes| Sample::of(*bytes)));
        }
        for text in command.errors {
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        for text in command.notes {
            sheet.caveat(CaveatKind::Note, text);
        }
        if let Some(run) = sheet.finish() {
            self.any = true;
            self.out.run(run);
        }
    }
}

/// A parameter's value: a number where it is one and is written as numbers are.
fn param(text: &str) -> Param {
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return Param::Int(whole);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.to_string() == text => Param::Num(number),
        _ => Param::from(text),
    }
}

#[cfg(test)]
mod tests;
