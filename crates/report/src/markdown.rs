//! The report as GitHub-flavoured Markdown; figures are the SVG files beside it.

use std::fmt::Write as _;

use tenbin_core::analysis::{Analysis, Level};
use tenbin_core::experiment::Experiment;
use tenbin_core::quantity;

use crate::About;
use crate::compared::Comparison;
use crate::context;
use crate::figure::{Figure, escape};
use crate::know;
use crate::method;
use crate::overview;
use crate::rules::{self, Evidence};
use crate::topics::{self, CurveTopic, Part, Topic};
use crate::words;

/// The document.
pub fn document(experiment: &Experiment, analysis: &Analysis, about: &About, figures: &[Figure]) -> String {
    let mut out = String::new();
    let plan = &experiment.plan;
    heading(&mut out, 1, plan.question.as_deref().unwrap_or(&plan.name));
    let arms: Vec<String> = plan.arms.iter().map(|arm| arm.name.clone()).collect();
    let _ = writeln!(
        out,
        "{}, {}, {}, seed {}.\n",
        md(&words::against(&arms)),
        md(&words::routes(plan, "→")),
        words::counted(experiment.blocks() as usize, "interleaved block"),
        experiment.seed
    );
    parts(&mut out, analysis, figures, "block");
    paragraph(&mut out, &method::scope(experiment));
    beside(&mut out, experiment);
    ceilings(&mut out, analysis);
    know(&mut out, analysis, &arms);
    state_of_runs(&mut out, experiment, analysis);
    differences(&mut out, analysis);
    for (title, kinds) in
        [("Every run in time order", &["-runs"][..]), ("Distributions", &["-distribution", "-intervals"])]
    {
        let of_kind: Vec<&Figure> =
            figures.iter().filter(|figure| kinds.iter().any(|kind| figure.name.ends_with(kind))).collect();
        if !of_kind.is_empty() {
            heading(&mut out, 2, title);
            of_kind.iter().for_each(|figure| picture(&mut out, figure));
        }
    }
    caveats(&mut out, analysis);
    environment(&mut out, experiment);
    heading(&mut out, 2, "Method");
    for text in method::paragraphs(experiment, analysis) {
        paragraph(&mut out, &text);
    }
    heading(&mut out, 2, "Repeat it");
    if !about.command.is_empty() {
        fenced(&mut out, "console", &about.command);
    }
    fenced(&mut out, "toml", &plan.text);
    appendix(&mut out, experiment, analysis, about);
    out
}

/// The document of a comparison of runs that existed already.
pub fn compared(compared: &Comparison<'_>, about: &About, figures: &[Figure]) -> String {
    let mut out = String::new();
    let (arms, analysis) = (compared.arms(), &compared.analysis);
    heading(&mut out, 1, &words::against(&arms));
    paragraph(&mut out, &format!("Runs that existed already, {}.", compared.design()));
    parts(&mut out, analysis, figures, compared.counts());
    paragraph(&mut out, &compared.scope());
    let rest = compared.rest();
    if !rest.is_empty() {
        heading(&mut out, 2, "In words");
        list(&mut out, &rest);
    }
    ceilings(&mut out, analysis);
    know(&mut out, analysis, &arms);
    caveats(&mut out, analysis);
    heading(&mut out, 2, "What was compared");
    text_table(&mut out, compared.sides_table());
    heading(&mut out, 2, "Method");
    compared.method().iter().for_each(|text| paragraph(&mut out, text));
    if !about.command.is_empty() {
        heading(&mut out, 2, "Repeat it");
        fenced(&mut out, "console", &about.command);
    }
    heading(&mut out, 2, "Appendix");
    p_values(&mut out, analysis);
    paragraph(&mut out, &format!("Version: {}. Written {}.", about.version, about.created));
    twelve_rules(&mut out, &Evidence::of_answers(compared.answers, analysis));
    out
}

/// Every metric with its verdicts, table and figures.
fn parts(out: &mut String, analysis: &Analysis, figures: &[Figure], counts: &str) {
    for part in topics::parts(analysis) {
        match &part {
            Part::Single(topic) => {
                decision(out, analysis, topic, counts);
                self::overview(out, analysis, &part);
                pictures(out, &topic.title, figures);
            }
            Part::Curve(curve) => {
                curve_head(out, curve, counts);
                self::overview(out, analysis, &part);
                pictures(out, &curve.title, figures);
                curve_points(out, curve);
            }
        }
    }
}

fn decision(out: &mut String, analysis: &Analysis, topic: &Topic<'_>, counts: &str) {
    heading(out, 2, &topic.title);
    for comparison in &topic.comparisons {
        let _ = writeln!(
            out,
            "{} / {}: {}\n\n**{}**\n",
            md(&comparison.arm),
            md(&comparison.base),
            md(&words::rests_on(&comparison.result, counts)),
            md(&comparison.text)
        );
    }
    let bound = |level: &Level| {
        let bound = words::tightest(analysis, &level.arm, &level.metric.name, level.metric.unit)?;
        let limit = quantity::human(bound.ceiling.limit, bound.ceiling.unit, 3);
        Some(match bound.share {
            Some(share) => format!("{} of {limit}", words::share(share)),
            None => limit,
        })
    };
    let bounded = topic.levels.iter().any(|level| bound(level).is_some());
    let rows = topic.levels.iter().map(|level| {
        let text = words::level(level);
        let interval = text.interval.map(|interval| words::micro(&interval));
        let mut row = vec![
            level.arm.clone(),
            level.n.to_string(),
            words::micro(&text.median),
            interval.unwrap_or_else(|| "none below 6 runs".to_owned()),
        ];
        if bounded {
            row.push(bound(level).unwrap_or_default());
        }
        row
    });
    let header = ["arm", "n:", "median:", "95 % interval:", "of the ceiling:"];
    if !topic.levels.is_empty() {
        table(out, if bounded { &header } else { &header[..4] }, rows);
    }
    let direction = words::direction(topic.better());
    if !direction.is_empty() {
        paragraph(out, &format!("{}: {direction}.", topic.in_words()));
    }
}

/// More than two arms: which can't be told apart, and every pair.
fn overview(out: &mut String, analysis: &Analysis, part: &Part<'_>) {
    let Some(group) = overview::of(analysis, part) else { return };
    let over = match part {
        Part::Single(_) => String::new(),
        Part::Curve(curve) => format!(" Geometric means over {}.", curve.counted_common()),
    };
    paragraph(out, &format!("{}{over} {}", overview::friedman(group), overview::LETTERS));
    text_table(out, overview::arms(group, part.unit(), words::micro));
    out.push_str("<details><summary>Every pair of arms, decided together</summary>\n\n");
    text_table(out, overview::pairs(group));
    out.push_str("</details>\n\n");
}

fn text_table(out: &mut String, (header, rows): overview::Table) {
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(out, &header, rows.into_iter());
}

/// The figures that decide, under a title.
fn pictures(out: &mut String, title: &str, figures: &[Figure]) {
    let prefix = format!("{title}: ");
    let here = |figure: &&Figure| {
        figure.title.starts_with(&prefix)
            && (figure.name.ends_with("-ratio") || figure.name.ends_with("-values"))
    };
    figures.iter().filter(here).for_each(|figure| picture(out, figure));
}

fn curve_head(out: &mut String, curve: &CurveTopic<'_>, counts: &str) {
    heading(out, 2, &curve.title);
    for whole in &curve.wholes {
        let _ = writeln!(
            out,
            "{} / {}, geometric mean{}: {}\n\n**{}**\n",
            md(&whole.arm),
            md(&whole.base),
            topics::over(whole),
            md(&words::rests_on(&whole.whole, counts)),
            md(&whole.text)
        );
    }
    for text in curve.tallies() {
        paragraph(out, &format!("{text}."));
    }
}

fn curve_points(out: &mut String, curve: &CurveTopic<'_>) {
    paragraph(out, &curve.caption());
    match curve.pairs().as_slice() {
        [pair] => text_table(out, curve.table(&curve.arms(), Some(*pair), words::micro)),
        pairs => {
            text_table(out, curve.table(&curve.arms(), None, words::micro));
            for pair in pairs {
                let name = inert(&format!("{} against {}", pair.0, pair.1));
                let _ = writeln!(out, "<details><summary>{name}, point by point</summary>\n");
                text_table(out, curve.table(&[], Some(*pair), words::micro));
                out.push_str("</details>\n\n");
            }
        }
    }
    for text in curve.remarks() {
        paragraph(out, &format!("{text}."));
    }
}

fn beside(out: &mut String, experiment: &Experiment) {
    let rows = context::beside(experiment);
    if rows.is_empty() {
        return;
    }
    heading(out, 2, "What went with it");
    paragraph(out, "Medians over runs: described, not tested.");
    let arms = experiment.plan.arms.iter().map(|arm| format!("{}:", arm.name));
    let header: Vec<String> = ["measure".to_owned(), "metric".to_owned()].into_iter().chain(arms).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = rows.into_iter().map(|row| {
        let medians = row.medians.iter().map(|median| match median {
            Some(median) => words::micro(&words::single(*median, row.metric.unit)),
            None => "none".to_owned(),
        });
        [row.measure.clone(), row.title.clone()].into_iter().chain(medians).collect()
    });
    table(out, &header, rows);
}

fn ceilings(out: &mut String, analysis: &Analysis) {
    if analysis.ceilings.is_empty() {
        return;
    }
    heading(out, 2, "What bounds it");
    for bound in &analysis.ceilings {
        let limit = quantity::human(bound.ceiling.limit, bound.ceiling.unit, 4);
        let reached =
            bound.share.map(|share| format!(", {} reached", words::share(share))).unwrap_or_default();
        let _ = writeln!(out, "- {}: {} {limit}{reached}", md(&bound.arm), md(&bound.ceiling.name));
        for step in &bound.ceiling.steps {
            let _ = writeln!(out, "  - {}", md(step));
        }
    }
    out.push('\n');
}

fn state_of_runs(out: &mut String, experiment: &Experiment, analysis: &Analysis) {
    heading(out, 2, "State of the runs");
    paragraph(out, &format!("{}.", words::run_counts(analysis.runs)));
    let marks = words::condensed(words::marked(experiment));
    if !marks.is_empty() {
        let rows = marks.iter().map(|mark| vec![mark.runs(), mark.word.to_owned(), mark.reasons.clone()]);
        table(out, &["runs", "state", "why"], rows);
    }
}

fn differences(out: &mut String, analysis: &Analysis) {
    heading(out, 2, "What differed that nobody declared");
    if analysis.undeclared_differences.is_empty() {
        paragraph(out, "Nothing: apart from what the plan sets, the hosts were the same in every arm.");
        return;
    }
    let rows = analysis.undeclared_differences.iter().flat_map(|difference| {
        difference.values.iter().map(|(arm, value)| {
            let value = words::micro(&words::fact_value(value, difference.unit));
            vec![difference.host.clone(), difference.key.clone(), arm.clone(), value]
        })
    });
    table(out, &["host", "fact", "arm", "value"], rows);
}

/// What stood out, by arm.
fn know(out: &mut String, analysis: &Analysis, arms: &[String]) {
    let chapters = know::chapters(analysis, arms);
    if chapters.is_empty() {
        return;
    }
    heading(out, 2, know::TITLE);
    paragraph(out, know::FLAGGED);
    for chapter in chapters {
        heading(out, 3, &chapter.of);
        list(out, &chapter.sentences);
    }
}

fn list(out: &mut String, sentences: &[String]) {
    for text in sentences {
        let _ = writeln!(out, "- {}", md(&words::micro_inside(text)));
    }
    out.push('\n');
}

fn caveats(out: &mut String, analysis: &Analysis) {
    let caveats = know::others(analysis);
    if caveats.is_empty() {
        return;
    }
    heading(out, 2, "To be read with care");
    for (index, caveat) in caveats.iter().enumerate() {
        let _ = writeln!(out, "{}. {}", index + 1, md(&caveat.text));
    }
    out.push('\n');
}

fn environment(out: &mut String, experiment: &Experiment) {
    heading(out, 2, "Environment");
    for (host, facts) in method::environment(experiment) {
        let count = words::counted(facts.len(), "fact");
        let _ = writeln!(out, "<details><summary>{} ({count})</summary>\n", inert(&host));
        let rows = facts.into_iter().map(|fact| vec![fact.key, fact.value, fact.source]);
        table(out, &["fact", "value", "source"], rows);
        out.push_str("</details>\n\n");
    }
}

fn appendix(out: &mut String, experiment: &Experiment, analysis: &Analysis, about: &About) {
    heading(out, 2, "Appendix");
    p_values(out, analysis);
    let tools = method::tools(experiment);
    let versions = [about.version.clone()].into_iter().chain(tools).collect::<Vec<_>>().join("; ");
    paragraph(out, &format!("Versions: {versions}. Experiment {}, begun {}.", experiment.uid, about.created));
    twelve_rules(out, &Evidence::of_experiment(experiment, analysis));
}

fn p_values(out: &mut String, analysis: &Analysis) {
    let topics = topics::topics(analysis);
    let rows = topics.iter().flat_map(|topic| {
        topic.comparisons.iter().map(|comparison| {
            let result = &comparison.result;
            vec![
                topic.title.clone(),
                comparison.arm.clone(),
                words::ratio(result),
                words::ratio_interval(result).unwrap_or_else(|| "none".to_owned()),
                result.n.to_string(),
                result.p.map_or_else(|| "none".to_owned(), |p| quantity::significant(p, 2)),
                result.mde.map_or_else(|| "unknown".to_owned(), words::visible),
            ]
        })
    });
    if !analysis.comparisons.is_empty() {
        table(out, &["metric", "arm", "ratio:", "interval:", "n:", "p:", "visible from:"], rows);
    }
}

fn twelve_rules(out: &mut String, evidence: &Evidence<'_>) {
    heading(out, 3, "The twelve rules");
    paragraph(out, "Hoefler and Belli, doi:10.1145/2807591.2807644, in our words.");
    let rules = rules::checklist(evidence);
    let rows = rules.iter().enumerate().map(|(index, rule)| {
        let number = (index + 1).to_string();
        vec![number, rule.status.word().to_owned(), rule.rule.to_owned(), rule.why.clone()]
    });
    table(out, &["#:", "", "rule", "why"], rows);
}

/// A table with a title and notes.
pub(crate) fn plain_table(title: &str, header: &[String], rows: &[Vec<String>], notes: &[String]) -> String {
    let mut out = String::new();
    heading(&mut out, 2, title);
    let header: Vec<String> = header.iter().map(|name| md(name)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table(&mut out, &header, rows.iter().map(|row| row.iter().map(|cell| md(cell)).collect()));
    for note in notes {
        paragraph(&mut out, note);
    }
    out
}

fn heading(out: &mut String, level: usize, text: &str) {
    let _ = writeln!(out, "{} {}\n", "#".repeat(level), md(text));
}

fn paragraph(out: &mut String, text: &str) {
    let _ = writeln!(out, "{}\n", md(text));
}

/// A figure that is dark where the reader's page is.
fn picture(out: &mut String, figure: &Figure) {
    let name = &figure.name;
    let _ = writeln!(
        out,
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{name}-dark.svg\">\
         <img src=\"{name}.svg\" alt=\"{}\"></picture>\n",
        inert(&figure.alt)
    );
}

/// A table; headers that end in a colon are columns of numbers.
fn table(out: &mut String, header: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let names: Vec<String> = header.iter().map(|name| md(name.strip_suffix(':').unwrap_or(name))).collect();
    let rules: Vec<&str> =
        header.iter().map(|name| if name.ends_with(':') { "---:" } else { "---" }).collect();
    let _ = writeln!(out, "| {} |\n| {} |", names.join(" | "), rules.join(" | "));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| md(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}

/// A code block whose fence is longer than any inside.
fn fenced(out: &mut String, language: &str, text: &str) {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    let _ = writeln!(out, "{fence}{language}\n{}\n{fence}\n", text.trim_end());
}

/// Foreign text inside HTML inside Markdown, where either may be looked for.
fn inert(text: &str) -> String {
    let text = escape(&line(text));
    text.replace('`', "&#96;").replace('[', "&#91;").replace('*', "&#42;").replace('_', "&#95;")
}

/// `text` on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Foreign text that must stay text: neither markup nor HTML.
fn md(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
