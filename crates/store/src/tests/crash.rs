//! Killed processes, two writers, full disks and folders that can't be written to.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;

const CHILD: &str = "TENBIN_STORE_TEST_CHILD";

/// This test binary again, running only `child` on the store at `path`.
fn child(role: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "tests::crash::child_process", "--nocapture", "--test-threads", "1"])
        .env(CHILD, role)
        .env("TENBIN_STORE_TEST_PATH", path);
    command
}

/// No test by itself: what the children of the others do.
#[test]
fn child_process() {
    let (Ok(role), Some(path)) = (std::env::var(CHILD), std::env::var_os("TENBIN_STORE_TEST_PATH")) else {
        return;
    };
    let path = Path::new(&path);
    match role.as_str() {
        // Endless runs; each line says that a run's end has been stored.
        "writer" | "remote writer" => {
            let remote = (role == "remote writer").then_some("NFS");
            let mut store = Store::open_at(path, remote).unwrap();
            let id = store.find("last").unwrap();
            let big = run(20_000);
            loop {
                let run = store.start_run(id, schedule()[0], 1.0).unwrap();
                store.finish_run(run, &done(&big)).unwrap();
                println!("\nstored {run}");
            }
        }
        // Fails as an ordinary user does.
        "unprivileged" => match Store::open(path) {
            Ok(_) => println!("\nstored it opened"),
            Err(error) => {
                let read = Store::open_read_only(path).and_then(|store| store.list(Filter::default(), 9));
                println!(
                    "\nstored {} / {:?}",
                    error.to_string().replace('\n', " "),
                    read.map(|list| list.len())
                );
            }
        },
        _ => panic!("no such role"),
    }
}

fn stored(line: &str) -> Option<&str> {
    line.strip_prefix("stored ")
}

fn killed_at_random_moments(times: u64, role: &str, remote: Option<&str>) {
    let open = |path: &Path| Store::open_at(path, remote).unwrap();
    let (_dir, path) = temp();
    begin(&mut open(&path), "nic", "u", 0.0);
    let big = run(20_000);
    for round in 0..times {
        let mut process = child(role, &path).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        // The first run is stored, then something between the first and the third later one.
        let first = lines.by_ref().map_while(Result::ok).find(|line| stored(line).is_some());
        assert!(first.is_some());
        std::thread::sleep(Duration::from_micros(round * 7919 % 40_000));
        process.kill().unwrap();
        process.wait().unwrap();
        let said = lines.map_while(Result::ok).chain(first);
        let said: Vec<i64> = said.filter_map(|line| stored(&line)?.parse().ok()).collect();

        let loaded = open(&path).load(1).unwrap();
        for id in said {
            let record = loaded.records.iter().find(|record| record.id == id).unwrap();
            assert_eq!(record.state, State::Done, "run {id} was stored and is lost");
        }
        for record in &loaded.records {
            match record.state {
                State::Done => assert_eq!(record.run.as_ref(), Some(&big)),
                State::Started => assert_eq!((&record.run, record.ended_at), (&None, None)),
                other => panic!("run {} is {other:?}", record.id),
            }
        }
        let orphans: i64 = Connection::open(&path)
            .unwrap()
            .query_row(
                "SELECT count(*) FROM series WHERE run IN (SELECT id FROM run WHERE state = 'started')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(orphans, 0, "half a run");
        // What has been checked is not read again.
        meddle(&path, "DELETE FROM series; DELETE FROM run_host; DELETE FROM run");
    }
}

#[test]
fn killed_a_few_times() {
    killed_at_random_moments(5, "writer", None);
}

#[test]
fn killed_inside_a_commit() {
    // A killed process leaves what it had written so far: a log with all frames of a run but the last, which is the
    // commit, and one with half of that frame.
    let (dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let first = store.start_run(id, schedule()[0], 0.0).unwrap();
    store.finish_run(first, &done(&run(10))).unwrap();
    let second = store.start_run(id, schedule()[1], 0.0).unwrap();
    let wal = path.with_file_name("tenbin.db-wal");
    let before = std::fs::metadata(&wal).unwrap().len();
    store.finish_run(second, &done(&run(20_000))).unwrap();
    let (database, log) = (std::fs::read(&path).unwrap(), std::fs::read(&wal).unwrap());
    let frame = 4096 + 24;
    assert!(log.len() as u64 > before + 2 * frame);
    for cut in [before, before + 1, before + frame, log.len() as u64 - frame, log.len() as u64 - 1] {
        let copy = dir.path().join(format!("cut-{cut}.db"));
        std::fs::write(&copy, &database).unwrap();
        std::fs::write(copy.with_file_name(format!("cut-{cut}.db-wal")), &log[..cut as usize]).unwrap();
        let mut copied = Store::open(&copy).unwrap();
        let loaded = copied.load(id).unwrap();
        assert_eq!(loaded.records[0].run, Some(run(10)), "{cut}");
        assert_eq!((loaded.records[1].state, &loaded.records[1].run), (State::Started, &None), "{cut}");
        copied.finish_run(second, &done(&run(30))).unwrap();
    }
}

#[test]
fn two_writers_at_once() {
    let (_dir, path) = temp();
    let threads: Vec<_> = (0..2)
        .map(|writer| {
            let path = path.clone();
            std::thread::spawn(move || {
                // Both make the file, both bring it up to date.
                let mut store = Store::open(&path).unwrap();
                let id = begin(&mut store, "nic", &format!("uid-{writer}"), 0.0);
                for _ in 0..20 {
                    for slot in schedule() {
                        let started = store.start_run(id, slot, 1.0).unwrap();
                        store.finish_run(started, &done(&run(500))).unwrap();
                    }
                }
                id
            })
        })
        .collect();
    let ids: Vec<i64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let store = Store::open(&path).unwrap();
    for id in ids {
        let loaded = store.load(id).unwrap();
        assert_eq!((loaded.records.len(), loaded.missing().len()), (80, 0));
        assert!(loaded.records.iter().all(|record| record.run == Some(run(500))));
    }
}

#[test]
fn a_writer_that_never_ends() {
    let (_dir, path) = temp();
    let mut store = Store::open(&path).unwrap();
    let id = begin(&mut store, "nic", "u", 0.0);
    let blocker = Connection::open(&path).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.conn.busy_timeout(Duration::from_millis(50)).unwrap();
    fails(store.start_run(id, schedule()[0], 0.0), "another process has been writing to");
    assert_eq!(store.load(id).unwrap().records, []);
    blocker.execute_batch("COMMIT").unwrap();
    store.start_run(id, schedule()[0], 0.0).unwrap();
}

#[test]
fn read_only_is_read_only() {
    let (_dir, path) = temp();
    let id = begin(&mut Store::open(&path).unwrap(), "nic", "u", 0.0);
    let mut store = Store::open_read_only(&path).unwrap();
    fails(store.start_run(id, schedule()[0], 0.0), "is open for reading only");
    assert_eq!(store.load(id).unwrap().records, []);
    drop(store);
    let beside: Vec<_> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, ["tenbin.db"]);
}

#[test]
fn folders_that_cannot_be_written_to() {
    let (dir, path) = temp();
    begin(&mut Store::open(&path).unwrap(), "nic", "u", 0.0);
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(&path, 0o644);
    set_mode(dir.path(), 0o555);
    let try_it = |path: &Path| -> Option<String> {
        let mut command = child("unprivileged", path);
        if nix::unistd::geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        // Nobody may not reach the test binary where the project lies in somebody's home.
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find_map(stored).map(str::to_owned)
    };
    let (Some(existing), Some(new)) = (try_it(&path), try_it(&dir.path().join("new.db"))) else {
        set_mode(dir.path(), 0o755);
        println!("skipped: needs a test binary that every user can run");
        return;
    };
    assert!(existing.starts_with("cannot ") && existing.contains("tenbin"), "{existing}");
    assert!(existing.contains("permission denied") && existing.contains("hint: "), "{existing}");
    assert!(existing.ends_with("/ Ok(1)"), "the store can't be read: {existing}");
    assert!(new.starts_with("cannot create the store ") && new.contains("permission denied"), "{new}");
    set_mode(dir.path(), 0o755);
}

mod slow {
    use super::*;

    #[test]
    fn killed_many_times() {
        killed_at_random_moments(60, "writer", None);
        killed_at_random_moments(60, "remote writer", Some("NFS"));
    }

    /// A small disk of its own, gone with the value.
    struct SmallDisk(tempfile::TempDir);

    impl SmallDisk {
        fn new(size: &str) -> Option<SmallDisk> {
            use nix::mount::{MsFlags, mount};
            let dir = tempfile::tempdir().unwrap();
            let options = format!("size={size}");
            match mount(Some("none"), dir.path(), Some("tmpfs"), MsFlags::empty(), Some(options.as_str())) {
                Ok(()) => Some(SmallDisk(dir)),
                Err(error) => {
                    println!("skipped: needs to mount a tmpfs: {error}");
                    None
                }
            }
        }
    }

    impl Drop for SmallDisk {
        fn drop(&mut self) {
            let _ = nix::mount::umount2(self.0.path(), nix::mount::MntFlags::MNT_DETACH);
        }
    }

    fn disk_full(remote: Option<&str>) {
        let Some(disk) = SmallDisk::new("1m") else { return };
        let path = disk.0.path().join("tenbin.db");
        let mut store = Store::open_at(&path, remote).unwrap();
        let id = begin(&mut store, "nic", "u", 0.0);
        let filler = disk.0.path().join("filler");
        let mut noise = 1_u64;
        let mut measured = run(0);
        let mut kept = Vec::new();
        let error = loop {
            measured.series[0].samples = (0..5_000)
                .map(|_| {
                    noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    Sample::of((noise >> 11) as f64 * 1e-7)
                })
                .collect();
            let started = match store.start_run(id, schedule()[0], 0.0) {
                Ok(started) => started,
                Err(error) => break error,
            };
            match store.finish_run(started, &done(&measured)) {
                Ok(()) => kept.push((started, measured.clone())),
                Err(error) => break error,
            }
            assert!(kept.len() < 1000);
        };
        let text = error.to_string();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        assert!(text.contains("cannot store") && text.contains("tenbin.db is full\nhint: free"), "{text}");
        assert!(!kept.is_empty());
        std::fs::write(&filler, [0; 1 << 20]).unwrap_err();

        let intact = |store: &Store| {
            let loaded = store.load(id).unwrap();
            for (id, measured) in &kept {
                let record = loaded.records.iter().find(|record| record.id == *id).unwrap();
                assert_eq!((record.state, record.run.as_ref()), (State::Done, Some(measured)));
            }
            assert_eq!(store.list(Filter::default(), 9).unwrap().len(), 1);
            loaded
        };
        // It stays readable: here, beside it, and once closed.
        let loaded = intact(&store);
        intact(&Store::open_read_only(&path).unwrap());
        drop(store);
        intact(&Store::open_read_only(&path).unwrap());
        // With room again the run that did not fit can end.
        std::fs::remove_file(&filler).unwrap();
        remount(disk.0.path(), "8m");
        let mut store = Store::open_at(&path, remote).unwrap();
        intact(&store);
        let last = loaded.records.last().unwrap();
        if last.state == State::Started {
            store.finish_run(last.id, &done(&measured)).unwrap();
        }
    }

    fn remount(path: &Path, size: &str) {
        use nix::mount::{MsFlags, mount};
        let options = format!("size={size}");
        mount(Some("none"), path, Some("tmpfs"), MsFlags::MS_REMOUNT, Some(options.as_str())).unwrap();
    }

    #[test]
    fn disk_full_with_a_log() {
        disk_full(None);
    }

    #[test]
    fn disk_full_with_a_rollback_journal() {
        disk_full(Some("NFS"));
    }

    #[test]
    fn disk_full_from_the_start() {
        let Some(disk) = SmallDisk::new("16k") else { return };
        std::fs::write(disk.0.path().join("filler"), [0; 1 << 16]).unwrap_err();
        let error = Store::open(disk.0.path().join("tenbin.db")).err().unwrap().to_string();
        assert!(error.contains("full") || error.contains("no space left"), "{error}");
        assert!(error.contains("hint: "), "{error}");
    }
}
