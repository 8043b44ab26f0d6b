//! The report as one HTML file: it asks the network for nothing, works without scripts, follows light and dark,
//! reads on a phone and prints.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use tenbin_core::analysis::{Analysis, Comparison};
use tenbin_core::experiment::{Experiment, State};
use tenbin_core::quantity;

use crate::About;
use crate::context;
use crate::figure::{ARM_COLOURS, FONTS, Figure, Flavour, Size, variables};
use crate::method::{self, Status};
use crate::words::{self, Tone, Topic};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Page colours beside those of the figures, for light and dark.
const LIGHT: &str = "--line:#d8dee4;--soft:#f6f8fa;--link:#0969da;--good:#1a7f37;--good-text:#116329;\
                     --bad:#cf222e;--bad-text:#a40e26;--warn:#bf8700;--warn-text:#7d4e00;";
const DARK: &str = "--line:#30363d;--soft:#161b22;--link:#58a6ff;--good:#3fb950;--good-text:#56d364;\
                    --bad:#f85149;--bad-text:#ff7b72;--warn:#d29922;--warn-text:#e3b341;";

/// The page.
pub fn page(experiment: &Experiment, analysis: &Analysis, about: &About, figures: &[Figure]) -> String {
    let report = Report { experiment, analysis, about, figures, topics: words::topics(analysis) };
    let page = report.page().into_string();
    // Foreign text may hold what HTML has no character for.
    page.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r'), "\u{fffd}")
}

struct Report<'a> {
    experiment: &'a Experiment,
    analysis: &'a Analysis,
    about: &'a About,
    figures: &'a [Figure],
    topics: Vec<Topic<'a>>,
}

/// The style sheet of every page.
pub fn style() -> String {
    let light = format!("color-scheme:light;{}{LIGHT}", variables(Flavour::Light));
    let dark = format!("color-scheme:dark;{}{DARK}", variables(Flavour::Dark));
    format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n{}",
        STYLE.replace("FONTS", FONTS)
    )
}

impl Report<'_> {
    fn page(&self) -> Markup {
        let plan = &self.experiment.plan;
        let title = plan.question.as_deref().unwrap_or(&plan.name);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // Whatever foreign text might smuggle in: this page loads nothing.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    meta name="generator" content=(self.about.version);
                    link rel="icon" href="data:,";
                    title { (title) " · tenbin" }
                    style { (PreEscaped(style())) }
                }
                body {
                    header.top {
                        b { "tenbin" }
                        span { (plan.name) " · " (self.about.created) }
                        button.js #theme type="button" { "light / dark" }
                    }
                    main {
                        h1 { (title) }
                        p.lead {
                            (plan.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>().join(" against "))
                            ", " (words::routes(plan, "→")) ", "
                            (words::counted(self.experiment.blocks() as usize, "interleaved block")) ", seed " (self.experiment.seed) "."
                        }
                        (self.decision())
                        (self.beside())
                        (self.ceilings())
                        (self.state_of_runs())
                        (self.differences())
                        (self.figure_section("Every run in time order", &["runs"],
                            "Each dot is one run; lines part the blocks. Drift, order and heat would show here."))
                        (self.figure_section("Distributions", &["distribution", "intervals"],
                            "One line a run: the spread between runs is what the verdict rests on, not the number of samples."))
                        (self.caveats())
                        (self.environment())
                        (self.method())
                        (self.repeat())
                        (self.appendix())
                    }
                    footer {
                        (self.about.version) " · experiment " (self.experiment.uid) " · seed " (self.experiment.seed)
                        " · begun " (self.about.created)
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }

    fn decision(&self) -> Markup {
        html! {
            section {
                div.verdicts.many[self.analysis.comparisons.len() > 3] {
                    @for topic in &self.topics {
                        @for comparison in &topic.comparisons { (verdict(topic, comparison)) }
                    }
                }
                @if self.analysis.comparisons.is_empty() {
                    p { "Nothing was compared: no block holds a pair of runs that count." }
                }
                p.muted.small {
                    (method::scope(self.experiment))
                    @if !self.analysis.caveats.is_empty() {
                        " To be read with care:"
                        @for number in 1..=self.analysis.caveats.len() {
                            " " a href={ "#note-" (number) } { "[" (number) "]" }
                        }
                    }
                }
                (self.chips())
                @for topic in &self.topics {
                    h3 { (topic.title) }
                    @if !topic.levels.is_empty() { (self.levels(topic)) }
                    @for figure in self.figures_of(topic, &["ratio", "values"]) { (drawn(figure)) }
                }
            }
        }
    }

    fn levels(&self, topic: &Topic<'_>) -> Markup {
        let bound = |level: &tenbin_core::analysis::Level| {
            words::tightest(self.analysis, &level.arm, &level.metric.name, level.metric.unit)
        };
        let bounded = topic.levels.iter().any(|level| bound(level).is_some());
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
                                        @if let Some(bound) = bound(level) {
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

    /// Buttons that dim an arm in every figure.
    fn chips(&self) -> Markup {
        html! {
            div.chips.js {
                @for (index, arm) in self.experiment.plan.arms.iter().enumerate() {
                    button type="button" data-arm=(index) aria-pressed="true" {
                        i style={ "--c:var(--arm" (index % ARM_COLOURS) ")" } {}
                        (arm.name)
                    }
                }
            }
        }
    }

    /// The figures of a topic whose names end so.
    fn figures_of<'s>(&'s self, topic: &'s Topic<'_>, kinds: &'s [&str]) -> impl Iterator<Item = &'s Figure> {
        self.figures.iter().filter(move |figure| {
            figure.title.starts_with(&format!("{}: ", topic.title))
                && kinds.iter().any(|kind| figure.name.ends_with(&format!("-{kind}")))
        })
    }

    fn figure_section(&self, title: &str, kinds: &[&str], says: &str) -> Markup {
        let figures: Vec<&Figure> =
            self.topics.iter().flat_map(|topic| self.figures_of(topic, kinds)).collect();
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

    fn beside(&self) -> Markup {
        let rows = context::beside(self.experiment);
        html! {
            @if !rows.is_empty() {
                section {
                    h2 { "What went with it" }
                    p.muted { "Medians over runs: described, not tested." }
                    div.scroll {
                        table {
                            thead {
                                tr {
                                    th { "measure" } th { "metric" }
                                    @for arm in &self.experiment.plan.arms { th.num { (arm.name) } }
                                    th { }
                                }
                            }
                            tbody {
                                @for row in &rows {
                                    tr {
                                        td { (row.measure) }
                                        td { (row.title) }
                                        @for median in &row.medians {
                                            td.num {
                                                @match median {
                                                    Some(median) => (words::micro(&words::single(*median, row.metric.unit))),
                                                    None => "none",
                                                }
                                            }
                                        }
                                        td.muted { (words::direction(row.metric.better)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn ceilings(&self) -> Markup {
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

    fn state_of_runs(&self) -> Markup {
        let runs = self.analysis.runs;
        let marks = words::condensed(words::marked(self.experiment));
        html! {
            section {
                h2 { "State of the runs" }
                ul.counts {
                    li { b { (runs.clean) } "clean" }
                    @for (n, word) in
                        [(runs.suspect, "suspect"), (runs.invalid, "invalid, not counted"), (runs.unknown, "unknown")]
                    {
                        @if n > 0 { li { b { (n) } (word) } }
                    }
                }
                @if marks.is_empty() {
                    p.muted { "Nothing stood out on any host during any run." }
                } @else {
                    // A screenful; the rest on request.
                    @let (first, rest) = marks.split_at(marks.len().min(8));
                    (marks_table(first))
                    @if !rest.is_empty() {
                        details {
                            summary { (words::counted(rest.len(), "more line")) }
                            div.inside { (marks_table(rest)) }
                        }
                    }
                }
            }
        }
    }

    fn differences(&self) -> Markup {
        html! {
            section {
                h2 { "What differed that nobody declared" }
                @if self.analysis.undeclared_differences.is_empty() {
                    p.muted { "Nothing: apart from what the plan sets, the hosts were the same in every arm." }
                } @else {
                    div.scroll {
                        table {
                            thead { tr { th { "host" } th { "fact" } th { "arm" } th { "value" } } }
                            tbody {
                                @for difference in &self.analysis.undeclared_differences {
                                    @for (index, (arm, value)) in difference.values.iter().enumerate() {
                                        tr {
                                            td { @if index == 0 { (difference.host) } }
                                            td { @if index == 0 { code { (difference.key) } } }
                                            td.key { (arm) }
                                            td { (words::micro(&words::fact_value(value, difference.unit))) }
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

    fn caveats(&self) -> Markup {
        html! {
            @if !self.analysis.caveats.is_empty() {
                section {
                    h2 { "To be read with care" }
                    ol.notes {
                        @for (index, caveat) in self.analysis.caveats.iter().enumerate() {
                            li id={ "note-" (index + 1) } { (caveat.text) }
                        }
                    }
                }
            }
        }
    }

    fn environment(&self) -> Markup {
        let hosts = method::environment(self.experiment);
        html! {
            section {
                h2 { "Environment" }
                @if hosts.is_empty() { p.muted { "No facts about the hosts were recorded." } }
                @for (host, facts) in &hosts {
                    details {
                        summary {
                            (host)
                            @if let Some(place) = self.experiment.plan.hosts.get(host) {
                                span.muted { " · " (words::place(place)) }
                            }
                            span.muted { " · " (words::counted(facts.len(), "fact")) }
                        }
                        div.inside {
                            div.scroll {
                                table {
                                    thead { tr { th { "fact" } th { "value" } th { "source" } } }
                                    tbody {
                                        @for fact in facts {
                                            tr {
                                                td.key { code { (fact.key) } }
                                                td { (fact.value) }
                                                td.muted { (fact.source) }
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

    fn method(&self) -> Markup {
        html! {
            section {
                h2 { "Method" }
                @for paragraph in method::paragraphs(self.experiment, self.analysis) { p { (paragraph) } }
            }
        }
    }

    fn repeat(&self) -> Markup {
        html! {
            section {
                h2 { "Repeat it" }
                @if !self.about.command.is_empty() { pre { code { (self.about.command) } } }
                p.muted { "The plan; with seed " (self.experiment.seed) " the schedule is the same." }
                pre { code { (self.experiment.plan.text) } }
            }
        }
    }

    fn appendix(&self) -> Markup {
        html! {
            section {
                h2 { "Appendix" }
                (self.p_values())
                (self.data())
                (self.schedule())
                h3 { "Versions" }
                p { (self.about.version) @for tool in method::tools(self.experiment) { "; " (tool) } }
                h3 { "The twelve rules" }
                p.muted.small { "Hoefler and Belli, doi:10.1145/2807591.2807644, in our words." }
                div.scroll {
                    table {
                        tbody {
                            @for (index, rule) in method::checklist(self.experiment, self.analysis).iter().enumerate() {
                                tr {
                                    td.num { (index + 1) }
                                    td { span class={ "tag " (rule_class(rule.status)) } { (rule.status.word()) } }
                                    td { (rule.rule) br; span.muted { (rule.why) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn p_values(&self) -> Markup {
        html! {
            @if !self.analysis.comparisons.is_empty() {
                h3 { "Figures behind the verdicts" }
                div.scroll {
                    table {
                        thead {
                            tr {
                                th { "metric" } th { "arm" } th.num { "ratio" } th.num { "interval" } th.num { "n" }
                                th.num { "p" } th.num { "visible from" } th { "verdict" }
                            }
                        }
                        tbody {
                            @for topic in &self.topics {
                                @for comparison in &topic.comparisons {
                                    @let result = &comparison.result;
                                    tr {
                                        td { (topic.title) }
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
                }
                p.muted.small {
                    "\"Visible from\" is the smallest difference that this many blocks would show four times out of five. "
                    "p is exact, by flipping signs of blocks."
                }
            }
        }
    }

    fn data(&self) -> Markup {
        html! {
            @for (number, topic) in self.topics.iter().enumerate().filter(|(_, topic)| !topic.levels.is_empty()) {
                @let id = format!("data-{number}");
                details {
                    summary { "Every run: " (topic.title) }
                    div.inside {
                        button.js type="button" data-copy=(id) { "copy CSV" }
                        div.scroll {
                            table id=(id) {
                                thead {
                                    tr {
                                        th { "arm" } th.num { "block" } th.num { "run" }
                                        th.num data-v="at_seconds" { "at" }
                                        th.num data-v={ (topic.metric()) " (" (topic.unit().name()) ")" } { (topic.metric()) }
                                    }
                                }
                                tbody {
                                    @for level in &topic.levels {
                                        @for value in &level.values {
                                            tr {
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

    fn schedule(&self) -> Markup {
        let plan = &self.experiment.plan;
        html! {
            details {
                summary { "Schedule: " (words::counted(self.experiment.schedule.len(), "slot")) }
                div.inside {
                    div.scroll {
                        table {
                            thead { tr { th.num { "block" } th { "arm" } th { "measure" } th.num { "run" } th { "state" } } }
                            tbody {
                                @for slot in &self.experiment.schedule {
                                    tr {
                                        td.num { (slot.block + 1) }
                                        td { @if let Some(arm) = plan.arms.get(slot.arm as usize) { (arm.name) } }
                                        td { @if let Some(m) = plan.measures.get(slot.measure as usize) { (m.label()) } }
                                        td.num { @if let Some(record) = self.experiment.done(*slot) { (record.id) } }
                                        td { (state(self.experiment.state(*slot))) }
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

fn marks_table(marks: &[words::Mark]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { th { "runs" } th { "state" } th { "why" } } }
                tbody {
                    @for mark in marks {
                        tr {
                            td.key { (mark.runs()) }
                            td { span class={ "tag " (mark.word) } { (mark.word) } }
                            td {
                                (mark.reasons)
                                @if mark.excluded { span.muted { " (not counted)" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn verdict(topic: &Topic<'_>, comparison: &Comparison) -> Markup {
    let result = &comparison.result;
    let tone = match words::verdict(result.verdict).0 {
        Tone::Better => "better",
        Tone::Worse => "worse",
        Tone::Same => "same",
        Tone::Open => "open",
    };
    let direction = words::direction(comparison.better);
    html! {
        div class={ "verdict " (tone) } {
            div.what {
                (topic.title) @if !direction.is_empty() { ", " (direction) }
                " · " (comparison.arm) " / " (comparison.base)
            }
            div.interval {
                @match words::ratio_interval(result) {
                    Some(interval) => { "× " (interval) " " small { "about " (words::ratio(result)) } }
                    None => { "× " (words::ratio(result)) " " small { "no finite interval" } }
                }
            }
            div.what {
                @if words::ratio_interval(result).is_some() { (words::percent(result.level)) " interval · " }
                "n = " (words::counted(result.n, "block"))
                " · margin " (words::percent(result.margin))
            }
            // A number and its % stay on one line.
            p.says { (comparison.text.replace(" %", "\u{a0}%")) }
        }
    }
}

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

fn rule_class(status: Status) -> &'static str {
    match status {
        Status::Pass => "pass",
        Status::Fail => "fail",
        Status::NotApplicable => "na",
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Started => "started",
        State::Done => "done",
        State::Failed => "failed",
        State::Invalid => "invalid",
    }
}
