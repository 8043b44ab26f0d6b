//! A report of runs that existed already: the answer of a comparison brought into the shape that every section knows.
//!
//! Start at [`files`].

use std::borrow::Cow;

use tenbin_core::analysis::{Analysis, ArmCeiling, Curve, Level};
use tenbin_core::caveat::CaveatKind;
use tenbin_core::compare::{Answer, Design, Overall, Ranking, Row};
use tenbin_core::metric::Metric;
use tenbin_core::verdict::{Decision, Verdict};

use crate::figure::{self, Flavour, Size};
use crate::overview::Table;
use crate::{About, html, know, markdown, words};

/// A side as it was named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideText {
    /// What sentences call it.
    pub name: String,
    /// Where its runs are: a file, numbers in a store.
    pub source: String,
    /// How many runs it has.
    pub runs: usize,
}

/// The sides, what was found, and the same as an analysis.
pub struct Comparison<'a> {
    /// The sides, the base first.
    pub sides: &'a [SideText],
    /// Each side against its base.
    pub answers: &'a [Answer],
    /// In which order the sides come along curves.
    pub rankings: &'a [Ranking],
    /// The same as sections know it.
    pub analysis: Analysis,
}

/// A report folder: `report.html`, `report.md`, and every figure as a light and a dark SVG file.
pub fn files(
    sides: &[SideText],
    answers: &[Answer],
    rankings: &[Ranking],
    about: &About,
) -> Vec<(String, String)> {
    let compared = Comparison { sides, answers, rankings, analysis: analysis(answers) };
    let figures = figure::of_comparison(&compared, about);
    let mut files = vec![
        ("report.html".to_owned(), html::compared(&compared, about, &figures)),
        ("report.md".to_owned(), markdown::compared(&compared, about, &figures)),
    ];
    for figure in &figures {
        files.push((format!("{}.svg", figure.name), figure.svg(Flavour::Light, Size::Wide)));
        files.push((format!("{}-dark.svg", figure.name), figure.svg(Flavour::Dark, Size::Wide)));
    }
    files
}

/// The answers as an analysis.
pub(crate) fn analysis(answers: &[Answer]) -> Analysis {
    let mut all = Analysis::default();
    for answer in answers {
        for row in &answer.rows {
            all.comparisons.push(row.comparison.clone());
            for level in levels(row) {
                let same = |known: &Level| {
                    known.arm == level.arm && known.metric == level.metric && known.params == level.params
                };
                if !all.levels.iter().any(same) {
                    all.levels.push(level);
                }
            }
        }
        all.curves.extend(answer.overall.iter().filter_map(|one| curve(answer, one)));
        for bound in &answer.ceilings {
            let (arm, metric, ceiling) = (bound.arm.clone(), bound.metric.clone(), bound.ceiling.clone());
            add(&mut all.ceilings, &[ArmCeiling { arm, metric, ceiling, share: Some(bound.share) }]);
        }
        add(&mut all.inversions, &answer.inversions);
        add(&mut all.diagnostics, &answer.diagnostics);
        add(&mut all.caveats, &answer.caveats);
    }
    all
}

fn add<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

fn levels(row: &Row) -> [Level; 2] {
    let one = &row.comparison;
    let metric = Metric { name: Cow::Owned(one.metric.clone()), unit: one.unit, better: one.better };
    [(&one.base, &row.base_level), (&one.arm, &row.arm_level)].map(|(arm, level)| Level {
        arm: arm.clone(),
        metric: metric.clone(),
        params: one.params.clone(),
        n: level.n,
        median: level.median,
        interval: level.interval,
        values: Vec::new(),
    })
}

/// A whole curve, which is described and no more.
fn curve(answer: &Answer, one: &Overall) -> Option<Curve> {
    let of_curve = |row: &&Row| {
        let comparison = &row.comparison;
        comparison.metric == one.metric
            && comparison.params.contains_key(&one.along)
            && one.params.iter().all(|(name, value)| comparison.params.get(name) == Some(value))
    };
    let rows: Vec<&Row> = answer.rows.iter().filter(of_curve).collect();
    let first = &rows.first()?.comparison;
    let whole = Decision {
        ratio: one.ratio,
        lo: None,
        hi: None,
        level: first.result.level,
        n: rows.iter().map(|row| row.comparison.result.n).min().unwrap_or(0),
        p: None,
        margin: first.result.margin,
        verdict: Verdict::DescriptionOnly,
        more_blocks: None,
        mde: None,
        difference: None,
        family: None,
    };
    let at = |row: &&Row| tenbin_core::analysis::curves::number(row.comparison.params.get(&one.along)?);
    Some(Curve {
        metric: one.metric.clone(),
        params: one.params.clone(),
        along: one.along.clone(),
        values: rows.iter().filter_map(at).collect(),
        base: first.base.clone(),
        arm: first.arm.clone(),
        whole,
        // A card has room for one statement; where the order changes is told below.
        text: one.text.split("; ").next().unwrap_or_default().to_owned(),
    })
}

impl Comparison<'_> {
    /// The names of the sides, the base first.
    pub fn arms(&self) -> Vec<String> {
        self.sides.iter().map(|side| side.name.clone()).collect()
    }

    fn has(&self, design: Design) -> bool {
        self.answers.iter().flat_map(|answer| &answer.rows).any(|row| row.design == design)
    }

    /// What n counts.
    pub fn counts(&self) -> &'static str {
        if self.has(Design::Unpaired) || self.has(Design::OneRun) { "run" } else { "block" }
    }

    /// On what the comparisons rest.
    pub fn design(&self) -> &'static str {
        match (self.has(Design::Paired), self.has(Design::Unpaired), self.has(Design::OneRun)) {
            (true, false, false) => "paired by the blocks they share",
            (false, true, false) => "several of each, not interleaved",
            (false, false, true) => "one of each: described, not tested",
            (false, false, false) => "which have nothing in common",
            _ => "some paired by blocks, some not",
        }
    }

    /// For what the answer holds.
    pub fn scope(&self) -> String {
        let holds = "The answer holds for these runs and the machines and sessions they were made in";
        match (self.has(Design::OneRun), self.has(Design::Unpaired)) {
            (true, _) => format!("{holds}; one run of a side says nothing about the configuration."),
            (false, true) => {
                format!(
                    "{holds}; the runs were not interleaved, so whatever changed with time counts as a difference."
                )
            }
            (false, false) => {
                format!("{holds}. A statement about a product needs at least six pairs of hosts.")
            }
        }
    }

    /// The sides with their sources.
    pub fn sides_table(&self) -> Table {
        let header = ["side", "runs:", "from"].map(str::to_owned).to_vec();
        let row = |side: &SideText| vec![side.name.clone(), side.runs.to_string(), side.source.clone()];
        (header, self.sides.iter().map(row).collect())
    }

    /// Sentences of the answers that no card, note or chapter says.
    pub fn rest(&self) -> Vec<String> {
        let chapters = know::chapters(&self.analysis, &self.arms());
        let told = |text: &String| {
            self.analysis.comparisons.iter().any(|one| one.text.ends_with(text.as_str()))
                || self.analysis.curves.iter().any(|one| one.text == *text)
                || self.analysis.inversions.iter().any(|one| one.text == *text)
                || self.analysis.caveats.iter().any(|one| one.text == *text)
                || chapters.iter().any(|chapter| chapter.sentences.contains(text))
        };
        let mut rest: Vec<String> = Vec::new();
        let rankings = self.rankings.iter().map(|one| one.text.clone());
        let said = rankings.chain(self.answers.iter().flat_map(Answer::sentences));
        for text in said.filter(|text| !told(text)) {
            if !rest.contains(&text) {
                rest.push(text);
            }
        }
        rest
    }

    /// How it was compared, a paragraph an entry.
    pub fn method(&self) -> Vec<String> {
        let first = self.analysis.comparisons.first();
        let margin = words::percent(first.map_or(0.02, |one| one.result.margin));
        let mut all = Vec::new();
        if self.has(Design::Paired) {
            all.push(format!(
                "Runs that share blocks were compared within them, on the logarithm of the ratio: the Hodges-Lehmann \
                 estimate with the interval that inverts the exact Wilcoxon signed-rank test, and the exact sign-flip p. \
                 Differences below {margin} count as negligible."
            ));
        }
        if self.has(Design::Unpaired) {
            all.push(format!(
                "Several runs without blocks were compared by the median of all differences of their logarithms, with the \
                 interval that inverts the Mann-Whitney test, whose p is given. Differences below {margin} count as \
                 negligible. The test knows nothing of what changed between the runs."
            ));
        }
        if self.has(Design::OneRun) {
            all.push(
                "Where a side has one run only, ratios describe these runs: no test and no interval can be had from them."
                    .to_owned(),
            );
        }
        let summary = self.analysis.caveats.iter().any(|caveat| caveat.kind == CaveatKind::SummaryOnly);
        if summary {
            all.push(
                "Some tools print means of repetitions; such a mean is one value of its run.".to_owned(),
            );
        }
        all
    }
}
