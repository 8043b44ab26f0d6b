//! Runs and comparisons as terminal tables, JSON, Markdown, HTML and SVG.
//!
//! Everything here turns an [`Experiment`] and its [`Analysis`] into text; nothing opens a file or looks at a
//! clock, so dates and the command line come in through [`About`]. Start at [`text::summary`] for the answer on a
//! terminal, at [`json::document`] for the answer to programs, at [`files`] for a report folder.

use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::Experiment;

use figure::{Flavour, Size};

pub mod compared;
mod computed;
mod context;
pub mod csv;
pub mod figure;
mod fold;
mod html;
pub mod json;
pub mod junit;
mod know;
pub mod league;
mod markdown;
mod method;
pub mod openmetrics;
mod overview;
mod rules;
pub mod text;
mod topics;
mod words;

pub use words::{fact as fact_text, values as values_text};

/// What a report says about its own making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The program with its version: `tenbin 0.1.0`.
    pub version: String,
    /// The command line that repeats the experiment.
    pub command: String,
    /// When the experiment was begun, as text.
    pub created: String,
}

/// A report folder: `report.html`, `report.md`, and every figure as a light and a dark SVG file.
pub fn files(experiment: &Experiment, analysis: &Analysis, about: &About) -> Vec<(String, String)> {
    let figures = figure::all(experiment, analysis, about);
    let mut files = vec![
        ("report.html".to_owned(), html::page(experiment, analysis, about, &figures)),
        ("report.md".to_owned(), markdown::document(experiment, analysis, about, &figures)),
    ];
    for figure in &figures {
        files.push((format!("{}.svg", figure.name), figure.svg(Flavour::Light, Size::Wide)));
        files.push((format!("{}-dark.svg", figure.name), figure.svg(Flavour::Dark, Size::Wide)));
    }
    files
}
