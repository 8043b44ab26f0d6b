//! The growing table of many machines, as text, Markdown and HTML.

use maud::{DOCTYPE, PreEscaped, html};
use tenbin_core::league::Row;
use tenbin_core::metric::{Better, Metric};
use tenbin_core::quantity::{Scale, significant};

use crate::{html, markdown, text};

/// A table to be shown.
#[derive(Clone, Debug)]
pub struct League<'a> {
    /// What was measured.
    pub metric: &'a Metric,
    /// What else is fixed, in words; may be empty.
    pub under: String,
    /// The columns by which runs are put together.
    pub by: &'a [String],
    /// The rows, best first.
    pub rows: &'a [Row],
}

impl League<'_> {
    fn scale(&self) -> Scale {
        Scale::of(self.rows.first().map_or(0.0, |row| row.median), self.metric.unit)
    }

    fn title(&self) -> String {
        let name = self.metric.name.replace('_', " ");
        let direction = match self.metric.better {
            Better::Higher => ", higher is better",
            Better::Lower => ", lower is better",
            Better::Neither => "",
        };
        let under = if self.under.is_empty() { String::new() } else { format!(" ({})", self.under) };
        format!("{name}{under}{direction}")
    }

    fn header(&self) -> Vec<String> {
        let symbol = self.scale().symbol;
        let median = if symbol.is_empty() { "median".to_owned() } else { format!("median [{symbol}]") };
        let figures = ["n", &median, "95 % interval", "min", "max"].map(str::to_owned);
        self.by.iter().cloned().chain(figures).collect()
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let factor = self.scale().factor;
        let number = |value: f64| significant(value / factor, 4);
        self.rows
            .iter()
            .map(|row| {
                let interval = match row.interval {
                    Some((lo, hi)) => format!("{} to {}", number(lo), number(hi)),
                    None => "-".to_owned(),
                };
                let figures =
                    [row.n.to_string(), number(row.median), interval, number(row.min), number(row.max)];
                row.labels
                    .iter()
                    .map(|label| label.clone().unwrap_or_else(|| "-".to_owned()))
                    .chain(figures)
                    .collect()
            })
            .collect()
    }

    /// What must be said beside it.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "medians over runs, best first; runs of different sessions are described here, not tested: tenbin \
             compare and interleaved plans decide"
                .to_owned(),
        ];
        let single = self.rows.iter().filter(|row| row.n == 1).count();
        if single > 0 {
            notes.push(format!(
                "{single} of {} rows hold one run: nothing is known of its spread",
                self.rows.len()
            ));
        }
        let unlabelled =
            self.rows.iter().filter(|row| row.labels.contains(&None)).map(|row| row.n).sum::<usize>();
        if unlabelled > 0 {
            notes.push(format!("{unlabelled} runs do not tell what stands as -"));
        }
        notes
    }

    /// For a terminal.
    pub fn text(&self, width: usize) -> String {
        text::plain_table(&self.title(), &self.header(), self.by.len(), &self.cells(), &self.notes(), width)
    }

    /// For a wiki.
    pub fn markdown(&self) -> String {
        markdown::plain_table(&self.title(), &self.header(), &self.cells(), &self.notes())
    }

    /// A page of its own, which asks the network for nothing.
    pub fn html(&self) -> String {
        let title = self.title();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                    link rel="icon" href="data:,";
                    title { (title) " · tenbin" }
                    style { (PreEscaped(html::style())) }
                }
                body {
                    main {
                        h1 { (title) }
                        table {
                            thead { tr { @for name in self.header() { th { (name) } } } }
                            tbody {
                                @for row in self.cells() {
                                    tr { @for cell in row { td { (cell) } } }
                                }
                            }
                        }
                        @for note in self.notes() { p { (note) } }
                    }
                }
            }
        }
        .into_string()
    }
}
