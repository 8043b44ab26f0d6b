//! The program as its users run it: arguments, plans, exit codes, the store. Needs no privilege and no peer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Bench, json};

/// Two equal arms measured by the engine that measures nothing.
const NULL_PLAN: &str = r#"
blocks = 6
tolerate = { steal = "100%" }
[hosts]
here = { local = true }
[[arm]]
name = "a"
[[arm]]
name = "b"
params = { null = { value = "2s" } }
[[measure]]
engine = "null"
from = "here"
value = "1s"
"#;

#[test]
fn a_run_ends_in_a_verdict_a_store_and_a_report() {
    let bench = Bench::new();
    bench.plan("null.toml", NULL_PLAN);
    let run = bench.tenbin(&["run", "null.toml", "--json"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    let document = json(&run.out);
    assert_eq!(document["schema"], "tenbin.report/1");
    assert_eq!(document["blocks"], 6);
    let comparison = &document["comparisons"][0];
    assert_eq!(comparison["metric"], "duration");
    assert_eq!(comparison["verdict"], "slower");
    assert_eq!(comparison["n"], 6);
    assert!((comparison["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    let schedule = document["schedule"].as_array().unwrap();
    assert_eq!(schedule.len(), 12);
    assert!(schedule.iter().all(|slot| slot["state"] == "done" && slot["run"].is_number()));
    for file in ["report.html", "report.md"] {
        let text = std::fs::read_to_string(bench.path("tenbin-null").join(file)).unwrap();
        assert!(text.contains("slower"), "{file}");
    }
    let list = bench.tenbin(&["list"]).output();
    assert!(list.out.contains("null") && list.out.contains("12"), "{}", list.out);
    let shown = json(&bench.tenbin(&["show", "--json"]).output().out);
    assert_eq!(shown["comparisons"], document["comparisons"]);
    let one = json(&bench.tenbin(&["show", "run:1", "--json"]).output().out);
    assert_eq!(one["schema"], "tenbin.run/1");
    assert_eq!(one["runs"][0]["tool"], "tenbin");
    assert_eq!(one["runs"][0]["benchmark"], "null");
}

#[test]
fn a_rule_ends_an_experiment() {
    let bench = Bench::new();
    // Nothing varies: the first look is the last.
    bench.plan("exact.toml", &NULL_PLAN.replace("blocks = 6", "until = \"ci <= 2%\"\nat_most = 12"));
    let dry = bench.tenbin(&["run", "exact.toml", "--dry-run"]).output().out;
    assert!(dry.contains("8 blocks") && dry.contains("then until ci <= 2 %"), "{dry}");
    let run = bench.tenbin(&["run", "exact.toml", "--json", "-q"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    let document = json(&run.out);
    assert_eq!(document["blocks"], 8);
    assert!(document["length"].as_str().unwrap().ends_with("narrow enough after 8 blocks"), "{document:#}");

    // Times of a command that sleeps at random stay wide: the budget ends it, and nothing is missing.
    let wide = r#"
until = "ci <= 1%"
at_most = 10
tolerate = { steal = "100%" }
[hosts]
here = { local = true }
[[arm]]
name = "a"
[[arm]]
name = "b"
[[measure]]
engine = "external"
command = "sleep 0.0$(($(date +%N | cut -c4-6 | sed 's/^0*//;s/^$/0/') % 9))"
from = "here"
"#;
    bench.plan("wide.toml", wide);
    let run = bench.tenbin(&["run", "wide.toml", "--json", "-q"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    let document = json(&run.out);
    assert_eq!(document["blocks"], 10);
    assert_eq!(document["schedule"].as_array().unwrap().len(), 20);
    assert!(document["length"].as_str().unwrap().contains("the budget was spent after 10 blocks"));
    assert!(bench.tenbin(&["show"]).output().out.contains("the budget was spent"));
    let resumed = bench.tenbin(&["resume"]).output();
    assert_eq!((resumed.code, resumed.err.contains("nothing to resume")), (2, true), "{}", resumed.err);
}

#[test]
fn runs_of_all_times_make_a_table() {
    let bench = Bench::new();
    for (machine, rtt) in [("old", 0.9), ("new", 0.5), ("new", 0.7)] {
        let text = format!("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time={rtt} ms\n");
        std::fs::write(bench.path("log"), text).unwrap();
        let fact = format!("machine={machine}");
        assert_eq!(bench.tenbin(&["import", "log", "--fact", &fact]).output().code, 0);
    }
    let table = |arguments: &[&str]| bench.tenbin(&[&["table", "rtt"], arguments].concat()).output();
    let text = table(&["--by", "machine,arm"]);
    assert_eq!(text.code, 0, "{}", text.err);
    let rows: Vec<Vec<&str>> = text.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["new", "-", "2", "600.0", "-", "500.0", "700.0"]), "{}", text.out);
    assert!(text.out.contains("1 of 2 rows hold one run"), "{}", text.out);
    assert!(table(&["--by", "machine", "-f", "markdown"]).out.contains("| new |"));
    let html = table(&["--by", "machine", "-f", "html"]).out;
    assert!(html.contains("<td>new</td>") && html.contains("<!DOCTYPE html>"));
    let refuse = |arguments: &[&str], part: &str| {
        let output = bench.tenbin(arguments).output();
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(part), "{}", output.err);
    };
    refuse(&["table", "iops"], "no run in the store has iops");
    refuse(&["table", "rtt", "--param", "x"], "size_bytes=4096");
}

#[test]
fn exports_of_an_experiment_and_of_a_run() {
    let bench = Bench::new();
    bench.plan("null.toml", NULL_PLAN);
    assert_eq!(bench.tenbin(&["run", "null.toml", "-q"]).output().code, 0);
    let export = |arguments: &[&str]| {
        let output = bench.tenbin(&[&["export"], arguments].concat()).output();
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.err);
        output.out
    };
    let csv = export(&["-f", "csv"]);
    let values: Vec<&str> = csv.lines().filter(|row| row.contains(",duration,s,")).collect();
    assert_eq!(values.len(), 12, "{csv}");
    assert!(values.iter().all(|row| row.ends_with(",1") || row.ends_with(",2")), "{csv}");
    assert!(export(&["-f", "junit"]).contains("type=\"slower\""));
    assert!(export(&["-f", "openmetrics"]).contains("tenbin_duration_seconds{plan=\"null\",arm=\"b\"} 2\n"));
    assert_eq!(json(&export(&["null", "-f", "json"]))["schema"], "tenbin.report/1");
    assert_eq!(json(&export(&["run:1", "-f", "json"]))["schema"], "tenbin.run/1");
    assert!(export(&["run:1", "-f", "openmetrics"]).contains("tenbin_duration_seconds{tool=\"tenbin\""));

    export(&["-f", "csv", "-o", "all.csv"]);
    assert_eq!(std::fs::read_to_string(bench.path("all.csv")).unwrap(), csv);
    let refuse = |arguments: &[&str], code: i32, part: &str| {
        let output = bench.tenbin(&[&["export"], arguments].concat()).output();
        assert_eq!(output.code, code, "{}", output.err);
        assert!(output.err.contains(part), "{}", output.err);
    };
    refuse(&["-f", "csv", "-o", "all.csv"], 4, "all.csv");
    refuse(&["-f", "xlsx"], 2, "json, csv, openmetrics, junit");
    refuse(&["-f", "ping"], 2, "hint: name the run");
    refuse(&["run:1", "-f", "xlsx"], 2, "ping");
    refuse(&["run:1", "-f", "ping"], 2, "nothing that goes into that form");
    refuse(&["run:99", "-f", "json"], 2, "99");
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    let bench = Bench::new();
    bench.plan("null.toml", NULL_PLAN);
    let schedule = |seed: &str| {
        let run = bench.tenbin(&["run", "null.toml", "--dry-run", "--json", "--seed", seed]).output();
        assert_eq!(run.code, 0, "{}", run.err);
        json(&run.out)["schedule"].clone()
    };
    assert_eq!(schedule("7"), schedule("7"));
    assert!((0..20).any(|seed| schedule(&seed.to_string()) != schedule("7")));
    assert!(!bench.path("data").exists(), "a dry run stores nothing");
}

#[test]
fn a_dry_run_says_everything_it_would_touch() {
    let bench = Bench::new();
    let plan = NULL_PLAN.replace("local = true", "local = true, interface = \"lo\"").replace(
        "name = \"b\"",
        "name = \"b\"\nset = { mtu = 9000 }\nbefore = \"true\"\nafter = \"sysctl -q x\"\nchange = \"manual\"",
    );
    bench.plan("touch.toml", &plan);
    let run = bench.tenbin(&["run", "touch.toml", "--dry-run"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    for fragment in [
        "9000",
        "sysctl -q x",
        "by hand",
        "interface lo",
        "null with value 2 s",
        "null here: time 0 s, value 1 s",
        "block  1:",
        "time:",
    ] {
        assert!(run.out.contains(fragment), "no {fragment} in\n{}", run.out);
    }
}

#[test]
fn failures_are_one_clear_line_with_the_right_code() {
    let bench = Bench::new();
    bench.plan("bad.toml", "blocks = 8\nmargn = \"2%\"\n");
    bench.plan("fail.toml", &NULL_PLAN.replace("value = \"1s\"", "value = \"1s\"\nfail = true"));
    bench.plan("half.toml", &NULL_PLAN.replace("value = \"2s\"", "fail = true"));
    bench.plan("far.toml", &NULL_PLAN.replace("local = true", "ssh = \"nobody@host.invalid\""));
    bench.plan("prefix.toml", &NULL_PLAN.replace("local = true", "exec = [\"/no/such/prefix\"]"));
    bench.plan("null.toml", NULL_PLAN);
    std::fs::write(bench.path("no.db"), "this is no database, and long enough to be sure of that").unwrap();
    std::fs::write(bench.path("file"), "").unwrap();
    let check = |arguments: &[&str], code: i32, fragment: &str| {
        let run = bench.tenbin(arguments).output();
        assert_eq!(run.code, code, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(fragment), "{arguments:?}: no \"{fragment}\" in: {}", run.err);
        assert!(!run.err.contains("panicked"), "{arguments:?}: {}", run.err);
    };
    check(&["run", "missing.toml"], 2, "cannot read plan missing.toml");
    check(&["run", "bad.toml"], 2, "bad.toml:2:1");
    check(&["run"], 2, "PLAN");
    check(&["run", "null.toml", "--blocks", "0"], 2, "blocks");
    check(&["run", "fail.toml"], 4, "told to fail");
    check(&["run", "half.toml"], 3, "missing");
    check(&["run", "far.toml"], 4, "host.invalid");
    check(&["run", "prefix.toml"], 4, "/no/such/prefix");
    check(&["run", "null.toml", "--store", "no.db"], 4, "no.db");
    check(&["run", "null.toml", "--report", "file/report"], 4, "file/report");
    check(&["show", "--store", "nowhere.db"], 4, "nowhere.db");
    check(&["show", "nothing-of-that-name"], 2, "nothing-of-that-name");
    check(&["resume", "99"], 2, "99");
    check(&["ab", "mtu=1500", "--", "true"], 2, "at least two");
    check(&["ab", "--", "true"], 2, "two commands");
    check(&["ab", "color=red,blue", "--", "true"], 2, "no setting");
}

#[test]
fn two_commands_are_weighed_without_a_plan() {
    let bench = Bench::new();
    let run = bench.tenbin(&["ab", "--blocks", "6", "--json", "--", "sleep 0.02", "sleep 0.4"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    let document = json(&run.out);
    let duration = &document["comparisons"].as_array().unwrap().iter().find(|c| c["metric"] == "duration");
    assert_eq!(duration.unwrap()["verdict"], "slower");
    let plan = bench.tenbin(&["ab", "--write-plan", "-", "--", "a \"b\"", "c"]).output();
    bench.plan("written.toml", &plan.out);
    let dry = bench.tenbin(&["run", "written.toml", "--dry-run"]).output();
    assert_eq!(dry.code, 0, "{}", dry.err);
}

#[test]
fn a_killed_experiment_is_resumed_where_it_stopped() {
    let bench = Bench::new();
    bench.plan("slow.toml", &NULL_PLAN.replace("value = \"1s\"", "value = \"1s\"\ntime = \"100ms\""));
    let mut killed = bench.tenbin(&["run", "slow.toml", "-q"]).spawn();
    bench.wait_for_a_run();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = json(&bench.tenbin(&["show", "--json"]).output().out);
    let done = |document: &serde_json::Value| -> Vec<(String, i64)> {
        let schedule = document["schedule"].as_array().unwrap().iter();
        schedule
            .filter(|s| s["state"] == "done")
            .map(|s| (s.to_string(), s["run"].as_i64().unwrap()))
            .collect()
    };
    let first = done(&before);
    assert!(first.len() < 12, "the run was over before it was killed");
    let resumed = bench.tenbin(&["resume", "--json"]).output();
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let after = done(&json(&resumed.out));
    assert_eq!(after.len(), 12);
    assert!(first.iter().all(|slot| after.contains(slot)), "what was measured stays");
    assert_eq!(bench.tenbin(&["resume"]).output().code, 2, "nothing is left to resume");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let bench = Bench::new();
    bench.plan("slow.toml", &NULL_PLAN.replace("value = \"1s\"", "value = \"1s\"\ntime = \"150ms\""));
    let child = bench.tenbin(&["run", "slow.toml", "-q"]).spawn();
    bench.wait_for_a_run();
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("tenbin resume"));
    let shown = json(&bench.tenbin(&["show", "--json"]).output().out);
    assert!(shown["schedule"].as_array().unwrap().iter().any(|slot| slot["state"] == "done"));
}

#[test]
fn half_an_arm_is_never_measured() {
    let bench = Bench::new();
    // The second measure of the arm finds the first one's `before` failed and must not run without it.
    let second = "[[measure]]\nname = \"again\"\nengine = \"null\"\nfrom = \"here\"\nvalue = \"1s\"\n";
    let plan = NULL_PLAN
        .replace("name = \"b\"\n", "name = \"b\"\nbefore = \"false\"\n")
        .replace("[[measure]]\n", "[[measure]]\nname = \"once\"\n");
    bench.plan("half.toml", &(plan + second));
    let run = bench.tenbin(&["run", "half.toml", "--json"]).output();
    assert_eq!(run.code, 3, "{}", run.err);
    let document = json(&run.out);
    let of_b = document["schedule"].as_array().unwrap().iter().filter(|slot| slot["arm"] == "b");
    assert!(of_b.clone().count() > 0 && of_b.clone().all(|slot| slot["state"] != "done"), "{}", run.out);
}

#[test]
fn two_agents_of_one_machine_leave_it_as_it_was() {
    if !common::there("unshare") {
        return;
    }
    let bench = Bench::new();
    // Two hosts that are one machine: each agent notes what was there, the second one what the first had set.
    let plan = NULL_PLAN
        .replace(
            "here = { local = true }",
            "here = { local = true }\nthere = { local = true, interface = \"lo\" }",
        )
        .replace("name = \"b\"\n", "name = \"b\"\nset = { congestion = \"reno\" }\n");
    bench.plan("twice.toml", &plan);
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    let script = format!("cat {file}; \"$0\" run twice.toml -q >&2; echo $?; cat {file}");
    let Some((lines, err)) = in_a_namespace(&bench, &script) else { return };
    assert_eq!(lines[1..], ["0", &lines[0]], "{err}");
}

/// Runs a script, whose `$0` is tenbin, as root of a network namespace of its own. Its lines and its stderr; the first
/// line is the congestion control found there, which must not be the one that the test sets.
fn in_a_namespace(bench: &Bench, script: &str) -> Option<(Vec<String>, String)> {
    let mut inside = std::process::Command::new("unshare");
    inside.args(["-r", "-n", "sh", "-c", script, env!("CARGO_BIN_EXE_tenbin")]);
    inside.current_dir(bench.path("")).env("XDG_DATA_HOME", bench.path("data"));
    let output = inside.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    let able = !err.contains("unshare:") && lines.first().is_some_and(|line| line != "reno");
    assert!(able || !common::in_ci(), "CI has namespaces and another default than reno: {err}");
    if !able {
        println!("skipped: needs user namespaces and another default than reno: {err}");
    }
    able.then_some((lines, err))
}

#[test]
fn a_killed_agent_leaves_nothing_changed() {
    let bench = Bench::new();
    let arm = "name = \"b\"\nset = { congestion = \"reno\" }";
    let plan =
        NULL_PLAN.replace("name = \"b\"", arm).replace("from = \"here\"", "from = \"here\"\ntime = \"60ms\"");
    bench.plan("killed.toml", &plan);
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    // The agent is tenbin's only child; it is killed while the arm that changes something is in force.
    let script = format!(
        "cat {file}; \"$0\" run killed.toml -q >&2 & p=$!
         for i in $(seq 500); do [ \"$(cat {file})\" = reno ] && break; sleep 0.01; done
         pkill -9 -P $p; wait $p; echo $?; cat {file}"
    );
    let Some((lines, err)) = in_a_namespace(&bench, &script) else { return };
    // One run was lost with the agent; the others are there.
    assert_eq!(lines[1..], ["3", &lines[0]], "{err}");
    assert!(err.contains("lost the agent"), "{err}");
}

#[test]
fn an_interrupted_run_says_so_even_if_its_report_can_not_be_written() {
    let bench = Bench::new();
    bench.plan("slow.toml", &NULL_PLAN.replace("value = \"1s\"", "value = \"1s\"\ntime = \"150ms\""));
    let child = bench.tenbin(&["run", "slow.toml", "-q"]).spawn();
    bench.wait_for_a_run();
    // Root may write everywhere, but not a file over a folder.
    std::fs::create_dir_all(bench.path("tenbin-slow/report.html")).unwrap();
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("tenbin resume") && err.contains("report.html"), "{err}");
}

#[test]
fn a_run_that_was_cut_short_does_not_count() {
    let bench = Bench::new();
    // Long runs, so that the interruption falls into one of them and not between two.
    let plan = NULL_PLAN
        .replace("here = { local = true }", "here = { local = true }\nthere = { address = \"127.0.0.1\" }")
        .replace("params = { null = { value = \"2s\" } }\n", "")
        .replace("engine = \"null\"", "engine = \"ping\"\nto = \"there\"\ncount = 100\ninterval = \"50ms\"")
        .replace("value = \"1s\"", "");
    bench.plan("long.toml", &plan);
    let mut child = bench.tenbin(&["run", "long.toml", "-q"]).spawn();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    if let Some(status) = child.try_wait().unwrap() {
        println!("skipped: no echo socket here: {status}");
        return;
    }
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = json(&bench.tenbin(&["show", "--json"]).output().out);
    assert_eq!(shown["schedule"][0]["state"], "failed");
}

#[test]
fn words_of_others_never_reach_the_terminal_raw() {
    let bench = Bench::new();
    let check = |place: &str| {
        bench.plan("loud.toml", &NULL_PLAN.replace("local = true", place));
        let run = bench.tenbin(&["run", "loud.toml"]).output();
        assert_eq!(run.code, 4, "{}", run.err);
        assert!(run.err.contains("red") && !run.err.contains(['\u{1b}', '\u{7}']), "{:?}", run.err);
        let told = run.err.lines().filter(|line| !line.starts_with("hint:")).count();
        assert_eq!(told, 1, "one clear line: {}", run.err);
    };
    check(r#"exec = ["sh", "-c", "printf '\\033[31mred\\007' >&2; exit 1"]"#);
    check(
        r#"exec = ["sh", "-c", "printf '\\033[31mred\\007' >&2; echo welcome to this machine; sleep 100"]"#,
    );
}

#[test]
fn a_prefix_that_hangs_hears_the_first_ctrl_c() {
    let bench = Bench::new();
    let check = |script: &str| {
        bench.plan(
            "hang.toml",
            &NULL_PLAN.replace("local = true", &format!("exec = [\"sh\", \"-c\", \"{script}\"]")),
        );
        let began = std::time::Instant::now();
        let child = bench.tenbin(&["run", "hang.toml", "-q"]).spawn();
        std::thread::sleep(std::time::Duration::from_millis(700));
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(began.elapsed().as_secs() < 15, "{script}");
    };
    check("sleep 100; true");
    // Asked for the copy, it takes nothing and does not end.
    check("case $2 in *wc*) sleep 100;; esac; exit 127");
}

#[test]
fn nobody_there_to_read_is_no_reason_to_stop() {
    let bench = Bench::new();
    bench.plan("null.toml", NULL_PLAN);
    let mut run = bench.tenbin(&["run", "null.toml"]);
    run.0.stderr(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_eq!(run.output().code, 0);
}

#[test]
fn files_are_replaced_and_links_not_followed() {
    let bench = Bench::new();
    bench.plan("null.toml", NULL_PLAN);
    std::fs::write(bench.path("precious"), "precious").unwrap();
    std::fs::create_dir(bench.path("tenbin-null")).unwrap();
    for name in ["report.html", ".report.html.new", ".report.md.new"] {
        std::os::unix::fs::symlink(bench.path("precious"), bench.path("tenbin-null").join(name)).unwrap();
    }
    let run = bench.tenbin(&["run", "null.toml", "-q"]).output();
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(std::fs::read_to_string(bench.path("precious")).unwrap(), "precious");
    // What is no file is written to, not replaced.
    std::os::unix::fs::symlink("/dev/null", bench.path("nowhere")).unwrap();
    let plan = bench.tenbin(&["ab", "--write-plan", "nowhere", "--", "a", "b"]).output();
    assert_eq!(plan.code, 0, "{}", plan.err);
    assert!(bench.path("nowhere").is_symlink());
}

#[test]
fn what_a_command_leaves_running_holds_nobody_up() {
    let bench = Bench::new();
    let plan =
        NULL_PLAN.replace("name = \"a\"", "name = \"a\"\nbefore = \"sleep 20 & echo no luck >&2; exit 1\"");
    bench.plan("left.toml", &plan);
    let began = std::time::Instant::now();
    let run = bench.tenbin(&["run", "left.toml", "-q"]).output();
    assert_ne!(run.code, 0);
    assert!(began.elapsed().as_secs() < 100, "{}", run.err);
    assert!(run.err.contains("exit status"), "{}", run.err);
}

#[test]
fn after_commands_run_even_when_the_agent_is_lost() {
    let bench = Bench::new();
    // The measured command kills the agent that started it.
    let plan = r#"
blocks = 6
tolerate = { steal = "100%" }
[hosts]
here = { local = true }
[[arm]]
name = "a"
before = "echo a >>log"
after = "echo done >>log"
params = { external = { command = "kill -9 $PPID; sleep 1" } }
[[arm]]
name = "b"
[[measure]]
engine = "external"
from = "here"
command = "true"
"#;
    bench.plan("lost.toml", plan);
    let run = bench.tenbin(&["run", "lost.toml", "-q"]).output();
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("lost the agent"), "{}", run.err);
    assert_eq!(std::fs::read_to_string(bench.path("log")).unwrap(), "a\ndone\n".repeat(6));
}

#[test]
fn one_process_at_a_time_measures_an_experiment() {
    let bench = Bench::new();
    bench.plan("slow.toml", &NULL_PLAN.replace("value = \"1s\"", "value = \"1s\"\ntime = \"200ms\""));
    let first = bench.tenbin(&["run", "slow.toml", "-q"]).spawn();
    std::thread::sleep(std::time::Duration::from_millis(900));
    let check = |arguments: &[&str]| {
        let run = bench.tenbin(arguments).output();
        assert_eq!(run.code, 4, "{arguments:?}: {}", run.err);
        assert!(run.err.contains("is being measured by process"), "{arguments:?}: {}", run.err);
    };
    check(&["resume"]);
    check(&["resume", "1", "--force"]);
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(0));
    let shown = json(&bench.tenbin(&["show", "--json"]).output().out);
    assert!(shown["schedule"].as_array().unwrap().iter().all(|slot| slot["state"] == "done"));
}

#[test]
fn an_interrupted_command_ends_with_all_that_it_started() {
    let bench = Bench::new();
    let before = "before = \"(sleep 2; touch survived) ; true\"";
    bench.plan(
        "wait.toml",
        &NULL_PLAN
            .replace("name = \"a\"", &format!("name = \"a\"\n{before}"))
            .replace("name = \"b\"", &format!("name = \"b\"\n{before}")),
    );
    let child = bench.tenbin(&["run", "wait.toml", "-q"]).spawn();
    std::thread::sleep(std::time::Duration::from_millis(900));
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(!bench.path("survived").exists());
}

mod peer {
    use super::*;

    #[test]
    fn ctrl_c_is_heard_while_hands_are_awaited() {
        if !crate::common::there("script") {
            return;
        }
        let bench = Bench::new();
        bench.plan(
            "hand.toml",
            &NULL_PLAN
                .replace("name = \"a\"", "name = \"a\"\nchange = \"manual\"")
                .replace("name = \"b\"", "name = \"b\"\nchange = \"manual\""),
        );
        // A terminal of its own, whose keyboard is this end of the pipe.
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &format!("{} run hand.toml", env!("CARGO_BIN_EXE_tenbin")), "/dev/null"]);
        command.current_dir(bench.path(".")).env("XDG_DATA_HOME", bench.path("data"));
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut keyboard = child.stdin.take().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1));
        std::io::Write::write_all(&mut keyboard, b"\x03").unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("press Enter") && said.contains("tenbin resume"), "{said}");
    }
}
