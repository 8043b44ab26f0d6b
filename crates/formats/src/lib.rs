//! Text of other tools into samples and back: one folder a tool. Pure: text comes in as bytes, leaves as text.
//!
//! A tool is one folder and one line in [`FORMATS`]; one whose tables are imitated has a line in [`VIEWS`] too.

use std::fmt;
use std::io::{self, BufRead};

use tenbin_core::run::Run;

#[cfg(test)]
mod brief;
pub mod clean;
pub mod crystaldiskmark;
pub mod csv;
pub mod diskspd;
pub mod fio;
pub mod fping;
pub mod freeipmi;
pub mod himeno;
pub mod hwmon;
pub mod hyperfine;
pub mod imb;
pub mod iozone;
pub mod iperf2;
pub mod iperf3;
pub mod ipmitool;
pub mod kdiskmark;
pub mod mpi;
pub mod netperf;
pub mod netpipe;
pub mod osu;
pub mod perftest;
pub mod ping;
pub mod qperf;
mod sections;
pub mod sensors;
pub mod sheet;
pub mod sockperf;
pub mod stream;
pub mod tenbin;

pub use sections::{Unread, read as read_log, read_slice as read};

/// Text that a tool writes and that can be read back into runs.
pub trait Format: Sync {
    /// The tool's name, as in [`Run::tool`].
    fn name(&self) -> &'static str;

    /// Whether a file that begins with `head`, cleaned as [`clean::Lines`] does, looks like this tool's. Says yes for
    /// its own text only.
    fn sniff(&self, head: &[u8]) -> bool;

    /// Whether the tool's output begins at this line, or has begun by it, in a log of several tools: a line that no
    /// other tool prints. Asked of every line that does not begin with a blank, so it must be cheap.
    fn opens(&self, _line: &str) -> bool {
        false
    }

    /// What the tool printed instead of measurements, in a text that no format recognises.
    fn measured_nothing(&self, _text: &str) -> Option<String> {
        None
    }

    /// Reads a file: every run in it goes to `out`, in file order. What can't be read becomes a caveat of the
    /// run. The caller fills in [`Run::source`].
    fn parse(&self, input: &mut dyn BufRead, out: &mut dyn RunSink) -> Result<(), ParseError>;
}

/// A table as a tool prints it. `parse(print(x)) == x` for what the tool would print.
pub trait View: Sync {
    /// The tool's name.
    fn name(&self) -> &'static str;

    /// Prints `run` as the tool would.
    fn print(&self, run: &Run, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Takes runs as they are read.
pub trait RunSink {
    /// The next run of the file.
    fn run(&mut self, run: Run);
}

impl RunSink for Vec<Run> {
    fn run(&mut self, run: Run) {
        self.push(run);
    }
}

/// Why a file gave no run. The caller knows the file's name.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// The file could not be read to its end.
    #[error("cannot read it to its end: {0}")]
    Read(#[from] io::Error),
    /// The tool's text, but without a single value.
    #[error("{tool} measured nothing: {said}")]
    NothingMeasured {
        /// The tool.
        tool: &'static str,
        /// Its own message, or what is missing.
        said: String,
    },
}

/// Bytes at the start of a file by which its format is recognised.
pub const HEAD: usize = 1 << 16;

/// Every format, in the order they are asked.
pub static FORMATS: &[&dyn Format] = &[
    &crystaldiskmark::CrystalDiskMark,
    &csv::Csv,
    &diskspd::DiskSpd,
    &fio::Fio,
    &fping::Fping,
    &freeipmi::FreeIpmi,
    &himeno::Himeno,
    &hwmon::Hwmon,
    &hyperfine::Hyperfine,
    &imb::Imb,
    &iozone::Iozone,
    &iperf2::Iperf2,
    &iperf3::Iperf3,
    &ipmitool::Ipmitool,
    &kdiskmark::KDiskMark,
    &netperf::Netperf,
    &netpipe::NetPipe,
    &osu::Osu,
    &perftest::Perftest,
    &ping::Ping,
    &qperf::Qperf,
    &sockperf::Sockperf,
    &stream::Stream,
    &tenbin::Tenbin,
];

/// Every table that is imitated.
pub static VIEWS: &[&dyn View] = &[
    &crystaldiskmark::CrystalDiskMark,
    &csv::Csv,
    &fio::Fio,
    &himeno::Himeno,
    &imb::Imb,
    &iozone::Iozone,
    &iperf3::Iperf3,
    &iperf3::Iperf3Json,
    &ipmitool::Ipmitool,
    &osu::Osu,
    &ping::Ping,
    &stream::Stream,
];

/// The format that recognises a file which begins with `head`.
pub fn recognise(head: &[u8]) -> Option<&'static dyn Format> {
    sniffed(&clean::text(head.get(..HEAD).unwrap_or(head)))
}

/// The format that recognises cleaned text.
fn sniffed(text: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.sniff(text.as_bytes()))
}
