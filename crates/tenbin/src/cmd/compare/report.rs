//! `tenbin compare --report DIR`: the answer as a folder that can be published.

use std::path::{Path, PathBuf};

use tenbin_core::compare::{Answer, Ranking, Side};
use tenbin_core::launch::shell_quote;
use tenbin_report::About;
use tenbin_report::compared::{SideText, files};

use super::sides;
use crate::args::CompareArgs;
use crate::exit::Failure;
use crate::output;

/// Writes report.html, report.md and the figures; returns the path of report.html.
pub fn write(
    folder: &Path,
    args: &CompareArgs,
    sides: &[&Side],
    answers: &[Answer],
    rankings: &[Ranking],
) -> Result<PathBuf, Failure> {
    let source = |side: &Side| {
        let word = args.sides.iter().find(|word| sides::name(word, &args.sides) == side.name);
        word.cloned().unwrap_or_else(|| side.name.clone())
    };
    let named: Vec<SideText> = sides
        .iter()
        .map(|side| SideText { name: side.name.clone(), source: source(side), runs: side.runs })
        .collect();
    output::prepare_folder(folder)?;
    for (name, content) in files(&named, answers, rankings, &about()) {
        output::write_file(&folder.join(name), &content, "the same command writes it again")?;
    }
    Ok(folder.join("report.html"))
}

fn about() -> About {
    let words = std::env::args_os().skip(1).map(|word| shell_quote(&word.to_string_lossy()));
    About {
        version: concat!("tenbin ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: ["tenbin".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" "),
        created: output::when(output::now()),
    }
}
