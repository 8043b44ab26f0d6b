//! Runs without an experiment.

use super::*;
use crate::{Kept, Parcel};

fn parcel(run: &Run, identity: &str) -> Parcel {
    let mut parcel = Parcel::new(run, Some("new NIC"), 100.5, Some("boot")).unwrap();
    parcel.identity = identity.to_owned();
    parcel
}

#[test]
fn the_same_run_is_kept_once() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let measured = run(70_000);
    let kept = store.keep(&[parcel(&measured, "a"), parcel(&run(1), "b"), parcel(&measured, "a")]).unwrap();
    assert_eq!(kept, [Kept::New(1), Kept::New(2), Kept::Known(1, Some("new NIC".to_owned()))]);
    let found = store.any_run(1).unwrap();
    assert_eq!(found.run.as_ref(), Some(&measured));
    assert_eq!(found.state, State::Done);
    let listed = store.lone(10).unwrap();
    assert_eq!(listed.iter().map(|run| run.id).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(found.lone.as_ref(), Some(&listed[1]));
    assert_eq!((listed[1].identity.as_str(), listed[1].session.as_deref()), ("a", Some("boot")));
    assert_eq!((listed[0].tool.as_str(), listed[0].stored_at), ("tenbin", 100.5));
    assert_eq!((store.lone(1).unwrap().len(), store.lone_count().unwrap()), (1, 2));
    fails(store.any_run(3), "no run 3 in");
    // Runs of experiments are no such runs.
    let experiment = begin(&mut store, "nic", "u", 0.0);
    let started = store.start_run(experiment, schedule()[0], 1.0).unwrap();
    assert_eq!(store.any_run(started).unwrap().lone, None);
    assert_eq!(store.lone_count().unwrap(), 2);
    assert_eq!(store.list(Filter::default(), 9).unwrap().len(), 1);
}

#[test]
fn runs_that_make_no_sense() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    fails(store.keep(&[parcel(&run(1), "")]), "no identity");
    fails(store.keep(&[parcel(&run(1), &"a".repeat(300))]), "a store holds at most 200");
    fails(Parcel::new(&run(1), None, f64::NAN, None).map(|_| ()), "no time");
    fails(Parcel::new(&run(1), Some(&"a".repeat(300)), 0.0, None).map(|_| ()), "at most 200");
    assert_eq!(store.lone_count().unwrap(), 0);
}

#[test]
fn merging_takes_them_along() {
    let (dir, path) = temp();
    let there = dir.path().join("there.db");
    let mut other = Store::open(&there).unwrap();
    other.keep(&[parcel(&run(3), "a"), parcel(&run(4), "b")]).unwrap();
    drop(other);
    let mut store = Store::open(&path).unwrap();
    store.keep(&[parcel(&run(3), "a")]).unwrap();
    let merged = store.merge(&there).unwrap();
    assert_eq!((merged.lone_added, merged.lone_known, merged.failed.len()), (1, 1, 0));
    let merged = store.merge(&there).unwrap();
    assert_eq!((merged.lone_added, merged.lone_known), (0, 2));
    let both = Store::open_read_only(&there).unwrap();
    assert_eq!(store.any_run(2).unwrap(), both.any_run(2).unwrap());
}

#[test]
fn the_boot_that_measured_is_noted() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let experiment = begin(&mut store, "nic", "u", 0.0);
    let session = |store: &Store, run: i64| -> Option<String> {
        store.conn.query_row("SELECT session FROM run WHERE id = ?1", [run], |row| row.get(0)).unwrap()
    };
    let run = store.start_run(experiment, schedule()[0], 1.0).unwrap();
    assert_eq!(session(&store, run), None);
    let me = Holder { host: "h".to_owned(), boot_id: "b-1".to_owned(), pid: 1, pid_started: 2 };
    store.lock(experiment, &me, 0.0, |_| true).unwrap();
    let run = store.start_run(experiment, schedule()[1], 2.0).unwrap();
    assert_eq!(session(&store, run).as_deref(), Some("b-1"));
}

#[test]
fn older_stores_are_read_as_they_are() {
    let (dir, path) = temp();
    foreign::version_1(&path);
    let before = std::fs::read(&path).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.load(1).unwrap().records.len(), 3);
    assert_eq!(store.lone_count().unwrap(), 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // And merged, from a disk that can't be written to.
    let mut new = Store::open(dir.path().join("new.db")).unwrap();
    assert_eq!(new.merge(&path).unwrap().added.len(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // What a user added to an old one is no hindrance; an index on a table that is made anew goes.
    let mine = dir.path().join("mine.db");
    foreign::version_1(&mine);
    meddle(&mine, "CREATE VIEW mine AS SELECT * FROM run; CREATE INDEX by_state ON run(state)");
    assert_eq!(Store::open(&mine).unwrap().load(1).unwrap().records.len(), 3);
}
