//! The vocabulary of tenbin: units, samples, runs, facts, plans, schedules, statistics, verdicts.
//!
//! Pure: nothing here opens a file or a socket or looks at a clock, so all of it is tested with literals.
//! Start at [`plan`] for what goes in, [`run`] for what is measured, [`analysis`] for what comes out.

pub mod analysis;
pub mod caveat;
pub mod ceiling;
pub mod compare;
pub mod env;
pub mod experiment;
pub mod job;
pub mod launch;
pub mod league;
pub mod metric;
pub mod plan;
pub mod quantity;
pub mod recorder;
pub mod rng;
pub mod run;
pub mod sample;
pub mod schedule;
pub mod spec;
pub mod stats;
pub mod stopping;
pub mod taint;
pub mod unit;
pub mod verdict;
