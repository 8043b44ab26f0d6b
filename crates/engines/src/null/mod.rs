//! Measures nothing: gives the value it was told. For tests of everything around an engine.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tenbin_core::job::Job;
use tenbin_core::metric::{DURATION, Metric};
use tenbin_core::recorder::Recorder;
use tenbin_core::sample::{Params, Reduce, Sample};
use tenbin_core::spec::{EngineSpec, ParamKind, ParamSpec, Peer, Values};

use crate::{Engine, RunError, Stop};

/// The engine.
pub struct Null;

const METRICS: &[Metric] = &[DURATION];

static SPEC: EngineSpec = EngineSpec {
    name: "null",
    summary: "gives a fixed value after a wait; for trying plans without measuring",
    peer: Peer::None,
    params: &[
        ParamSpec {
            name: "value",
            kind: ParamKind::Duration { min: 1e-9, max: 1e9 },
            default: Some("1s"),
            help: "the value given",
        },
        ParamSpec {
            name: "time",
            kind: ParamKind::Duration { min: 0.0, max: 3600.0 },
            default: Some("0s"),
            help: "how long a run takes",
        },
        ParamSpec {
            name: "fail",
            kind: ParamKind::Switch,
            default: Some("false"),
            help: "fail every run instead",
        },
    ],
    metrics: METRICS,
    seconds: |values: &Values| values.seconds("time").unwrap_or(0.0),
};

impl Engine for Null {
    fn spec(&self) -> &'static EngineSpec {
        &SPEC
    }

    fn run(&self, job: &Job, rec: &mut Recorder, stop: &Stop) -> Result<(), RunError> {
        if job.params.switch("fail") {
            return Err(RunError::Unsupported { what: "the null engine was told to fail".to_owned() });
        }
        let started = Instant::now();
        let length = Duration::from_secs_f64(job.params.seconds("time").unwrap_or(0.0));
        while started.elapsed() < length && !stop.is_set() {
            std::thread::sleep(Duration::from_millis(5).min(length - started.elapsed().min(length)));
        }
        if stop.is_set() {
            return Err(RunError::Interrupted);
        }
        let value = job.params.seconds("value").unwrap_or(1.0);
        let sample = Sample::at(started.elapsed().as_secs_f64(), value);
        rec.headline(&DURATION, &Params::new(), Reduce::Total, [sample]);
        Ok(())
    }

    fn serve(&self, _job: &Job, ready: &mut dyn FnMut(SocketAddr), _stop: &Stop) -> Result<(), RunError> {
        ready(SocketAddr::from(([127, 0, 0, 1], 0)));
        Ok(())
    }
}
