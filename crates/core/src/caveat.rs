//! Caveats: what a reader must know beside a number. They are data: stored with the run, printed as footnotes.

use serde::{Deserialize, Serialize};

/// The sort of a caveat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaveatKind {
    /// Only summary figures are known; no spread can be computed.
    SummaryOnly,
    /// The log ends early.
    Truncated,
    /// The measurement was stopped before its end.
    Interrupted,
    /// Other programs' lines stood in the log.
    ForeignLines,
    /// The tool itself reported an error.
    ErrorReported,
    /// A row or test that was skipped.
    NotMeasured,
    /// Replies that came more than once.
    Duplicates,
    /// A printed unit was wrong or binary and has been corrected.
    UnitCorrected,
    /// A figure was worked out again from the samples.
    Recomputed,
    /// The tool printed a deviation that its own samples contradict.
    BiasedDeviation,
    /// The tool counted errors among what it received.
    CountedAsReceived,
    /// Nothing arrived.
    NothingDelivered,
    /// Only what was offered is known, not what arrived.
    SenderOnly,
    /// Printed numbers contradict each other.
    Inconsistent,
    /// One run each: no statement about configurations.
    OneRun,
    /// Both hosts share one kernel and its CPUs; no NIC was measured.
    SharedMachine,
    /// The link has no physical ceiling.
    NoCeiling,
    /// A value lies above its ceiling.
    AboveCeiling,
    /// The kernel's receive timestamps were not available.
    CoarseClock,
    /// Round trip times depend on the sending interval.
    Interval,
    /// A CPU clock was throttled.
    Throttled,
    /// Rate fell in one step: burst credit or throttling.
    RateStep,
    /// Something outside the experiment loaded the machine.
    NoisyNeighbour,
    /// Facts changed during the session.
    StateChanged,
    /// Some runs failed or are missing.
    MissingRuns,
    /// The order of the blocks was not the balanced one.
    FewChanges,
    /// The verdict hangs on a few far runs.
    FarRuns,
    /// Values drift over the session.
    Drift,
    /// The number is the best of several passes, not a mean.
    BestOf,
    /// The tool itself says that the confidence asked for was not reached.
    NotConverged,
    /// Numbers were printed under another locale than the tool's own.
    Locale,
    /// Anything else, also what a later release says: its text still tells.
    #[serde(other)]
    Note,
}

/// One caveat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Caveat {
    /// Its sort.
    pub kind: CaveatKind,
    /// One sentence for people, without a full stop.
    pub text: String,
}

impl Caveat {
    /// A caveat of `kind` saying `text`.
    pub fn new(kind: CaveatKind, text: impl Into<String>) -> Caveat {
        Caveat { kind, text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_later_releases_are_notes() {
        let read: Caveat = serde_json::from_str(r#"{"kind":"moon-phase","text":"it was full"}"#).unwrap();
        assert_eq!(read, Caveat::new(CaveatKind::Note, "it was full"));
        let known = Caveat::new(CaveatKind::BestOf, "5 passes");
        let json = serde_json::to_string(&known).unwrap();
        assert_eq!(json, r#"{"kind":"best-of","text":"5 passes"}"#);
        assert_eq!(serde_json::from_str::<Caveat>(&json).unwrap(), known);
        assert_eq!(serde_json::to_string(&CaveatKind::Note).unwrap(), "\"note\"");
    }
}
