//! Runs and comparisons as terminal tables, JSON, Markdown, HTML and SVG.
//!
//! Everything here turns an [`Experiment`](tenbin_core::experiment::Experiment) and its
//! [`Analysis`](tenbin_core::analysis::Analysis) into text; nothing opens a file or looks at a clock, so dates and
//! the command line come in through [`About`]. Start at [`text::summary`] for the answer on a terminal and at
//! [`json::document`] for the answer to programs.

mod computed;
pub mod json;
pub mod text;
mod words;

pub use words::fact as fact_text;

/// What a report says about its own making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The program with its version: `tenbin 0.1.0`.
    pub version: String,
    /// The command line that made it.
    pub command: String,
    /// When it was written, as text.
    pub created: String,
}
