//! The line above the rows, and the rows under it.

use crate::mpi::{decimals, is_digits, scaled};

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
            _ => Column::Other,
        }
    }

    /// Printed without a point.
    fn is_whole(self) -> bool {
        matches!(self, Column::Group | Column::Bytes | Column::Repetitions | Column::Messages)
    }

    /// Says which row it is rather than what was measured.
    pub fn is_key(self) -> bool {
        matches!(self, Column::Group | Column::Bytes | Column::Repetitions)
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
    let titles = ["Group ", "#bytes ", "bytes ", "#repetitions ", "repetitions "].iter();
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

/// A row, and whether something else stood in the same line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One for each column; `None` is a cell that holds no number.
    pub cells: Vec<Option<f64>>,
    /// Digits behind the point.
    pub decimals: Vec<usize>,
    /// Text of another process in the same line.
    pub mixed: bool,
}

/// The rows in `text`: mostly one; several where a copy has lost the ends of lines; none in any other text.
pub fn rows(columns: &[Column], text: &str, whole: bool) -> Vec<Row> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let n = columns.len();
    if n == 0 || words.len() < n {
        return Vec::new();
    }
    if words.len().is_multiple_of(n) {
        let cut = |index: usize| !whole && (index + 1) * n == words.len();
        let rows = words.chunks(n).enumerate().map(|(index, words)| row(columns, words, cut(index)));
        if let Some(rows) = rows.collect() {
            return rows;
        }
    }
    // Another process wrote into the same line: rows are known by their exact shape.
    let front = words.get(..n).map(|words| {
        let last = words.last().map_or("", |word| {
            let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
            &word[..end]
        });
        let mut words = words.to_vec();
        words.pop();
        words.push(last);
        words
    });
    let back = words.get(words.len() - n..).filter(|_| whole).map(<[&str]>::to_vec);
    let found = [front, back].into_iter().flatten().find(|words| is_exact(columns, words));
    found
        .and_then(|words| row(columns, &words, false))
        .map(|row| Row { mixed: true, ..row })
        .into_iter()
        .collect()
}

/// A row that another program's line can hardly be: whole numbers where IMB prints whole ones, two decimals elsewhere.
fn is_exact(columns: &[Column], words: &[&str]) -> bool {
    columns.iter().zip(words).all(|(column, word)| {
        if column.is_whole() { is_digits(word) } else { scaled(word, 0).is_some() && decimals(word) == 2 }
    })
}

/// `words` as a row. A number that may have been `cut` counts only if its second decimal is there.
fn row(columns: &[Column], words: &[&str], cut: bool) -> Option<Row> {
    let mut cells = Vec::with_capacity(words.len());
    for (index, (column, word)) in columns.iter().zip(words).enumerate() {
        let value = scaled(word, 0);
        if column.is_key() && !(is_digits(word) && word.len() < 19) {
            return None;
        }
        let hollow = || matches!(*word, "nan" | "-nan" | "inf" | "-inf" | "-") || word.starts_with("**");
        if value.is_none() && *column != Column::Other && !hollow() {
            return None;
        }
        let half = cut && index + 1 == words.len() && decimals(word) != 2;
        cells.push(value.filter(|_| !half));
    }
    let decimals = words.iter().map(|word| decimals(word)).collect();
    Some(Row { cells, decimals, mixed: false })
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
