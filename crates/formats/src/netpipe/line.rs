//! `  0:       1 bytes  20530 times -->      1.47 Mbps in      10.38 usec`

use crate::mpi::{decimals, is_digits, scaled};

/// A number in its base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Bytes, bit/s or seconds.
    pub value: f64,
    /// The share by which rounding may have moved it.
    pub slack: f64,
    /// Its prefix was `M`.
    pub mega: bool,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was sent.
    pub left: Left,
    /// bit/s, as if the prefix were decimal.
    pub rate: Figure,
    /// Half the round trip in seconds.
    pub time: Figure,
    /// Messages that arrived damaged.
    pub failures: Option<u64>,
}

/// The half of a row that is printed before the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// Bytes of a message.
    pub size: i64,
    /// The size was rounded to three decimals of a MB or more.
    pub rounded: bool,
    /// Messages in each direction.
    pub times: f64,
    /// The layout of version 5.
    pub modern: bool,
}

/// A whole row.
pub fn row(text: &str) -> Option<Row> {
    let (before, after) = text.split_once("-->")?;
    right(left(before)?, after)
}

/// What is printed before a test: `  0:       1 bytes  20530 times`.
pub fn left(text: &str) -> Option<Left> {
    let text = text.trim_end().strip_suffix("-->").unwrap_or(text);
    let mut words = text.split_whitespace().rev();
    (words.next()? == "times").then_some(())?;
    let times = scaled(words.next()?, 0)?;
    let unit = words.next()?;
    let number = words.next()?;
    // `100:1024 bytes` when the columns touch. The number of the row is not needed, and looks like a label of srun.
    let number = number.rsplit(':').next()?;
    let power = match unit {
        "bytes" | "B" => 0,
        "KB" => 3,
        "MB" => 6,
        "GB" => 9,
        "TB" => 12,
        _ => return None,
    };
    let size = scaled(number, power).filter(|size| *size < 1e15)?;
    let rounded = power > 3;
    Some(Left { size: size.round() as i64, rounded, times, modern: unit != "bytes" })
}

/// What is printed after a test: `     1.47 Mbps in      10.38 usec`.
pub fn right(left: Left, text: &str) -> Option<Row> {
    let mut words = text.split_whitespace();
    let (rate, unit) = (words.next()?, words.next()?);
    let prefix = unit.strip_suffix("bps")?;
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == prefix)? as i32 * 3;
    let rate = Figure { mega: prefix == "M", ..figure(rate, power)? };
    (words.next()? == "in").then_some(())?;
    let (time, unit) = (words.next()?, words.next()?);
    let power = match unit.trim_end_matches('s') {
        "sec" => 0,
        "msec" => -3,
        "usec" => -6,
        "nsec" => -9,
        _ => return None,
    };
    let time = figure(time, power)?;
    let failures = words.next().and_then(|n| n.parse().ok()).filter(|_| words.next() == Some("failures"));
    Some(Row { left, rate, time, failures })
}

/// A number with a point, times ten to `power`.
pub fn figure(text: &str, power: i32) -> Option<Figure> {
    let (printed, value) = (scaled(text, 0)?, scaled(text, power)?);
    let slack = 0.5 * 0.1f64.powi(decimals(text).min(30) as i32) / printed;
    text.contains('.').then_some(Figure { value, slack, mega: false })
}

/// Whether only NetPIPE prints such a line, as one of its first.
pub fn is_start(text: &str) -> bool {
    let text = text.trim();
    text == "Now starting the main loop"
        || text == "(A bug in Linux doubles the requested buffer sizes)"
        || text.starts_with("Start testing with ") && text.ends_with(" trials for each message size")
}

/// `Send and receive buffers are 16384 and 131072 bytes`
pub fn buffers(text: &str) -> Option<(i64, i64)> {
    let (send, receive) = text.trim().strip_prefix("Send and receive buffers are ")?.split_once(" and ")?;
    let receive = receive.split(' ').next()?;
    (is_digits(send) && is_digits(receive)).then(|| Some((send.parse().ok()?, receive.parse().ok()?)))?
}
