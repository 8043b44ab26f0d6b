//! The report as one HTML file: it asks the network for nothing, works without scripts, follows light and dark,
//! reads on a phone and prints.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::{Experiment, State};

use crate::About;
use crate::context;
use crate::figure::{FONTS, Figure, Flavour, variables};
use crate::method;
use crate::rules::{self, Evidence, Status};
use crate::topics;
use crate::words;
use body::Body;

mod body;
mod compared;

pub use compared::page as compared;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Page colours beside those of the figures, for light and dark.
const LIGHT: &str = "--line:#d8dee4;--soft:#f6f8fa;--link:#0969da;--good:#1a7f37;--good-text:#116329;\
                     --bad:#cf222e;--bad-text:#a40e26;--warn:#bf8700;--warn-text:#7d4e00;";
const DARK: &str = "--line:#30363d;--soft:#161b22;--link:#58a6ff;--good:#3fb950;--good-text:#56d364;\
                    --bad:#f85149;--bad-text:#ff7b72;--warn:#d29922;--warn-text:#e3b341;";

/// The page.
pub fn page(experiment: &Experiment, analysis: &Analysis, about: &About, figures: &[Figure]) -> String {
    let body = Body {
        arms: experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect(),
        analysis,
        figures,
        parts: topics::parts(analysis),
        counts: "block",
        scope: method::scope(experiment),
    };
    let report = Report { experiment, analysis, about, body };
    text(&report.page())
}

/// A page as text. Foreign text may hold what HTML has no character for.
fn text(page: &Markup) -> String {
    page.0.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r'), "\u{fffd}")
}

/// What is around every page.
fn shell(about: &About, title: &str, name: &str, content: &Markup, footer: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Whatever foreign text might smuggle in: this page loads nothing.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                meta name="generator" content=(about.version);
                link rel="icon" href="data:,";
                title { (title) " · tenbin" }
                style { (PreEscaped(style())) }
            }
            body {
                header.top {
                    b { "tenbin" }
                    span { (name) " · " (about.created) }
                    button.js #theme type="button" { "light / dark" }
                }
                main { (content) }
                footer { (footer) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The twelve rules with what became of them.
fn twelve_rules(evidence: &Evidence<'_>) -> Markup {
    html! {
        h3 { "The twelve rules" }
        p.muted.small { "Hoefler and Belli, doi:10.1145/2807591.2807644, in our words." }
        div.scroll {
            table {
                tbody {
                    @for (index, rule) in rules::checklist(evidence).iter().enumerate() {
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

struct Report<'a> {
    experiment: &'a Experiment,
    analysis: &'a Analysis,
    about: &'a About,
    body: Body<'a>,
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
        let content = html! {
            h1 { (title) }
            p.lead {
                (words::against(&self.body.arms))
                ", " (words::routes(plan, "→")) ", "
                (words::counted(self.experiment.blocks() as usize, "interleaved block")) ", seed " (self.experiment.seed) "."
            }
            (self.body.decision())
            (self.beside())
            (self.body.ceilings())
            (self.body.know())
            (self.state_of_runs())
            (self.differences())
            (self.body.figure_section("Every run in time order", &["runs"],
                "Each dot is one run; lines part the blocks. Drift, order and heat would show here."))
            (self.body.figure_section("Distributions", &["distribution", "intervals"],
                "One line a run: the spread between runs is what the verdict rests on, not the number of samples."))
            (self.body.caveats())
            (self.environment())
            (self.method())
            (self.repeat())
            (self.appendix())
        };
        let footer = html! {
            (self.about.version) " · experiment " (self.experiment.uid) " · seed " (self.experiment.seed)
            " · begun " (self.about.created)
        };
        shell(self.about, title, &plan.name, &content, &footer)
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
                (self.body.p_values())
                (self.body.data())
                (self.schedule())
                h3 { "Versions" }
                p { (self.about.version) @for tool in method::tools(self.experiment) { "; " (tool) } }
                (twelve_rules(&Evidence::of_experiment(self.experiment, self.analysis)))
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

fn rule_class(status: Status) -> &'static str {
    match status {
        Status::Met => "pass",
        Status::NotMet => "fail",
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
