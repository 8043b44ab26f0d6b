//! Tables of ipmi-sensors and ipmi-sel, between `|` or commas, with or without their header.

use tenbin_core::run::Event;

use crate::ipmitool::direction;
use crate::sensors::clock;
use crate::sensors::reading::{in_unit, number};
use crate::sensors::{EventRow, Sensor};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The record, decimal.
    Id,
    /// The sensor's name.
    Name,
    /// The sensor's type.
    Type,
    /// Nominal, Warning, Critical.
    State,
    /// A number.
    Reading,
    /// Its unit.
    Units,
    /// A threshold.
    Limit,
    /// The states of a sensor, or what happened.
    Event,
    /// Of an event.
    Date,
    /// Of an event.
    Time,
    /// Assertion or deassertion.
    Direction,
    /// Anything else.
    Other,
}

/// A row of either list.
#[derive(Clone, Debug)]
pub enum Row {
    /// Of ipmi-sensors.
    Sensor(Sensor),
    /// Of ipmi-sel.
    Event(EventRow),
}

/// The columns of a header.
pub fn header(text: &str) -> Option<Vec<Column>> {
    let columns: Vec<Column> = cells(text)?.iter().map(|cell| column(cell)).collect();
    let has = |column| columns.contains(&column);
    let own = columns.first() == Some(&Column::Id) && (has(Column::Name) || has(Column::Date));
    let full = has(Column::Event) || (has(Column::Reading) && !has(Column::Other));
    (own && full && columns.len() > 3).then_some(columns)
}

fn column(title: &str) -> Column {
    let title = title.to_ascii_lowercase().replace('_', " ");
    match title.as_str() {
        "id" | "record id" => Column::Id,
        "name" | "sensor name" | "id string" => Column::Name,
        "type" | "sensor type" | "group" | "sensor group" => Column::Type,
        "state" | "sensor state" | "monitoring status" => Column::State,
        "reading" | "sensor reading" => Column::Reading,
        "units" | "sensor units" => Column::Units,
        "event" | "sensor event" => Column::Event,
        "date" => Column::Date,
        "time" => Column::Time,
        "event direction" | "direction" => Column::Direction,
        _ if title.starts_with("lower ") || title.starts_with("upper ") => Column::Limit,
        _ => Column::Other,
    }
}

fn cells(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    if text.contains('|') {
        let inner = text.strip_prefix('|').map(|inner| inner.strip_suffix('|').unwrap_or(inner));
        return Some(inner.unwrap_or(text).split('|').map(str::trim).collect());
    }
    text.contains(',').then(|| text.split(',').map(str::trim).collect())
}

/// Reads a row below `header`, or one whose columns show what they are.
pub fn row(text: &str, header: Option<&[Column]>, whole: bool) -> Option<Row> {
    let all = cells(text)?;
    let id = all.first()?;
    if id.is_empty() || id.len() > 10 || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let guessed;
    let columns = match header {
        Some(columns) => columns,
        None => {
            guessed = guess(&all)?;
            &guessed
        }
    };
    let glue = if text.contains('|') { " | " } else { ", " };
    let cells = fit(&all, columns, glue);
    let cell = |column: Column| {
        let at = columns.iter().position(|other| *other == column)?;
        cells.get(at).map(String::as_str)
    };
    let last = cells.last().map(String::as_str).unwrap_or_default();
    // The last column may be cut; what lacks columns is.
    if !whole
        && (cells.len() < columns.len()
            || (last.starts_with('\'') && !last.ends_with('\''))
            || last.is_empty())
    {
        return None;
    }
    let record = id.parse().ok()?;
    if columns.contains(&Column::Date) { event(record, cell, text) } else { sensor(cell, text) }
}

/// As many cells as columns: what is too much belongs to a text that holds the mark between cells.
fn fit(cells: &[&str], columns: &[Column], glue: &str) -> Vec<String> {
    let more = cells.len().saturating_sub(columns.len());
    let owned = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    if more == 0 {
        return owned(cells);
    }
    // Quotes open the states of a sensor: what is too much before them is of its name.
    let quoted = cells.iter().position(|cell| cell.starts_with('\''));
    let name = columns.iter().position(|column| *column == Column::Name).unwrap_or(0);
    match quoted {
        Some(at) if at + 1 > columns.len() && !columns.contains(&Column::Date) => {
            let more = at + 1 - columns.len();
            let mut fitted = owned(&cells[..name]);
            fitted.push(cells[name..=name + more].join(glue));
            fitted.extend(owned(&cells[name + more + 1..at]));
            fitted.push(cells[at..].join(glue));
            fitted
        }
        _ => {
            let end = columns.len().saturating_sub(1);
            let mut fitted = owned(&cells[..end]);
            fitted.push(cells[end..].join(glue));
            fitted
        }
    }
}

const STATES: [&str; 4] = ["Nominal", "Warning", "Critical", "N/A"];

/// The columns of a row without a header (--no-header-output).
fn guess(cells: &[&str]) -> Option<Vec<Column>> {
    use Column::{Date, Direction, Event, Id, Limit, Name, Reading, State, Time, Type, Units};
    let at = |index: usize| cells.get(index).copied().unwrap_or_default();
    if is_event_date(at(1))
        && (clock::time_of_day(at(2)).is_some() || is_event_date(at(2)))
        && cells.len() > 4
    {
        let mut columns = vec![Id, Date, Time, Name];
        let directed = |cell| direction(cell).is_some();
        if cells.len() > 5 && !directed(at(4)) {
            columns.push(Type);
        }
        if cells.len() > columns.len() + 1 && STATES.contains(&at(columns.len())) {
            columns.push(State);
        }
        if directed(at(columns.len())) {
            columns.push(Direction);
        }
        columns.push(Event);
        return Some(columns);
    }
    let end = cells.iter().position(|cell| is_states(cell) && cell.starts_with('\''));
    let end = end.or_else(|| cells.len().checked_sub(1).filter(|end| is_states(at(*end))))?;
    let value = |cell: &str| cell == "N/A" || number(cell).is_some();
    let mut columns = vec![Id, Name];
    if end > 2 && !value(at(2)) && !STATES.contains(&at(2)) {
        columns.push(Type);
    }
    // "N/A" may be a state, too: only with a reading and a unit behind it.
    let state = at(columns.len());
    let rest = end - columns.len().min(end);
    if STATES.contains(&state) && (state != "N/A" || rest % 2 == 1) {
        columns.push(State);
    }
    match end - columns.len().min(end) {
        0 if columns.len() > 2 => {}
        2 if value(at(columns.len())) => columns.extend([Reading, Units]),
        8 if value(at(columns.len())) => {
            columns.extend([Reading, Units, Limit, Limit, Limit, Limit, Limit, Limit]);
        }
        _ => return None,
    }
    columns.push(Event);
    Some(columns)
}

/// `Nov-30-2026`, `PostInit`
fn is_event_date(cell: &str) -> bool {
    let named = cell.contains(|c: char| c.is_ascii_alphabetic());
    (named && clock::date(cell).is_some()) || cell == "PostInit"
}

/// `'OK'`, `'A' 'B'`, `0000h`, `N/A`
fn is_states(cell: &str) -> bool {
    let bits = |cell: &str| cell.len() == 4 && cell.bytes().all(|byte| byte.is_ascii_hexdigit());
    let quoted = cell.len() > 1 && cell.starts_with('\'') && cell.ends_with('\'');
    quoted || cell == "N/A" || cell.strip_suffix('h').is_some_and(bits)
}

/// Without the quotes of a single state.
pub fn unquoted(text: &str) -> &str {
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    inner.filter(|inner| !inner.contains('\'')).unwrap_or(text)
}

fn told(cell: Option<&str>) -> Option<String> {
    cell.filter(|cell| !cell.is_empty()).map(str::to_owned)
}

fn sensor<'a>(cell: impl Fn(Column) -> Option<&'a str>, raw: &str) -> Option<Row> {
    let value = cell(Column::Reading).unwrap_or_default();
    let unit = cell(Column::Units).filter(|unit| *unit != "N/A").unwrap_or_default();
    let reading = in_unit(value, unit);
    // Before 1.0 the states stood in the column of the reading.
    let text = cell(Column::Event).filter(|text| !text.is_empty()).or(Some(value));
    let state = if reading.is_none() { told(text.map(unquoted)) } else { None };
    Some(Row::Sensor(Sensor {
        name: told(cell(Column::Name))?,
        number: told(cell(Column::Id)),
        status: told(cell(Column::State)),
        reading,
        state,
        raw: raw.trim().to_owned(),
        ..Sensor::default()
    }))
}

fn event<'a>(record: i64, cell: impl Fn(Column) -> Option<&'a str>, raw: &str) -> Option<Row> {
    let (time, zone) = cell(Column::Time).and_then(clock::time_of_day).unzip();
    let known = |column| told(cell(column).filter(|cell| *cell != "N/A"));
    let event = Event {
        record: Some(record),
        zone: zone.flatten(),
        sensor: known(Column::Name),
        event: known(Column::Event),
        direction: cell(Column::Direction).and_then(direction),
        raw: raw.trim().to_owned(),
        ..Event::default()
    };
    Some(Row::Event(EventRow { event, date: cell(Column::Date).and_then(clock::date), time }))
}
