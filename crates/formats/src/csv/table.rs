//! Files to tables: a head and the rows below it.

use std::io::BufRead;

use super::cells::{self, Cell, Row};
use super::own;
use crate::ParseError;
use crate::clean::Lines;

/// The longest file that is kept, in bytes; what follows is left out, which the run says.
const LONGEST: usize = 256 * 1024 * 1024;

/// A head and its rows.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<Cell>,
    /// The rows: as many cells as the head has.
    pub rows: Vec<Vec<Cell>>,
    /// Semicolons leave commas to numbers.
    pub decimal_comma: bool,
    /// The first line that is no row, and how many there are.
    pub foreign: Option<(String, usize)>,
    /// The last row was cut.
    pub cut: bool,
}

/// The tables of a file: where a head comes again, another begins.
pub fn read(input: &mut dyn BufRead) -> Result<Vec<Table>, ParseError> {
    let mut lines = Lines::new(input);
    let mut tables: Vec<Table> = Vec::new();
    let mut delimiter = ',';
    let (mut pending, mut row) = (String::new(), Row::default());
    let mut length = 0;
    while let Some(line) = lines.next()? {
        let blank = line.text.trim().is_empty() || line.text.starts_with('#');
        if pending.is_empty() && blank {
            continue;
        }
        length += line.text.len();
        if length > LONGEST {
            tables.iter_mut().for_each(|table| table.cut = true);
            break;
        }
        pending.push_str(line.text);
        let Some(table) = tables.last_mut() else {
            if let Some((found, head)) = cells::head(&pending) {
                delimiter = found;
                tables.push(Table { head, decimal_comma: found == ';', ..Table::default() });
            }
            pending.clear();
            continue;
        };
        if !row.push(line.text, delimiter) {
            pending.push('\n');
            continue;
        }
        let row = std::mem::take(&mut row).finish();
        let text = std::mem::take(&mut pending);
        if own::is_head(&row) {
            let next = Table { head: row, decimal_comma: table.decimal_comma, ..Table::default() };
            tables.push(next);
        } else if row == table.head {
            // Printed once more, as `cat` of several files gives it.
        } else if row.len() != table.head.len() {
            if line.whole {
                table.foreign.get_or_insert((text, 0)).1 += 1;
            } else {
                table.cut = true;
            }
        } else if line.whole || complete(table, &row) {
            table.rows.push(row);
        } else {
            table.cut = true;
        }
    }
    if !pending.is_empty() {
        tables.iter_mut().for_each(|table| table.cut = true);
    }
    Ok(tables)
}

/// Whether a row without an end is whole beyond doubt: its last cell is no number, or has all the decimals that the
/// one above has.
fn complete(table: &Table, row: &[Cell]) -> bool {
    let decimals = |cell: &Cell| cell.text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let Some(last) = row.last() else { return false };
    if last.quoted {
        return true;
    }
    let above = table.rows.last().and_then(|row| row.last()).map(decimals);
    decimals(last) > 0 && above == Some(decimals(last))
}
