//! Rows of tables that C programs print: found among other text by the shape of their cells.

/// What a cell looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Digits, always there: a size, a number of repetitions.
    Key,
    /// Digits.
    Whole,
    /// Digits around a point.
    Decimal,
    /// A word.
    Word,
    /// A name, always there: a call.
    Name,
}

/// The cells of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells<'a> {
    /// As printed; `None` where no number was printed, or only the first digits of one.
    pub words: Vec<Option<&'a str>>,
    /// Another process wrote into the same line.
    pub mixed: bool,
    /// The log ends in the last cell.
    pub cut: bool,
}

/// Whether `text` is a number without sign and point.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits behind the point.
pub fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, part)| part.len())
}

/// The rows in `text`: mostly one; several where a copy has lost the ends of lines; none in any other text. `whole` is
/// false for the last line of a log that has no end.
pub fn rows<'a>(shapes: &[Shape], text: &'a str, whole: bool) -> Vec<Cells<'a>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let n = shapes.len();
    if n == 0 || words.len() < n {
        return Vec::new();
    }
    if words.len().is_multiple_of(n) {
        let cut = |index: usize| !whole && (index + 1) * n == words.len();
        let rows = words.chunks(n).enumerate().map(|(index, words)| cells(shapes, words, cut(index)));
        if let Some(rows) = rows.collect() {
            return rows;
        }
    }
    // Another process wrote into the same line: rows are known by their exact shape.
    let front = words.get(..n).map(|words| {
        let mut words = words.to_vec();
        if let Some(last) = words.last_mut() {
            let end = last.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(last.len());
            *last = &last[..end];
        }
        words
    });
    let back = words.get(words.len() - n..).filter(|_| whole).map(<[&str]>::to_vec);
    let found = [front, back].into_iter().flatten().find(|words| is_exact(shapes, words));
    let row = found.and_then(|words| cells(shapes, &words, false));
    row.map(|row| Cells { mixed: true, ..row }).into_iter().collect()
}

/// A row that another program's line can hardly be.
fn is_exact(shapes: &[Shape], words: &[&str]) -> bool {
    shapes.len() > 1
        && shapes.iter().zip(words).all(|(shape, word)| match shape {
            Shape::Key | Shape::Whole => is_digits(word),
            Shape::Decimal => is_decimal(word) && decimals(word) == 2,
            Shape::Word => word.bytes().all(|byte| byte.is_ascii_alphabetic()),
            Shape::Name => is_name(word),
        })
}

/// `shmem_int_fadd`: letters, digits and an underscore at least, which a word of a sentence lacks.
fn is_name(word: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.contains('_') && word.chars().all(named)
}

fn is_decimal(word: &str) -> bool {
    word.split_once('.').is_some_and(|(whole, part)| is_digits(whole) && is_digits(part))
}

/// `words` as a row. A number that may have been `cut` counts only if its second decimal is there.
fn cells<'a>(shapes: &[Shape], words: &[&'a str], cut: bool) -> Option<Cells<'a>> {
    let mut row = Cells { words: Vec::with_capacity(words.len()), mixed: false, cut: false };
    for (index, (shape, word)) in shapes.iter().zip(words).enumerate() {
        let last = cut && index + 1 == words.len();
        let printed = match shape {
            // More digits than any number of bytes has.
            Shape::Key => is_digits(word) && word.len() < 19,
            Shape::Whole => is_digits(word),
            Shape::Decimal => is_decimal(word) || last && is_digits(word.trim_end_matches('.')),
            Shape::Word => true,
            Shape::Name => is_name(word),
        };
        let hollow = matches!(*word, "nan" | "-nan" | "inf" | "-inf" | "-") || word.starts_with("**");
        if !printed && (matches!(shape, Shape::Key | Shape::Name) || !hollow) {
            return None;
        }
        let half = last && !(*shape == Shape::Decimal && decimals(word) == 2);
        row.cut |= half;
        row.words.push((printed && !half).then_some(*word));
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let check = |text: &str, whole: bool, wanted: &str| {
            let rows = rows(&[Shape::Key, Shape::Decimal], text, whole);
            let text = |row: &Cells<'_>| {
                let words: Vec<&str> = row.words.iter().map(|word| word.unwrap_or("-")).collect();
                words.join(" ") + if row.mixed { " mixed" } else { "" } + if row.cut { " cut" } else { "" }
            };
            assert_eq!(rows.iter().map(text).collect::<Vec<_>>().join("; "), wanted);
        };
        check("8    1.25", true, "8 1.25");
        check("8 1.25 16 2.50", true, "8 1.25; 16 2.50");
        check("8 nan", true, "8 -");
        check("8 1.25[host:1] a warning", true, "8 1.25 mixed");
        check("LID = 786 8 1.25", true, "8 1.25 mixed");
        check("8 1.2", false, "8 - cut");
        check("8 1", false, "8 - cut");
        check("8 1.25", false, "8 1.25");
        for text in ["", "8", "8 9", "-8 1.25", "8 1e3", "version 1.25", "12345678901234567890 1.25"] {
            check(text, true, "");
        }
    }
}
