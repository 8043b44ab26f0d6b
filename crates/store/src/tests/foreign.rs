//! Files that are no store, a newer one, an older one, or damaged.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::{place, schema};

/// A store of version 1 as it was released, with an experiment of one finished run. Never changes.
pub(super) fn version_1(path: &Path) {
    meddle(path, include_str!("version-1.sql"));
}

#[test]
fn older_versions_open() {
    let (_dir, path) = temp();
    version_1(&path);
    let store = Store::open(&path).unwrap();
    let version: i64 = store.conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, schema::MIGRATIONS.len() as i64);
    let loaded = store.load(store.find("last").unwrap()).unwrap();
    assert_eq!((loaded.uid.as_str(), loaded.seed, loaded.schedule.len()), ("0a1b", 7, 4));
    let measured = loaded.records[0].run.as_ref().unwrap();
    let values: Vec<_> = measured.series.iter().map(Series::values).collect();
    assert_eq!(values, [vec![1e9, 5e8, 1e9 / 3.0], vec![]]);
    assert_eq!(measured.series[0].samples[2].time(), Some(2.0 * 0.1));
    assert_eq!(measured.hosts["server"].number("net.eth0.rx"), Some(3.0));
    assert_eq!(measured.hosts["client"].text("cpu.model"), Some("A \"CPU\""));
    assert_eq!(loaded.records[1].state, State::Failed);
    assert_eq!(loaded.records[2].state, State::Started);
}

#[test]
fn migrations_run_in_order_and_once() {
    let mut conn = Connection::open_in_memory().unwrap();
    let steps = [
        "CREATE TABLE a (x)",
        "INSERT INTO a VALUES (1)",
        "UPDATE a SET x = x + 10; INSERT INTO a VALUES (2)",
    ];
    schema::migrate(&mut conn, &steps[..2]).unwrap();
    schema::migrate(&mut conn, &steps).unwrap();
    schema::migrate(&mut conn, &steps).unwrap();
    let found: Vec<i64> = conn
        .prepare("SELECT x FROM a ORDER BY x")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(found, [2, 11]);
    assert_eq!(schema::look(&conn).unwrap(), schema::Found::Store(3));
    // A step that fails leaves the one before.
    let broken = ["", "", "", "INSERT INTO a VALUES (3); nonsense"];
    assert!(schema::migrate(&mut conn, &broken).is_err());
    assert_eq!(schema::look(&conn).unwrap(), schema::Found::Store(3));
    let rows: i64 = conn.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 2);
}

#[test]
fn files_that_are_no_store() {
    let (dir, path) = temp();
    let both = |part: &str| {
        fails(Store::open(&path), part);
        fails(Store::open_read_only(&path), part);
    };
    fails(Store::open_read_only(&path), "cannot open the store");
    std::fs::write(&path, "question = \"this is a plan, not a store\"\n".repeat(50)).unwrap();
    let before = std::fs::read(&path).unwrap();
    both("tenbin.db is not a store of tenbin: no SQLite file");
    assert_eq!(std::fs::read(&path).unwrap(), before);

    std::fs::remove_file(&path).unwrap();
    meddle(&path, "CREATE TABLE bookmarks (url)");
    let before = std::fs::read(&path).unwrap();
    both("a database of another program");
    assert_eq!(std::fs::read(&path).unwrap(), before);

    std::fs::write(&path, "").unwrap();
    fails(Store::open_read_only(&path), "it is empty");
    drop(Store::open(&path).unwrap());
    meddle(&path, "PRAGMA user_version = 99");
    both("has schema version 99, this tenbin knows up to 2");
    meddle(&path, "PRAGMA user_version = 2; DROP TABLE series; CREATE VIEW series AS SELECT 1");
    both("there is no table series");
    meddle(&path, "DROP VIEW series; CREATE TABLE series (run)");
    both("the table series is another");

    fails(Store::open(dir.path()), "it is a folder");
    fails(Store::open_read_only(dir.path()), "it is a folder");
    // A pipe would wait for somebody at its other end.
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fails(Store::open(&pipe), "no regular file");
    fails(Store::open_read_only(&pipe), "no regular file");
    fails(Store::open(path.join("below.db")), "cannot create the folder");
}

#[test]
fn triggers_are_refused_and_indexes_are_not() {
    let (_dir, path) = temp();
    drop(Store::open(&path).unwrap());
    meddle(&path, "CREATE INDEX mine ON experiment(name); CREATE VIEW also_mine AS SELECT * FROM run");
    drop(Store::open(&path).unwrap());
    meddle(&path, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END");
    fails(Store::open(&path), "it has triggers");
}

#[test]
fn damaged_content_names_the_run() {
    for (sql, part) in [
        ("UPDATE run SET run_json = '{'", "run 1 in "),
        ("UPDATE run SET run_json = '{'", "is damaged: EOF"),
        ("UPDATE run SET run_json = '{\"tool\": 5}'", "invalid type"),
        ("UPDATE run SET run_json = NULL", "done without a measurement"),
        ("UPDATE run SET ended_at_seconds = NULL", "ended at no time"),
        ("PRAGMA ignore_check_constraints = 1; UPDATE run SET state = 'x\ny'", "ended but \"x\\ny\""),
        ("PRAGMA foreign_keys = 0; UPDATE run SET slot = 77", "run 1 in "),
        ("UPDATE slot SET block = -1", "experiment 1 in "),
        ("UPDATE slot SET arm = 99 WHERE idx = 0", "no arm or measure"),
        ("UPDATE series SET n = n + 1", "run 1 in "),
        ("UPDATE series SET n = -1", "-1 samples"),
        ("UPDATE series SET n = 1 << 40", "has 2199023255552 samples"),
        ("UPDATE series SET n = 1 << 27 WHERE idx = 0", "more than 33554432 samples"),
        ("UPDATE series SET n = 1 << 24 WHERE idx = 0", "too few bytes"),
        ("UPDATE series SET encoding = 3", "series 0: samples in encoding 3"),
        ("UPDATE series SET data = x'00'", "cannot decompress"),
        ("UPDATE series SET data = x''", "cannot decompress"),
        ("UPDATE series SET data = zeroblob(1000)", "cannot decompress"),
        ("UPDATE series SET series_json = '[]'", "run 1 in "),
        ("UPDATE series SET series_json = replace(series_json, 'bit/s', 'furlong')", "furlong"),
        ("UPDATE env SET facts_json_zstd = x'1234'", "the facts of client: cannot decompress"),
        ("UPDATE env SET sha256 = zeroblob(32)", "differ from their checksum"),
        ("PRAGMA foreign_keys = 0; DELETE FROM env", "run 1 in "),
        ("UPDATE run_host SET counters_json_zstd = x''", "the facts of client: cannot"),
        ("UPDATE experiment SET plan_json = '{}'", "its plan: missing field"),
        ("UPDATE experiment SET plan_json = replace(plan_json, '[', '[[[[')", "experiment 1 in "),
        ("UPDATE experiment SET uid = 'a b'", "its uid is none"),
        ("UPDATE experiment SET plan_json = hex(zeroblob(9000000))", "a document of 18000000 bytes"),
    ] {
        let (dir, path) = temp();
        let mut store = Store::open(&path).unwrap();
        let id = begin(&mut store, "nic", "u", 0.0);
        let started = store.start_run(id, schedule()[0], 0.0).unwrap();
        store.finish_run(started, &done(&run(10))).unwrap();
        drop(store);
        meddle(&path, sql);
        let store = Store::open_read_only(&path).unwrap();
        let error = store.load(id).expect_err(sql).to_string();
        assert!(error.contains(part), "{sql}: {error}");
        // Nothing of it gets into another store.
        let mut other = Store::open(dir.path().join("other.db")).unwrap();
        let merged = other.merge(&path).unwrap();
        assert_eq!((merged.failed.len(), merged.runs), (1, 0), "{sql}");
        assert_eq!(other.list(Filter::default(), 9).unwrap(), []);
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let started = store.start_run(id, schedule()[0], 0.0).unwrap();
    store.finish_run(started, &done(&run(10))).unwrap();
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let mut state = 1_u64;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(store) = Store::open_read_only(&path) {
            let _ = store.load(id);
            let _ = store.list(Filter::default(), 9);
        }
    }
    for len in (0..whole.len()).step_by(whole.len() / 40) {
        std::fs::write(&path, &whole[..len]).unwrap();
        if let Ok(store) = Store::open_read_only(&path) {
            let _ = store.load(id);
        }
    }
}

#[test]
fn for_its_owner_only() {
    let (dir, _) = temp();
    let path = dir.path().join("new folder").join("deep").join("tenbin.db");
    let _store = Store::open(&path).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(place::folder(&path))), (0o600, 0o700));
    assert_eq!(mode(&path.with_file_name("tenbin.db-wal")), 0o600);
}

#[test]
fn remote_file_systems() {
    let (_dir, path) = temp();
    let open = || Store::open_at(&path, Some("NFS")).unwrap();
    let journal = |store: &Store| -> String {
        store.conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap()
    };
    let mut store = open();
    assert_eq!(journal(&store), "truncate");
    assert!(store.notes()[0].contains("lies on NFS"), "{:?}", store.notes());
    begin(&mut store, "nic", "u", 0.0);
    drop(store);
    // Copied to a local disk, it gets a log; back on the network it loses it, unless others have it open.
    let local = Store::open_at(&path, None).unwrap();
    assert_eq!((journal(&local).as_str(), local.notes().len()), ("wal", 0));
    let shared = open();
    assert_eq!(journal(&shared), "wal");
    assert!(shared.notes()[1].contains("keeps its wal journal"), "{:?}", shared.notes());
    drop((local, shared));
    assert_eq!(journal(&open()), "truncate");
    assert_eq!(Store::open_read_only(&path).unwrap().list(Filter::default(), 9).unwrap().len(), 1);
}
