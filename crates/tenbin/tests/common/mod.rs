//! A folder with a store of its own, and the built program in it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A place to run the program in.
pub struct Bench {
    folder: tempfile::TempDir,
}

/// What a run of the program left.
pub struct Output {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The program with its arguments, not yet started.
pub struct Prepared(pub Command);

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn plan(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Waits until the only experiment has a run that counts.
    pub fn wait_for_a_run(&self) {
        for _ in 0..600 {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let list = self.tenbin(&["list", "--json"]).output();
            let done = serde_json::from_str::<serde_json::Value>(&list.out)
                .ok()
                .and_then(|document| document["experiments"][0]["done"].as_i64());
            if done.is_some_and(|done| done > 0) {
                return;
            }
        }
        panic!("nothing was measured within 30 s");
    }

    pub fn tenbin(&self, arguments: &[&str]) -> Prepared {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenbin"));
        command.args(arguments).current_dir(self.folder.path());
        command.env("XDG_DATA_HOME", self.path("data")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Prepared(command)
    }
}

impl Prepared {
    pub fn output(mut self) -> Output {
        let output = self.0.output().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn spawn(mut self) -> Child {
        self.0.spawn().unwrap()
    }
}

pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// Whether this is CI, where a missing peer is a failure.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// Whether `program` is installed; says what is skipped where it may be missing.
pub fn there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found =
        path.split(':').chain(["/usr/sbin", "/sbin"]).any(|f| PathBuf::from(f).join(program).is_file());
    assert!(found || !in_ci(), "{program} is missing in CI");
    if !found {
        println!("skipped: needs {program}");
    }
    found
}
