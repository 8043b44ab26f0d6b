//! One row of a result of CrystalDiskMark or KDiskMark, of any version:
//!
//! ```text
//!     Random Read 4KB (QD=32) :   292.501 MB/s [ 71411.4 IOPS]
//!   SEQ    1MiB (Q=  8, T= 1):   531.458 MB/s [    506.8 IOPS] < 15726.77 us>
//! ```
//!
//! Found by its label, never by its place: copies lose headers, blanks and line ends.

use super::number::{block, decimal, localised, split_last};

/// A row as printed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// `read` or `write`, where the label says so.
    pub op: Option<&'static str>,
    /// `seq` or `rand`.
    pub pattern: &'static str,
    /// Bytes of a block.
    pub block: Option<i64>,
    /// Requests in flight of each thread.
    pub queue: Option<i64>,
    /// Threads.
    pub threads: Option<i64>,
    /// The number before MB/s, times 10^6.
    pub bandwidth: f64,
    /// Requests in a second.
    pub iops: Option<f64>,
    /// Seconds.
    pub latency: Option<f64>,
    /// Number and unit of the block stand apart: KDiskMark's way.
    pub spaced: bool,
    /// The numbers have commas, which the programs don't print.
    pub comma: bool,
}

impl Row {
    /// Whether both measure the same thing.
    pub fn same_test(&self, other: &Row) -> bool {
        let key = |row: &Row| (row.op, row.pattern, row.block, row.queue, row.threads);
        key(self) == key(other)
    }
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// `[Read]`: the rows that follow are reads.
    Group(&'static str),
    /// A row.
    Row(Row),
}

/// The groups and rows in a line, mostly one; several where a copy lost its line ends.
pub(crate) fn pieces(line: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = unquoted(line);
    loop {
        if let Some((op, after)) = group(rest) {
            found.push(Piece::Group(op));
            rest = unquoted(after);
        } else if let Some((row, after)) = row(rest) {
            found.push(Piece::Row(row));
            rest = unquoted(after);
        } else {
            return found;
        }
    }
}

/// The text behind the marks of quotes, lists and tables.
pub(crate) fn unquoted(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[')
}

fn group(text: &str) -> Option<(&'static str, &str)> {
    let (name, after) = text.strip_prefix('[')?.split_once(']')?;
    let name = name.trim();
    let op = if name.eq_ignore_ascii_case("mix") || name.eq_ignore_ascii_case("mixed") {
        "mixed"
    } else {
        word_of_op(&name.to_lowercase())?
    };
    if op != "mixed" {
        return Some((op, after));
    }
    // `Read 70%/Write 30%` belongs to the mark.
    let share = after.trim_start();
    let ratio = share.to_ascii_lowercase().starts_with("read");
    let after = match share.match_indices('%').nth(1) {
        Some((at, _)) if ratio && at < 40 => share.get(at + 1..).unwrap_or(""),
        _ => after,
    };
    Some((op, after))
}

fn row(text: &str) -> Option<(Row, &str)> {
    let (before, after) = text.split_once("MB/s")?;
    let (label, number) = split_last(before)?;
    // Both programs print three decimals; prose and data sheets do not.
    let speed = localised(number, 3)?;
    let mut row = label_of(label.trim_end().trim_end_matches([':', '|']).trim_end())?;
    row.bandwidth = decimal(&speed, 6)?;
    row.comma = number.contains(',');
    let bracketed = |text: &str, open, unit: &str, close| -> Option<(String, usize)> {
        let inside = text.trim_start().trim_start_matches(['|', ' ']).strip_prefix(open)?;
        let (number, _) = inside.split_once(close)?;
        let figure = number.trim_end().strip_suffix(unit)?.trim().to_owned();
        Some((figure, text.find(close)? + 1))
    };
    let mut rest = after;
    if let Some((iops, used)) = bracketed(rest, '[', "IOPS", ']') {
        row.iops = decimal(&localised(&iops, 1).unwrap_or(iops), 0);
        rest = rest.get(used..)?;
    }
    for unit in ["us", "µs", "μs"] {
        if let Some((latency, used)) = bracketed(rest, '<', unit, '>') {
            row.latency = decimal(&localised(&latency, 2).unwrap_or(latency), -6);
            rest = rest.get(used..)?;
            break;
        }
    }
    Some((row, rest))
}

/// `Random Read 4KB (QD=32)`: every word must be known.
fn label_of(label: &str) -> Option<Row> {
    let (words, settings) = label.split_once('(').unwrap_or((label, ""));
    let (mut op, mut pattern, mut size, mut spaced) = (None, None, None, false);
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let digits = word.trim_end_matches(char::is_alphabetic);
        if digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) {
            let unit = word.get(digits.len()..)?;
            spaced = unit.is_empty();
            size = if spaced { block(digits, words.next()?) } else { block(digits, unit) };
            size?;
        } else if let Some(found) = word_of_pattern(word) {
            pattern = Some(found);
        } else if let Some(found) = word_of_op(word) {
            op = Some(found);
        } else if word.chars().any(char::is_alphanumeric) {
            return None;
        }
    }
    let (mut queue, mut threads) = (None, None);
    for setting in settings.split([',', ')']) {
        let Some((name, value)) = setting.split_once('=') else { continue };
        let value = value.trim().parse::<i64>().ok().filter(|value| *value > 0);
        match name.trim() {
            "Q" | "QD" => queue = value,
            "T" => threads = value,
            _ => {}
        }
    }
    let pattern = pattern?;
    let row = Row {
        op,
        pattern,
        block: size,
        queue,
        threads,
        bandwidth: 0.0,
        iops: None,
        latency: None,
        spaced,
        comma: false,
    };
    Some(row)
}

/// The programs write English in every language; people who publish results translate the labels.
fn word_of_op(word: &str) -> Option<&'static str> {
    const READ: &[&str] = &["read", "les", "lect", "lett", "leit", "读", "讀", "読", "リード", "чтен", "읽"];
    const WRITE: &[&str] = &[
        "write",
        "schreib",
        "écrit",
        "ecrit",
        "escri",
        "scrit",
        "grava",
        "写",
        "寫",
        "書",
        "ライト",
        "запис",
        "쓰",
    ];
    let begins = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    match (begins(READ), begins(WRITE)) {
        (true, _) => Some("read"),
        (_, true) => Some("write"),
        _ => None,
    }
}

fn word_of_pattern(word: &str) -> Option<&'static str> {
    const SEQ: &[&str] = &["seq", "séq", "secu", "顺序", "順序", "連続", "シーケンシャル", "послед", "순차"];
    const RAND: &[&str] = &[
        "rand",
        "rnd",
        "zufäll",
        "aléat",
        "aleat",
        "casual",
        "随机",
        "隨機",
        "ランダム",
        "случ",
        "랜덤",
        "임의",
    ];
    let begins = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    match (begins(SEQ), begins(RAND)) {
        (true, _) => Some("seq"),
        (_, true) => Some("rand"),
        _ => None,
    }
}
