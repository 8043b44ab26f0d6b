//! Any command as a measurement: what it costs (wall time, CPU time, memory), or what it prints, read by a format.
//!
//! A measure with a far host may start a command there first; it ends with the measurement. In commands `{server}`
//! stands for the far host's address, `{client}` for the own one and `{port}` for the port the far side listens on.

use std::net::{SocketAddr, TcpListener};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tenbin_core::env::{Class, Fact};
use tenbin_core::job::Job;
use tenbin_core::metric::{CPU_TIME, DURATION, Metric};
use tenbin_core::quantity;
use tenbin_core::recorder::Recorder;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::spec::{EngineSpec, ParamKind, ParamSpec, Peer, Values};
use tenbin_core::unit::Unit;

use self::preset::Preset;
use self::process::{Cause, Ended, has_ended, how, said, shown};
use crate::{Engine, RunError, Stop};

pub mod preset;
mod process;
mod read;

/// The engine.
pub struct External;

/// How much output is kept for the error message of a command that nothing reads.
const TAIL: usize = 64 * 1024;
/// How much output a format reads.
const MOST: usize = 64 << 20;
/// How long a far side may take until it listens.
const STARTUP: Duration = Duration::from_secs(10);

// Of a command that no format reads; a format has its own.
const METRICS: &[Metric] = &[DURATION, CPU_TIME];

static SPEC: LazyLock<EngineSpec> = LazyLock::new(|| EngineSpec {
    name: "external",
    summary: "any command: what it costs, or what it prints",
    peer: Peer::Optional,
    // Leaked once: choices live as long as the program.
    params: Vec::leak(params()),
    metrics: METRICS,
    // Not known before it has run once.
    seconds: |_: &Values| 1.0,
});

fn params() -> Vec<ParamSpec> {
    let presets = preset::PRESETS.iter().map(|preset| preset.name).collect();
    let formats = tenbin_formats::FORMATS.iter().map(|format| format.name()).collect();
    let text = |name, kind, help| ParamSpec { name, kind, default: None, help };
    vec![
        text("command", ParamKind::Command, "the command"),
        text("preset", ParamKind::Choice(Vec::leak(presets)), "a tool whose command and format are known"),
        text("args", ParamKind::Text, "words put behind the preset's command"),
        text(
            "format",
            ParamKind::Choice(Vec::leak(formats)),
            "what reads the output; without it the cost is measured",
        ),
        text("serve", ParamKind::Command, "the command on the far host"),
        text("port", ParamKind::Count { min: 1, max: 65535 }, "where that listens; a free one else"),
        ParamSpec {
            name: "timeout",
            kind: ParamKind::Duration { min: 0.001, max: 30.0 * 86400.0 },
            default: Some("1h"),
            help: "a command that still runs after this is ended, and the run has failed",
        },
    ]
}

/// What a job comes to.
struct Work {
    command: Vec<String>,
    serve: Vec<String>,
    format: Option<&'static dyn tenbin_formats::Format>,
    timeout: Duration,
}

impl Work {
    fn of(job: &Job) -> Result<Work, RunError> {
        let params = &job.params;
        let preset = params.text("preset").and_then(preset::find);
        let of_preset = |pick: fn(&Preset) -> &'static [&'static str]| -> Vec<String> {
            preset.map(pick).unwrap_or_default().iter().map(|word| (*word).to_owned()).collect()
        };
        let mut command = params.command("command").map_or_else(|| of_preset(|p| p.command), <[_]>::to_vec);
        command.extend(params.text("args").unwrap_or_default().split_whitespace().map(str::to_owned));
        let serve = params.command("serve").map_or_else(|| of_preset(|p| p.serve), <[_]>::to_vec);
        let format = params.text("format").or(preset.map(|preset| preset.format));
        let timeout = Duration::try_from_secs_f64(params.seconds("timeout").unwrap_or(3600.0))
            .map_err(|error| RunError::BadParameter { what: format!("timeout: {error}") })?;
        Ok(Work {
            command,
            serve,
            format: format.and_then(|name| {
                tenbin_formats::FORMATS.iter().copied().find(|format| format.name() == name)
            }),
            timeout,
        })
    }
}

/// `argv` with addresses and the port in the place of their names.
fn filled(argv: &[String], job: &Job) -> Result<Vec<String>, RunError> {
    let places = [
        (
            "{server}",
            job.peer.map(|peer| peer.ip().to_string()),
            "the measure names no far host: add to = \"...\"",
        ),
        ("{client}", job.bind.map(|own| own.to_string()), "only the measuring host of a pair knows it"),
        (
            "{port}",
            job.peer.map(|peer| peer.port().to_string()),
            "nothing listens: add to = \"...\" and serve",
        ),
    ];
    argv.iter()
        .map(|word| {
            let mut word = word.clone();
            for (name, value, missing) in &places {
                if word.contains(name) {
                    let value = value.as_ref().ok_or_else(|| RunError::BadParameter {
                        what: format!("cannot fill in {name} of `{}`: {missing}", shown(argv)),
                    })?;
                    word = word.replace(name, value);
                }
            }
            Ok(word)
        })
        .collect()
}

impl Engine for External {
    fn spec(&self) -> &'static EngineSpec {
        &SPEC
    }

    fn run(&self, job: &Job, rec: &mut Recorder, stop: &Stop) -> Result<(), RunError> {
        let work = Work::of(job)?;
        let argv = filled(&work.command, job)?;
        let started = Instant::now();
        let mut child = process::start(&argv, &job.env)?;
        let keep = if work.format.is_some() { MOST } else { TAIL };
        let shown = shown(&argv);
        let ended = process::watch(&mut child, started, work.timeout, keep, stop)
            .map_err(|source| RunError::Io { what: format!("wait for `{shown}`"), source })?;
        let fails = |why: String| Err(RunError::Failed { command: shown.clone(), why: said(why, &ended) });
        match ended.cause {
            Cause::Stopped => Err(RunError::Interrupted),
            Cause::TimedOut => {
                fails(format!("still ran after {}", quantity::duration(work.timeout.as_secs_f64())))
            }
            Cause::Itself if !ended.usage.status.success() => fails(how(ended.usage.status)),
            Cause::Itself => {
                record(&ended, work.format.is_none(), rec);
                match work.format {
                    None => Ok(()),
                    Some(_) if ended.cut => fails(format!("printed more than {} MiB", MOST >> 20)),
                    Some(format) => read::read(format, &ended.stdout, rec).or_else(fails),
                }
            }
        }
    }

    fn serve(&self, job: &Job, ready: &mut dyn FnMut(SocketAddr), stop: &Stop) -> Result<(), RunError> {
        let work = Work::of(job)?;
        let own =
            job.peer.ok_or_else(|| RunError::BadParameter { what: "no address to serve on".to_owned() })?;
        if work.serve.is_empty() {
            let port = job.params.count("port").and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
            ready(SocketAddr::new(own.ip(), port));
            while !stop.is_set() {
                std::thread::sleep(process::NAP);
            }
            return Ok(());
        }
        let address = SocketAddr::new(own.ip(), port(job, own)?);
        let argv = filled(&work.serve, &Job { peer: Some(address), ..job.clone() })?;
        let started = Instant::now();
        let mut child = process::start(&argv, &job.env)?;
        let mut listens = false;
        while !listens && started.elapsed() < STARTUP && !stop.is_set() && !has_ended(&child) {
            std::thread::sleep(process::NAP / 5);
            listens = read::listens(address.port());
        }
        if listens {
            ready(address);
        } else if !has_ended(&child) {
            stop.set();
        }
        let shown = shown(&argv);
        let ended = process::watch(&mut child, started, Duration::MAX, TAIL, stop)
            .map_err(|source| RunError::Io { what: format!("wait for `{shown}`"), source })?;
        let fails = |why: String| Err(RunError::Failed { command: shown.clone(), why: said(why, &ended) });
        match ended.cause {
            _ if !listens => fails(format!("did not listen on port {}", address.port())),
            // Told to end, which is how it should be, or ended by itself after its one client.
            Cause::Stopped | Cause::TimedOut => Ok(()),
            Cause::Itself if ended.usage.status.success() => Ok(()),
            Cause::Itself => fails(how(ended.usage.status)),
        }
    }
}

/// The port that the plan gives, or a free one.
fn port(job: &Job, own: SocketAddr) -> Result<u16, RunError> {
    if let Some(port) = job.params.count("port").and_then(|port| u16::try_from(port).ok()) {
        return Ok(port);
    }
    let free = TcpListener::bind(SocketAddr::new(own.ip(), 0)).and_then(|socket| socket.local_addr());
    free.map(|free| free.port())
        .map_err(|source| RunError::Io { what: format!("find a free port on {}", own.ip()), source })
}

fn record(ended: &Ended, headline: bool, rec: &mut Recorder) {
    let wall = ended.wall.as_secs_f64();
    let sample = |value| [Sample::at(wall, value)];
    for (metric, value) in [(&DURATION, wall), (&CPU_TIME, ended.usage.cpu.as_secs_f64())] {
        if headline {
            rec.headline(metric, &Params::new(), Reduce::Total, sample(value));
        } else {
            // Beside what the tool itself measured this is what the whole command took.
            let params = Params::from([("of".to_owned(), "command".into())]);
            rec.extend(metric, &params, sample(value));
        }
    }
    // Of the one process of the command that used most.
    let memory = Fact::new(Class::Counter, ended.usage.max_rss_bytes, "wait4, ru_maxrss");
    rec.fact("external.max_rss", memory.in_unit(Unit::Byte));
}

#[cfg(test)]
mod tests;
