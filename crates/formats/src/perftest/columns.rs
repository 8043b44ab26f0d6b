//! The head of a table and the rows below it.

/// What a column holds, and by what a number in it is multiplied to get base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column {
    /// Bytes of a message.
    Size,
    /// Service level.
    Level,
    /// Repetitions.
    Iterations,
    /// The highest bandwidth.
    Peak(f64),
    /// The mean bandwidth: of one port, or of all.
    Bandwidth(Option<i64>, f64),
    /// Messages in a second.
    Rate(Option<i64>, f64),
    /// A figure of the latency in microseconds, by its name in `reported`.
    Latency(&'static str),
    /// Transactions in a second.
    Transactions,
    /// CPU in percent.
    Cpu,
    /// Any other.
    Other,
}

/// The head of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// The columns from left to right.
    pub all: Vec<Column>,
    /// The title says MB where MiB is meant.
    pub says_mb: bool,
}

/// The columns of a head: `#bytes #iterations BW peak[MB/sec] ...`.
pub fn read(text: &str) -> Option<Columns> {
    if !text.starts_with("#bytes") && !text.starts_with("bytes") {
        return None;
    }
    let all: Vec<Column> = titles(text).iter().map(|title| column(title)).collect();
    let measures = |column: &Column| !matches!(column, Column::Size | Column::Iterations | Column::Other);
    (all.contains(&Column::Iterations) && all.iter().any(measures))
        .then(|| Columns { all, says_mb: text.contains("MB/sec") })
}

/// The words of a head, joined to titles.
fn titles(text: &str) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    let mut open = false;
    for word in text.split_whitespace() {
        match titles.last_mut() {
            Some(title) if open => {
                title.push(' ');
                title.push_str(word);
            }
            _ => titles.push(word.to_owned()),
        }
        let title = titles.last().map_or("", String::as_str);
        let words = title.split(' ').count();
        // `BW peak[MB/sec]`, `99% percentile[usec]`, `tps average`: a first word alone is no title.
        open = title.contains('[') && !title.contains(']')
            || !title.contains('[') && !title.contains("bytes") && !title.starts_with('#') && words == 1;
    }
    titles
}

fn column(title: &str) -> Column {
    let (name, unit) = title.split_once('[').map_or((title, ""), |(name, unit)| (name, unit));
    let bandwidth = match unit.trim_end_matches(']') {
        "MB/sec" | "MiB/sec" | "MB/s" | "MiB/s" => Some(super::BYTES_PER_MIB),
        "Gb/sec" | "Gb/s" => Some(super::BYTES_PER_GBIT),
        _ => None,
    };
    let of_time = |figure: &'static str| {
        if unit.starts_with("usec") { Column::Latency(figure) } else { Column::Other }
    };
    match (name.trim(), bandwidth) {
        ("#bytes" | "bytes", _) => Column::Size,
        ("#sl", _) => Column::Level,
        ("#iterations" | "iterations", _) => Column::Iterations,
        ("BW peak", Some(factor)) => Column::Peak(factor),
        ("BW average", Some(factor)) => Column::Bandwidth(None, factor),
        ("BW Port1", Some(factor)) => Column::Bandwidth(Some(1), factor),
        ("BW Port2", Some(factor)) => Column::Bandwidth(Some(2), factor),
        ("MsgRate", _) if unit.starts_with("Mpps") => Column::Rate(None, 1e6),
        ("MsgRate Port1", _) if unit.starts_with("Mpps") => Column::Rate(Some(1), 1e6),
        ("MsgRate Port2", _) if unit.starts_with("Mpps") => Column::Rate(Some(2), 1e6),
        ("t_min", _) => of_time("min"),
        ("t_max", _) => of_time("max"),
        ("t_typical", _) => of_time("median"),
        ("t_avg", _) => of_time("mean"),
        ("t_stdev", _) => of_time("sd"),
        ("99% percentile", _) => of_time("p99"),
        ("99.9% percentile", _) => of_time("p99.9"),
        ("tps average", _) => Column::Transactions,
        ("CPU_Util", _) => Column::Cpu,
        _ => Column::Other,
    }
}

/// The numbers of a row: as many as the head has columns. `whole` is false for the end of a cut log.
pub fn row(text: &str, columns: &Columns, whole: bool) -> Option<Vec<f64>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != columns.all.len() {
        return None;
    }
    // Rates have six decimals, all else two: fewer are cut.
    let digits = words.last().and_then(|word| word.split_once('.')).map_or(0, |(_, digits)| digits.len());
    let wanted = if matches!(columns.all.last(), Some(Column::Rate(..))) { 6 } else { 2 };
    if !whole && digits < wanted {
        return None;
    }
    let numbers: Vec<f64> = words.iter().map_while(|word| number(word)).collect();
    (numbers.len() == words.len()).then_some(numbers)
}

/// Whether `text` is a row in which a counter ran over: numbers below zero, which nothing measured can be.
pub fn ran_over(text: &str, columns: &Columns) -> bool {
    let numbers: Vec<f64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let is_row = numbers.len() == columns.all.len() && text.split_whitespace().count() == numbers.len();
    is_row && numbers.iter().any(|number| *number < 0.0)
}

/// A number that is one: `nan` and `inf`, which a division by no time gives, are none.
pub fn number(word: &str) -> Option<f64> {
    word.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && word.starts_with(|c: char| c.is_ascii_digit()))
}
