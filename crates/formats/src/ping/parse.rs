//! Lines into runs.

use std::io::BufRead;

use super::line::{self, Line};
use super::log::Log;
use super::reply::{self, Reply};
use crate::clean::Lines;
use crate::{ParseError, RunSink};

/// So many pings may write into one log at a time.
const MOST_OPEN: usize = 64;

/// Reads all of `input`.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut logs =
        Logs { out, open: vec![Log::default()], current: 0, version: None, any: false, said: None };
    let mut lines = Lines::new(input);
    while let Some(read) = lines.next()? {
        if let Some(reply) = reply::fast(read.text)
            && logs.now().is_of(&reply)
        {
            logs.now().reply(&reply);
            continue;
        }
        logs.line(line::read(read.text, read.whole), read.text.trim(), read.whole);
    }
    logs.emit(logs.open.len());
    if logs.any {
        return Ok(());
    }
    let said = logs.said.unwrap_or_else(|| "no reply and no statistics".to_owned());
    Err(ParseError::NothingMeasured { tool: "ping", said })
}

/// Logs while they are read. Several pings may write into one file at a time: their lines are told apart by the host.
struct Logs<'a> {
    out: &'a mut dyn RunSink,
    /// In the order they began, never empty.
    open: Vec<Log>,
    current: usize,
    version: Option<String>,
    any: bool,
    said: Option<String>,
}

impl Logs<'_> {
    fn now(&mut self) -> &mut Log {
        &mut self.open[self.current]
    }

    fn line(&mut self, line: Option<Line<'_>>, text: &str, whole: bool) {
        match line {
            Some(Line::Header(header)) => {
                if !self.now().is_blank() {
                    self.begin();
                }
                self.now().header(header);
            }
            Some(Line::Reply(reply)) => {
                self.choose(&reply);
                self.now().reply(&reply);
            }
            Some(Line::Refusal(said)) => {
                if self.now().is_closed() {
                    self.begin();
                }
                self.now().refuse(said);
            }
            Some(Line::Statistics { windows }) => {
                let named = |log: &Log| !log.is_closed() && log.is_named_in(text);
                let other = if named(self.now()) { None } else { self.open.iter().rposition(named) };
                if let Some(at) = other {
                    self.current = at;
                } else if self.now().is_closed() {
                    self.begin();
                }
                self.now().statistics(windows);
            }
            Some(Line::Counts(counts)) if counts.certain || self.now().expects(&counts) => {
                if self.now().is_closed() {
                    self.begin();
                }
                self.now().counts(counts);
            }
            Some(Line::Spread(spread)) => {
                if self.now().has_spread() {
                    self.begin();
                }
                self.now().spread(spread);
            }
            Some(Line::Share(share)) => self.now().share(share),
            Some(Line::Part(figures)) if self.now().part(&figures, text) => {}
            Some(Line::Version(version)) => {
                self.version = Some(version.to_owned());
                let version = self.version.clone();
                if self.now().is_blank() {
                    self.now().version = version;
                }
            }
            Some(Line::Silence | Line::Noise) => {}
            Some(Line::Dump) => self.now().dump(),
            // The last line of a log that was cut is nobody's.
            Some(Line::Counts(_) | Line::Part(_)) | None if whole => self.now().foreign(text),
            Some(Line::Counts(_) | Line::Part(_)) | None => {}
        }
    }

    /// Makes the log that `reply` belongs to the current one.
    fn choose(&mut self, reply: &Reply<'_>) {
        if self.now().is_of(reply) {
            return;
        }
        if let Some(at) = self.open.iter().rposition(|log| log.is_of(reply)) {
            self.current = at;
        } else if !self.now().may_take(reply) {
            self.begin();
        }
    }

    /// Begins another log. What is complete leaves in the order it began.
    fn begin(&mut self) {
        let done = self.open.iter().position(|log| !log.is_closed()).unwrap_or(self.open.len());
        let done = if self.open.len() >= MOST_OPEN { done.max(1) } else { done };
        self.emit(done);
        let mut log = Log::default();
        log.version.clone_from(&self.version);
        self.open.push(log);
        self.current = self.open.len() - 1;
    }

    fn emit(&mut self, count: usize) {
        for log in self.open.drain(..count) {
            match log.finish() {
                Ok(run) => {
                    self.any = true;
                    self.out.run(run);
                }
                Err(said) => self.said = said.or(self.said.take()),
            }
        }
    }
}
