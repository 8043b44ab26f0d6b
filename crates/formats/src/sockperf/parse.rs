//! Puts sockperf's lines together to runs.

use std::io::BufRead;

use super::line::{self, Line};
use super::reading::Reading;
use crate::clean::Lines;
use crate::{ParseError, RunSink};

/// Reads every run of a log.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let mut reading = Reading::default();
    let mut said = None;
    let mut any = false;
    let mut finish = |reading: &mut Reading| {
        let reading = std::mem::take(reading);
        said = said.take().or_else(|| reading.error.clone());
        if let Some(run) = reading.run() {
            any = true;
            out.run(run);
        }
    };
    while let Some(read) = lines.next()? {
        if reading.in_samples {
            // A cut row may have lost digits of its last number, which has three.
            let whole = read.whole || read.text.rsplit('.').next().is_some_and(|digits| digits.len() == 3);
            match line::sample(read.text) {
                Some((at, seconds)) if whole => {
                    reading.sample(at, seconds);
                    continue;
                }
                Some(_) => continue,
                None => reading.in_samples = false,
            }
        }
        let Some(line) = line::read(read.text) else { continue };
        if !read.whole && !complete(read.text, &line) {
            continue;
        }
        if reading.ends_before(&line) {
            finish(&mut reading);
        }
        reading.take(line);
    }
    finish(&mut reading);
    if any {
        return Ok(());
    }
    let said = said.unwrap_or_else(|| "the log ends before the statistics".to_owned());
    Err(ParseError::NothingMeasured { tool: "sockperf", said })
}

/// Whether a line without an end is whole beyond doubt.
fn complete(text: &str, line: &Line) -> bool {
    match line {
        Line::Percentile(..) | Line::Extreme(_) => {
            text.rsplit('.').next().is_some_and(|digits| digits.len() == 3)
        }
        Line::Summary { .. } | Line::Version(_) | Line::Error(_) => true,
        _ => text.ends_with([')', ']']),
    }
}
