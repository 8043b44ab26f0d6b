//! Invariants that the compiler does not know: who may use what. Listed in ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell;

/// In the files below `under`, `word` must not stand, because.
struct Rule {
    under: &'static [&'static str],
    words: &'static [&'static str],
    because: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        under: &["crates/core", "crates/formats"],
        words: &[
            "std::fs",
            "std::net::TcpStream",
            "std::net::UdpSocket",
            "Instant::now",
            "SystemTime",
            "std::process",
        ],
        because: "core and formats are pure: no file, socket, clock or process",
    },
    Rule {
        under: &[
            "crates/core",
            "crates/formats",
            "crates/linux",
            "crates/engines",
            "crates/store",
            "crates/report",
        ],
        words: &["println!", "eprintln!", "print!("],
        because: "only the binary talks",
    },
    Rule {
        under: &[
            "crates/core",
            "crates/formats",
            "crates/linux",
            "crates/engines",
            "crates/report",
            "crates/tenbin",
        ],
        words: &["rusqlite"],
        because: "only store knows SQL",
    },
    Rule {
        under: &[
            "crates/core",
            "crates/formats",
            "crates/linux",
            "crates/engines",
            "crates/store",
            "crates/report",
        ],
        words: &["clap"],
        because: "only the binary knows the command line",
    },
    Rule {
        under: &[
            "crates/core",
            "crates/formats",
            "crates/linux",
            "crates/engines",
            "crates/store",
            "crates/tenbin",
        ],
        words: &["maud", "plotters"],
        because: "only report knows HTML and figures",
    },
    Rule {
        under: &["crates/linux/src/probe", "crates/linux/src/sense"],
        words: &["Command::new"],
        because: "probes start no programs",
    },
    Rule {
        under: &["crates", "xtask/src/main.rs", "docs", "README.md", "ARCHITECTURE.md", "METHODOLOGY.md"],
        words: &["todo!(", "unimplemented!(", "#[ignore]"],
        because: "nothing unfinished is shipped",
    },
];

/// Checks every rule and fails with one line for each breach.
pub fn tidy() -> Result<()> {
    let root = shell::root();
    let mut breaches = Vec::new();
    for rule in RULES {
        for under in rule.under {
            for file in files(&root.join(under))? {
                let text =
                    fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
                for (number, line) in code_of(&text) {
                    if let Some(word) = rule.words.iter().find(|word| line.contains(*word)) {
                        let shown = file.strip_prefix(&root).unwrap_or(&file).display();
                        breaches.push(format!("{shown}:{number}: {word}: {}", rule.because));
                    }
                }
            }
        }
    }
    if breaches.is_empty() {
        return Ok(());
    }
    bail!("{}", breaches.join("\n"))
}

/// The numbered lines that are neither comments nor within the tests at the end of a file.
fn code_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if !path.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        let path = entry?.path();
        let tests =
            path.file_name().is_some_and(|name| name == "tests" || name == "tests.rs" || name == "examples");
        if path.is_dir() && !tests {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "md") && !tests {
            found.push(path);
        }
    }
    Ok(found)
}
