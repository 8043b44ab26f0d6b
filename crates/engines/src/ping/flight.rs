//! The requests of a run and what became of each. No socket; times come in as arguments.

use super::trouble::Trouble;

/// The two clocks read together, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Since the run began; never steps.
    pub mono: i64,
    /// Wall clock since 1970; the kernel stamps packets with it, and somebody may set it.
    pub real: i64,
}

/// Where the end of a round trip was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// By the kernel when the packet came in.
    Kernel,
    /// By this program when it got to read the packet: wake-up included.
    User,
    /// By this program, since the wall clock was set in between.
    Stepped,
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// Nanoseconds from just before sending until receipt.
    pub nanos: i64,
    /// Where the end was taken.
    pub stamp: Stamp,
}

/// Disagreement of the clocks that is not a step: two readings lie apart a little, and a wall clock that is
/// being disciplined runs up to 500 ppm fast or slow.
fn tolerance(elapsed: i64) -> i64 {
    20_000 + elapsed / 1000
}

/// The round trip of a packet sent at `sent`, stamped by the kernel at wall clock `kernel` and read at `got`.
pub fn trip(sent: Clocks, kernel: Option<i64>, got: Clocks) -> Trip {
    let elapsed = got.mono - sent.mono;
    let step = (got.real - sent.real) - elapsed;
    let by = |stamp, nanos: i64| Trip { nanos: nanos.max(0), stamp };
    match kernel {
        None => by(Stamp::User, elapsed),
        Some(_) if step.abs() > tolerance(elapsed) => by(Stamp::Stepped, elapsed),
        Some(kernel) => {
            let nanos = kernel - sent.real;
            let possible = -tolerance(0)..=elapsed + tolerance(elapsed);
            if possible.contains(&nanos) { by(Stamp::Kernel, nanos) } else { by(Stamp::Stepped, elapsed) }
        }
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Read right before sending.
    pub sent: Clocks,
    /// The round trip of the first reply.
    pub trip: Option<Trip>,
    /// What somebody said about it instead.
    pub trouble: Option<Trouble>,
}

/// What a reply was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its round trip.
    pub trip: Trip,
    /// Not the first to this request.
    pub duplicate: bool,
    /// After the timeout.
    pub late: bool,
    /// A later request was answered before.
    pub reordered: bool,
}

/// All requests of a run.
#[derive(Debug)]
pub struct Flight {
    /// In the order sent. Those of the warm-up come first.
    pub slots: Vec<Slot>,
    /// First replies.
    pub received: u64,
    /// Further replies.
    pub duplicates: u64,
    /// First replies after the timeout.
    pub late: u64,
    /// First replies that came after the reply to a later request.
    pub reordered: u64,
    /// Replies whose payload was not what had been sent.
    pub damaged: u64,
    /// Requests that somebody refused.
    pub troubles: u64,
    /// The most requests that were under way when a word on the oldest of them came.
    pub pipe: u64,
    warmup: u64,
    timeout: i64,
    open: u64,
    newest: Option<u64>,
}

impl Flight {
    /// Room for `expected` requests, the first `warmup` of which are not counted; a reply later than `timeout`
    /// nanoseconds is late.
    pub fn new(expected: usize, warmup: u64, timeout: i64) -> Flight {
        Flight {
            slots: Vec::with_capacity(expected),
            received: 0,
            duplicates: 0,
            late: 0,
            reordered: 0,
            damaged: 0,
            troubles: 0,
            pipe: 0,
            warmup,
            timeout,
            open: 0,
            newest: None,
        }
    }

    /// The number of requests sent so far, warm-up included.
    pub fn sent(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Requests of which nothing has been heard.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// Whether request `index` belongs to the warm-up.
    pub fn is_warmup(&self, index: u64) -> bool {
        index < self.warmup
    }

    /// The requests that count, in the order sent.
    pub fn counted(&self) -> &[Slot] {
        self.slots.get(self.warmup as usize..).unwrap_or_default()
    }

    /// From the first request to the last request or first reply, whichever was later; nanoseconds.
    pub fn active(&self) -> i64 {
        let ends = self.slots.iter().map(|slot| slot.sent.mono + slot.trip.map_or(0, |trip| trip.nanos));
        let began = self.slots.first().map_or(0, |slot| slot.sent.mono);
        ends.max().map_or(0, |end| end - began)
    }

    /// Notes a request.
    pub fn send(&mut self, sent: Clocks) {
        self.slots.push(Slot { sent, trip: None, trouble: None });
        self.open += 1;
    }

    /// Notes a reply to request `index`; `None` if there is no such request.
    pub fn answer(&mut self, index: u64, kernel: Option<i64>, got: Clocks) -> Option<Answer> {
        let counts = !self.is_warmup(index);
        let slot = self.slots.get_mut(index as usize)?;
        let trip = trip(slot.sent, kernel, got);
        let duplicate = slot.trip.is_some();
        let late = !duplicate && trip.nanos > self.timeout;
        let reordered = !duplicate && self.newest.is_some_and(|newest| newest > index);
        if !duplicate {
            if slot.trouble.is_none() {
                self.open -= 1;
            }
            slot.trip = Some(trip);
            self.pipe = self.pipe.max(self.slots.len() as u64 - index);
            self.newest = self.newest.max(Some(index));
        }
        if counts {
            self.received += u64::from(!duplicate);
            self.duplicates += u64::from(duplicate);
            self.late += u64::from(late);
            self.reordered += u64::from(reordered);
        }
        Some(Answer { trip, duplicate, late, reordered })
    }

    /// Notes that somebody refused request `index`. Only the first word on a request counts; false for others.
    pub fn refuse(&mut self, index: u64, trouble: Trouble) -> bool {
        let counts = !self.is_warmup(index);
        match self.slots.get_mut(index as usize) {
            Some(slot) if slot.trip.is_none() && slot.trouble.is_none() => {
                slot.trouble = Some(trouble);
                self.pipe = self.pipe.max(self.slots.len() as u64 - index);
                self.open -= 1;
                self.troubles += u64::from(counts);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000_000;
    const US: i64 = 1000;
    const MS: i64 = 1_000_000;

    #[test]
    fn round_trips() {
        // Sent at 5 ms; the wall clock is a day ahead of the run's. `step`: what was added to it meanwhile.
        let check = |kernel_after: Option<i64>, read_after: i64, step: i64, stamp: Stamp, nanos: i64| {
            let sent = Clocks { mono: 5 * MS, real: DAY + 5 * MS };
            let got = Clocks { mono: sent.mono + read_after, real: sent.real + read_after + step };
            let kernel = kernel_after.map(|after| sent.real + after);
            assert_eq!(
                trip(sent, kernel, got),
                Trip { nanos, stamp },
                "{kernel_after:?} {read_after} {step}"
            );
        };
        check(Some(30 * US), 70 * US, 0, Stamp::Kernel, 30 * US);
        check(None, 70 * US, 0, Stamp::User, 70 * US);
        // Slewing is no step.
        check(Some(200 * MS), 200 * MS, 90 * US, Stamp::Kernel, 200 * MS);
        // Set forth and back in between: whether before or after the kernel's stamp can't be told.
        check(Some(30 * US + DAY), 70 * US, DAY, Stamp::Stepped, 70 * US);
        check(Some(30 * US), 70 * US, DAY, Stamp::Stepped, 70 * US);
        check(Some(30 * US - DAY), 70 * US, -DAY, Stamp::Stepped, 70 * US);
        check(Some(30 * US), 70 * US, MS, Stamp::Stepped, 70 * US);
        // Impossible stamps: before sending, after reading.
        check(Some(-MS), 70 * US, 0, Stamp::Stepped, 70 * US);
        check(Some(9 * MS), 70 * US, 0, Stamp::Stepped, 70 * US);
        // Never negative.
        check(Some(-US), 70 * US, 0, Stamp::Kernel, 0);
    }

    /// Requests 0..4 sent a millisecond apart.
    fn four(warmup: u64) -> Flight {
        let mut flight = Flight::new(4, warmup, 10 * MS);
        for index in 0..4 {
            flight.send(at(index * MS));
        }
        flight
    }

    fn at(mono: i64) -> Clocks {
        Clocks { mono, real: DAY + mono }
    }

    #[test]
    fn duplicates_late_and_reordered_replies_are_told_apart() {
        let mut flight = four(0);
        let mut check = |index, mono, (duplicate, late, reordered)| {
            let answer = flight.answer(index, None, at(mono)).unwrap();
            assert_eq!((answer.duplicate, answer.late, answer.reordered), (duplicate, late, reordered));
        };
        check(0, MS, (false, false, false));
        check(0, 2 * MS, (true, false, false));
        check(2, 4 * MS, (false, false, false));
        check(1, 5 * MS, (false, false, true));
        check(3, 14 * MS, (false, true, false));
        assert_eq!(flight.answer(4, None, at(MS)), None);
        assert_eq!((flight.received, flight.duplicates, flight.late, flight.reordered), (4, 1, 1, 1));
        assert_eq!(flight.open(), 0);
        assert_eq!(flight.pipe, 4);
    }

    #[test]
    fn refused_is_not_lost() {
        let mut flight = four(0);
        let trouble = Trouble::TooLong { mtu: 1500 };
        assert!(flight.refuse(1, trouble));
        assert!(!flight.refuse(1, trouble));
        assert!(!flight.refuse(7, trouble));
        assert_eq!((flight.troubles, flight.open()), (1, 3));
        // A reply after all.
        assert!(flight.answer(1, None, at(3 * MS)).is_some());
        assert_eq!((flight.received, flight.open()), (1, 3));
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let mut flight = four(2);
        for index in [0, 1, 1, 2] {
            flight.answer(index, None, at(4 * MS));
        }
        assert_eq!((flight.received, flight.duplicates), (1, 0));
        assert_eq!(flight.counted().len(), 2);
        assert_eq!(Flight::new(0, 5, 0).counted().len(), 0);
    }
}
