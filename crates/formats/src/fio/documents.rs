//! Finds fio's JSON documents in a log: behind text, before text, after each other, polluted, cut.

use serde_json::Value;

/// A document, and whether it had to be closed for lack of its end.
pub(super) struct Document {
    pub value: Value,
    pub cut: bool,
    /// Lines of others that stood in it.
    pub foreign: Vec<String>,
}

/// Keys by which an object is a document, or a job whose document lost its beginning.
const FIRST: [&str; 9] = [
    "fio version",
    "jobs",
    "client_stats",
    "disk_util",
    "global options",
    "jobname",
    "time",
    "timestamp",
    "timestamp_ms",
];

/// Text full of braces must not be gone over for each of them.
const MENDS: usize = 8;

/// Whether `text` holds one, or most of one.
pub(super) fn is_fio(text: &str) -> bool {
    let key = |key: &str| {
        text.match_indices(key).any(|(at, _)| {
            let after = text.get(at + key.len()..).unwrap_or_default();
            after.trim_start().starts_with(':')
        })
    };
    key("\"fio version\"") || key("\"jobname\"") && key("\"groupid\"")
}

/// Every document of `text`.
pub(super) fn find(text: &str) -> Vec<Document> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut mends = 0;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let inside = rest[1..].trim_start();
        let key = inside.strip_prefix('"').and_then(|inside| inside.split('"').next());
        if !key.is_some_and(|key| FIRST.contains(&key)) {
            rest = &rest[1..];
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            rest = &rest[stream.byte_offset()..];
            found.push(Document { value, cut: false, foreign: Vec::new() });
            continue;
        }
        mends += 1;
        if mends > MENDS {
            break;
        }
        match mended(rest) {
            Some((document, used)) => {
                rest = &rest[used..];
                found.push(document);
            }
            None => rest = &rest[1..],
        }
    }
    found
}

/// The document at the start of `text` without the lines of others, with null for numbers that are none, closed if
/// its end is missing; and how much of `text` that is.
fn mended(text: &str) -> Option<(Document, usize)> {
    let mut kept = String::new();
    let mut foreign = Vec::new();
    let mut open: Vec<char> = Vec::new();
    // Where the document may be cut: behind a whole direction of a job, or anything larger.
    let mut safe: Option<(usize, Vec<char>)> = None;
    let mut used = 0;
    for line in text.split_inclusive('\n') {
        used += line.len();
        let begin = line.trim_start();
        if begin.starts_with(|c: char| !"\"{}[],:-".contains(c) && !c.is_ascii_digit()) {
            foreign.push(begin.trim_end().chars().take(80).collect());
            continue;
        }
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if c == '"' {
                let end = string_end(rest);
                kept.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            if let Some(word) = ["-nan", "nan", "-inf", "inf"].iter().find(|word| rest.starts_with(**word)) {
                kept.push_str("null");
                rest = &rest[word.len()..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            kept.push(c);
            match c {
                '{' => open.push('}'),
                '[' => open.push(']'),
                '}' | ']' => {
                    if open.pop() != Some(c) {
                        return None;
                    }
                    if open.is_empty() {
                        let value = serde_json::from_str(&kept).ok()?;
                        return Some((Document { value, cut: false, foreign }, used - rest.len()));
                    }
                    if open.len() <= 3 {
                        safe = Some((kept.len(), open.clone()));
                    }
                }
                _ => {}
            }
            // Far deeper than fio's.
            if open.len() > 32 {
                return None;
            }
        }
    }
    let (end, open) = safe?;
    kept.truncate(end);
    kept.extend(open.into_iter().rev());
    let value = serde_json::from_str(&kept).ok()?;
    // What follows the cut was not a document's.
    Some((Document { value, cut: true, foreign: Vec::new() }, text.len()))
}

/// The length of the string literal that `text` begins with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
