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

    /// How wide the page and its window are, in a window of `width` pixels: (page, window). A browser's own window is
    /// never as narrow as a phone, so the page goes into a frame.
    fn widths(page: &Path, folder: &Path, width: u32) -> (u32, u32) {
        let tell = "<script>addEventListener('load',function(){parent.postMessage(\
                    document.documentElement.scrollWidth+' '+innerWidth,'*')})</script>";
        let text = std::fs::read_to_string(page).unwrap();
        std::fs::write(folder.join("inner.html"), text + tell).unwrap();
        let outer = format!(
            "<!DOCTYPE html><iframe src=\"inner.html\" style=\"width:{width}px;height:900px;border:0\"></iframe>\
             <script>addEventListener('message',function(e){{document.body.dataset.said=e.data}})</script>"
        );
        std::fs::write(folder.join("outer.html"), outer).unwrap();
        let output = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
            .args(["--virtual-time-budget=5000", "--window-size=1200,900"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg(format!("file://{}", folder.join("outer.html").display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let said =
            dom.split("data-said=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let mut numbers = said.split(' ').filter_map(|number| number.parse().ok());
        match (numbers.next(), numbers.next()) {
            (Some(page), Some(window)) => (page, window),
            _ => panic!("the page told no widths: {dom:.400}"),
        }
    }

    /// A ping-pong over sizes as a table of the program's own form.
    fn curve(bench: &Bench, name: &str, start: f64) {
        let mut text = "run,tool,metric,unit,size_bytes,value\n".to_owned();
        for run in 1..=6u32 {
            for power in 0..20u32 {
                let value = (start + f64::from(1 << power) / 1e9) * (1.0 + 0.003 * f64::from(run * 7 % 5));
                text += &format!("{run},pingpong,latency,s,{},{value}\n", 1 << power);
            }
        }
        std::fs::write(bench.path(name), text).unwrap();
    }

    #[test]
    fn curves_of_long_names_fit_a_phone() {
        if !there("chromium") {
            return;
        }
        let bench = Bench::new();
        let names =
            ["the-old-network-card.csv", "the-new-network-card.csv", "the-new-card-with-another-driver.csv"];
        for (name, start) in names.iter().zip([31e-6, 20e-6, 19e-6]) {
            curve(&bench, name, start);
        }
        let compared = bench.tenbin(&[&["compare", "--report", "out"][..], &names[..]].concat()).output();
        assert_eq!(compared.code, 0, "{}", compared.err);
        for width in [390, 760, 1180] {
            let (page, window) = widths(&bench.path("out/report.html"), &bench.path(""), width);
            assert_eq!(window, width);
            assert!(page <= window, "the page is {page} px wide in a window of {window} px");
        }
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
