//! The controller's side of an agent: numbered requests, replies sorted to who waits for them, a heartbeat.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::deploy;
use super::protocol::{self, Failure, Numbered, Reply, Request};

/// A request that got no good answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The agent is gone.
    #[error("lost the agent on {host}{}", tail(.said))]
    Lost {
        /// The host as the plan calls it.
        host: String,
        /// The last line the far side wrote to stderr.
        said: String,
    },
    /// The agent is there but did not answer in time.
    #[error("no answer from the agent on {host} within {seconds} s")]
    Silent {
        /// The host as the plan calls it.
        host: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The agent answered that it could not.
    #[error("{host}: {error}")]
    Failed {
        /// The host as the plan calls it.
        host: String,
        /// Its words.
        error: String,
        /// The sort of failure.
        kind: Failure,
    },
}

/// The most characters of a far side's error that are told and stored.
const LONGEST_ERROR: usize = 4000;

fn tail(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl AskError {
    /// Whether the request ended because it was cancelled.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, AskError::Failed { kind: Failure::Interrupted, .. })
    }
}

type Waiting = Arc<Mutex<HashMap<u64, Sender<Reply>>>>;

/// A running agent.
pub struct Link {
    /// The host as the plan calls it.
    pub host: String,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
    waiting: Waiting,
    gone: Arc<AtomicBool>,
    next: AtomicU64,
    /// The prefix's process, if there is one, with the last of its stderr.
    child: Mutex<Option<Child>>,
    said: Arc<Mutex<String>>,
}

impl Link {
    /// Joins an agent whose hello has been read already. `child` is the process that carries the streams.
    pub fn new(
        host: &str,
        input: impl Read + Send + 'static,
        out: impl Write + Send + 'static,
        child: Option<Child>,
        said: Arc<Mutex<String>>,
    ) -> Arc<Link> {
        let link = Arc::new(Link {
            host: host.to_owned(),
            out: Arc::new(Mutex::new(Box::new(out))),
            waiting: Waiting::default(),
            gone: Arc::default(),
            next: AtomicU64::new(1),
            child: Mutex::new(child),
            said,
        });
        std::thread::spawn({
            let (waiting, gone) = (Arc::clone(&link.waiting), Arc::clone(&link.gone));
            let said = Arc::clone(&link.said);
            move || sort_replies(input, &waiting, &gone, &said)
        });
        std::thread::spawn({
            let (out, gone) = (Arc::clone(&link.out), Arc::clone(&link.gone));
            move || beat(&out, &gone)
        });
        link
    }

    /// Asks and waits for the one answer.
    pub fn ask(&self, request: Request, patience: Duration) -> Result<Reply, AskError> {
        self.start(request)?.next(patience)
    }

    /// Asks; the answers are read from what is returned.
    pub fn start(&self, request: Request) -> Result<Pending<'_>, AskError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, replies) = channel();
        lock(&self.waiting).insert(id, sender);
        let pending = Pending { link: self, id, replies };
        match protocol::write(&mut **lock(&self.out), &Numbered { id, body: request }) {
            Ok(()) if !self.gone.load(Ordering::SeqCst) => Ok(pending),
            _ => Err(self.lost()),
        }
    }

    /// Asks the agent to restore and end, waits a little, and ends the process that carried the link.
    pub fn close(&self) -> Result<(), AskError> {
        let result = self.ask(Request::Bye, Duration::from_secs(15)).map(|_| ());
        self.gone.store(true, Ordering::SeqCst);
        *lock(&self.out) = Box::new(std::io::sink());
        if let Some(mut child) = lock(&self.child).take() {
            let until = Instant::now() + Duration::from_secs(2);
            while matches!(child.try_wait(), Ok(None)) {
                if Instant::now() >= until {
                    deploy::end(child);
                    return result;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        result
    }

    fn lost(&self) -> AskError {
        // The far side's last words may still be on their way.
        std::thread::sleep(Duration::from_millis(50));
        AskError::Lost { host: self.host.clone(), said: lock(&self.said).trim().to_owned() }
    }
}

/// A request on its way.
pub struct Pending<'a> {
    link: &'a Link,
    id: u64,
    replies: Receiver<Reply>,
}

impl Pending<'_> {
    /// The next answer. [`Reply::Failed`] is an error.
    pub fn next(&self, patience: Duration) -> Result<Reply, AskError> {
        match self.replies.recv_timeout(patience) {
            Ok(Reply::Failed { error, kind }) => {
                let error = error.chars().take(LONGEST_ERROR).collect();
                Err(AskError::Failed { host: self.link.host.clone(), error, kind })
            }
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Disconnected) => Err(self.link.lost()),
            Err(RecvTimeoutError::Timeout) => {
                Err(AskError::Silent { host: self.link.host.clone(), seconds: patience.as_secs() })
            }
        }
    }

    /// Asks the agent to end this request early; answers still come.
    pub fn cancel(&self) {
        let id = self.link.next.fetch_add(1, Ordering::Relaxed);
        let cancel = Numbered { id, body: Request::Cancel { id: self.id } };
        // If the link is gone, so is the request.
        let _ = protocol::write(&mut **lock(&self.link.out), &cancel);
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        lock(&self.link.waiting).remove(&self.id);
    }
}

fn sort_replies(mut input: impl Read, waiting: &Waiting, gone: &AtomicBool, said: &Mutex<String>) {
    loop {
        match protocol::read::<Numbered<Reply>>(&mut input) {
            // Answers to requests that nobody waits for any more are dropped.
            Ok(Some(Numbered { id, body })) => {
                if let Some(sender) = lock(waiting).get(&id) {
                    let _ = sender.send(body);
                }
            }
            Ok(None) => break,
            Err(e) => {
                // Nothing after it can be trusted, neither where a message begins nor what it says.
                if e.kind() == std::io::ErrorKind::InvalidData {
                    *lock(said) = format!("it sent what is no message: {e}");
                }
                break;
            }
        }
    }
    gone.store(true, Ordering::SeqCst);
    // Dropping the senders wakes everyone who waits.
    lock(waiting).clear();
}

fn beat(out: &Mutex<Box<dyn Write + Send>>, gone: &AtomicBool) {
    let mut last = Instant::now();
    while !gone.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(100));
        if last.elapsed() >= protocol::HEARTBEAT {
            last = Instant::now();
            let _ = protocol::write(&mut **lock(out), &Numbered { id: 0, body: Request::Heartbeat });
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
