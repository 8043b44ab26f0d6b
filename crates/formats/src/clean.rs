//! Logs as they are found, made into the lines that the tool wrote.
//!
//! Line by line: carriage returns, terminals' escape codes, non-breaking spaces, the marks of quoted mail, HTML
//! entities and tags around a line are taken away (`mend`). By file: UTF-16 and quoted-printable are decoded (`decode`), and the stamps
//! that journald, syslog, `ts` or a container's log put before every line are taken off (`stamp`). What is decided
//! by file is decided from what the first read gives, so readers should be given with a buffer of some kilobytes.
//!
//! A line that is clean already, which is nearly every line, is lent as it was read.

use std::io::{self, BufRead, Read};

mod decode;
mod mend;
mod stamp;
#[cfg(test)]
mod tests;

use decode::Encoding;
use stamp::Stamp;

/// Longer lines are read in pieces: no file makes this program take more memory, or more time than its length times
/// this. No tool's row is so long; documents without line ends are, and their readers join the pieces.
pub const LONGEST: u64 = 32 << 10;

/// So many lines are looked at to find what stands before all of them.
const VOTERS: usize = 200;

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text, without its end and without blanks behind.
    pub text: &'a str,
    /// False for the last line of a log that was cut in the middle of it.
    pub whole: bool,
}

/// What is true of a whole file.
#[derive(Clone, Debug)]
struct Habits {
    encoding: Encoding,
    /// A document in which `>` and `&gt;` are content.
    json: bool,
    stamp: Option<Stamp>,
}

/// The lines of `input`, cleaned. Bytes that are no UTF-8 become replacement characters.
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    habits: Option<Habits>,
    /// What was read: a line with its end, or a piece of one.
    bytes: Vec<u8>,
    /// Where in `bytes` the next line begins: a carriage return ends one too.
    next: usize,
    /// Bytes of a character that a piece ended within.
    carry: Vec<u8>,
    text: String,
}

impl<'a> Lines<'a> {
    /// Reads from `input`.
    pub fn new(input: &'a mut dyn BufRead) -> Lines<'a> {
        Lines { input, habits: None, bytes: Vec::new(), next: 0, carry: Vec::new(), text: String::new() }
    }

    /// The next line, or the next [`LONGEST`] bytes of one; `None` at the end.
    #[allow(clippy::should_implement_trait, reason = "it lends: the text is overwritten by the next call")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.habits.is_none() {
            self.habits = Some(Habits::of(self.input.fill_buf()?));
        }
        if self.next >= self.bytes.len() && !self.fill()? {
            return Ok(None);
        }
        let Some(habits) = &self.habits else { return Ok(None) };
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        let ended = rest.ends_with(b"\n");
        let mut content = decode::without_end(rest);
        let mut whole = ended;
        let from = self.next;
        self.next = self.bytes.len();
        let text = match mend::plain(content) {
            Some(text) => text,
            None => {
                // What was printed over, behind a lone carriage return, is a line by itself.
                if let Some(at) = content.iter().position(|byte| *byte == b'\r') {
                    self.next = from + at + 1;
                    (content, whole) = (content.get(..at).unwrap_or_default(), true);
                }
                mend::mend(content, !habits.json, &mut self.text);
                self.text.as_str()
            }
        };
        let text = if habits.json { text } else { mend::bare(text) };
        let text = habits.stamp.as_ref().map_or(text, |stamp| stamp.strip(text));
        // A piece goes on in the next one.
        let piece = !whole && rest.len() as u64 >= LONGEST;
        Ok(Some(Line { text: if piece { text } else { text.trim_end() }, whole }))
    }

    /// Reads the next line as it is; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.next = 0;
        self.bytes.clear();
        self.bytes.append(&mut self.carry);
        let encoding = self.habits.as_ref().map_or(Encoding::Bytes, |habits| habits.encoding);
        encoding.line(self.input, &mut self.bytes)?;
        if self.bytes.len() as u64 >= LONGEST && !self.bytes.ends_with(b"\n") {
            let keep = decode::whole_characters(&self.bytes);
            self.carry = self.bytes.split_off(keep);
        }
        Ok(!self.bytes.is_empty())
    }
}

impl Habits {
    fn of(head: &[u8]) -> Habits {
        let encoding = Encoding::of(head);
        let mut habits = Habits { encoding, json: decode::is_json(head), stamp: None };
        if !habits.json {
            let mut input = head;
            let mut lines = Lines::new(&mut input);
            lines.habits = Some(habits.clone());
            let mut voters = Vec::new();
            while let (true, Ok(Some(line))) = (voters.len() < VOTERS, lines.next()) {
                if !line.text.trim().is_empty() {
                    voters.push(line.text.to_owned());
                }
            }
            habits.stamp = Stamp::of(&voters);
        }
        habits
    }
}

/// The cleaned lines as text again, for those who read other things than lines.
pub struct Text<'a> {
    lines: Lines<'a>,
    line: Vec<u8>,
    at: usize,
    /// Whether `line` is a further piece of a long one.
    goes_on: bool,
}

impl<'a> Text<'a> {
    /// Reads from `input`.
    pub fn new(input: &'a mut dyn BufRead) -> Text<'a> {
        Text { lines: Lines::new(input), line: Vec::new(), at: 0, goes_on: false }
    }

    /// Whether what comes next begins a line.
    pub(crate) fn at_line(&mut self) -> io::Result<bool> {
        let inside = self.at > 0 && self.at < self.line.len();
        self.fill_buf()?;
        Ok(!inside && self.at == 0 && !self.goes_on)
    }
}

impl BufRead for Text<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at >= self.line.len() {
            self.goes_on = self.line.last().is_some_and(|last| *last != b'\n');
            self.at = 0;
            self.line.clear();
            let Some(line) = self.lines.next()? else { break };
            self.line.extend_from_slice(line.text.as_bytes());
            if line.whole {
                self.line.push(b'\n');
            }
        }
        Ok(self.line.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.at = self.at.saturating_add(amount);
    }
}

impl Read for Text<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

/// [`Read::read`] of what is a [`BufRead`] by nature.
pub(crate) fn read_buffered(from: &mut dyn BufRead, into: &mut [u8]) -> io::Result<usize> {
    let given = from.fill_buf()?;
    let n = given.len().min(into.len());
    if let (Some(into), Some(given)) = (into.get_mut(..n), given.get(..n)) {
        into.copy_from_slice(given);
    }
    from.consume(n);
    Ok(n)
}

/// What a file is that begins so and is no text; `None` for text.
pub fn binary(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 10] = [
        (b"\x1f\x8b", "it is compressed\nhint: `gunzip -c FILE | tenbin import -`"),
        (b"\xfd7zXZ\0", "it is compressed\nhint: `xz -dc FILE | tenbin import -`"),
        (b"\x28\xb5\x2f\xfd", "it is compressed\nhint: `zstd -dc FILE | tenbin import -`"),
        (b"BZh", "it is compressed\nhint: `bzip2 -dc FILE | tenbin import -`"),
        (b"PK\x03\x04", "it is a zip archive\nhint: unpack it first"),
        (b"\x7fELF", "it is a program"),
        (b"%PDF-", "it is a PDF document\nhint: save its text first"),
        (b"\x89PNG", "it is a picture"),
        (b"\xff\xd8\xff", "it is a picture"),
        (b"GIF8", "it is a picture"),
    ];
    if let Some((_, what)) = KNOWN.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(what);
    }
    if !matches!(Encoding::of(head), Encoding::Bytes | Encoding::QuotedPrintable) {
        return None;
    }
    // A crash leaves blocks of zeros at the end of a log.
    let end = head.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let body = head.get(..end).unwrap_or_default();
    let odd = body.iter().filter(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31)).count();
    (odd * 50 > body.len() || body.is_empty()).then_some("it is no text")
}

/// All of `log`, cleaned.
pub fn text(log: &[u8]) -> String {
    let mut log = log;
    let mut text = String::new();
    // A slice can't fail to be read, and lines are UTF-8.
    let _ = Text::new(&mut log).read_to_string(&mut text);
    text
}
