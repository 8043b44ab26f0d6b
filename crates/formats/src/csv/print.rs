//! tenbin's own table of one run.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Series};

use super::cells;
use super::own::{self, HEADLINES};

/// Every sample and every printed figure of `run`. What is no number (facts, caveats) has no place in it.
pub fn run(run: &Run, out: &mut dyn Write) -> fmt::Result {
    let names: BTreeSet<&str> =
        run.series.iter().flat_map(|series| series.params.keys().map(String::as_str)).collect();
    out.write_str("tool,metric,unit,better,headline")?;
    for name in &names {
        out.write_char(',')?;
        cells::text(&own::column_of(name), out)?;
    }
    out.write_str(",figure,at_seconds,value\n")?;
    for series in &run.series {
        let mut start = String::new();
        begin(run, series, &names, &mut start)?;
        for sample in series.samples.iter().filter(|sample| sample.value.is_finite()) {
            write!(out, "{start},,")?;
            if let Some(at) = sample.time().filter(|at| at.is_finite()) {
                cells::number(at, out)?;
            }
            out.write_char(',')?;
            cells::number(sample.value, out)?;
            out.write_char('\n')?;
        }
        for (figure, value) in series.reported.iter().filter(|(_, value)| value.is_finite()) {
            write!(out, "{start},")?;
            cells::text(figure, out)?;
            out.write_str(",,")?;
            cells::number(*value, out)?;
            out.write_char('\n')?;
        }
    }
    Ok(())
}

/// What all rows of a series begin with.
fn begin(run: &Run, series: &Series, names: &BTreeSet<&str>, out: &mut dyn Write) -> fmt::Result {
    cells::text(&run.tool, out)?;
    out.write_char(',')?;
    cells::text(&series.metric.name, out)?;
    write!(out, ",{},{},", series.metric.unit.name(), own::direction(series.metric.better))?;
    let headline = HEADLINES.iter().find(|(_, reduce)| Some(*reduce) == series.headline);
    out.write_str(headline.map_or("", |(name, _)| name))?;
    for name in names {
        out.write_char(',')?;
        match series.params.get(*name) {
            Some(Param::Int(whole)) => write!(out, "{whole}")?,
            // 1.0 keeps its decimal: without, it would come back as a whole number.
            Some(Param::Num(number)) => write!(out, "{number:?}")?,
            Some(Param::Text(text)) => cells::text(text, out)?,
            None => {}
        }
    }
    Ok(())
}
