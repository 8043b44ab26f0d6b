//! The engine with the shell that every machine has.

use tenbin_core::spec::Value;

use super::*;

fn job(argv: &[&str], timeout: f64) -> Job {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let values =
        [("command".to_owned(), Value::Command(argv)), ("timeout".to_owned(), Value::Seconds(timeout))];
    Job {
        engine: "external".to_owned(),
        params: SPEC.with_defaults(Values(values.into())).unwrap(),
        peer: None,
        bind: None,
        cookie: String::new(),
        env: [("COLOUR", "blue"), ("LC_ALL", "C")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
    }
}

fn run(argv: &[&str]) -> Result<Recorder, String> {
    let mut rec = Recorder::default();
    match External.run(&job(argv, 60.0), &mut rec, &Stop::default()) {
        Ok(()) => Ok(rec),
        Err(error) => Err(error.to_string()),
    }
}

fn value(rec: &Recorder, name: &str) -> f64 {
    rec.series.iter().find(|series| series.metric.name == name).unwrap().headline_value().unwrap()
}

#[test]
fn what_a_command_costs() {
    let rec = run(&["sh", "-c", "sleep 0.2"]).unwrap();
    assert!(value(&rec, "duration") >= 0.2);
    assert!(value(&rec, "cpu_time") < value(&rec, "duration"));
    assert_eq!(rec.facts[0].0, "external.max_rss");
    let busy = run(&["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]).unwrap();
    assert!(value(&busy, "cpu_time") > 0.0);
}

#[test]
fn commands_that_fail() {
    let check = |argv: &[&str], error: &str| assert_eq!(run(argv).err().as_deref(), Some(error));
    check(&["sh", "-c", "exit 3"], "`exit 3` ended with exit status 3");
    check(
        &["sh", "-c", "echo first >&2; echo \"no $COLOUR disk\" >&2; echo; exit 1"],
        "`echo first >&2; echo \"no $COLOUR disk\" >&2; echo; exit 1` ended with exit status 1: no blue disk",
    );
    check(&["sh", "-c", "echo said; false"], "`echo said; false` ended with exit status 1: said");
    check(&["sh", "-c", "kill -9 $$"], "`kill -9 $$` was ended by SIGKILL");
    check(
        &["/nowhere/tool", "-v"],
        "`/nowhere/tool -v` cannot be started: there is no such program on this host",
    );
    check(
        &["/proc/self/status"],
        "cannot start /proc/self/status: permission denied\nhint: it must be a file that this user may execute",
    );
    check(&[], "external needs a command");
    // No shell in between: the words are the program's.
    check(
        &["ls", "/nowhere; echo"],
        "`ls /nowhere; echo` ended with exit status 2: \
        ls: cannot access '/nowhere; echo': No such file or directory",
    );
}

#[test]
fn much_output_does_not_block_and_is_not_kept() {
    let rec = run(&["sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"]);
    assert!(rec.is_ok());
    let mut child = Command::new("sh")
        .args(["-c", "head -c 1000000 /dev/zero; echo end"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let kept = last_bytes(child.stdout.take().unwrap(), &AtomicBool::new(false));
    child.wait().unwrap();
    assert_eq!((kept.len(), last_line(&kept).as_deref()), (KEPT, Some("end")));
}

#[test]
fn the_whole_group_ends_with_the_run() {
    let folder = std::env::temp_dir().join(format!("tenbin-external-{}", std::process::id()));
    let script = format!("sleep 600 & echo $! > {}; COUNT", folder.display());
    let survivor = || {
        let pid = std::fs::read_to_string(&folder).unwrap();
        // A zombie that nobody has collected yet is gone as well.
        std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z"))
    };
    let gone = || {
        for _ in 0..100 {
            if !survivor() {
                return true;
            }
            thread::sleep(NAP);
        }
        false
    };
    let with = |end: &str| script.replace("COUNT", end);

    run(&["sh", "-c", &with("true")]).unwrap();
    assert!(gone(), "after the command's own end");

    let mut rec = Recorder::default();
    let late = External.run(&job(&["sh", "-c", &with("wait")], 0.3), &mut rec, &Stop::default());
    assert!(late.unwrap_err().to_string().ends_with("still ran after 300 ms"));
    assert!(gone(), "after the timeout");

    let stop = Stop::default();
    let asker = stop.clone();
    let asking = thread::spawn(move || {
        thread::sleep(4 * NAP);
        asker.set();
    });
    // Deaf to SIGTERM: killed after the grace.
    let deaf = with("trap '' TERM; while :; do sleep 1; done");
    let stopped = External.run(&job(&["sh", "-c", &deaf], 60.0), &mut rec, &stop);
    asking.join().unwrap();
    assert!(matches!(stopped, Err(RunError::Interrupted)), "{stopped:?}");
    assert!(gone(), "after the stop");
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn last_lines() {
    let check = |bytes: &[u8], line: Option<&str>| assert_eq!(last_line(bytes).as_deref(), line);
    check(b"", None);
    check(b"\n \n", None);
    check(b"one\ntwo\n", Some("two"));
    check(b"1 %\r100 %\r\n", Some("100 %"));
    check(b"\x1b[31mred\xff\n", Some("[31mred\u{fffd}"));
}
