//! A command as a process group of its own: started, watched, ended, accounted for.
//!
//! It has no standard input. What it prints is read, so that it never waits for us, and so much of the end is kept as
//! the caller asks for. Nothing of it outlives [`watch`].

#![allow(unsafe_code, reason = "wait4 and prctl have no safe wrapper")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpid, getppid};

use crate::{RunError, Stop};

/// How much of standard error is kept, for messages.
const KEPT: usize = 64 * 1024;
/// How long a command that was asked to end may take for it.
const GRACE: Duration = Duration::from_secs(2);
/// How often a stop and the readers' end are looked at.
pub const NAP: Duration = Duration::from_millis(50);

/// Starts a command that dies with the calling thread.
pub fn start(argv: &[String], env: &BTreeMap<String, String>) -> Result<Child, RunError> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(RunError::BadParameter { what: "external needs a command".to_owned() });
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(env).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    die_with_us(&mut command);
    command.spawn().map_err(|error| cannot_start(program, &shown(argv), error))
}

/// Whether a command that nobody has waited for has ended.
pub fn has_ended(child: &Child) -> bool {
    let pid = Id::Pid(Pid::from_raw(child.id() as i32));
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    !matches!(waitid(pid, look), Ok(WaitStatus::StillAlive))
}

/// Why a command came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It came to its end.
    Itself,
    /// It was ended because it took too long.
    TimedOut,
    /// It was ended because somebody asked for it.
    Stopped,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Why.
    pub cause: Cause,
    /// Its wall time.
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
    /// The end of its output.
    pub stdout: Vec<u8>,
    /// Whether output before that was dropped.
    pub cut: bool,
    /// The end of its messages.
    pub stderr: Vec<u8>,
}

/// What the system accounts for a process and those it has waited for.
#[derive(Debug)]
pub struct Usage {
    /// How it ended.
    pub status: ExitStatus,
    /// CPU time, user and system.
    pub cpu: Duration,
    /// The most memory that one of its processes had.
    pub max_rss_bytes: i64,
}

/// Waits for the command, reading what it prints, and ends its group. Keeps the last `keep` bytes of its output.
pub fn watch(
    child: &mut Child,
    started: Instant,
    timeout: Duration,
    keep: usize,
    stop: &Stop,
) -> io::Result<Ended> {
    let group = Pid::from_raw(child.id() as i32);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let stdout = scope.spawn(|| stdout.map(|pipe| last_bytes(pipe, keep, &over)).unwrap_or_default());
        let stderr = scope.spawn(|| stderr.map(|pipe| last_bytes(pipe, KEPT, &over)).unwrap_or_default());
        let (tell, told) = mpsc::channel();
        scope.spawn(move || {
            // The leader stays a zombie until it is reaped below: until then nobody else can get its number.
            while waitid(Id::Pid(group), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) == Err(Errno::EINTR) {}
            // The receiver waits for this and is still there.
            let _ = tell.send(Instant::now());
        });
        let mut cause = Cause::Itself;
        let mut asked: Option<Instant> = None;
        let ended = loop {
            match told.recv_timeout(NAP.min(timeout.saturating_sub(started.elapsed()))) {
                Ok(ended) => break ended,
                Err(RecvTimeoutError::Disconnected) => break Instant::now(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            match asked {
                Some(since) if since.elapsed() > GRACE => drop(killpg(group, Signal::SIGKILL)),
                Some(_) => thread::sleep(NAP / 10),
                None => {
                    if stop.is_set() {
                        cause = Cause::Stopped;
                    } else if started.elapsed() >= timeout {
                        cause = Cause::TimedOut;
                    } else {
                        continue;
                    }
                    asked = Some(Instant::now());
                    // It may have ended this moment, which is what is wanted.
                    let _ = killpg(group, Signal::SIGTERM);
                }
            }
        };
        // What the command left behind would run into the next measurement.
        let _ = killpg(group, Signal::SIGKILL);
        let usage = reap(group);
        over.store(true, Ordering::Relaxed);
        let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        let (stdout, cut) = stdout;
        Ok(Ended { cause, wall: ended - started, usage: usage?, stdout, cut, stderr: stderr.0 })
    })
}

/// Reads until the end, or until `over` and nothing more is there: a process that left the group may hold the
/// other end open for ever. Gives the last `keep` bytes, and whether there were more.
fn last_bytes(mut pipe: impl Read + AsFd, keep: usize, over: &AtomicBool) -> (Vec<u8>, bool) {
    let mut kept = VecDeque::new();
    let mut cut = false;
    let mut part = [0; 16 * 1024];
    loop {
        let was_over = over.load(Ordering::Relaxed);
        let mut watched = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        let ready = poll(&mut watched, PollTimeout::from(NAP.as_millis() as u16));
        match ready {
            Ok(0) if was_over => break,
            Ok(0) | Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        match pipe.read(&mut part) {
            Ok(0) => break,
            Ok(read) => {
                kept.extend(&part[..read]);
                let surplus = kept.len().saturating_sub(keep);
                cut |= surplus > 0;
                kept.drain(..surplus);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    (kept.into(), cut)
}

/// Collects the ended process `pid` with what it used.
fn reap(pid: Pid) -> io::Result<Usage> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to locals of the types that wait4 fills.
        let done = unsafe { libc::wait4(pid.as_raw(), &raw mut status, 0, &raw mut usage) };
        if done == pid.as_raw() {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let time =
        |t: libc::timeval| Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64);
    Ok(Usage {
        status: ExitStatus::from_raw(status),
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        // Linux gives KiB.
        max_rss_bytes: usage.ru_maxrss.saturating_mul(1024),
    })
}

/// Has the system kill the command when this thread ends without having waited for it.
fn die_with_us(command: &mut Command) {
    let us = getpid();
    let prepare = move || {
        // SAFETY: prctl with PR_SET_PDEATHSIG takes a number and touches no memory.
        let done = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Errno::result(done)?;
        // Whoever started us may have died before the line above: its end would not be noticed any more.
        if getppid() == us { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: between fork and exec only system calls are made; nothing allocates or locks.
    unsafe { command.pre_exec(prepare) };
}

fn cannot_start(program: &str, shown: &str, error: io::Error) -> RunError {
    match error.kind() {
        io::ErrorKind::NotFound => RunError::Failed {
            command: shown.to_owned(),
            why: "cannot be started: there is no such program on this host".to_owned(),
        },
        io::ErrorKind::PermissionDenied => RunError::Permission {
            what: format!("start {program}"),
            hint: "it must be a file that this user may execute".to_owned(),
        },
        _ => RunError::Io { what: format!("start `{shown}`"), source: error },
    }
}

/// The command for people; what goes to a shell as it was written.
pub fn shown(argv: &[String]) -> String {
    match argv {
        [shell, flag, script] if shell == "sh" && flag == "-c" => script.clone(),
        _ => argv.join(" "),
    }
}

/// How a command ended, in words.
pub fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).map_or_else(|_| signal.to_string(), |s| s.to_string());
            format!("was ended by {name}")
        }
        (None, None) => "ended".to_owned(),
    }
}

/// `why` with the last line that the command printed, on standard error if there is one.
pub fn said(why: String, ended: &Ended) -> String {
    match last_line(&ended.stderr).or_else(|| last_line(&ended.stdout)) {
        Some(line) => format!("{why}: {line}"),
        None => why,
    }
}

/// The last line that is not blank, without control characters, cut to what fits a message.
pub fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.split(['\n', '\r']).map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
}
