//! Lines to cells and back.

use std::fmt::{self, Write};

/// A cell, and whether it stood in quotes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// A number in quotes is text.
    pub quoted: bool,
}

/// What may stand between cells.
const DELIMITERS: [char; 3] = [',', '\t', ';'];

/// The cells of a head and what stands between them: what gives most of them.
pub fn head(text: &str) -> Option<(char, Vec<Cell>)> {
    let text = text.trim_start_matches('\u{feff}');
    let split = |delimiter| split(text, delimiter).map(|cells| (delimiter, cells));
    let best = DELIMITERS.into_iter().filter_map(split).max_by_key(|(_, cells)| cells.len())?;
    (best.1.len() > 1).then_some(best)
}

/// The cells of a line; `None` where a quoted one goes on in the next.
pub fn split(text: &str, delimiter: char) -> Option<Vec<Cell>> {
    let mut row = Row::default();
    row.push(text, delimiter).then(|| row.finish())
}

/// A row that may go on over several lines, within quotes. Each line is looked at once.
#[derive(Debug, Default)]
pub struct Row {
    cells: Vec<Cell>,
    cell: Cell,
    inside: bool,
}

impl Row {
    /// Takes the next line; whether the row ends with it.
    pub fn push(&mut self, line: &str, delimiter: char) -> bool {
        if self.inside {
            self.cell.text.push('\n');
        }
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if self.inside && chars.peek() == Some(&'"') => {
                    chars.next();
                    self.cell.text.push('"');
                }
                '"' if self.inside => self.inside = false,
                '"' if self.cell.text.is_empty() && !self.cell.quoted => {
                    (self.inside, self.cell.quoted) = (true, true);
                }
                c if c == delimiter && !self.inside => {
                    self.cells.push(finish(std::mem::take(&mut self.cell)));
                }
                // Blanks before a cell are no part of it, before a quote neither.
                c if c.is_whitespace() && self.cell.text.is_empty() && !self.cell.quoted => {}
                c => self.cell.text.push(c),
            }
        }
        !self.inside
    }

    /// The cells.
    pub fn finish(mut self) -> Vec<Cell> {
        self.cells.push(finish(self.cell));
        self.cells
    }
}

/// Blanks around a cell are no part of it, unless they are quoted.
fn finish(mut cell: Cell) -> Cell {
    if !cell.quoted {
        cell.text = cell.text.trim().to_owned();
    }
    cell
}

/// Writes text: in quotes where it would be read as anything else without.
pub fn text(text: &str, out: &mut dyn Write) -> fmt::Result {
    let special = |c: char| DELIMITERS.contains(&c) || matches!(c, '"' | '\n' | '\r' | '#');
    let plain =
        !text.is_empty() && !text.contains(special) && text.trim() == text && text.parse::<f64>().is_err();
    if plain { out.write_str(text) } else { write!(out, "\"{}\"", text.replace('"', "\"\"")) }
}

/// Writes a number so that it is read back as the same.
pub fn number(value: f64, out: &mut dyn Write) -> fmt::Result {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}
