//! The control connection: bytes and documents with a limit on size and on patience. The rim of [`super::session`].

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::wire::{self, State};
use crate::{RunError, Stop};

/// How long the other side may take for its next word.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How often a wait looks at [`Stop`].
pub const TICK: Duration = Duration::from_millis(50);

/// Waits until one of `sockets` can be read, at most `timeout`; which of them can.
pub fn wait_readable(sockets: &[BorrowedFd<'_>], timeout: Duration) -> std::io::Result<Vec<bool>> {
    wait(sockets, PollFlags::POLLIN, timeout)
}

fn wait(sockets: &[BorrowedFd<'_>], flags: PollFlags, timeout: Duration) -> std::io::Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> = sockets.iter().map(|socket| PollFd::new(*socket, flags)).collect();
    match ppoll(&mut polled, Some(TimeSpec::from_duration(timeout)), None) {
        // A signal: look around, wait again.
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    // Hang-up and error are for the next read to tell.
    Ok(polled.iter().map(|fd| fd.revents().is_some_and(|events| !events.is_empty())).collect())
}

/// The connection, and whom it leads to.
#[derive(Debug)]
pub struct Control {
    socket: TcpStream,
    /// The address, for messages.
    pub peer: String,
}

impl Control {
    /// Takes over a connected socket.
    pub fn new(socket: TcpStream, peer: SocketAddr) -> Result<Control, RunError> {
        let peer = peer.to_string();
        socket.set_nodelay(true).and_then(|()| socket.set_nonblocking(true)).map_err(|source| {
            RunError::Io { what: format!("set up the control connection to {peer}"), source }
        })?;
        Ok(Control { socket, peer })
    }

    /// The socket.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Sends all of `bytes`.
    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), RunError> {
        let until = Instant::now() + PATIENCE;
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(self.broke("takes no more data on the control connection".to_owned()));
                    }
                    wait(&[self.socket.as_fd()], PollFlags::POLLOUT, left).map_err(|e| self.failed(e))?;
                }
                Err(e) => return Err(self.lost(e, "our next word")),
            }
        }
        Ok(())
    }

    /// Sends a state.
    pub fn send_state(&mut self, state: State) -> Result<(), RunError> {
        self.send(&[state.byte()])
    }

    /// Sends a document with its length.
    pub fn send_document(&mut self, body: &[u8]) -> Result<(), RunError> {
        self.send(&wire::frame(body))
    }

    /// The next byte, waited for as long as `within`. `what` says what it is, for the error.
    pub fn byte(&mut self, within: Duration, what: &str, stop: &Stop) -> Result<u8, RunError> {
        let mut byte = [0];
        self.receive(&mut byte, Instant::now() + within, what, stop)?;
        Ok(byte[0])
    }

    /// The next byte if it is there already.
    pub fn byte_now(&mut self, what: &str) -> Result<Option<u8>, RunError> {
        let mut byte = [0];
        match self.socket.read(&mut byte) {
            Ok(0) => Err(self.closed(what)),
            Ok(_) => Ok(Some(byte[0])),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(e) => Err(self.lost(e, what)),
        }
    }

    /// A document of at most `limit` bytes.
    pub fn document(&mut self, limit: usize, what: &str, stop: &Stop) -> Result<Vec<u8>, RunError> {
        let until = Instant::now() + PATIENCE;
        let mut head = [0; 4];
        self.receive(&mut head, until, what, stop)?;
        let length = wire::framed_length(head, limit).map_err(|why| self.broke(why))?;
        // Grows with what really comes, so that a length alone costs nothing.
        let mut body = Vec::new();
        let mut part = [0; 16 * 1024];
        while body.len() < length {
            let next = (length - body.len()).min(part.len());
            self.receive(&mut part[..next], until, what, stop)?;
            body.extend_from_slice(&part[..next]);
        }
        Ok(body)
    }

    /// The numbers behind [`State::ServerError`]; old servers close before the second or even the first.
    pub fn error_numbers(&mut self, stop: &Stop) -> (Option<i32>, Option<i32>) {
        let mut number = || {
            let mut bytes = [0; 4];
            self.receive(&mut bytes, Instant::now() + Duration::from_secs(1), "", stop).ok()?;
            Some(i32::from_be_bytes(bytes))
        };
        let first = number();
        (first, first.and_then(|_| number()))
    }

    /// Says good-bye: sends what is left, then waits a moment until the other side has closed too.
    pub fn close(mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
        let until = Instant::now() + Duration::from_secs(1);
        let mut rest = [0; 256];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.socket.read(&mut rest) {
                Ok(0) => return,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let _ = wait_readable(&[self.socket.as_fd()], left);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
            if left.is_zero() {
                return;
            }
        }
    }

    /// The other side did something that it must not.
    pub fn broke(&self, why: String) -> RunError {
        RunError::Protocol { peer: self.peer.clone(), why }
    }

    fn closed(&self, what: &str) -> RunError {
        self.broke(format!("closed the control connection while {what} was waited for"))
    }

    /// A reset is a close in a hurry: it comes when the peer had not read everything.
    fn lost(&self, error: std::io::Error, what: &str) -> RunError {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => self.closed(what),
            _ => self.failed(error),
        }
    }

    fn failed(&self, source: std::io::Error) -> RunError {
        RunError::Io { what: format!("talk to {}", self.peer), source }
    }

    fn receive(
        &mut self,
        mut buffer: &mut [u8],
        until: Instant,
        what: &str,
        stop: &Stop,
    ) -> Result<(), RunError> {
        while !buffer.is_empty() {
            match self.socket.read(buffer) {
                Ok(0) => return Err(self.closed(what)),
                Ok(n) => buffer = &mut buffer[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if stop.is_set() {
                        return Err(RunError::Interrupted);
                    }
                    if left.is_zero() {
                        return Err(self.broke(format!("did not send {what} in time")));
                    }
                    wait_readable(&[self.socket.as_fd()], left.min(TICK)).map_err(|e| self.failed(e))?;
                }
                Err(e) => return Err(self.lost(e, what)),
            }
        }
        Ok(())
    }
}
