//! Starts an agent on a host, bringing this very binary there first if the far side lacks it.
//!
//! The far copy lies in the user's cache folder under the hash of the binary, so builds never mix and a second
//! start copies nothing.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tenbin_core::launch;
use tenbin_core::plan::{Host, Place};
use tenbin_engines::Stop;

use super::link::Link;
use super::protocol::{self, Numbered, Reply};

/// How long a far side may take to log in and say hello.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the copy of one binary may take: some 50 MB over a line of 1 Mbit/s.
const COPY_PATIENCE: Duration = Duration::from_secs(400);

/// How long a process may live on once its output has ended.
const PARTING: Duration = Duration::from_secs(2);

/// Why there is no agent on a host.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The program of the prefix can't be started at all.
    #[error("cannot start {program} for host {host}: {source}")]
    Prefix {
        /// The host as the plan calls it.
        host: String,
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The far side can't be reached or declines.
    #[error("cannot reach host {host} ({way}): {why}{}", hint_line(.hint))]
    Unreachable {
        /// The host as the plan calls it.
        host: String,
        /// The destination or prefix.
        way: String,
        /// The far side's or ssh's words.
        why: String,
        /// The cure, where known.
        hint: String,
    },
    /// The binary is there and does not run.
    #[error("cannot run tenbin on host {host}: {why}\nhint: {hint}")]
    WrongBuild {
        /// The host as the plan calls it.
        host: String,
        /// The far loader's words.
        why: String,
        /// Which build is needed.
        hint: String,
    },
    /// The binary could not be copied.
    #[error("cannot copy tenbin to host {host}: {why}{}", hint_line(.hint))]
    Copy {
        /// The host as the plan calls it.
        host: String,
        /// The far side's words.
        why: String,
        /// The cure, where known.
        hint: String,
    },
    /// Another build answered.
    #[error(
        "host {host} runs another build of tenbin ({theirs}); this is {ours}\nhint: remove tenbin's folder in the cache folder there and try again"
    )]
    OtherBuild {
        /// The host as the plan calls it.
        host: String,
        /// Its version and protocol.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// This process can't read its own binary.
    #[error("cannot read this program's own file: {0}")]
    OwnBinary(io::Error),
}

fn hint_line(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("\nhint: {hint}") }
}

/// The SHA-256 of this binary in hex.
pub fn own_build() -> io::Result<&'static str> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build);
    }
    let mut file = File::open("/proc/self/exe")?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n => hasher.update(&buffer[..n]),
        }
    }
    let hex = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(BUILD.get_or_init(|| hex))
}

/// Starts an agent on `host`, which the plan calls `name`. Not for lab hosts: they are threads of this process.
pub fn connect(name: &str, host: &Host, stop: &Stop) -> Result<Arc<Link>, ConnectError> {
    let build = own_build().map_err(ConnectError::OwnBinary)?;
    let start = start_command(host, build);
    let first = greet(name, &start, stop)?;
    let (greeting, copied) = match first {
        Greeting::Gone { status, .. } if status.code() == Some(NOT_THERE) && !is_local(host) => {
            copy(name, host, build, stop)?;
            (greet(name, &start, stop)?, true)
        }
        other => (other, false),
    };
    match greeting {
        Greeting::Hello { protocol, version, build: theirs, child, input, output, said } => {
            if protocol == protocol::VERSION && theirs == build {
                return Ok(Link::new(name, output, input, Some(child), said));
            }
            end(child);
            Err(ConnectError::OtherBuild {
                host: name.to_owned(),
                theirs: format!("tenbin {version}, protocol {protocol}"),
                ours: format!("tenbin {}, protocol {}", env!("CARGO_PKG_VERSION"), protocol::VERSION),
            })
        }
        Greeting::Gone { status, said } => Err(explain(name, host, status, &said, copied)),
        Greeting::Babble { why, said } => Err(ConnectError::Unreachable {
            host: name.to_owned(),
            way: way(host),
            why: if said.is_empty() { why } else { format!("{why} ({said})") },
            hint: "if the login shell there prints text, make it silent for commands".to_owned(),
        }),
    }
}

/// Exit code of the start script when the far side has no copy of this build.
const NOT_THERE: i32 = 127;

fn start_command(host: &Host, build: &str) -> Vec<String> {
    let sudo = if host.sudo { "sudo -n -- " } else { "" };
    let script = format!(
        "b=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/tenbin/{build}/tenbin\"; [ -x \"$b\" ] || exit {NOT_THERE}; \
         exec {sudo}\"$b\" agent"
    );
    match (launch::script_on(host, &script), host.sudo) {
        (Some(argv), _) => argv,
        (None, false) => vec!["/proc/self/exe".to_owned(), "agent".to_owned()],
        (None, true) => {
            let own = std::env::current_exe().map(|path| path.display().to_string());
            let own = own.unwrap_or_else(|_| "tenbin".to_owned());
            ["sudo", "-n", "--", &own, "agent"].map(str::to_owned).to_vec()
        }
    }
}

enum Greeting {
    Hello {
        protocol: u32,
        version: String,
        build: String,
        child: Child,
        input: ChildStdin,
        output: ChildStdout,
        said: Arc<Mutex<String>>,
    },
    /// The process ended without a word of the protocol.
    Gone { status: ExitStatus, said: String },
    /// Something else answered, or nothing did in time.
    Babble { why: String, said: String },
}

/// A process, its stdin and stdout, and the last line it wrote to stderr.
type Spawned = (Child, ChildStdin, ChildStdout, Arc<Mutex<String>>);

/// A process whose three streams are ours, in a group of its own so that Ctrl-C reaches the controller only.
fn spawn(name: &str, argv: &[String]) -> Result<Spawned, ConnectError> {
    let prefix = |source| ConnectError::Prefix {
        host: name.to_owned(),
        program: argv.first().cloned().unwrap_or_default(),
        source,
    };
    let (program, arguments) =
        argv.split_first().ok_or_else(|| prefix(io::Error::other("the command is empty")))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().map_err(prefix)?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(stderr)) = streams else {
        end(child);
        return Err(prefix(io::Error::other("its streams are missing")));
    };
    let said = Arc::new(Mutex::new(String::new()));
    std::thread::spawn({
        let said = Arc::clone(&said);
        move || keep_last_line(stderr, &said)
    });
    Ok((child, input, output, said))
}

fn greet(name: &str, argv: &[String], stop: &Stop) -> Result<Greeting, ConnectError> {
    let (mut child, input, mut output, said) = spawn(name, argv)?;
    let (sender, hello) = channel();
    std::thread::spawn(move || {
        let first = protocol::read::<Numbered<Reply>>(&mut output);
        let _ = sender.send((first, output));
    });
    let until = Instant::now() + PATIENCE;
    let mut first = Err(RecvTimeoutError::Timeout);
    while matches!(first, Err(RecvTimeoutError::Timeout)) && Instant::now() < until && !stop.is_set() {
        first = hello.recv_timeout(Duration::from_millis(50));
    }
    let why = match first {
        Ok((Ok(Some(Numbered { body: Reply::Hello { protocol, version, build }, .. })), output)) => {
            return Ok(Greeting::Hello { protocol, version, build, child, input, output, said });
        }
        Ok((Ok(None), _)) => {
            drop(input);
            if let Some(status) = wait_until(&mut child, Instant::now() + PARTING, stop) {
                // stderr is read by another thread; its end follows the process's closely.
                std::thread::sleep(Duration::from_millis(50));
                return Ok(Greeting::Gone { status, said: last_words(&said) });
            }
            "its output ended without a word".to_owned()
        }
        Ok((Ok(Some(_)), _)) => "something that is no hello".to_owned(),
        Ok((Err(e), _)) => format!("something that is no agent answered: {e}"),
        Err(_) if stop.is_set() => "interrupted".to_owned(),
        Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
    };
    end(child);
    Ok(Greeting::Babble { why, said: last_words(&said) })
}

fn copy(name: &str, host: &Host, build: &str, stop: &Stop) -> Result<(), ConnectError> {
    let failed =
        |why: String, hint: &str| ConnectError::Copy { host: name.to_owned(), why, hint: hint.to_owned() };
    let mut file = File::open("/proc/self/exe").map_err(ConnectError::OwnBinary)?;
    let size = file.metadata().map_err(ConnectError::OwnBinary)?.len();
    // A link that breaks ends `cat` early: the size tells, and the rename makes the copy appear whole or not.
    let script = format!(
        "umask 077; d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/tenbin/{build}\"; mkdir -p \"$d\" || exit 1; \
         t=\"$d/.new.$$\"; trap 'rm -f \"$t\"' EXIT; cat >\"$t\" || exit 1; \
         [ \"$(wc -c <\"$t\")\" -eq {size} ] || {{ echo 'the copy is incomplete' >&2; exit 1; }}; \
         chmod 700 \"$t\" && mv -f \"$t\" \"$d/tenbin\""
    );
    let Some(argv) = launch::script_on(host, &script) else { return Ok(()) };
    let (mut child, mut input, mut output, said) = spawn(name, &argv)?;
    std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
    let (done, sending) = channel();
    std::thread::spawn(move || {
        let sent = io::copy(&mut file, &mut input).and_then(|_| input.flush());
        drop(input);
        let _ = done.send(sent);
    });
    let Some(status) = wait_until(&mut child, Instant::now() + COPY_PATIENCE, stop) else {
        end(child);
        if stop.is_set() {
            return Err(failed("interrupted".to_owned(), ""));
        }
        return Err(failed(format!("it took longer than {} s", COPY_PATIENCE.as_secs()), ""));
    };
    // With its reader gone the copy ends too, unless something else there keeps the pipe open.
    let sent = sending.recv_timeout(PARTING).unwrap_or(Err(io::ErrorKind::BrokenPipe.into()));
    std::thread::sleep(Duration::from_millis(20));
    match (status.success(), sent) {
        (true, Ok(())) => Ok(()),
        (true, Err(e)) => Err(failed(e.to_string(), "")),
        (false, _) => {
            let said = last_words(&said);
            let why = if said.is_empty() { status.to_string() } else { said };
            Err(failed(
                why,
                "the user there needs a writable home or XDG_CACHE_HOME with room for one binary",
            ))
        }
    }
}

fn explain(name: &str, host: &Host, status: ExitStatus, said: &str, copied: bool) -> ConnectError {
    let host_name = name.to_owned();
    let why = if said.is_empty() { status.to_string() } else { said.to_owned() };
    if said.contains("GLIBC_") || said.contains("GLIBCXX_") {
        let hint =
            "the C library there is older: build tenbin on that system (or one as old) and start from there";
        return ConnectError::WrongBuild { host: host_name, why, hint: hint.to_owned() };
    }
    if said.contains("Exec format error") || said.contains("cannot execute") {
        let hint = format!("this build is for {}; build tenbin for the CPU there", std::env::consts::ARCH);
        return ConnectError::WrongBuild { host: host_name, why, hint };
    }
    let hint = if said.contains("sudo:") {
        "sudo = true needs a sudo rule without password (NOPASSWD) for this user there"
    } else if matches!(host.place, Place::Ssh(_)) && status.code() == Some(255) {
        "the login must work without a question: try the same destination with ssh -o BatchMode=yes"
    } else if copied {
        "the copy was made and does not start"
    } else {
        ""
    };
    ConnectError::Unreachable { host: host_name, way: way(host), why, hint: hint.to_owned() }
}

fn way(host: &Host) -> String {
    match &host.place {
        Place::Local => "local".to_owned(),
        Place::Lab(lab) => format!("lab {lab}"),
        Place::Address => "an address only".to_owned(),
        Place::Ssh(destination) => format!("ssh {destination}"),
        Place::Exec(prefix) => prefix.join(" "),
    }
}

fn is_local(host: &Host) -> bool {
    matches!(host.place, Place::Local)
}

/// The status of the process if it ends in time and before `stop`.
fn wait_until(child: &mut Child, until: Instant, stop: &Stop) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until && !stop.is_set() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => return None,
        }
    }
}

/// Ends a process that leads a group of its own, with all that it started there.
pub fn end(mut child: Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // What runs as another user can't be ended from here; its input ends, which an agent heeds.
        let _ =
            nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn last_words(said: &Mutex<String>) -> String {
    said.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned()
}

/// Drains a stream and keeps its last line that says something, bounded.
fn keep_last_line(mut stream: impl Read, said: &Mutex<String>) {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(2048);
        kept.drain(..surplus);
        let text = String::from_utf8_lossy(&kept);
        if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
            *said.lock().unwrap_or_else(PoisonError::into_inner) = line.trim().to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(prefix: &[&str]) -> Host {
        let prefix = prefix.iter().map(|word| (*word).to_owned()).collect();
        Host { place: Place::Exec(prefix), sudo: false, address: None, interface: None }
    }

    #[test]
    fn failures_are_one_clear_line() {
        let check = |prefix: &[&str], fragment: &str| {
            let error = connect("far", &exec(prefix), &Stop::default())
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default();
            assert!(error.contains(fragment), "{prefix:?}: {error}");
            assert!(error.lines().next().is_some_and(|line| line.contains("far")), "{error}");
        };
        check(&["/no/such/program"], "cannot start /no/such/program");
        check(&["sh", "-c", "echo no route to host >&2; exit 255"], "no route to host");
        check(&["echo", "welcome to this machine"], "no agent");
        check(&["sh", "-c", "echo \"version 'GLIBC_2.99' not found\" >&2; exit 1"], "older");
        check(&["sh", "-c", "echo 'sudo: a password is required' >&2; exit 1"], "NOPASSWD");
        check(&["sh", "-c", "exit 127"], "cannot copy tenbin");
        check(&["sh", "-c", "exec >&-; sleep 100"], "ended without a word");
    }
}
