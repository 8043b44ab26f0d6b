//! Cuts JSON as it streams by into pieces that are small: a document without its intervals, and the intervals one by
//! one. A day of them is a gigabyte, of which only one interval is held at a time.
//!
//! Works on what people keep: lines of other programs before, behind and within, documents that end early, several in
//! one file, one object a line.

/// Longer pieces are no document of iperf3.
const LONGEST: usize = 256 << 20;
/// Far deeper than any document of iperf3.
const DEEPEST: usize = 64;

/// Takes the pieces.
pub trait Pieces {
    /// The intervals of a document begin; `head` is what stands before them, closed.
    fn begin(&mut self, head: &str);
    /// An interval.
    fn interval(&mut self, text: &str);
    /// A document without its intervals; `cut` if it had no end.
    fn document(&mut self, text: &str, cut: bool);
    /// A line of another program stood in the document.
    fn foreign(&mut self);
}

/// The state between two lines.
#[derive(Debug, Default)]
pub struct Splitter {
    /// What is open: closing marks.
    open: Vec<char>,
    in_string: bool,
    escaped: bool,
    /// The document so far, without intervals.
    text: String,
    /// Where in `text` the string that was last opened begins.
    string: usize,
    /// Within the list of intervals.
    listing: bool,
    /// Where in `text` the interval begins that is being read.
    element: Option<usize>,
    /// The `{` that was just read stood at the begin of a line: (depth before it, place in `text`).
    fresh: Option<(usize, usize)>,
    /// The next piece goes on in the same line.
    within: bool,
}

impl Splitter {
    /// The next line, or a piece of one if it is not `whole`.
    pub fn line(&mut self, line: &str, whole: bool, pieces: &mut dyn Pieces) {
        let begins = !std::mem::replace(&mut self.within, !whole);
        if begins {
            // Strings end with their line.
            if self.in_string {
                (self.in_string, self.escaped) = (false, false);
                self.text.push('"');
            }
            if !self.open.is_empty() && !is_json(line) {
                pieces.foreign();
                return;
            }
        }
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let run = self.run(rest.as_bytes());
            let (taken, after) = rest.split_at(run);
            if run > 0 {
                if self.in_string || self.kept() {
                    self.text.push_str(taken);
                }
                if !self.in_string && !taken.trim_ascii().is_empty() {
                    self.fresh = None;
                }
                rest = after;
            } else {
                self.character(c, begins && rest.len() == line.len(), pieces);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
        if whole && !self.open.is_empty() && self.kept() {
            self.text.push('\n');
        }
        if self.text.len() > LONGEST || self.open.len() > DEEPEST {
            self.reset();
        }
    }

    /// Nothing follows.
    pub fn finish(&mut self, pieces: &mut dyn Pieces) {
        if !self.open.is_empty() {
            self.cut(pieces);
        }
    }

    /// So many bytes mean nothing but themselves: up to what opens, closes or escapes something.
    fn run(&self, rest: &[u8]) -> usize {
        let end = match (self.in_string, self.open.is_empty()) {
            (true, _) if self.escaped => Some(0),
            (true, _) => rest.iter().position(|byte| matches!(byte, b'"' | b'\\')),
            (false, true) => Some(0),
            (false, false) => rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')),
        };
        end.unwrap_or(rest.len())
    }

    fn reset(&mut self) {
        *self = Splitter { within: self.within, ..Splitter::default() };
    }

    /// Whether what is read now belongs to a piece: between two intervals stand only commas.
    fn kept(&self) -> bool {
        !self.listing || self.element.is_some()
    }

    /// What there is of a document whose end is missing.
    fn cut(&mut self, pieces: &mut dyn Pieces) {
        if let Some(element) = self.element {
            self.text.truncate(element);
        }
        let text = std::mem::take(&mut self.text);
        pieces.document(&text, true);
        self.reset();
    }

    fn character(&mut self, c: char, begins_line: bool, pieces: &mut dyn Pieces) {
        if self.in_string {
            self.text.push(c);
            match c {
                _ if self.escaped => self.escaped = false,
                '\\' => self.escaped = true,
                '"' => {
                    self.in_string = false;
                    self.restart(pieces);
                }
                _ => {}
            }
            return;
        }
        if self.open.is_empty() && c != '{' {
            return;
        }
        match c {
            '"' => {
                self.string = self.text.len();
                self.in_string = true;
                if self.kept() {
                    self.text.push(c);
                } else {
                    self.in_string = false;
                }
                return;
            }
            '{' | '[' => {
                let depth = self.open.len();
                if c == '[' && depth == 1 && self.names_intervals() {
                    self.listing = true;
                    pieces.begin(&format!("{}[]}}", self.text));
                } else if self.listing && depth == 2 && c == '{' {
                    self.element = Some(self.text.len());
                }
                self.fresh = (c == '{' && begins_line).then_some((depth, self.text.len()));
                self.text.push(c);
                self.open.push(if c == '{' { '}' } else { ']' });
                return;
            }
            '}' | ']' => {
                if self.open.last() != Some(&c) {
                    // Not JSON: what there is of it may still tell something.
                    self.cut(pieces);
                    return;
                }
                self.open.pop();
                self.close(c, pieces);
            }
            _ if self.kept() => self.text.push(c),
            _ => {}
        }
        if !c.is_whitespace() {
            self.fresh = None;
        }
    }

    fn close(&mut self, c: char, pieces: &mut dyn Pieces) {
        if self.listing && self.open.len() == 1 {
            self.listing = false;
        }
        self.text.push(c);
        match self.element {
            Some(element) if self.open.len() == 2 => {
                self.element = None;
                let interval = self.text.split_off(element);
                pieces.interval(&interval);
            }
            _ => {}
        }
        if self.open.is_empty() {
            let text = std::mem::take(&mut self.text);
            pieces.document(&text, false);
            self.reset();
        }
    }

    /// Whether the list that opens is the document's `"intervals"`.
    fn names_intervals(&self) -> bool {
        let name = self.text.trim_end().strip_suffix(':').map(str::trim_end);
        name.is_some_and(|text| text.ends_with("\"intervals\""))
    }

    /// A string has ended. Within a document that never ended another may begin: `{` at the begin of a line, and the
    /// first key of a document.
    fn restart(&mut self, pieces: &mut dyn Pieces) {
        let Some((depth, at)) = self.fresh.take() else { return };
        let key = self.text.get(self.string..).unwrap_or_default();
        if depth == 0 || !(key == "\"start\"" || key == "\"event\"") {
            return;
        }
        let begun = self.text.split_off(at);
        self.cut(pieces);
        self.text = begun;
        self.open.push('}');
    }
}

/// Whether a line within a document may be part of it.
fn is_json(line: &str) -> bool {
    let line = line.trim();
    let Some(first) = line.chars().next() else { return true };
    matches!(first, '"' | '{' | '}' | '[' | ']' | ',' | ':' | '-' | '0'..='9')
        || ["true", "false", "null", "nan", "inf"].iter().any(|word| line.trim_end_matches(',') == *word)
}
