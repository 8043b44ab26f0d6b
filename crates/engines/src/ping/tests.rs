//! The engine against this machine's own kernel; what needs the foreign program is in `peer`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tenbin_core::spec::Value;

use super::*;

mod peer;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn job(peer: IpAddr, params: &[(&str, Value)]) -> Job {
    let values = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Job {
        engine: "ping".to_owned(),
        params: SPEC.with_defaults(Values(values)).unwrap(),
        peer: Some(SocketAddr::new(peer, 0)),
        bind: None,
        cookie: String::new(),
        env: Default::default(),
    }
}

/// `None`, said aloud, where this user may not ping or has no such address.
fn run(job: &Job) -> Option<Result<Recorder, RunError>> {
    let mut rec = Recorder::default();
    match Ping.run(job, &mut rec, &Stop::default()) {
        Err(error @ RunError::Permission { .. }) => {
            println!("skipped: {error}");
            None
        }
        other => Some(other.map(|()| rec)),
    }
}

fn value(rec: &Recorder, metric: &Metric) -> f64 {
    rec.series.iter().find(|s| s.metric == *metric).unwrap().samples[0].value
}

#[test]
fn this_host_answers() {
    let check = |peer: IpAddr, params: &[(&str, Value)]| {
        let mut all = vec![("count", Value::Count(5)), ("interval", Value::Seconds(0.001))];
        all.extend_from_slice(params);
        let Some(result) = run(&job(peer, &all)) else { return };
        let rec = result.unwrap();
        let rtt = &rec.series[0];
        assert_eq!((rtt.metric.name.as_ref(), rtt.headline), ("rtt", Some(Reduce::Median)));
        assert_eq!(rtt.samples.len(), 5, "{params:?}");
        assert!(rtt.samples.iter().all(|s| s.value >= 0.0 && s.value < 1.0));
        assert!(rtt.samples.is_sorted_by(|a, b| a.time() < b.time()));
        assert_eq!((value(&rec, &PACKETS_SENT), value(&rec, &PACKETS_RECEIVED)), (5.0, 5.0));
        assert_eq!((value(&rec, &LOSS), value(&rec, &DUPLICATES)), (0.0, 0.0));
        let kinds: Vec<_> = rec.caveats.iter().map(|caveat| caveat.kind).collect();
        assert_eq!(kinds, [CaveatKind::Interval]);
    };
    check(HERE, &[]);
    for size in [0, 7, 15, 16, 1472, LONGEST] {
        check(HERE, &[("size", Value::Count(size))]);
    }
    check(HERE, &[("adaptive", Value::Switch(true)), ("interval", Value::Seconds(1.0))]);
    check(HERE, &[("interval", Value::Seconds(0.0))]);
    check(HERE, &[("warmup", Value::Count(3)), ("ttl", Value::Count(1))]);
    if std::net::UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        check(Ipv6Addr::LOCALHOST.into(), &[]);
        check(Ipv6Addr::LOCALHOST.into(), &[("size", Value::Count(4000)), ("ttl", Value::Count(9))]);
    } else {
        println!("skipped: no IPv6 on this machine");
    }
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let job = job(HERE, &[("count", Value::Count(1000)), ("interval", Value::Seconds(0.01))]);
    let stop = Stop::default();
    let options = options(&job).unwrap();
    let mut replies = 0;
    let mut observe = |event: Event| {
        replies += u64::from(matches!(event, Event::Reply { .. }));
        if replies == 3 {
            stop.set();
        }
    };
    let outcome = match measure(&options, &stop, &mut observe) {
        Err(RunError::Permission { .. }) => return println!("skipped: may not ping"),
        other => other.unwrap(),
    };
    let mut rec = Recorder::default();
    record(&options, &outcome, &mut rec).unwrap();
    assert_eq!(value(&rec, &PACKETS_RECEIVED), 3.0);
    assert_eq!(value(&rec, &LOSS), 0.0);
    assert!(rec.caveats.iter().any(|caveat| caveat.kind == CaveatKind::Interrupted));

    let stop = Stop::default();
    stop.set();
    let result = Ping.run(&job, &mut Recorder::default(), &stop);
    assert!(matches!(result, Err(RunError::Interrupted)), "{result:?}");
}

#[test]
fn a_deadline_ends_a_run_without_an_end() {
    let mut options = options(&job(HERE, &[("interval", Value::Seconds(0.02))])).unwrap();
    options.count = None;
    options.deadline = Some(Duration::from_millis(100));
    match measure(&options, &Stop::default(), &mut |_| {}) {
        Err(RunError::Permission { .. }) => println!("skipped: may not ping"),
        outcome => {
            let outcome = outcome.unwrap();
            assert!(outcome.flight.received >= 2 && !outcome.stopped);
        }
    }
}

#[test]
fn nobody_there() {
    let check = |peer: [u8; 4], wanted: &str| {
        let params = [
            ("count", Value::Count(2)),
            ("interval", Value::Seconds(0.01)),
            ("timeout", Value::Seconds(0.05)),
        ];
        if let Some(result) = run(&job(peer.into(), &params)) {
            let error = result.err().unwrap().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    };
    check([255, 255, 255, 255], "cannot ping 255.255.255.255: it is a broadcast address");
}
