//! Both roles against each other, against peers that misbehave, and (in `peer`) against iperf3 itself.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tenbin_core::job::Job;
use tenbin_core::recorder::Recorder;
use tenbin_core::sample::Series;
use tenbin_core::spec::{Value, Values};
use tenbin_formats::iperf3::model::Side;

use super::*;
use crate::Engine;

mod hostile;
mod peer;

fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A server of ours in a thread: its address and what its one test gave.
fn ours(cookie: &str, stop: &Stop) -> (SocketAddr, thread::JoinHandle<Result<(), RunError>>) {
    let (tell, told) = mpsc::channel();
    let job = Job { peer: Some(local()), ..job(local(), cookie, &[]) };
    let stop = stop.clone();
    let server = thread::spawn(move || Iperf3.serve(&job, &mut |address| tell.send(address).unwrap(), &stop));
    (told.recv_timeout(Duration::from_secs(10)).unwrap(), server)
}

fn job(peer: SocketAddr, cookie: &str, params: &[(&str, &str)]) -> Job {
    let mut values = Values::default();
    for (name, text) in params {
        let value = SPEC.param(name).unwrap_or_else(|| panic!("no param {name}")).read_text(text).unwrap();
        values.0.insert((*name).to_owned(), value);
    }
    Job {
        engine: "iperf3".into(),
        params: SPEC.with_defaults(values).unwrap(),
        peer: Some(peer),
        bind: None,
        cookie: cookie.into(),
        env: Default::default(),
    }
}

fn run(peer: SocketAddr, cookie: &str, params: &[(&str, &str)]) -> Result<Recorder, RunError> {
    let mut rec = Recorder::default();
    Iperf3.run(&job(peer, cookie, params), &mut rec, &Stop::default())?;
    Ok(rec)
}

fn series<'a>(rec: &'a Recorder, metric: &str, side: &str, total: bool) -> Vec<&'a Series> {
    let wanted = |series: &&Series| {
        series.metric.name == metric
            && series.params.get("side") == Some(&side.into())
            && series.params.contains_key("window") == total
            && !series.params.contains_key("stream")
    };
    rec.series.iter().filter(wanted).collect()
}

fn one(rec: &Recorder, metric: &str, side: &str) -> f64 {
    let found = series(rec, metric, side, true);
    assert_eq!(found.len(), 1, "{metric} {side}");
    found[0].samples[0].value
}

#[test]
fn params_of_the_spec_have_good_defaults() {
    let values = job(local(), "", &[]).params;
    assert_eq!(values.seconds("time"), Some(10.0));
    assert_eq!(values.count("length"), Some(131072));
    assert_eq!(values.0.get("reverse"), Some(&Value::Switch(false)));
    assert_eq!((SPEC.seconds)(&values), 10.0);
    assert!(
        Iperf3
            .run(&Job { peer: None, ..job(local(), "", &[]) }, &mut Recorder::default(), &Stop::default())
            .is_err()
    );
}

#[test]
fn one_stream_gives_every_series() {
    let (address, server) = ours("", &Stop::default());
    let rec = run(address, "", &[("time", "500ms"), ("interval", "100ms")]).unwrap();
    server.join().unwrap().unwrap();
    let headline: Vec<&Series> = rec.series.iter().filter(|series| series.headline.is_some()).collect();
    assert_eq!(headline.len(), 1);
    assert!(headline[0].headline_value().unwrap() > 1e6);
    assert_eq!(one(&rec, "throughput", "receiver"), headline[0].headline_value().unwrap());
    let intervals = series(&rec, "throughput", "sender", false);
    assert_eq!(intervals[0].samples.len(), 5);
    assert!(intervals[0].samples.windows(2).all(|pair| pair[0].time() < pair[1].time()));
    for (metric, side, total) in [
        ("throughput", "sender", true),
        ("transferred", "sender", true),
        ("transferred", "receiver", true),
        ("retransmits", "sender", true),
        ("retransmits", "sender", false),
        ("cwnd", "sender", false),
        ("rtt", "sender", false),
        ("cpu_utilization", "sender", true),
        ("cpu_utilization", "receiver", true),
        ("cpu_per_byte", "sender", true),
        ("packet_rate", "receiver", true),
    ] {
        assert_eq!(series(&rec, metric, side, total).len(), 1, "{metric} {side} {total}");
    }
    let facts: Vec<&str> = rec.facts.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        facts,
        ["tcp.mss", "tcp.pmtu", "tcp.timestamps", "tcp.congestion", "tcp.block", "tcp.local", "tcp.remote"]
    );
}

#[test]
fn streams_add_up_in_both_directions() {
    for reverse in ["false", "true"] {
        let (address, server) = ours("", &Stop::default());
        let rec = run(address, "", &[("time", "300ms"), ("parallel", "3"), ("reverse", reverse)]).unwrap();
        server.join().unwrap().unwrap();
        let total = one(&rec, "transferred", "receiver");
        let single = |series: &&Series| {
            series.metric.name == "transferred"
                && series.params.contains_key("stream")
                && series.params.contains_key("window")
                && series.params["side"] == "receiver".into()
        };
        let singles: Vec<&Series> = rec.series.iter().filter(single).collect();
        assert_eq!(singles.len(), 3);
        assert_eq!(singles.iter().map(|series| series.samples[0].value).sum::<f64>(), total);
        assert_eq!(rec.series.iter().filter(|series| series.headline.is_some()).count(), 1);
        assert!(one(&rec, "retransmits", "sender") >= 0.0);
    }
}

#[test]
fn warm_up_does_not_count() {
    let (address, server) = ours("", &Stop::default());
    let rec = run(address, "", &[("time", "400ms"), ("omit", "1s"), ("interval", "200ms")]).unwrap();
    server.join().unwrap().unwrap();
    let intervals = series(&rec, "throughput", "sender", false);
    assert_eq!(intervals[0].samples.len(), 2);
    let at = intervals[0].samples[1].time().unwrap();
    assert!((0.3..0.9).contains(&at), "{at}");
}

#[test]
fn bytes_end_a_test_to_the_byte() {
    for (reverse, parallel) in [(false, 1), (false, 2), (true, 1)] {
        let mut server = Server::open(local()).unwrap();
        let address = server.address();
        let serving = thread::spawn(move || server.serve(None, None, &Stop::default(), &mut |_| {}));
        let settings = Settings { bytes: Some(10_000_001), reverse, parallel, ..Settings::new(address) };
        let outcome = client::run(&settings, &Stop::default(), &mut |_| {}).unwrap();
        serving.join().unwrap().unwrap();
        let end = outcome.test.end.unwrap();
        let bytes = |side: Side| end.sums.iter().find(|row| row.side == side).unwrap().bytes.unwrap();
        if reverse {
            assert!(bytes(Side::Receiver) >= 10_000_001.0);
        } else {
            assert_eq!(bytes(Side::Sender), 10_000_001.0);
            assert!(bytes(Side::Receiver) <= 10_000_001.0);
        }
        // Far from the whole second after which a test that looks at ticks only would end.
        assert!(end.sums[0].end < 1.0);
    }
}

#[test]
fn a_paced_stream_keeps_its_rate() {
    let (address, server) = ours("", &Stop::default());
    let rec = run(address, "", &[("time", "500ms"), ("bitrate", "20Mbit"), ("length", "8k")]).unwrap();
    server.join().unwrap().unwrap();
    let rate = one(&rec, "throughput", "sender");
    assert!((5e6..40e6).contains(&rate), "{rate}");
}

#[test]
fn options_reach_both_ends() {
    let mut server = Server::open(local()).unwrap();
    let address = server.address();
    let serving = thread::spawn(move || {
        // The second client finds a listener without the options of the first.
        let first = server.serve(None, None, &Stop::default(), &mut |_| {}).unwrap();
        let second = server.serve(None, None, &Stop::default(), &mut |_| {}).unwrap();
        (first, second)
    });
    let plain = Settings { time: 0.1, ..Settings::new(address) };
    let special = Settings { window: Some(50_000), mss: Some(1000), nodelay: true, ..plain.clone() };
    let near = client::run(&special, &Stop::default(), &mut |_| {}).unwrap();
    // The listener that had the options is closed before another can have its port.
    let began = Instant::now();
    while let Err(error) = client::run(&plain, &Stop::default(), &mut |_| {}) {
        let refused = matches!(error, RunError::Unreachable { .. });
        assert!(refused && began.elapsed() < Duration::from_secs(5), "{error}");
    }
    let (first, second) = serving.join().unwrap();
    assert_eq!(near.test.start.send_buffer_bytes, Some(100_000));
    assert!(near.info.unwrap().snd_mss <= 1000);
    assert_eq!(first.test.start.receive_buffer_bytes, Some(100_000));
    assert_ne!(second.test.start.receive_buffer_bytes, Some(100_000));
    let wrong = Settings { congestion: Some("no-such".into()), ..plain };
    let (address, _server) = ours("", &Stop::default());
    let said = client::run(&Settings { peer: address, ..wrong }, &Stop::default(), &mut |_| {}).unwrap_err();
    assert!(said.to_string().contains("congestion control \"no-such\""), "{said}");
}

#[test]
fn only_the_right_cookie_is_served() {
    let stop = Stop::default();
    let (address, server) = ours("secret", &stop);
    let refused = run(address, "guess", &[("time", "100ms")]).err().unwrap();
    assert!(matches!(refused, RunError::Refused { .. }), "{refused}");
    run(address, "secret", &[("time", "100ms")]).unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn a_second_client_is_told_that_the_server_is_busy() {
    let (address, server) = ours("", &Stop::default());
    let first = thread::spawn(move || run(address, "", &[("time", "1s")]));
    let began = Instant::now();
    let said = loop {
        // Until the first test runs, the second client may win the race to be first itself: it then waits.
        thread::sleep(Duration::from_millis(200));
        match run(address, "", &[("time", "100ms")]) {
            Err(RunError::Refused { why, .. }) => break why,
            other => assert!(began.elapsed() < Duration::from_secs(5), "{:?}", other.err()),
        }
    };
    assert_eq!(said, "it is busy with another test");
    first.join().unwrap().unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn stopping_either_side_ends_both() {
    let stop = Stop::default();
    let (address, server) = ours("", &Stop::default());
    let soon = stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(350));
        soon.set();
    });
    let mut rec = Recorder::default();
    let job = job(address, "", &[("interval", "100ms")]);
    Iperf3.run(&job, &mut rec, &stop).unwrap();
    assert!(!series(&rec, "throughput", "sender", false)[0].samples.is_empty());
    assert!(rec.series.iter().all(|series| series.headline.is_none()));
    assert_eq!(rec.caveats[0].kind, CaveatKind::Interrupted);
    assert!(server.join().unwrap().unwrap_err().to_string().contains("stopped during the test"));

    let stop = Stop::default();
    let (address, server) = ours("", &stop);
    let client = thread::spawn(move || run(address, "", &[]));
    thread::sleep(Duration::from_millis(300));
    stop.set();
    assert!(matches!(server.join().unwrap(), Err(RunError::Interrupted)));
    let said = client.join().unwrap().err().unwrap().to_string();
    assert!(said.contains("stopped during the test"), "{said}");

    let stop = Stop::default();
    stop.set();
    let (_, server) = ours("", &stop);
    assert!(matches!(server.join().unwrap(), Err(RunError::Interrupted)));
}

#[test]
fn nobody_there() {
    let free = TcpListener::bind(local()).unwrap().local_addr().unwrap();
    let said = run(free, "", &[]).err().unwrap().to_string();
    assert_eq!(said, format!("cannot reach {free}: connection refused"));
}
