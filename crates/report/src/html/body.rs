//! The sections that every page has, whatever the runs came from: verdicts, figures, tables, what to know.

use maud::{Markup, PreEscaped, html};
use tenbin_core::analysis::{Analysis, Comparison, Level};
use tenbin_core::metric::Better;
use tenbin_core::quantity;
use tenbin_core::verdict::Decision;

use crate::figure::{ARM_COLOURS, Figure, Flavour, Size};
use crate::know;
use crate::overview::{self, Table};
use crate::topics::{self, CurveTopic, Part, Topic};
use crate::words::{self, Tone};

/// Longer tables are folded away.
const MOST_ROWS: usize = 16;

/// So many sentences about an arm are shown at once.
const MOST_SENTENCES: usize = 8;

/// What the sections are made of.
pub struct Body<'a> {
    /// The arms, the base first.
    pub arms: Vec<String>,
    /// The answer.
    pub analysis: &'a Analysis,
    /// All figures.
    pub figures: &'a [Figure],
    /// What there are sections about.
    pub parts: Vec<Part<'a>>,
    /// What n counts: `block`, `run`.
    pub counts: &'static str,
    /// For what the answer holds.
    pub scope: String,
}

impl Body<'_> {
    /// The verdicts, then every metric with its figures and table.
    pub fn decision(&self) -> Markup {
        let cards: Vec<Markup> = self.parts.iter().flat_map(|part| self.cards(part)).collect();
        html! {
            section {
                div.verdicts.many[cards.len() > 3] { @for card in &cards { (card) } }
                @if self.analysis.comparisons.is_empty() {
                    p { "Nothing was compared: no " (self.counts) " holds a pair of runs that count." }
                }
                p.muted.small {
                    (self.scope)
                    @let caveats = know::others(self.analysis).len();
                    @if caveats > 0 {
                        " To be read with care:"
                        @for number in 1..=caveats {
                            " " a href={ "#note-" (number) } { "[" (number) "]" }
                        }
                    }
                }
                (self.chips())
                @for part in &self.parts {
                    h3 { (part.title()) }
                    @match part {
                        Part::Single(topic) => {
                            @if !topic.levels.is_empty() { (self.levels(topic)) }
                            (self.overview(part))
                            @for figure in self.figures_of(&topic.title, &["ratio", "values"]) { (drawn(figure)) }
                        }
                        Part::Curve(curve) => {
                            (self.overview(part))
                            (self.curve(curve))
                        }
                    }
                }
            }
        }
    }

    /// A card for every comparison, or for every whole curve.
    fn cards(&self, part: &Part<'_>) -> Vec<Markup> {
        match part {
            Part::Single(topic) => {
                let card = |one: &&Comparison| {
                    let what = format!("{} / {}", one.arm, one.base);
                    self.card(&topic.title, one.better, &what, &one.result, &one.text)
                };
                topic.comparisons.iter().map(card).collect()
            }
            Part::Curve(curve) => {
                let card = |one: &&tenbin_core::analysis::Curve| {
                    let what = format!("{} / {}, geometric mean{}", one.arm, one.base, topics::over(one));
                    self.card(&curve.title, curve.better(), &what, &one.whole, &one.text)
                };
                curve.wholes.iter().map(card).collect()
            }
        }
    }

    fn card(&self, title: &str, better: Better, what: &str, result: &Decision, text: &str) -> Markup {
        let tone = match words::verdict(result.verdict).0 {
            Tone::Better => "better",
            Tone::Worse => "worse",
            Tone::Same => "same",
            Tone::Open => "open",
        };
        let direction = words::direction(better);
        html! {
            div class={ "verdict " (tone) } {
                div.what {
                    (title) @if !direction.is_empty() { ", " (direction) }
                    " · " (what)
                }
                div.interval {
                    @match words::ratio_interval(result) {
                        Some(interval) => { "× " (interval) " " small { "about " (words::ratio(result)) } }
                        None => { "× " (words::ratio(result)) " " small { "no finite interval" } }
                    }
                }
                div.what {
                    @if words::ratio_interval(result).is_some() { (words::percent(result.level)) " interval · " }
                    "n = " (words::counted(result.n, self.counts))
                    " · margin " (words::percent(result.margin))
                }
                // A number and its % stay on one line.
                p.says { (text.replace(" %", "\u{a0}%")) }
            }
        }
    }

    /// More than two arms: which can't be told apart, and every pair.
    fn overview(&self, part: &Part<'_>) -> Markup {
        let group = overview::of(self.analysis, part);
        let over = match part {
            Part::Single(_) => String::new(),
            Part::Curve(curve) => format!(" Geometric means over {}.", curve.counted_common()),
        };
        html! {
            @if let Some(group) = group {
                p { (overview::friedman(group)) (over) " " (overview::LETTERS) }
                (text_table(overview::arms(group, part.unit(), words::micro)))
                details {
                    summary { "Every pair of arms" }
                    div.inside {
                        (text_table(overview::pairs(group)))
                        p.muted.small {
                            "All pairs were decided together, which asks for more than a comparison with the base alone."
                        }
                    }
                }
            }
        }
    }

    fn bound(&self, level: &Level) -> Option<&tenbin_core::analysis::ArmCeiling> {
        words::tightest(self.analysis, &level.arm, &level.metric.name, level.metric.unit)
    }

    fn levels(&self, topic: &Topic<'_>) -> Markup {
        let bounded = topic.levels.iter().any(|level| self.bound(level).is_some());
        html! {
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "arm" } th.num { "n" } th.num { "median" } th.num { "95 % interval" }
                            @if bounded { th.num { "of the ceiling" } }
                        }
                    }
                    tbody {
                        @for level in &topic.levels {
                            @let text = words::level(level);
                            tr {
                                td.key { (level.arm) }
                                td.num { (level.n) }
                                td.num { (words::micro(&text.median)) }
                                td.num { (text.interval.map_or("none below 6 runs".to_owned(), |i| words::micro(&i))) }
                                @if bounded {
                                    td.num {
                                        @if let Some(bound) = self.bound(level) {
                                            @if let Some(share) = bound.share { (words::share(share)) " of " }
                                            (quantity::human(bound.ceiling.limit, bound.ceiling.unit, 3))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn curve(&self, curve: &CurveTopic<'_>) -> Markup {
        html! {
            @for text in curve.tallies() { p { (text) "." } }
            @for figure in self.figures_of(&curve.title, &["ratio", "values"]) { (drawn(figure)) }
            p.muted.small { (curve.caption()) }
            (curve_table(curve))
            @for text in curve.remarks() { p { (text) "." } }
        }
    }

    /// Buttons that dim an arm in every figure.
    pub fn chips(&self) -> Markup {
        html! {
            div.chips.js {
                @for (index, arm) in self.arms.iter().enumerate() {
                    button type="button" data-arm=(index) aria-pressed="true" {
                        i style={ "--c:var(--arm" (index % ARM_COLOURS) ")" } {}
                        (arm)
                    }
                }
            }
        }
    }

    /// The figures under a title whose names end so.
    fn figures_of<'s>(&'s self, title: &'s str, kinds: &'s [&str]) -> impl Iterator<Item = &'s Figure> {
        self.figures.iter().filter(move |figure| {
            figure.title.starts_with(&format!("{title}: "))
                && kinds.iter().any(|kind| figure.name.ends_with(&format!("-{kind}")))
        })
    }

    /// A section of figures of certain kinds; nothing where there are none.
    pub fn figure_section(&self, title: &str, kinds: &[&str], says: &str) -> Markup {
        let figures: Vec<&Figure> =
            self.parts.iter().flat_map(|part| self.figures_of(part.title(), kinds)).collect();
        html! {
            @if !figures.is_empty() {
                section {
                    h2 { (title) }
                    p.muted { (says) }
                    (self.chips())
                    @for figure in figures { (drawn(figure)) }
                }
            }
        }
    }

    /// What bounds each arm, with every step.
    pub fn ceilings(&self) -> Markup {
        html! {
            @if !self.analysis.ceilings.is_empty() {
                section {
                    h2 { "What bounds it" }
                    @for bound in &self.analysis.ceilings {
                        details {
                            summary {
                                (bound.arm) ": " (bound.ceiling.name) " "
                                (quantity::human(bound.ceiling.limit, bound.ceiling.unit, 4))
                                @if let Some(share) = bound.share { ", " (words::share(share)) " reached" }
                            }
                            div.inside {
                                ol.steps { @for step in &bound.ceiling.steps { li { (step) } } }
                                @if !bound.ceiling.all_read { p.muted.small { "Some of these inputs are assumed, not read." } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What stood out, by arm; a screenful each, the rest on request.
    pub fn know(&self) -> Markup {
        let chapters = know::chapters(self.analysis, &self.arms);
        html! {
            @if !chapters.is_empty() {
                section {
                    h2 { (know::TITLE) }
                    p.muted { (know::FLAGGED) }
                    @for chapter in &chapters {
                        @let (first, rest) = chapter.sentences.split_at(chapter.sentences.len().min(MOST_SENTENCES));
                        h3 { (chapter.of) }
                        (sentences(first))
                        @if !rest.is_empty() {
                            details {
                                summary { (words::counted(rest.len(), "more line")) }
                                div.inside { (sentences(rest)) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The numbered notes.
    pub fn caveats(&self) -> Markup {
        let caveats = know::others(self.analysis);
        html! {
            @if !caveats.is_empty() {
                section {
                    h2 { "To be read with care" }
                    ol.notes {
                        @for (index, caveat) in caveats.iter().enumerate() {
                            li id={ "note-" (index + 1) } { (caveat.text) }
                        }
                    }
                }
            }
        }
    }

    /// The figures behind every verdict.
    pub fn p_values(&self) -> Markup {
        let rows: Vec<(&str, &Comparison)> = self
            .parts
            .iter()
            .flat_map(Part::topics)
            .flat_map(|topic| topic.comparisons.iter().map(|one| (topic.title.as_str(), *one)))
            .collect();
        let table = html! {
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "metric" } th { "arm" } th.num { "ratio" } th.num { "interval" } th.num { "n" }
                            th.num { "p" } th.num { "visible from" } th { "verdict" }
                        }
                    }
                    tbody {
                        @for (title, comparison) in &rows {
                            @let result = &comparison.result;
                            tr {
                                td { (title) }
                                td.key { (comparison.arm) }
                                td.num { (words::ratio(result)) }
                                td.num { (words::ratio_interval(result).unwrap_or_else(|| "none".to_owned())) }
                                td.num { (result.n) }
                                td.num { (result.p.map_or_else(|| "none".to_owned(), |p| quantity::significant(p, 2))) }
                                td.num { (result.mde.map_or_else(|| "unknown".to_owned(), words::visible)) }
                                td { (words::verdict(result.verdict).1) }
                            }
                        }
                    }
                }
            }
            p.muted.small {
                "\"Visible from\" is the smallest difference that this many " (self.counts) "s would show four times out of "
                "five. " (words::how_p(&rows.iter().map(|(_, one)| *one).collect::<Vec<_>>(), self.counts))
            }
        };
        html! {
            @if !rows.is_empty() {
                h3 { "Figures behind the verdicts" }
                @if rows.len() > MOST_ROWS {
                    details {
                        summary { (words::counted(rows.len(), "comparison")) }
                        div.inside { (table) }
                    }
                } @else { (table) }
            }
        }
    }

    /// Every run's value, to be copied.
    pub fn data(&self) -> Markup {
        let with_data = self.parts.iter().enumerate();
        let with_data = with_data.filter(|(_, part)| {
            part.topics().iter().flat_map(|topic| &topic.levels).any(|level| !level.values.is_empty())
        });
        html! {
            @for (number, part) in with_data { (every_run(part, &format!("data-{number}"))) }
        }
    }
}

fn sentences(all: &[String]) -> Markup {
    html! { ul.notes { @for text in all { li { (words::micro_inside(text)) "." } } } }
}

/// A table of text; headers that end in a colon are columns of numbers.
pub fn text_table((header, rows): Table) -> Markup {
    let number = |column: usize| header.get(column).is_some_and(|name| name.ends_with(':'));
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        @for (column, name) in header.iter().enumerate() {
                            th.num[number(column)] { (name.strip_suffix(':').unwrap_or(name)) }
                        }
                    }
                }
                tbody {
                    @for row in &rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                td.num[number(column)].key[column == 0] { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A level's median with its interval below.
fn level_cell(level: Option<&Level>) -> Markup {
    let text = level.map(words::level);
    html! {
        td.num {
            @if let Some(text) = text {
                (words::micro(&text.median))
                @if let Some(interval) = text.interval { br; span.muted.small { (words::micro(&interval)) } }
            }
        }
    }
}

/// Levels and ratios along a curve; with more than one pair of arms the ratios follow in tables of their own.
fn curve_table(curve: &CurveTopic<'_>) -> Markup {
    let (arms, pairs) = (curve.arms(), curve.pairs());
    let one = match pairs.as_slice() {
        [pair] => Some(*pair),
        _ => None,
    };
    html! {
        div.scroll {
            table.curve {
                thead {
                    tr {
                        th.num { (curve.along_in_words()) }
                        @for arm in &arms { th.num { (arm) } }
                        @if one.is_some() { th.num { "ratio" } th { "verdict" } }
                    }
                }
                tbody {
                    @for point in &curve.points {
                        tr {
                            td.num { (point.label) }
                            @for arm in &arms { (level_cell(point.level(arm))) }
                            @if let Some(pair) = one { (ratio_cells(point.comparison(pair))) }
                        }
                    }
                }
            }
        }
        @if one.is_none() {
            @for pair in pairs {
                details {
                    summary { (pair.0) " against " (pair.1) ", point by point" }
                    div.inside {
                        div.scroll {
                            table.curve {
                                thead { tr { th.num { (curve.along_in_words()) } th.num { "ratio" } th { "verdict" } } }
                                tbody {
                                    @for point in &curve.points {
                                        tr { td.num { (point.label) } (ratio_cells(point.comparison(pair))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn ratio_cells(comparison: Option<&Comparison>) -> Markup {
    html! {
        @match comparison.map(|one| &one.result) {
            Some(result) => {
                td.num {
                    (words::ratio(result))
                    @if let Some(interval) = words::ratio_interval(result) { br; span.muted.small { (interval) } }
                }
                td { (words::verdict(result.verdict).1) br; span.muted.small { "n = " (result.n) } }
            }
            None => { td.num { } td.muted { "not compared" } }
        }
    }
}

fn every_run(part: &Part<'_>, id: &str) -> Markup {
    let along = match part {
        Part::Single(_) => None,
        Part::Curve(curve) => Some(curve),
    };
    let topics = part.topics();
    let first = topics[0];
    html! {
        details {
            summary { "Every run: " (part.title()) }
            div.inside {
                button.js type="button" data-copy=(id) { "copy CSV" }
                div.scroll {
                    table id=(id) {
                        thead {
                            tr {
                                @if let Some(curve) = along { th.num data-v=(curve.along) { (curve.along_in_words()) } }
                                th { "arm" } th.num { "block" } th.num { "run" }
                                th.num data-v="at_seconds" { "at" }
                                th.num data-v={ (first.metric()) " (" (first.unit().name()) ")" } { (first.metric()) }
                            }
                        }
                        tbody {
                            @for (index, topic) in topics.iter().enumerate() {
                                @for level in &topic.levels {
                                    @for value in &level.values {
                                        tr {
                                            @if let Some(point) = along.and_then(|curve| curve.points.get(index)) {
                                                td.num data-v=(point.at) { (point.label) }
                                            }
                                            td.key { (level.arm) }
                                            td.num { (value.block + 1) }
                                            td.num { (value.run) }
                                            td.num data-v=(value.at) { (quantity::duration(value.at)) }
                                            td.num data-v=(value.value) {
                                                (words::micro(&quantity::human(value.value, level.metric.unit, 4)))
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A figure for a page and for a phone.
fn drawn(figure: &Figure) -> Markup {
    let sized = |size: Size, class: &str| {
        let svg = figure.svg(Flavour::Inline, size);
        PreEscaped(svg.replacen("<svg", &format!("<svg class=\"{class}\""), 1))
    };
    html! {
        figure id=(figure.name) {
            (sized(Size::Wide, "wide"))
            (sized(Size::Narrow, "narrow"))
            div.tools.js { button type="button" data-copy="svg" { "copy SVG" } }
        }
    }
}
