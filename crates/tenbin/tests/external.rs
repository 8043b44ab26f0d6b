//! Plans that leave the measuring to the tools that people know.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod peer {
    use serde_json::Value;

    use super::common::{Bench, json, there};

    const PLAN: &str = r#"
blocks = 6
tolerate = { steal = "60%" }
[hosts]
client = { lab = "left" }
server = { lab = "right" }
[lab]
link = { rate = "100Mbit", burst = "64k" }
[[arm]]
name = "whole"
[[arm]]
name = "half"
set = { link = { rate = "50Mbit" } }
[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "1s"
[[measure]]
engine = "external"
name = "the real iperf3"
preset = "iperf3"
args = "-t 1"
from = "client"
to = "server"
[[measure]]
engine = "ping"
from = "client"
to = "server"
count = 30
interval = "10ms"
[[measure]]
engine = "external"
name = "the real ping"
command = ["ping", "-n", "-c", "30", "-i", "0.01", "{server}"]
format = "ping"
from = "client"
to = "server"
"#;

    #[test]
    fn original_tools_come_to_the_same_verdicts() {
        if !there("iperf3") || !there("ping") {
            return;
        }
        let bench = Bench::new();
        bench.plan("both.toml", PLAN);
        let run = bench.tenbin(&["run", "both.toml", "--json", "-q"]).output();
        assert_eq!(run.code, 0, "{}", run.err);
        let document = json(&run.out);
        let of = |metric: &str, measure: &str| -> Value {
            let all = document["comparisons"].as_array().unwrap().iter();
            let mut found = all.filter(|c| c["metric"] == metric && c["params"]["measure"] == measure);
            found.next().unwrap_or_else(|| panic!("{metric} of {measure}: {}", run.out)).clone()
        };
        for (metric, ours, theirs) in
            [("throughput", "iperf3", "the real iperf3"), ("rtt", "ping", "the real ping")]
        {
            let (ours, theirs) = (of(metric, ours), of(metric, theirs));
            let bound = |of: &Value, which: &str| of[which].as_f64().unwrap();
            let overlap =
                bound(&ours, "lo") <= bound(&theirs, "hi") && bound(&theirs, "lo") <= bound(&ours, "hi");
            assert!(overlap, "{ours:#}\n{theirs:#}");
            if metric == "throughput" {
                assert_eq!((&ours["verdict"], &theirs["verdict"]), (&"slower".into(), &"slower".into()));
                // The bucket's goodput, whoever measures it.
                for of in [&ours, &theirs] {
                    assert!((bound(of, "ratio") - 0.5).abs() < 0.05, "{of:#}");
                }
            }
        }
    }
}
