//! Lines into runs.

use std::io::BufRead;

use tenbin_core::run::Run;

use super::block::Block;
use super::json::{self, Told};
use super::line::{self, Line, Total};
use super::netdata::Charts;
use crate::clean::Lines;
use crate::{ParseError, RunSink};

/// Reads all of `input`.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut log = Log {
        out,
        current: Block::default(),
        period: None,
        periods: 0,
        waiting: None,
        any: false,
        said: None,
    };
    let mut lines = Lines::new(input);
    let mut charts = Charts::default();
    while let Some(read) = lines.next()? {
        let (text, whole) = (read.text.trim(), read.whole);
        if let Some(all) = json::read(text) {
            all.into_iter().for_each(|told| log.told(told));
        } else if let Some((target, total)) = charts.ended(Some(text)) {
            log.total_of_period(&target, total);
            charts.take(text);
        } else if !whole || !charts.take(text) {
            log.line(line::read(text, whole), text, whole);
        }
    }
    if let Some((target, total)) = charts.ended(None) {
        log.total_of_period(&target, total);
    }
    log.end_of_period();
    log.end_of_run();
    log.emit_waiting();
    if log.any {
        return Ok(());
    }
    let said = log.said.unwrap_or_else(|| "no reply and no totals".to_owned());
    Err(ParseError::NothingMeasured { tool: "fping", said })
}

/// A log while it is read.
struct Log<'a> {
    out: &'a mut dyn RunSink,
    /// Replies and the totals that end them.
    current: Block,
    /// Totals of a period while they are listed.
    period: Option<Block>,
    /// Periods since the last totals.
    periods: u64,
    /// A run of totals only: its replies may follow.
    waiting: Option<Block>,
    any: bool,
    said: Option<String>,
}

impl Log<'_> {
    fn line(&mut self, line: Option<Line<'_>>, text: &str, whole: bool) {
        match line {
            Some(Line::Reply { target, seconds, bytes, at }) => self.reply(target, seconds, bytes, at),
            Some(Line::Duplicate(target)) => self.current.duplicate(target),
            Some(Line::Total(target, total)) => self.total(target, total),
            Some(Line::Times(target, times)) => {
                if self.current.has_total_of(target) || self.current.has_overall() {
                    self.end_of_run();
                }
                self.current.times(target, times);
            }
            Some(Line::Period(clock)) => self.begin_period(clock),
            Some(Line::Alive(target, Some(seconds))) => {
                self.reply(target, seconds, None, None);
                self.current.is_list = true;
            }
            Some(Line::Alive(_, None) | Line::Dead) => _ = self.said.get_or_insert_with(|| text.to_owned()),
            Some(Line::Overall(figure)) => {
                self.end_of_period();
                self.current.overall(figure);
            }
            Some(Line::Refusal) => {
                self.said.get_or_insert_with(|| text.to_owned());
                self.current.refuse(text);
            }
            Some(Line::Silence | Line::Noise) => {}
            None if whole && self.current.has_begun() && !self.current.has_totals() => {
                self.current.foreign(text);
            }
            None => {}
        }
    }

    fn told(&mut self, told: Told) {
        match told {
            Told::Reply(target, seconds, bytes) => self.reply(&target, seconds, bytes, None),
            Told::Silence => {}
            Told::Total(target, total) => {
                self.end_of_period();
                self.total(&target, total);
            }
            Told::Times(target, times) => self.line(Some(Line::Times(&target, times)), "", true),
            Told::Period(time, target, total) => {
                if self.period.as_ref().is_none_or(|block| block.period.as_ref() != Some(&time)) {
                    self.begin_period(&time);
                }
                self.total(&target, total);
            }
            Told::Overall(figure) => self.line(Some(Line::Overall(figure)), "", true),
        }
    }

    fn reply(&mut self, target: &str, seconds: f64, bytes: Option<u64>, at: Option<f64>) {
        self.end_of_period();
        if self.current.has_totals() || self.current.has_overall() {
            self.end_of_run();
        }
        self.current.reply(target, seconds, bytes, at);
    }

    fn total(&mut self, target: &str, total: Total) {
        if let Some(block) = &mut self.period {
            if !block.has_total_of(target) {
                return block.total(target, total);
            }
            // All targets are there: these are the totals over all periods.
            self.end_of_period();
        }
        if self.current.has_total_of(target) || self.current.has_overall() {
            self.end_of_run();
        }
        self.current.is_grand_total = self.periods > 0;
        self.current.total(target, total);
    }

    /// Totals of a target that are told without the time at which their period ended.
    fn total_of_period(&mut self, target: &str, total: Total) {
        if self.period.as_ref().is_none_or(|block| block.has_total_of(target)) {
            self.begin_period("");
        }
        self.total(target, total);
    }

    fn begin_period(&mut self, clock: &str) {
        self.end_of_period();
        if self.current.has_totals() {
            self.end_of_run();
        }
        self.period = Some(Block::of_period(clock));
    }

    fn end_of_period(&mut self) {
        if let Some(block) = self.period.take() {
            self.emit_waiting();
            self.periods += 1;
            self.emit(block);
        }
    }

    fn end_of_run(&mut self) {
        let mut block = std::mem::take(&mut self.current);
        self.periods = 0;
        if let Some(before) = &mut self.waiting
            && before.take_replies(&mut block)
        {
            return self.emit_waiting();
        }
        self.emit_waiting();
        self.waiting = Some(block);
    }

    fn emit_waiting(&mut self) {
        if let Some(block) = self.waiting.take() {
            self.emit(block);
        }
    }

    fn emit(&mut self, block: Block) {
        match block.finish() {
            Ok(run) => self.out_run(run),
            Err(said) => self.said = self.said.take().or(said),
        }
    }

    fn out_run(&mut self, run: Run) {
        self.any = true;
        self.out.run(run);
    }
}
