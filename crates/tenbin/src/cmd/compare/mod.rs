//! `tenbin compare A B [C...]`: runs that exist already, each configuration against the first. One alone is described.

mod report;
mod sides;

use tenbin_core::analysis::Options as Weighing;
use tenbin_core::compare::{Answer, Options, Ranking, Side, compare_all, describe, rankings};
use tenbin_core::quantity;
use tenbin_core::verdict::Verdict;
use tenbin_report::{json, text};

use crate::args::{CompareArgs, Gate};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Compares what was named, prints the answer, and trips the gate that was asked for.
pub fn compare(args: &CompareArgs) -> Outcome {
    let margin =
        quantity::parse_percent(&args.margin).map_err(|why| Failure::usage(format!("--margin: {why}")))?;
    let sides = sides::read(args, margin)?;
    let sides: Vec<&Side> = sides.iter().collect();
    let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
    let words: Vec<&str> = args.sides.iter().map(String::as_str).collect();
    let Weighing { correction, against } = args.weighing.options(&[&names, &words])?;
    let options = Options { margin, correction, against, ..Options::default() };
    if let [alone] = sides.as_slice() {
        let alone = describe(alone);
        output::print(&match args.json {
            true => format!("{:#}\n", json::alone(&alone)),
            false => text::sentences(&alone.sentences(), output::width()),
        })?;
        return Ok(Exit::Done);
    }
    let answers = compare_all(&sides, &options);
    if answers.iter().all(|answer| answer.rows.is_empty()) {
        return Err(nothing(&answers));
    }
    let rankings = rankings(&sides);
    output::print(&match args.json {
        true => format!("{:#}\n", json::answers(&answers, &rankings)),
        false => told(&answers, &rankings),
    })?;
    if let Some(folder) = &args.report {
        let written = report::write(folder, args, &sides, &answers, &rankings)?;
        output::say(&format!("report: {}", written.display()));
    }
    let tripped = |answer: &Answer| answer.rows.iter().any(|row| trips(args, row.comparison.result.verdict));
    match answers.iter().any(tripped) {
        true => Ok(Exit::Tripped),
        false => Ok(Exit::Done),
    }
}

/// Why nothing was compared, in one line.
fn nothing(answers: &[Answer]) -> Failure {
    let why = answers.iter().flat_map(|answer| &answer.refused).next();
    Failure::usage(
        why.map_or_else(
            || "nothing to compare: the sides have no metric in common".to_owned(),
            String::clone,
        ),
    )
}

fn told(answers: &[Answer], rankings: &[Ranking]) -> String {
    let orders: Vec<String> = rankings.iter().map(|ranking| ranking.text.clone()).collect();
    text::answers(answers, output::width()) + &text::sentences(&orders, output::width())
}

fn trips(args: &CompareArgs, verdict: Verdict) -> bool {
    args.fail_if.iter().any(|gate| match gate {
        Gate::Slower => verdict == Verdict::Slower,
        Gate::Unclear => matches!(
            verdict,
            Verdict::SlowerSizeUncertain
                | Verdict::CantTell
                | Verdict::NeedMoreBlocks
                | Verdict::DescriptionOnly
        ),
    })
}
