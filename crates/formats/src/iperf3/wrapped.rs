//! Rows that a mail program broke: the unit or the word `sender` stands alone in the next line, or a `=` at the end of
//! the line says that it goes on.

use super::read_text::is_row;

/// Longer lines are no rows.
const LONGEST: usize = 512;

/// Whether `line` may be the first part of a row.
pub fn may_go_on(line: &str) -> bool {
    line.contains('[') && line.len() < LONGEST
}

/// `first` and the line behind it, if that is the rest of it.
pub fn joined(first: &str, next: &str) -> Option<String> {
    let rest = next.trim_start_matches(['>', '|', ' ', '\t']).trim_end();
    if rest.is_empty() || rest.len() > LONGEST || next.contains('[') {
        return None;
    }
    let first = first.trim_end();
    let whole = match first.strip_suffix('=') {
        Some(first) => format!("{first}{rest}"),
        None if is_rest(rest) => format!("{first} {rest}"),
        None => return None,
    };
    (whole.len() < LONGEST && (is_row(&whole) || whole.contains("[ ID]"))).then_some(whole)
}

/// Numbers with something that says what they are, and nothing else.
fn is_rest(text: &str) -> bool {
    let says = |word: &str| {
        matches!(word, "sender" | "receiver" | "(omitted)" | "ms")
            || word.ends_with("Bytes")
            || word.ends_with("/sec")
            || word.ends_with("%)")
    };
    let number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '/'));
    text.split_whitespace().all(|word| says(word) || number(word)) && text.split_whitespace().any(says)
}
