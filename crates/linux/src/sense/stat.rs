//! `/proc/stat`: where the CPUs' time went.

use crate::sysroot::{ReadError, SysRoot};

pub(crate) const STAT: &str = "/proc/stat";

/// Times of all CPUs together in ticks, each tick 1/100 s for user space on every architecture of interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// Programs, niced ones and guests included.
    pub user: u64,
    /// The kernel for programs and for itself, without interrupts.
    pub system: u64,
    /// Nothing to do, or waiting for a disk.
    pub idle: u64,
    /// Interrupts, hard and soft.
    pub interrupts: u64,
    /// Time that the hypervisor gave to others.
    pub steal: u64,
    /// Tasks that could run at the moment of reading, the reader included.
    pub running: i64,
}

impl CpuTimes {
    /// All ticks.
    pub fn total(&self) -> u64 {
        [self.system, self.idle, self.interrupts, self.steal]
            .iter()
            .fold(self.user, |a, b| a.saturating_add(*b))
    }

    /// Stolen ticks of those in which something wanted to run or nothing did.
    pub fn steal_share(&self) -> f64 {
        share(self.steal, self.total())
    }

    /// Ticks in which something ran here.
    pub fn busy_share(&self) -> f64 {
        let busy = self.user.saturating_add(self.system).saturating_add(self.interrupts);
        share(busy, self.total())
    }

    /// What passed since `earlier`. Idle and steal may step back a little; that counts as nothing.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        CpuTimes {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            steal: self.steal.saturating_sub(earlier.steal),
            running: self.running,
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The times since boot.
pub(crate) fn cpu_times(sys: &SysRoot) -> Result<CpuTimes, ReadError> {
    let text = sys.read(STAT)?;
    parse(&text).ok_or_else(|| ReadError::nonsense(STAT, &text))
}

fn parse(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    // user nice system idle iowait irq softirq steal; very old kernels end earlier.
    let &[user, nice, system, idle, ..] = ticks.as_slice() else { return None };
    let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
    let running = text.lines().find_map(|line| line.strip_prefix("procs_running "));
    Some(CpuTimes {
        user: user.saturating_add(nice),
        system,
        idle: idle.saturating_add(at(4)),
        interrupts: at(5).saturating_add(at(6)),
        steal: at(7),
        running: running.and_then(|word| word.trim().parse().ok()).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let text = "cpu  100 10 50 800 20 5 5 10 7 0\ncpu0 1 2 3 4\nctxt 5\nprocs_running 3\nprocs_blocked 0";
        let times = parse(text).unwrap();
        assert_eq!(
            times,
            CpuTimes { user: 110, system: 50, idle: 820, interrupts: 10, steal: 10, running: 3 }
        );
        assert_eq!((times.total(), times.steal_share(), times.busy_share()), (1000, 0.01, 0.17));
        assert_eq!(parse("cpu 1 2 3 4").unwrap().total(), 10);
        assert_eq!(CpuTimes::default().steal_share(), 0.0);
        let later = CpuTimes { user: 120, idle: 800, ..parse(text).unwrap() };
        assert_eq!(later.since(&times), CpuTimes { user: 10, running: 3, ..CpuTimes::default() });
        for junk in ["", "cpu", "cpu a b c d", "cpu 1 2 3", "cpu 1 2 3 99999999999999999999"] {
            assert_eq!(parse(junk), None, "{junk}");
        }
    }
}
