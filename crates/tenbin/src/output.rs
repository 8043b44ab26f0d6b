//! Where results go: the store, the report folder, stdout.

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
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("cannot write to stdout: {e}")))
        }
        _ => Ok(()),
    }
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
        eprintln!("tenbin: {note}");
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
        Failure::cannot(format!("cannot write the report to {}: {e}{hint}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let probe = folder.join(format!(".tenbin-{}", std::process::id()));
    std::fs::File::create_new(&probe).map_err(failed)?;
    std::fs::remove_file(&probe).map_err(failed)
}

/// Writes a file so that a reader sees the old one or the new one, never half of it.
pub fn write_file(path: &Path, content: &str) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(
            crate::exit::Exit::Partial,
            format!(
                "cannot write {}: {e}\nhint: the runs are in the store; tenbin report writes it again",
                path.display()
            ),
        )
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fresh = path.with_file_name(format!(".{name}.new"));
    let written = std::fs::write(&fresh, content).and_then(|()| std::fs::rename(&fresh, path));
    if written.is_err() {
        // Best effort: the failure itself is what the user needs to hear.
        let _ = std::fs::remove_file(&fresh);
    }
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
        command: format!("tenbin run {file} --blocks {} --seed {}", experiment.plan.blocks, experiment.seed),
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
