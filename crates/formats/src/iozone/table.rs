//! Which column of the table a number stands in.

/// The tests in the order of the columns.
pub(super) const COLUMNS: [&str; 17] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "backward_read",
    "record_rewrite",
    "stride_read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
    "pwrite",
    "repwrite",
    "pread",
    "repread",
];

/// Where numbers end, counted from the end of the record size.
type Layout = [usize; 17];

/// Nine wide, as iozone has printed them for many years.
const NEW: Layout = [9, 18, 27, 36, 45, 54, 63, 73, 83, 92, 101, 110, 119, 127, 136, 144, 153];
/// Older versions: many columns are eight wide.
const OLD: Layout = [8, 16, 25, 34, 43, 51, 60, 69, 78, 87, 96, 104, 113, 121, 130, 138, 147];

/// A row: sizes in kB, and the numbers with their column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub file_kb: u64,
    pub record_kb: u64,
    pub cells: Vec<(&'static str, u64)>,
    /// How many numbers there are of which nobody can tell the column.
    pub lost: usize,
}

/// Reads a row. `header` is the line of column names above it, `tests` the columns that the command line asked
/// for, `whole` tells whether the last number is surely complete.
pub(super) fn row(
    text: &str,
    header: Option<&str>,
    tests: Option<&[&'static str]>,
    whole: bool,
) -> Option<Row> {
    let words = ends(text)?;
    let [(file_kb, file_end), (record_kb, start), cells @ ..] = words.as_slice() else { return None };
    let (file_kb, record_kb) = (*file_kb, *record_kb);
    if cells.is_empty() || cells.len() > COLUMNS.len() || file_kb < record_kb || file_kb == 0 {
        return None;
    }
    let places: Vec<usize> = cells.iter().map(|(_, end)| end - start).collect();
    // The record size is eight wide: one blank before a short one means that a copy squeezed them.
    let squeezed = start - file_end < 8;
    let placed = || {
        let by_header = || near(&places, &header_layout(header?)?);
        // The only number of a row that was cut in it may end where the other layout has a column.
        exact(&places, &NEW)
            .map(|columns| (columns, true))
            .or_else(|| exact(&places, &OLD).map(|columns| (columns, whole || cells.len() > 1)))
            .or_else(|| by_header().map(|columns| (columns, whole)))
    };
    let found = if squeezed { None } else { placed() };
    let found = found.or_else(|| in_order(cells.len(), tests).map(|columns| (columns, whole)));
    let Some((columns, sure)) = found else {
        return Some(Row { file_kb, record_kb, cells: Vec::new(), lost: cells.len() });
    };
    let taken = if sure { cells.len() } else { cells.len() - 1 };
    let cells = columns.into_iter().zip(cells).take(taken).map(|(column, (value, _))| (column, *value));
    Some(Row { file_kb, record_kb, cells: cells.collect(), lost: 0 })
}

/// Every word with the place behind it; `None` unless all are whole numbers.
fn ends(text: &str) -> Option<Vec<(u64, usize)>> {
    let mut words = Vec::new();
    let mut begin = None;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        match (byte.is_ascii_whitespace(), begin) {
            (false, None) => begin = Some(at),
            (true, Some(from)) => {
                let word = text.get(from..at)?;
                let plain = word.bytes().all(|byte| byte.is_ascii_digit());
                words.push((word.parse::<u64>().ok().filter(|_| plain)?, at));
                begin = None;
            }
            _ => {}
        }
        if words.len() > COLUMNS.len() + 2 {
            return None;
        }
    }
    Some(words)
}

/// Numbers are right-aligned: every one ends where a column does.
fn exact(places: &[usize], layout: &Layout) -> Option<Vec<&'static str>> {
    let column = |place: &usize| layout.iter().position(|end| end == place).and_then(|at| COLUMNS.get(at));
    places.iter().map(|place| column(place).copied()).collect()
}

/// The ends of the names in the header, counted from the end of `reclen`.
fn header_layout(header: &str) -> Option<Vec<usize>> {
    let (_, rest) = header.split_once("reclen")?;
    let mut ends = Vec::new();
    let mut inside = false;
    for (at, byte) in rest.bytes().chain([b' ']).enumerate() {
        if inside && byte.is_ascii_whitespace() {
            ends.push(at);
        }
        inside = !byte.is_ascii_whitespace();
    }
    let spread = ends.windows(2).all(|pair| pair[1] - pair[0] > 6);
    (spread && ends.len() <= COLUMNS.len()).then_some(ends)
}

fn near(places: &[usize], ends: &[usize]) -> Option<Vec<&'static str>> {
    let mut next = 0;
    let mut columns = Vec::new();
    for place in places {
        let (at, end) = ends.iter().enumerate().min_by_key(|(_, end)| end.abs_diff(*place))?;
        if end.abs_diff(*place) > 2 || at < next {
            return None;
        }
        next = at + 1;
        columns.push(*COLUMNS.get(at)?);
    }
    Some(columns)
}

/// A copy without its blanks: right only if every test ran, or if the command line tells which.
fn in_order(count: usize, tests: Option<&[&'static str]>) -> Option<Vec<&'static str>> {
    if count == 13 || count == COLUMNS.len() {
        return COLUMNS.get(..count).map(<[_]>::to_vec);
    }
    tests.filter(|tests| tests.len() == count).map(<[_]>::to_vec)
}

/// The columns that `iozone -i 0 -i 2 ...` fills.
pub(super) fn tests_of(command: &str) -> Option<Vec<&'static str>> {
    const OF: [&[usize]; 11] =
        [&[0, 1], &[2, 3], &[4, 5], &[6], &[7], &[8], &[9, 10], &[11, 12], &[], &[13, 14], &[15, 16]];
    let mut words = command.split_whitespace();
    let mut chosen: Vec<usize> = Vec::new();
    while let Some(word) = words.next() {
        match word.strip_prefix("-i") {
            Some("") => chosen.push(words.next()?.parse().ok()?),
            Some(number) => chosen.push(number.parse().ok()?),
            // -A stands for -a -z -i 0 -i 1.
            None if word.starts_with("-A") => chosen.extend([0, 1]),
            None => {}
        }
    }
    let columns = chosen.iter().filter_map(|test| OF.get(*test)).copied().flatten();
    let mut columns: Vec<usize> = columns.copied().collect();
    columns.sort_unstable();
    columns.dedup();
    let names: Vec<_> = columns.iter().filter_map(|at| COLUMNS.get(*at)).copied().collect();
    (!names.is_empty()).then_some(names)
}
