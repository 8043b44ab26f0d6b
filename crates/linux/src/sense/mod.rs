//! The machine's state while something is measured on it: was it left alone, or throttled, crowded, cut off?
//!
//! [`Watch::start`] reads every counter, then samples once a second in a thread of its own; [`Watch::finish`]
//! reads them again and judges. Signals that the machine does not have are left out; signals that exist and
//! cannot be read make the verdict unknown. All limits stand in one table in `judge`.
//!
//! A busy CPU by itself means nothing: the measurement is what keeps it busy. So neither load nor the kernel's
//! pressure figures are judged, but the CPU time of programs that are not ours, time stolen by the hypervisor,
//! and throttling.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tenbin_core::caveat::Caveat;
use tenbin_core::metric::{Better, Metric};
use tenbin_core::plan::Tolerance;
use tenbin_core::sample::{Params, Sample, Series};
use tenbin_core::taint::Taint;
use tenbin_core::unit::Unit;

use crate::probe::cpu;
use crate::sysroot::{ReadError, SysRoot};

mod cgroup;
mod faults;
pub(crate) mod hwmon;
mod judge;
mod link;
mod process;
mod snapshot;
pub(crate) mod stat;
#[cfg(test)]
mod tests;
pub(crate) mod throttle;

use snapshot::Snapshot;

/// Share of all CPUs' time in which they worked, by anybody.
pub const CPU_BUSY: Metric = Metric::new("cpu_busy", Unit::Ratio, Better::Neither);
/// Share of all CPUs' time used by programs that have nothing to do with the measurement.
pub const CPU_FOREIGN: Metric = Metric::new("cpu_foreign", Unit::Ratio, Better::Lower);
/// The reading of the sensor that was nearest to its critical temperature when the run began.
pub const TEMPERATURE: Metric = Metric::new("temperature", Unit::Celsius, Better::Neither);
/// Mean clock of the CPUs.
pub const CPU_FREQUENCY: Metric = Metric::new("cpu_frequency", Unit::Hertz, Better::Neither);
/// By how much the counter named by the parameter grew; counters that stood still are left out.
pub const COUNTER: Metric = Metric::new("counter", Unit::Count, Better::Neither);

/// Time between two samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// A machine under watch.
pub struct Watch {
    sys: SysRoot,
    interfaces: Vec<String>,
    began: Instant,
    before: Snapshot,
    sampler: Option<(Sender<()>, JoinHandle<Vec<Tick>>)>,
    tolerate: Tolerance,
}

/// What the watch saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sensed {
    /// The verdict on the machine's state, with a reason for each signal that stood out.
    pub taint: Taint,
    /// What a reader of the run's numbers must know; the same words for the same trouble.
    pub caveats: Vec<Caveat>,
    /// What was sampled, times counted from the start of the watch. None of it is a headline.
    pub series: Vec<Series>,
}

/// One look of the sampler.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tick {
    /// Since the start of the watch.
    at: Duration,
    cpu: Option<stat::CpuTimes>,
    celsius: Option<f64>,
    hertz: Option<f64>,
}

impl Watch {
    /// Reads the counters of the machine and of `interfaces` and starts to sample. Interfaces belong to the
    /// namespace of the calling thread.
    pub fn start(sys: &SysRoot, interfaces: &[String], tolerate: Tolerance) -> Watch {
        let before = Snapshot::take(sys, interfaces);
        let began = Instant::now();
        let sampler = sample(sys.clone(), began, &before).ok();
        Watch { sys: sys.clone(), interfaces: interfaces.to_vec(), began, before, sampler, tolerate }
    }

    /// Stops sampling, reads the counters again and judges.
    pub fn finish(self) -> Sensed {
        let elapsed = self.began.elapsed();
        let ticks = self.sampler.map(|(stop, thread)| {
            drop(stop);
            thread.join().unwrap_or_default()
        });
        let after = Snapshot::take(&self.sys, &self.interfaces);
        let mut sensed = judge::judge(&self.before, &after, ticks.as_deref(), elapsed, self.tolerate);
        sensed.series.extend(series(&self.before, ticks.as_deref().unwrap_or_default()));
        sensed
    }
}

/// Starts the sampler. It ends, after a last look, when the sender is dropped.
fn sample(
    sys: SysRoot,
    began: Instant,
    before: &Snapshot,
) -> std::io::Result<(Sender<()>, JoinHandle<Vec<Tick>>)> {
    // One sensor: looking at all would wake slow buses while something is measured.
    let sensor = before.hottest.as_ref().ok().and_then(Option::as_ref).map(|hot| hot.source.clone());
    let policies = cpu::policies(&sys);
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::Builder::new().name("tenbin-sense".to_owned()).spawn(move || {
        let mut ticks = Vec::with_capacity(64);
        let mut due = INTERVAL;
        loop {
            let wait = due.saturating_sub(began.elapsed());
            let more = matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout));
            ticks.push(Tick {
                at: began.elapsed(),
                cpu: stat::cpu_times(&sys).ok(),
                celsius: sensor.as_deref().and_then(|path| hwmon::read(&sys, path)),
                hertz: frequency(&sys, &policies),
            });
            if !more {
                return ticks;
            }
            // After a stall the rhythm starts afresh instead of catching up.
            due = (due + INTERVAL).max(began.elapsed());
        }
    })?;
    Ok((stop, thread))
}

/// At most this many CPUs are asked for their clock: each answer takes microseconds.
const CLOCKS: usize = 16;

fn frequency(sys: &SysRoot, policies: &[String]) -> Option<f64> {
    let step = policies.len().div_ceil(CLOCKS).max(1);
    let clocks: Vec<f64> = policies
        .iter()
        .step_by(step)
        .filter_map(|dir| sys.read(&format!("{dir}/scaling_cur_freq")).ok()?.parse::<f64>().ok())
        .filter(|kilohertz| kilohertz.is_finite() && *kilohertz > 0.0)
        .map(|kilohertz| kilohertz * 1e3)
        .collect();
    (!clocks.is_empty()).then(|| clocks.iter().sum::<f64>() / clocks.len() as f64)
}

fn series(before: &Snapshot, ticks: &[Tick]) -> Vec<Series> {
    let at = |tick: &Tick| Some(tick.at.as_secs_f64());
    let mut busy = Vec::with_capacity(ticks.len());
    let mut earlier = before.cpu.clone().ok();
    for tick in ticks {
        if let (Some(earlier), Some(now)) = (&earlier, &tick.cpu) {
            let passed = now.since(earlier);
            // A last look right after the one before it has nothing to divide.
            if passed.total() >= 10 {
                busy.push(Sample::new(at(tick), passed.busy_share()));
            }
        }
        earlier.clone_from(&tick.cpu);
    }
    let pick = |pick: fn(&Tick) -> Option<f64>| -> Vec<Sample> {
        ticks.iter().filter_map(|tick| Some(Sample::new(at(tick), pick(tick)?))).collect()
    };
    let mut hot = Params::new();
    if let Ok(Some(sensor)) = &before.hottest {
        hot.insert("sensor".to_owned(), sensor.name.as_str().into());
    }
    [
        (CPU_BUSY, Params::new(), busy),
        (TEMPERATURE, hot, pick(|tick| tick.celsius)),
        (CPU_FREQUENCY, Params::new(), pick(|tick| tick.hertz)),
    ]
    .into_iter()
    .filter(|(_, _, samples)| !samples.is_empty())
    .map(|(metric, params, samples)| plain(metric, params, samples))
    .collect()
}

/// A series that no verdict is made of.
fn plain(metric: Metric, params: Params, samples: Vec<Sample>) -> Series {
    Series { metric, params, headline: None, samples, reported: Default::default() }
}

/// A number from a file.
fn number(sys: &SysRoot, path: &str) -> Result<i64, ReadError> {
    let text = sys.read(path)?;
    text.trim().parse().map_err(|_| ReadError::nonsense(path, &text))
}
