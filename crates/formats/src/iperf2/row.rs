//! A line of figures: `[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec`, and the columns that may follow.

/// The stream that a line speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// A stream; `star` marks traffic against the way of its connection.
    Stream {
        /// The printed number.
        number: i64,
        /// Printed as `*1`.
        star: bool,
    },
    /// All streams together.
    Sum,
    /// Both directions of a full-duplex stream together.
    Both,
}

/// A line of figures. Base units; what was not printed is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The stream.
    pub id: Id,
    /// Begin in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
    /// Digits behind the point of the end: 1 up to 2.0.12, 2 with -e, 4 from 2.1 on.
    pub decimals: usize,
    /// Payload in bytes.
    pub bytes: f64,
    /// Payload rate in bit/s.
    pub bits: f64,
    /// What stands behind the rate.
    pub cells: Cells,
}

/// The columns behind the rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cells {
    /// UDP: jitter in seconds.
    pub jitter: Option<f64>,
    /// UDP: datagrams lost and in all.
    pub lost: Option<(f64, f64)>,
    /// UDP: the printed share of lost datagrams.
    pub loss: Option<f64>,
    /// UDP: datagrams behind their time, which stand on a line of their own.
    pub reordered: Option<f64>,
    /// TCP retransmissions.
    pub retransmits: Option<f64>,
    /// Congestion window in bytes.
    pub cwnd: Option<f64>,
    /// The kernel's round trip time in seconds.
    pub rtt: Option<f64>,
    /// One way: mean, min, max, deviation in seconds.
    pub latency: Option<[f64; 4]>,
    /// Bounceback: number of round trips; mean, min, max, deviation in seconds.
    pub bounce: Option<(f64, [f64; 4])>,
    /// Round trips in a second.
    pub trips: Option<f64>,
    /// Datagrams in a second.
    pub packets: Option<f64>,
    /// Has columns of a writer.
    pub writes: bool,
    /// Has columns of a reader.
    pub reads: bool,
    /// Part of the warm-up.
    pub omitted: bool,
}

/// The row that stands in `line`, behind a `^C` or a prompt if need be. Of a line that is not whole the last word is
/// taken only if it ends in a unit.
pub fn read(line: &str, whole: bool) -> Option<Row> {
    let line = if whole { line } else { without_half_number(line) };
    line.match_indices('[').find_map(|(at, _)| row_at(&line[at + 1..]))
}

fn without_half_number(line: &str) -> &str {
    let line = line.trim_end();
    let last = line.chars().next_back();
    if last.is_some_and(|c| c.is_ascii_digit() || ".:/(-".contains(c)) {
        line.rsplit_once(' ').map_or("", |(rest, _)| rest)
    } else {
        line
    }
}

/// The id, and what follows its bracket.
pub fn id(text: &str) -> Option<(Id, &str)> {
    let (name, rest) = text.split_once(']')?;
    let name = name.trim();
    if name.starts_with("SUM") || name.starts_with("*SUM") {
        return Some((Id::Sum, rest));
    }
    if let Some(number) = name.strip_prefix("FD") {
        return number.parse::<u32>().ok().map(|_| (Id::Both, rest));
    }
    let (star, number) = name.strip_prefix('*').map_or((false, name), |number| (true, number));
    Some((Id::Stream { number: number.trim().parse().ok()?, star }, rest))
}

/// ` 0.0- 1.0 sec`: begin, end, decimals, and what follows.
pub fn span(text: &str) -> Option<(f64, f64, usize, &str)> {
    let at = text.find("sec")?;
    let rest = text[at + 3..].strip_prefix(char::is_whitespace).unwrap_or(&text[at + 3..]);
    let (start, end) = text[..at].split_once('-')?;
    // Frames of isochronous tests carry their transit time.
    let end = end.split('(').next()?.trim();
    let decimals = end.split_once('.').map_or(0, |(_, digits)| digits.len());
    let (start, end) = (number(start.trim())?, number(end)?);
    (start >= 0.0 && end >= start).then_some((start, end, decimals, rest))
}

fn row_at(text: &str) -> Option<Row> {
    let (id, rest) = id(text)?;
    let (start, end, decimals, rest) = span(rest)?;
    // Old versions print blanks behind the slashes.
    let rest = rest.replace("/ ", "/").replace("/ ", "/").replace("/ ", "/").replace("/ ", "/");
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [amount, unit, speed, per_second, tail @ ..] = &words[..] else { return None };
    let bytes = number(amount)? * size(unit)?;
    let bits = number(speed)? * rate(per_second)?;
    (bytes >= 0.0 && bits >= 0.0).then(|| Row { id, start, end, decimals, bytes, bits, cells: cells(tail) })
}

fn cells(words: &[&str]) -> Cells {
    let mut cells = Cells::default();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let after = words.get(at + 2).copied().unwrap_or_default();
        match next {
            "ms" => milliseconds(&mut cells, word, after, words.get(at + 3).copied().unwrap_or_default()),
            "us" if word.contains('/') => window(&mut cells, word),
            "rps" => cells.trips = positive(word),
            "pps" => cells.packets = positive(word),
            _ => {}
        }
        if let Some(trips) = word.strip_prefix("RPS=") {
            let digits = trips.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trips.len());
            cells.trips = positive(&trips[..digits]);
        }
        cells.omitted |= *word == "(omitted)";
        cells.reads |= word.contains('=') && word.matches(':').count() == 7;
        let Some((first, second)) = word.split_once('/') else { continue };
        let (Some(first), Some(second)) = (number(first), second.split('/').next().and_then(number)) else {
            continue;
        };
        if let Some(percent) = next.strip_prefix('(').and_then(|text| text.strip_suffix("%)")) {
            cells.lost = Some((first, second));
            cells.loss = number(percent).map(|percent| percent / 100.0).filter(|loss| *loss >= 0.0);
        } else if at == 0 && next != "ms" {
            cells.writes = true;
            if after != "pps" {
                cells.retransmits = positive(next);
            }
        }
    }
    cells
}

/// A cell in milliseconds: jitter if losses follow it, else four figures.
fn milliseconds(cells: &mut Cells, word: &str, after: &str, percent: &str) {
    if let Some(jitter) = positive(word) {
        if after.contains('/') && percent.ends_with("%)") {
            cells.jitter = Some(jitter / 1e3);
        }
        return;
    }
    let (count, word) = word.split_once('=').map_or((None, word), |(count, word)| (number(count), word));
    let figures: Vec<f64> = word.split('/').filter_map(positive).map(|ms| ms / 1e3).collect();
    let Ok(figures) = <[f64; 4]>::try_from(figures) else { return };
    match count {
        Some(count) => cells.bounce = Some((count, figures)),
        // Frames have a second one.
        None => cells.latency = cells.latency.or(Some(figures)),
    }
}

/// `2457K/1267(1531)`, in 2.2 `1471K(1041)/3062K(2167)/26(5)`: of these the last but one is the window.
fn window(cells: &mut Cells, word: &str) {
    let parts: Vec<&str> = word.split('/').map(|part| part.split('(').next().unwrap_or_default()).collect();
    cells.rtt = parts.last().and_then(|us| positive(us)).filter(|us| *us > 0.0).map(|us| us / 1e6);
    let mut windows = parts.iter().filter_map(|part| positive(part.strip_suffix('K')?));
    cells.cwnd = windows.next_back().map(|kbytes| kbytes * 1024.0);
}

/// A finite number.
pub fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

fn positive(text: &str) -> Option<f64> {
    number(text).filter(|value| *value >= 0.0)
}

/// Bytes of a unit: 1024-based.
pub fn size(unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix("Bytes").or_else(|| unit.strip_suffix("Byte"))?;
    ["", "K", "M", "G", "T", "P"].iter().position(|known| *known == prefix).map(|n| 1024f64.powi(n as i32))
}

/// bit/s of a unit: 1000-based for bits, 1024-based for bytes.
fn rate(unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/sec")?;
    match unit.strip_suffix("bits") {
        Some(prefix) => ["", "K", "M", "G", "T", "P"]
            .iter()
            .position(|known| *known == prefix)
            .map(|n| 1e3f64.powi(n as i32)),
        None => size(unit).map(|bytes| bytes * 8.0),
    }
}
