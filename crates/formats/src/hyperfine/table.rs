//! The tables of `--export-csv` and `--export-markdown`.

use super::{Command, Commands, param};
use crate::clean::Line;

/// The head of a table: what its columns hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Cells stand between bars, not commas.
    markdown: bool,
    all: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq)]
enum Column {
    Command,
    /// A figure, and by what it is divided to get seconds.
    Figure(&'static str, f64),
    /// A mean and its deviation: `14.5 ± 1.6`.
    Pair(f64),
    User,
    System,
    Parameter(String),
    Other,
}

/// The columns, if `text` is the head of such a table.
pub fn columns(text: &str) -> Option<Columns> {
    let text = text.trim();
    if text.starts_with("command,mean,stddev,") {
        let column = |name: &str| match name {
            "command" => Column::Command,
            "mean" => Column::Figure("mean", 1.0),
            "stddev" => Column::Figure("sd", 1.0),
            "median" => Column::Figure("median", 1.0),
            "min" => Column::Figure("min", 1.0),
            "max" => Column::Figure("max", 1.0),
            "user" => Column::User,
            "system" => Column::System,
            name => name
                .strip_prefix("parameter_")
                .map_or(Column::Other, |name| Column::Parameter(name.to_owned())),
        };
        return Some(Columns { markdown: false, all: text.split(',').map(column).collect() });
    }
    if !text.starts_with("| Command ") || !text.contains("| Mean [") || !text.contains("| Relative") {
        return None;
    }
    let column = |title: &str| {
        let (name, unit) = title.split_once('[').map_or((title, ""), |(name, unit)| (name, unit));
        let factor = match unit.trim_end_matches(']') {
            "s" => 1.0,
            "ms" => 1e3,
            "µs" | "μs" => 1e6,
            _ => return if name == "Command" { Column::Command } else { Column::Other },
        };
        match name.trim() {
            "Mean" => Column::Pair(factor),
            "Min" => Column::Figure("min", factor),
            "Max" => Column::Figure("max", factor),
            _ => Column::Other,
        }
    };
    Some(Columns { markdown: true, all: bars(text).iter().map(|title| column(title)).collect() })
}

/// Reads the rows below a head.
#[derive(Default)]
pub struct Reader(Option<Columns>);

impl Reader {
    /// Whether the line belongs to a table.
    pub fn line(&mut self, line: Line<'_>, commands: &mut Commands<'_>) -> bool {
        if let Some(columns) = columns(line.text) {
            self.0 = Some(columns);
            return true;
        }
        let Some(columns) = &self.0 else { return false };
        let text = line.text.trim();
        let cells: Vec<String> =
            if columns.markdown { bars(text).into_iter().map(str::to_owned).collect() } else { commas(text) };
        let rule = columns.markdown && text.starts_with("|:");
        // The last number of a cut line may lack digits.
        let whole = line.whole || text.ends_with('|');
        if cells.len() != columns.all.len() || !whole {
            if !rule {
                self.0 = None;
            }
            return rule;
        }
        if !rule {
            row(columns, &cells, commands);
        }
        true
    }
}

fn row(columns: &Columns, cells: &[String], commands: &mut Commands<'_>) {
    let mut command = Command::default();
    let number = |cell: &str| cell.trim().parse().ok().filter(|value: &f64| value.is_finite());
    for (column, cell) in columns.all.iter().zip(cells) {
        match column {
            Column::Command => command.name = cell.trim_matches('`').to_owned(),
            Column::Figure(name, factor) => {
                command.figures.extend(number(cell).map(|value| (*name, value / factor)));
            }
            Column::Pair(factor) => {
                let (mean, sd) = cell.split_once('±').map_or((cell.as_str(), ""), |(mean, sd)| (mean, sd));
                command.figures.extend(number(mean).map(|mean| ("mean", mean / factor)));
                command.figures.extend(number(sd).map(|sd| ("sd", sd / factor)));
            }
            Column::User => command.user = number(cell),
            Column::System => command.system = number(cell),
            Column::Parameter(name) => {
                command.params.insert(name.clone(), param(cell));
            }
            Column::Other => {}
        }
    }
    commands.take(command);
}

/// The cells between bars. A bar within a command is written `\|`.
fn bars(text: &str) -> Vec<&str> {
    let inside = text.strip_prefix('|').unwrap_or(text);
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let mut cells = Vec::new();
    let mut from = 0;
    for (at, _) in inside.match_indices('|') {
        let before = inside.get(..at).unwrap_or_default();
        if !before.ends_with('\\') {
            cells.push(inside.get(from..at).unwrap_or_default().trim());
            from = at + 1;
        }
    }
    cells.push(inside.get(from..).unwrap_or_default().trim());
    cells
}

/// The cells between commas; quoted ones may hold commas and doubled quotes.
fn commas(text: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut last = ' ';
    for c in text.chars() {
        match c {
            '"' => {
                // A doubled quote within quotes is one.
                if !quoted && last == '"' {
                    cells.last_mut().into_iter().for_each(|cell| cell.push('"'));
                }
                quoted = !quoted;
            }
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
        last = c;
    }
    cells
}
