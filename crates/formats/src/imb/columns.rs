//! The line above the rows, and rows without a result.

use crate::mpi::{Shape, is_digits};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Which of the groups that ran at once.
    Group,
    /// Bytes of a message.
    Bytes,
    /// Repetitions behind the mean.
    Repetitions,
    /// Microseconds of an iteration, of the slowest rank.
    Time,
    /// The same of the fastest rank.
    Min,
    /// The same of the slowest rank, where the others are printed too.
    Max,
    /// The mean over ranks.
    Avg,
    /// Communication and computation together.
    Overall,
    /// Communication alone.
    Pure,
    /// Computation alone.
    Compute,
    /// Percent of the communication that was hidden.
    Overlap,
    /// 10^6 or 2^20 bytes a second.
    Rate,
    /// Messages a second.
    Messages,
    /// Share of repetitions whose data arrived wrong, where IMB was built to check them.
    Defects,
    /// The benchmark's name, in every row.
    Name,
    /// Processes, in every row.
    Processes,
    /// Anything else.
    Other,
}

impl Column {
    fn read(title: &str) -> Column {
        match title {
            "Group" => Column::Group,
            "#bytes" | "bytes" => Column::Bytes,
            "#repetitions" | "repetitions" | "#rep.s" => Column::Repetitions,
            "t[usec]" => Column::Time,
            "t_min[usec]" => Column::Min,
            "t_max[usec]" => Column::Max,
            "t_avg[usec]" => Column::Avg,
            "t_ovrl[usec]" => Column::Overall,
            "t_pure[usec]" => Column::Pure,
            "t_CPU[usec]" => Column::Compute,
            "overlap[%]" => Column::Overlap,
            "Mbytes/sec" => Column::Rate,
            "Msg/sec" => Column::Messages,
            "defects" => Column::Defects,
            "#Benchmarking" => Column::Name,
            "#procs" => Column::Processes,
            _ => Column::Other,
        }
    }

    /// What its cells look like.
    pub fn shape(self) -> Shape {
        match self {
            Column::Group | Column::Bytes | Column::Repetitions | Column::Processes => Shape::Key,
            Column::Messages => Shape::Whole,
            Column::Other | Column::Name => Shape::Word,
            _ => Shape::Decimal,
        }
    }

    /// Says which row it is rather than what was measured.
    pub fn is_key(self) -> bool {
        matches!(
            self,
            Column::Group
                | Column::Bytes
                | Column::Repetitions
                | Column::Name
                | Column::Processes
                | Column::Defects
        )
    }
}

/// A line that announces columns.
#[derive(Debug, PartialEq)]
pub struct Header<'a> {
    /// What stands before the titles: another process's message, or the lines above in a copy that has lost the ends
    /// of its lines.
    pub before: &'a str,
    /// The columns.
    pub columns: Vec<Column>,
    /// What follows the titles: rows, in such a copy.
    pub after: &'a str,
}

/// The columns that `line` announces.
pub fn header(line: &str) -> Option<Header<'_>> {
    let line = line.trim();
    let titles = ["#Benchmarking ", "Group ", "#bytes ", "bytes ", "#repetitions ", "repetitions "].iter();
    let (before, mut after) = line.split_at_checked(titles.filter_map(|title| line.find(title)).min()?)?;
    let mut columns = Vec::new();
    while let Some(word) = after.split_whitespace().next() {
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            break;
        }
        // Markdown escapes the brackets.
        columns.push(Column::read(&word.replace('\\', "")));
        after = after.trim_start().get(word.len()..)?;
    }
    let measured = columns.iter().any(|column| !column.is_key() && *column != Column::Other);
    (columns.contains(&Column::Repetitions) && measured).then_some(Header { before, columns, after })
}

/// A row that was not measured: the message size, where the table has one, and IMB's reason.
pub fn skipped(columns: &[Column], text: &str) -> Option<(Option<i64>, String)> {
    let at = ["out-of-mem", "time-out", "int-overflow"].iter().filter_map(|words| text.find(words)).min()?;
    let (before, reason) = text.split_at_checked(at)?;
    let mut numbers = before.split_whitespace();
    if numbers.clone().any(|word| !is_digits(word)) {
        return None;
    }
    let size = columns.contains(&Column::Bytes).then(|| numbers.next_back()).flatten();
    Some((size.and_then(|size| size.parse().ok()), reason.trim().to_owned()))
}
