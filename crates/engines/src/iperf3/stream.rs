//! Data streams: one thread each, blocking, with a loop that does nothing but move bytes and count them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::Pid;
use tenbin_formats::iperf3::model::Side;

use super::meter::Reading;
use super::tcpinfo::{self, TcpInfo};
use crate::RunError;

/// The least a receiver reads at once, in bytes.
const RECEIVE_BYTES: usize = 128 * 1024;

/// How the streams of a test work.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// What this end does.
    pub side: Side,
    /// Bytes of a write.
    pub length: usize,
    /// Bytes after which all streams together are done, counted from [`Streams::arm_limit`] on.
    pub limit: Option<u64>,
    /// bit/s of each stream.
    pub bitrate: Option<u64>,
    /// The CPU that the threads run on.
    pub cpu: Option<usize>,
}

/// CPU time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

impl CpuTime {
    /// Of the calling thread so far. Not of the process: in a lab both ends of a test share one.
    pub fn of_this_thread() -> CpuTime {
        let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
        match getrusage(UsageWho::RUSAGE_THREAD) {
            Ok(usage) => CpuTime { user: seconds(usage.user_time()), system: seconds(usage.system_time()) },
            Err(_) => CpuTime::default(),
        }
    }

    /// User and system.
    pub fn total(self) -> f64 {
        self.user + self.system
    }

    /// The time since `earlier`.
    pub fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime { user: self.user - earlier.user, system: self.system - earlier.system }
    }

    /// Both together.
    pub fn plus(self, other: CpuTime) -> CpuTime {
        CpuTime { user: self.user + other.user, system: self.system + other.system }
    }
}

/// A counter with a cache line to itself, so that streams do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// What the threads of one test share.
#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    armed: AtomicBool,
    left: Counter,
    ended: AtomicUsize,
    failure: Mutex<Option<io::Error>>,
    bell: UnixStream,
}

impl Shared {
    /// Rings for whoever waits in [`Streams::bell`].
    fn ring(&self) {
        // The bell does not block: when it is full, it is ringing already.
        let _ = (&self.bell).write(&[1]);
    }

    /// Takes up to `wanted` bytes of the limit; 0 when it is used up.
    fn take(&self, wanted: u64) -> u64 {
        if !self.armed.load(Relaxed) {
            return wanted;
        }
        let before = self.left.0.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(wanted)));
        before.map_or(0, |left| left.min(wanted))
    }
}

#[derive(Debug)]
struct Stream {
    socket: Arc<TcpStream>,
    bytes: Arc<Counter>,
    thread: Option<JoinHandle<CpuTime>>,
}

/// The data streams of one side of a test. Dropping them ends their threads.
#[derive(Debug)]
pub struct Streams {
    flow: Flow,
    streams: Vec<Stream>,
    shared: Arc<Shared>,
    bell: UnixStream,
}

impl Streams {
    /// Takes over connected sockets; nothing moves yet.
    pub fn new(sockets: Vec<TcpStream>, flow: Flow) -> Result<Streams, RunError> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| RunError::Io { what, source }
        };
        let (bell, rung) = UnixStream::pair().map_err(io("make a pair of sockets"))?;
        for end in [&bell, &rung] {
            end.set_nonblocking(true).map_err(io("set up a pair of sockets"))?;
        }
        let shared = Shared {
            stop: AtomicBool::new(false),
            armed: AtomicBool::new(false),
            left: Counter(AtomicU64::new(flow.limit.unwrap_or(0))),
            ended: AtomicUsize::new(0),
            failure: Mutex::new(None),
            bell: rung,
        };
        let stream = |socket: TcpStream| {
            socket.set_nonblocking(false)?;
            Ok(Stream { socket: Arc::new(socket), bytes: Arc::default(), thread: None })
        };
        let streams: io::Result<Vec<Stream>> = sockets.into_iter().map(stream).collect();
        let streams = streams.map_err(io("set up data connections"))?;
        Ok(Streams { flow, streams, shared: Arc::new(shared), bell })
    }

    /// Starts the threads.
    pub fn start(&mut self) -> Result<(), RunError> {
        let mut block = vec![0; self.flow.length.max(1)];
        if self.flow.side == Side::Sender {
            // Random, so that nothing on the way can compress it. A failure leaves zeroes: still a valid payload.
            let _ = getrandom::fill(&mut block);
        }
        let block: Arc<[u8]> = block.into();
        for stream in &mut self.streams {
            let (socket, bytes) = (Arc::clone(&stream.socket), Arc::clone(&stream.bytes));
            let (shared, block, flow) = (Arc::clone(&self.shared), Arc::clone(&block), self.flow.clone());
            let work = move || {
                if let Some(cpu) = flow.cpu {
                    bind_to(cpu);
                }
                let result = match flow.side {
                    Side::Sender if flow.limit.is_some() || flow.bitrate.is_some() => {
                        send_measured(&socket, &block, &bytes.0, &shared, flow.bitrate)
                    }
                    Side::Sender => send(&socket, &block, &bytes.0, &shared.stop),
                    Side::Receiver => receive(&socket, &bytes.0, &shared, &flow),
                };
                if let Err(e) = result
                    && !shared.stop.load(Relaxed)
                {
                    shared.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                }
                shared.ended.fetch_add(1, Relaxed);
                shared.ring();
                CpuTime::of_this_thread()
            };
            let thread =
                std::thread::Builder::new().name("iperf3-stream".into()).stack_size(256 * 1024).spawn(work);
            stream.thread = Some(
                thread
                    .map_err(|source| RunError::Io { what: "start a thread for a stream".into(), source })?,
            );
        }
        Ok(())
    }

    /// From now on bytes count towards the limit.
    pub fn arm_limit(&self) {
        self.shared.armed.store(self.flow.limit.is_some(), Relaxed);
    }

    /// Whether the limit is reached: by senders once everything they sent was acknowledged.
    pub fn limit_reached(&self) -> bool {
        self.flow.limit.is_some()
            && match self.flow.side {
                Side::Sender => self.ended() == self.streams.len() && self.shared.armed.load(Relaxed),
                Side::Receiver => self.shared.left.0.load(Relaxed) == 0,
            }
    }

    /// How many threads have ended, for whatever reason.
    pub fn ended(&self) -> usize {
        self.shared.ended.load(Relaxed)
    }

    /// The first error of a thread that was not asked to end.
    pub fn failure(&self) -> Option<io::Error> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Can be read once a thread has ended or the limit is reached; [`Streams::hush`] makes it quiet again.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Stops the ringing.
    pub fn hush(&self) {
        let mut rings = [0; 256];
        while matches!((&self.bell).read(&mut rings), Ok(n) if n > 0) {}
    }

    /// Counters and, of senders, what the kernel knows.
    pub fn readings(&self) -> Vec<Reading> {
        self.streams.iter().map(|stream| self.reading(stream)).collect()
    }

    fn reading(&self, stream: &Stream) -> Reading {
        let info = match self.flow.side {
            Side::Sender => tcpinfo::read(stream.socket.as_fd()),
            Side::Receiver => None,
        };
        Reading { bytes: stream.bytes.0.load(Relaxed), info }
    }

    /// The kernel's view of the first stream, on either side.
    pub fn info(&self) -> Option<TcpInfo> {
        tcpinfo::read(self.streams.first()?.socket.as_fd())
    }

    /// The sockets, in the order opened.
    pub fn sockets(&self) -> impl Iterator<Item = &TcpStream> {
        self.streams.iter().map(|stream| &*stream.socket)
    }

    /// What moves from now on does not count; senders send no new block.
    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Closes the connections and waits for the threads; their CPU time.
    pub fn join(&mut self) -> CpuTime {
        self.stop();
        for stream in &self.streams {
            // Wakes a thread that waits in the kernel, whatever the peer does.
            let _ = stream.socket.shutdown(Shutdown::Both);
        }
        let mut cpu = CpuTime::default();
        for thread in self.streams.iter_mut().filter_map(|stream| stream.thread.take()) {
            cpu = cpu.plus(thread.join().unwrap_or_default());
        }
        cpu
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.join();
    }
}

/// Sends until told to stop. The loop of most tests.
fn send(mut socket: &TcpStream, block: &[u8], bytes: &AtomicU64, stop: &AtomicBool) -> io::Result<()> {
    let mut sent = 0;
    while !stop.load(Relaxed) {
        match socket.write(block) {
            Ok(n) => {
                sent += n as u64;
                bytes.store(sent, Relaxed);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Sends until told to stop or the limit is used up, at most at `bitrate`.
fn send_measured(
    mut socket: &TcpStream,
    block: &[u8],
    bytes: &AtomicU64,
    shared: &Shared,
    bitrate: Option<u64>,
) -> io::Result<()> {
    let began = Instant::now();
    let mut sent = 0;
    loop {
        let mut left = shared.take(block.len() as u64) as usize;
        if left == 0 {
            break;
        }
        while left > 0 {
            if shared.stop.load(Relaxed) {
                return Ok(());
            }
            match socket.write(&block[..left]) {
                Ok(n) => {
                    left -= n;
                    sent += n as u64;
                    bytes.store(sent, Relaxed);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if let Some(rate) = bitrate {
            let due = Duration::from_secs_f64(sent as f64 * 8.0 / rate as f64);
            while let Some(early) = due.checked_sub(began.elapsed())
                && !shared.stop.load(Relaxed)
            {
                std::thread::sleep(early.min(Duration::from_millis(50)));
            }
        }
    }
    // The last byte counts when it has arrived, not when the kernel took it.
    while !shared.stop.load(Relaxed)
        && tcpinfo::read(socket.as_fd()).and_then(|info| info.drained) == Some(false)
    {
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// Receives until the other side or [`Streams::join`] closes the connection.
fn receive(mut socket: &TcpStream, bytes: &AtomicU64, shared: &Shared, flow: &Flow) -> io::Result<()> {
    let mut buffer = vec![0; flow.length.max(RECEIVE_BYTES)];
    let limited = flow.limit.is_some();
    let mut received = 0;
    loop {
        match socket.read(&mut buffer) {
            // The control connection says whether that was meant.
            Ok(0) => return Ok(()),
            Ok(n) => {
                received += n as u64;
                bytes.store(received, Relaxed);
                if limited && shared.take(n as u64) < n as u64 {
                    shared.ring();
                }
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

fn bind_to(cpu: usize) {
    let mut set = CpuSet::new();
    // A CPU that does not exist leaves the thread where it is, as in iperf3.
    if set.set(cpu).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}
