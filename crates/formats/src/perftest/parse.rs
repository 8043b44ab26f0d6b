//! Finds perftest's tables in a log.

use std::io::BufRead;

use super::columns::{self, Column};
use super::table::Table;
use super::{banner, json};
use crate::clean::{Line, Lines};
use crate::{ParseError, RunSink};

/// Reads every table of a log.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut log =
        Log { out, table: Table::default(), listed: None, json: None, command: None, said: None, any: false };
    while let Some(line) = lines.next()? {
        log.line(line);
    }
    log.end();
    if log.any {
        return Ok(());
    }
    let said = log.said.unwrap_or_else(|| "the log ends before the first row".to_owned());
    Err(ParseError::NothingMeasured { tool: "perftest", said })
}

/// A line without the marks that people put in front: `#> `, `| `.
pub fn bare(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = text.strip_prefix("#>").or_else(|| text.strip_prefix(['>', '|'])) {
        text = rest.trim_start();
    }
    text
}

struct Log<'a> {
    out: &'a mut dyn RunSink,
    table: Table,
    /// Single latencies as they are listed with -U or -H.
    listed: Option<Vec<f64>>,
    /// The row of a JSON document.
    json: Option<Vec<(Column, f64)>>,
    /// The program that was started last, while no table has come of it.
    command: Option<String>,
    said: Option<String>,
    any: bool,
}

impl Log<'_> {
    fn line(&mut self, line: Line<'_>) {
        if json::is_opening(line.text) || self.json.is_some() {
            self.json_line(&line);
            return;
        }
        let text = bare(line.text);
        if self.listed(text, line.whole) {
            return;
        }
        if let Some(columns) = columns::read(text) {
            // The head is printed again behind a list of single latencies.
            if !self.table.rows.is_empty() {
                self.end();
            }
            self.table.columns = Some(columns);
            let command = self.command.take();
            self.table.test = self.table.test.take().or(command);
        } else if let Some(columns) = &self.table.columns
            && let Some(row) = columns::row(text, columns, line.whole)
        {
            if let Some(samples) = self.listed.take() {
                self.table.samples.push((self.table.rows.len(), samples));
            }
            self.table.rows.push(row);
        } else if self.table.columns.as_ref().is_some_and(|columns| columns::ran_over(text, columns)) {
            let text = format!("a row with numbers below zero is none: {text}");
            self.table.error.get_or_insert(text);
        } else if let Some((test, bidirectional)) = banner::test(text) {
            if self.table.begun() {
                self.end();
            }
            (self.table.test, self.table.bidirectional) = (Some(test), bidirectional);
        } else if let Some(program) = banner::command(text) {
            if !self.table.rows.is_empty() {
                self.end();
            }
            self.command = Some(program.to_owned());
        } else if text.starts_with("Conflicting CPU frequency values detected") {
            self.table.clock.get_or_insert_with(|| text.to_owned());
        } else if banner::is_error(text) {
            self.table.error.get_or_insert_with(|| text.to_owned());
        } else {
            let settings = banner::settings(text);
            // The banner above this one is another test's.
            if settings.first().is_some_and(|(name, _)| *name == "dual_port") && !self.table.rows.is_empty() {
                self.end();
            }
            self.table.settings.extend(settings);
        }
    }

    /// Whether `text` belongs to a list of single latencies: `#, usec`, `1, 1.23`.
    fn listed(&mut self, text: &str, whole: bool) -> bool {
        if text == "#, usec" {
            // With both -U and -H the list comes twice, sorted the second time.
            if self.listed.is_none() {
                self.listed = Some(Vec::new());
            }
            return true;
        }
        let Some(samples) = &mut self.listed else { return false };
        let Some((number, micros)) = text.split_once(", ") else { return false };
        let Ok(number) = number.parse::<usize>() else { return false };
        if let Some(micros) = columns::number(micros).filter(|_| whole && number == samples.len() + 1) {
            samples.push(micros / 1e6);
        }
        true
    }

    fn json_line(&mut self, line: &Line<'_>) {
        if self.json.is_some() && line.text.contains("\"test_info\"") {
            self.end();
        }
        let mut row = self.json.take().unwrap_or_default();
        // A number in the last line may be cut.
        if line.whole || line.text.ends_with('}') {
            json::take(line.text, &mut self.table, &mut row);
        }
        self.json = Some(row);
    }

    fn end(&mut self) {
        if let Some(mut row) = self.json.take() {
            json::end_row(&mut self.table, &mut row);
        }
        self.listed = None;
        let table = std::mem::take(&mut self.table);
        self.said = self.said.take().or_else(|| table.error.clone());
        if let Some(run) = table.run() {
            self.any = true;
            self.out.run(run);
        }
    }
}
