//! The report in a real browser: no console message, no request beyond the file itself, nothing wider than a phone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod peer {
    use std::path::Path;
    use std::process::Command;

    use super::common::{Bench, there};

    const PLAN: &str = r#"
question = "Is two more than one?"
blocks = 6
tolerate = { steal = "100%" }
[hosts]
here = { local = true }
[[arm]]
name = "one"
[[arm]]
name = "two <script>alert(1)</script>"
params = { null = { value = "2s" } }
[[measure]]
engine = "null"
from = "here"
value = "1s"
"#;

    /// Opens a file headless; returns the page after its scripts ran, what the console said, and the network log.
    fn open(page: &Path, folder: &Path, size: &str) -> (String, String, String) {
        let log = folder.join("net.json");
        let output = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .args(["--enable-logging=stderr", "--dump-dom", &format!("--window-size={size}")])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg(format!("--log-net-log={}", log.display()))
            .arg(format!("file://{}", page.display()))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr), std::fs::read_to_string(log).unwrap_or_default())
    }

    #[test]
    fn a_report_opens_without_a_message_or_a_request() {
        if !there("chromium") {
            return;
        }
        let bench = Bench::new();
        bench.plan("browser.toml", PLAN);
        let run = bench.tenbin(&["run", "browser.toml", "-q"]).output();
        assert_eq!(run.code, 0, "{}", run.err);
        let report = bench.path("tenbin-browser/report.html");
        for size in ["1200,900", "390,844"] {
            let (page, said, log) = open(&report, &bench.path(""), size);
            assert!(page.contains("slower") && page.contains("<svg"), "{said}");
            assert!(!page.contains("<script>alert"), "an arm's name became markup");
            let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
            assert!(console.is_empty(), "{console:?}");
            assert!(log.contains("constants"), "chromium wrote no network log");
            // The browser asks its maker's hosts for news on its own; the page must ask for nothing.
            let asked: Vec<&str> = log
                .match_indices("\"url\":\"http")
                .map(|(at, _)| log[at..].lines().next().unwrap_or("").split('"').nth(3).unwrap_or(""))
                .filter(|url| !url.contains(".google.com/") && !url.contains(".googleapis.com/"))
                .collect();
            assert!(asked.is_empty(), "{asked:?}");
        }
        let text = std::fs::read_to_string(report).unwrap();
        let foreign = ["src=\"http", "href=\"http", "url(http", "@import", "<link rel=\"s", "<iframe"];
        assert!(foreign.iter().all(|word| !text.contains(word)), "the page names something to load");
    }
}
