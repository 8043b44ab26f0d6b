//! Curves: ratios and values along a size, with their intervals as bands, and whole curves in time order.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use tenbin_core::metric::Better;
use tenbin_core::quantity;
use tenbin_core::stats::summary::geometric_mean;
use tenbin_core::unit::Unit;

use super::draw::{Canvas, Chart, Drawn, Room, Show, filled, fit, font, label_room, line, with_direction};
use super::ink::{self, Role, UNITS};
use super::{Axis, Dot, Kind, Seat, Timeline};
use crate::topics::CurveTopic;
use crate::words;

/// Lines over a parameter.
pub struct Bands {
    lines: Vec<Band>,
    /// The parameter's values with their labels.
    at: Vec<(f64, String)>,
    /// The parameter: `size`.
    along: String,
    y: Upwards,
    /// By arm: a limit and its name.
    ceilings: Vec<(usize, f64, String)>,
}

/// What is drawn upwards.
enum Upwards {
    Ratio { margin: f64, better: Better, base: String },
    Value { unit: Unit, metric: String, better: Better },
}

struct Band {
    arm: usize,
    /// One for every value of the parameter; `None` where nothing was measured, and the line has a gap.
    points: Vec<Option<BandPoint>>,
}

#[derive(Clone)]
struct BandPoint {
    value: f64,
    interval: Option<(f64, f64)>,
    tooltip: String,
}

impl Seat<'_> {
    /// The ratio to the base along a curve, with intervals that hold at all points together.
    pub(super) fn ratio_curve(&self, curve: &CurveTopic<'_>) -> Option<Kind> {
        let pairs = curve.pairs();
        let base = pairs.first()?.1;
        let mut margin = 0.0;
        let lines: Vec<Band> = pairs
            .into_iter()
            .filter(|pair| pair.1 == base)
            .map(|pair| {
                let point = |point: &crate::topics::Point<'_>| {
                    let comparison = point.comparison(pair)?;
                    let result = &comparison.result;
                    margin = result.margin;
                    let fits = result.difference.is_none() && result.ratio > 0.0 && result.ratio.is_finite();
                    fits.then(|| BandPoint {
                        value: result.ratio,
                        interval: result.lo.zip(result.hi).filter(|(lo, hi)| *lo > 0.0 && hi.is_finite()),
                        tooltip: format!("{}: {}", point.label, comparison.text),
                    })
                };
                Band { arm: self.arm(pair.0), points: curve.points.iter().map(point).collect() }
            })
            .collect();
        let y = Upwards::Ratio { margin, better: curve.better(), base: base.to_owned() };
        self.bands(curve, lines, y, Vec::new())
    }

    /// Every arm along a curve, with the interval of each median.
    pub(super) fn value_curve(&self, curve: &CurveTopic<'_>) -> Option<Kind> {
        let unit = curve.unit();
        let lines = curve
            .arms()
            .into_iter()
            .map(|arm| {
                let point = |point: &crate::topics::Point<'_>| {
                    let level = point.level(arm).filter(|level| level.median.is_finite())?;
                    let text = words::level(level);
                    let interval = text.interval.as_deref().map(words::micro);
                    let interval = interval.map(|text| format!(" ({text})")).unwrap_or_default();
                    Some(BandPoint {
                        value: level.median,
                        interval: level.interval,
                        tooltip: format!(
                            "{arm}, {}: {}{interval}, n = {}",
                            point.label,
                            words::micro(&text.median),
                            level.n
                        ),
                    })
                };
                Band { arm: self.arm(arm), points: curve.points.iter().map(point).collect() }
            })
            .collect();
        let metric = curve.points.first().map(|point| point.topic.metric()).unwrap_or_default();
        let ceilings = curve.arms().into_iter().filter_map(|arm| {
            let bound = words::tightest(self.analysis, arm, metric, unit)?;
            let limit = words::micro(&quantity::human(bound.ceiling.limit, unit, 3));
            Some((self.arm(arm), bound.ceiling.limit, format!("{} {limit}", bound.ceiling.name)))
        });
        let y = Upwards::Value { unit, metric: curve.in_words(), better: curve.better() };
        self.bands(curve, lines, y, ceilings.collect())
    }

    fn bands(
        &self,
        curve: &CurveTopic<'_>,
        lines: Vec<Band>,
        y: Upwards,
        ceilings: Vec<(usize, f64, String)>,
    ) -> Option<Kind> {
        let at = curve.points.iter().map(|point| (point.at, point.label.clone())).collect();
        let any = lines.iter().flat_map(|line| &line.points).any(Option::is_some);
        any.then(|| Kind::Bands(Bands { lines, at, along: curve.along_in_words(), y, ceilings }))
    }

    /// A dot a run: the geometric mean over the curve, where every point was measured.
    pub(super) fn curve_timeline(&self, curve: &CurveTopic<'_>) -> Option<Kind> {
        let mut runs: BTreeMap<i64, (Dot, Vec<f64>)> = BTreeMap::new();
        for point in &curve.points {
            let Some(Kind::Timeline(timeline)) = self.timeline(&point.topic) else { continue };
            for dot in timeline.dots {
                let value = dot.value;
                runs.entry(dot.run).or_insert_with(|| (dot, Vec::new())).1.push(value);
            }
        }
        let whole = runs.into_values().filter(|(_, values)| values.len() == curve.points.len());
        let dots: Vec<Dot> = whole
            .filter_map(|(dot, values)| {
                let value = geometric_mean(&values)?;
                let shown = words::micro(&quantity::human(value, curve.unit(), 4));
                let tooltip = match dot.tooltip.split_once(": ") {
                    Some((which, _)) => {
                        format!("{which}: {shown}, geometric mean over {}", curve.counted())
                    }
                    None => dot.tooltip.clone(),
                };
                Some(Dot { value, tooltip, ..dot })
            })
            .collect();
        let metric = format!("{}, geometric mean over {}", curve.in_words(), curve.counted());
        (!dots.is_empty())
            .then(|| Kind::Timeline(Timeline { dots, unit: curve.unit(), metric, better: curve.better() }))
    }
}

/// Where the values of a parameter stand: by logarithm where they are sizes, 0 in a place of its own before them.
struct Places {
    axis: Axis,
    positions: Vec<f64>,
    log: bool,
}

impl Places {
    /// `room` pixels wide, in labels of that font size.
    fn new(at: &[(f64, String)], room: i32, small: f64) -> Places {
        let positive = at.iter().map(|(value, _)| *value).filter(|value| *value > 0.0);
        let least = positive.clone().fold(f64::INFINITY, f64::min);
        let most = positive.fold(f64::NEG_INFINITY, f64::max);
        let log = least.is_finite() && most / least >= 4.0 && at.iter().all(|(value, _)| *value >= 0.0);
        let position = |value: f64| match value > 0.0 {
            _ if !log => value,
            true => value.log2(),
            false => least.log2() - 1.0,
        };
        let positions: Vec<f64> = at.iter().map(|(value, _)| position(*value)).collect();
        let (lo, hi) = positions
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), at| (lo.min(*at), hi.max(*at)));
        let span = if hi > lo { hi - lo } else { 1.0 };
        let (lo, hi) = (lo - span * 0.03, hi + span * 0.03);
        let pixels = f64::from(room) / (hi - lo);
        let ticks = thinned(at, &positions, |label| (ink::ems(label) * small + 14.0) / pixels);
        Places { axis: Axis { lo, hi, ticks, symbol: String::new(), log: false }, positions, log }
    }
}

/// As many labels as stand beside each other, evenly: every one, every second, every third.
fn thinned(at: &[(f64, String)], positions: &[f64], width: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
    let all: Vec<(f64, &String)> = positions.iter().copied().zip(at.iter().map(|(_, label)| label)).collect();
    for stride in 1..=all.len() {
        let kept: Vec<(f64, &String)> = all.iter().step_by(stride).copied().collect();
        let apart =
            |pair: &[(f64, &String)]| pair[1].0 - pair[0].0 >= (width(pair[0].1) + width(pair[1].1)) / 2.0;
        if kept.windows(2).all(apart) {
            return kept.into_iter().map(|(at, label)| (at, label.clone())).collect();
        }
    }
    Vec::new()
}

impl Canvas {
    pub(super) fn bands(&self, bands: &Bands, arms: &[String]) -> Drawn {
        let small = self.small();
        let y = self.upwards(bands);
        let room = Room {
            left: label_room(&y, small),
            right: self.name_room(arms),
            top: if self.wide() { 84 } else { 100 },
            bottom: 52,
            above: 18,
        };
        let places = Places::new(&bands.at, self.width - room.left - room.right, small);
        let chart = self.plot(&room, &places.axis, &y, Show::Both)?;
        if let Upwards::Ratio { margin, .. } = &bands.y {
            self.zone(&chart, &places.axis, &y, *margin)?;
        }
        for (arm, limit, label) in &bands.ceilings {
            let Some(at) = y.position(*limit) else { continue };
            let ends = [(places.axis.lo, at), (places.axis.hi, at)].map(|at| chart.backend_coord(&at));
            self.pen.open_arm(*arm);
            self.pen.tooltip(format!("{}: {label}", arms.get(*arm).map_or("", String::as_str)));
            self.area.draw(&PathElement::new(ends, line(Role::Ceiling, 0.9, 2.0)))?;
            self.pen.close();
        }
        self.ceiling_labels(&chart, &places.axis, &y, &bands.ceilings)?;
        let mut ends = Vec::new();
        for band in &bands.lines {
            self.pen.open_arm(band.arm);
            let last = self.band(&chart, &places, &y, band)?;
            self.pen.close();
            ends.extend(last.map(|height| (band.arm, height)));
        }
        self.labels(arms, ends, self.width - room.right, &room)?;
        let mut points = bands.lines.iter().flat_map(|line| line.points.iter().flatten());
        let has_bands = points.any(|point| point.interval.is_some());
        let scale = if places.log { ", log scale" } else { "" };
        let title = match &bands.y {
            Upwards::Ratio { better, base, .. } => {
                let direction = match better {
                    Better::Higher => ", above 1 is better",
                    Better::Lower => ", below 1 is better",
                    Better::Neither => "",
                };
                let bands = match (self.wide(), has_bands) {
                    (true, true) => "; bands: 95 % for all points together",
                    (true, false) => "; no intervals: too few runs",
                    (false, _) => "",
                };
                format!("ratio to {base}{direction}{bands}")
            }
            Upwards::Value { metric, better, .. } => {
                let log = if y.log { ", log scale" } else { "" };
                let bands = if has_bands { "; bands: 95 %" } else { "" };
                format!("{}{log}{bands}", with_direction(metric, &y.symbol, *better))
            }
        };
        let zone = match &bands.y {
            Upwards::Ratio { margin, .. } => format!(" · grey: margin ± {}", words::percent(*margin)),
            Upwards::Value { .. } => String::new(),
        };
        self.axis_titles(&room, &format!("{}{scale}{zone}", bands.along), &title)
    }

    fn upwards(&self, bands: &Bands) -> Axis {
        let points = bands.lines.iter().flat_map(|line| line.points.iter().flatten());
        let values = points.flat_map(|point| {
            let interval = point.interval.map_or([point.value; 2], |(lo, hi)| [lo, hi]);
            [point.value].into_iter().chain(interval)
        });
        let values: Vec<f64> = values.chain(bands.ceilings.iter().map(|(_, limit, _)| *limit)).collect();
        match &bands.y {
            Upwards::Ratio { margin, .. } => Axis::ratio(values.into_iter(), *margin, 6),
            Upwards::Value { unit, .. } => {
                let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(least, most), value| {
                    (least.min(*value), most.max(*value))
                });
                match Axis::log(values.iter().copied(), *unit, 6)
                    .filter(|_| least > 0.0 && most / least > 4.0)
                {
                    Some(log) => log,
                    None if least >= 0.0 => Axis::from_zero(values.into_iter(), *unit, 6),
                    None => Axis::around(values.into_iter(), *unit, 6),
                }
            }
        }
    }

    /// Names above the lines of ceilings; one that would run into another is left to its tooltip.
    fn ceiling_labels(
        &self,
        chart: &Chart<'_>,
        x: &Axis,
        y: &Axis,
        ceilings: &[(usize, f64, String)],
    ) -> Drawn {
        let small = self.small() - 1.0;
        let mut taken: Vec<i32> = Vec::new();
        for (_, limit, label) in ceilings {
            let Some(at) = y.position(*limit) else { continue };
            let (px, py) = chart.backend_coord(&(x.lo, at));
            if taken.iter().all(|other| (other - py).abs() >= 14 * UNITS) {
                let label = fit(label, self.width - px / UNITS - 20, small);
                self.text((px / UNITS + 4, py / UNITS - 9), &label, &font(small, Role::Ceiling, HPos::Left))?;
                taken.push(py);
            }
        }
        Ok(())
    }

    /// The zone in which differences do not matter, and the line of no difference.
    fn zone(&self, chart: &Chart<'_>, x: &Axis, y: &Axis, margin: f64) -> Drawn {
        let at = |px: f64, ratio: f64| y.position(ratio).map(|py| chart.backend_coord(&(px, py)));
        let factor = (1.0 + margin).max(1.0);
        if let (Some(from), Some(to)) = (at(x.lo, factor), at(x.hi, 1.0 / factor)) {
            self.pen.tooltip(format!("within the margin of {}", words::percent(margin)));
            self.area.draw(&Rectangle::new([from, to], filled(Role::Zone, 1.0)))?;
        }
        if let (Some(from), Some(to)) = (at(x.lo, 1.0), at(x.hi, 1.0)) {
            self.area.draw(&PathElement::new([from, to], line(Role::Muted, 0.9, 1.0)))?;
        }
        Ok(())
    }

    /// One arm's band, line and marks. Returns the height of its last point.
    fn band(&self, chart: &Chart<'_>, places: &Places, y: &Axis, band: &Band) -> Drawn<Option<i32>> {
        let colour = Role::Arm(band.arm);
        let at = |px: f64, value: f64| y.position(value).map(|py| chart.backend_coord(&(px, py)));
        let placed: Vec<(f64, &Option<BandPoint>)> =
            places.positions.iter().copied().zip(&band.points).collect();
        let mut last = None;
        // A gap parts the line: nobody knows what lies between.
        for piece in placed.split(|(_, point)| point.is_none()) {
            let points: Vec<(f64, &BandPoint)> =
                piece.iter().filter_map(|(px, point)| Some((*px, point.as_ref()?))).collect();
            for with in points.split(|(_, point)| point.interval.is_none()) {
                let edge = |upper: bool| {
                    with.iter().filter_map(move |(px, point)| {
                        let (lo, hi) = point.interval?;
                        at(*px, if upper { hi } else { lo })
                    })
                };
                let outline: Vec<(i32, i32)> =
                    edge(true).chain(edge(false).collect::<Vec<_>>().into_iter().rev()).collect();
                if with.len() > 1 {
                    self.area.draw(&Polygon::new(outline, filled(colour, 0.17)))?;
                } else if outline.len() == 2 {
                    self.area.draw(&PathElement::new(outline, line(colour, 0.6, 2.0)))?;
                }
            }
            let path: Vec<(i32, i32)> =
                points.iter().filter_map(|(px, point)| at(*px, point.value)).collect();
            if path.len() > 1 {
                self.area.draw(&PathElement::new(path, line(colour, 0.95, 1.8)))?;
            }
            for (px, point) in points {
                let Some(centre) = at(px, point.value) else { continue };
                self.pen.tooltip(point.tooltip.clone());
                self.mark(band.arm, centre, 3.2, filled(colour, 1.0))?;
                last = Some(centre.1);
            }
        }
        Ok(last)
    }
}
