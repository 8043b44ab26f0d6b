//! Round trips by ICMP echo, IPv4 and IPv6: the far side needs nothing but its kernel.
//!
//! The end of a round trip is the kernel's receive timestamp, so that the wake-up of this program is not in it.
//! [`measure`] is the measurement with every event, for `tenbin ping`; the engine hands its result to a recorder.
//! Left out on purpose: broadcast and multicast (many answers to one request are no round trip), record route.

use std::net::SocketAddr;
use std::time::Duration;

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Fact};
use tenbin_core::job::Job;
use tenbin_core::metric::{Better, DUPLICATES, LOSS, Metric, PACKETS_RECEIVED, PACKETS_SENT, RTT};
use tenbin_core::quantity;
use tenbin_core::recorder::Recorder;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::spec::{EngineSpec, ParamKind, ParamSpec, Peer, Values};
use tenbin_core::unit::Unit;

use crate::{Engine, RunError, Stop};

mod flight;
mod packet;
mod session;
mod socket;
mod trouble;

pub use flight::{Answer, Clocks, Flight, Slot, Stamp, Trip};
pub use packet::{Family, sequence};
pub use session::{Event, Options, Outcome, measure};
pub use socket::Kind;
pub use trouble::Trouble;

/// The engine.
pub struct Ping;

/// First replies that came after the reply to a later request.
const REORDERED: Metric = Metric::new("reordered", Unit::Count, Better::Lower);

/// The longest payload of one IPv4 packet.
const LONGEST: u64 = 65535 - 20 - 8;

static SPEC: EngineSpec = EngineSpec {
    name: "ping",
    summary: "round trips by ICMP echo; nothing runs on the far side",
    peer: Peer::Address,
    params: &[
        ParamSpec {
            name: "count",
            kind: ParamKind::Count { min: 1, max: 10_000_000 },
            default: Some("10"),
            help: "requests that count",
        },
        ParamSpec {
            name: "interval",
            kind: ParamKind::Duration { min: 0.0, max: 3600.0 },
            default: Some("1s"),
            help: "from one request to the next; 0s sends at the reply, or after 10 ms",
        },
        ParamSpec {
            name: "adaptive",
            kind: ParamKind::Switch,
            default: Some("false"),
            help: "send the next request at the reply; the interval is the longest wait",
        },
        ParamSpec {
            name: "size",
            kind: ParamKind::Size { min: 0, max: LONGEST },
            default: Some("56"),
            help: "payload bytes of a request",
        },
        ParamSpec {
            name: "timeout",
            kind: ParamKind::Duration { min: 0.001, max: 3600.0 },
            default: Some("1s"),
            help: "how long the last request is waited for; a reply after it is late",
        },
        ParamSpec {
            name: "ttl",
            kind: ParamKind::Count { min: 1, max: 255 },
            default: None,
            help: "time to live (hop limit) of requests",
        },
        ParamSpec {
            name: "dont_fragment",
            kind: ParamKind::Switch,
            default: Some("false"),
            help: "forbid fragments: what is larger than the path's MTU is refused",
        },
        ParamSpec {
            name: "warmup",
            kind: ParamKind::Count { min: 0, max: 10_000 },
            default: Some("0"),
            help: "requests sent before and not counted",
        },
    ],
    metrics: &[RTT],
    seconds,
};

fn seconds(values: &Values) -> f64 {
    let requests = (values.count("count").unwrap_or(10) + values.count("warmup").unwrap_or(0)) as f64;
    let interval = values.seconds("interval").unwrap_or(1.0);
    if values.switch("adaptive") || interval == 0.0 {
        // Not known beforehand; a near host.
        return requests * 1e-4;
    }
    (requests - 1.0) * interval
}

impl Engine for Ping {
    fn spec(&self) -> &'static EngineSpec {
        &SPEC
    }

    fn run(&self, job: &Job, rec: &mut Recorder, stop: &Stop) -> Result<(), RunError> {
        let options = options(job)?;
        let mut told = Duration::ZERO;
        let outcome = {
            let mut observe = |event: Event| match event {
                Event::Pause { at, sent, received } if at >= told + Duration::from_millis(250) => {
                    told = at;
                    rec.progress(at.as_secs_f64(), format!("{received} of {sent} answered"));
                }
                _ => {}
            };
            measure(&options, stop, &mut observe)?
        };
        record(&options, &outcome, rec)
    }
}

fn options(job: &Job) -> Result<Options, RunError> {
    let missing = || RunError::BadParameter { what: "ping needs a host to measure to".to_owned() };
    let seconds = |name, default| {
        Duration::try_from_secs_f64(job.params.seconds(name).unwrap_or(default))
            .map_err(|error| RunError::BadParameter { what: format!("{name}: {error}") })
    };
    let ttl = job.params.count("ttl").map(u8::try_from).transpose();
    Ok(Options {
        peer: job.peer.ok_or_else(missing)?,
        bind: job.bind,
        count: Some(job.params.count("count").unwrap_or(10)),
        warmup: job.params.count("warmup").unwrap_or(0),
        interval: seconds("interval", 1.0)?,
        adaptive: job.params.switch("adaptive"),
        size: job.params.count("size").unwrap_or(56).min(LONGEST) as usize,
        timeout: seconds("timeout", 1.0)?,
        deadline: None,
        ttl: ttl.map_err(|_| RunError::BadParameter { what: "ttl must be between 1 and 255".to_owned() })?,
        dont_fragment: job.params.switch("dont_fragment"),
    })
}

/// Leaves the series, facts and caveats of a run in `rec`.
///
/// Fails with [`RunError::Unreachable`] where nothing was answered, and with [`RunError::Interrupted`] where the
/// run was stopped before anything could be.
pub fn record(options: &Options, outcome: &Outcome, rec: &mut Recorder) -> Result<(), RunError> {
    let flight = &outcome.flight;
    let sent = decided(options, outcome);
    if flight.received == 0 {
        return Err(if outcome.stopped { RunError::Interrupted } else { silence(options.peer, outcome) });
    }
    let params = Params::new();
    let began = flight.slots.first().map_or(0, |slot| slot.sent.mono);
    let since = |mono: i64| (mono - began) as f64 / 1e9;
    let answered = flight
        .counted()
        .iter()
        .filter_map(|slot| slot.trip.map(|trip| Sample::at(since(slot.sent.mono), trip.nanos as f64 / 1e9)));
    rec.headline(&RTT, &params, Reduce::Median, answered);
    let at = Some(outcome.elapsed.as_secs_f64());
    let lost = sent.saturating_sub(flight.received);
    for (metric, value) in [
        (&PACKETS_SENT, sent as f64),
        (&PACKETS_RECEIVED, flight.received as f64),
        (&LOSS, lost as f64 / sent as f64),
        (&DUPLICATES, flight.duplicates as f64),
        (&REORDERED, flight.reordered as f64),
    ] {
        rec.extend(metric, &params, [Sample::new(at, value)]);
    }
    facts(options, outcome, rec);
    for caveat in caveats(options, outcome) {
        rec.caveat(caveat);
    }
    Ok(())
}

/// Requests of which the fate is known: a run that was stopped can't say anything of its last ones.
fn decided(options: &Options, outcome: &Outcome) -> u64 {
    let requests = outcome.flight.counted();
    let end =
        outcome.flight.slots.first().map_or(0, |slot| slot.sent.mono) + outcome.elapsed.as_nanos() as i64;
    let timeout = options.timeout.as_nanos() as i64;
    let undecided = |slot: &&Slot| {
        slot.trip.is_none() && slot.trouble.is_none() && outcome.stopped && end - slot.sent.mono < timeout
    };
    (requests.len() - requests.iter().filter(undecided).count()) as u64
}

fn facts(options: &Options, outcome: &Outcome, rec: &mut Recorder) {
    let source = "the ping engine";
    let mut identity = |key: &str, fact: Fact| rec.fact(format!("ping.{key}"), fact);
    let size = options.size as i64;
    identity("address", Fact::new(Class::State, options.peer.ip().to_string(), source));
    identity("size", Fact::new(Class::Identity, size, source).in_unit(Unit::Byte));
    let interval = options.interval.as_secs_f64();
    identity("interval", Fact::new(Class::Identity, interval, source).in_unit(Unit::Second));
    identity("adaptive", Fact::new(Class::Identity, options.adaptive, source));
    let kind = match outcome.kind {
        Kind::Datagram => "datagram",
        Kind::Raw => "raw",
    };
    identity("socket", Fact::new(Class::Identity, kind, source));
    let stamps = if by_user(outcome) == 0 { "kernel" } else { "user" };
    identity("timestamps", Fact::new(Class::Identity, stamps, source));
}

fn by_user(outcome: &Outcome) -> usize {
    let trips = outcome.flight.counted().iter().filter_map(|slot| slot.trip);
    trips.filter(|trip| trip.stamp == Stamp::User).count()
}

fn caveats(options: &Options, outcome: &Outcome) -> Vec<Caveat> {
    let flight = &outcome.flight;
    let mut caveats = Vec::new();
    let mut note = |kind, text: String| caveats.push(Caveat::new(kind, text));
    let pace = match (options.adaptive, options.interval) {
        (_, Duration::ZERO) | (true, _) => "as soon as the last was answered".to_owned(),
        (false, interval) => {
            format!("every {}", quantity::trimmed(&quantity::duration(interval.as_secs_f64())))
        }
    };
    note(
        CaveatKind::Interval,
        format!("round trips depend on the pace of sending: requests went out {pace}"),
    );
    let trips = || flight.counted().iter().filter_map(|slot| slot.trip);
    let stepped = trips().filter(|trip| trip.stamp == Stamp::Stepped).count();
    let user = by_user(outcome);
    if user > 0 {
        let text = format!("{user} round trips end when the program read the reply: no kernel timestamp");
        note(CaveatKind::CoarseClock, text);
    }
    if stepped > 0 {
        let text =
            format!("{stepped} round trips end when the program read the reply: the wall clock was set");
        note(CaveatKind::CoarseClock, text);
    }
    if flight.duplicates > 0 {
        let text = format!("{} further replies to requests already answered, not counted", flight.duplicates);
        note(CaveatKind::Duplicates, text);
    }
    if let Some(trouble) = outcome.first_trouble {
        note(CaveatKind::ErrorReported, format!("{} requests were refused: {trouble}", flight.troubles));
    }
    if flight.damaged > 0 {
        let text = format!("{} replies with a payload that was not sent, not counted", flight.damaged);
        note(CaveatKind::ErrorReported, text);
    }
    if flight.late > 0 {
        let timeout = quantity::duration(options.timeout.as_secs_f64());
        note(CaveatKind::Note, format!("{} replies came later than {timeout}; they count", flight.late));
    }
    if outcome.stopped {
        note(CaveatKind::Interrupted, "stopped before the last request".to_owned());
    }
    caveats
}

/// The error of a run without an answer.
fn silence(peer: SocketAddr, outcome: &Outcome) -> RunError {
    let requests = outcome.flight.counted().len();
    let mut why = match requests {
        1 => "the request was not answered".to_owned(),
        n => format!("none of {n} requests was answered"),
    };
    if let Some(trouble) = outcome.first_trouble {
        why += &format!("; {} refused: {trouble}", outcome.flight.troubles);
    }
    if outcome.flight.damaged > 0 {
        why += &format!("; {} replies were damaged", outcome.flight.damaged);
    }
    RunError::Unreachable { peer: peer.ip().to_string(), why }
}

#[cfg(test)]
mod tests;
