//! `sensors -j`, read token by token: a cut document, lines of others inside it, and one label for two sensors
//! of a chip are no reason to lose the rest.

use super::feature::{Feature, is_chip};
use crate::sensors::Log;

/// A document while it is read.
#[derive(Debug, Default)]
pub struct Document {
    /// The keys of the open objects; the first is the document's own.
    open: Vec<String>,
    key: Option<String>,
    feature: Option<Feature>,
}

/// Chips, features, subfeatures: deeper objects are of others.
const DEEPEST: usize = 16;

impl Document {
    /// Whether an object is open.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes a line.
    pub fn take(&mut self, line: &str, whole: bool, log: &mut Log<'_>) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            rest = match first {
                '"' => match string(rest) {
                    Some((text, rest)) => {
                        if let Some(rest) = rest.trim_start().strip_prefix(':') {
                            self.key = Some(text);
                            rest
                        } else {
                            self.key = None;
                            rest
                        }
                    }
                    None => return,
                },
                '{' => {
                    self.begin();
                    &rest[1..]
                }
                '}' => {
                    self.end(log);
                    &rest[1..]
                }
                '0'..='9' | '-' | '+' => {
                    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
                    let (number, behind) = rest.split_at(end.unwrap_or(rest.len()));
                    // A number at the very end may be half of one.
                    if (whole || end.is_some())
                        && let (Some(key), Some(feature)) = (self.key.take(), &mut self.feature)
                    {
                        feature.take(&key, number);
                    }
                    behind
                }
                other => &rest[other.len_utf8()..],
            }
            .trim_start();
        }
    }

    /// Forgets the feature that is being read.
    pub fn drop_feature(&mut self) {
        self.feature = None;
    }

    fn begin(&mut self) {
        let key = self.key.take().unwrap_or_default();
        if is_chip(&key) {
            // Wherever it stands: the beginning of the document may be missing.
            self.open = vec![String::new(), key];
            return;
        }
        if self.open.len() == 2 {
            self.feature = Some(Feature::new(&key));
        }
        if self.open.len() < DEEPEST {
            self.open.push(key);
        }
    }

    fn end(&mut self, log: &mut Log<'_>) {
        if self.open.len() == 3 {
            self.finish(log);
        }
        self.open.pop();
        if self.open.is_empty() {
            log.end_lists();
        }
    }

    /// Ends the feature that is being read: at its brace, or where the file is cut.
    pub fn finish(&mut self, log: &mut Log<'_>) {
        let chip = self.open.get(1).map(String::as_str).unwrap_or_default();
        if let Some(sensor) = self.feature.take().and_then(|feature| feature.finish(chip)) {
            log.sensor("", "sensors -j", sensor);
        }
    }
}

/// A string and what stands behind it.
fn string(text: &str) -> Option<(String, &str)> {
    let mut told = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((told, text.get(at + 1..)?)),
            '\\' => told.push(chars.next()?.1),
            c => told.push(c),
        }
    }
    None
}
