//! `tenbin ping`: round trips with ping's flags, lines and exit in the manner of ping.

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use serde_json::json;
use tenbin_core::recorder::Recorder;
use tenbin_core::run::Run;
use tenbin_engines::Stop;
use tenbin_engines::ping::{Event, Family, Options, Outcome as Pinged, Trouble, measure, record, sequence};
use tenbin_formats::ping::print;
use tenbin_report::json;

use super::experiment::stop_on_signals;
use crate::args::PingArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Pings, line by line, and prints the summary; also when interrupted.
pub fn ping(args: &PingArgs) -> Outcome {
    let peer = resolve(args)?;
    let options = Options {
        peer,
        bind: args.bind,
        count: args.count,
        warmup: 0,
        interval: if args.flood { Duration::ZERO } else { args.interval },
        adaptive: args.adaptive,
        size: args.size as usize,
        timeout: args.timeout,
        deadline: args.deadline,
        ttl: args.ttl,
        dont_fragment: args.dont_fragment,
    };
    let stop = stop_on_signals()?;
    let talks = !args.json;
    let mut lines = Lines { text: String::new(), address: peer.ip().to_string(), args, stop: &stop };
    if talks {
        // Writing to a String does not fail, here and below.
        let _ = print::header(&mut lines.text, &args.host, peer.ip(), args.bind, options.size);
        lines.flush();
    }
    let silent = args.json || args.quiet || args.flood;
    let mut observe = |event: Event| {
        if !silent {
            lines.event(event);
        }
    };
    let pinged = measure(&options, &stop, &mut observe).map_err(Failure::cannot)?;
    let failed = if args.json {
        deliver(args, &options, &pinged)?
    } else {
        output::print(&summary(args, &options, &pinged))?;
        pinged.flight.received == 0
    };
    // Without a count or a deadline, Ctrl-C is how a ping ends.
    let cut_short = pinged.stopped && (args.count.is_some() || args.deadline.is_some());
    Ok(match (failed, cut_short) {
        (true, _) => Exit::CannotMeasure,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Done,
    })
}

fn resolve(args: &PingArgs) -> Result<SocketAddr, Failure> {
    let found = (args.host.as_str(), 0)
        .to_socket_addrs()
        .map_err(|e| Failure::cannot(format!("cannot resolve {}: {e}", args.host)))?;
    let bound = |v4: bool| args.bind.is_none_or(|own| own.is_ipv4() == v4);
    let fits = |address: &SocketAddr| match address {
        SocketAddr::V4(_) => !args.v6 && bound(true),
        SocketAddr::V6(_) => !args.v4 && bound(false),
    };
    let wanted = if args.v6 || args.bind.is_some_and(|own| own.is_ipv6()) { "IPv6" } else { "IPv4" };
    found
        .into_iter()
        .find(fits)
        .ok_or_else(|| Failure::cannot(format!("cannot reach {}: it has no {wanted} address", args.host)))
}

/// What is said while it goes on. One buffer, so that a line is one write.
struct Lines<'a> {
    text: String,
    address: String,
    args: &'a PingArgs,
    stop: &'a Stop,
}

impl Lines<'_> {
    fn event(&mut self, event: Event) {
        let stamp = self.args.stamps.then(output::now);
        let _ = match event {
            Event::Reply { index, answer, ttl, bytes } => {
                let reply = print::Reply {
                    stamp,
                    bytes,
                    from: &self.address,
                    sequence: sequence(index),
                    ttl,
                    seconds: Some(answer.trip.nanos as f64 / 1e9),
                    duplicate: answer.duplicate,
                };
                print::reply(&mut self.text, &reply)
            }
            Event::Refused { index, trouble: Trouble::Icmp { family, kind, code, mtu, from } } => {
                let said = print::icmp_error(family == Family::V6, kind, code, mtu);
                let from = from.map_or_else(|| "?".to_owned(), |from: IpAddr| from.to_string());
                print::refusal(&mut self.text, stamp, &from, sequence(index), &said)
            }
            Event::Refused { trouble, .. } => {
                output::say(&format!("tenbin: local error: {trouble}"));
                Ok(())
            }
            Event::Unanswered { index } if self.args.outstanding => {
                print::silence(&mut self.text, stamp, sequence(index))
            }
            Event::Damaged { index } => {
                output::say(&format!(
                    "tenbin: the reply to icmp_seq={} does not hold what was sent",
                    sequence(index)
                ));
                Ok(())
            }
            Event::Unanswered { .. } | Event::Pause { .. } => Ok(()),
        };
        self.flush();
    }

    /// Writes what has been said. When nobody reads any more, the run ends.
    fn flush(&mut self) {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(self.text.as_bytes()).and_then(|()| out.flush());
        if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            self.stop.set();
        }
        self.text.clear();
    }
}

fn summary(args: &PingArgs, options: &Options, pinged: &Pinged) -> String {
    let flight = &pinged.flight;
    let trips: Vec<f64> =
        flight.counted().iter().filter_map(|slot| slot.trip.map(|trip| trip.nanos as f64 / 1e9)).collect();
    let gaps = flight.sent().saturating_sub(1);
    let paced = (options.adaptive || options.interval.is_zero()) && gaps > 0;
    let apart = pinged.active.as_secs_f64() / gaps.max(1) as f64;
    let end = print::Summary {
        host: &args.host,
        sent: flight.sent(),
        received: flight.received,
        duplicates: flight.duplicates,
        corrupted: flight.damaged,
        errors: flight.troubles,
        seconds: Some(pinged.active.as_secs_f64()),
        spread: print::Spread::of(&trips),
        pipe: flight.pipe,
        pace: print::moving_average(&trips).filter(|_| paced).map(|average| (apart, average)),
    };
    let mut text = String::new();
    let _ = print::summary(&mut text, &end).and_then(|()| print::percentiles(&mut text, &trips));
    text
}

/// Prints the document. True if nothing was measured.
fn deliver(args: &PingArgs, options: &Options, pinged: &Pinged) -> Result<bool, Failure> {
    let source = format!("ping {}", args.host);
    let mut rec = Recorder::default();
    let (runs, errors) = match record(options, pinged, &mut rec) {
        Ok(()) => {
            let run = Run {
                source,
                tool: "tenbin".to_owned(),
                tool_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                benchmark: Some("ping".to_owned()),
                series: std::mem::take(&mut rec.series),
                facts: std::mem::take(&mut rec.facts).into_iter().collect(),
                caveats: std::mem::take(&mut rec.caveats),
                ..Run::default()
            };
            (vec![run], json!([]))
        }
        Err(error) => {
            output::say(&format!("tenbin: {error}"));
            (Vec::new(), json!([{ "source": source, "text": error.to_string() }]))
        }
    };
    let mut document = json::runs(&runs);
    document["errors"] = errors;
    output::print(&format!("{document:#}\n"))?;
    Ok(runs.is_empty())
}
