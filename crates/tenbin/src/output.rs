//! Where results go: the store, the report folder, stdout.

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tenbin_core::experiment::Experiment;
use tenbin_core::launch::shell_quote;
use tenbin_report::About;
use tenbin_report::text::ListRow;
use tenbin_store::{Store, Summary};

use crate::exit::Failure;

/// Writes to stdout. A reader that has had enough (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("cannot write to stdout: {}", why(&e))))
        }
        _ => Ok(()),
    }
}

/// Stdout for what is too long to be put together first. A reader that has had enough ends it, which is no failure.
pub struct Printer {
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    over: bool,
}

impl Printer {
    /// Takes stdout.
    pub fn new() -> Printer {
        Printer { out: std::io::BufWriter::new(std::io::stdout().lock()), over: false }
    }

    fn outcome(&mut self, outcome: std::io::Result<()>) -> std::io::Result<()> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.over = true;
                Ok(())
            }
            outcome => outcome,
        }
    }
}

impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.over {
            // Nothing that is written here in one go ends within a character.
            let safe = match std::str::from_utf8(bytes) {
                Ok(text) => printable(text),
                Err(_) => String::from_utf8_lossy(bytes),
            };
            let written = self.out.write_all(safe.as_bytes());
            self.outcome(written)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = if self.over { Ok(()) } else { self.out.flush() };
        self.outcome(flushed)
    }
}

/// Says a line on stderr. With nobody there to hear it (`2>&1 | head`, a terminal that hung up) the work goes on.
pub fn say(line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{}\n", printable(line)).as_bytes());
}

/// The text without what a terminal would obey: words of other machines, programs and files must not move the
/// cursor or recolour the screen. Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| {
        // The last ones turn the direction of text and so its meaning.
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    match text.contains(harmful) {
        true => text.replace(harmful, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// What the system says, without its number and capital: it stands in mid-sentence.
pub fn why(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Unix time in seconds.
pub fn now() -> f64 {
    // A clock before 1970 gives 0: dates are for people, nothing is computed from them.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// SHA-256 in hex.
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The default seed: the first eight bytes of the plan's hash, big-endian, cut to what JSON numbers hold exactly.
pub fn seed_of(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte)) >> 11
}

/// The store to use: as asked, else in the user's data folder.
pub fn store_path(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = asked {
        return Ok(path.to_owned());
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    match data {
        Some(data) => Ok(data.join("tenbin/tenbin.db")),
        None => Err(Failure::usage(
            "cannot tell where to keep the store: neither XDG_DATA_HOME nor HOME is set\nhint: name it with --store FILE",
        )),
    }
}

/// Opens the store for writing, creating it if need be; its notes go to stderr.
pub fn open_store(asked: Option<&Path>) -> Result<(Store, PathBuf), Failure> {
    let path = store_path(asked)?;
    let store = Store::open(&path).map_err(Failure::cannot)?;
    for note in store.notes() {
        say(&format!("tenbin: {note}"));
    }
    Ok((store, path))
}

/// Opens a store that must exist, for reading.
pub fn open_store_to_read(asked: Option<&Path>) -> Result<(Store, PathBuf), Failure> {
    let path = store_path(asked)?;
    let store = Store::open_read_only(&path).map_err(Failure::cannot)?;
    Ok((store, path))
}

/// The report folder: as asked, else `./tenbin-PLAN`.
pub fn report_folder(asked: Option<&Path>, plan: &str) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    asked.map_or_else(
        || PathBuf::from(format!("tenbin-{}", plan.chars().map(safe).collect::<String>())),
        Path::to_owned,
    )
}

/// Creates the report folder and proves that files can be written there, before anything is measured.
pub fn prepare_folder(folder: &Path) -> Result<(), Failure> {
    let hint = "\nhint: name another folder with --report DIR";
    let failed = |e: std::io::Error| {
        Failure::cannot(format!("cannot write the report to {}: {}{hint}", folder.display(), why(&e)))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let probe = folder.join(format!(".tenbin-{}", std::process::id()));
    std::fs::File::create_new(&probe).map_err(failed)?;
    std::fs::remove_file(&probe).map_err(failed)
}

/// Writes a file so that a reader sees the old one or the new one, never half of it. What is no file, like
/// `/dev/stdout`, is written to as it is. `hint` is the cure to name on failure.
pub fn write_file(path: &Path, content: &str, hint: &str) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(
            crate::exit::Exit::Partial,
            format!("cannot write {}: {}\nhint: {hint}", path.display(), why(&e)),
        )
    };
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, content).map_err(failed);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fresh = path.with_file_name(format!(".{name}.new"));
    // A leftover goes; a link there must not lead the words into another file.
    let _ = std::fs::remove_file(&fresh);
    let written = std::fs::File::create_new(&fresh).and_then(|mut file| {
        file.write_all(content.as_bytes())
            .and_then(|()| std::fs::rename(&fresh, path))
            // Best effort: the failure itself is what the user needs to hear.
            .inspect_err(|_| drop(std::fs::remove_file(&fresh)))
    });
    written.map_err(failed)
}

/// Columns of the terminal that stdout is; 100 where it is none.
pub fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0).max(40))
}

/// A line of the list of experiments.
pub fn list_row(summary: &Summary) -> ListRow {
    ListRow {
        id: summary.id,
        created: when(summary.created_at),
        plan: summary.name.clone(),
        arms: summary.arms.clone(),
        done: summary.done as usize,
        slots: summary.slots as usize,
    }
}

/// What a report says about its making. Nothing in it depends on when the report is written, so that it can be
/// written again.
pub fn about(experiment: &Experiment) -> About {
    let file = shell_quote(&format!("{}.toml", experiment.plan.name));
    About {
        version: concat!("tenbin ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: match experiment.plan.until {
            None => format!("tenbin run {file} --blocks {} --seed {}", experiment.blocks(), experiment.seed),
            Some(_) => format!("tenbin run {file} --seed {}", experiment.seed),
        },
        created: when(experiment.created_at),
    }
}

/// Date and time of day here.
pub fn when(unix_seconds: f64) -> String {
    let time = jiff::Timestamp::from_second(unix_seconds as i64);
    time.map_or_else(
        |_| String::new(),
        |time| time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let check = |text: &str, expected: &str| assert_eq!(printable(text), expected, "{text:?}");
        check("日本語 ± 3 %\n\ttab", "日本語 ± 3 %\n\ttab");
        check("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}");
        check("\u{9b}2J\r\u{7f}", "\u{fffd}2J\u{fffd}\u{fffd}");
        check("a\u{202e}b", "a\u{fffd}b");
    }
}
