//! Lines into runs.

use std::io::BufRead;

use super::block::Block;
use super::row::{self, Row};
use crate::clean::Lines;
use crate::sensors::{Log, clock, is_break, is_error};
use crate::{ParseError, RunSink};

/// Reads all of `input`.
pub fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut log = Log::new("ipmitool", out);
    let mut block = Block::None;
    // After a record of `sel get` its sensor is described: that is no list.
    let mut describes = false;
    let mut cut = false;
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        let (text, whole) = (line.text, line.whole);
        if let Some(next) = Block::begin(text) {
            end(&mut block, &mut log, &mut describes);
            block = next;
            continue;
        }
        if block.take(text, whole) {
            continue;
        }
        if let Some((host, row)) = row_of(text, whole) {
            end(&mut block, &mut log, &mut describes);
            describes = false;
            match row {
                Row::Sensor(layout, sensor) => log.sensor(host, layout, sensor),
                Row::Event(layout, event) => log.event(host, layout, event),
            }
            continue;
        }
        let trimmed = text.trim();
        if trimmed.is_empty() || is_noise(trimmed) {
            continue;
        }
        let rule = trimmed.bytes().all(|byte| byte == b'-');
        if rule && (describes || matches!(block, Block::Event(_))) {
            end(&mut block, &mut log, &mut describes);
        } else if clock::is_stamp(trimmed) {
            end(&mut block, &mut log, &mut describes);
            log.stamp(trimmed);
        } else if is_break(trimmed) {
            end(&mut block, &mut log, &mut describes);
            describes = false;
            if let Some(version) = trimmed.strip_prefix("ipmitool version ") {
                log.version = version.split(' ').next().map(str::to_owned);
            }
            log.end_lists();
        } else if !whole {
            cut = true;
        } else if is_error(trimmed) {
            log.error(trimmed);
        } else {
            log.foreign(trimmed);
        }
    }
    end(&mut block, &mut log, &mut describes);
    log.finish(cut)
}

/// Ends a block: its row goes to the list.
fn end(block: &mut Block, log: &mut Log<'_>, describes: &mut bool) {
    match std::mem::take(block) {
        Block::Sensor(block) if !*describes => log.sensor("", "sensor -v", block.finish()),
        Block::Event(block) => {
            *describes = block.single;
            log.event("", "sel -v", block.finish());
        }
        Block::Power(power) => log.power("", power),
        Block::Sensor(_) | Block::None | Block::Other | Block::Facts => {}
    }
}

/// A row, and the host that pdsh or clush put before it.
pub fn row_of(text: &str, whole: bool) -> Option<(&str, Row)> {
    let prefixed = || {
        let (host, rest) = text.split_once(": ")?;
        let name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        (host.chars().all(name) && !host.is_empty()).then_some((host, rest))
    };
    match row::read(text, whole) {
        // Names have 16 characters at most; `node1: CPU1 Temp` is longer before its bar.
        Some(Row::Sensor(..)) if text.find('|').is_some_and(|at| at > 17) => {
            let fits = |rest: &str| rest.find('|').is_some_and(|at| at == 17);
            if let Some((host, rest)) = prefixed().filter(|(_, rest)| fits(rest)) {
                return Some((host, row::read(rest, whole)?));
            }
            Some(("", row::read(text, whole)?))
        }
        Some(row) => Some(("", row)),
        None => {
            let (host, rest) = prefixed()?;
            Some((host, row::read(rest, whole)?))
        }
    }
}

/// What ipmitool says beside its lists, mostly with -v.
fn is_noise(text: &str) -> bool {
    [
        "Locating sensor record",
        "Sensor Threshold Settings not available",
        "Loading IANA PEN",
        "Running Get ",
        "Invalid completion code received: Invalid command",
        "Discovered ",
        "Using ipmi device",
        "Querying SDR",
        "SDR free space",
        "Set Session Privilege Level",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}
