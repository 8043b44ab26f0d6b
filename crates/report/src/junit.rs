//! Verdicts as a JUnit file, which every build server shows: a comparison is a test case.
//!
//! As with `compare --fail-if slower`, only *slower* fails.

use std::fmt::Write as _;

use tenbin_core::analysis::{Analysis, Comparison};
use tenbin_core::sample::Params;
use tenbin_core::verdict::Verdict;

/// The comparisons of a plan: *slower* has failed, what is open was skipped, everything else passed.
pub fn document(plan: &str, analysis: &Analysis) -> String {
    let outcomes: Vec<Outcome> = analysis.comparisons.iter().map(outcome).collect();
    let count = |of: Outcome| outcomes.iter().filter(|outcome| **outcome == of).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        outcomes.len(),
        count(Outcome::Failed),
        count(Outcome::Skipped)
    );
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    // Writing to a string does not fail.
    let _ = writeln!(out, "<testsuites {counts}>\n  <testsuite name=\"{}\" {counts}>", escaped(plan));
    for (comparison, outcome) in analysis.comparisons.iter().zip(&outcomes) {
        let _ = write!(
            out,
            "    <testcase classname=\"{}\" name=\"{}\"",
            escaped(plan),
            escaped(&format!("{}: {} against {}", subject(comparison), comparison.arm, comparison.base))
        );
        let text = escaped(&comparison.text);
        let _ = match outcome {
            Outcome::Passed => {
                writeln!(out, ">\n      <system-out>{text}</system-out>\n    </testcase>")
            }
            Outcome::Failed => {
                writeln!(out, ">\n      <failure message=\"{text}\" type=\"slower\"/>\n    </testcase>")
            }
            Outcome::Skipped => writeln!(out, ">\n      <skipped message=\"{text}\"/>\n    </testcase>"),
        };
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

fn outcome(comparison: &Comparison) -> Outcome {
    match comparison.result.verdict {
        Verdict::Slower => Outcome::Failed,
        Verdict::Faster
        | Verdict::FasterSizeUncertain
        | Verdict::NoDifference
        | Verdict::DifferentButNegligible => Outcome::Passed,
        Verdict::SlowerSizeUncertain
        | Verdict::CantTell
        | Verdict::NeedMoreBlocks
        | Verdict::DescriptionOnly => Outcome::Skipped,
    }
}

fn subject(comparison: &Comparison) -> String {
    let params = |params: &Params| {
        params.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    match comparison.params.is_empty() {
        true => comparison.metric.clone(),
        false => format!("{} ({})", comparison.metric, params(&comparison.params)),
    }
}

/// Text for XML, in which most control characters can't stand at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
