//! The engine with the shell that every machine has.

use std::thread;

use tenbin_core::spec::Value;

use super::process::{NAP, last_line};
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
    let argv = ["sh", "-c", "head -c 1000000 /dev/zero; echo end"].map(str::to_owned);
    let mut child = process::start(&argv, &Default::default()).unwrap();
    let forever = Duration::from_secs(60);
    let ended = process::watch(&mut child, Instant::now(), forever, TAIL, &Stop::default()).unwrap();
    assert_eq!((ended.stdout.len(), last_line(&ended.stdout).as_deref()), (TAIL, Some("end")));
    assert!(ended.cut);
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

/// A job between two addresses of this host, with parameters in the plan's grammar.
fn between(params: &[(&str, &str)]) -> Job {
    let read = |(name, text): &(&str, &str)| {
        ((*name).to_owned(), SPEC.param(name).unwrap().read_text(text).unwrap())
    };
    Job {
        params: SPEC.with_defaults(Values(params.iter().map(read).collect())).unwrap(),
        peer: Some("127.0.0.1:0".parse().unwrap()),
        bind: Some("127.0.0.1".parse().unwrap()),
        ..job(&[], 60.0)
    }
}

#[test]
fn output_is_read_by_the_format_named() {
    let measure = |script: &str| {
        let mut rec = Recorder::default();
        let job = between(&[("command", script), ("format", "ping")]);
        External.run(&job, &mut rec, &Stop::default()).map(|()| rec).map_err(|error| error.to_string())
    };
    let reply = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.250 ms";
    let rec = measure(&format!("echo '{reply}'")).unwrap();
    assert_eq!(value(&rec, "rtt"), 0.25e-3);
    // The cost of the whole command is there, and no verdict is made of it.
    let cost = rec.series.iter().find(|series| series.metric == DURATION).unwrap();
    assert!(cost.headline.is_none() && cost.samples.len() == 1);
    let error = measure("echo no ping").err().unwrap();
    assert!(error.starts_with("`echo no ping` printed what ping can't read"), "{error}");
    assert!(measure("false").err().unwrap().ends_with("ended with exit status 1"));
}

#[test]
fn places_are_filled_in() {
    let check = |script: &str, filled_in: Result<&str, &str>| {
        let job = Job { peer: Some("192.0.2.1:77".parse().unwrap()), ..between(&[]) };
        let filled = filled(&[script.to_owned()], &job).map(|argv| argv[0].clone());
        match filled_in {
            Ok(text) => assert_eq!(filled.unwrap(), text),
            Err(part) => assert!(filled.unwrap_err().to_string().contains(part)),
        }
    };
    check("x {server}:{port} -B {client} {else}", Ok("x 192.0.2.1:77 -B 127.0.0.1 {else}"));
    let alone = Job { peer: None, bind: None, ..between(&[]) };
    let error = filled(&["ping {server}".to_owned()], &alone).unwrap_err().to_string();
    assert!(error.contains("add to ="), "{error}");
}

#[test]
fn presets_name_formats_that_exist() {
    let known: Vec<&str> = tenbin_formats::FORMATS.iter().map(|format| format.name()).collect();
    // Presets of formats still to come would be refused by name.
    for preset in preset::PRESETS {
        assert!(known.contains(&preset.format), "{}", preset.name);
    }
}

#[test]
fn a_far_side_is_waited_for_and_ended() {
    let serve = |script: &str, stop: &Stop| {
        let mut at = None;
        let job = between(&[("serve", script), ("command", "true")]);
        let asker = stop.clone();
        let ended = External.serve(
            &job,
            &mut |address| {
                at = Some(address);
                asker.set();
            },
            stop,
        );
        (at, ended.map_err(|error| error.to_string()))
    };
    let listen = "exec perl -MIO::Socket::INET -e 'sleep 1 while IO::Socket::INET->new(LocalPort => {port}, Listen => 1)->accept'";
    let (at, ended) = serve(listen, &Stop::default());
    assert_ne!(at.unwrap().port(), 0);
    ended.unwrap();
    let (at, ended) = serve("echo cannot bind >&2; exit 1", &Stop::default());
    assert!(at.is_none());
    let error = ended.unwrap_err();
    assert!(error.contains("did not listen on port") && error.ends_with("cannot bind"), "{error}");
}
