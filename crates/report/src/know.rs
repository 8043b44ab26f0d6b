//! What a reader must know about the numbers: what stood out within runs, over the session, at single blocks. Every
//! value counts all the same. Sentences that are alike are told once, with how many runs they are about.

use tenbin_core::analysis::{Analysis, Comparison, Diagnostic};
use tenbin_core::caveat::{Caveat, CaveatKind};

use crate::fold::Folded;
use crate::topics::{self, CurveTopic, Part};
use crate::words;

/// The heading.
pub const TITLE: &str = "What to know about these numbers";

/// What holds for every sentence.
pub const FLAGGED: &str = "Pointed out, never left out: all of these values count.";

/// So many runs are named by their number.
const MOST_NAMED: usize = 4;

/// What is to be said about one arm, or about the session.
pub struct Chapter {
    /// The arm's name, or `the session`.
    pub of: String,
    /// Sentences without a full stop.
    pub sentences: Vec<String>,
}

/// Everything, by arm in their order, the session last; empty where nothing stood out.
pub fn chapters(analysis: &Analysis, arms: &[String]) -> Vec<Chapter> {
    let mut told: Vec<(Option<&str>, String)> = Vec::new();
    for arm in arms {
        told.extend(within_runs(analysis, arm).into_iter().map(|text| (Some(arm.as_str()), text)));
    }
    for part in topics::parts(analysis) {
        told.extend(far(&part).into_iter().map(|(arm, text)| (known(&arm, arms), text)));
    }
    let inversions: Vec<_> = analysis.inversions.iter().collect();
    for text in topics::inverted(&inversions) {
        told.push((named_in(&text, arms), text));
    }
    for caveat in analysis.caveats.iter().filter(|one| of_numbers(one.kind) && !repeats(analysis, one)) {
        told.push((named_in(&caveat.text, arms), caveat.text.clone()));
    }
    let chapter = |of: Option<&str>| Chapter {
        of: of.unwrap_or("the session").to_owned(),
        sentences: told.iter().filter(|(arm, _)| *arm == of).map(|(_, text)| text.clone()).collect(),
    };
    let all = arms.iter().map(|arm| chapter(Some(arm))).chain([chapter(None)]);
    all.filter(|chapter| !chapter.sentences.is_empty()).collect()
}

/// The caveats that are not told there.
pub fn others(analysis: &Analysis) -> Vec<&Caveat> {
    let told =
        |one: &&Caveat| of_numbers(one.kind) || one.kind == CaveatKind::FarRuns || repeats(analysis, one);
    analysis.caveats.iter().filter(|one| !told(one)).collect()
}

/// Caveats about the course of values rather than about how they were taken.
fn of_numbers(kind: CaveatKind) -> bool {
    matches!(kind, CaveatKind::Drift | CaveatKind::AboveCeiling | CaveatKind::RateStep)
}

/// Whether a caveat is made of what stood out within runs.
fn repeats(analysis: &Analysis, caveat: &Caveat) -> bool {
    matches!(caveat.kind, CaveatKind::RateStep | CaveatKind::Note)
        && analysis.diagnostics.iter().any(|one| caveat.text.ends_with(&one.text))
}

fn known<'a>(arm: &str, arms: &'a [String]) -> Option<&'a str> {
    arms.iter().find(|one| *one == arm).map(String::as_str)
}

/// The arm that a sentence is about: ` of ARM ` or ` of ARM:`; of several that fit the longest.
fn named_in<'a>(text: &str, arms: &'a [String]) -> Option<&'a str> {
    let about = |arm: &&String| {
        let rest = text.split_once(&format!(" of {arm}")).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.starts_with([' ', ':', ',']))
    };
    arms.iter().filter(about).max_by_key(|arm| arm.len()).map(String::as_str)
}

/// What stood out within an arm's runs, alike ones folded.
fn within_runs(analysis: &Analysis, arm: &str) -> Vec<String> {
    let mut folded: Vec<(&Diagnostic, Folded, Vec<i64>)> = Vec::new();
    for one in analysis.diagnostics.iter().filter(|one| one.arm == arm) {
        let text = Folded::of(&one.text);
        let alike = |(first, known, _): &&mut (&Diagnostic, Folded, Vec<i64>)| {
            first.metric == one.metric && first.kind == one.kind && known.is_like(&text)
        };
        match folded.iter_mut().find(alike) {
            Some((_, known, runs)) => {
                known.widen(&text);
                runs.extend((!runs.contains(&one.run)).then_some(one.run));
            }
            None => folded.push((one, text, vec![one.run])),
        }
    }
    folded.sort_by(|a, b| (a.0.kind, &a.0.metric).cmp(&(b.0.kind, &b.0.metric)));
    let sentence = |(one, text, runs): &(&Diagnostic, Folded, Vec<i64>)| {
        let of_metric = analysis.levels.iter().filter(|l| l.arm == arm && l.metric.name == one.metric);
        let all = of_metric.map(|level| level.n).max().filter(|n| *n >= runs.len());
        let which = match (runs.len(), all) {
            (n, Some(all)) if n == all && n > 1 => format!("all {n} runs"),
            (n, Some(all)) if n <= MOST_NAMED => {
                let numbers: Vec<String> = runs.iter().map(i64::to_string).collect();
                let number = if n == 1 { "run" } else { "runs" };
                format!("{n} of {} ({number} {})", words::counted(all, "run"), numbers.join(", "))
            }
            (n, Some(all)) => format!("{n} of {all} runs"),
            (n, None) => words::counted(n, "run"),
        };
        format!("{}, {which}: {}", one.metric.replace('_', " "), text.text())
    };
    folded.iter().map(sentence).collect()
}

/// Blocks that lie far from the others, with the verdict with and without them, by arm.
fn far(part: &Part<'_>) -> Vec<(String, String)> {
    match part {
        Part::Single(topic) => {
            let of = |one: &&Comparison| Some((one.arm.clone(), far_blocks(one, &topic.title)?));
            topic.comparisons.iter().filter_map(of).collect()
        }
        Part::Curve(curve) => {
            let pairs = curve.pairs();
            pairs.into_iter().flat_map(|pair| far_along(curve, pair)).collect()
        }
    }
}

fn far_blocks(one: &Comparison, what: &str) -> Option<String> {
    let far = one.far.as_ref()?;
    let numbers: Vec<String> = far.blocks.iter().map(|block| (block + 1).to_string()).collect();
    let word = |verdict| words::verdict(verdict).1;
    let then = match far.verdict == far.without {
        true => format!("without them the verdict is the same, \"{}\"", word(far.verdict)),
        false => format!(
            "this comparison alone says \"{}\" with them and \"{}\" without them",
            word(far.verdict),
            word(far.without)
        ),
    };
    let (blocks, lie) = if numbers.len() == 1 { ("block", "lies") } else { ("blocks", "lie") };
    Some(format!(
        "{what}, {} against {}: {blocks} {} {lie} far from the others, beyond 3 interquartile ranges; {then}",
        one.arm,
        one.base,
        numbers.join(", ")
    ))
}

/// Along a curve: a few points one by one, many as one sentence.
fn far_along(curve: &CurveTopic<'_>, pair: (&str, &str)) -> Vec<(String, String)> {
    let comparisons = curve.points.iter().filter_map(|point| Some((point, point.comparison(pair)?)));
    let with_far: Vec<_> = comparisons.filter(|(_, one)| one.far.is_some()).collect();
    if with_far.len() <= 2 {
        let each = |(point, one): &(&topics::Point<'_>, &Comparison)| {
            far_blocks(one, &format!("{} at {}", curve.in_words(), point.label))
        };
        return with_far.iter().filter_map(each).map(|text| (pair.0.to_owned(), text)).collect();
    }
    let hangs = |(_, one): &&(&topics::Point<'_>, &Comparison)| {
        one.far.as_ref().is_some_and(|far| far.verdict != far.without)
    };
    let hanging: Vec<&str> = with_far.iter().filter(hangs).map(|(point, _)| point.label.as_str()).collect();
    let then = match hanging.as_slice() {
        [] => "without them every verdict is the same".to_owned(),
        some => format!("without them the verdict would be another at {}", some.join(", ")),
    };
    let text = format!(
        "{}, {} against {}: at {} of {} some blocks lie far from the others, beyond 3 interquartile ranges; {then}",
        curve.title,
        pair.0,
        pair.1,
        with_far.len(),
        curve.counted()
    );
    vec![(pair.0.to_owned(), text)]
}
