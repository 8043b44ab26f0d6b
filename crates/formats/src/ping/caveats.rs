//! What is to be said of a run beside its numbers.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::sample::Sample;

use super::figures::Counts;
use super::line::Dialect;
use super::log::Log;
use super::mdev;
use crate::sheet::Sheet;

impl Log {
    /// Notes all of it.
    pub(super) fn caveats(&self, samples: &[Sample], sheet: &mut Sheet) {
        let replies = samples.len() as u64;
        let counts = self.counts.clone().unwrap_or_default();
        if !self.is_closed() {
            let asked = self.asked.filter(|asked| *asked > replies);
            let of = asked.map_or_else(String::new, |asked| format!(" of {asked} asked for"));
            let text = format!("the log ends after {replies} replies{of}, without statistics");
            sheet.caveat(CaveatKind::Truncated, text);
        } else if samples.is_empty() && self.spread.is_some() {
            let text = "only figures over all replies were printed, no single ones";
            sheet.caveat(CaveatKind::SummaryOnly, text);
        }
        let here = replies + self.below + self.timeless + self.duplicates;
        if self.header.is_none() && here > 0 && here < counts.received {
            let text = format!("the log begins late: it holds {here} of {} replies", counts.received);
            sheet.caveat(CaveatKind::Truncated, text);
        }
        if let Some(asked) = self.asked.filter(|asked| counts.sent > 0 && counts.sent < *asked) {
            sheet.caveat(
                CaveatKind::Interrupted,
                format!("{} of {asked} requests asked for were sent", counts.sent),
            );
        }
        let duplicates = counts.duplicates.max(self.duplicates);
        if duplicates > 0 {
            let text =
                format!("{duplicates} duplicate replies are no samples; ping's own figures include them");
            sheet.caveat(CaveatKind::Duplicates, text);
        }
        if let Some(first) = &self.first_foreign {
            let text = format!("{} lines are not ping's, the first: {first}", self.foreign);
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
        let damaged = counts.corrupted.max(self.damaged);
        if let Some(first) = &self.refusal {
            sheet.caveat(CaveatKind::ErrorReported, format!("{} errors, the first: {first}", self.refusals));
        } else if counts.errors > 0 {
            sheet.caveat(CaveatKind::ErrorReported, format!("ping counted {} errors", counts.errors));
        }
        if damaged > 0 {
            let text = format!("{damaged} replies came damaged and are no samples");
            sheet.caveat(CaveatKind::ErrorReported, text);
        }
        if self.windows_counts_refusals(replies) {
            let text =
                format!("{} refusals stand among the received packets; they are lost here", self.refusals);
            sheet.caveat(CaveatKind::CountedAsReceived, text);
        }
        if self.below > 0 {
            let text = format!(
                "{} replies took less than 1 ms: how much is not known, they are left out",
                self.below
            );
            sheet.caveat(CaveatKind::Note, text);
        }
        if self.comma {
            sheet.caveat(CaveatKind::Locale, "decimals stand behind a comma");
        }
        if self.counts.is_some() {
            check_counts(&counts, sheet);
        }
        let span = samples.last().and_then(|sample| sample.time());
        if let (Some(span), Some(printed)) = (span, counts.duration)
            && span > printed * 1.1 + 0.1
        {
            let text =
                format!("the time was printed as {printed:.3} s, the replies' stamps span {span:.3} s");
            sheet.caveat(CaveatKind::Inconsistent, text);
        }
        let complete = self.counts.is_some() && duplicates == 0 && replies == counts.received && replies > 0;
        if complete {
            self.contradiction(samples, sheet);
        } else if duplicates == 0 {
            self.deviation_alone(&counts, samples.is_empty(), sheet);
        }
    }

    /// Where the printed figures and the printed samples disagree by more than rounding allows.
    fn contradiction(&self, samples: &[Sample], sheet: &mut Sheet) {
        let Some(spread) = &self.spread else { return };
        let n = samples.len() as f64;
        let mean = samples.iter().map(|sample| sample.value).sum::<f64>() / n;
        let variance = samples.iter().map(|sample| (sample.value - mean).powi(2)).sum::<f64>() / n;
        // Samples are rounded, sums are in whole microseconds and the mean is cut off.
        let slack = self.digit + 1e-6;
        let off = |printed: Option<f64>, own: f64| printed.filter(|printed| (printed - own).abs() > slack);
        if let Some(printed) = off(spread.sd, variance.sqrt()) {
            let text = format!(
                "the deviation was printed as {:.3} ms, the replies give {:.4} ms{}",
                printed * 1e3,
                variance.sqrt() * 1e3,
                if self.is_iputils() {
                    ": iputils before 2019 cuts the mean to whole microseconds"
                } else {
                    ""
                },
            );
            sheet.caveat(CaveatKind::BiasedDeviation, text);
        } else if let Some(printed) = off(spread.mean, mean) {
            let text = format!(
                "the mean was printed as {:.3} ms, the replies give {:.3} ms",
                printed * 1e3,
                mean * 1e3
            );
            sheet.caveat(CaveatKind::Recomputed, text);
        }
    }

    fn is_iputils(&self) -> bool {
        let mdev = self.spread.as_ref().is_some_and(|spread| spread.is_mdev);
        self.dialect.map_or(mdev, |dialect| dialect == Dialect::Iputils)
    }

    /// What is to be said of a printed deviation that no replies stand by.
    fn deviation_alone(&self, counts: &Counts, alone: bool, sheet: &mut Sheet) {
        let Some(spread) = &self.spread else { return };
        let n = counts.received;
        if let Some(least) = mdev::least_above(n, spread) {
            let text = format!(
                "the deviation was printed as {:.3} ms; {n} replies so far apart deviate by {:.3} ms at least",
                spread.sd.unwrap_or_default() * 1e3,
                least * 1e3
            );
            return sheet.caveat(CaveatKind::BiasedDeviation, text);
        }
        let (Some(mean), Some(sd), true) = (spread.mean, spread.sd, self.is_iputils() && n != 1) else {
            return;
        };
        let (low, high) = mdev::bounds(mean, sd);
        let between = format!("from {:.1} to {:.1} us", low * 1e6, high * 1e6);
        let known = self.version.as_deref().and_then(mdev::is_old);
        let why = if mdev::is_long(n, mean) {
            "iputils cuts the mean to whole microseconds where round trips sum up to 2147 s"
        } else if known == Some(true) || self.old || is_cut_off(counts) {
            "iputils before s20190324 cuts the mean to whole microseconds"
        } else if mdev::is_too_large(spread) {
            "no values in this range deviate so much, so iputils is one before s20190324, which cuts the mean"
        } else {
            if known.is_none() && alone && low < sd * 0.9 {
                let text = format!("iputils before s20190324 prints this mdev for any deviation {between}");
                sheet.caveat(CaveatKind::Note, text);
            }
            return;
        };
        let text = format!("mdev {:.3} ms is too high: {why}; the true deviation lies {between}", sd * 1e3);
        sheet.caveat(CaveatKind::BiasedDeviation, text);
    }
}

/// Counts that contradict each other.
fn check_counts(counts: &Counts, sheet: &mut Sheet) {
    if counts.received > counts.sent {
        let text = format!("{} packets received of {} sent; no loss is given", counts.received, counts.sent);
        return sheet.caveat(CaveatKind::Inconsistent, text);
    }
    let lost = (counts.sent - counts.received) as f64 / counts.sent.max(1) as f64;
    if let Some(printed) = counts.loss.filter(|printed| (printed - lost).abs() > 0.0101) {
        let text =
            format!("{:.4} % loss was printed, the counts give {:.4} %", printed * 100.0, lost * 100.0);
        sheet.caveat(CaveatKind::Inconsistent, text);
    }
}

/// Whether the printed loss lacks decimals that the counts have: iputils printed none until 2017.
fn is_cut_off(counts: &Counts) -> bool {
    let Some(lost) = counts.sent.checked_sub(counts.received) else { return false };
    counts.whole_percent
        && counts.sent > 0
        && lost.checked_mul(100).is_some_and(|lost| lost % counts.sent != 0)
}
