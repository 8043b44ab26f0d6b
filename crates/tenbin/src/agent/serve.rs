//! The agent's side: reads requests, does them, and puts everything back when the controller is gone.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::panic::AssertUnwindSafe;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::recorder::Recorder;
use tenbin_engines::{RunError, Stop};
use tenbin_linux::set::{self, Applied, Setting};
use tenbin_linux::{lab, net, probe, sense, sysroot::SysRoot};

use super::deploy;
use super::protocol::{self, Failure, Measured, Numbered, Reply, Request, Watched};

/// Everything the agent's threads share.
struct Shared {
    out: Mutex<Box<dyn Write + Send>>,
    /// What was changed, oldest first. Locked while anything is changed or put back, so that whoever ends this
    /// process waits for it.
    applied: Mutex<Vec<Applied>>,
    /// Requests that run in threads of their own, by number.
    running: Mutex<HashMap<u64, Stop>>,
    /// When the controller was last heard, in milliseconds since `began`.
    heard: AtomicU64,
    /// A request is being done by the reader, which hears nothing meanwhile.
    busy: AtomicBool,
    began: Instant,
    over: AtomicBool,
    sys: SysRoot,
}

/// Serves one controller over `input` and `out` until it says good-bye, its link ends, or it falls silent.
/// Restores what was set before it returns. `build` is the hash of this binary;
/// `terminate`, set by a signal, ends it like a broken link; `stop_reading` frees the reader from `input`.
pub fn serve(
    mut input: impl Read,
    out: impl Write + Send + 'static,
    build: &str,
    terminate: Arc<AtomicBool>,
    stop_reading: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let shared = Arc::new(Shared::new(out));
    shared.send(
        0,
        Reply::Hello {
            protocol: protocol::VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: build.to_owned(),
        },
    );
    let watcher = std::thread::spawn({
        let shared = Arc::clone(&shared);
        move || dead_man(&shared, &terminate, stop_reading)
    });
    // Restores even if a defect unwinds the reader.
    let wind_up = WindUp(&shared);
    let result = read_requests(&mut input, &shared);
    drop(wind_up);
    // The watcher only sleeps in short steps, so this does not take long.
    let _ = watcher.join();
    result
}

struct WindUp<'a>(&'a Shared);

impl Drop for WindUp<'_> {
    fn drop(&mut self) {
        self.0.wind_up();
    }
}

fn read_requests(input: &mut impl Read, shared: &Arc<Shared>) -> io::Result<()> {
    while let Some(Numbered { id, body }) = protocol::read(input)? {
        shared.busy.store(true, Ordering::Relaxed);
        shared.hear();
        match body {
            Request::Heartbeat => {}
            Request::Bye => {
                let failures = shared.restore();
                shared.send(id, restored(&failures));
                return Ok(());
            }
            Request::Cancel { id: other } => {
                if let Some(stop) = lock(&shared.running).get(&other) {
                    stop.set();
                }
            }
            Request::Locate { peer } => shared.answer(id, locate(&peer)),
            Request::Probe => shared.send(id, Reply::Facts { facts: probe::all(&shared.sys) }),
            Request::WaysBack { settings } => shared.answer(id, ways_back(&settings)),
            Request::TakeOver { ways_back } => {
                lock(&shared.applied).extend(ways_back);
                let failures = shared.restore();
                shared.send(id, restored(&failures));
            }
            Request::Apply { settings } => shared.answer(id, shared.apply(&settings)),
            Request::Restore => {
                let failures = shared.restore();
                shared.send(id, restored(&failures));
            }
            Request::Command { argv, env } => {
                shared.in_thread(id, move |_, stop| command(&argv, &env, &stop));
            }
            Request::Run { job, watch } => shared.in_thread(id, move |shared, stop| {
                let progress = Arc::clone(shared);
                let recorder = Recorder::with_progress(move |p| {
                    progress.send(id, Reply::Progress { progress: p });
                });
                measure(&shared.sys, watch.as_ref(), recorder, |rec| {
                    engine(&job.engine)?.run(&job, rec, &stop)
                })
            }),
            Request::Serve { job, watch } => shared.in_thread(id, move |shared, stop| {
                let mut ready = |address| shared.send(id, Reply::Ready { address });
                measure(&shared.sys, watch.as_ref(), Recorder::default(), |_| {
                    engine(&job.engine)?.serve(&job, &mut ready, &stop)
                })
            }),
        }
        shared.hear();
        shared.busy.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// A request that the reader does itself may take so long: cards that take seconds to bring their link up again, a
/// name server that does not answer. Heartbeats wait unread meanwhile, which is no silence of the controller.
const LONGEST_REQUEST: Duration = Duration::from_secs(60);

/// Ends the agent when the controller has been silent for too long or the agent is told to end.
fn dead_man(shared: &Shared, terminate: &AtomicBool, stop_reading: impl Fn()) {
    while !shared.over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        if shared.is_forsaken() || terminate.load(Ordering::Relaxed) {
            shared.wind_up();
            stop_reading();
            return;
        }
    }
}

impl Shared {
    fn new(out: impl Write + Send + 'static) -> Shared {
        Shared {
            out: Mutex::new(Box::new(out)),
            applied: Mutex::default(),
            running: Mutex::default(),
            heard: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            began: Instant::now(),
            over: AtomicBool::new(false),
            sys: SysRoot::live(),
        }
    }

    fn hear(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(now, Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)))
    }

    /// Whether the controller has been silent for so long that it must be gone.
    fn is_forsaken(&self) -> bool {
        let patience = match self.busy.load(Ordering::Relaxed) {
            true => LONGEST_REQUEST,
            false => protocol::DEAD_MAN,
        };
        self.silence() > patience
    }

    /// A controller that is gone can't be told anything; the reader notices the end of the link itself.
    fn send(&self, id: u64, body: Reply) {
        let sent = protocol::write(&mut **lock(&self.out), &Numbered { id, body });
        if let Err(e) = sent
            && e.kind() == io::ErrorKind::InvalidInput
        {
            let _ = protocol::write(
                &mut **lock(&self.out),
                &Numbered { id, body: failed(format!("cannot send what was measured: {e}")) },
            );
        }
    }

    fn answer(&self, id: u64, result: Result<Reply, String>) {
        self.send(id, result.unwrap_or_else(failed));
    }

    fn in_thread(
        self: &Arc<Shared>,
        id: u64,
        work: impl FnOnce(&Arc<Shared>, Stop) -> Reply + Send + 'static,
    ) {
        let stop = Stop::default();
        lock(&self.running).insert(id, stop.clone());
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            // Without an answer the controller would wait as long as the measurement may take.
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| work(&shared, stop)));
            let reply =
                done.unwrap_or_else(|_| failed("a defect of tenbin ended the measurement".to_owned()));
            lock(&shared.running).remove(&id);
            shared.send(id, reply);
        });
    }

    fn apply(&self, settings: &[Setting]) -> Result<Reply, String> {
        let mut applied = lock(&self.applied);
        for setting in settings {
            // What arrives while this agent winds up would stay for good.
            if self.over.load(Ordering::SeqCst) {
                return Err("this agent is ending".to_owned());
            }
            // The way back is kept before the change: a panic or a signal in between must find it.
            applied.push(set::way_back(setting).map_err(|e| e.to_string())?);
            if let Err(e) = set::apply(setting) {
                // What could not be put in force has put itself back.
                applied.pop();
                return Err(e.to_string());
            }
        }
        Ok(Reply::Ok)
    }

    /// Puts back everything, newest first, and goes on past failures, which it returns. What failed is kept, to be
    /// tried again.
    fn restore(&self) -> Vec<String> {
        let mut applied = lock(&self.applied);
        let (mut failures, mut kept) = (Vec::new(), Vec::new());
        while let Some(done) = applied.pop() {
            if let Err(e) = set::restore(&done) {
                failures.push(e.to_string());
                kept.insert(0, done);
            }
        }
        *applied = kept;
        failures
    }

    /// Stops what runs and restores. Called from the reader and from the dead-man thread; once is enough.
    fn wind_up(&self) {
        if self.over.swap(true, Ordering::SeqCst) {
            return;
        }
        for stop in lock(&self.running).values() {
            stop.set();
        }
        self.restore();
        let patience = Instant::now() + Duration::from_secs(3);
        while !lock(&self.running).is_empty() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn measure(
    sys: &SysRoot,
    watch: Option<&Watched>,
    mut recorder: Recorder,
    work: impl FnOnce(&mut Recorder) -> Result<(), RunError>,
) -> Reply {
    let watch = watch.map(|watched| sense::Watch::start(sys, &watched.interfaces, watched.tolerate));
    let result = work(&mut recorder);
    let sensed = watch.map(sense::Watch::finish);
    match result {
        Ok(()) => {
            let mut measured = Measured {
                series: recorder.series,
                facts: recorder.facts,
                caveats: recorder.caveats,
                ..Measured::default()
            };
            if let Some(sensed) = sensed {
                measured.telemetry = sensed.series;
                measured.taint = Some(sensed.taint);
                measured.caveats.extend(sensed.caveats);
            }
            drop_no_numbers(&mut measured);
            Reply::Measured(Box::new(measured))
        }
        Err(RunError::Interrupted) => {
            Reply::Failed { error: RunError::Interrupted.to_string(), kind: Failure::Interrupted }
        }
        Err(e) => failed(e.to_string()),
    }
}

/// Takes out values that are no finite numbers, which JSON lacks, and says so: a rate over no time measured nothing.
fn drop_no_numbers(measured: &mut Measured) {
    for series in measured.series.iter_mut().chain(&mut measured.telemetry) {
        let before = series.samples.len();
        series.samples.retain(|sample| sample.value.is_finite());
        series.reported.retain(|_, figure| figure.is_finite());
        for sample in &mut series.samples {
            *sample =
                tenbin_core::sample::Sample::new(sample.time().filter(|at| at.is_finite()), sample.value);
        }
        let lost = before - series.samples.len();
        if lost > 0 {
            let text = format!("{lost} of {before} values of {} are no finite numbers", series.metric.name);
            measured.caveats.push(Caveat::new(CaveatKind::NotMeasured, text));
        }
    }
}

fn engine(name: &str) -> Result<&'static dyn tenbin_engines::Engine, RunError> {
    tenbin_engines::find(name).ok_or_else(|| RunError::Unsupported { what: format!("no engine {name} here") })
}

fn ways_back(settings: &[Setting]) -> Result<Reply, String> {
    let ways_back: Result<_, _> = settings.iter().map(set::way_back).collect();
    ways_back.map(|ways_back| Reply::WaysBack { ways_back }).map_err(|e| e.to_string())
}

fn locate(peer: &str) -> Result<Reply, String> {
    let address = match peer.parse::<IpAddr>() {
        Ok(address) => address,
        Err(_) => (peer, 0)
            .to_socket_addrs()
            .map_err(|e| format!("cannot resolve {peer}: {e}\nhint: give the host an address = \"...\""))?
            .next()
            .ok_or_else(|| format!("cannot resolve {peer}: no address"))?
            .ip(),
    };
    let route = net::route_to(address).map_err(|e| e.to_string())?;
    let Some(source) = route.source else {
        return Err(format!("cannot find a route to {address}: the kernel names no source address"));
    };
    Ok(Reply::Located { address, interface: route.interface, source })
}

/// How much of a command's output an error quotes.
const QUOTED: usize = 400;

fn command(argv: &[String], env: &BTreeMap<String, String>, stop: &Stop) -> Reply {
    let Some((program, arguments)) = argv.split_first() else {
        return failed("cannot run an empty command".to_owned());
    };
    let shown = argv.join(" ");
    let mut started = Command::new(program);
    started.args(arguments).envs(env).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // A group of its own, so that what a shell started ends with it.
    started.process_group(0);
    lab::die_with_parent(&mut started);
    let mut child = match started.spawn() {
        Ok(child) => child,
        Err(e) => return failed(format!("cannot start {shown}: {e}")),
    };
    let (sender, stderr) = channel();
    if let Some(pipe) = child.stderr.take() {
        std::thread::spawn(move || sender.send(tail(pipe)));
    }
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if stop.is_set() => {
                deploy::end(child);
                return Reply::Failed { error: format!("{shown}: interrupted"), kind: Failure::Interrupted };
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(e) => return failed(format!("cannot wait for {shown}: {e}")),
        }
    };
    if status.success() {
        return Reply::Ok;
    }
    // What it left running in the background may hold the pipe open for good.
    let said = stderr.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim().to_owned();
    failed(match last.is_empty() {
        true => format!("{shown}: {status}"),
        false => format!("{shown}: {status}: {last}"),
    })
}

/// The last bytes of a stream, which is read to its end.
fn tail(mut pipe: impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n) = pipe.read(&mut buffer) {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(QUOTED);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn restored(failures: &[String]) -> Reply {
    match failures.is_empty() {
        true => Reply::Ok,
        false => failed(failures.join("; ")),
    }
}

fn failed(error: String) -> Reply {
    Reply::Failed { error, kind: Failure::Other }
}

/// A panic elsewhere must not keep the agent from restoring: a poisoned lock still holds good data.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use tenbin_core::metric::THROUGHPUT;
    use tenbin_core::sample::{Params, Reduce, Sample};

    use super::*;

    #[test]
    fn values_that_json_lacks_do_not_break_the_link() {
        let reply = measure(&SysRoot::live(), None, Recorder::default(), |rec| {
            let samples = [(Some(f64::NAN), 1.0), (Some(2.0), f64::NAN), (None, f64::INFINITY)];
            let samples = samples.map(|(at, value)| Sample::new(at, value));
            rec.headline(&THROUGHPUT, &Params::new(), Reduce::Total, samples);
            Ok(())
        });
        let mut bytes = Vec::new();
        protocol::write(&mut bytes, &Numbered { id: 1, body: reply }).unwrap();
        let read = protocol::read::<Numbered<Reply>>(&mut bytes.as_slice()).unwrap().unwrap().body;
        let Reply::Measured(measured) = read else { panic!("{read:?}") };
        assert_eq!(measured.series[0].samples, [Sample::of(1.0)]);
        assert_eq!(measured.caveats[0].text, "2 of 3 values of throughput are no finite numbers");
    }

    #[test]
    fn a_defect_in_a_measurement_is_an_answer() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let shared = Arc::new(Shared::new(theirs));
        shared.in_thread(5, |_, _| panic!("a defect made for this test"));
        let Numbered { id, body } = protocol::read::<Numbered<Reply>>(&mut ours).unwrap().unwrap();
        assert!(
            matches!((id, &body), (5, Reply::Failed { error, .. }) if error.contains("defect")),
            "{body:?}"
        );
        assert!(lock(&shared.running).is_empty());
    }

    #[test]
    fn nothing_is_set_once_the_agent_winds_up() {
        let shared = Shared::new(io::sink());
        shared.wind_up();
        let setting = Setting::Mtu { interface: "lo".to_owned(), bytes: 65_536 };
        assert_eq!(shared.apply(&[setting]).unwrap_err(), "this agent is ending");
    }

    #[test]
    fn a_busy_agent_is_not_forsaken() {
        let mut shared = Shared::new(io::sink());
        shared.began = Instant::now().checked_sub(protocol::DEAD_MAN + Duration::from_secs(1)).unwrap();
        assert!(shared.is_forsaken());
        shared.busy.store(true, Ordering::Relaxed);
        assert!(!shared.is_forsaken());
    }

    #[test]
    fn what_can_not_be_put_back_is_kept_to_be_tried_again() {
        let shared = Shared::new(io::sink());
        let lost = Applied::Mtu {
            interface: "no-such-card".to_owned(),
            bytes: 1500,
            running: false,
            addresses: Vec::new(),
        };
        lock(&shared.applied).push(lost.clone());
        for _ in 0..2 {
            assert_eq!(shared.restore().len(), 1);
            assert_eq!(*lock(&shared.applied), std::slice::from_ref(&lost));
        }
    }
}
