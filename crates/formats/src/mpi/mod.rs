//! What stands around the tables of MPI benchmarks: labels that launchers put before lines, messages of jobs that
//! fail, and numbers as C prints them.

mod rows;

pub use rows::{Cells, Shape, decimals, is_digits, rows};

/// `text` without the label of a launcher that tells which rank wrote the line: `[1,0]<stdout>:` (Open MPI), `0: `
/// (srun -l), `[0] ` (Hydra).
pub fn unlabelled(text: &str) -> &str {
    let text = text.trim();
    if let Some((label, rest)) = text.split_once(">:")
        && label.starts_with('[')
        && (label.ends_with("]<stdout") || label.ends_with("]<stderr"))
    {
        return rest.trim();
    }
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let labelled = inside.or_else(|| text.split_once(": "));
    match labelled {
        Some((rank, rest)) if is_digits(rank) => rest.trim(),
        _ => text,
    }
}

/// The lines in `text`: mostly one; several where Open MPI lost their ends and only its labels part them, as in
/// `1 2.80[1,0]<stdout>:2 3.17`.
pub fn lines(text: &str) -> Vec<&str> {
    if !text.contains("]<stdout>:") {
        return vec![text];
    }
    let mut lines = Vec::new();
    let mut rest = text;
    // From behind: what follows the last label is the last line.
    while let Some(at) = rest.rfind("]<stdout>:")
        && let Some((before, rank)) = rest.get(..at).and_then(|before| before.rsplit_once('['))
        && rank.split(',').all(is_digits)
    {
        lines.push(rest.get(at + "]<stdout>:".len()..).unwrap_or_default());
        rest = undated(before);
    }
    if lines.is_empty() || !rest.trim().is_empty() {
        lines.push(rest);
    }
    lines.reverse();
    lines
}

/// Without a `Thu May 31 05:20:00 2018` at the end.
fn undated(text: &str) -> &str {
    const LENGTH: usize = "Thu May 31 05:20:00 2018".len();
    let Some((before, date)) = text.len().checked_sub(LENGTH).and_then(|at| text.split_at_checked(at)) else {
        return text;
    };
    let words: Vec<&str> = date.split_whitespace().collect();
    let dated = matches!(words[..], [day, _, _, time, year]
        if day.len() == 3 && time.matches(':').count() == 2 && year.len() == 4 && is_digits(year));
    if dated { before } else { text }
}

/// A number such as `12.50`, times ten to `power`; exact, as if the digits had been printed in the base unit. No
/// sign, no exponent, no `nan` or `inf`.
pub fn scaled(text: &str, power: i32) -> Option<f64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(whole) || !is_digits(part) {
        return None;
    }
    format!("{text}e{power}").parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whether a column of rates counts in 2^20 rather than 10^6, judged by rows of (rate as printed, the rate in 10^6 that
/// size and time of the row give, the share by which the two may differ because both were rounded). A rate may be one,
/// two or four times size over time: both directions, both neighbours. `None` where no row has digits enough.
pub fn counts_in_mebi(rows: impl Iterator<Item = (f64, f64, f64)>) -> Option<bool> {
    let (mut decimal, mut binary) = (0u64, 0u64);
    for (printed, expected, slack) in rows {
        // The two units differ by 4.9 %.
        if slack.is_nan() || slack > 0.012 {
            continue;
        }
        let ratio = printed / expected;
        let near = |wanted: f64| (ratio / wanted - 1.0).abs() <= slack + 1e-3;
        let any = |unit: f64| [1.0, 2.0, 4.0].iter().any(|times| near(times / unit));
        decimal += u64::from(any(1.0));
        binary += u64::from(any(MEBI_OVER_MEGA));
    }
    (decimal != binary).then_some(binary > decimal)
}

/// 2^20 / 10^6.
pub const MEBI_OVER_MEGA: f64 = 1.048576;

/// The messages of a job that fails.
#[derive(Debug, Default)]
pub struct Trouble {
    /// Says that the job failed.
    fatal: Option<String>,
    /// Says that something went wrong; may be a warning.
    slight: Option<String>,
    /// The message goes on in the next line.
    open: bool,
}

/// Programs that start jobs and tell in a sentence how they ended.
const LAUNCHERS: &[&str] = &["mpirun", "mpiexec", "oshrun", "prterun"];

/// Words by which MPI launchers and batch systems say that a job ended before its time.
const FATAL: &[&str] = &[
    "exited on",
    "exiting improperly",
    "BAD TERMINATION",
    "KILLED BY SIGNAL",
    "EXIT CODE:",
    "MPI_ABORT was invoked",
    "application called MPI_Abort",
    "Fatal error in",
    "Abort(",
    "*** An error occurred in",
    "Segmentation fault",
    "Bus error",
    "CANCELLED AT",
    "DUE TO TIME LIMIT",
    "oom-kill",
    "oom_kill",
    "Out Of Memory",
    "srun: error:",
    "slurmstepd: error:",
    "salloc: error:",
    "sbatch: error:",
    "terminated with non-zero status",
    "detected that one or more processes exited",
    "PBS: job killed",
    "Assertion failed",
    "DATA VALIDATION ERROR",
];

/// Words that may as well belong to a warning.
const SLIGHT: &[&str] = &[
    "error",
    "cannot",
    "can't",
    "could not",
    "failed",
    "unable to",
    "not found",
    "not enough slots",
    "no such file",
    "requires ",
    "invalid option",
    "signal:",
];

impl Trouble {
    /// Takes in a line that is none of the benchmark's table.
    pub fn hear(&mut self, text: &str) {
        if text.trim_start_matches('-').is_empty() {
            self.open = false;
            return;
        }
        if self.open {
            // mpirun breaks its sentences at 80 columns.
            self.open = false;
            if let Some(fatal) = &mut self.fatal {
                *fatal = format!("{fatal} {text}");
            }
            return;
        }
        // mpirun's own sentence tells more than the lines of the handler inside the process that died.
        let sentence = LAUNCHERS.iter().any(|launcher| text.starts_with(launcher));
        let by_launcher = |fatal: &str| LAUNCHERS.iter().any(|launcher| fatal.starts_with(launcher));
        let known = self.fatal.as_ref().is_some_and(|fatal| by_launcher(fatal) || !sentence);
        if FATAL.iter().any(|words| text.contains(words)) && !known {
            self.fatal = Some(text.to_owned());
            self.open = sentence && !text.ends_with(['.', ':']);
        } else if self.slight.is_none() {
            let lower = text.to_ascii_lowercase();
            if SLIGHT.iter().any(|words| lower.contains(words)) {
                self.slight = Some(text.to_owned());
            }
        }
    }

    /// The message that says that the job failed.
    pub fn fatal(&self) -> Option<&str> {
        self.fatal.as_deref()
    }

    /// The most telling message.
    pub fn any(&self) -> Option<&str> {
        self.fatal.as_deref().or(self.slight.as_deref())
    }
}

/// Lines of other programs in the middle of a table.
#[derive(Debug, Default)]
pub struct Foreign {
    first: Option<String>,
    settled: usize,
    pending: usize,
}

impl Foreign {
    /// Takes in a line that is no row. What follows the last row is no part of the table.
    pub fn hear(&mut self, text: &str) {
        if text.trim_start_matches('-').is_empty() {
            return;
        }
        if self.first.is_none() {
            self.first = Some(text.to_owned());
        }
        self.pending += 1;
    }

    /// A row followed.
    pub fn settle(&mut self) {
        self.settled += std::mem::take(&mut self.pending);
    }

    /// What a caveat says.
    pub fn text(&self) -> Option<String> {
        let first = self.first.as_deref().filter(|_| self.settled > 0)?;
        let lines = if self.settled == 1 { "line" } else { "lines" };
        Some(format!("{} {lines} of other programs in the table; the first: {first}", self.settled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let check = |text: &str, wanted: &str| assert_eq!(unlabelled(text), wanted, "{text}");
        check("[1,0]<stdout>:       0   1000", "0   1000");
        check("0:       0   1000", "0   1000");
        check("[0] # Size  Latency (us)", "# Size  Latency (us)");
        check("[host:1] a message", "[host:1] a message");
        check("# Date : Mon", "# Date : Mon");
        check("  12 13", "12 13");
    }

    #[test]
    fn lines_that_lost_their_ends() {
        let check = |text: &str, wanted: &[&str]| assert_eq!(lines(text), wanted, "{text}");
        check("1 2.80", &["1 2.80"]);
        check("", &[""]);
        check("[1,0]<stdout>:1 2.80", &["1 2.80"]);
        check("1 2.80[1,0]<stdout>:2 3.17[1,0]<stdout>:", &["1 2.80", "2 3.17", ""]);
        check("1 2.80Thu May 31 05:20:00 2018[1,0]<stdout>:2 3.17", &["1 2.80", "2 3.17"]);
        check("a]<stdout>:b", &["a]<stdout>:b"]);
        check("[host:1]<stdout>:b", &["[host:1]<stdout>:b"]);
    }

    #[test]
    fn numbers() {
        let check = |text: &str, power, wanted| assert_eq!(scaled(text, power), wanted, "{text}");
        check("1.72", -6, Some(1.72e-6));
        check("12272.99", 6, Some(12_272_990_000.0));
        check("640", 0, Some(640.0));
        for text in ["", ".", "1.", "nan", "inf", "-1.00", "1e3", "0x10", "1,5"] {
            check(text, 0, None);
        }
        check(&"9".repeat(400), 0, None);
    }

    #[test]
    fn mega_or_mebi() {
        let row = |printed, size: f64, us: f64| (printed, size / us, 0.005 / printed + 0.005 / us);
        let check = |rows: &[(f64, f64, f64)], wanted| {
            assert_eq!(counts_in_mebi(rows.iter().copied()), wanted, "{rows:?}");
        };
        check(&[row(0.0, 0.0, 1.0), row(1000.0, 65536.0, 65.536)], Some(false));
        check(&[row(953.67, 65536.0, 65.536)], Some(true));
        check(&[row(1907.35, 65536.0, 65.536), row(0.01, 1.0, 99.0)], Some(true));
        check(&[row(0.01, 1.0, 99.0)], None);
        check(&[row(123.0, 65536.0, 65.536)], None);
    }

    #[test]
    fn messages() {
        let check = |lines: &[&str], fatal: Option<&str>, any: Option<&str>| {
            let mut trouble = Trouble::default();
            lines.iter().for_each(|line| trouble.hear(line));
            assert_eq!((trouble.fatal(), trouble.any()), (fatal, any), "{lines:?}");
        };
        check(&["salloc: Granted job allocation 1"], None, None);
        check(&["[h][c:201:adjust] cannot resize"], None, Some("[h][c:201:adjust] cannot resize"));
        let sentence = "mpirun noticed that process rank 6 exited on signal 11 (Segmentation fault).";
        check(
            &["[h:1] Signal: Segmentation fault (11)", "[h:1] [ 0] libc", "------", sentence, "-----"],
            Some(sentence),
            Some(sentence),
        );
        let wrapped =
            "mpirun noticed that process rank 6 on node a exited on signal 11 (Segmentation fault).";
        check(
            &["mpirun noticed that process rank 6 on node a exited on", "signal 11 (Segmentation fault)."],
            Some(wrapped),
            Some(wrapped),
        );
    }

    #[test]
    fn damaged_logs_never_panic() {
        let logs = [
            include_str!("../../../../testdata/imb/2021.11-openmpi-4.1.4-multi1.txt"),
            include_str!("../../../../testdata/imb/2021.11-openmpi-4.1.4-overflow.txt"),
            include_str!("../../../../testdata/osu/7.4-openmpi-4.1.4-mbw_mr-windows.txt"),
            include_str!("../../../../testdata/osu/7.4-openmpi-4.1.4-iallreduce-full.txt"),
            include_str!("../../../../testdata/netpipe/5-openmpi-4.1.4-mpi.txt"),
            include_str!("../../../../testdata/netpipe/3.7.2-debian12-tcp-np.out.txt"),
        ];
        for log in logs {
            for at in (0..log.len()).step_by(197) {
                let (before, after) = log.as_bytes().split_at(at);
                let broken = [before, "9é9999999999999999999999".as_bytes(), after].concat();
                for text in [before, after, &broken] {
                    for format in crate::FORMATS
                        .iter()
                        .filter(|format| matches!(format.name(), "imb" | "osu" | "netpipe"))
                    {
                        let mut text = text;
                        let mut runs: Vec<tenbin_core::run::Run> = Vec::new();
                        let _ = format.parse(&mut text, &mut runs);
                        for view in
                            crate::VIEWS.iter().filter(|view| runs.iter().any(|run| run.tool == view.name()))
                        {
                            let mut printed = String::new();
                            for run in &runs {
                                let _ = view.print(run, &mut printed);
                            }
                        }
                    }
                }
            }
        }
    }
}
