//! `tenbin iperf3`: TCP throughput with iperf3's flags, text and JSON, as client or as server.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use tenbin_engines::iperf3::{Event, Outcome as Measured, Server, Settings, client};
use tenbin_engines::{RunError, Stop};
use tenbin_formats::iperf3::json;
use tenbin_formats::iperf3::model::{Role, Start, Test};
use tenbin_formats::iperf3::text::{self, Style};

use super::experiment::stop_on_signals;
use crate::args::Iperf3Args;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// What `version` says: the version whose habits are followed, and who follows them.
const VERSION: &str = concat!("3.12 (tenbin ", env!("CARGO_PKG_VERSION"), ")");

/// Measures to a server, or serves clients until interrupted.
pub fn iperf3(args: &Iperf3Args) -> Outcome {
    if args.udp {
        return Err(Failure::usage("UDP tests are not available yet"));
    }
    let stop = stop_on_signals()?;
    match &args.client {
        Some(host) => measure(args, host, &stop),
        None => serve(args, &stop),
    }
}

/// Tells a test while it runs, and keeps what was told for the JSON document.
struct Teller<'a> {
    args: &'a Iperf3Args,
    host: Option<&'a str>,
    stop: &'a Stop,
    style: Style,
    told: Test,
}

impl<'a> Teller<'a> {
    fn new(args: &'a Iperf3Args, host: Option<&'a str>, stop: &'a Stop) -> Teller<'a> {
        let style = Style { rate: args.format.unwrap_or_default(), verbose: args.verbose };
        let role = if host.is_some() { Role::Client } else { Role::Server };
        let start = Start {
            role,
            version: Some(VERSION.to_owned()),
            system_info: Some(system_info()),
            ..Start::default()
        };
        Teller { args, host, stop, style, told: Test { start, ..Test::default() } }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started(start) => {
                self.told.start = self.complete((*start).clone());
                self.say(|test, style, out| text::start(&test.start, style, out));
            }
            Event::Interval(interval) => {
                self.told.intervals.push((*interval).clone());
                self.say(|test, style, out| match test.intervals.last() {
                    Some(last) => text::interval(&test.start, last, style, out),
                    None => Ok(()),
                });
            }
        }
    }

    /// What the engine does not know of a start.
    fn complete(&self, start: Start) -> Start {
        Start {
            version: self.told.start.version.clone(),
            system_info: self.told.start.system_info.clone(),
            time_unix_seconds: Some(output::now() as i64),
            peer_host: self.host.map_or_else(|| start.peer_host.clone(), str::to_owned),
            ..start
        }
    }

    /// Prints text, unless JSON is to be printed at the end. When nobody reads any more, the test ends.
    fn say(&self, print: impl FnOnce(&Test, Style, &mut String) -> std::fmt::Result) {
        if self.args.json {
            return;
        }
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = print(&self.told, self.style, &mut text);
        if output::print(&text).is_err() {
            self.stop.set();
        }
    }

    /// The test has ended: its totals, or the whole document.
    fn end(mut self, measured: Result<Measured, RunError>) -> Result<Ended, Failure> {
        let (ended, error) = match measured {
            Ok(measured) => {
                self.told.end = measured.test.end;
                match (measured.interrupted, self.told.start.role) {
                    (false, _) => (Ended::Done, None),
                    (true, Role::Client) => {
                        (Ended::Interrupted, Some("interrupt - the client has terminated".to_owned()))
                    }
                    (true, Role::Server) => {
                        (Ended::Interrupted, Some("interrupt - the server has terminated".to_owned()))
                    }
                }
            }
            Err(RunError::Interrupted) => (Ended::Interrupted, None),
            Err(error) => (Ended::Failed, Some(error.to_string())),
        };
        if self.args.json {
            // A server that waited in vain has nothing to tell.
            if ended != Ended::Interrupted || error.is_some() || self.told.start.role == Role::Client {
                self.told.error = error.clone();
                output::print(&format!("{:#}\n", json::document(&self.told)))?;
            }
        } else if self.told.end.is_some() {
            let done = ended == Ended::Done;
            self.say(|test, style, out| match &test.end {
                Some(end) => text::end(&test.start, end, done, style, out),
                None => Ok(()),
            });
        }
        if let Some(error) = error {
            output::say(&format!("tenbin: {error}"));
        }
        Ok(ended)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    Interrupted,
    Failed,
}

fn measure(args: &Iperf3Args, host: &str, stop: &Stop) -> Outcome {
    let mut teller = Teller::new(args, Some(host), stop);
    teller.say(|test, style, out| {
        if style.verbose {
            preface(&test.start, out)?;
        }
        text::connecting(host, args.port, out)
    });
    let measured = resolve(args, host)
        .map(|peer| settings(args, peer))
        .and_then(|settings| client::run(&settings, stop, &mut |event| teller.event(&event)));
    Ok(match teller.end(measured)? {
        Ended::Done => Exit::Done,
        Ended::Interrupted => Exit::Interrupted,
        Ended::Failed => Exit::CannotMeasure,
    })
}

fn serve(args: &Iperf3Args, stop: &Stop) -> Outcome {
    let any = if args.v4 { IpAddr::from([0u8; 4]) } else { IpAddr::from([0u16; 8]) };
    let address = SocketAddr::new(args.bind.unwrap_or(any), args.port);
    let mut server = Server::open(address).map_err(Failure::cannot)?;
    let interval = (args.interval > 0.0).then_some(args.interval);
    for number in 1.. {
        let mut teller = Teller::new(args, None, stop);
        teller.say(|test, style, out| {
            if style.verbose && number == 1 {
                preface(&test.start, out)?;
            }
            text::listening(server.address().port(), number, out)
        });
        let measured = server.serve(None, interval, stop, &mut |event| teller.event(&event));
        match teller.end(measured)? {
            // Ctrl-C is how a server ends that was not asked to end by itself.
            Ended::Interrupted => return Ok(if args.one_off { Exit::Interrupted } else { Exit::Done }),
            Ended::Done if args.one_off => break,
            Ended::Failed if args.one_off => return Ok(Exit::CannotMeasure),
            Ended::Done | Ended::Failed => {}
        }
    }
    Ok(Exit::Done)
}

fn preface(start: &Start, out: &mut String) -> std::fmt::Result {
    use std::fmt::Write;
    writeln!(out, "iperf {VERSION}\n{}", start.system_info.as_deref().unwrap_or_default())?;
    writeln!(out, "Time: {}", json::http_date(output::now() as i64))
}

fn settings(args: &Iperf3Args, peer: SocketAddr) -> Settings {
    let usual = Settings::new(peer);
    Settings {
        bind: args.bind,
        client_port: args.cport,
        time: args.time.unwrap_or(usual.time),
        omit: args.omit,
        interval: (args.interval > 0.0).then_some(args.interval),
        parallel: args.parallel,
        length: args.length,
        bytes: args.bytes,
        blocks: args.blocks,
        bitrate: args.bitrate.filter(|rate| *rate > 0),
        window: args.window,
        mss: args.mss,
        congestion: args.congestion.clone(),
        tos: args.tos.filter(|tos| *tos > 0),
        nodelay: args.no_delay,
        reverse: args.reverse,
        affinity: args.affinity.map(|(own, _)| own),
        server_affinity: args.affinity.and_then(|(_, server)| server),
        ..usual
    }
}

fn resolve(args: &Iperf3Args, host: &str) -> Result<SocketAddr, RunError> {
    let unreachable = |why: String| RunError::Unreachable { peer: host.to_owned(), why };
    let found = (host, args.port).to_socket_addrs().map_err(|e| unreachable(e.to_string()))?;
    let fits = |address: &SocketAddr| {
        let bound = args.bind.is_none_or(|own| own.is_ipv4() == address.is_ipv4());
        bound && if address.is_ipv4() { !args.v6 } else { !args.v4 }
    };
    let kind = if args.v6 || args.bind.is_some_and(|own| own.is_ipv6()) { "IPv6" } else { "IPv4" };
    found.into_iter().find(fits).ok_or_else(|| unreachable(format!("it has no {kind} address")))
}

/// System, host, release, version and machine, as `uname` gives them.
fn system_info() -> String {
    let part = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().to_owned()
    };
    let parts = [part("ostype"), part("hostname"), part("osrelease"), part("version")];
    format!("{} {}", parts.join(" "), std::env::consts::ARCH)
}
