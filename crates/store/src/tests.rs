//! What is stored comes back, whatever happens in between.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::env::{Class, Environment, Fact, FactValue};
use tenbin_core::experiment::{Slot, State};
use tenbin_core::metric;
use tenbin_core::plan::{
    Arm, Budget, Change, Host, HostCommand, Lab, Link, Measure, Order, Place, Plan, Settings, Tolerance,
    Until,
};
use tenbin_core::run::{Event, Run, SensorState};
use tenbin_core::sample::{Param, Reduce, Sample, Series};
use tenbin_core::spec::{Value, Values};
use tenbin_core::taint::{Taint, TaintLevel};
use tenbin_core::unit::Unit;

use crate::{Ending, Filter, Holder, NewExperiment, Store, StoreError};

mod crash;
mod foreign;
mod lone;

/// A plan that has something in every field.
fn plan(name: &str) -> Plan {
    let host = |place| Host { place, sudo: true, address: Some([192, 0, 2, 1].into()), interface: None };
    let arm = |name: &str, mtu| Arm {
        name: name.to_owned(),
        set: Settings {
            mtu: Some(mtu),
            offload: Some(false),
            congestion: Some("cubic".to_owned()),
            env: [("A".to_owned(), "\u{1f600}\n\"".to_owned())].into(),
            link: Some(Link { rate: Some(u64::MAX), ..Link::default() }),
        },
        before: vec![HostCommand { host: None, argv: vec!["true".to_owned()] }],
        after: Vec::new(),
        change: Change::Seconds(0.1 + 0.2),
        hosts: [("server".to_owned(), host(Place::Exec(vec!["sh".to_owned(), String::new()])))].into(),
        params: [("ping".to_owned(), Values([("count".to_owned(), Value::Count(3))].into()))].into(),
    };
    let params = [
        ("time", Value::Seconds(3.0)),
        ("size", Value::Count(1 << 53)),
        ("reverse", Value::Switch(true)),
        ("text", Value::Text("true".to_owned())),
        ("command", Value::Command(vec!["a".to_owned()])),
    ];
    Plan {
        name: name.to_owned(),
        question: Some(format!("Is {name} faster?")),
        blocks: 2,
        until: Some(Until { ci: 0.02, at_most: Budget::Blocks(40) }),
        margin: 0.02,
        tolerate: Tolerance::default(),
        seed: Some(u64::MAX),
        order: Order::FewChanges,
        rest: 1e-9,
        hosts: [("client", Place::Local), ("server", Place::Lab("right".to_owned()))]
            .map(|(name, place)| (name.to_owned(), host(place)))
            .into(),
        lab: Some(Lab::default()),
        arms: vec![arm("mtu-1500", 1500), arm("mtu-9000", 9000)],
        measures: vec![Measure {
            engine: "iperf3".to_owned(),
            name: None,
            from: "client".to_owned(),
            to: Some("server".to_owned()),
            params: Values(params.map(|(name, value)| (name.to_owned(), value)).into()),
        }],
        text: "question = \"?\"\n".to_owned(),
    }
}

fn schedule() -> Vec<Slot> {
    [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
        .map(|(block, position, arm)| Slot { block, position, arm, measure: 0 })
        .into()
}

fn begin(store: &mut Store, name: &str, uid: &str, created_at: f64) -> i64 {
    let (plan, schedule) = (plan(name), schedule());
    store
        .begin(&NewExperiment {
            plan: &plan,
            plan_hash: "h",
            seed: u64::MAX - 1,
            schedule: &schedule,
            created_at,
            uid,
        })
        .unwrap()
}

fn series(n: usize) -> Series {
    let sample = |i: usize| Sample::at(i as f64 * 0.1, 1e9 / (i + 1) as f64);
    Series {
        metric: metric::THROUGHPUT,
        params: [
            ("side".to_owned(), Param::from("client")),
            ("size_bytes".to_owned(), Param::Int(i64::MIN)),
            ("share".to_owned(), Param::Num(1.0)),
        ]
        .into(),
        headline: Some(Reduce::Median),
        samples: (0..n).map(sample).collect(),
        reported: [("mean".to_owned(), 0.1 + 0.2)].into(),
    }
}

/// A run that has something in every field.
fn run(n: usize) -> Run {
    let mut env = Environment::default();
    env.insert("cpu.model", Fact::new(Class::Identity, "A \"CPU\"", "/proc/cpuinfo"));
    env.insert("cpu.count", Fact::new(Class::Identity, 64, "/proc/cpuinfo").in_unit(Unit::Count));
    env.insert("cpu.mhz", Fact::new(Class::State, 2_400.1, "/proc/cpuinfo"));
    env.insert("cpu.turbo", Fact::new(Class::State, true, "/sys"));
    env.insert("cpu.governor", Fact::absent(Class::State, "/sys"));
    env.insert("bmc", Fact::unreadable(Class::State, "/dev/ipmi0", "permission denied"));
    env.insert("net.eth0.rx", Fact::new(Class::Counter, n as i64, "/proc/net/dev"));
    let mut taint = Taint::clean();
    taint.add(TaintLevel::Suspect, "steal time rose");
    Run {
        source: "iperf3 client->server".to_owned(),
        tool: "tenbin".to_owned(),
        tool_version: Some("0.1.0".to_owned()),
        benchmark: Some("iperf3".to_owned()),
        series: vec![series(n), Series { metric: metric::RTT, headline: None, ..series(0) }],
        events: vec![Event {
            record: Some(309),
            raw: "135 | Redundancy Lost".to_owned(),
            ..Event::default()
        }],
        states: vec![SensorState {
            sensor: "Status".to_owned(),
            raw: "Status | ok".to_owned(),
            ..SensorState::default()
        }],
        facts: [("congestion".to_owned(), Fact::new(Class::State, "cubic", "getsockopt"))].into(),
        hosts: [("client".to_owned(), env.clone()), ("server".to_owned(), env)].into(),
        caveats: vec![Caveat::new(CaveatKind::CoarseClock, "the clock is coarse")],
        taint,
    }
}

fn done(run: &Run) -> Ending<'_> {
    Ending { state: State::Done, ended_at: 2.5, error: None, run: Some(run) }
}

fn temp() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tenbin.db");
    (dir, path)
}

/// Runs SQL on the file behind the store's back.
fn meddle(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[track_caller]
fn fails<T>(result: Result<T, StoreError>, part: &str) {
    let Err(error) = result else { panic!("no error, expected: {part}") };
    let text = error.to_string();
    assert!(text.contains(part), "expected \"{part}\" in: {text}");
}

#[test]
fn everything_comes_back() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.notes(), [""; 0]);
    let id = begin(&mut store, "nic", "uid-1", 1.5);
    let slots = schedule();
    let runs: Vec<i64> = slots[..3].iter().map(|slot| store.start_run(id, *slot, 2.0).unwrap()).collect();
    let (full, empty) = (run(1000), Run::default());
    store.finish_run(runs[0], &done(&full)).unwrap();
    let failed = Ending { state: State::Failed, ended_at: 3.0, error: Some("refused"), run: None };
    store.finish_run(runs[1], &failed).unwrap();
    store.finish_run(runs[2], &Ending { state: State::Invalid, run: Some(&empty), ..failed }).unwrap();
    let again = store.start_run(id, slots[1], 4.0).unwrap();

    for store in [store, Store::open(&path).unwrap(), Store::open_read_only(&path).unwrap()] {
        let loaded = store.load(id).unwrap();
        assert_eq!((loaded.id, loaded.uid.as_str(), loaded.created_at), (id, "uid-1", 1.5));
        assert_eq!((loaded.seed, &loaded.plan, &loaded.schedule), (u64::MAX - 1, &plan("nic"), &slots));
        assert_eq!(
            loaded.records.iter().map(|r| r.id).collect::<Vec<_>>(),
            [runs[0], runs[1], runs[2], again]
        );
        assert_eq!(loaded.records[0].run.as_ref(), Some(&full));
        assert_eq!(loaded.records[0].ended_at, Some(2.5));
        assert_eq!((loaded.records[1].error.as_deref(), &loaded.records[1].run), (Some("refused"), &None));
        assert_eq!(loaded.records[2].run.as_ref(), Some(&empty));
        let mut outline = loaded.clone();
        outline.records.iter_mut().for_each(|record| record.run = None);
        assert_eq!(store.outline(id).unwrap(), outline);
        let states: Vec<State> = slots.iter().map(|slot| loaded.state(*slot)).collect();
        assert_eq!(states, [State::Done, State::Started, State::Invalid, State::Pending]);
        assert_eq!(loaded.missing(), slots[1..]);
        assert_eq!(store.load_run(runs[0]).unwrap(), loaded.records[0]);
    }
}

#[test]
fn numbers_that_json_lacks() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let started = store.start_run(id, schedule()[0], 0.0).unwrap();
    let mut measured = run(3);
    measured.series[0].samples[1].value = f64::NAN;
    measured.series[0].reported =
        [("a", f64::NAN), ("b", f64::NEG_INFINITY), ("c", 1.0)].map(|(k, x)| (k.to_owned(), x)).into();
    measured.series[0].params.insert("x".to_owned(), Param::Num(f64::INFINITY));
    measured.facts.insert("y".to_owned(), Fact::new(Class::State, f64::NAN, "here"));
    store.finish_run(started, &done(&measured)).unwrap();
    let back = store.load_run(started).unwrap().run.unwrap();
    assert!(back.series[0].samples[1].value.is_nan());
    let reported = &back.series[0].reported;
    assert!(reported["a"].is_nan() && reported["b"] == f64::NEG_INFINITY && reported["c"] == 1.0);
    assert_eq!(back.series[0].params["x"], Param::from("inf"));
    assert_eq!(back.facts["y"].value, Some(FactValue::from("NaN")));
}

#[test]
fn a_million_samples_and_shared_facts() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let mut measured = run(0);
    let rtt =
        |i: u64| std::time::Duration::from_nanos(20_000 + i.wrapping_mul(2_654_435_761) % 4096).as_secs_f64();
    measured.series[1].samples = (0..1_000_000).map(|i| Sample::at(i as f64 / 1e4, rtt(i))).collect();
    let started = store.start_run(id, schedule()[0], 0.0).unwrap();
    store.finish_run(started, &done(&measured)).unwrap();
    assert_eq!(store.load_run(started).unwrap().run.unwrap(), measured);

    // Other counters, the same facts.
    let other = store.start_run(id, schedule()[1], 0.0).unwrap();
    store.finish_run(other, &done(&run(5))).unwrap();
    let count: i64 = store.conn.query_row("SELECT count(*) FROM env", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    drop(store);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 16_000_000 / 4, "{size} bytes for 16 MB of samples");
}

#[test]
fn a_stored_run_never_changes() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let started = store.start_run(id, schedule()[0], 0.0).unwrap();
    let measured = run(3);
    store.finish_run(started, &done(&measured)).unwrap();
    let before = store.load(id).unwrap();
    fails(store.finish_run(started, &done(&run(4))), "run 1 in ");
    fails(store.finish_run(started, &done(&run(4))), "has ended as done; a stored run never changes");
    assert_eq!(store.load(id).unwrap(), before);
}

#[test]
fn requests_that_make_no_sense() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let (plan, mut bad_plan, slots) = (plan("nic"), plan("nic"), schedule());
    bad_plan.margin = f64::NAN;
    let twice = [slots[0], slots[0]];
    let outside = [Slot { arm: 2, ..slots[0] }];
    let new =
        NewExperiment { plan: &plan, plan_hash: "", seed: 0, schedule: &slots, created_at: 0.0, uid: "v" };
    fails(store.begin(&NewExperiment { uid: "u", ..new }), "experiment 1 has the same uid");
    fails(store.begin(&NewExperiment { uid: "", ..new }), "is no uid");
    fails(store.begin(&NewExperiment { uid: "a\nb", ..new }), "\"a\\nb\" is no uid");
    fails(store.begin(&NewExperiment { created_at: f64::NAN, ..new }), "no time");
    fails(store.begin(&NewExperiment { plan: &bad_plan, ..new }), "a number that is none");
    fails(store.begin(&NewExperiment { schedule: &twice, ..new }), "twice");
    fails(store.begin(&NewExperiment { schedule: &outside, ..new }), "no arm or measure");
    fails(store.start_run(id, Slot { block: 9, ..slots[0] }, 0.0), "its schedule has no Slot");
    fails(store.start_run(id + 1, slots[0], 0.0), "its schedule has no Slot");
    let started = store.start_run(id, slots[0], 0.0).unwrap();
    let measured = run(1);
    fails(store.finish_run(started, &Ending { state: State::Started, ..done(&measured) }), "is no end");
    fails(store.finish_run(started, &Ending { run: None, ..done(&measured) }), "done without a measurement");
    fails(store.finish_run(started, &Ending { ended_at: f64::NAN, ..done(&measured) }), "no time");
    fails(store.finish_run(99, &done(&measured)), "no run 99 in");
    fails(store.load(99), "no experiment 99 in");
    fails(store.load_run(99), "no run 99 in");
    assert_eq!(store.list(Filter::default(), 9).unwrap().len(), 1);
    // Nothing of it left a trace: the run can still end.
    store.finish_run(started, &done(&measured)).unwrap();
}

#[test]
fn listing_and_finding() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    fails(store.find("last"), "no experiment in");
    let old = begin(&mut store, "nic", "aaaa-1", 10.0);
    let new = begin(&mut store, "NIC two", "aaab-2", 30.0);
    let middle = begin(&mut store, "nic", "12ab", 20.0);
    for slot in schedule() {
        let run_id = store.start_run(old, slot, 0.0).unwrap();
        store.finish_run(run_id, &done(&run(1))).unwrap();
    }
    let failing = store.start_run(new, schedule()[0], 0.0).unwrap();
    store
        .finish_run(failing, &Ending { state: State::Failed, ended_at: 1.0, error: None, run: None })
        .unwrap();

    let ids =
        |filter, limit| -> Vec<i64> { store.list(filter, limit).unwrap().iter().map(|s| s.id).collect() };
    let all = Filter::default();
    assert_eq!(ids(all, 9), [new, middle, old]);
    assert_eq!(ids(all, 2), [new, middle]);
    assert_eq!(ids(Filter { text: Some("TWO fast"), ..all }, 9), [new]);
    assert_eq!(ids(Filter { text: Some("%"), ..all }, 9), [0; 0]);
    assert_eq!(ids(Filter { text: Some("nic"), unfinished: true }, 9), [new, middle]);
    assert_eq!(store.unfinished().unwrap().len(), 2);
    let summary = &store.list(all, 9).unwrap()[2];
    assert_eq!((summary.slots, summary.done, summary.failed, summary.is_complete()), (4, 4, 0, true));
    assert_eq!(summary.arms, ["mtu-1500", "mtu-9000"]);
    assert_eq!(summary.question.as_deref(), Some("Is nic faster?"));
    let summary = &store.list(all, 9).unwrap()[0];
    assert_eq!((summary.done, summary.failed, summary.is_complete()), (0, 1, false));

    for (selector, id) in [
        ("last", new),
        ("1", old),
        ("nic", middle),
        ("NIC two", new),
        ("aaab", new),
        ("12", middle),
        ("aaaa-1", old),
    ] {
        assert_eq!(store.find(selector).unwrap(), id, "{selector}");
    }
    fails(store.find("aaa"), "\"aaa\" fits several experiments: 1, 2");
    fails(store.find("zzz"), "no experiment \"zzz\" in");
    fails(store.find("9\u{1b}[2J"), "no experiment \"9\\u{1b}[2J\" in");
    fails(store.find(""), "no experiment \"\" in");
}

#[test]
fn one_process_at_a_time() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let holder = |host: &str, boot: &str, pid| Holder {
        host: host.to_owned(),
        boot_id: boot.to_owned(),
        pid,
        pid_started: u64::MAX,
    };
    let me = holder("here", "boot", 1);
    let unasked = |_: &Holder| panic!("nobody to ask about");
    store.lock(id, &me, 0.0, unasked).unwrap();
    store.lock(id, &me, 0.0, unasked).unwrap();
    assert_eq!(store.list(Filter::default(), 1).unwrap()[0].holder, Some(me.clone()));
    let other = holder("here", "boot", 2);
    let mut second = Store::open(&path).unwrap();
    fails(second.lock(id, &other, 0.0, |asked| *asked == me), "is being measured by process 1 on here");
    second.lock(id, &other, 0.0, |_| false).unwrap();
    // Who lost it can't give it back.
    store.unlock(id, &me).unwrap();
    fails(store.lock(id, &me, 0.0, |_| true), "process 2 on here");
    // After a restart every process of before is gone.
    let rebooted = holder("here", "boot 2", 3);
    store.lock(id, &rebooted, 0.0, unasked).unwrap();
    fails(store.lock(id, &holder("there", "boot 3", 4), 0.0, unasked), "--force");
    store.unlock_by_force(id).unwrap();
    store.lock(id, &holder("there", "boot 3", 4), 0.0, unasked).unwrap();
    store.unlock(id, &holder("there", "boot 3", 4)).unwrap();
    assert_eq!(store.list(Filter::default(), 1).unwrap()[0].holder, None);
    fails(store.lock(id + 1, &me, 0.0, unasked), "no experiment 2");
}

#[test]
fn merging() {
    let (dir, path) = temp();
    let theirs_path = dir.path().join("theirs.db");
    let mut ours = Store::open(&path).unwrap();
    let mut theirs = Store::open(&theirs_path).unwrap();
    begin(&mut ours, "ours", "a", 5.0);
    let id = begin(&mut theirs, "theirs", "b", 1.0);
    let slots = schedule();
    let first = theirs.start_run(id, slots[0], 1.0).unwrap();
    theirs.finish_run(first, &done(&run(100))).unwrap();
    let second = theirs.start_run(id, slots[1], 2.0).unwrap();

    let merged = ours.merge(&theirs_path).unwrap();
    assert_eq!((merged.added.as_slice(), merged.runs, merged.failed.len()), ([2].as_slice(), 2, 0));
    let merged = ours.merge(&theirs_path).unwrap();
    assert_eq!((merged.added.len(), merged.updated.len(), merged.unchanged, merged.runs), (0, 0, 1, 0));

    // It goes on over there: what was started ends, what is new comes.
    theirs.finish_run(second, &done(&run(200))).unwrap();
    let third = theirs.start_run(id, slots[2], 3.0).unwrap();
    theirs
        .finish_run(third, &Ending { state: State::Failed, error: Some("why"), run: None, ..done(&run(0)) })
        .unwrap();
    let merged = ours.merge(&theirs_path).unwrap();
    assert_eq!((merged.updated.as_slice(), merged.runs), ([2].as_slice(), 2));
    let (here, there) = (ours.load(2).unwrap(), theirs.load(id).unwrap());
    assert_eq!(
        (&here.uid, &here.plan, here.seed, &here.schedule),
        (&there.uid, &there.plan, there.seed, &there.schedule)
    );
    let without_ids = |records: Vec<tenbin_core::experiment::Record>| -> Vec<_> {
        records.into_iter().map(|record| tenbin_core::experiment::Record { id: 0, ..record }).collect()
    };
    assert_eq!(without_ids(here.records), without_ids(there.records));

    // It gets more blocks over there.
    let more: Vec<Slot> = slots.iter().map(|slot| Slot { block: slot.block + 2, ..*slot }).collect();
    theirs.extend(id, &more).unwrap();
    fails(theirs.extend(id, &more[..1]), "twice");
    fails(theirs.extend(id, &[Slot { arm: 9, ..more[0] }]), "no arm or measure");
    assert_eq!(ours.merge(&theirs_path).unwrap().failed.len(), 0);
    assert_eq!(ours.load(2).unwrap().schedule, [slots.clone(), more].concat());

    // It went on in both: nothing is taken over, and the rest is unharmed.
    ours.start_run(2, slots[3], 10.0).unwrap();
    theirs.start_run(id, slots[3], 11.0).unwrap();
    begin(&mut theirs, "another", "c", 2.0);
    let before = ours.load(2).unwrap();
    let merged = ours.merge(&theirs_path).unwrap();
    assert!(merged.failed[0].to_string().contains("it went on in both stores"), "{}", merged.failed[0]);
    assert_eq!((merged.failed.len(), merged.added.as_slice()), (1, [3].as_slice()));
    assert_eq!(ours.load(2).unwrap(), before);

    fails(ours.merge(&path), "it is the store itself");
    fails(
        ours.merge(dir.path().join("none.db")),
        "none.db: no such file or directory\nhint: nothing has been stored there yet",
    );
}

#[test]
fn order_of_hosts_and_series_is_kept() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let mut measured = Run { series: Vec::new(), hosts: BTreeMap::new(), ..run(0) };
    for i in (0..20).rev() {
        let mut one = series(i);
        one.params = [("i".to_owned(), Param::Int(i as i64))].into();
        measured.series.push(one);
    }
    let started = store.start_run(id, schedule()[0], 0.0).unwrap();
    store.finish_run(started, &done(&measured)).unwrap();
    assert_eq!(store.load_run(started).unwrap().run.unwrap(), measured);
}
