//! The figures of a report, drawn by plotters on a backend of our own (`ink`).
//!
//! [`all`] says which figures an experiment gives; [`Figure::svg`] draws one for a page, a phone or a file.

use tenbin_core::analysis::Analysis;
use tenbin_core::experiment::{Experiment, Record, State};
use tenbin_core::metric::Better;
use tenbin_core::quantity;
use tenbin_core::run::Run;
use tenbin_core::sample::Series;
use tenbin_core::taint::TaintLevel;
use tenbin_core::unit::Unit;

use crate::About;
use crate::compared::Comparison;
use crate::topics::{self, CurveTopic, Part, Topic};
use crate::words;
use axis::Axis;

mod axis;
mod curve;
mod draw;
mod ink;

pub use axis::pretty;
pub use ink::{ARM_COLOURS, FONTS, Flavour, escape, variables};

/// How wide a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For a page or a file.
    Wide,
    /// For a phone.
    Narrow,
}

/// One figure, not yet drawn.
pub struct Figure {
    /// Its file name without ending: `throughput-ratio`.
    pub name: String,
    /// The heading.
    pub title: String,
    /// What it shows, for those who cannot see it.
    pub alt: String,
    /// Hosts, blocks, date, experiment: which plot this is, wherever it ends up.
    stamp: [String; 4],
    /// Arm names by index.
    arms: Vec<String>,
    kind: Kind,
}

/// What is drawn.
enum Kind {
    Ratio(Ratios),
    Values(Values),
    Timeline(Timeline),
    Lines(Lines),
    Bands(curve::Bands),
}

/// Ratios with their intervals.
struct Ratios {
    rows: Vec<RatioRow>,
    margin: f64,
    better: Better,
    base: String,
}

struct RatioRow {
    arm: usize,
    label: String,
    text: String,
    verdict: String,
    ratio: f64,
    interval: Option<(f64, f64)>,
    blocks: Vec<f64>,
}

/// Levels of arms with their ceilings.
struct Values {
    rows: Vec<ValueRow>,
    unit: Unit,
    metric: String,
    better: Better,
}

struct ValueRow {
    arm: usize,
    text: String,
    note: String,
    median: f64,
    interval: Option<(f64, f64)>,
    runs: Vec<(f64, String)>,
    ceiling: Option<(f64, String)>,
}

/// Every run as a dot.
struct Timeline {
    dots: Vec<Dot>,
    unit: Unit,
    metric: String,
    better: Better,
}

struct Dot {
    /// The run's number.
    run: i64,
    arm: usize,
    block: u32,
    at: f64,
    value: f64,
    mark: DotMark,
    tooltip: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DotMark {
    Counts,
    Suspect,
    Excluded,
}

/// One line a run.
struct Lines {
    lines: Vec<Line>,
    x: LineAxis,
    y: LineAxis,
    steps: bool,
    note: Option<String>,
}

struct Line {
    arm: usize,
    tooltip: String,
    points: Vec<(f64, f64)>,
}

struct LineAxis {
    unit: Unit,
    title: String,
    range: LineRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineRange {
    FromZero,
    Around,
    Log,
    /// 0 to 1, in quarters.
    Share,
}

/// A figure's lines have so many points at most: thousands of samples make a slow page and no better picture.
const MOST_POINTS: usize = 512;

/// Curves of more points show no distribution of each: nobody looks at dozens of figures.
pub const MOST_DISTRIBUTIONS: usize = 6;

/// The figures that this experiment gives, in the order of the report.
pub fn all(experiment: &Experiment, analysis: &Analysis, about: &About) -> Vec<Figure> {
    let arms = experiment.plan.arms.iter().map(|arm| arm.name.clone()).collect();
    Seat { experiment: Some(experiment), arms, analysis }.figures(&stamp(experiment, about))
}

/// The figures of runs that existed already.
pub fn of_comparison(compared: &Comparison<'_>, about: &About) -> Vec<Figure> {
    let runs = compared.sides.iter().map(|side| side.runs).sum();
    let stamp =
        [compared.design().to_owned(), words::counted(runs, "run"), about.created.clone(), String::new()];
    Seat { experiment: None, arms: compared.arms(), analysis: &compared.analysis }.figures(&stamp)
}

impl Figure {
    /// The figure as an SVG document (or element: there is no XML declaration).
    pub fn svg(&self, flavour: Flavour, size: Size) -> String {
        draw::svg(self, flavour, size)
    }

    fn stamp(&self, size: Size) -> String {
        // A phone has no room for the number of blocks.
        let fits = |index: usize| size == Size::Wide || index != 1;
        let parts = self.stamp.iter().enumerate().filter(|(i, part)| fits(*i) && !part.is_empty());
        parts.map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(" · ")
    }
}

fn stamp(experiment: &Experiment, about: &About) -> [String; 4] {
    let uid: String = experiment.uid.chars().take(8).collect();
    let blocks = words::counted(experiment.blocks() as usize, "block");
    let routes = words::routes(&experiment.plan, "→");
    [routes, blocks, about.created.clone(), uid]
}

/// The figures' message in words.
fn alt(title: &str, topic: &Topic<'_>) -> String {
    let levels = topic
        .levels
        .iter()
        .map(|level| format!("{} {}", level.arm, words::micro(&words::level(level).median)));
    let verdicts = topic.comparisons.iter().map(|comparison| comparison.text.clone());
    let parts: Vec<String> = levels.chain(verdicts).collect();
    format!("{title}. {}", parts.join("; "))
}

/// File names of letters, digits and hyphens only.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    let cut: String = out.trim_end_matches('-').chars().take(60).collect();
    if cut.is_empty() { "metric".to_owned() } else { cut }
}

fn unique(name: &str, taken: &mut Vec<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 2;
    while taken.contains(&unique) {
        unique = format!("{name}-{number}");
        number += 1;
    }
    taken.push(unique.clone());
    unique
}

/// Where the data of figures are picked from.
struct Seat<'a> {
    /// Where single runs are known.
    experiment: Option<&'a Experiment>,
    arms: Vec<String>,
    analysis: &'a Analysis,
}

impl Seat<'_> {
    fn figures(&self, stamp: &[String; 4]) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut names = Vec::new();
        for part in topics::parts(self.analysis) {
            let slug = unique(&slug(part.title()), &mut names);
            for (name, title, alt, kind) in self.kinds(&part) {
                figures.push(Figure {
                    name: format!("{slug}-{name}"),
                    alt,
                    title,
                    stamp: stamp.clone(),
                    arms: self.arms.clone(),
                    kind,
                });
            }
        }
        figures
    }

    fn records(&self) -> &[Record] {
        self.experiment.map_or(&[], |experiment| &experiment.records)
    }

    /// Name, title, message and data of a part's figures.
    fn kinds(&self, part: &Part<'_>) -> Vec<(String, String, String, Kind)> {
        match part {
            Part::Single(topic) => self.of_topic(topic, &topic.title),
            Part::Curve(curve) => self.of_curve(curve),
        }
    }

    fn of_topic(&self, topic: &Topic<'_>, called: &str) -> Vec<(String, String, String, Kind)> {
        let made = [
            self.ratios(topic).map(|kind| ("ratio", "ratio of the arms", kind)),
            self.values(topic).map(|kind| ("values", "every arm alone", kind)),
            self.timeline(topic).map(|kind| ("runs", "every run in time order", kind)),
            self.ecdf(topic).map(|kind| ("distribution", "distribution of the samples", kind)),
            self.intervals(topic).map(|kind| ("intervals", "within the runs", kind)),
        ];
        let named = made.into_iter().flatten().map(|(name, title, kind)| {
            let title = format!("{called}: {title}");
            (name.to_owned(), title.clone(), alt(&title, topic), kind)
        });
        named.collect()
    }

    fn of_curve(&self, curve: &CurveTopic<'_>) -> Vec<(String, String, String, Kind)> {
        let made = [
            self.ratio_curve(curve).map(|kind| ("ratio", "ratio of the arms", kind)),
            self.value_curve(curve).map(|kind| ("values", "every arm alone", kind)),
            self.curve_timeline(curve).map(|kind| ("runs", "every run in time order", kind)),
        ];
        let wholes = curve.wholes.iter().map(|whole| whole.text.clone());
        let says: Vec<String> = curve.tallies().into_iter().chain(wholes).collect();
        let named = made.into_iter().flatten().map(|(name, title, kind)| {
            let title = format!("{}: {title}", curve.title);
            (name.to_owned(), title.clone(), format!("{title}. {}", says.join("; ")), kind)
        });
        let mut all: Vec<_> = named.collect();
        if curve.points.len() <= MOST_DISTRIBUTIONS {
            for (number, point) in (1..).zip(&curve.points) {
                let Some(kind) = self.ecdf(&point.topic) else { continue };
                let title = format!("{}: distribution of the samples at {}", curve.title, point.label);
                let name = format!("{number}-distribution");
                all.push((name, title.clone(), alt(&title, &point.topic), kind));
            }
        }
        all
    }

    fn arm(&self, name: &str) -> usize {
        self.arms.iter().position(|arm| arm == name).unwrap_or(0)
    }

    fn ratios(&self, topic: &Topic<'_>) -> Option<Kind> {
        // What was compared by difference has no place on an axis of ratios.
        let by_ratio = || topic.comparisons.iter().filter(|one| one.result.difference.is_none());
        let first = by_ratio().next()?;
        let rows = by_ratio().map(|comparison| self.ratio_row(comparison)).collect();
        Some(Kind::Ratio(Ratios {
            rows,
            margin: first.result.margin,
            better: first.better,
            base: first.base.clone(),
        }))
    }

    fn ratio_row(&self, comparison: &tenbin_core::analysis::Comparison) -> RatioRow {
        let result = &comparison.result;
        let interval = result.lo.zip(result.hi);
        let (_, verdict) = words::verdict(result.verdict);
        let text = match words::ratio_interval(result) {
            Some(interval) => interval,
            None => words::ratio(result),
        };
        RatioRow {
            arm: self.arm(&comparison.arm),
            label: comparison.arm.clone(),
            text,
            verdict: verdict.to_owned(),
            ratio: result.ratio,
            interval,
            blocks: comparison.log_ratios.iter().map(|ratio| ratio.exp()).collect(),
        }
    }

    fn values(&self, topic: &Topic<'_>) -> Option<Kind> {
        let rows: Vec<ValueRow> = topic
            .levels
            .iter()
            .map(|level| {
                let unit = level.metric.unit;
                let ceiling = words::tightest(self.analysis, &level.arm, &level.metric.name, unit);
                let share = ceiling.and_then(|bound| bound.share);
                let value = |value: f64| words::micro(&quantity::human(value, unit, 4));
                ValueRow {
                    arm: self.arm(&level.arm),
                    text: words::micro(&words::level(level).median),
                    note: match share {
                        Some(share) => format!("{} of ceiling", words::share(share)),
                        None => format!("n = {}", level.n),
                    },
                    median: level.median,
                    interval: level.interval,
                    runs: level
                        .values
                        .iter()
                        .map(|v| {
                            (v.value, format!("run {}, block {}: {}", v.run, v.block + 1, value(v.value)))
                        })
                        .collect(),
                    ceiling: ceiling.map(|bound| {
                        let limit = words::micro(&quantity::human(bound.ceiling.limit, unit, 3));
                        (bound.ceiling.limit, format!("{} {limit}", bound.ceiling.name))
                    }),
                }
            })
            .collect();
        let metric = topic.in_words();
        (!rows.is_empty())
            .then(|| Kind::Values(Values { rows, unit: topic.unit(), metric, better: topic.better() }))
    }

    fn timeline(&self, topic: &Topic<'_>) -> Option<Kind> {
        let began = self.records().first().map_or(0.0, |record| record.started_at);
        let dots: Vec<Dot> = self
            .series(topic, |series| series.headline.is_some())
            .filter_map(|(record, run, series)| {
                let value = series.headline_value()?;
                let mark = match (record.state, run.taint.level) {
                    (State::Done, TaintLevel::Suspect) => DotMark::Suspect,
                    (State::Done, _) => DotMark::Counts,
                    _ => DotMark::Excluded,
                };
                let not_counted = if mark == DotMark::Excluded { ", not counted" } else { "" };
                let shown = words::micro(&quantity::human(value, topic.unit(), 4));
                let reasons = match run.taint.reasons.is_empty() {
                    true => String::new(),
                    false => format!("; {}", run.taint.reasons.join("; ")),
                };
                Some(Dot {
                    run: record.id,
                    arm: record.slot.arm as usize,
                    block: record.slot.block,
                    at: record.started_at - began,
                    value,
                    mark,
                    tooltip: format!(
                        "{}, block {}, run {}: {shown}{not_counted}{reasons}",
                        self.arm_name(record),
                        record.slot.block + 1,
                        record.id
                    ),
                })
            })
            .collect();
        let metric = topic.in_words();
        (!dots.is_empty())
            .then(|| Kind::Timeline(Timeline { dots, unit: topic.unit(), metric, better: topic.better() }))
    }

    fn ecdf(&self, topic: &Topic<'_>) -> Option<Kind> {
        let unit = topic.unit();
        let mut unplaced = 0;
        let all: Vec<f64> = self
            .series(topic, |series| series.headline.is_some() && series.samples.len() > 1)
            .filter(|(record, ..)| record.state == State::Done)
            .flat_map(|(_, _, series)| series.values())
            .filter(|value| value.is_finite())
            .collect();
        let lowest = all.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let highest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // A few far samples must not press the rest against the edge.
        let log = lowest > 0.0 && highest / lowest > 4.0 && highest.is_finite();
        let lines: Vec<Line> = self
            .series(topic, |series| series.headline.is_some() && series.samples.len() > 1)
            .filter(|(record, ..)| record.state == State::Done)
            .filter_map(|(record, _, series)| {
                let mut values = series.values();
                let n = values.len();
                values.retain(|value| value.is_finite() && (!log || *value > 0.0));
                unplaced += n - values.len();
                values.sort_by(f64::total_cmp);
                let points = ecdf(&values, n);
                (!points.is_empty()).then(|| Line {
                    arm: record.slot.arm as usize,
                    tooltip: self.line_tooltip(record, &words::counted(n, "sample")),
                    points,
                })
            })
            .collect();
        let scale = if log { ", log scale" } else { "" };
        let direction = words::direction(topic.better());
        let comma = if direction.is_empty() { "" } else { ", " };
        (!lines.is_empty()).then(|| {
            Kind::Lines(Lines {
                lines,
                x: LineAxis {
                    unit,
                    title: format!("{}{scale}{comma}{direction}", topic.in_words()),
                    range: if log { LineRange::Log } else { LineRange::Around },
                },
                y: LineAxis {
                    unit: Unit::None,
                    title: "share of samples at or below".to_owned(),
                    range: LineRange::Share,
                },
                steps: true,
                note: (unplaced > 0).then(|| {
                    format!("{} without a place on this axis left out", words::counted(unplaced, "sample"))
                }),
            })
        })
    }

    fn intervals(&self, topic: &Topic<'_>) -> Option<Kind> {
        let timed = |series: &Series| {
            series.headline.is_none()
                && series.samples.len() > 1
                && series.samples.iter().all(|sample| sample.time().is_some())
        };
        let lines: Vec<Line> = self
            .series(topic, timed)
            .filter(|(record, ..)| record.state == State::Done)
            .filter_map(|(record, _, series)| {
                let points: Vec<(f64, f64)> = series
                    .samples
                    .iter()
                    .filter_map(|sample| Some((sample.time()?, sample.value)))
                    .filter(|(at, value)| at.is_finite() && value.is_finite())
                    .collect();
                (!points.is_empty()).then(|| Line {
                    arm: record.slot.arm as usize,
                    tooltip: self.line_tooltip(record, &words::counted(points.len(), "interval")),
                    points: thinned(&points),
                })
            })
            .collect();
        let direction = words::direction(topic.better());
        let comma = if direction.is_empty() { "" } else { ", " };
        (!lines.is_empty()).then(|| {
            Kind::Lines(Lines {
                lines,
                x: LineAxis {
                    unit: Unit::Second,
                    title: "since the run began".to_owned(),
                    range: LineRange::FromZero,
                },
                y: LineAxis {
                    unit: topic.unit(),
                    title: format!("{}{comma}{direction}", topic.in_words()),
                    range: LineRange::FromZero,
                },
                steps: false,
                note: None,
            })
        })
    }

    fn arm_name(&self, record: &Record) -> &str {
        self.arms.get(record.slot.arm as usize).map_or("?", String::as_str)
    }

    fn line_tooltip(&self, record: &Record, of: &str) -> String {
        let block = record.slot.block + 1;
        format!("{}, block {block}, run {}: {of}", self.arm_name(record), record.id)
    }

    /// The series of this topic's metric and unit in the runs of its measure, in the order measured.
    ///
    /// A topic's parameters may be fewer than a series' (who counted, over which window) and may name the measure.
    fn series<'s>(
        &'s self,
        topic: &'s Topic<'_>,
        wanted: impl Fn(&Series) -> bool + 's,
    ) -> impl Iterator<Item = (&'s Record, &'s Run, &'s Series)> + 's {
        let params = topic.params();
        let metric = topic.metric().to_owned();
        let unit = topic.unit();
        self.records().iter().filter_map(move |record| {
            let run = record.run.as_ref()?;
            let measure = self.experiment?.plan.measures.get(record.slot.measure as usize)?;
            let of_topic = |series: &&Series| {
                let fits = params.iter().all(|(key, value)| match (key.as_str(), series.params.get(key)) {
                    // Series within a run differ in these; the topic speaks of the headline one.
                    ("side" | "window", _) => true,
                    (_, Some(own)) => own == value,
                    ("measure", None) => value.to_string() == measure.label(),
                    _ => false,
                });
                fits && series.metric.name == metric && series.metric.unit == unit
            };
            // Another measure may have a namesake beside its own value: iperf3 tells TCP's round trips, ping is about them.
            run.series.iter().filter(of_topic).find(|series| series.headline.is_some())?;
            let of_all = |series: &&&Series| !series.params.contains_key("stream");
            let wanted: Vec<&Series> = run.series.iter().filter(of_topic).filter(|s| wanted(s)).collect();
            let series = wanted.iter().find(of_all).or(wanted.first())?;
            Some((record, run, *series))
        })
    }
}

/// The corners of the step function of `sorted` values, which are `n` with those that have no place on the axis.
fn ecdf(sorted: &[f64], n: usize) -> Vec<(f64, f64)> {
    let most = MOST_POINTS / 2 - 1;
    let missing = n - sorted.len();
    let take = sorted.len().min(most);
    let mut below = missing as f64 / n.max(1) as f64;
    let mut corners = Vec::with_capacity(take * 2);
    for step in 0..take {
        // The last of each group of values, so that the largest is always there.
        let index = (step + 1) * sorted.len() / take - 1;
        let reached = (missing + index + 1) as f64 / n as f64;
        corners.push((sorted[index], below));
        corners.push((sorted[index], reached));
        below = reached;
    }
    corners
}

/// Means of neighbouring intervals, at most [`MOST_POINTS`] of them, each at the end of its last interval.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let group = points.len().div_ceil(MOST_POINTS).max(1);
    points
        .chunks(group)
        .filter_map(|chunk| {
            let mean = chunk.iter().map(|(_, value)| value).sum::<f64>() / chunk.len() as f64;
            Some((chunk.last()?.0, mean))
        })
        .collect()
}
