//! One invocation of iozone, and the run it becomes.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::metric::{BANDWIDTH, IOPS, LATENCY};
use tenbin_core::run::Run;
use tenbin_core::sample::{Params, Reduce};

use crate::sheet::Sheet;

/// What the numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Kilobytes,
    Operations,
    Microseconds,
}

/// A number and what it measures.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub op: &'static str,
    pub file_kb: Option<u64>,
    pub record_kb: Option<u64>,
    pub threads: Option<i64>,
    pub part: Option<&'static str>,
    pub value: f64,
    pub mode: Mode,
}

/// One invocation, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub sheet: Sheet,
    pub mode: Mode,
    /// The columns that the command line asked for.
    pub tests: Option<Vec<&'static str>>,
    /// The line of column names.
    pub header: Option<String>,
    pub cells: Vec<Cell>,
    /// The numbers of the Excel report.
    pub excel: Vec<Cell>,
    /// The test of the Excel report being read, and its record sizes.
    pub report: Option<(&'static str, Vec<u64>)>,
    pub file_kb: Option<u64>,
    pub record_kb: Option<u64>,
    pub complete: bool,
    pub interrupted: bool,
    pub error: Option<String>,
    /// Numbers whose column nobody can tell.
    pub lost: usize,
    foreign: usize,
    first_foreign: Option<String>,
}

impl Call {
    /// Notes a line that is not iozone's.
    pub fn foreign(&mut self, text: &str) {
        if text.starts_with("random ") {
            return;
        }
        self.foreign += 1;
        self.first_foreign.get_or_insert_with(|| text.chars().take(80).collect());
    }

    /// The run, if there is a value.
    pub fn run(mut self) -> Option<Run> {
        self.sheet.run.tool = "iozone".to_owned();
        // The report behind a table repeats it.
        let cells = if self.cells.is_empty() { &self.excel } else { &self.cells };
        // A printed 0 is a test that was skipped or a process that had not begun.
        let measured = || cells.iter().filter(|cell| cell.value > 0.0);
        for cell in measured() {
            let params = params_of(cell);
            let (metric, value) = match cell.mode {
                Mode::Kilobytes => (&BANDWIDTH, cell.value * 1024.0),
                Mode::Operations => (&IOPS, cell.value),
                Mode::Microseconds => (&LATENCY, cell.value / 1e6),
            };
            if cell.part == Some("parent") {
                self.sheet.printed(metric, &params, value);
            } else {
                self.sheet.headline(metric, &params, Reduce::Total, value);
            }
        }
        let kilobytes = measured().any(|cell| cell.mode == Mode::Kilobytes);
        let threads = measured().any(|cell| cell.threads.is_some());
        self.caveats(kilobytes, threads);
        self.sheet.finish()
    }

    fn caveats(&mut self, kilobytes: bool, threads: bool) {
        let sheet = &mut self.sheet;
        if kilobytes {
            sheet.caveat(CaveatKind::UnitCorrected, "iozone's kB are 1024 bytes");
        }
        if threads {
            let text = "children are counted until the first of them has finished, the parent's time includes \
                        starting them";
            sheet.caveat(CaveatKind::Note, text);
        }
        if let Some(error) = &self.error {
            sheet.caveat(CaveatKind::ErrorReported, format!("iozone says: {error}"));
        }
        if self.interrupted {
            sheet.caveat(CaveatKind::Interrupted, "iozone was interrupted");
        } else if !self.complete {
            sheet.caveat(CaveatKind::Truncated, "the log ends before iozone says that it is complete");
        }
        if self.lost > 0 {
            let text = format!("{} numbers are left out: the copy lost their columns", self.lost);
            sheet.caveat(CaveatKind::NotMeasured, text);
        }
        if let Some(first) = &self.first_foreign {
            let text = format!("{} lines are not iozone's, the first: {first}", self.foreign);
            sheet.caveat(CaveatKind::ForeignLines, text);
        }
    }
}

fn params_of(cell: &Cell) -> Params {
    let mut params = Params::new();
    let bytes = |kb: Option<u64>| kb.and_then(|kb| i64::try_from(kb.checked_mul(1024)?).ok());
    let (file, record) = (bytes(cell.file_kb), bytes(cell.record_kb));
    for (name, value) in [("file_bytes", file), ("record_bytes", record), ("threads", cell.threads)] {
        if let Some(value) = value {
            params.insert(name.to_owned(), value.into());
        }
    }
    params.insert("op".to_owned(), cell.op.into());
    if let Some(part) = cell.part {
        params.insert("part".to_owned(), part.into());
    }
    params
}
