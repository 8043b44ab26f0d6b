//! `cargo xtask bench NAME`: tenbin beside the tool that people use today, interleaved in one run, as a ratio with its
//! interval. Two hosts are made of named namespaces for the network benches, so root is needed.

use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tenbin_core::{schedule, verdict};

use crate::shell;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Which bench: net, import, compare
    name: String,
    /// Print a JSON line for every comparison
    #[arg(long)]
    json: bool,
    /// A peer that is not on the PATH: NAME=FILE, repeatable; tenbin=FILE is measured instead of a fresh build
    #[arg(long, value_name = "NAME=FILE")]
    peer: Vec<String>,
    /// Blocks; each holds both programs once. Twenty make an interval of a tenth on a busy machine.
    #[arg(long, default_value_t = 20)]
    blocks: usize,
    /// Seconds of one throughput run
    #[arg(long, default_value_t = 2)]
    seconds: u32,
}

/// Exit code when a peer is missing.
const MISSING: u8 = 3;

/// Runs a bench and prints a line for every comparison.
pub fn bench(args: &Args) -> ExitCode {
    let program = args.peer.iter().find_map(|peer| peer.strip_prefix("tenbin="));
    let done = match args.name.as_str() {
        "net" => net(args),
        "import" => crate::bench_import::import(program).map(|()| true),
        "compare" => crate::bench_compare::compare(program).map(|()| true),
        other => {
            eprintln!("xtask: no bench {other}; there are net, import and compare");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISSING),
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// A comparison: what is compared, and the pairs (ours, theirs) of each block.
struct Case {
    name: &'static str,
    metric: &'static str,
    unit: &'static str,
    higher_is_better: bool,
    peer: String,
    pairs: Vec<(f64, f64)>,
}

impl Case {
    fn print(&self, args: &Args) -> Result<()> {
        let decision = verdict::decide(&self.pairs, 0.02, self.higher_is_better)?;
        let median = |pick: fn(&(f64, f64)) -> f64| {
            tenbin_core::stats::median(&self.pairs.iter().map(pick).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        let (ours, theirs) = (median(|pair| pair.0), median(|pair| pair.1));
        if args.json {
            let line = json!({
                "bench": args.name, "case": self.name, "metric": self.metric,
                "better": if self.higher_is_better { "higher" } else { "lower" },
                "peer": self.peer, "ratio": decision.ratio, "lo": decision.lo, "hi": decision.hi,
                "n": decision.n, "ours": ours, "theirs": theirs, "unit": self.unit,
            });
            println!("{line}");
        } else {
            let interval = match (decision.lo, decision.hi) {
                (Some(lo), Some(hi)) => format!("{lo:.3} to {hi:.3}"),
                _ => "no interval".to_owned(),
            };
            println!(
                "{} {}: tenbin / {} = {:.3} ({interval}, n = {}); {ours:.4e} and {theirs:.4e} {}; {} is better",
                self.name,
                self.metric,
                self.peer,
                decision.ratio,
                decision.n,
                self.unit,
                if self.higher_is_better { "more" } else { "less" },
            );
        }
        Ok(())
    }
}

/// Two hosts of named namespaces joined by a veth pair, gone when dropped.
struct Pair {
    names: [String; 2],
}

impl Pair {
    const SERVER: &'static str = "10.119.4.2";

    fn up() -> Result<Pair> {
        let tag = format!("xb{}", std::process::id());
        let pair = Pair { names: [format!("{tag}a"), format!("{tag}b")] };
        let [a, b] = &pair.names;
        let script = format!(
            "ip netns add {a}; ip netns add {b}
             ip -n {a} link add eth0 type veth peer name eth0 netns {b}
             ip -n {a} link set lo up; ip -n {b} link set lo up
             ip -n {a} addr add 10.119.4.1/24 dev eth0; ip -n {b} addr add {}/24 dev eth0
             ip -n {a} link set eth0 up; ip -n {b} link set eth0 up",
            Pair::SERVER
        );
        shell::run("sh", &["-ec", &script])
            .context("cannot make two namespaces; this needs root and iproute2")?;
        Ok(pair)
    }

    /// A program on one of the hosts, on one CPU.
    fn on(&self, host: usize, cpu: usize, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host], "taskset", "-c", &cpu.to_string()]).args(program);
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            // What can't be removed now is removed with the machine.
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// Throughput and CPU per byte against iperf3, round trips against ping. `false` if a peer is missing.
fn net(args: &Args) -> Result<bool> {
    let named = |name: &str| {
        let given = args.peer.iter().find_map(|peer| peer.strip_prefix(&format!("{name}=")));
        given.map_or_else(|| shell::there(name).then(|| name.to_owned()), |file| Some(file.to_owned()))
    };
    let (iperf3, ping) = (named("iperf3"), named("ping"));
    for (name, found) in [("iperf3", &iperf3), ("ping", &ping)] {
        if found.is_none() {
            println!("{}", json!({ "bench": "net", "case": name, "missing": name }));
        }
    }
    shell::run("cargo", &["build", "--release", "--quiet"])?;
    let tenbin = shell::root().join("target/release/tenbin").display().to_string();
    let pair = Pair::up()?;
    let order = schedule::balanced(7, 2, args.blocks);
    if let Some(iperf3) = &iperf3 {
        throughput(args, &pair, &tenbin, iperf3, &order)?;
    }
    if let Some(ping) = &ping {
        round_trips(args, &pair, &tenbin, ping, &order)?;
    }
    Ok(iperf3.is_some() && ping.is_some())
}

fn throughput(args: &Args, pair: &Pair, tenbin: &str, iperf3: &str, order: &[Vec<usize>]) -> Result<()> {
    let version = shell::read(iperf3, &["--version"])?;
    let peer = version.split_whitespace().take(2).collect::<Vec<_>>().join(" ").replace("iperf ", "iperf3 ");
    let case = |name, metric, unit, higher_is_better| Case {
        name,
        metric,
        unit,
        higher_is_better,
        peer: peer.clone(),
        pairs: Vec::new(),
    };
    let mut rate = case("tcp-1-stream", "throughput", "bit/s", true);
    let mut sending = case("tcp-1-stream-sender", "cpu_per_byte", "s/byte", false);
    let mut receiving = case("tcp-1-stream-receiver", "cpu_per_byte", "s/byte", false);
    for block in order {
        let mut of_block: [Option<Transfer>; 2] = [None, None];
        for program in block {
            let words: Vec<&str> = if *program == 0 { vec![tenbin, "iperf3"] } else { vec![iperf3] };
            of_block[*program] = Some(transfer(pair, &words, args.seconds)?);
        }
        if let [Some(ours), Some(theirs)] = of_block {
            rate.pairs.push((ours.rate, theirs.rate));
            sending.pairs.push((ours.sender, theirs.sender));
            receiving.pairs.push((ours.receiver, theirs.receiver));
        }
    }
    rate.print(args)?;
    sending.print(args)?;
    receiving.print(args)
}

/// What one transfer gave: bit/s at the receiver, CPU seconds per byte of both ends.
struct Transfer {
    rate: f64,
    sender: f64,
    receiver: f64,
}

fn transfer(pair: &Pair, program: &[&str], seconds: u32) -> Result<Transfer> {
    let mut server = pair.on(1, 1, &[program, &["-s", "-1"]].concat()).stdout(Stdio::null()).spawn()?;
    wait_for_listener(pair, &mut server)?;
    let seconds_text = seconds.to_string();
    let client = ["-c", Pair::SERVER, "-t", &seconds_text, "-l", "128K", "-J"];
    let output = pair.on(0, 0, &[program, &client].concat()).stderr(Stdio::inherit()).output()?;
    let _ = server.wait();
    let document: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} printed no JSON", program.join(" ")))?;
    let end = &document["end"];
    let number =
        |value: &Value, what: &str| value.as_f64().with_context(|| format!("no {what} in {document}"));
    let bytes = number(&end["sum_received"]["bytes"], "bytes")?;
    let time = number(&end["sum_received"]["seconds"], "seconds")?;
    let cpu = |side: &str| -> Result<f64> {
        Ok(number(&end["cpu_utilization_percent"][side], side)? / 100.0 * time / bytes)
    };
    let transfer =
        Transfer { rate: bytes * 8.0 / time, sender: cpu("host_total")?, receiver: cpu("remote_total")? };
    Ok(transfer)
}

/// Waits until port 5201 listens on the server's host.
fn wait_for_listener(pair: &Pair, server: &mut Child) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if let Some(status) = server.try_wait()? {
            bail!("the server ended at once: {status}");
        }
        let listening = pair.on(1, 1, &["ss", "-Htln", "sport", "=", ":5201"]).output()?;
        if !listening.stdout.is_empty() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = server.kill();
    bail!("the server did not listen within 10 s")
}

fn round_trips(args: &Args, pair: &Pair, tenbin: &str, ping: &str, order: &[Vec<usize>]) -> Result<()> {
    let version = shell::read(ping, &["-V"])?;
    let mut case = Case {
        name: "icmp-adaptive",
        metric: "rtt",
        unit: "s",
        higher_is_better: false,
        peer: version.lines().next().unwrap_or("ping").replace("ping from ", ""),
        pairs: Vec::new(),
    };
    for block in order {
        let mut of_block = [None, None];
        for program in block {
            let words: Vec<&str> = if *program == 0 { vec![tenbin, "ping"] } else { vec![ping] };
            let flags = ["-A", "-q", "-c", "3000", Pair::SERVER];
            let output = pair.on(0, 0, &[words.as_slice(), &flags].concat()).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            // `rtt min/avg/max/mdev = 0.003/0.004/0.023/0.001 ms`
            let mean = text
                .lines()
                .find(|line| line.contains("min/avg/max"))
                .and_then(|line| line.split('=').nth(1)?.trim().split('/').nth(1)?.parse::<f64>().ok())
                .with_context(|| format!("no rtt line in: {text}"))?;
            of_block[*program] = Some(mean / 1e3);
        }
        if let [Some(ours), Some(theirs)] = of_block {
            case.pairs.push((ours, theirs));
        }
    }
    case.print(args)
}
