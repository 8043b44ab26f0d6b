//! What a report has sections about: a metric under certain parameters, or a whole curve of them.
//!
//! Start at [`parts`].

use tenbin_core::analysis::curves::{self, along, number, shared};
use tenbin_core::analysis::{Analysis, Comparison, Curve, Inversion, Level};
use tenbin_core::metric::Better;
use tenbin_core::quantity;
use tenbin_core::sample::{Param, Params};
use tenbin_core::unit::Unit;
use tenbin_core::verdict::Verdict;

use crate::overview::Table;
use crate::words;

/// A metric under certain parameters, with the arms' levels and the comparisons made in it.
pub struct Topic<'a> {
    /// `throughput`, or `rtt (size_bytes 64)` where the same metric comes several times.
    pub title: String,
    /// Every arm alone.
    pub levels: Vec<&'a Level>,
    /// Every arm against the base.
    pub comparisons: Vec<&'a Comparison>,
}

impl Topic<'_> {
    /// The unit of the levels.
    pub fn unit(&self) -> Unit {
        self.levels.first().map_or(Unit::None, |level| level.metric.unit)
    }

    /// The direction of better.
    pub fn better(&self) -> Better {
        let compared = self.comparisons.first().map(|comparison| comparison.better);
        compared.or(self.levels.first().map(|level| level.metric.better)).unwrap_or(Better::Neither)
    }

    /// The metric's name.
    pub fn metric(&self) -> &str {
        let compared = self.comparisons.first().map(|comparison| comparison.metric.as_str());
        compared.or(self.levels.first().map(|level| level.metric.name.as_ref())).unwrap_or_default()
    }

    /// The metric's name as words: `cpu time`.
    pub fn in_words(&self) -> String {
        self.metric().replace('_', " ")
    }

    /// The parameters.
    pub fn params(&self) -> Params {
        let compared = self.comparisons.first().map(|comparison| comparison.params.clone());
        compared.or(self.levels.first().map(|level| level.params.clone())).unwrap_or_default()
    }
}

/// Every metric under every set of parameters, in the analysis' order.
pub fn topics(analysis: &Analysis) -> Vec<Topic<'_>> {
    let compared = analysis.comparisons.iter().map(|c| (c.metric.as_str(), &c.params));
    let alone = analysis.levels.iter().map(|l| (l.metric.name.as_ref(), &l.params));
    let mut keys: Vec<(&str, &Params)> = Vec::new();
    for key in compared.chain(alone) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.iter()
        .map(|(metric, params)| Topic {
            title: title(metric, params, &keys),
            levels: analysis
                .levels
                .iter()
                .filter(|l| l.metric.name == *metric && l.params == **params)
                .collect(),
            comparisons: analysis
                .comparisons
                .iter()
                .filter(|c| c.metric == *metric && c.params == **params)
                .collect(),
        })
        .collect()
}

/// The metric in words with those parameters that tell it from its namesakes: `cpu time (stream 1)`.
fn title(metric: &str, params: &Params, all: &[(&str, &Params)]) -> String {
    let namesakes: Vec<&Params> =
        all.iter().filter(|(name, _)| *name == metric).map(|(_, params)| *params).collect();
    let telling: Vec<String> = params
        .iter()
        .filter(|(key, value)| namesakes.iter().any(|other| other.get(*key) != Some(value)))
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    let words = metric.replace('_', " ");
    match telling.is_empty() {
        true => words,
        false => format!("{words} ({})", telling.join(", ")),
    }
}

/// A section: one topic, or a curve of them.
pub enum Part<'a> {
    /// A metric under one set of parameters.
    Single(Topic<'a>),
    /// A metric along a parameter.
    Curve(CurveTopic<'a>),
}

/// Topics that differ in one number only, such as the size of messages.
pub struct CurveTopic<'a> {
    /// `latency by size`.
    pub title: String,
    /// The parameter along the curve: `size_bytes`.
    pub along: String,
    /// The points, by rising value; at least two.
    pub points: Vec<Point<'a>>,
    /// What the curve says as a whole, an entry a pair of arms.
    pub wholes: Vec<&'a Curve>,
    /// Where an arm's curve goes the wrong way.
    pub inversions: Vec<&'a Inversion>,
}

/// A point of a curve.
pub struct Point<'a> {
    /// The value of the parameter.
    pub at: f64,
    /// The value for people: `4 KiB`.
    pub label: String,
    /// The arms and comparisons there.
    pub topic: Topic<'a>,
}

impl Part<'_> {
    /// The heading.
    pub fn title(&self) -> &str {
        match self {
            Part::Single(topic) => &topic.title,
            Part::Curve(curve) => &curve.title,
        }
    }

    /// The metric's name.
    pub fn metric(&self) -> &str {
        match self {
            Part::Single(topic) => topic.metric(),
            Part::Curve(curve) => curve.points.first().map_or("", |point| point.topic.metric()),
        }
    }

    /// The unit of the levels.
    pub fn unit(&self) -> Unit {
        match self {
            Part::Single(topic) => topic.unit(),
            Part::Curve(curve) => curve.unit(),
        }
    }

    /// The parameters that all points share.
    pub fn params(&self) -> Params {
        match self {
            Part::Single(topic) => topic.params(),
            Part::Curve(curve) => {
                curve.points.first().map(|p| shared(&p.topic.params(), &curve.along)).unwrap_or_default()
            }
        }
    }

    /// The topics within.
    pub fn topics(&self) -> Vec<&Topic<'_>> {
        match self {
            Part::Single(topic) => vec![topic],
            Part::Curve(curve) => curve.points.iter().map(|point| &point.topic).collect(),
        }
    }
}

impl<'a> CurveTopic<'a> {
    /// The unit of the levels.
    pub fn unit(&self) -> Unit {
        self.points.first().map_or(Unit::None, |point| point.topic.unit())
    }

    /// The direction of better.
    pub fn better(&self) -> Better {
        self.points.first().map_or(Better::Neither, |point| point.topic.better())
    }

    /// The metric's name as words.
    pub fn in_words(&self) -> String {
        self.points.first().map(|point| point.topic.in_words()).unwrap_or_default()
    }

    /// The parameter along the curve as words: `size`, `queue depth`.
    pub fn along_in_words(&self) -> String {
        self.along.trim_end_matches("_bytes").replace('_', " ")
    }

    /// `24 sizes`, `5 values of threads`.
    pub fn counted(&self) -> String {
        self.told(self.points.len())
    }

    /// `11 sizes`: the points that all arms have.
    pub fn counted_common(&self) -> String {
        let arms = self.arms();
        let all = |point: &&Point<'_>| arms.iter().all(|arm| point.level(arm).is_some());
        self.told(self.points.iter().filter(all).count())
    }

    fn told(&self, count: usize) -> String {
        match self.along.as_str() {
            "size_bytes" => format!("{count} sizes"),
            _ => format!("{count} values of {}", self.along_in_words()),
        }
    }

    /// The pairs (arm, base) that are compared at any point, in the order first met.
    pub fn pairs(&self) -> Vec<(&'a str, &'a str)> {
        let mut pairs = Vec::new();
        for comparison in self.points.iter().flat_map(|point| &point.topic.comparisons) {
            let pair = (comparison.arm.as_str(), comparison.base.as_str());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }

    /// The arms that have a level at any point, in the order first met.
    pub fn arms(&self) -> Vec<&'a str> {
        let mut arms = Vec::new();
        for level in self.points.iter().flat_map(|point| &point.topic.levels) {
            if !arms.contains(&level.arm.as_str()) {
                arms.push(level.arm.as_str());
            }
        }
        arms
    }

    /// What the verdicts of every pair come to, point by point; nothing of pairs that are only described.
    pub fn tallies(&self) -> Vec<String> {
        let judged = |pair: &(&str, &str)| {
            let verdicts = self.points.iter().filter_map(|point| point.comparison(*pair));
            verdicts.into_iter().any(|one| one.result.verdict != Verdict::DescriptionOnly)
        };
        self.pairs().into_iter().filter(judged).map(|pair| self.tally(pair)).collect()
    }

    /// What the numbers of the table are.
    pub fn caption(&self) -> String {
        let direction = words::direction(self.better());
        let comma = if direction.is_empty() { "" } else { ", " };
        let levels = || self.points.iter().flat_map(|point| &point.topic.levels);
        let numbers = match (
            levels().any(|level| level.interval.is_some()),
            levels().all(|level| level.n == 1),
        ) {
            (true, _) => "Medians with their 95 % intervals; those of ratios hold at all points together.",
            (false, true) => "One run each: values, no intervals.",
            (false, false) => {
                "Medians of fewer than six runs have no interval; those of ratios hold at all points together."
            }
        };
        format!("{}{comma}{direction}. {numbers}", words::capital(&self.in_words()))
    }

    /// `faster at 0 B to 2 KiB; can't tell at 4 KiB`.
    fn tally(&self, pair: (&str, &str)) -> String {
        let mut verdicts: Vec<(&str, Vec<usize>)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let Some(comparison) = point.comparison(pair) else { continue };
            let word = words::verdict(comparison.result.verdict).1;
            match verdicts.iter_mut().find(|(known, _)| *known == word) {
                Some((_, at)) => at.push(index),
                None => verdicts.push((word, vec![index])),
            }
        }
        verdicts.sort_by_key(|(_, at)| std::cmp::Reverse(at.len()));
        let told = verdicts.iter().map(|(word, at)| match at.len() {
            n if n == self.points.len() => format!("{word} at all {}", self.counted()),
            _ => format!("{word} at {}", self.spans(at)),
        });
        format!("{} against {}: {}", pair.0, pair.1, told.collect::<Vec<_>>().join("; "))
    }

    /// Points by index as text, neighbours joined: `0 B to 2 KiB and 1 MiB`.
    fn spans(&self, indices: &[usize]) -> String {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for index in indices {
            match spans.last_mut() {
                Some((_, to)) if *to + 1 == *index => *to = *index,
                _ => spans.push((*index, *index)),
            }
        }
        let label = |index: usize| self.points[index].label.as_str();
        let told: Vec<String> = spans
            .iter()
            .map(|(from, to)| match to - from {
                0 => label(*from).to_owned(),
                1 => format!("{} and {}", label(*from), label(*to)),
                _ => format!("{} to {}", label(*from), label(*to)),
            })
            .collect();
        told.join(", ")
    }

    /// The curve as a table for text: every arm alone, and the ratios of one pair of arms.
    pub fn table(&self, arms: &[&str], pair: Option<(&str, &str)>, prettier: fn(&str) -> String) -> Table {
        let mut header = vec![format!("{}:", self.along_in_words())];
        header.extend(arms.iter().map(|arm| format!("{arm}:")));
        header.extend(pair.iter().flat_map(|_| ["ratio:".to_owned(), "verdict".to_owned()]));
        let row = |point: &Point<'_>| {
            let level = |arm: &&str| {
                let text = point.level(arm).map(words::level);
                text.map(|text| {
                    with(prettier(&text.median), text.interval.map(|interval| prettier(&interval)))
                })
            };
            let mut row = vec![point.label.clone()];
            row.extend(arms.iter().map(|arm| level(arm).unwrap_or_default()));
            if let Some(pair) = pair {
                let verdict = point.comparison(pair).map(|one| words::verdict(one.result.verdict).1);
                row.extend([point.ratio(pair), verdict.unwrap_or("not compared").to_owned()]);
            }
            row
        };
        (header, self.points.iter().map(row).collect())
    }

    /// What a reader of the curve must know, in sentences: what is not common, where it goes the wrong way.
    pub fn remarks(&self) -> Vec<String> {
        self.not_common().into_iter().chain(inverted(&self.inversions)).collect()
    }

    /// What only some arms have: `B has nothing at 8 MiB`.
    pub fn not_common(&self) -> Vec<String> {
        let missing = |arm: &&str| {
            let lacks = |point: &Point<'_>| !point.topic.levels.iter().any(|level| level.arm == *arm);
            let at: Vec<usize> = (0..self.points.len()).filter(|i| lacks(&self.points[*i])).collect();
            let spans = self.spans(&at);
            (!at.is_empty()).then(|| format!("{arm} has nothing at {spans}: not compared there"))
        };
        self.arms().iter().filter_map(missing).collect()
    }
}

impl<'a> Point<'a> {
    /// The comparison of a pair here.
    pub fn comparison(&self, (arm, base): (&str, &str)) -> Option<&'a Comparison> {
        self.topic.comparisons.iter().find(|one| one.arm == arm && one.base == base).copied()
    }

    /// The ratio of a pair with its interval: `0.85 (0.80 to 0.90)`; empty where it was not compared.
    pub fn ratio(&self, pair: (&str, &str)) -> String {
        let result = self.comparison(pair).map(|one| &one.result);
        result.map(|result| with(words::ratio(result), words::ratio_interval(result))).unwrap_or_default()
    }

    /// An arm alone here.
    pub fn level(&self, arm: &str) -> Option<&'a Level> {
        self.topic.levels.iter().find(|level| level.arm == arm).copied()
    }
}

fn with(value: String, interval: Option<String>) -> String {
    match interval {
        Some(interval) => format!("{value} ({interval})"),
        None => value,
    }
}

/// What a report has sections about, in the analysis' order.
pub fn parts(analysis: &Analysis) -> Vec<Part<'_>> {
    let topics = topics(analysis);
    let params: Vec<Params> = topics.iter().map(Topic::params).collect();
    let keys: Vec<(&str, &Params)> = topics.iter().zip(&params).map(|(t, p)| (t.metric(), p)).collect();
    let curves = along(&keys);
    let alone = |index: &usize| !curves.iter().any(|curve| curve.members.contains(index));
    // By what a part is told from the others: its metric with the parameters that all its points share.
    let mut open: Vec<(usize, Option<&str>, Vec<usize>)> =
        (0..topics.len()).filter(alone).map(|index| (index, None, vec![index])).collect();
    for curve in &curves {
        let first = curve.members.iter().min().copied().unwrap_or_default();
        open.push((first, Some(curve.name.as_str()), curve.members.clone()));
    }
    open.sort_by_key(|(first, ..)| *first);
    let common: Vec<Params> = open
        .iter()
        .map(|(_, along, members)| match along {
            Some(along) => shared(&params[members[0]], along),
            None => params[members[0]].clone(),
        })
        .collect();
    let titles: Vec<String> = {
        let keys: Vec<(&str, &Params)> =
            open.iter().zip(&common).map(|((_, _, members), p)| (topics[members[0]].metric(), p)).collect();
        keys.iter().map(|(metric, params)| title(metric, params, &keys)).collect()
    };
    let mut topics: Vec<Option<Topic<'_>>> = topics.into_iter().map(Some).collect();
    let mut parts = Vec::new();
    for (((_, along, members), common), title) in open.into_iter().zip(common).zip(titles) {
        let mut taken = members.iter().filter_map(|index| topics[*index].take());
        match along {
            None => parts.extend(taken.next().map(|topic| Part::Single(Topic { title, ..topic }))),
            Some(along) => {
                parts.push(Part::Curve(curve(analysis, along, &common, &title, taken.collect())));
            }
        }
    }
    parts
}

fn curve<'a>(
    analysis: &'a Analysis,
    along: &str,
    common: &Params,
    title: &str,
    topics: Vec<Topic<'a>>,
) -> CurveTopic<'a> {
    let metric = topics.first().map(|topic| topic.metric().to_owned()).unwrap_or_default();
    let points = topics.into_iter().filter_map(|topic| {
        let at = topic.params().get(along).and_then(number)?;
        Some(Point { at, label: point(along, at), topic })
    });
    let mut curve = CurveTopic {
        title: String::new(),
        along: along.to_owned(),
        points: points.collect(),
        wholes: analysis
            .curves
            .iter()
            .filter(|one| one.metric == metric && one.along == along && one.params == *common)
            .collect(),
        inversions: analysis
            .inversions
            .iter()
            .filter(|one| one.metric == metric && one.along == along && one.params == *common)
            .collect(),
    };
    curve.title = format!("{title} by {}", curve.along_in_words());
    curve
}

/// Where curves go the wrong way, a sentence an arm.
pub fn inverted(inversions: &[&Inversion]) -> Vec<String> {
    let mut arms: Vec<(&str, Vec<&Inversion>)> = Vec::new();
    for one in inversions {
        match arms.iter_mut().find(|(arm, of)| *arm == one.arm && of[0].metric == one.metric) {
            Some((_, of)) => of.push(one),
            None => arms.push((&one.arm, vec![one])),
        }
    }
    let told = arms.into_iter().map(|(arm, of)| {
        let Some(worst) = of.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio)).filter(|_| of.len() > 1) else {
            return of[0].text.clone();
        };
        format!(
            "{} of {arm} falls with size in {} places, the most from {} to {}, by {:.0} %: what is smaller than that \
             can't be told from noise",
            worst.metric.replace('_', " "),
            of.len(),
            point(&worst.along, worst.from),
            point(&worst.along, worst.to),
            (1.0 - worst.ratio) * 100.0
        )
    });
    told.collect()
}

/// ` over 24 sizes`: the points that a whole curve goes over.
pub fn over(whole: &Curve) -> String {
    curves::over(whole.values.len(), &whole.along)
}

/// A value of a parameter for people, exactly: `4 KiB`, `65535 B`, `8`.
pub fn point(along: &str, value: f64) -> String {
    if !along.ends_with("_bytes") {
        return Param::Num(value).to_string();
    }
    let scaled = value / quantity::Scale::of(value, Unit::Byte).factor;
    match (scaled * 100.0).fract() == 0.0 {
        true => quantity::trimmed(&quantity::human(value, Unit::Byte, 6)),
        false => format!("{value} B"),
    }
}
