//! iperf3's figures: its text, its JSON document, and the series they become.
//!
//! [`model`] holds what iperf3 says about a test, [`series`] turns it into series, [`text`] and [`json`] print it as
//! iperf3 3.12 does. Used by the importer, by the engine that speaks iperf3's protocol and by the verb that prints
//! like it, so that a figure has one meaning.

use std::fmt;
use std::io::BufRead;

use read_json::Collector;
use reading::Reading;
use split::Splitter;
use tenbin_core::run::Run;

use crate::clean::Lines;
use crate::{Format, ParseError, RunSink, View};

mod flat;
pub mod json;
pub mod model;
mod read_json;
mod read_text;
mod reading;
mod rebuild;
pub mod series;
mod split;
#[cfg(test)]
mod tests;
pub mod text;
mod wrapped;

/// The format, and the view as text.
pub struct Iperf3;

/// The view as the document of `--json`.
pub struct Iperf3Json;

impl View for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        let Some(test) = rebuild::test(run) else { return Ok(()) };
        text::test(&test, text::Style::default(), out)?;
        match &test.error {
            Some(error) => writeln!(out, "iperf3: {error}"),
            None => Ok(()),
        }
    }
}

impl View for Iperf3Json {
    fn name(&self) -> &'static str {
        "iperf3-json"
    }

    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result {
        let Some(test) = rebuild::test(run) else { return Ok(()) };
        let text = serde_json::to_string_pretty(&json::document(&test)).map_err(|_| fmt::Error)?;
        writeln!(out, "{text}")
    }
}

impl Format for Iperf3 {
    fn name(&self) -> &'static str {
        "iperf3"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        !crate::iperf2::is_iperf2(&head) && (read_json::is_iperf3(&head) || read_text::is_iperf3(&head))
    }

    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
        let mut lines = Lines::new(input);
        // What the log is made of shows in its head.
        let mut head = Vec::new();
        let mut length = 0;
        let mut text = String::new();
        while length < crate::HEAD
            && let Some(line) = lines.next()?
        {
            length += line.text.len() + 1;
            head.push((line.text.to_owned(), line.whole));
            text.push_str(line.text);
            text.push('\n');
        }
        let mut found = Found { out, any: false, said: None };
        if read_json::is_iperf3(&text) {
            let (mut splitter, mut collector) = (Splitter::default(), Collector::default());
            for (line, whole) in head {
                splitter.line(&line, whole, &mut collector);
            }
            while let Some(line) = lines.next()? {
                splitter.line(line.text, line.whole, &mut collector);
            }
            splitter.finish(&mut collector);
            found.take(collector.finish());
        } else {
            let mut reader = read_text::Reader::default();
            for (line, whole) in head {
                reader.line(if whole { &line } else { read_text::without_half_number(&line) });
            }
            while let Some(line) = lines.next()? {
                reader.line(if line.whole { line.text } else { read_text::without_half_number(line.text) });
                found.take(reader.tests.drain(..));
            }
            reader.finish();
            found.take(reader.tests.drain(..));
        }
        let Found { any, said, .. } = found;
        if any {
            return Ok(());
        }
        let said = said.unwrap_or_else(|| "the log ends before the first figure".to_owned());
        Err(ParseError::NothingMeasured { tool: "iperf3", said })
    }
}

/// Hands tests on as runs.
struct Found<'a> {
    out: &'a mut dyn RunSink,
    any: bool,
    said: Option<String>,
}

impl Found<'_> {
    fn take(&mut self, readings: impl IntoIterator<Item = Reading>) {
        for reading in readings {
            if self.said.is_none() {
                self.said.clone_from(&reading.test.error);
            }
            if let Some(run) = reading.run() {
                self.any = true;
                self.out.run(run);
            }
        }
    }
}
