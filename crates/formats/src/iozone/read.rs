//! Follows a file of iozone's output, line by line: where an invocation begins, and what each line is.

use std::io::BufRead;

use super::call::{Call, Cell, Mode};
use super::table;
use crate::clean::Lines;
use crate::crystaldiskmark::number::decimal;
use crate::{ParseError, RunSink};

/// Whether only iozone writes such a line.
pub(super) fn is_iozone(line: &str) -> bool {
    let text = unquoted(line);
    text.starts_with("Iozone: Performance Test of File I/O")
        || text.starts_with("iozone test complete")
        || text.starts_with("Children see throughput for ")
        || is_header(text)
}

fn unquoted(line: &str) -> &str {
    line.trim_start_matches(['>', '|', ' ', '\t']).trim_end()
}

fn is_header(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let unit = words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb"));
    unit && words.next() == Some("reclen") && words.next() == Some("write")
}

/// Reads a file.
pub(super) fn parse(input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError> {
    let mut lines = Lines::new(input);
    let (mut call, mut any, mut said) = (Call::default(), false, None);
    loop {
        let line = lines.next()?;
        if line.is_none_or(|line| ends_before(&call, unquoted(line.text))) {
            let done = std::mem::take(&mut call);
            said = said.or_else(|| done.error.clone());
            if let Some(run) = done.run() {
                any = true;
                out.run(run);
            }
        }
        match line {
            Some(line) => take(&mut call, line.text, line.whole),
            None => break,
        }
    }
    if any {
        return Ok(());
    }
    let said = said.unwrap_or_else(|| "the log ends before the first number".to_owned());
    Err(ParseError::NothingMeasured { tool: "iozone", said })
}

/// Whether `text` belongs to the invocation after `call`.
fn ends_before(call: &Call, text: &str) -> bool {
    let measured = !call.cells.is_empty() || !call.excel.is_empty();
    let begun = measured || call.complete || call.error.is_some();
    begun && text.starts_with("Iozone: Performance Test")
        || measured && (text.starts_with("Run began:") || text.starts_with("Command line used:"))
        || measured && is_header(text)
        || call.complete && measured && text.starts_with("Children see")
        || again(call, text)
}

/// Whether `text` is throughput that `call` can't have measured, having a table or this test already: another call's,
/// copied without its header.
fn again(call: &Call, text: &str) -> bool {
    let cell = text.starts_with("Children see").then(|| throughput(call, text)).flatten();
    cell.is_some_and(|cell| {
        let key = |cell: &Cell| (cell.op, cell.part, cell.threads);
        call.cells.iter().any(|have| have.part.is_none() || key(have) == key(&cell))
    })
}

fn take(call: &mut Call, line: &str, whole: bool) {
    let text = unquoted(line);
    if is_header(text) {
        call.header = Some(line.to_owned());
    } else if text.starts_with("Children see throughput for")
        || text.starts_with("Parent sees throughput for")
    {
        call.cells.extend(throughput(call, text));
    } else if call.complete && text.starts_with('"') {
        excel(call, text);
    } else if !call.complete && row(call, line, whole) || told(call, text) {
        // Taken.
    } else if call.header.is_some() && !call.cells.is_empty() && !call.complete && call.error.is_none() {
        call.foreign(text);
    }
}

/// The lines around the numbers.
fn told(call: &mut Call, text: &str) -> bool {
    let kb = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    let said = error(text);
    if text.starts_with("iozone test complete") {
        call.complete = true;
    } else if text.starts_with("OPS Mode") {
        call.mode = Mode::Operations;
    } else if text.starts_with("Microseconds/op Mode") {
        call.mode = Mode::Microseconds;
    } else if let Some(rest) = text.strip_prefix("Version $Revision:") {
        call.sheet.run.tool_version = Some(rest.trim().trim_end_matches('$').trim().to_owned());
    } else if let Some(rest) = text.strip_prefix("Command line used:") {
        call.tests = table::tests_of(rest);
        call.sheet.fact("iozone.command", rest.trim());
    } else if let Some(rest) = text.strip_prefix("Run began:") {
        call.sheet.fact("iozone.date", rest.trim());
    } else if let Some(rest) = text.strip_prefix("Build:") {
        call.sheet.fact("iozone.build", rest.trim());
    } else if let Some(rest) = text.strip_prefix("File size set to ") {
        call.file_kb = kb(rest);
    } else if let Some(rest) = text.strip_prefix("Record Size ") {
        // Of several, the blocks of throughput mode do not say which is theirs.
        call.record_kb = if call.record_kb.is_some() { None } else { kb(rest) };
    } else if text.starts_with("Each ") && text.contains(" writes a ") {
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
        call.file_kb = numbers.next();
        call.record_kb = numbers.next().or(call.record_kb);
    } else if let Some(key) = option(text) {
        call.sheet.fact(&format!("iozone.{key}"), true);
    } else if text.starts_with("iozone: interrupt") || text.starts_with("exiting iozone") {
        call.interrupted = true;
    } else if let Some(said) = said {
        call.error.get_or_insert_with(|| said.chars().take(200).collect());
    } else {
        return text.is_empty();
    }
    true
}

fn option(text: &str) -> Option<&'static str> {
    let known = [
        ("O_DIRECT feature enabled", "direct"),
        ("Include fsync in write timing", "include_fsync"),
        ("Include close in write timing", "include_close"),
        ("SYNC Mode", "sync"),
        ("O_DSYNC Mode", "dsync"),
    ];
    known.iter().find(|(words, _)| text.starts_with(words)).map(|(_, key)| *key)
}

/// The tool's own message; it may follow the sizes of a row whose test failed.
fn error(text: &str) -> Option<&str> {
    let said = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let begins =
        ["Error", "Can't ", "Can not ", "open: ", "write: ", "read: ", "fsync: ", "lseek: ", "close: "];
    begins.iter().any(|words| said.starts_with(words)).then_some(said)
}

fn row(call: &mut Call, line: &str, whole: bool) -> bool {
    let text = line.trim_start_matches(['>', '|']);
    let Some(row) = table::row(text, call.header.as_deref(), call.tests.as_deref(), whole) else {
        return false;
    };
    if call.header.is_none() && row.lost > 0 {
        return false;
    }
    call.lost += row.lost;
    let (file_kb, record_kb, mode) = (Some(row.file_kb), Some(row.record_kb).filter(|kb| *kb > 0), call.mode);
    let cell =
        |(op, value)| Cell { op, file_kb, record_kb, threads: None, part: None, value: value as f64, mode };
    call.cells.extend(row.cells.into_iter().map(cell));
    true
}

/// `Children see throughput for  2 initial writers  =  971312.50 kB/sec`
fn throughput(call: &Call, text: &str) -> Option<Cell> {
    let part = if text.starts_with("Children") { "children" } else { "parent" };
    let (left, right) = text.split_once('=')?;
    let (_, who) = left.split_once("throughput for")?;
    let (threads, name) = who.trim().split_once(' ')?;
    let (value, unit) = right.trim().split_once(' ')?;
    let unit = unit.trim().to_ascii_lowercase();
    let mode = match unit.as_str() {
        "ops/sec" => Mode::Operations,
        "kb/sec" | "kbytes/sec" if call.mode == Mode::Kilobytes => Mode::Kilobytes,
        _ => return None,
    };
    let (threads, op, value) = (threads.parse().ok()?, worker(name.trim())?, decimal(value, 0)?);
    let (file_kb, record_kb) = (call.file_kb, call.record_kb);
    Some(Cell { op, file_kb, record_kb, threads: Some(threads), part: Some(part), value, mode })
}

/// The Excel report: `"Writer report"`, a row of record sizes, a row for each file size.
fn excel(call: &mut Call, text: &str) {
    let number = |word: &str| word.trim_matches('"').parse::<u64>().ok();
    if let Some(name) = text.trim_matches('"').strip_suffix(" report") {
        call.report = report(name).map(|op| (op, Vec::new()));
        return;
    }
    let Some((op, records)) = &mut call.report else { return };
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.iter().all(|word| word.starts_with('"')) {
        *records = words.iter().filter_map(|word| number(word)).collect();
        return;
    }
    let Some((file, values)) = words.split_first() else { return };
    let (file_kb, mode) = (number(file), call.mode);
    for (record_kb, value) in records.iter().zip(values) {
        let Some(value) = decimal(value, 0) else { return };
        let record_kb = Some(*record_kb);
        call.excel.push(Cell { op, file_kb, record_kb, threads: None, part: None, value, mode });
    }
}

/// The test behind the name of throughput mode's workers.
fn worker(name: &str) -> Option<&'static str> {
    WORKERS.iter().find(|(_, worker)| *worker == name).map(|(op, _)| *op)
}

/// Throughput mode's names.
pub(super) const WORKERS: [(&str, &str); 13] = [
    ("write", "initial writers"),
    ("rewrite", "rewriters"),
    ("read", "readers"),
    ("reread", "re-readers"),
    ("backward_read", "reverse readers"),
    ("stride_read", "stride readers"),
    ("random_read", "random readers"),
    ("random_write", "random writers"),
    ("mixed", "mixed workload"),
    ("pwrite", "pwrite writers"),
    ("pread", "pread readers"),
    ("fwrite", "fwriters"),
    ("fread", "freaders"),
];

/// The test behind a title of the Excel report.
fn report(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "writer" => "write",
        "re-writer" => "rewrite",
        "reader" => "read",
        "re-reader" => "reread",
        "random read" => "random_read",
        "random write" => "random_write",
        "backward read" => "backward_read",
        "record rewrite" => "record_rewrite",
        "stride read" => "stride_read",
        "fwrite" => "fwrite",
        "re-fwrite" => "frewrite",
        "fread" => "fread",
        "re-fread" => "freread",
        "pwrite" => "pwrite",
        "re-pwrite" => "repwrite",
        "pread" => "pread",
        "re-pread" => "repread",
        _ => return None,
    })
}
