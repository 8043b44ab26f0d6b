//! The documents are true: plans in them are read, console blocks are run.
//!
//! In a console block a line `$ tenbin ...` is run; what follows must be its output, where `...` stands for anything and
//! a line beginning with `! ` is looked for in stderr of a command that fails. `testdata` is there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::Bench;

fn documents() -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = vec![root.join("README.md")];
    paths.extend(std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    paths.retain(|path| path.extension().is_some_and(|e| e == "md"));
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The fenced blocks of a kind.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(name)) => open = Some((name.trim() == kind, String::new())),
            (Some((wanted, block)), Some(_)) => {
                if *wanted {
                    found.push(std::mem::take(block));
                }
                open = None;
            }
            (Some((_, block)), None) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

#[test]
fn plans_in_documents_are_plans() {
    let mut count = 0;
    for (path, text) in documents() {
        for block in blocks(&text, "toml").iter().filter(|block| block.contains("[[measure]]")) {
            let bench = Bench::new();
            bench.plan("plan.toml", block);
            let run = bench.tenbin(&["run", "plan.toml", "--dry-run"]).output();
            assert_eq!(run.code, 0, "{}: {}", path.display(), run.err);
            count += 1;
        }
    }
    assert!(count >= 2, "{count}");
}

#[test]
fn console_blocks_are_what_the_program_says() {
    let mut count = 0;
    for (path, text) in documents() {
        let bench = Bench::new();
        let logs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        std::os::unix::fs::symlink(logs, bench.path("testdata")).unwrap();
        for block in blocks(&text, "console") {
            for part in block.split("\n$ ").map(|part| part.trim_start_matches("$ ")) {
                let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
                let arguments = words(command);
                assert_eq!(arguments[0], "tenbin", "{}: {command}", path.display());
                let arguments: Vec<&str> = arguments[1..].iter().map(String::as_str).collect();
                let run = bench.tenbin(&arguments).output();
                let (errors, lines): (Vec<&str>, Vec<&str>) =
                    expected.lines().partition(|line| line.starts_with("! "));
                assert_eq!(run.code != 0, !errors.is_empty(), "{command}: {}", run.err);
                for error in errors {
                    assert!(run.err.contains(&error[2..]), "{command}: {}", run.err);
                }
                let pattern = lines.join("\n");
                assert!(matches(&pattern, &run.out), "{}: {command}\n{}", path.display(), run.out);
                count += 1;
            }
        }
    }
    assert!(count >= 5, "{count}");
}

/// Whether the pieces between `...` stand in `text` in their order, blanks folded; an empty pattern fits no output.
fn matches(pattern: &str, text: &str) -> bool {
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (pattern, text) = (fold(pattern), fold(text));
    if pattern.is_empty() {
        return text.is_empty();
    }
    let mut rest = text.as_str();
    for piece in pattern.split("...").map(str::trim) {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    pattern.ends_with("...") || rest.trim().is_empty()
}

/// The words of a command line with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        match index % 2 {
            1 => words.push(piece.to_owned()),
            _ => words.extend(piece.split_whitespace().map(str::to_owned)),
        }
    }
    words
}
