//! How figures look: header, plot, marks, direct labels.

use std::convert::Infallible;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tenbin_core::metric::Better;
use tenbin_core::unit::Unit;

use super::ink::{self, FONTS, Flavour, Ink, Pen, Role, UNITS};
use super::{Axis, DotMark, Figure, Kind, LineAxis, LineRange, Lines, Ratios, Size, Timeline, Values};
use crate::words;

pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<Infallible>>;
pub(super) type Chart<'a> = ChartContext<'a, Ink, Cartesian2d<Axis, Axis>>;

/// Direct labels stand at least so many pixels apart.
const LABEL_GAP: i32 = 16;

pub fn svg(figure: &Figure, flavour: Flavour, size: Size) -> String {
    let width = if size == Size::Wide { 760 } else { 360 };
    let height = height(figure, size);
    let (pen, ink) = ink::page((width as u32, height as u32), flavour);
    let canvas = Canvas { area: ink.into_drawing_area(), pen: pen.clone(), width, height, size };
    let drawn = canvas.draw(figure, flavour);
    match drawn {
        Ok(()) => pen.finish(&figure.alt),
        Err(e) => {
            let (pen, _) = ink::page((width as u32, height as u32), flavour);
            pen.finish(&format!("{}; it could not be drawn: {e}", figure.alt))
        }
    }
}

fn height(figure: &Figure, size: Size) -> i32 {
    let row = if size == Size::Wide { 58 } else { 78 };
    match &figure.kind {
        Kind::Ratio(ratios) => 74 + row * ratios.rows.len() as i32 + 52,
        Kind::Values(values) => 62 + row * values.rows.len() as i32 + 52,
        Kind::Timeline(_) | Kind::Lines(_) if size == Size::Wide => 350,
        Kind::Timeline(_) | Kind::Lines(_) => 320,
        Kind::Bands(_) if size == Size::Wide => 400,
        Kind::Bands(_) => 340,
    }
}

/// What one figure is drawn on.
pub(super) struct Canvas {
    pub area: DrawingArea<Ink, Shift>,
    pub pen: Pen,
    pub width: i32,
    pub height: i32,
    size: Size,
}

/// Which axis is read off by grid lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// x, on which no place is the beginning.
    Ratio,
    /// x from zero.
    X,
    Y,
    Both,
}

/// Room around a plot, in pixels.
pub(super) struct Room {
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
    /// How far above the plot the title of y stands.
    pub above: i32,
}

pub(super) fn font(size: f64, role: Role, anchor: HPos) -> TextStyle<'static> {
    styled(size, FontStyle::Normal, role, anchor)
}

pub(super) fn bold(size: f64, role: Role, anchor: HPos) -> TextStyle<'static> {
    styled(size, FontStyle::Bold, role, anchor)
}

fn styled(size: f64, style: FontStyle, role: Role, anchor: HPos) -> TextStyle<'static> {
    TextStyle {
        font: (FONTS, size * f64::from(UNITS), style).into_font(),
        color: role.colour(1.0).to_backend_color(),
        pos: Pos::new(anchor, VPos::Center),
    }
}

pub(super) fn line(role: Role, alpha: f64, width: f64) -> ShapeStyle {
    ShapeStyle {
        color: role.colour(alpha),
        filled: false,
        stroke_width: (width * f64::from(UNITS)).round() as u32,
    }
}

pub(super) fn filled(role: Role, alpha: f64) -> ShapeStyle {
    ShapeStyle { color: role.colour(alpha), filled: true, stroke_width: 0 }
}

/// `text` cut to about `width` pixels at that font size.
pub(super) fn fit(text: &str, width: i32, size: f64) -> String {
    if ink::ems(text) * size <= f64::from(width) {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if ink::ems(&out) * size + size * 1.6 > f64::from(width) {
            break;
        }
        out.push(c);
    }
    format!("{}…", out.trim_end())
}

impl Canvas {
    fn draw(&self, figure: &Figure, flavour: Flavour) -> Drawn {
        if flavour != Flavour::Inline {
            let corner = (self.width * UNITS, self.height * UNITS);
            self.area.draw(&Rectangle::new([(0, 0), corner], filled(Role::Paper, 1.0)))?;
        }
        let (title, small) = if self.wide() { (15.0, 12.0) } else { (14.0, 10.5) };
        let inset = 12;
        let room = self.width - 2 * inset;
        self.text((inset, 18), &fit(&figure.title, room, title), &bold(title, Role::Text, HPos::Left))?;
        let stamp = figure.stamp(self.size);
        self.text((inset, 37), &fit(&stamp, room, small), &font(small, Role::Muted, HPos::Left))?;
        match &figure.kind {
            Kind::Ratio(ratios) => self.ratios(ratios),
            Kind::Values(values) => self.values(values, &figure.arms),
            Kind::Timeline(timeline) => self.timeline(timeline, &figure.arms),
            Kind::Lines(lines) => self.lines(lines, &figure.arms),
            Kind::Bands(bands) => self.bands(bands, &figure.arms),
        }
    }

    pub(super) fn wide(&self) -> bool {
        self.size == Size::Wide
    }

    /// Size of labels.
    pub(super) fn small(&self) -> f64 {
        if self.wide() { 12.0 } else { 11.0 }
    }

    pub(super) fn text(&self, at: (i32, i32), text: &str, style: &TextStyle<'_>) -> Drawn {
        self.area.draw_text(text, style, (at.0 * UNITS, at.1 * UNITS))
    }

    /// Axes and grid.
    pub(super) fn plot(&self, room: &Room, x: &Axis, y: &Axis, show: Show) -> Drawn<Chart<'_>> {
        let mut chart = ChartBuilder::on(&self.area)
            .margin_top(room.top * UNITS)
            .margin_right(room.right * UNITS)
            .margin_bottom(room.bottom * UNITS)
            .margin_left(room.left * UNITS)
            .build_cartesian_2d(
                x.clone(),
                Axis {
                    ticks: if matches!(show, Show::Ratio | Show::X) { Vec::new() } else { y.ticks.clone() },
                    ..y.clone()
                },
            )?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_axes().light_line_style(TRANSPARENT).bold_line_style(line(Role::Grid, 1.0, 1.0));
        if show == Show::Y {
            mesh.disable_x_mesh();
        }
        mesh.draw()?;
        let base = match show {
            Show::Ratio => None,
            Show::X => Some([(x.lo, y.lo), (x.lo, y.hi)]),
            Show::Y | Show::Both => Some([(x.lo, y.lo), (x.hi, y.lo)]),
        };
        if let Some(base) = base {
            let base = base.map(|at| chart.backend_coord(&at));
            self.area.draw(&PathElement::new(base, line(Role::Muted, 0.5, 1.0)))?;
        }
        let corner = chart.backend_coord(&(x.lo, y.lo));
        let style = font(self.small(), Role::Muted, HPos::Center);
        for (tick, label) in &x.ticks {
            let (px, py) = chart.backend_coord(&(*tick, y.lo));
            self.text((px / UNITS, py / UNITS + 13), label, &style)?;
        }
        let style = font(self.small(), Role::Muted, HPos::Right);
        for (tick, label) in y.ticks.iter().filter(|_| matches!(show, Show::Y | Show::Both)) {
            let (_, py) = chart.backend_coord(&(x.lo, *tick));
            self.text((corner.0 / UNITS - 8, py / UNITS), label, &style)?;
        }
        Ok(chart)
    }

    /// A mark of an arm: its own shape as well as its own colour, so that a grey print still tells them apart.
    pub(super) fn mark(&self, arm: usize, at: (i32, i32), radius: f64, style: ShapeStyle) -> Drawn {
        let r = (radius * f64::from(UNITS)).round() as i32;
        let (x, y) = at;
        let polygon = |corners: &[(i32, i32)]| {
            let corners: Vec<(i32, i32)> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
            self.area.draw(&Polygon::new(corners, style))
        };
        match arm % 4 {
            0 => self.area.draw(&Circle::new(at, r, style)),
            1 => polygon(&[(0, -r * 5 / 4), (r * 5 / 4, 0), (0, r * 5 / 4), (-r * 5 / 4, 0)]),
            2 => polygon(&[(-r, -r), (r, -r), (r, r), (-r, r)].map(|(dx, dy)| (dx * 9 / 10, dy * 9 / 10))),
            _ => polygon(&[(0, -r * 5 / 4), (r * 6 / 5, r), (-r * 6 / 5, r)]),
        }
    }

    /// Arm names beside the ends of their data; on a phone in a row above the plot.
    pub(super) fn labels(
        &self,
        arms: &[String],
        mut ends: Vec<(usize, i32)>,
        plot_right: i32,
        room: &Room,
    ) -> Drawn {
        let small = self.small();
        if !self.wide() {
            let mut x = 12;
            let share = (self.width - 24) / ends.len().clamp(1, 4) as i32;
            for (arm, _) in ends.iter().take(4) {
                let name = fit(arms.get(*arm).map_or("", String::as_str), share - 18, small);
                self.mark(*arm, ((x + 5) * UNITS, 56 * UNITS), 4.0, filled(Role::Arm(*arm), 1.0))?;
                self.text((x + 14, 56), &name, &bold(small, Role::Arm(*arm), HPos::Left))?;
                x += (ink::ems(&name) * small) as i32 + 30;
            }
            return Ok(());
        }
        ends.sort_by_key(|(_, y)| *y);
        let gap = LABEL_GAP * UNITS;
        let (top, bottom) = (room.top * UNITS, (self.height - room.bottom) * UNITS);
        let mut floor = top;
        for end in &mut ends {
            end.1 = end.1.max(floor);
            floor = end.1 + gap;
        }
        // What was pushed below the plot moves up again.
        let mut roof = bottom;
        for end in ends.iter_mut().rev() {
            end.1 = end.1.min(roof);
            roof = end.1 - gap;
        }
        for (arm, y) in ends {
            let x = plot_right + 14;
            let name = fit(arms.get(arm).map_or("", String::as_str), room.right - 32, small);
            self.mark(arm, (x * UNITS, y), 4.0, filled(Role::Arm(arm), 1.0))?;
            self.text((x + 10, y / UNITS), &name, &bold(small, Role::Arm(arm), HPos::Left))?;
        }
        Ok(())
    }

    /// Room for names to the right of a plot.
    pub(super) fn name_room(&self, arms: &[String]) -> i32 {
        let widest = arms.iter().map(|name| ink::ems(name) * self.small()).fold(0.0, f64::max);
        if self.wide() { (widest as i32 * 7 / 6 + 40).clamp(60, 180) } else { 14 }
    }

    pub(super) fn axis_titles(&self, room: &Room, x: &str, y: &str) -> Drawn {
        let small = self.small();
        let below = self.height - room.bottom + 34;
        let plot_width = self.width - room.left - room.right;
        // On a phone a long title needs the margins as well.
        let (from, most) = match self.wide() {
            true => (room.left, plot_width + room.right - 12),
            false => (12, self.width - 24),
        };
        self.text((from, below), &fit(x, most, small), &font(small, Role::Muted, HPos::Left))?;
        let above = room.top - room.above;
        self.text((12, above), &fit(y, self.width - 24, small), &font(small, Role::Muted, HPos::Left))
    }

    fn ratios(&self, ratios: &Ratios) -> Drawn {
        let small = self.small();
        let ends = ratios.rows.iter().flat_map(|row| {
            let interval = row.interval.map(|(lo, hi)| [lo, hi]).unwrap_or([row.ratio, row.ratio]);
            row.blocks.iter().copied().chain(interval).chain([row.ratio])
        });
        let x = Axis::ratio(ends, ratios.margin, if self.wide() { 7 } else { 5 });
        let rows = ratios.rows.len().max(1);
        let y = rows_axis(rows);
        let widest = ratios.rows.iter().map(|row| ink::ems(&row.label) * small).fold(0.0, f64::max);
        let room = match self.wide() {
            true => Room {
                left: (widest as i32 * 7 / 6 + 26).clamp(70, 190),
                right: 150,
                top: 74,
                bottom: 52,
                above: 0,
            },
            false => Room { left: 14, right: 14, top: 74, bottom: 52, above: 0 },
        };
        let chart = self.plot(&room, &x, &y, Show::Ratio)?;
        let at = |ratio: f64, row: f64| x.position(ratio).map(|x| chart.backend_coord(&(x, row)));
        let zone = (1.0 + ratios.margin).max(1.0);
        if let (Some(from), Some(to)) = (at(1.0 / zone, y.lo), at(zone, y.hi)) {
            self.pen.tooltip(format!("within the margin of {}", words::percent(ratios.margin)));
            self.area.draw(&Rectangle::new([from, to], filled(Role::Zone, 1.0)))?;
            let middle = (from.0 + to.0) / 2 / UNITS;
            let note = format!("margin ± {}", words::percent(ratios.margin));
            let half = (ink::ems(&note) * small / 2.0) as i32;
            let middle = middle.clamp(12 + half, self.width - 12 - half);
            self.text((middle, room.top - 12), &note, &font(small, Role::Muted, HPos::Center))?;
        }
        if let (Some(top), Some(bottom)) = (at(1.0, y.hi), at(1.0, y.lo)) {
            self.area.draw(&PathElement::new([top, bottom], line(Role::Muted, 0.9, 1.0)))?;
        }
        for (index, row) in ratios.rows.iter().enumerate() {
            let middle = row_middle(rows, index);
            self.pen.open_arm(row.arm);
            let colour = Role::Arm(row.arm);
            for (block, ratio) in row.blocks.iter().enumerate() {
                if let Some((px, py)) = at(*ratio, middle) {
                    let shown = format!("pair {}: {ratio:.3}", block + 1);
                    self.pen.tooltip(shown);
                    self.mark(row.arm, (px, py + 17 * UNITS), 2.6, filled(colour, 0.5))?;
                }
            }
            if let Some((lo, hi)) = row.interval
                && let (Some(lo), Some(hi)) = (at(lo, middle), at(hi, middle))
            {
                self.pen.tooltip(format!("{}: interval {}", row.label, row.text));
                self.area.draw(&PathElement::new([lo, hi], line(colour, 0.75, 3.0)))?;
                for (px, py) in [lo, hi] {
                    let cap = [(px, py - 8 * UNITS), (px, py + 8 * UNITS)];
                    self.area.draw(&PathElement::new(cap, line(colour, 0.9, 2.0)))?;
                }
            }
            if let Some(centre) = at(row.ratio, middle) {
                self.pen.tooltip(format!("{}: {}", row.label, row.text));
                self.mark(row.arm, centre, 5.6, filled(Role::Paper, 1.0))?;
                self.mark(row.arm, centre, 4.2, filled(colour, 1.0))?;
            }
            let py = chart.backend_coord(&(x.lo, middle)).1 / UNITS;
            if self.wide() {
                let label = fit(&row.label, room.left - 24, small);
                self.text((room.left - 12, py), &label, &bold(small, colour, HPos::Right))?;
                let right = self.width - room.right + 14;
                self.text((right, py - 8), &row.text, &bold(13.0, Role::Text, HPos::Left))?;
                let verdict = fit(&row.verdict, room.right - 20, small);
                self.text((right, py + 9), &verdict, &font(small, Role::Muted, HPos::Left))?;
            } else {
                let label = fit(&row.label, 150, small);
                self.text((room.left, py - 22), &label, &bold(small, colour, HPos::Left))?;
                let right = self.width - room.right;
                self.text((right, py - 22), &row.text, &bold(small, Role::Text, HPos::Right))?;
            }
            self.pen.close();
        }
        let direction = match ratios.better {
            Better::Higher => ", right of 1 is better →",
            Better::Lower => ", ← left of 1 is better",
            Better::Neither => "",
        };
        let title = format!("log scale{direction} · ratio to {}", ratios.base);
        self.axis_titles(&room, &title, "")
    }

    fn values(&self, values: &Values, arms: &[String]) -> Drawn {
        let small = self.small();
        let all = values.rows.iter().flat_map(|row| {
            let runs = row.runs.iter().map(|(value, _)| *value);
            runs.chain(row.ceiling.iter().map(|(limit, _)| *limit)).chain([row.median])
        });
        let x = Axis::from_zero(all, values.unit, if self.wide() { 7 } else { 4 });
        let rows = values.rows.len().max(1);
        let y = rows_axis(rows);
        let name = |arm: usize| arms.get(arm).map_or("", String::as_str);
        let widest = values.rows.iter().map(|row| ink::ems(name(row.arm)) * small).fold(0.0, f64::max);
        let room = match self.wide() {
            true => Room {
                left: (widest as i32 * 7 / 6 + 26).clamp(70, 190),
                right: 124,
                top: 62,
                bottom: 52,
                above: 0,
            },
            false => Room { left: 14, right: 14, top: 62, bottom: 52, above: 0 },
        };
        let chart = self.plot(&room, &x, &y, Show::X)?;
        let at = |value: f64, row: f64| x.position(value).map(|x| chart.backend_coord(&(x, row)));
        for (index, row) in values.rows.iter().enumerate() {
            let middle = row_middle(rows, index);
            let colour = Role::Arm(row.arm);
            self.pen.open_arm(row.arm);
            let origin = chart.backend_coord(&(x.lo, middle));
            if let Some(end) = at(row.median, middle) {
                let (top, bottom) = ((origin.0, origin.1 - 9 * UNITS), (end.0, end.1 + 9 * UNITS));
                self.pen.tooltip(format!("{}: median {}", name(row.arm), row.text));
                self.area.draw(&Rectangle::new([top, bottom], filled(colour, 0.16)))?;
            }
            for (number, (value, tooltip)) in row.runs.iter().enumerate() {
                if let Some((px, py)) = at(*value, middle) {
                    // Spread by a fixed pattern, so that equal values stay visible.
                    let spread = (number * 5 % 7) as i32 - 3;
                    self.pen.tooltip(tooltip.clone());
                    self.mark(row.arm, (px, py + spread * 2 * UNITS), 2.6, filled(colour, 0.5))?;
                }
            }
            if let Some((lo, hi)) = row.interval
                && let (Some(lo), Some(hi)) = (at(lo, middle), at(hi, middle))
            {
                self.pen.tooltip(format!("{}: 95 % interval of the median", name(row.arm)));
                self.area.draw(&PathElement::new([lo, hi], line(colour, 0.85, 3.0)))?;
            }
            if let Some((px, py)) = at(row.median, middle) {
                let ends = [(px, py - 10 * UNITS), (px, py + 10 * UNITS)];
                self.area.draw(&PathElement::new(ends, line(colour, 1.0, 2.5)))?;
            }
            if let Some((limit, label)) = &row.ceiling
                && let Some((px, py)) = at(*limit, middle)
            {
                self.pen.tooltip(format!("{}: {label}", name(row.arm)));
                let ends = [(px, py - 13 * UNITS), (px, py + 13 * UNITS)];
                self.area.draw(&PathElement::new(ends, line(Role::Ceiling, 1.0, 3.0)))?;
                // Below the bar: near the ceiling there is no room beside it.
                let style = font(small - 1.0, Role::Ceiling, HPos::Right);
                let label = fit(label, px / UNITS - room.left, small - 1.0);
                self.text((px / UNITS + 2, py / UNITS + 21), &label, &style)?;
            }
            let py = origin.1 / UNITS;
            if self.wide() {
                let label = fit(name(row.arm), room.left - 24, small);
                self.text((room.left - 12, py), &label, &bold(small, colour, HPos::Right))?;
                let right = self.width - room.right + 14;
                self.text((right, py - 8), &row.text, &bold(13.0, Role::Text, HPos::Left))?;
                let note = fit(&row.note, room.right - 18, small);
                self.text((right, py + 9), &note, &font(small, Role::Muted, HPos::Left))?;
            } else {
                let label = fit(name(row.arm), 150, small);
                self.text((room.left, py - 24), &label, &bold(small, colour, HPos::Left))?;
                let right = self.width - room.right;
                let text = format!("{}, {}", row.text, row.note);
                self.text((right, py - 24), &text, &bold(small, Role::Text, HPos::Right))?;
            }
            self.pen.close();
        }
        self.axis_titles(&room, &with_direction(&values.metric, &x.symbol, values.better), "")
    }

    fn timeline(&self, timeline: &Timeline, arms: &[String]) -> Drawn {
        let small = self.small();
        let last = timeline.dots.iter().map(|dot| dot.at).fold(0.0, f64::max);
        let x = match last > 180.0 {
            true => minutes(last, if self.wide() { 8 } else { 5 }),
            false => Axis::from_zero([last].into_iter(), Unit::Second, if self.wide() { 8 } else { 5 }),
        };
        let y = Axis::around(timeline.dots.iter().map(|dot| dot.value), timeline.unit, 5);
        let room = Room {
            left: label_room(&y, small),
            right: self.name_room(arms),
            top: if self.wide() { 94 } else { 112 },
            bottom: 52,
            above: 30,
        };
        let chart = self.plot(&room, &x, &y, Show::Y)?;
        let at = |at: f64, value: f64| Some(chart.backend_coord(&(x.position(at)?, y.position(value)?)));
        let (top, bottom) = (chart.backend_coord(&(x.lo, y.hi)).1, chart.backend_coord(&(x.lo, y.lo)).1);
        // Lines between blocks, and the blocks' numbers above them where there is room.
        let mut blocks: Vec<(u32, f64, f64)> = Vec::new();
        for dot in &timeline.dots {
            match blocks.iter_mut().find(|(block, ..)| *block == dot.block) {
                Some((_, from, to)) => (*from, *to) = (from.min(dot.at), to.max(dot.at)),
                None => blocks.push((dot.block, dot.at, dot.at)),
            }
        }
        blocks.sort_by(|a, b| a.1.total_cmp(&b.1));
        for pair in blocks.windows(2) {
            if let Some((px, _)) = at((pair[0].2 + pair[1].1) / 2.0, y.lo) {
                self.area.draw(&PathElement::new([(px, top), (px, bottom)], line(Role::Grid, 1.0, 1.0)))?;
            }
        }
        // The end of the last number written; one that would run into it is left out.
        let mut taken = 0;
        for (index, (block, from, to)) in blocks.iter().enumerate() {
            if let Some((px, _)) = at((from + to) / 2.0, y.lo) {
                let number =
                    if index == 0 { format!("block {}", block + 1) } else { (block + 1).to_string() };
                let half = (ink::ems(&number) * small / 2.0) as i32;
                let middle = (px / UNITS).max(room.left + half);
                if middle - half < taken {
                    continue;
                }
                taken = middle + half + 4;
                let style = font(small - 1.0, Role::Muted, HPos::Center);
                self.text((middle, room.top - 9), &number, &style)?;
            }
        }
        let mut ends: Vec<(usize, i32)> = Vec::new();
        for arm in 0..arms.len() {
            let of_arm: Vec<_> = timeline.dots.iter().filter(|dot| dot.arm == arm).collect();
            if of_arm.is_empty() {
                continue;
            }
            self.pen.open_arm(arm);
            for dot in &of_arm {
                let Some(centre) = at(dot.at, dot.value) else { continue };
                self.pen.tooltip(dot.tooltip.clone());
                match dot.mark {
                    DotMark::Counts => self.mark(arm, centre, 4.5, filled(Role::Arm(arm), 0.9))?,
                    DotMark::Suspect => {
                        self.mark(arm, centre, 4.5, filled(Role::Arm(arm), 0.9))?;
                        self.area.draw(&Circle::new(centre, 8 * UNITS, line(Role::Arm(arm), 0.9, 1.4)))?;
                    }
                    DotMark::Excluded => {
                        let (px, py) = centre;
                        // One shape, so that its tooltip covers both strokes.
                        let r = 5 * UNITS;
                        let cross = [
                            (px - r, py - r),
                            (px + r, py + r),
                            (px, py),
                            (px - r, py + r),
                            (px + r, py - r),
                        ];
                        self.area.draw(&PathElement::new(cross, line(Role::Arm(arm), 0.8, 1.8)))?;
                    }
                }
            }
            self.pen.close();
            let counted: Vec<f64> =
                of_arm.iter().filter(|dot| dot.mark != DotMark::Excluded).map(|dot| dot.value).collect();
            let middle = tenbin_core::stats::median(&counted).or(of_arm.last().map(|dot| dot.value));
            if let Some((_, py)) = middle.and_then(|value| at(last, value)) {
                ends.push((arm, py));
            }
        }
        self.labels(arms, ends, self.width - room.right, &room)?;
        let has = |mark: DotMark| timeline.dots.iter().any(|dot| dot.mark == mark);
        let unit = match x.symbol.as_str() {
            "s" if self.wide() => "seconds",
            "min" if self.wide() => "minutes",
            other => other,
        };
        let mut title = format!("{unit} since the first run");
        if has(DotMark::Suspect) {
            title.push_str(" · ringed suspect");
        }
        if has(DotMark::Excluded) {
            title.push_str(" · × not counted");
        }
        self.axis_titles(&room, &title, &with_direction(&timeline.metric, &y.symbol, timeline.better))
    }

    fn lines(&self, lines: &Lines, arms: &[String]) -> Drawn {
        let small = self.small();
        let values = |pick: fn(&(f64, f64)) -> f64| {
            lines.lines.iter().flat_map(move |line| line.points.iter().map(pick))
        };
        let x = line_axis(&lines.x, values(|point| point.0), if self.wide() { 7 } else { 4 });
        let y = line_axis(&lines.y, values(|point| point.1), 5);
        let room = Room {
            left: label_room(&y, small),
            right: self.name_room(arms),
            top: if self.wide() { 84 } else { 100 },
            bottom: 52,
            above: 18,
        };
        let chart = self.plot(&room, &x, &y, Show::Both)?;
        let at = |(px, py): (f64, f64)| Some(chart.backend_coord(&(x.position(px)?, y.position(py)?)));
        let mut ends = Vec::new();
        // A dozen lines of an arm cover each other: each is drawn thin and lets the others through.
        let alpha = if lines.lines.len() > 4 { 0.55 } else { 0.9 };
        for arm in 0..arms.len() {
            let of_arm: Vec<_> = lines.lines.iter().filter(|line| line.arm == arm).collect();
            if of_arm.is_empty() {
                continue;
            }
            self.pen.open_arm(arm);
            for line_of_run in &of_arm {
                let mut points: Vec<(i32, i32)> = line_of_run.points.iter().copied().filter_map(at).collect();
                points.dedup();
                if let [point] = points.as_slice() {
                    self.pen.tooltip(line_of_run.tooltip.clone());
                    self.mark(arm, *point, 3.0, filled(Role::Arm(arm), 0.9))?;
                    continue;
                }
                self.pen.tooltip(line_of_run.tooltip.clone());
                self.area.draw(&PathElement::new(points, line(Role::Arm(arm), alpha, 1.3)))?;
            }
            self.pen.close();
            let heights: Vec<f64> = match lines.steps {
                // Names go where the distributions differ: at their upper part.
                true => vec![1.0],
                false => of_arm.iter().filter_map(|line| line.points.last().map(|point| point.1)).collect(),
            };
            let middle = tenbin_core::stats::median(&heights).and_then(|value| at((x_end(&x), value)));
            if let Some((_, py)) = middle {
                ends.push((arm, py));
            }
        }
        self.labels(arms, ends, self.width - room.right, &room)?;
        let note = lines.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        let title = format!("{}{note}", titled(&lines.x.title, &x.symbol));
        self.axis_titles(&room, &title, &titled(&lines.y.title, &y.symbol))
    }
}

/// The value at the right end of an axis.
fn x_end(axis: &Axis) -> f64 {
    if axis.log { axis.hi.exp() } else { axis.hi }
}

pub(super) fn with_direction(metric: &str, symbol: &str, better: Better) -> String {
    let comma = |text: &str| if text.is_empty() { String::new() } else { format!(", {text}") };
    format!("{metric}{}{}", comma(symbol), comma(words::direction(better)))
}

fn titled(title: &str, symbol: &str) -> String {
    match (symbol, title.split_once(", ")) {
        ("", _) => title.to_owned(),
        (symbol, Some((metric, rest))) => format!("{metric}, {symbol}, {rest}"),
        (symbol, None) => format!("{title}, {symbol}"),
    }
}

fn line_axis(of: &LineAxis, values: impl Iterator<Item = f64>, ticks: usize) -> Axis {
    match of.range {
        LineRange::FromZero => Axis::from_zero(values, of.unit, ticks),
        LineRange::Around => Axis::around(values, of.unit, ticks),
        LineRange::Log => {
            let values: Vec<f64> = values.collect();
            let log = Axis::log(values.iter().copied(), of.unit, ticks);
            log.unwrap_or_else(|| Axis::around(values.into_iter(), of.unit, ticks))
        }
        LineRange::Share => Axis {
            lo: 0.0,
            hi: 1.0,
            ticks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, format!("{:.0} %", share * 100.0))).into(),
            symbol: String::new(),
            log: false,
        },
    }
}

/// Whole minutes since the first run.
fn minutes(last: f64, ticks: usize) -> Axis {
    let hi = last * 1.03;
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 240.0, 480.0, 1440.0];
    let fits = |step: &&f64| hi / 60.0 / **step <= ticks as f64;
    let step = steps.iter().find(fits).copied().unwrap_or((hi / 60.0 / ticks as f64).ceil());
    let count = ((hi / 60.0 / step).floor() as usize).min(50);
    let ticks = (0..=count).map(|i| i as f64 * step).map(|at| (at * 60.0, format!("{at}"))).collect();
    Axis { lo: 0.0, hi, ticks, symbol: "min".to_owned(), log: false }
}

fn rows_axis(rows: usize) -> Axis {
    Axis { lo: 0.0, hi: rows as f64, ticks: Vec::new(), symbol: String::new(), log: false }
}

/// The first row is the uppermost.
fn row_middle(rows: usize, index: usize) -> f64 {
    rows as f64 - index as f64 - 0.5
}

pub(super) fn label_room(y: &Axis, small: f64) -> i32 {
    let widest = y.ticks.iter().map(|(_, label)| ink::ems(label) * small).fold(0.0, f64::max);
    widest as i32 + 24
}
