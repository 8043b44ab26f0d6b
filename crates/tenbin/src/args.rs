//! The command line as data. What the words do is in [`crate::cmd`].

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use tenbin_core::quantity;
use tenbin_formats::iperf3::text::RateUnit;

/// Weighs one hardware configuration against another: interleaved blocks, a verdict with its interval, ceilings,
/// and a report worth publishing.
#[derive(Debug, Parser)]
#[command(name = "tenbin", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run an experiment from a plan file: the main job
    Run(RunArgs),
    /// Weigh two settings or two commands without a plan file
    Ab(AbArgs),
    /// Three lessons on this machine in a minute
    Demo(DemoArgs),
    /// What this machine is, every ceiling with its steps, what would spoil a result now
    Probe(ProbeArgs),
    /// Round trips by ICMP echo, with ping's flags and table
    Ping(PingArgs),
    /// TCP throughput, with iperf3's flags and text; speaks its protocol in both roles
    #[command(name = "iperf3")]
    Iperf3(Iperf3Args),
    /// Go on with an experiment that was cut short; only the missing runs are made
    Resume(ResumeArgs),
    /// List the experiments and the imported runs in the store
    List(ListArgs),
    /// Show one experiment's answer, or one run
    Show(ShowArgs),
    /// Write the report of a stored experiment again
    Report(ReportArgs),
    /// Compare logs or stored runs: each against the first
    Compare(CompareArgs),
    /// The table of one metric over all runs of the store, by what they have in common
    Table(TableArgs),
    /// Print an experiment or a run in another form: a tool's own table, CSV, JSON, OpenMetrics, JUnit
    Export(ExportArgs),
    /// Read logs of other tools, and stores of other machines
    Import(ImportArgs),
    /// Serve a controller on stdin and stdout; started by tenbin itself
    #[command(hide = true)]
    Agent,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Where things go and how much is said.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// The folder for the report [default: ./tenbin-PLAN]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Print one JSON document on stdout instead of tables
    #[arg(long)]
    pub json: bool,
    /// Say nothing but results and errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    pub plan: PathBuf,
    /// Print the schedule, every command and setting, and the time it takes; measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Blocks to measure instead of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub blocks: Option<u32>,
    /// Seed of the schedule instead of the plan's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub weighing: WeighingArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub output: OutputArgs,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The experiment: its number, the start of its uid, or its plan's name [default: the last unfinished one]
    pub experiment: Option<String>,
    /// Go on even though another machine says that it is measuring this experiment
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub weighing: WeighingArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub output: OutputArgs,
}

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Look at the machine kept in a directory with proc/, sys/ and etc/ instead of this one
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// At most so many of each, the newest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub most: usize,
    /// List only runs that are of no experiment: imported logs, measurements kept with --store
    #[arg(long)]
    pub runs: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// An experiment (number, start of its uid, plan's name) or a run as `run:NUMBER` [default: the last experiment]
    pub what: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub weighing: WeighingArgs,
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What is compared, the base first: a log, FILE#N for its Nth run, run:N or run:N,M, arm:NAME of imported logs,
    /// EXPERIMENT:ARM. One alone is described
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// What the logs don't say, for all sides or one value for each, such as link.rate=10Gbit/s, link.mtu=1500,9000,
    /// memory.rate=34.1GB/s; repeatable
    #[arg(long = "fact", value_name = "KEY=VALUE,...", value_parser = fact)]
    pub facts: Vec<(String, String)>,
    /// Differences below this share do not matter
    #[arg(long, default_value = "2%", value_name = "SHARE")]
    pub margin: String,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub weighing: WeighingArgs,
    /// End with exit code 1 if a side is slower than the base (slower), or if it is not decided (unclear)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "GATE")]
    pub fail_if: Vec<Gate>,
    /// Write the answer with its figures as a folder to be published: HTML, Markdown, SVG
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// What trips `compare --fail-if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Gate {
    /// Worse by more than the margin.
    Slower,
    /// Anything that is not decided.
    Unclear,
}

/// What is weighed against what, and how claims are kept few.
#[derive(Debug, Default, Args)]
pub struct WeighingArgs {
    /// What the others are compared with, by name, instead of the first; all: every pair
    #[arg(long, alias = "baseline", value_delimiter = ',', value_name = "NAME,...")]
    pub against: Vec<String>,
    /// How claims over the points of a curve are kept from being wrong by their number
    #[arg(long, value_enum, default_value_t = CorrectionArg::MaxT)]
    pub correction: CorrectionArg,
}

/// How claims over a curve are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CorrectionArg {
    /// The largest statistic under sign flips.
    #[default]
    MaxT,
    /// Holm's steps.
    Holm,
    /// Benjamini and Hochberg's false discovery rate.
    Bh,
}

/// Arguments of `table`.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// The metric: throughput, rtt, latency, bandwidth, flop_rate, ...
    pub metric: String,
    /// The columns: arm, tool, source, params such as size_bytes, facts such as cpu.model or those given to import
    #[arg(long, value_delimiter = ',', default_value = "arm", value_name = "NAME,...")]
    pub by: Vec<String>,
    /// Only series with this parameter; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// How it is written
    #[arg(long, short = 'f', value_enum, default_value_t = TableForm::Text)]
    pub format: TableForm,
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableForm {
    /// For a terminal.
    Text,
    /// For a wiki.
    Markdown,
    /// A page of its own.
    Html,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// An experiment (number, start of its uid, plan's name) or a run as `run:NUMBER` [default: the last experiment]
    pub what: Option<String>,
    /// json, csv, openmetrics; of an experiment junit; of a run the table of the tool that would print it
    #[arg(long, short = 'f', value_name = "NAME")]
    pub format: String,
    /// Write to this file, which must not exist yet, instead of the terminal
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The experiment: its number, the start of its uid, or its plan's name [default: the last one]
    pub experiment: Option<String>,
    /// The folder to write to [default: ./tenbin-PLAN]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub weighing: WeighingArgs,
    /// The store [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Logs of other tools, folders of them, stores of other machines; - is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The store to add to [default: $XDG_DATA_HOME/tenbin/tenbin.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// The configuration that these logs measured, by a name of your own
    #[arg(long, value_name = "NAME", value_parser = arm_name)]
    pub arm: Option<String>,
    /// A fact about them, kept with every run; may be given several times
    #[arg(long = "fact", value_name = "KEY=VALUE", value_parser = fact)]
    pub facts: Vec<(String, String)>,
    /// Print the runs as one JSON document; nothing is stored unless --store is given
    #[arg(long)]
    pub json: bool,
}

fn arm_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name has at least one letter".to_owned()),
        name if name.len() > 100 || name.contains(char::is_control) => {
            Err("a name has at most 100 letters, all of them visible".to_owned())
        }
        name => Ok(name.to_owned()),
    }
}

fn fact(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// Arguments of `ab`.
#[derive(Debug, Args)]
pub struct AbArgs {
    /// What to vary: mtu=1500,9000, offload=on,off, congestion=cubic,bbr, env.NAME=a,b, or a parameter of the engine
    #[arg(value_name = "SETTING=A,B")]
    pub setting: Option<String>,
    /// What to measure: iperf3 -c HOST, ping HOST, a command; or the two commands to compare, a word each
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Blocks to measure
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub blocks: u32,
    /// Differences below this do not matter [default: 2%]
    #[arg(long, value_name = "P%")]
    pub margin: Option<String>,
    /// Seed of the schedule
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The far side, so that the setting acts there too: ssh:user@host
    #[arg(long, value_name = "ssh:HOST")]
    pub on: Option<String>,
    /// The far side's agent runs through sudo, since the setting needs root there
    #[arg(long, requires = "on")]
    pub sudo: bool,
    /// Run the program of that name rather than the native engine
    #[arg(long)]
    pub external: bool,
    /// Write the plan this stands for to FILE (- for stdout) and measure nothing
    #[arg(long, value_name = "FILE")]
    pub write_plan: Option<PathBuf>,
    /// Print the schedule, every command and setting, and the time it takes; measure nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its own type says it")]
    pub output: OutputArgs,
}

/// Arguments of `iperf3`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("role").required(true).args(["client", "server"]))]
pub struct Iperf3Args {
    /// Measure to this server: a name or an address
    #[arg(short, long, value_name = "HOST")]
    pub client: Option<String>,
    /// Be the server
    #[arg(short, long)]
    pub server: bool,
    /// The server's port
    #[arg(short, long, value_name = "PORT", default_value_t = 5201)]
    pub port: u16,
    /// Seconds to measure [default: 10]
    #[arg(short, long, value_name = "SECONDS", value_parser = test_seconds, conflicts_with_all = ["bytes", "blocks"])]
    pub time: Option<f64>,
    /// Seconds between interval reports; 0 is none
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = interval_seconds)]
    pub interval: f64,
    /// End after so many bytes, such as 100M (K, M, G = 1024)
    #[arg(short = 'n', long, value_name = "BYTES", value_parser = size, conflicts_with = "blocks")]
    pub bytes: Option<u64>,
    /// End after so many blocks, such as 1K
    #[arg(short = 'k', long = "blockcount", value_name = "BLOCKS", value_parser = size)]
    pub blocks: Option<u64>,
    /// Bytes of a write, at most 1M
    #[arg(short, long, value_name = "BYTES", default_value = "128K", value_parser = block)]
    pub length: u64,
    /// Streams at the same time
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=128))]
    pub parallel: u64,
    /// The server sends
    #[arg(short = 'R', long)]
    pub reverse: bool,
    /// The most each stream sends, in bit/s, such as 100M (K, M, G = 1000); 0 is unlimited
    #[arg(short = 'b', long, value_name = "RATE", value_parser = decimal)]
    pub bitrate: Option<u64>,
    /// Socket buffers in bytes, such as 4M
    #[arg(short, long, value_name = "BYTES", value_parser = size)]
    pub window: Option<u64>,
    /// Maximum segment size in bytes
    #[arg(short = 'M', long = "set-mss", value_name = "BYTES", value_parser = clap::value_parser!(u64).range(88..=32767))]
    pub mss: Option<u64>,
    /// Turn Nagle's algorithm off
    #[arg(short = 'N', long)]
    pub no_delay: bool,
    /// Congestion control, such as cubic or bbr
    #[arg(short = 'C', long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// Seconds of warm-up that do not count
    #[arg(short = 'O', long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=600))]
    pub omit: u64,
    /// Type of service byte
    #[arg(short = 'S', long, value_name = "TOS", value_parser = clap::value_parser!(u64).range(0..=255))]
    pub tos: Option<u64>,
    /// CPU for the streams of this side, and of the server: N or N,M
    #[arg(short = 'A', long, value_name = "N[,M]", value_parser = affinity)]
    pub affinity: Option<(u64, Option<u64>)>,
    /// The own port of the first stream
    #[arg(long, value_name = "PORT")]
    pub cport: Option<u16>,
    /// The own address
    #[arg(short = 'B', long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Use IPv4
    #[arg(short = '4', long = "version4", conflicts_with = "v6")]
    pub v4: bool,
    /// Use IPv6
    #[arg(short = '6', long = "version6")]
    pub v6: bool,
    /// Unit of the rates: k, m, g, t for bits, K, M, G, T for bytes
    #[arg(short, long, value_name = "UNIT", value_parser = rate_unit)]
    pub format: Option<RateUnit>,
    /// Say more: cookie, segment size, CPU, congestion control
    #[arg(short = 'V', long)]
    pub verbose: bool,
    /// Print iperf3's JSON document at the end instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
    /// Serve one client, then end
    #[arg(short = '1', long, requires = "server")]
    pub one_off: bool,
    /// Not available yet
    #[arg(short, long, hide = true)]
    pub udp: bool,
}

fn test_seconds(text: &str) -> Result<f64, String> {
    within(text, 0.1, 86400.0)
}

fn interval_seconds(text: &str) -> Result<f64, String> {
    if text == "0" { Ok(0.0) } else { within(text, 0.1, 60.0) }
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (least..=most).contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected seconds between {least} and {most}")),
    }
}

fn size(text: &str) -> Result<u64, String> {
    match quantity::parse_size(text)? {
        0 => Err("must be at least 1".to_owned()),
        n => Ok(n),
    }
}

fn block(text: &str) -> Result<u64, String> {
    match size(text)? {
        n if n <= 1024 * 1024 => Ok(n),
        _ => Err("must be at most 1M".to_owned()),
    }
}

/// `100M` as 100000000: iperf3's rates are decimal.
fn decimal(text: &str) -> Result<u64, String> {
    if text == "0" {
        return Ok(0);
    }
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return text.parse().map_err(|_| format!("\"{text}\" is no rate; write it like 100M"));
    }
    quantity::parse_bit_rate(&format!("{text}bit"))
}

fn affinity(text: &str) -> Result<(u64, Option<u64>), String> {
    let cpu = |text: &str| match text.trim().parse() {
        Ok(n) if n < 1024 => Ok(n),
        _ => Err(format!("\"{text}\" is no CPU; write N or N,M")),
    };
    match text.split_once(',') {
        Some((own, server)) => Ok((cpu(own)?, Some(cpu(server)?))),
        None => Ok((cpu(text)?, None)),
    }
}

fn rate_unit(letter: &str) -> Result<RateUnit, String> {
    RateUnit::of(letter).ok_or_else(|| "expected one of k m g t K M G T".to_owned())
}

/// Arguments of `ping`: those of ping, with its units.
#[derive(Debug, Args)]
pub struct PingArgs {
    /// The host: a name or an address
    pub host: String,
    /// Stop after so many requests; with -w, after so many replies [default: until Ctrl-C]
    #[arg(short, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub count: Option<u64>,
    /// Seconds from one request to the next; 0 is a flood
    #[arg(short, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: Duration,
    /// Payload bytes of a request
    #[arg(short, value_name = "BYTES", default_value_t = 56, value_parser = clap::value_parser!(u32).range(0..=65507))]
    pub size: u32,
    /// End after so many seconds, whatever has come
    #[arg(short = 'w', value_name = "SECONDS", value_parser = seconds)]
    pub deadline: Option<Duration>,
    /// Seconds to wait for the last reply; a reply after it is late
    #[arg(short = 'W', value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub timeout: Duration,
    /// Use IPv4
    #[arg(short = '4', conflicts_with = "v6")]
    pub v4: bool,
    /// Use IPv6
    #[arg(short = '6')]
    pub v6: bool,
    /// Send the next request when the reply arrives; -i is then the longest wait
    #[arg(short = 'A')]
    pub adaptive: bool,
    /// Flood: like -A, and after 10 ms without a reply; only the summary is printed
    #[arg(short)]
    pub flood: bool,
    /// Print only the summary
    #[arg(short)]
    pub quiet: bool,
    /// Print the time of day before each line, in seconds since 1970
    #[arg(short = 'D')]
    pub stamps: bool,
    /// Say of each request before the next whether it is unanswered
    #[arg(short = 'O')]
    pub outstanding: bool,
    /// Print addresses, no names: it never does otherwise
    #[arg(short)]
    pub numeric: bool,
    /// Time to live (hop limit) of requests
    #[arg(short, value_name = "TTL", value_parser = clap::value_parser!(u8).range(1..))]
    pub ttl: Option<u8>,
    /// Send from this own address
    #[arg(short = 'I', value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Forbid fragments, to find out which size the path takes
    #[arg(long)]
    pub dont_fragment: bool,
    /// Print one JSON document on stdout instead of ping's lines
    #[arg(long)]
    pub json: bool,
}

/// Seconds as ping takes them: a bare number, fractions allowed.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds, like 0.2".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if seconds <= 1e6 => Ok(duration),
        _ => Err("must be between 0 and a million seconds".to_owned()),
    }
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the experiments in this store [default: none; the demo leaves nothing behind]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
}
