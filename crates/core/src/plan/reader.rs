//! TOML with positions: tables that know their keys, values that are of a type or an error with line and column.
//!
//! `serde` would stop at the first type it does not like and name no cure; here every refusal says what was
//! expected, what was found and, where it can be told, what was meant.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::PlanError;
use crate::spec::{ParamKind, ParamSpec, Value};

/// The text being read and what it is called in messages.
pub(super) struct Source<'t> {
    pub(super) name: &'t str,
    pub(super) text: &'t str,
}

impl Source<'_> {
    /// An error at a byte offset of the text.
    pub(super) fn error(&self, at: usize, what: impl Into<String>) -> PlanError {
        // Offsets come from a parser that may point behind the end or, in broken input, inside a character.
        let at = (0..=at.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |length| at + length);
        PlanError {
            name: self.name.to_owned(),
            line: self.text[..start].matches('\n').count() + 1,
            column: self.text[start..at].chars().count() + 1,
            what: what.into(),
            hint: None,
            snippet: self.text[start..end].trim_end_matches('\r').to_owned(),
        }
    }
}

/// A table: its keys in the order of the file.
pub(super) struct Table<'t> {
    source: &'t Source<'t>,
    /// Where it begins: its header or brace.
    at: usize,
    pub(super) items: Vec<Item<'t>>,
}

/// A value with its key. Values inside an array carry the key of the array.
#[derive(Clone, Copy)]
pub(super) struct Item<'t> {
    source: &'t Source<'t>,
    pub(super) key: &'t str,
    key_at: usize,
    at: usize,
    value: &'t DeValue<'t>,
}

impl<'t> Table<'t> {
    /// The table of a whole document.
    pub(super) fn root(source: &'t Source<'t>, document: &'t Spanned<DeTable<'t>>) -> Table<'t> {
        Table::new(source, 0, document.get_ref())
    }

    fn new(source: &'t Source<'t>, at: usize, table: &'t DeTable<'t>) -> Table<'t> {
        let mut items: Vec<Item<'t>> = table
            .iter()
            .map(|(key, value)| Item {
                source,
                key: key.get_ref(),
                key_at: key.span().start,
                at: value.span().start,
                value: value.get_ref(),
            })
            .collect();
        items.sort_by_key(|item| item.key_at);
        Table { source, at, items }
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<Item<'t>> {
        self.items.iter().copied().find(|item| item.key == key)
    }

    /// The value of `key`, which may not be missing. `example` completes the hint.
    pub(super) fn need(&self, key: &str, example: &str) -> Result<Item<'t>, PlanError> {
        self.get(key).ok_or_else(|| self.error(format!("{key} is missing")).hint(format!("add {example}")))
    }

    /// An error about the table itself.
    pub(super) fn error(&self, what: impl Into<String>) -> PlanError {
        self.source.error(self.at, what)
    }

    /// Refuses keys that are not in `known`, with the likeliest of those as the cure.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        match self.items.iter().find(|item| !known.contains(&item.key)) {
            None => Ok(()),
            Some(item) => Err(item.unknown("unknown key", known)),
        }
    }
}

impl<'t> Item<'t> {
    /// An error at the value.
    pub(super) fn error(&self, what: impl Into<String>) -> PlanError {
        self.source.error(self.at, what)
    }

    /// An error at the key.
    pub(super) fn key_error(&self, what: impl Into<String>) -> PlanError {
        self.source.error(self.key_at, what)
    }

    /// An error that the key is none of `known`: `kind "key"`.
    pub(super) fn unknown(&self, kind: &str, known: &[&str]) -> PlanError {
        self.key_error(format!("{kind} {}", shown(self.key))).hint(did_you_mean(self.key, known))
    }

    /// An error that the value is none of `known`: `kind "value"`.
    pub(super) fn unknown_value(&self, kind: &str, value: &str, known: &[&str]) -> PlanError {
        self.error(format!("{kind} {}", shown(value))).hint(did_you_mean(value, known))
    }

    /// An error that the value is of another type.
    pub(super) fn expected(&self, what: &str) -> PlanError {
        self.error(format!("{}: expected {what}, found {}", self.key, self.found()))
    }

    fn found(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("the text {}", shown(text)),
            DeValue::Integer(n) => format!("the number {}", bare(&n.to_string())),
            DeValue::Float(x) => format!("the number {}", bare(x.as_str())),
            DeValue::Boolean(on) => on.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }

    /// A text, as written.
    pub(super) fn text(&self) -> Result<&'t str, PlanError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                let written =
                    format!("{} = \"{}\"", self.key, self.found().trim_start_matches("the number "));
                Err(self.expected("text").hint(format!("put it in quotes: {written}")))
            }
            _ => Err(self.expected("text")),
        }
    }

    /// A text for people: one line, printable, of at most `longest` characters, not blank.
    pub(super) fn line(&self, longest: usize) -> Result<&'t str, PlanError> {
        let text = self.text()?;
        if text.trim().is_empty() {
            Err(self.error(format!("{}: is empty", self.key)))
        } else if text.trim() != text {
            Err(self.error(format!("{}: has blanks at its ends", self.key)))
        } else if text.chars().count() > longest {
            Err(self.error(format!("{}: longer than {longest} characters", self.key)))
        } else if text.chars().any(unprintable) {
            Err(self.error(format!("{}: holds characters that can't be printed", self.key)))
        } else {
            Ok(text)
        }
    }

    /// A text without NUL, which no program can be given.
    pub(super) fn argument(&self) -> Result<&'t str, PlanError> {
        let text = self.text()?;
        if text.contains('\0') {
            return Err(self.error(format!("{}: holds a NUL character", self.key)));
        }
        Ok(text)
    }

    /// true or false.
    pub(super) fn switch(&self) -> Result<bool, PlanError> {
        match self.value {
            DeValue::Boolean(on) => Ok(*on),
            DeValue::String(text) if matches!(text.as_ref(), "true" | "false") => {
                Err(self.expected("true or false").hint(format!("without quotes: {} = {text}", self.key)))
            }
            _ => Err(self.expected("true or false")),
        }
    }

    /// A whole number in `range`.
    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, PlanError> {
        let (min, max) = range.into_inner();
        match self.typed(ParamKind::Count { min, max })? {
            Value::Count(n) => Ok(n),
            _ => Err(self.expected("a whole number")),
        }
    }

    /// A size in bytes, in `range`.
    pub(super) fn size(&self, range: RangeInclusive<u64>) -> Result<u64, PlanError> {
        let (min, max) = range.into_inner();
        match self.typed(ParamKind::Size { min, max })? {
            Value::Count(n) => Ok(n),
            _ => Err(self.expected("a size")),
        }
    }

    /// A bit rate in bit/s.
    pub(super) fn bit_rate(&self) -> Result<u64, PlanError> {
        match self.typed(ParamKind::BitRate)? {
            Value::Count(n) => Ok(n),
            _ => Err(self.expected("a bit rate")),
        }
    }

    /// A duration in seconds, in `range`.
    pub(super) fn seconds(&self, range: RangeInclusive<f64>) -> Result<f64, PlanError> {
        let (min, max) = range.into_inner();
        match self.typed(ParamKind::Duration { min, max })? {
            Value::Seconds(seconds) => Ok(seconds),
            _ => Err(self.expected("a duration")),
        }
    }

    /// The program and arguments of a command: a text is for the shell, an array is taken as it is.
    pub(super) fn command(&self) -> Result<Vec<String>, PlanError> {
        match self.value {
            DeValue::String(text) => {
                if text.trim().is_empty() {
                    return Err(self.error(format!("{}: the command is empty", self.key)));
                }
                Ok(["sh", "-c", self.argument()?].map(str::to_owned).to_vec())
            }
            DeValue::Array(_) => {
                let words = self.list()?;
                let argv = words.iter().map(|word| Ok(word.argument()?.to_owned()));
                let argv = argv.collect::<Result<Vec<String>, PlanError>>()?;
                match argv.first() {
                    Some(program) if !program.is_empty() => Ok(argv),
                    _ => Err(self.error(format!("{}: names no program", self.key))),
                }
            }
            _ => Err(self.expected("a command").hint(
                "a text for the shell, \"sync; sleep 1\", or an array of arguments, [\"sleep\", \"1\"]",
            )),
        }
    }

    /// The values of an array.
    pub(super) fn list(&self) -> Result<Vec<Item<'t>>, PlanError> {
        match self.value {
            DeValue::Array(values) => Ok(values
                .iter()
                .map(|value| Item { at: value.span().start, value: value.get_ref(), ..*self })
                .collect()),
            _ => Err(self.expected("an array")),
        }
    }

    /// Whether it is an array.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The table that the value is. `example` shows one in the hint.
    pub(super) fn table(&self, example: &str) -> Result<Table<'t>, PlanError> {
        match self.value {
            DeValue::Table(table) => Ok(Table::new(self.source, self.at, table)),
            _ => Err(self.expected("a table").hint(format!("write {example}"))),
        }
    }

    /// The tables of `[[key]]`, at most `most` of them.
    pub(super) fn tables(&self, most: usize) -> Result<Vec<Table<'t>>, PlanError> {
        let example = format!("[[{}]] above each", self.key);
        if !self.is_list() {
            return Err(self.expected("an array of tables").hint(format!("write {example}")));
        }
        let list = self.list()?;
        match list.get(most) {
            Some(item) => Err(item.error(format!("more than {most} [[{}]]", self.key))),
            None => list.iter().map(|item| item.table(&example)).collect(),
        }
    }

    /// The value as `kind` wants it, in base units and in range.
    pub(super) fn typed(&self, kind: ParamKind) -> Result<Value, PlanError> {
        let spec = ParamSpec { name: "", kind, default: None, help: "" };
        let refused = |why: String| self.error(format!("{}: {why}", self.key));
        let quoted =
            |example: &str| format!("write it with its unit and in quotes: {} = \"{example}\"", self.key);
        match (kind, self.value) {
            (
                ParamKind::Duration { .. } | ParamKind::BitRate | ParamKind::Size { .. },
                DeValue::String(text),
            ) => spec.read_text(text).map_err(refused),
            (ParamKind::Count { .. } | ParamKind::Size { .. }, DeValue::Integer(n)) => {
                let digits = n.as_str();
                if digits.starts_with('-') {
                    return Err(refused("can't be negative".to_owned()));
                }
                let count = u64::from_str_radix(digits.trim_start_matches('+'), n.radix())
                    .map_err(|_| refused("is too large".to_owned()))?;
                spec.in_range(Value::Count(count)).map_err(refused)
            }
            (ParamKind::Duration { .. }, _) => Err(self.expected("a duration").hint(quoted("3s"))),
            (ParamKind::BitRate, _) => Err(self.expected("a bit rate").hint(quoted("25Gbit"))),
            (ParamKind::Size { .. }, _) => {
                Err(self.expected("a size").hint(format!("bytes or k, m, g: {} = \"128k\"", self.key)))
            }
            (ParamKind::Count { .. }, DeValue::String(text)) if text.parse::<u64>().is_ok() => {
                Err(self.expected("a whole number").hint(format!("without quotes: {} = {text}", self.key)))
            }
            (ParamKind::Count { .. }, _) => Err(self.expected("a whole number")),
            (ParamKind::Switch, _) => Ok(Value::Switch(self.switch()?)),
            (ParamKind::Choice(words), _) => Ok(Value::Text(self.choice(words)?.to_owned())),
            (ParamKind::Text, _) => Ok(Value::Text(self.argument()?.to_owned())),
            (ParamKind::Command, _) => Ok(Value::Command(self.command()?)),
        }
    }

    /// One of `words`.
    pub(super) fn choice(&self, words: &[&str]) -> Result<&'t str, PlanError> {
        let text = self.text()?;
        if words.contains(&text) {
            return Ok(text);
        }
        let known: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let what = format!("{}: expected {}, found {}", self.key, known.join(" or "), shown(text));
        Err(match nearest(text, words) {
            Some(word) => self.error(what).hint(format!("did you mean \"{word}\"?")),
            None => self.error(what),
        })
    }
}

/// `text` in quotes for a message: on one line, with nothing that moves a terminal's cursor, not too long.
pub(super) fn shown(text: &str) -> String {
    format!("\"{}\"", bare(text))
}

fn bare(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out = String::new();
    for c in text.chars().take(LONGEST) {
        if unprintable(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    if text.chars().nth(LONGEST).is_some() {
        out.push_str("...");
    }
    out
}

/// Controls, and what reverses or hides text: a name with these would lie in a table.
pub(super) fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The hint for a word that is none of `known`.
pub(super) fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The word of `known` that `word` most likely was meant to be.
fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // A third of the letters may be wrong; of short words one, though never all.
    let letters = word.chars().take(64).count();
    let allowed = (letters / 3).max(1).min(letters.saturating_sub(1));
    known
        .iter()
        .map(|&meant| (distance(word, meant), meant))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, meant)| meant)
}

/// How many letters must be added, dropped, replaced or swapped with their neighbour to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let width = b.len() + 1;
    let mut cost = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let here = i * width + j;
            cost[here] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = cost[here - width - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(cost[here - width] + 1).min(cost[here - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best.min(cost[here - 2 * width - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    cost[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness() {
        let check = |word: &str, known: &[&str], meant: Option<&str>| assert_eq!(nearest(word, known), meant);
        check("block", &["blocks", "margin"], Some("blocks"));
        check("tmie", &["time", "title"], Some("time"));
        check("arms", &["arm", "measure"], Some("arm"));
        check("mut", &["mtu", "offload"], Some("mtu"));
        check("zebra", &["arm", "measure"], None);
        check("", &["a", "bc"], None);
        check("x", &["a"], None);
        check("x", &[], None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn words_in_messages_stay_on_one_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "\"a\\u{a}b\\u{1b}[31m\"");
        assert_eq!(shown(&"x".repeat(100)).len(), 65);
    }
}
