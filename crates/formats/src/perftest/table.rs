//! One table, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, CPU_UTILIZATION, LATENCY, MESSAGE_RATE, TRANSACTION_RATE};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Reduce, Sample};
use tenbin_core::unit::Unit;

use super::columns::{Column, Columns};
use super::{BYTES_PER_GBIT, BYTES_PER_MIB};
use crate::sheet::Sheet;

/// A table and its banner.
#[derive(Default)]
pub struct Table {
    /// The test, as a program's name.
    pub test: Option<String>,
    /// Both directions are added up.
    pub bidirectional: bool,
    /// From the banner.
    pub settings: Vec<(&'static str, String)>,
    /// The head, once seen.
    pub columns: Option<Columns>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
    /// Single latencies in seconds, printed before the row they belong to; the row's number.
    pub samples: Vec<(usize, Vec<f64>)>,
    /// The first error.
    pub error: Option<String>,
    /// The CPU's clock was not constant.
    pub clock: Option<String>,
    /// The unit of bandwidth is not named: JSON.
    pub unit_unknown: bool,
}

impl Table {
    /// Whether something of a run was read.
    pub fn begun(&self) -> bool {
        self.test.is_some() || self.columns.is_some() || !self.settings.is_empty()
    }

    /// The run, if there is a row.
    pub fn run(mut self) -> Option<Run> {
        let columns = self.columns.take()?;
        let mut sheet = Sheet::new("perftest");
        sheet.run.benchmark.clone_from(&self.test);
        let mut plain = Params::new();
        if let Some(test) = &self.test {
            plain.insert("benchmark".to_owned(), test.as_str().into());
        }
        if self.bidirectional {
            plain.insert("direction".to_owned(), "bidirectional".into());
        }
        for (number, cells) in self.rows.iter().enumerate() {
            let samples = self.samples.iter().find(|(row, _)| *row == number).map(|(_, samples)| samples);
            let row = Row { columns: &columns, cells };
            row.fill(&mut sheet, &plain, samples.map_or(&[], Vec::as_slice), self.unit_unknown);
        }
        // Rows of one size, as an endless test prints them, have no one printed mean.
        for series in &mut sheet.run.series {
            if series.samples.len() > 1 && series.metric.name != LATENCY.name {
                series.reported.clear();
            }
        }
        if columns.says_mb && sheet.run.series.iter().any(|series| series.metric.name == BANDWIDTH.name) {
            sheet.caveat(CaveatKind::UnitCorrected, "the columns say MB/sec and hold MiB/sec: 2^20 bytes");
        }
        if !sheet.holds_something() {
            return None;
        }
        if let Some(error) = &self.error {
            sheet.caveat(CaveatKind::ErrorReported, error.as_str());
        }
        if let Some(clock) = &self.clock {
            let text = format!("the CPU's clock was not at one speed, by which perftest tells time: {clock}");
            sheet.caveat(CaveatKind::Note, text);
        }
        self.facts(&mut sheet);
        sheet.finish()
    }

    fn facts(&self, sheet: &mut Sheet) {
        for (name, value) in &self.settings {
            let key = format!("perftest.{name}");
            // `4096[B]`
            if let Some(bytes) = value.strip_suffix("[B]").and_then(|bytes| bytes.parse::<i64>().ok()) {
                sheet.fact_in(&key, bytes, Unit::Byte);
            } else if let Ok(count) = value.parse::<i64>() {
                sheet.fact(&key, count);
            } else {
                sheet.fact(&key, value.as_str());
            }
        }
    }
}

struct Row<'a> {
    columns: &'a Columns,
    cells: &'a [f64],
}

impl Row<'_> {
    fn cell(&self, wanted: Column) -> Option<f64> {
        self.each().find(|(column, _)| *column == wanted).map(|(_, cell)| cell)
    }

    fn each(&self) -> impl Iterator<Item = (Column, f64)> {
        self.columns.all.iter().copied().zip(self.cells.iter().copied())
    }

    fn fill(&self, sheet: &mut Sheet, plain: &Params, samples: &[f64], unit_unknown: bool) {
        let mut params = plain.clone();
        for (column, name) in [(Column::Size, "size_bytes"), (Column::Level, "service_level")] {
            if let Some(value) = self.cell(column) {
                params.insert(name.to_owned(), Param::Int(value as i64));
            }
        }
        let iterations = self.cell(Column::Iterations).filter(|n| *n > 0.0);
        let factor = self.factor(sheet, unit_unknown);
        let on_port = |port: Option<i64>| {
            let mut params = params.clone();
            params.extend(port.map(|port| ("port".to_owned(), port.into())));
            params
        };
        for (column, cell) in self.each() {
            match column {
                Column::Bandwidth(port, own) => {
                    let Some(factor) = factor.or(Some(own)).filter(|factor| *factor > 0.0) else { continue };
                    let series = sheet.printed(&BANDWIDTH, &on_port(port), cell * factor);
                    series.reported.extend(iterations.map(|n| ("n".to_owned(), n)));
                    series.headline = port.is_none().then_some(Reduce::Total);
                }
                Column::Rate(port, own) => {
                    let series = sheet.printed(&MESSAGE_RATE, &on_port(port), cell * own);
                    series.reported.extend(iterations.map(|n| ("n".to_owned(), n)));
                }
                Column::Transactions => {
                    sheet.printed(&TRANSACTION_RATE, &params, cell);
                }
                Column::Cpu => {
                    sheet.printed(&CPU_UTILIZATION, &params, cell / 100.0);
                }
                _ => {}
            }
        }
        self.peak(sheet, &params, factor);
        self.latency(sheet, &params, samples, iterations);
    }

    /// A peak of 0.00 was not looked for.
    fn peak(&self, sheet: &mut Sheet, params: &Params, factor: Option<f64>) {
        let found = self.each().find_map(|(column, cell)| match column {
            Column::Peak(own) if cell > 0.0 => Some(cell * factor.unwrap_or(own)),
            _ => None,
        });
        if let Some(peak) = found.filter(|peak| *peak > 0.0) {
            sheet.reported(&BANDWIDTH, params, "max", peak);
        }
    }

    fn latency(&self, sheet: &mut Sheet, params: &Params, samples: &[f64], iterations: Option<f64>) {
        let figures: Vec<(&'static str, f64)> = self
            .each()
            .filter_map(|(column, cell)| match column {
                Column::Latency(name) => Some((name, cell / 1e6)),
                _ => None,
            })
            .collect();
        let figure = |name| figures.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let Some(lone) = figure("mean").or(figure("median")) else { return };
        let series = sheet.series(&LATENCY, params);
        series.headline = Some(Reduce::Median);
        if samples.is_empty() {
            series.samples.push(Sample::of(lone));
        } else {
            series.samples.extend(samples.iter().map(|seconds| Sample::of(*seconds)));
        }
        series.reported.extend(figures.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        series.reported.extend(iterations.map(|n| ("n".to_owned(), n)));
        if samples.is_empty() {
            sheet.caveat(CaveatKind::SummaryOnly, "only figures over all repetitions were printed");
        }
        if figure("sd").is_some() {
            // print_report_lat keeps each difference from the mean in an integer.
            let text =
                "t_stdev counts differences from the mean in whole microseconds: below, it is too small";
            sheet.caveat(CaveatKind::BiasedDeviation, text);
        }
    }

    /// By what bandwidth is to be multiplied where its size and message rate say otherwise than its title: `Some(0)`
    /// where they fit no unit.
    fn factor(&self, sheet: &mut Sheet, unit_unknown: bool) -> Option<f64> {
        let size = self.cell(Column::Size).filter(|size| *size > 0.0)?;
        let of = |wanted: fn(&Column) -> bool| self.each().find(|(column, _)| wanted(column));
        let (_, rate) = of(|column| matches!(column, Column::Rate(None, _)))?;
        let (column, bandwidth) = of(|column| matches!(column, Column::Bandwidth(None, _)))?;
        let Column::Bandwidth(_, own) = column else { return None };
        if rate <= 0.0 || bandwidth <= 0.0 {
            return unit_unknown.then_some(0.0);
        }
        // Half of the last digits printed, and a little for how averages are taken.
        let slack = 0.5e-6 / rate + 0.5e-2 / bandwidth + 2e-3;
        let bytes_per_second = size * rate * 1e6;
        let fits = |factor: f64| (bandwidth * factor / bytes_per_second - 1.0).abs() <= slack;
        if unit_unknown {
            let found = [BYTES_PER_MIB, BYTES_PER_GBIT].into_iter().find(|factor| fits(*factor));
            let text = match found {
                Some(BYTES_PER_MIB) => {
                    "bandwidth has no unit: sizes and message rates say 2^20 bytes a second"
                }
                Some(_) => "bandwidth has no unit: sizes and message rates say 10^9 bits a second",
                None => "bandwidth has no unit, and sizes and message rates tell none: left out",
            };
            sheet.caveat(CaveatKind::UnitCorrected, text);
            return found.or(Some(0.0));
        }
        if !fits(own) {
            let size = size as i64;
            let text = format!("at {size} bytes the bandwidth is not the size times the message rate");
            sheet.caveat(CaveatKind::Inconsistent, text);
        }
        None
    }
}
