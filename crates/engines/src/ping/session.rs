//! The sending and receiving of one run. The loop neither allocates nor locks once it is under way.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;

use super::flight::{Answer, Clocks, Flight};
use super::packet::{Mark, Seen};
use super::socket::{Kind, Link, Setup};
use super::trouble::Trouble;
use crate::{RunError, Stop};

/// Requests a run keeps room for when it has no end; more is allocated as it goes on.
const ROOM: usize = 1 << 16;
/// The longest sleep: a stop is noticed at least this often.
const NAP: Duration = Duration::from_millis(100);
/// A flood goes on after this long without a reply, like ping -f.
const FLOOD: Duration = Duration::from_millis(10);
/// Less time than this until the next request is no pause.
const PAUSE: Duration = Duration::from_millis(2);

/// How to ping.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whom; the port is ignored.
    pub peer: SocketAddr,
    /// The own address to send from.
    pub bind: Option<IpAddr>,
    /// Requests that count; without it, until stopped or `deadline`.
    pub count: Option<u64>,
    /// Requests before those, sent alike and not counted.
    pub warmup: u64,
    /// From one request to the next. Zero is a flood: at the reply, or after 10 ms.
    pub interval: Duration,
    /// Send the next request as soon as all are answered; `interval` is then the longest wait.
    pub adaptive: bool,
    /// Payload bytes of a request.
    pub size: usize,
    /// A reply after this is late; so long the last request is waited for.
    pub timeout: Duration,
    /// End after this much time, whatever has come. `count` is then a number of replies, as in ping -w.
    pub deadline: Option<Duration>,
    /// Time to live or hop limit of requests.
    pub ttl: Option<u8>,
    /// Forbid fragments.
    pub dont_fragment: bool,
}

/// What a run tells while it goes on. Handlers are part of the loop: they must not take long.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A reply.
    Reply {
        /// The number of its request, from 0, warm-up included.
        index: u64,
        /// What it was.
        answer: Answer,
        /// Its time to live or hop limit.
        ttl: Option<u8>,
        /// Bytes, ICMP header included.
        bytes: usize,
    },
    /// Somebody refused a request.
    Refused {
        /// Its number.
        index: u64,
        /// Why, and who.
        trouble: Trouble,
    },
    /// A reply whose payload is not what was sent.
    Damaged {
        /// The number of its request.
        index: u64,
    },
    /// A request goes out while earlier ones are unanswered.
    Unanswered {
        /// The number of the latest of them.
        index: u64,
    },
    /// Nothing to do for some milliseconds: time for talk.
    Pause {
        /// Since the run began.
        at: Duration,
        /// Counted requests so far.
        sent: u64,
        /// First replies to them.
        received: u64,
    },
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// All requests.
    pub flight: Flight,
    /// Which socket the kernel allowed.
    pub kind: Kind,
    /// From the first request to the end of the run.
    pub elapsed: Duration,
    /// From the first request to the last request or first reply, whichever was later.
    pub active: Duration,
    /// Ended by a stop before its time.
    pub stopped: bool,
    /// The first refusal of a counted request, if any was refused.
    pub first_trouble: Option<Trouble>,
}

/// Pings as `options` say until done, `stop` is set or the deadline has passed.
///
/// Fails where no request can be sent at all; that none was answered is an [`Outcome`] like any other.
pub fn measure(options: &Options, stop: &Stop, observe: &mut dyn FnMut(Event)) -> Result<Outcome, RunError> {
    let mut random = [0_u8; 10];
    getrandom::fill(&mut random).map_err(|error| RunError::Io {
        what: "get random bytes".to_owned(),
        source: io::Error::other(error.to_string()),
    })?;
    let [id @ .., _, _, _, _, _, _, _, _] = random;
    let [_, _, cookie @ ..] = random;
    let setup = Setup {
        peer: options.peer,
        bind: options.bind,
        ttl: options.ttl,
        dont_fragment: options.dont_fragment,
        size: options.size,
    };
    let link = Link::open(&setup, u16::from_be_bytes(id))?;
    let mark = Mark { family: link.family, id: link.id, cookie, size: options.size };
    let expected = options.count.map_or(ROOM, |count| (count + options.warmup) as usize);
    let timeout = options.timeout.as_nanos() as i64;
    let mut session = Session {
        packet: mark.buffer(),
        mark,
        link,
        flight: Flight::new(expected, options.warmup, timeout),
        started: Instant::now(),
        first_trouble: None,
    };
    let stopped = session.go(options, stop, observe)?;
    let flight = session.flight;
    let began = flight.slots.first().map_or(0, |slot| slot.sent.mono);
    let nanos = |nanos: i64| Duration::from_nanos(nanos.max(0) as u64);
    Ok(Outcome {
        elapsed: nanos(session.started.elapsed().as_nanos() as i64 - began),
        active: nanos(flight.active()),
        kind: session.link.kind,
        flight,
        stopped,
        first_trouble: session.first_trouble,
    })
}

struct Session {
    link: Link,
    mark: Mark,
    packet: Vec<u8>,
    flight: Flight,
    started: Instant,
    first_trouble: Option<Trouble>,
}

impl Session {
    /// The loop. True if it was stopped.
    fn go(
        &mut self,
        options: &Options,
        stop: &Stop,
        observe: &mut dyn FnMut(Event),
    ) -> Result<bool, RunError> {
        let flood = options.interval.is_zero();
        let eager = options.adaptive || flood;
        let interval = if flood { FLOOD } else { options.interval };
        let mut due = Duration::ZERO;
        loop {
            if stop.is_set() {
                return Ok(true);
            }
            self.receive(observe);
            let now = self.started.elapsed();
            if self.is_done(options, now) {
                return Ok(false);
            }
            let wanted = match options.count {
                // With a deadline it is replies that are counted.
                Some(count) if options.deadline.is_none() => self.flight.sent() < count + options.warmup,
                _ => true,
            };
            if wanted && (now >= due || (eager && self.flight.open() == 0)) {
                self.send(observe)?;
                due = if eager { now + interval } else { next(due, now, interval) };
                // The reply of a near host is often there already.
                continue;
            }
            let until = if wanted { due } else { self.last_sent() + options.timeout };
            let until = options.deadline.map_or(until, |deadline| until.min(deadline));
            let idle = until.saturating_sub(now);
            if idle >= PAUSE {
                let (sent, received) = (self.flight.counted().len() as u64, self.flight.received);
                observe(Event::Pause { at: now, sent, received });
            }
            self.link.wait(idle.min(NAP))?;
        }
    }

    fn is_done(&self, options: &Options, now: Duration) -> bool {
        if options.deadline.is_some_and(|deadline| now >= deadline) {
            return true;
        }
        let Some(count) = options.count else { return false };
        if options.deadline.is_some() {
            return self.flight.received >= count;
        }
        let all_sent = self.flight.sent() >= count + options.warmup;
        all_sent && (self.flight.open() == 0 || now >= self.last_sent() + options.timeout)
    }

    fn last_sent(&self) -> Duration {
        let last = self.flight.slots.last().map_or(0, |slot| slot.sent.mono);
        Duration::from_nanos(last.max(0) as u64)
    }

    fn send(&mut self, observe: &mut dyn FnMut(Event)) -> Result<(), RunError> {
        let index = self.flight.sent();
        if let Some(last) = index.checked_sub(1)
            && self.flight.slots.last().is_some_and(|slot| slot.trip.is_none() && slot.trouble.is_none())
        {
            observe(Event::Unanswered { index: last });
        }
        self.mark.stamp(&mut self.packet, index);
        // An error of an earlier request may be handed out here instead of sending. The queue says which it was.
        for _ in 0..4 {
            let sent = clocks(self.started);
            let Err(errno) = self.link.send(&self.packet) else {
                self.flight.send(sent);
                return Ok(());
            };
            let (others, own) = self.complaints(observe);
            if own.is_none() && others > 0 {
                continue;
            }
            let trouble = match errno {
                Errno::EMSGSIZE => own.unwrap_or(Trouble::TooLong { mtu: 0 }),
                _ => Trouble::Local { errno: errno as i32 },
            };
            self.flight.send(sent);
            self.refuse(index, trouble, observe);
            return Ok(());
        }
        // Errors keep coming faster than we send: this one counts as sent and is not answered.
        self.flight.send(clocks(self.started));
        Ok(())
    }

    /// Takes everything that has come in.
    fn receive(&mut self, observe: &mut dyn FnMut(Event)) {
        loop {
            match self.link.receive() {
                Ok(None) => return,
                Ok(Some(arrival)) => {
                    let got = clocks(self.started);
                    let sent = self.flight.sent();
                    match self.mark.read(self.link.packet(arrival), sent) {
                        Seen::Foreign => {}
                        Seen::Damaged { index } => {
                            self.flight.damaged += u64::from(!self.flight.is_warmup(index));
                            observe(Event::Damaged { index });
                        }
                        Seen::Reply { index } => {
                            if let Some(answer) = self.flight.answer(index, arrival.kernel, got) {
                                let (ttl, bytes) = (arrival.ttl, arrival.length);
                                observe(Event::Reply { index, answer, ttl, bytes });
                            }
                        }
                    }
                }
                Err(_) => {
                    // Reading has taken the pending error; its details are in the queue.
                    self.complaints(observe);
                }
            }
        }
    }

    /// Empties the error queue: how many entries of others there were, and the last one of the own host.
    fn complaints(&mut self, observe: &mut dyn FnMut(Event)) -> (u64, Option<Trouble>) {
        let (mut others, mut own) = (0, None);
        while let Some(complaint) = self.link.complaint() {
            if !complaint.trouble.left_this_host() {
                own = Some(complaint.trouble);
                continue;
            }
            others += 1;
            let sent = self.flight.sent();
            if let Some(index) = self.mark.read_quote(self.link.quote(complaint), sent) {
                self.refuse(index, complaint.trouble, observe);
            }
        }
        (others, own)
    }

    fn refuse(&mut self, index: u64, trouble: Trouble, observe: &mut dyn FnMut(Event)) {
        if self.flight.refuse(index, trouble) {
            if !self.flight.is_warmup(index) {
                self.first_trouble.get_or_insert(trouble);
            }
            observe(Event::Refused { index, trouble });
        }
    }
}

/// When the request after the one that was due at `due` and sent at `now` is due: on the schedule, so that late
/// wake-ups do not add up. A schedule missed by more than an interval is not made up for: a burst of requests
/// would measure itself.
fn next(due: Duration, now: Duration, interval: Duration) -> Duration {
    let next = due + interval;
    if next + interval < now { now + interval } else { next }
}

/// Both clocks, read so that they belong together.
fn clocks(started: Instant) -> Clocks {
    // Two readings a few tens of nanoseconds apart, unless this thread lost its CPU in between.
    const TOGETHER: i64 = 5_000;
    let mut clocks = Clocks::default();
    for _ in 0..3 {
        clocks.mono = started.elapsed().as_nanos() as i64;
        clocks.real = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        if started.elapsed().as_nanos() as i64 - clocks.mono < TOGETHER {
            break;
        }
    }
    clocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_does_not_drift_and_does_not_catch_up_in_bursts() {
        let check = |due, now, then| {
            let ms = Duration::from_millis;
            assert_eq!(next(ms(due), ms(now), ms(10)), ms(then), "due {due} sent {now}");
        };
        check(0, 0, 10);
        check(10, 13, 20);
        check(10, 29, 20);
        check(10, 5010, 5020);
    }
}
