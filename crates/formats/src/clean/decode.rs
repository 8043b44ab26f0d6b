//! Bytes of a file into UTF-8 lines: UTF-16 with or without its mark, and quoted-printable where a file is evidently so.

use std::io::{self, BufRead, Read};

use super::LONGEST;

/// How a file's text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 or something near it.
    Bytes,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Mail: `=3D` for `=`, and `=` at the end of a line that goes on.
    QuotedPrintable,
}

impl Encoding {
    pub(super) fn of(head: &[u8]) -> Encoding {
        match head {
            [0xff, 0xfe, ..] => return Encoding::Utf16Le,
            [0xfe, 0xff, ..] => return Encoding::Utf16Be,
            _ => {}
        }
        // Without the mark: nearly all of a log's letters have a zero for the high byte.
        let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
        if pairs >= 2 && odd * 10 >= pairs * 7 && even * 10 <= pairs {
            return Encoding::Utf16Le;
        }
        if pairs >= 2 && even * 10 >= pairs * 7 && odd * 10 <= pairs {
            return Encoding::Utf16Be;
        }
        match is_quoted_printable(head) {
            true => Encoding::QuotedPrintable,
            false => Encoding::Bytes,
        }
    }

    /// Appends the next line with its end, or so much of it as [`LONGEST`] allows.
    pub(super) fn line(self, input: &mut dyn BufRead, into: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Encoding::Bytes => {
                input.take(LONGEST).read_until(b'\n', into)?;
            }
            Encoding::Utf16Le => wide(input, u16::from_le_bytes, into)?,
            Encoding::Utf16Be => wide(input, u16::from_be_bytes, into)?,
            Encoding::QuotedPrintable => {
                while (into.len() as u64) < LONGEST {
                    let from = into.len();
                    input.take(LONGEST).read_until(b'\n', into)?;
                    let line = into.split_off(from);
                    let (text, goes_on) = unquoted(&line);
                    into.extend(text);
                    if !goes_on || line.is_empty() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn wide(input: &mut dyn BufRead, unit: fn([u8; 2]) -> u16, into: &mut Vec<u8>) -> io::Result<()> {
    let mut units = Vec::new();
    let mut pair = Vec::with_capacity(2);
    while (units.len() as u64) < LONGEST / 4 {
        pair.clear();
        input.take(2).read_to_end(&mut pair)?;
        let &[low, high] = pair.as_slice() else { break };
        let next = unit([low, high]);
        units.push(next);
        if next == u16::from(b'\n') {
            break;
        }
    }
    into.extend(String::from_utf16_lossy(&units).bytes());
    Ok(())
}

/// Whether every `=` stands where quoted-printable would put it, and often enough to be no chance.
fn is_quoted_printable(head: &[u8]) -> bool {
    if !head.contains(&b'=') {
        return false;
    }
    const NAME: &[u8] = b"quoted-printable";
    let mut starts = head.iter().enumerate().filter(|(_, byte)| matches!(byte, b'q' | b'Q'));
    if starts.any(|(at, _)| head.get(at..at + NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)))
    {
        return true;
    }
    let (mut escapes, mut breaks) = (0_usize, 0_usize);
    for (at, _) in head.iter().enumerate().filter(|(_, byte)| **byte == b'=') {
        match head.get(at + 1..).unwrap_or_default() {
            [] | [_] => {}
            [b'\n', ..] | [b'\r', b'\n', ..] => breaks += 1,
            [b'3', b'D' | b'd', ..] | [b'2', b'0', ..] | [b'0', b'9' | b'A' | b'D', ..] => escapes += 1,
            [b'8' | b'9' | b'A'..=b'F', low, ..] if low.is_ascii_hexdigit() => escapes += 1,
            _ => return false,
        }
    }
    let needed = if is_json(head) { 1 } else { 0 };
    escapes + breaks >= 2 && escapes >= 1 && breaks >= needed
}

/// A line without its quoting, and whether it goes on in the next one.
fn unquoted(line: &[u8]) -> (Vec<u8>, bool) {
    let end = without_end(line);
    let trimmed = end.trim_ascii_end();
    let (text, goes_on) = match trimmed.strip_suffix(b"=") {
        Some(text) if line.len() > end.len() => (text, true),
        _ => (line, false),
    };
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'=', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    (out, goes_on)
}

/// Whether the text begins as a JSON document does, and not as a line such as `[  5] local ...`.
pub(super) fn is_json(head: &[u8]) -> bool {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    // Escaped for HTML it is no JSON yet.
    let begins = match head.trim_ascii_start() {
        [b'{', ..] => true,
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'{' | b'[' | b'"' | b']')),
        _ => false,
    };
    begins && (head.contains(&b'"') || !head.contains(&b'&'))
}

/// Without line feed and carriage returns at the end.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let mut line = line.strip_suffix(b"\n").unwrap_or(line);
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    line
}

/// Bytes up to a character that is cut off at the end.
pub(super) fn whole_characters(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(4);
    let tail = bytes.get(from..).unwrap_or_default();
    match tail.iter().rposition(|byte| *byte >= 0xc0) {
        Some(at) => {
            let needed = match tail.get(at) {
                Some(0xf0..) => 4,
                Some(0xe0..) => 3,
                _ => 2,
            };
            if tail.len() - at < needed { from + at } else { bytes.len() }
        }
        None => bytes.len(),
    }
}
