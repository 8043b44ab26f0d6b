//! Bulk TCP throughput, speaking iperf3's protocol in both roles: the far side may be tenbin or iperf3.
//!
//! [`wire`] and `session` are the protocol without sockets, [`client`] and [`server`] drive them, `stream` moves
//! the data, `meter` makes figures of counters. The engine records what [`client::run`] measured; the verb
//! `tenbin iperf3` prints it. Left out so far: UDP, both directions at once, authentication, sendfile.

use std::net::{IpAddr, SocketAddr};

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Fact, FactValue};
use tenbin_core::job::Job;
use tenbin_core::metric::{CPU_PER_BYTE, PACKET_RATE, THROUGHPUT};
use tenbin_core::quantity;
use tenbin_core::recorder::Recorder;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::spec::{EngineSpec, ParamKind, ParamSpec, Peer, Values};
use tenbin_core::unit::Unit;
use tenbin_formats::iperf3::model::{Row, Side};
use tenbin_formats::iperf3::series;

use crate::{Engine, RunError, Stop};

pub mod client;
mod control;
mod meter;
mod run;
pub mod server;
mod session;
mod stream;
mod tcpinfo;
#[cfg(test)]
mod tests;
pub mod wire;

pub use client::{Outcome, Settings};
pub use run::Event;
pub use server::Server;
pub use stream::CpuTime;
pub use tcpinfo::TcpInfo;

/// The port of iperf3.
pub const PORT: u16 = 5201;

/// The engine.
pub struct Iperf3;

static SPEC: EngineSpec = EngineSpec {
    name: "iperf3",
    summary: "TCP throughput; the far side is tenbin or an iperf3 server",
    peer: Peer::Serve,
    params: &[
        ParamSpec {
            name: "time",
            kind: ParamKind::Duration { min: 0.1, max: wire::TIME_LIMIT as f64 },
            default: Some("10s"),
            help: "length of the measured part",
        },
        ParamSpec {
            name: "omit",
            kind: ParamKind::Duration { min: 0.0, max: wire::OMIT_LIMIT as f64 },
            default: Some("0s"),
            help: "warm-up before it, in whole seconds",
        },
        ParamSpec {
            name: "interval",
            kind: ParamKind::Duration { min: 0.1, max: 60.0 },
            default: Some("1s"),
            help: "from one interval report to the next",
        },
        ParamSpec {
            name: "parallel",
            kind: ParamKind::Count { min: 1, max: wire::STREAMS_LIMIT },
            default: Some("1"),
            help: "streams at the same time",
        },
        ParamSpec {
            name: "length",
            kind: ParamKind::Size { min: 1, max: wire::BLOCK_LIMIT },
            default: Some("128k"),
            help: "bytes of a write",
        },
        ParamSpec {
            name: "bytes",
            kind: ParamKind::Size { min: 1, max: 1 << 60 },
            default: None,
            help: "end after so many bytes in place of a time",
        },
        ParamSpec {
            name: "bitrate",
            kind: ParamKind::BitRate,
            default: None,
            help: "the most a stream sends; unlimited where absent",
        },
        ParamSpec {
            name: "window",
            kind: ParamKind::Size { min: 1, max: wire::WINDOW_LIMIT },
            default: None,
            help: "socket buffers; the system's own where absent",
        },
        ParamSpec {
            name: "mss",
            kind: ParamKind::Size { min: 88, max: wire::MSS_LIMIT },
            default: None,
            help: "maximum segment size",
        },
        ParamSpec {
            name: "congestion",
            kind: ParamKind::Text,
            default: None,
            help: "congestion control, such as cubic or bbr",
        },
        ParamSpec {
            name: "nodelay",
            kind: ParamKind::Switch,
            default: Some("false"),
            help: "Nagle's algorithm off",
        },
        ParamSpec {
            name: "reverse",
            kind: ParamKind::Switch,
            default: Some("false"),
            help: "the server sends",
        },
        ParamSpec {
            name: "affinity",
            kind: ParamKind::Count { min: 0, max: 1023 },
            default: None,
            help: "the CPU for the streams of the client",
        },
        ParamSpec {
            name: "server_affinity",
            kind: ParamKind::Count { min: 0, max: 1023 },
            default: None,
            help: "the CPU for the streams of the server",
        },
        ParamSpec {
            name: "port",
            kind: ParamKind::Count { min: 0, max: 65535 },
            default: Some("5201"),
            help: "the port of the server",
        },
    ],
    metrics: &[THROUGHPUT],
    seconds: |values: &Values| {
        values.seconds("time").unwrap_or(10.0) + values.seconds("omit").unwrap_or(0.0).ceil()
    },
};

impl Engine for Iperf3 {
    fn spec(&self) -> &'static EngineSpec {
        &SPEC
    }

    fn run(&self, job: &Job, rec: &mut Recorder, stop: &Stop) -> Result<(), RunError> {
        let settings = settings(job)?;
        let outcome = client::run(&settings, stop, &mut |event| {
            if let Event::Interval(interval) = event
                && let Some(Row { end, bits_per_second: Some(rate), .. }) = interval.sums.first()
            {
                rec.progress(*end, quantity::human(*rate, Unit::BitPerSecond, 3));
            }
        })?;
        if outcome.interrupted
            && !outcome.test.intervals.iter().any(|interval| interval.sums.iter().any(|r| !r.omitted))
        {
            return Err(RunError::Interrupted);
        }
        record(&settings, &outcome, rec);
        Ok(())
    }

    fn serve(&self, job: &Job, ready: &mut dyn FnMut(SocketAddr), stop: &Stop) -> Result<(), RunError> {
        let port = job.params.count("port").and_then(|port| u16::try_from(port).ok()).unwrap_or(PORT);
        let any = IpAddr::from([0u16; 8]);
        let address = job.peer.unwrap_or_else(|| SocketAddr::new(job.bind.unwrap_or(any), port));
        let mut server = Server::open(address)?;
        ready(server.address());
        let cookie = (!job.cookie.is_empty()).then(|| wire::Cookie::from_text(&job.cookie));
        let outcome = server.serve(cookie.as_ref(), None, stop, &mut |_| {})?;
        if outcome.interrupted { Err(RunError::Interrupted) } else { Ok(()) }
    }
}

/// The test that a job asks for.
fn settings(job: &Job) -> Result<Settings, RunError> {
    let Some(peer) = job.peer else {
        return Err(RunError::BadParameter { what: "iperf3 needs the address of a server".into() });
    };
    let params = &job.params;
    let usual = Settings::new(peer);
    Ok(Settings {
        bind: job.bind,
        cookie: (!job.cookie.is_empty()).then(|| wire::Cookie::from_text(&job.cookie)),
        time: params.seconds("time").unwrap_or(usual.time),
        omit: params.seconds("omit").unwrap_or(0.0).ceil() as u64,
        interval: params.seconds("interval").or(usual.interval),
        parallel: params.count("parallel").unwrap_or(usual.parallel),
        length: params.count("length").unwrap_or(usual.length),
        bytes: params.count("bytes"),
        bitrate: params.count("bitrate"),
        window: params.count("window"),
        mss: params.count("mss"),
        congestion: params.text("congestion").map(str::to_owned),
        nodelay: params.switch("nodelay"),
        reverse: params.switch("reverse"),
        affinity: params.count("affinity"),
        server_affinity: params.count("server_affinity"),
        ..usual
    })
}

/// Leaves an outcome in `rec`: what iperf3 tells of a test, then what only tenbin knows.
pub fn record(settings: &Settings, outcome: &Outcome, rec: &mut Recorder) {
    for series in series::of(&outcome.test) {
        // Of a test that was cut short there is no total to compare by.
        let total_received = !outcome.interrupted
            && series.metric == THROUGHPUT
            && series.params.get("side") == Some(&"receiver".into())
            && series.params.contains_key("window")
            && !series.params.contains_key("stream");
        if total_received {
            rec.headline(&series.metric, &series.params, Reduce::Total, series.samples);
        } else {
            rec.extend(&series.metric, &series.params, series.samples);
        }
    }
    if outcome.interrupted {
        rec.caveat(Caveat::new(CaveatKind::Interrupted, "the test was stopped before its end"));
    }
    let near = if settings.reverse { Side::Receiver } else { Side::Sender };
    let total = |side: Side| {
        let mut params =
            Params::from([("side".into(), side.word().into()), ("window".into(), "total".into())]);
        if settings.reverse {
            params.insert("direction".into(), "reverse".into());
        }
        params
    };
    let ends = |side: Side| outcome.test.end.as_ref()?.sums.iter().find(|row| row.side == side);
    if let Some(row) = ends(near)
        && outcome.moved_bytes > 0
    {
        let value = outcome.cpu.total() / outcome.moved_bytes as f64;
        rec.extend(&CPU_PER_BYTE, &total(near), [Sample::at(row.end, value)]);
    }
    if let Some(info) = outcome.info
        && info.snd_mss > 0
        && let Some(row) = ends(Side::Receiver)
        && let Some(rate) = row.bits_per_second
    {
        // Both directions of a path usually agree on the segment size; what is sent here is what is known.
        let value = rate / 8.0 / f64::from(info.snd_mss);
        rec.extend(&PACKET_RATE, &total(Side::Receiver), [Sample::at(row.end, value)]);
    }
    facts(outcome, rec);
}

fn facts(outcome: &Outcome, rec: &mut Recorder) {
    let mut fact = |key: &str, value: FactValue, unit: Option<Unit>, source: &str| {
        let fact = Fact::new(Class::State, value, source);
        rec.fact(key, if let Some(unit) = unit { fact.in_unit(unit) } else { fact });
    };
    if let Some(info) = outcome.info {
        fact("tcp.mss", i64::from(info.snd_mss).into(), Some(Unit::Byte), "TCP_INFO");
        fact("tcp.pmtu", i64::from(info.path_mtu).into(), Some(Unit::Byte), "TCP_INFO");
        fact("tcp.timestamps", info.timestamps.into(), None, "TCP_INFO");
    }
    if let Some(name) = &outcome.congestion {
        fact("tcp.congestion", name.clone().into(), None, "TCP_CONGESTION");
    }
    let start = &outcome.test.start;
    fact("tcp.block", (start.block_bytes as i64).into(), Some(Unit::Byte), "parameters");
    if let Some(connection) = start.connected.first() {
        fact("tcp.local", connection.local_host.clone().into(), None, "getsockname");
        fact("tcp.remote", connection.remote_host.clone().into(), None, "getpeername");
    }
}
