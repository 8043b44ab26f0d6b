//! One process at a time measures an experiment: a row says which. It needs no heartbeat and outlives no process,
//! since whoever comes next looks whether that process is still there.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::Store;
use crate::error::{Doing, StoreError};

/// A process that measures an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The machine's name.
    pub host: String,
    /// The kernel's boot id: after a restart every process of before is gone.
    pub boot_id: String,
    /// The process.
    pub pid: u32,
    /// When the process started, in clock ticks since boot, so that a later process of the same number is not taken
    /// for it.
    pub pid_started: u64,
}

impl Store {
    /// Claims the experiment for the process `me`. `now` is Unix time in seconds; `alive` says whether a process of
    /// this machine and this boot still runs. A claim whose process is gone is taken over. What another machine
    /// claims stays claimed until [`Store::unlock_by_force`], since nobody here can tell whether it still runs.
    ///
    /// Fails if another process has claimed it.
    pub fn lock(
        &mut self,
        experiment: i64,
        me: &Holder,
        now: f64,
        alive: impl FnOnce(&Holder) -> bool,
    ) -> Result<(), StoreError> {
        let doing = format!("claim experiment {experiment}");
        let doing = Doing { path: &self.path, doing: &doing, what: &format!("experiment {experiment}") };
        let tx =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|e| doing.sql(&e))?;
        let known: bool = tx
            .query_row("SELECT EXISTS (SELECT 1 FROM experiment WHERE id = ?1)", [experiment], |row| {
                row.get(0)
            })
            .map_err(|e| doing.sql(&e))?;
        if !known {
            return Err(StoreError::NotFound { path: self.path.clone(), what: doing.what.to_owned() });
        }
        let holder = tx
            .query_row(
                "SELECT host, boot_id, pid, pid_started FROM lease WHERE experiment = ?1",
                [experiment],
                |row| read_holder(row, 0),
            )
            .optional()
            .map_err(|e| doing.sql(&e))?;
        if let Some(holder) = holder.filter(|holder| holder != me) {
            let elsewhere = holder.host != me.host;
            if elsewhere || (holder.boot_id == me.boot_id && alive(&holder)) {
                return Err(StoreError::Held { experiment, holder, elsewhere });
            }
        }
        tx.execute(
            "INSERT OR REPLACE INTO lease (experiment, host, boot_id, pid, pid_started, since_seconds)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![experiment, me.host, me.boot_id, me.pid, me.pid_started.cast_signed(), now],
        )
        .and_then(|_| tx.commit())
        .map_err(|e| doing.sql(&e))
    }

    /// Gives the experiment back, if `me` has it.
    pub fn unlock(&mut self, experiment: i64, me: &Holder) -> Result<(), StoreError> {
        let doing = Doing { path: &self.path, doing: "give back the experiment", what: "the lease" };
        self.conn
            .execute(
                "DELETE FROM lease
                 WHERE experiment = ?1 AND host = ?2 AND boot_id = ?3 AND pid = ?4 AND pid_started = ?5",
                params![experiment, me.host, me.boot_id, me.pid, me.pid_started.cast_signed()],
            )
            .map(|_| ())
            .map_err(|e| doing.sql(&e))
    }

    /// Frees the experiment, whoever has it: for a user who knows that the process is gone.
    pub fn unlock_by_force(&mut self, experiment: i64) -> Result<(), StoreError> {
        let doing = Doing { path: &self.path, doing: "free the experiment", what: "the lease" };
        self.conn
            .execute("DELETE FROM lease WHERE experiment = ?1", [experiment])
            .map(|_| ())
            .map_err(|e| doing.sql(&e))
    }
}

/// Reads the four columns of a holder from `first` on.
pub(crate) fn read_holder(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Holder> {
    Ok(Holder {
        host: row.get(first)?,
        boot_id: row.get(first + 1)?,
        pid: row.get(first + 2)?,
        pid_started: row.get::<_, i64>(first + 3)?.cast_unsigned(),
    })
}
