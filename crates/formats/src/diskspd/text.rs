//! The text of DiskSpd's results: tables of threads with a total below, and a table of percentiles.

use std::collections::VecDeque;

use super::outcome::{Direction, Outcome, Target, figure};
use crate::crystaldiskmark::number::{block, decimal};

/// Whether only DiskSpd writes such a line.
pub(super) fn is_diskspd(line: &str) -> bool {
    let text = line.trim();
    let table = text.starts_with("thread |") && text.contains("I/O per s");
    table || text.strip_prefix("Results for timespan ").is_some_and(|rest| rest.ends_with(':'))
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Total,
    Read,
    Write,
}

struct Reader {
    command: Option<String>,
    asked: VecDeque<Vec<Target>>,
    /// The timespan being read.
    current: Option<Outcome>,
    part: Option<Part>,
    /// The tables of the current timespan.
    parts: Vec<Part>,
    columns: Vec<String>,
    percentiles: bool,
    done: Vec<Outcome>,
}

/// Every timespan of `log`.
pub(super) fn read(log: &str) -> Vec<Outcome> {
    let mut reader = Reader {
        command: None,
        asked: VecDeque::new(),
        current: None,
        part: None,
        parts: Vec::new(),
        columns: Vec::new(),
        percentiles: false,
        done: Vec::new(),
    };
    for line in log.split_inclusive('\n') {
        reader.line(line.trim(), line.ends_with('\n'));
    }
    reader.finish();
    reader.done
}

impl Reader {
    fn line(&mut self, text: &str, whole: bool) {
        if let Some(command) = text.strip_prefix("Command Line:") {
            self.finish();
            self.asked.clear();
            self.command = Some(command.trim().to_owned());
        } else if text.starts_with("Results for timespan ") {
            self.finish();
            self.current = Some(Outcome::default());
        } else if text.starts_with("timespan:") {
            self.asked.push_back(Vec::new());
        } else if text.starts_with("path: ") {
            if self.asked.is_empty() {
                self.asked.push_back(Vec::new());
            }
            if let Some(targets) = self.asked.back_mut() {
                targets.push(Target::default());
            }
        } else if let Some(part) = part(text) {
            if self.parts.contains(&part) {
                // The next result, copied without what stood before its tables.
                self.finish();
            }
            self.parts.push(part);
            (self.part, self.percentiles) = (Some(part), false);
        } else if text.starts_with("thread |") {
            self.columns = text.split('|').map(|name| name.trim().to_owned()).collect();
            // A table that lost what stood before it.
            self.current.get_or_insert_default();
        } else if text.starts_with("%-ile |") {
            self.percentiles = true;
        } else if self.current.is_some() {
            self.result(text, whole);
        } else {
            self.asked_for(text);
        }
    }

    fn asked_for(&mut self, text: &str) {
        let Some(target) = self.asked.back_mut().and_then(|targets| targets.last_mut()) else { return };
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number > 0);
        if let Some(size) = text.strip_prefix("block size: ") {
            let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = size.get(digits.len()..).filter(|unit| !unit.is_empty()).unwrap_or("B");
            target.block = block(digits.trim(), unit);
        } else if text.starts_with("number of outstanding I/O operations") {
            target.queue = text.rsplit(':').next().and_then(number);
        } else if let Some(threads) = text.strip_prefix("threads per file: ") {
            target.threads = number(threads);
        } else if text.starts_with("using random I/O") {
            target.pattern = Some("rand");
        } else if text.starts_with("using sequential I/O")
            || text.starts_with("using interlocked sequential I/O")
        {
            target.pattern = Some("seq");
        }
    }

    fn result(&mut self, text: &str, whole: bool) {
        let Some(outcome) = &mut self.current else { return };
        if let Some(rest) = text.strip_prefix("total:") {
            let direction = match self.part {
                Some(Part::Read) => &mut outcome.read,
                Some(Part::Write) => &mut outcome.write,
                // Both together.
                _ => return,
            };
            let mut cells: Vec<&str> = rest.split('|').map(str::trim).collect();
            if !whole {
                cells.pop();
            }
            // The first column is the thread's, here `total:`.
            for (name, cell) in self.columns.iter().skip(1).zip(cells) {
                outcome.binary |= name == "MB/s";
                column(direction, name, cell);
            }
        } else if let Some(rest) = text.strip_prefix("actual test time:") {
            outcome.seconds = decimal(rest.trim().trim_end_matches('s'), 0);
        } else if let Some(rest) = text.strip_prefix("avg.|") {
            outcome.cpu = rest.split('%').next().and_then(|share| decimal(share, -2));
        } else if self.percentiles && whole {
            let mut cells = text.split('|');
            let Some(name) = cells.next().and_then(figure) else { return };
            for (direction, cell) in [&mut outcome.read, &mut outcome.write].into_iter().zip(cells) {
                direction.figures.extend(decimal(cell, -3).map(|value| (name.clone(), value)));
            }
        }
    }

    fn finish(&mut self) {
        let Some(mut outcome) = self.current.take() else { return };
        outcome.command.clone_from(&self.command);
        outcome.targets = self.asked.pop_front().unwrap_or_default();
        // The writes are the last table.
        outcome.cut = outcome.write.iops.is_none();
        self.part = None;
        self.parts.clear();
        self.percentiles = false;
        self.done.push(outcome);
    }
}

fn part(text: &str) -> Option<Part> {
    match text {
        "Total IO" => Some(Part::Total),
        "Read IO" => Some(Part::Read),
        "Write IO" => Some(Part::Write),
        _ => None,
    }
}

fn column(direction: &mut Direction, name: &str, cell: &str) {
    match name {
        "MiB/s" | "MB/s" => direction.bytes_per_second = decimal(cell, 0).map(|rate| rate * 1_048_576.0),
        "I/O per s" => direction.iops = decimal(cell, 0),
        "AvgLat" => direction.mean = decimal(cell, -3),
        "LatStdDev" => direction.sd = decimal(cell, -3),
        _ => {}
    }
}
