//! The line above the rows: `# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations`.

use crate::mpi::{Shape, is_digits};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Bytes of a message.
    Size,
    /// Microseconds: of half a round trip, or of a one-sided call.
    Latency,
    /// Microseconds, the mean over ranks; in version 7 also of a pair.
    Avg,
    /// The fastest rank.
    Min,
    /// The slowest rank.
    Max,
    /// Iterations behind the means.
    Iterations,
    /// 10^6 bytes a second.
    Rate,
    /// Messages a second.
    Messages,
    /// A percentile.
    Tail(u8),
    /// `Pass` or `Fail`.
    Validation,
    /// Bytes that a derived datatype moves.
    Transmitted,
    /// Microseconds of a part of a non-blocking operation.
    Part(&'static str),
    /// Microseconds of communication alone.
    Pure,
    /// The same on the fastest rank.
    PureMin,
    /// The same on the slowest rank.
    PureMax,
    /// Percent of the communication that was hidden.
    Overlap,
    /// Rate with this many messages in flight.
    Window(u32),
    /// The call of a row: `shmem_int_fadd`.
    Operation,
    /// 10^6 calls a second.
    MegaCalls,
    /// 10^9 bytes a second.
    GigaRate,
    /// The value of another column in another unit.
    Again,
}

impl Column {
    /// What its cells look like.
    pub fn shape(self) -> Shape {
        match self {
            Column::Size => Shape::Key,
            Column::Iterations | Column::Transmitted => Shape::Whole,
            Column::Validation => Shape::Word,
            Column::Operation => Shape::Name,
            _ => Shape::Decimal,
        }
    }
}

/// Titles; where one begins with another, the longer one comes first. Those in square brackets are of the Java
/// programs and of mpi4py's demonstrations.
const TITLES: &[(&str, Column)] = &[
    ("Size (B)", Column::Size),
    ("Size [B]", Column::Size),
    ("Size", Column::Size),
    ("Avg Latency(us)", Column::Avg),
    ("Min Latency(us)", Column::Min),
    ("Max Latency(us)", Column::Max),
    ("Avg Latency (us)", Column::Avg),
    ("Min Latency (us)", Column::Min),
    ("Max Latency (us)", Column::Max),
    ("Latency (us)", Column::Latency),
    ("Latency(us)", Column::Latency),
    ("Latency [us]", Column::Latency),
    ("Lat Avg[us]", Column::Avg),
    ("Lat Min[us]", Column::Min),
    ("Lat Max[us]", Column::Max),
    ("Avg. Latency [us]", Column::Avg),
    ("Min. Latency [us]", Column::Min),
    ("Max. Latency [us]", Column::Max),
    ("Bandwidth [MB/s]", Column::Rate),
    ("Bandwidth [Gb/s]", Column::Again),
    ("Bandwidth (GB/s)", Column::GigaRate),
    ("Bandwidth (MB/s)", Column::Rate),
    ("Bi-Bandwidth (MB/s)", Column::Rate),
    ("Bandwidth(MB/s)", Column::Rate),
    ("MB/s", Column::Rate),
    ("Messages/s", Column::Messages),
    ("Iterations", Column::Iterations),
    ("Validation", Column::Validation),
    ("Transmit Size", Column::Transmitted),
    ("Overall(us)", Column::Part("overall")),
    ("Compute(us)", Column::Part("compute")),
    ("Coll. Init(us)", Column::Part("init")),
    ("MPI_Test(us)", Column::Part("test")),
    ("MPI_Wait(us)", Column::Part("wait")),
    ("Wait avg(us)", Column::Part("wait")),
    ("Init avg(us)", Column::Part("init")),
    ("Pure Comm.(us)", Column::Pure),
    ("Min Comm.(us)", Column::PureMin),
    ("Max Comm.(us)", Column::PureMax),
    ("Overlap(%)", Column::Overlap),
    ("Operation", Column::Operation),
    ("Million ops/s", Column::MegaCalls),
];

/// Columns, and the rest of the line in a copy that has lost the ends of its lines.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// In the order of the line.
    pub columns: Vec<Column>,
    /// Rows.
    pub after: String,
}

impl Header {
    /// Whether the titles are enough to know the tool by: `Size` and something measured.
    pub fn is_table(&self) -> bool {
        self.columns.len() > 1 && matches!(self.columns.first(), Some(Column::Size | Column::Operation))
            || matches!(self.columns.first(), Some(Column::Avg | Column::Part(_)))
    }
}

/// The columns that `line` announces. Whatever another process wrote before them is passed over.
pub fn header(line: &str) -> Option<Header> {
    let starts =
        ["# Size", "# Avg Latency", "# Avg. Latency", "# Overall(us)", "# Operation", "#Size", "# MB/s"];
    let at = starts.iter().find_map(|words| line.find(words)).unwrap_or(0);
    let words: Vec<&str> = line.get(at..)?.trim_start_matches('#').split_whitespace().collect();
    let line = words.join(" ");
    let mut rest = line.as_str();
    let mut columns = Vec::new();
    while !rest.is_empty() && !rest.starts_with(|first: char| first.is_ascii_digit()) {
        let known = TITLES.iter().find_map(|(title, column)| Some((*column, rest.strip_prefix(title)?)));
        let (column, after) = known.or_else(|| tail(rest))?;
        columns.push(column);
        rest = after.trim_start();
    }
    let keyed = matches!(columns.first(), Some(Column::Size | Column::Operation));
    (columns.len() > usize::from(keyed)).then(|| Header { columns, after: rest.to_owned() })
}

/// `P99 Tail Lat(us)`, `P50 Tail BW(MB/s)`
fn tail(text: &str) -> Option<(Column, &str)> {
    let (percent, rest) = text.strip_prefix('P')?.split_once(" Tail ")?;
    let rest = rest.strip_prefix("Lat(us)").or_else(|| rest.strip_prefix("BW(MB/s)"))?;
    percent.parse().ok().filter(|percent| *percent <= 100).map(|percent| (Column::Tail(percent), rest))
}

/// `#            1           2           4`: how many messages were in flight, with -V.
pub fn windows(line: &str) -> Option<Vec<Column>> {
    let words = line.strip_prefix('#')?.split_whitespace();
    let mut columns = vec![Column::Size];
    for word in words {
        columns.push(Column::Window(word.parse().ok().filter(|_| is_digits(word))?));
    }
    (columns.len() > 2).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let check = |line: &str, wanted: &str| {
            let columns = header(line).map(|header| format!("{:?}", header.columns)).unwrap_or_default();
            assert_eq!(columns, wanted, "{line}");
        };
        check("# Size          Latency (us)", "[Size, Latency]");
        check("# Size\t\tBandwidth (MB/s) ", "[Size, Rate]");
        check("Size Avg Latency(us) P50 Tail Lat(us) P99 Tail Lat(us)", "[Size, Avg, Tail(50), Tail(99)]");
        check("# Size  Bandwidth (MB/s) P99 Tail BW(MB/s)", "[Size, Rate, Tail(99)]");
        check("# Size                  MB/s        Messages/s", "[Size, Rate, Messages]");
        check(
            "# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
            "[Avg, Min, Max, Iterations]",
        );
        check(
            "# Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)",
            "[Part(\"overall\"), Part(\"compute\"), Pure, Overlap]",
        );
        check("# Size (B)      Latency (us)", "[Size, Latency]");
        check("# Size [B]\t\tBandwidth [MB/s]\tBandwidth [Gb/s]", "[Size, Rate, Again]");
        check("# Size\t\tLat Avg[us]\t\tLat Min[us]\t\tLat Max[us]", "[Size, Avg, Min, Max]");
        check("# Operation     Million ops/s     Latency (us)", "[Operation, MegaCalls, Latency]");
        check("# Operation", "");
        check("# Size  Latency (us) Something", "");
        check("# Size", "");
        check("# Size of the message", "");
        assert_eq!(windows("#     1   2   4").unwrap().len(), 4);
        assert_eq!(windows("#---"), None);
    }
}
