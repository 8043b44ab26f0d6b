//! The running part of a test, the same on both sides: readings at interval ends until something ends it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use tenbin_formats::iperf3::model::{Interval, Start};

use super::control::{Control, TICK, wait_readable};
use super::meter::{Meter, Reading};
use super::stream::Streams;
use crate::{RunError, Stop};

/// What a test tells while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The streams are open.
    Started(&'a Start),
    /// An interval has ended.
    Interval(&'a Interval),
}

/// When a test ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Seconds of the measured part.
    pub time: Option<f64>,
    /// Seconds since the start after which the peer has forgotten to end the test.
    pub watchdog: Option<f64>,
    /// Seconds without a byte after which the peer counts as dead.
    pub idle: Option<f64>,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As planned: time, bytes, or the peer's word.
    Planned,
    /// [`Stop`] was set.
    Interrupted,
}

/// How a test ended.
#[derive(Debug)]
pub struct Course {
    /// Why.
    pub ended: Ended,
    /// The intervals told.
    pub intervals: Vec<Interval>,
    /// Seconds since the start.
    pub at: f64,
    /// The counters then.
    pub readings: Vec<Reading>,
}

/// A connection that is looked after meanwhile: the server's listener, which turns others away.
pub trait Aside {
    /// Its descriptor.
    fn fd(&self) -> BorrowedFd<'_>;
    /// It can be read.
    fn ready(&mut self);
}

/// After a data connection broke, the control connection has this long to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs the test. `on_byte` judges what the peer says: true ends the test.
#[allow(clippy::too_many_arguments, reason = "the parts of a test, each of them used once")]
pub fn run(
    began: Instant,
    streams: &Streams,
    meter: &mut Meter,
    limits: Limits,
    control: &mut Control,
    mut aside: Option<&mut dyn Aside>,
    on_byte: &mut dyn FnMut(&mut Control, u8) -> Result<bool, RunError>,
    stop: &Stop,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Course, RunError> {
    let mut intervals = Vec::new();
    let mut broken: Option<(Instant, std::io::Error)> = None;
    let mut moved = (0, 0.0);
    let ended = loop {
        let now = began.elapsed().as_secs_f64();
        let end = limits.time.filter(|_| meter.omit == 0.0).map(|time| now - meter.seconds(now) + time);
        if stop.is_set() {
            break Ended::Interrupted;
        }
        if end.is_some_and(|end| now >= end) || (meter.omit == 0.0 && streams.limit_reached()) {
            break Ended::Planned;
        }
        // An interval that ends with the test is told with it.
        let due = meter.due().filter(|due| end.is_none_or(|end| *due < end - 1e-3));
        if due.is_some_and(|due| now >= due) {
            let readings = streams.readings();
            let interval = meter.tick(began.elapsed().as_secs_f64(), &readings);
            watch(Event::Interval(&interval));
            intervals.push(interval);
        }
        if meter.omit == 0.0 {
            streams.arm_limit();
        }
        if let Some(idle) = limits.idle {
            let bytes = streams.readings().iter().map(|reading| reading.bytes).sum::<u64>();
            if bytes != moved.0 {
                moved = (bytes, now);
            } else if now - moved.1 > idle {
                return Err(control.broke(format!("moved no data for {idle} s")));
            }
        }
        if limits.watchdog.is_some_and(|limit| now > limit) {
            return Err(control.broke("did not end the test in time".into()));
        }
        if broken.is_none()
            && let Some(source) = streams.failure()
        {
            broken = Some((Instant::now(), source));
        }
        if broken.as_ref().is_some_and(|(since, _)| since.elapsed() > LAST_WORDS)
            && let Some((_, source)) = broken
        {
            return Err(RunError::Io { what: format!("move data to or from {}", control.peer), source });
        }
        let next = [due, end].into_iter().flatten().fold(f64::INFINITY, f64::min) - now;
        let timeout = Duration::from_secs_f64(next.clamp(0.0, TICK.as_secs_f64()));
        let ready = {
            let mut sockets = vec![control.socket().as_fd(), streams.bell()];
            sockets.extend(aside.as_ref().map(|aside| aside.fd()));
            wait_readable(&sockets, timeout)
                .map_err(|source| RunError::Io { what: "wait for the control connection".into(), source })?
        };
        if ready.get(1) == Some(&true) {
            streams.hush();
        }
        if ready.first() == Some(&true)
            && let Some(byte) = control.byte_now("the end of the test")?
            && on_byte(control, byte)?
        {
            break Ended::Planned;
        }
        if ready.get(2) == Some(&true)
            && let Some(aside) = &mut aside
        {
            aside.ready();
        }
    };
    let readings = streams.readings();
    let at = began.elapsed().as_secs_f64();
    streams.stop();
    Ok(Course { ended, intervals, at, readings })
}
