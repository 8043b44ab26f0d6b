//! Who this process is, so that two of them never measure one experiment at once.

use std::fs;

use tenbin_store::Holder;

/// This process.
pub fn me() -> Holder {
    let pid = std::process::id();
    Holder {
        host: read("/proc/sys/kernel/hostname"),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
        pid,
        // Without /proc the number alone must do.
        pid_started: started(pid).unwrap_or(0),
    }
}

/// Whether a process of this boot still runs: its number is in use, and by the process that started then.
pub fn is_alive(holder: &Holder) -> bool {
    started(holder.pid) == Some(holder.pid_started)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// When a process started, in clock ticks since boot: field 22 of its stat file. The command name before it may
/// hold blanks and parentheses, so fields are counted from the last parenthesis on.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_another_of_its_number_is_not() {
        let me = me();
        assert!(is_alive(&me));
        assert!(!is_alive(&Holder { pid_started: me.pid_started + 1, ..me }));
    }
}
