//! Tables for terminals: plain text without colour, as wide as the caller says, readable at 80 columns.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use tenbin_core::analysis::Analysis;
use tenbin_core::compare::{Answer, Row};
use tenbin_core::experiment::Experiment;
use tenbin_core::metric::Metric;
use tenbin_core::quantity;
use tenbin_core::run::Run;
use tenbin_core::sample::Series;
use tenbin_core::stats;
use tenbin_core::stopping;
use unicode_width::UnicodeWidthStr;

use crate::compared::analysis;
use crate::computed::Computed;
use crate::context;
use crate::know;
use crate::overview;
use crate::topics::{self, CurveTopic, Part, Topic};
use crate::words;

/// Ratios of more pairs of arms than these have no room beside each other.
const MOST_PAIRS: usize = 3;

/// So many reasons for marks are shown: a screen, not a log.
const MOST_MARKS: usize = 6;

/// So many sentences about an arm.
const MOST_SENTENCES: usize = 6;

/// So many imported runs are shown: nobody reads on.
const MOST_IMPORTED: usize = 500;

/// So many metrics of an imported run are shown on its line.
const MOST_FIGURES: usize = 3;

/// The answer: per metric the arms, the interval, the verdict; then what bounds it and what to know about it.
pub fn summary(experiment: &Experiment, analysis: &Analysis, width: usize) -> String {
    let mut out = String::new();
    head(&mut out, experiment, width);
    if let Some(length) = stopping::outcome(experiment, analysis) {
        paragraph(&mut out, "", &length, width);
    }
    for part in topics::parts(analysis) {
        match &part {
            Part::Single(topic) => metric(&mut out, analysis, topic, width),
            Part::Curve(curve) => self::curve(&mut out, curve, width),
        }
        overview(&mut out, analysis, &part, width);
    }
    beside(&mut out, experiment, width);
    ceilings(&mut out, analysis, width);
    know(&mut out, experiment, analysis, width);
    state_of_runs(&mut out, experiment, analysis, width);
    differences(&mut out, analysis, width);
    footnotes(&mut out, analysis, width);
    out
}

fn head(out: &mut String, experiment: &Experiment, width: usize) {
    let plan = &experiment.plan;
    paragraph(
        out,
        "",
        &format!("{}: {}", plan.name, plan.question.as_deref().unwrap_or("no question asked")),
        width,
    );
    let arms: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    let blocks = words::counted(experiment.blocks() as usize, "block");
    let line =
        format!("{blocks} of {}; {}; seed {}", arms.join(", "), words::routes(plan, "->"), experiment.seed);
    paragraph(out, "", &line, width);
}

fn metric(out: &mut String, analysis: &Analysis, topic: &Topic<'_>, width: usize) {
    let direction = words::direction(topic.better());
    let comma = if direction.is_empty() { "" } else { ", " };
    let _ = writeln!(out, "\n{}{comma}{direction}", topic.title);
    let bounded = topic.levels.iter().any(|level| bound(analysis, level).is_some());
    let mut header = vec!["arm", "n", "median", "95 % interval"];
    if bounded {
        header.push("of the ceiling");
    }
    let mut table = table(&header, width);
    for level in &topic.levels {
        let text = words::level(level);
        let mut row = vec![
            left(&level.arm),
            right(level.n.to_string()),
            right(text.median),
            right(text.interval.as_deref().unwrap_or("none below 6 runs")),
        ];
        if bounded {
            row.push(right(bound(analysis, level).unwrap_or_default()));
        }
        table.add_row(row);
    }
    if !topic.levels.is_empty() {
        push_table(out, &table);
    }
    for comparison in &topic.comparisons {
        let ratio = format!(
            "{} / {}: {}",
            comparison.arm,
            comparison.base,
            words::rests_on(&comparison.result, "block")
        );
        paragraph(out, "  ", &ratio, width);
        paragraph(out, "  => ", &comparison.text, width);
    }
}

fn curve_title(out: &mut String, curve: &CurveTopic<'_>, width: usize) {
    let direction = words::direction(curve.better());
    let comma = if direction.is_empty() { "" } else { ", " };
    paragraph(out, "", &format!("{}{comma}{direction}", curve.title), width);
}

/// Every arm alone along a curve; beside them the ratios, where there is one pair.
fn curve_levels(out: &mut String, curve: &CurveTopic<'_>, width: usize) {
    let (arms, pairs) = (curve.arms(), curve.pairs());
    let along = curve.along_in_words();
    let mut header = vec![along.as_str()];
    header.extend(&arms);
    let one = if pairs.len() == 1 { pairs.first() } else { None };
    header.extend(one.iter().flat_map(|_| ["ratio", "95 % interval", "verdict"]));
    let mut table = table(&header, width);
    for point in &curve.points {
        let mut row = vec![right(&point.label)];
        let level = |arm: &&str| point.level(arm).map(|level| words::level(level).median).unwrap_or_default();
        row.extend(arms.iter().map(|arm| right(level(arm))));
        match one.map(|pair| point.comparison(*pair)) {
            None => {}
            Some(None) => row.extend([right(""), right(""), right("not compared")]),
            Some(Some(comparison)) => {
                let result = &comparison.result;
                let interval = words::ratio_interval(result).unwrap_or_else(|| "none".to_owned());
                let verdict = words::verdict(result.verdict).1;
                row.extend([right(words::ratio(result)), right(interval), right(verdict)]);
            }
        }
        table.add_row(row);
    }
    push_table(out, &table);
}

/// More than two arms: which can't be told apart.
fn overview(out: &mut String, analysis: &Analysis, part: &Part<'_>, width: usize) {
    let Some(group) = overview::of(analysis, part) else { return };
    paragraph(out, "  ", &overview::friedman(group), width);
    let over = match part {
        Part::Single(_) => String::new(),
        Part::Curve(curve) => format!("Geometric means over {}. ", curve.counted_common()),
    };
    paragraph(out, "  ", &format!("{over}{}", overview::LETTERS), width);
    let (header, rows) = overview::arms(group, part.unit(), str::to_owned);
    let names: Vec<&str> = header.iter().map(|name| name.strip_suffix(':').unwrap_or(name)).collect();
    let mut table = table(&names, width);
    for row in rows {
        let number = |column: usize| header.get(column).is_some_and(|name: &String| name.ends_with(':'));
        table.add_row(
            row.iter()
                .enumerate()
                .map(|(column, cell)| if number(column) { right(cell) } else { left(cell) }),
        );
    }
    push_table(out, &table);
}

fn curve(out: &mut String, curve: &CurveTopic<'_>, width: usize) {
    out.push('\n');
    curve_title(out, curve, width);
    let pairs = curve.pairs();
    curve_levels(out, curve, width);
    if (2..=MOST_PAIRS).contains(&pairs.len()) {
        let names: Vec<String> = pairs.iter().map(|(arm, base)| format!("{arm} / {base}")).collect();
        let along = curve.along_in_words();
        let header: Vec<&str> =
            [along.as_str()].into_iter().chain(names.iter().map(String::as_str)).collect();
        let mut table = table(&header, width);
        for point in &curve.points {
            let ratios = pairs.iter().map(|pair| right(point.ratio(*pair)));
            table.add_row([right(&point.label)].into_iter().chain(ratios));
        }
        push_table(out, &table);
    }
    for whole in &curve.wholes {
        let over = format!("{} / {}{}", whole.arm, whole.base, topics::over(whole));
        paragraph(out, "  ", &format!("{over}: {}", words::rests_on(&whole.whole, "block")), width);
        paragraph(out, "  => ", &whole.text, width);
    }
    for text in curve.tallies() {
        paragraph(out, "  ", &text, width);
    }
    for text in curve.remarks() {
        paragraph(out, "  ", &text, width);
    }
}

fn bound(analysis: &Analysis, level: &tenbin_core::analysis::Level) -> Option<String> {
    let tightest = words::tightest(analysis, &level.arm, &level.metric.name, level.metric.unit)?;
    let limit = quantity::human(tightest.ceiling.limit, tightest.ceiling.unit, 3);
    Some(format!("{} of {limit}", words::share(tightest.share?)))
}

fn beside(out: &mut String, experiment: &Experiment, width: usize) {
    let rows = context::beside(experiment);
    if rows.is_empty() {
        return;
    }
    out.push_str("\nbeside it: medians over runs, described and not tested\n");
    let arms = experiment.plan.arms.iter().map(|arm| arm.name.as_str());
    let header: Vec<&str> = ["measure", "metric"].into_iter().chain(arms).collect();
    let mut table = table(&header, width);
    for row in rows {
        let mut cells = vec![left(&row.measure), left(&row.title)];
        cells.extend(row.medians.iter().map(|median| match median {
            Some(median) => right(words::single(*median, row.metric.unit)),
            None => right("none"),
        }));
        table.add_row(cells);
    }
    push_table(out, &table);
}

fn ceilings(out: &mut String, analysis: &Analysis, width: usize) {
    if analysis.ceilings.is_empty() {
        return;
    }
    out.push_str("\nceilings\n");
    for bound in &analysis.ceilings {
        let limit = quantity::human(bound.ceiling.limit, bound.ceiling.unit, 4);
        let reached =
            bound.share.map(|share| format!("; reached {}", words::share(share))).unwrap_or_default();
        let line = format!("{}: {} {limit} ({}){reached}", bound.arm, bound.ceiling.name, bound.metric);
        paragraph(out, "  ", &line, width);
        for step in &bound.ceiling.steps {
            paragraph(out, "      ", step, width);
        }
    }
}

fn state_of_runs(out: &mut String, experiment: &Experiment, analysis: &Analysis, width: usize) {
    out.push('\n');
    paragraph(out, "", &format!("runs: {}", words::run_counts(analysis.runs)), width);
    let marked = words::condensed(words::marked(experiment));
    for mark in marked.iter().take(MOST_MARKS) {
        let line = format!("{} {}: {}", mark.runs(), mark.word, mark.reasons);
        paragraph(out, "  ", &line, width);
    }
    if marked.len() > MOST_MARKS {
        let _ = writeln!(out, "  and {} more, all in the report", marked.len() - MOST_MARKS);
    }
    let missing = experiment.missing().len();
    if missing > 0 {
        let line = format!("{missing} of {} slots have no run that counts", experiment.schedule.len());
        paragraph(out, "  ", &line, width);
    }
}

fn differences(out: &mut String, analysis: &Analysis, width: usize) {
    if analysis.undeclared_differences.is_empty() {
        return;
    }
    out.push_str("\nwhat differed between the arms that the plan did not declare\n");
    let mut table = table(&["host", "fact", "arm", "value"], width);
    for difference in &analysis.undeclared_differences {
        for (index, (arm, value)) in difference.values.iter().enumerate() {
            let once = |text: &str| if index == 0 { left(text) } else { left("") };
            let value = words::fact_value(value, difference.unit);
            table.add_row(vec![once(&difference.host), once(&difference.key), left(arm), left(value)]);
        }
    }
    push_table(out, &table);
}

/// What stood out, by arm: a screen, not a log.
fn know(out: &mut String, experiment: &Experiment, analysis: &Analysis, width: usize) {
    let arms: Vec<String> = experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect();
    let chapters = know::chapters(analysis, &arms);
    if chapters.is_empty() {
        return;
    }
    out.push_str("\nwhat to know about these numbers; all of them count\n");
    for chapter in chapters {
        paragraph(out, "  ", &format!("{}:", chapter.of), width);
        for text in chapter.sentences.iter().take(MOST_SENTENCES) {
            paragraph(out, "    - ", text, width);
        }
        if chapter.sentences.len() > MOST_SENTENCES {
            let more = chapter.sentences.len() - MOST_SENTENCES;
            let _ = writeln!(out, "    and {more} more, all in the report");
        }
    }
}

fn footnotes(out: &mut String, analysis: &Analysis, width: usize) {
    let caveats = know::others(analysis);
    if caveats.is_empty() {
        return;
    }
    out.push_str("\nto be read with care\n");
    for (index, caveat) in caveats.iter().enumerate() {
        paragraph(out, &format!("  [{}] ", index + 1), &caveat.text, width);
    }
}

/// A line of [`list`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRow {
    /// The experiment's number.
    pub id: i64,
    /// When it was begun, as text.
    pub created: String,
    /// The plan's name.
    pub plan: String,
    /// Its arms.
    pub arms: Vec<String>,
    /// Slots with a run that counts.
    pub done: usize,
    /// All slots.
    pub slots: usize,
}

/// The experiments of a store.
pub fn list(rows: &[ListRow], width: usize) -> String {
    if rows.is_empty() {
        return "no experiments yet\n".to_owned();
    }
    let mut table = table(&["id", "begun", "plan", "arms", "runs"], width);
    for row in rows {
        let runs = match row.done == row.slots {
            true => row.slots.to_string(),
            false => format!("{} of {}", row.done, row.slots),
        };
        table.add_row(vec![
            right(row.id.to_string()),
            left(&row.created),
            left(&row.plan),
            left(row.arms.join(", ")),
            right(runs),
        ]);
    }
    let mut out = String::new();
    push_table(&mut out, &table);
    out
}

/// A line of [`imported`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedRow {
    /// The run's number in the store.
    pub run: i64,
    /// It was in the store already.
    pub known: bool,
    /// The file.
    pub source: String,
    /// The tool.
    pub tool: String,
    /// The benchmark within it.
    pub benchmark: String,
    /// Its main [`figures`].
    pub figures: String,
    /// How many things to know there are.
    pub caveats: usize,
}

/// What was read out of logs: a line a run.
pub fn imported(rows: &[ImportedRow], width: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let benchmarks = rows.iter().any(|row| !row.benchmark.is_empty());
    let mut header = vec!["run", "source", "tool"];
    header.extend(benchmarks.then_some("benchmark"));
    header.extend(["value", "caveats"]);
    let mut table = table(&header, width);
    for row in rows.iter().take(MOST_IMPORTED) {
        let mut cells = vec![right(row.run.to_string()), left(&row.source), left(&row.tool)];
        cells.extend(benchmarks.then(|| left(&row.benchmark)));
        cells.push(left(if row.known {
            format!("known already: {}", row.figures)
        } else {
            row.figures.clone()
        }));
        cells.push(right(if row.caveats == 0 { String::new() } else { row.caveats.to_string() }));
        table.add_row(cells);
    }
    let mut out = String::new();
    push_table(&mut out, &table);
    if rows.len() > MOST_IMPORTED {
        let _ = writeln!(out, " and {} more", rows.len() - MOST_IMPORTED);
    }
    out
}

/// A line of [`lone`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoneRow {
    /// The run's number.
    pub id: i64,
    /// When it was stored, as text.
    pub stored: String,
    /// The configuration it measured, where the user said.
    pub arm: String,
    /// The tool.
    pub tool: String,
    /// The benchmark within it.
    pub benchmark: String,
    /// The file.
    pub source: String,
}

/// The runs of a store that are of no experiment.
pub fn lone(rows: &[LoneRow], width: usize) -> String {
    if rows.is_empty() {
        return "no imported runs yet\n".to_owned();
    }
    let mut table = table(&["run", "stored", "arm", "tool", "benchmark", "source"], width);
    for row in rows {
        table.add_row(vec![
            right(format!("run:{}", row.id)),
            left(&row.stored),
            left(&row.arm),
            left(&row.tool),
            left(&row.benchmark),
            left(&row.source),
        ]);
    }
    let mut out = String::new();
    push_table(&mut out, &table);
    out
}

/// The main figures of a run on one line: of each headline metric its value, or from where to where it goes.
pub fn figures(run: &Run) -> String {
    let headlines = run.series.iter().filter(|series| series.headline.is_some());
    let mut shown: Vec<&Series> = headlines.collect();
    if shown.is_empty() {
        shown = run.series.iter().collect();
    }
    let mut metrics: Vec<(&Metric, Vec<f64>)> = Vec::new();
    for series in shown {
        let median = || stats::order::median_of(series.values());
        let value = series.headline_value().or_else(median).or_else(|| series.reported.get("mean").copied());
        let Some(value) = value else { continue };
        match metrics.iter_mut().find(|(metric, _)| *metric == &series.metric) {
            Some((_, values)) => values.push(value),
            None => metrics.push((&series.metric, vec![value])),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (metric, values) in metrics.iter().take(MOST_FIGURES) {
        let (lowest, highest) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        let (low, high) = (words::single(lowest, metric.unit), words::single(highest, metric.unit));
        parts.push(match values.len() {
            1 => format!("{} {low}", metric.name),
            _ if low == high => format!("{} {low}", metric.name),
            _ => format!("{} {low} to {high}", metric.name),
        });
    }
    if metrics.len() > MOST_FIGURES {
        parts.push(format!("and {} more", metrics.len() - MOST_FIGURES));
    }
    let rest = [(run.events.len(), "event"), (run.states.len(), "state")];
    parts.extend(rest.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| words::counted(n, what)));
    parts.join(", ")
}

/// One run: what was measured, every series with its figures, and what to know about it.
pub fn run(run: &Run, width: usize) -> String {
    let mut out = String::new();
    let version = run.tool_version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let benchmark = run.benchmark.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
    paragraph(&mut out, "", &format!("{} ({}{version}{benchmark})", run.source, run.tool), width);
    let mut table = table(&["series", "n", "median", "min", "max"], width);
    for series in &run.series {
        let figures = Computed::of(series);
        let mark = if series.headline.is_some() { " *" } else { "" };
        let params = words::params(&series.params);
        let params = if params.is_empty() { params } else { format!(" ({params})") };
        let value = |value: Option<f64>| {
            right(value.map(|value| words::single(value, series.metric.unit)).unwrap_or_default())
        };
        table.add_row(vec![
            left(format!("{}{mark}{params}", series.metric.name)),
            right(figures.n.to_string()),
            value(figures.median),
            value(figures.min),
            value(figures.max),
        ]);
    }
    if run.series.is_empty() {
        out.push_str("nothing was measured\n");
    } else {
        push_table(&mut out, &table);
        out.push_str("* what verdicts are made of\n");
    }
    let reasons = match run.taint.reasons.is_empty() {
        true => String::new(),
        false => format!(": {}", run.taint.reasons.join("; ")),
    };
    paragraph(&mut out, "", &format!("state: {}{reasons}", words::taint(run.taint.level)), width);
    for (index, caveat) in run.caveats.iter().enumerate() {
        paragraph(&mut out, &format!("[{}] ", index + 1), &caveat.text, width);
    }
    if !run.facts.is_empty() {
        out.push_str("\nfacts\n");
        for (key, fact) in &run.facts {
            paragraph(&mut out, "  ", &format!("{key}: {}", words::fact(fact)), width);
        }
    }
    out
}

/// A table with a title and notes; the first `words` columns hold words, the others numbers.
pub(crate) fn plain_table(
    title: &str,
    header: &[String],
    words: usize,
    rows: &[Vec<String>],
    notes: &[String],
    width: usize,
) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", title, width);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, width);
    table.set_header(
        header.iter().enumerate().map(|(at, name)| if at < words { left(name) } else { right(*name) }),
    );
    for row in rows {
        table.add_row(
            row.iter().enumerate().map(|(at, cell)| if at < words { left(cell) } else { right(cell) }),
        );
    }
    push_table(&mut out, &table);
    for note in notes {
        paragraph(&mut out, "  ", note, width);
    }
    out
}

/// Columns two blanks apart under one thin line: nothing but the numbers asks for attention.
fn table(header: &[&str], width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_content_arrangement(ContentArrangement::Dynamic);
    // A terminal of 20 columns gets long lines rather than one letter a line.
    table.set_width(u16::try_from(width.clamp(40, 500) - 1).unwrap_or(80));
    table.set_header(header.iter().map(|name| {
        let words = [
            "arm",
            "letters",
            "measure",
            "metric",
            "host",
            "fact",
            "value",
            "begun",
            "plan",
            "arms",
            "series",
            "source",
            "tool",
            "benchmark",
        ];
        if words.contains(name) { left(name) } else { right(name) }
    }));
    table
}

fn push_table(out: &mut String, table: &Table) {
    for line in table.lines() {
        let _ = writeln!(out, " {}", line.trim_end());
    }
}

fn left(text: impl AsRef<str>) -> Cell {
    Cell::new(clean(text.as_ref()))
}

fn right(text: impl AsRef<str>) -> Cell {
    Cell::new(clean(text.as_ref())).set_alignment(CellAlignment::Right)
}

/// Foreign text without what moves a terminal's cursor.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What `compare` found, each side against its base: the figures, curves a row a point, then what is to be said.
pub fn answers(answers: &[Answer], width: usize) -> String {
    let mut out = String::new();
    for answer in answers {
        let analysis = analysis(std::slice::from_ref(answer));
        let parts = topics::parts(&analysis);
        let alone = |row: &&Row| {
            let one = &row.comparison;
            let is = |topic: &Topic<'_>| topic.metric() == one.metric && topic.params() == one.params;
            parts.iter().any(|part| matches!(part, Part::Single(topic) if is(topic)))
        };
        let rows: Vec<&Row> = answer.rows.iter().filter(alone).collect();
        if let Some(first) = rows.first() {
            let (base, arm) = (&first.comparison.base, &first.comparison.arm);
            let mut table = table(&["", base, arm, "ratio", "95 % interval", "runs"], width);
            for row in &rows {
                table.add_row(compared(row, &rows));
            }
            push_table(&mut out, &table);
        }
        for part in &parts {
            let Part::Curve(curve) = part else { continue };
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
            curve_title(&mut out, curve, width);
            curve_levels(&mut out, curve, width);
            curve.tallies().iter().for_each(|text| paragraph(&mut out, "  ", text, width));
        }
        for sentence in answer.sentences() {
            paragraph(&mut out, "  ", &sentence, width);
        }
        out.push('\n');
    }
    out
}

/// Sentences, one below the other.
pub fn sentences(sentences: &[String], width: usize) -> String {
    let mut out = String::new();
    sentences.iter().for_each(|sentence| paragraph(&mut out, "  ", sentence, width));
    out
}

/// A row of the table; only params that tell it from the other rows are shown.
fn compared(row: &Row, all: &[&Row]) -> Vec<Cell> {
    let (comparison, result) = (&row.comparison, &row.comparison.result);
    let number = |value: f64| match value.is_finite() {
        true => right(quantity::human(value, comparison.unit, 3)),
        false => right("-"),
    };
    let ratio = |value: f64| quantity::significant(value, 3);
    let interval = match (result.lo, result.hi) {
        (Some(lo), Some(hi)) => format!("{} to {}", ratio(lo), ratio(hi)),
        _ => "none".to_owned(),
    };
    let varies = |name: &String| {
        all.iter().any(|other| other.comparison.params.get(name) != comparison.params.get(name))
    };
    let own = comparison.params.iter().filter(|(name, _)| varies(name));
    let params = words::params(&own.map(|(name, value)| (name.clone(), value.clone())).collect());
    let name = comparison.metric.replace('_', " ");
    vec![
        left(&if params.is_empty() { name } else { format!("{name} ({params})") }),
        number(row.base_level.median),
        number(row.arm_level.median),
        right(if result.ratio.is_finite() { ratio(result.ratio) } else { "-".to_owned() }),
        right(interval),
        right(format!("{}, {}", row.base_level.n, row.arm_level.n)),
    ]
}

/// `text` wrapped at blanks, the first line behind `mark`, the others indented as far.
fn paragraph(out: &mut String, mark: &str, text: &str, width: usize) {
    let width = width.max(40);
    let indent = mark.width();
    let mut column = indent;
    out.push_str(mark);
    for word in clean(text).split_whitespace() {
        let length = word.width();
        if column > indent && column + 1 + length > width {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        }
        if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}
