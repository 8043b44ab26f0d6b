//! An experiment: a plan, its schedule and what has been measured of it so far. What the store keeps.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::run::Run;

/// A place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// Block, from 0.
    pub block: u32,
    /// Position of the arm within the block, from 0.
    pub position: u32,
    /// Index into the plan's arms.
    pub arm: u32,
    /// Index into the plan's measures.
    pub measure: u32,
}

/// Where a slot's run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing has begun.
    Pending,
    /// Inserted before launch; stays so after a crash.
    Started,
    /// Measured.
    Done,
    /// The measurement failed; the reason is in the record.
    Failed,
    /// Measured, but the machine's state spoiled it; another run of the slot follows.
    Invalid,
}

/// A run of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number in the store, from 1.
    pub id: i64,
    /// Its place in the schedule.
    pub slot: Slot,
    /// Where it stands.
    pub state: State,
    /// Unix time in seconds at its start.
    pub started_at: f64,
    /// Unix time in seconds at its end.
    pub ended_at: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// What was measured; `None` until it ended.
    pub run: Option<Run>,
}

/// A plan with everything measured for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its number in the store, from 1.
    pub id: i64,
    /// Random, so that stores of several machines can be merged.
    pub uid: String,
    /// Unix time in seconds when it was begun.
    pub created_at: f64,
    /// The plan.
    pub plan: Plan,
    /// The seed of its schedule.
    pub seed: u64,
    /// Every slot, in the order to be run.
    pub schedule: Vec<Slot>,
    /// Runs in the order begun. A slot may have several: failed and invalid ones before the one that counts.
    pub records: Vec<Record>,
}

impl Experiment {
    /// The run of `slot` that counts, if there is one.
    pub fn done(&self, slot: Slot) -> Option<&Record> {
        self.records.iter().find(|record| record.slot == slot && record.state == State::Done)
    }

    /// Blocks of the schedule. A plan that goes on until its intervals are narrow gets more of them as it goes.
    pub fn blocks(&self) -> u32 {
        self.schedule.iter().map(|slot| slot.block + 1).max().unwrap_or(0)
    }

    /// The slots that still lack a run that counts, in the order of the schedule.
    pub fn missing(&self) -> Vec<Slot> {
        self.schedule.iter().copied().filter(|slot| self.done(*slot).is_none()).collect()
    }

    /// Where a slot stands: done if any of its runs counts, else the state of its last run.
    pub fn state(&self, slot: Slot) -> State {
        match self.done(slot) {
            Some(_) => State::Done,
            None => self
                .records
                .iter()
                .rev()
                .find(|record| record.slot == slot)
                .map_or(State::Pending, |record| record.state),
        }
    }
}

/// Every slot of a plan in the order to be run: block by block, arms as `order` has them, measures in turn.
pub fn slots(order: &[Vec<usize>], measures: usize) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (block, arms) in order.iter().enumerate() {
        for (position, arm) in arms.iter().enumerate() {
            for measure in 0..measures {
                slots.push(Slot {
                    block: block as u32,
                    position: position as u32,
                    arm: *arm as u32,
                    measure: measure as u32,
                });
            }
        }
    }
    slots
}
