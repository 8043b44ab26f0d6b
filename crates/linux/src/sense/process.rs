//! Whose programs used the CPUs: ours, the kernel's own threads, or somebody else's.
//!
//! Ours are this process, everything it started, and processes of the same name (agents of the same session
//! that run here behind a command prefix). The process group says nothing: what a script starts in the
//! background beside us is in the same one.

use std::collections::HashMap;

use crate::sysroot::SysRoot;

/// Above this many processes the two scans would take longer than they are worth.
const MOST: usize = 4000;
/// The kernel's threads are children of this process.
const KTHREADD: u32 = 2;

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    /// Ticks since boot at its start: tells processes apart that had the same number.
    pub started: u64,
    /// Ticks of its own.
    pub own: u64,
    /// Ticks of its children that have ended and been waited for.
    pub children: u64,
}

/// Every process that can be seen, and which of them is us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub this: u32,
    pub processes: Vec<Process>,
}

/// Ticks used between two tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub ours: u64,
    pub kernel: u64,
    pub foreign: u64,
    /// Foreign programs by name, most first.
    pub by_name: Vec<(String, u64)>,
}

/// Reads all processes; `None` where there are too many or `/proc` is not to be read.
pub(super) fn table(sys: &SysRoot) -> Option<Table> {
    let this = parse(&sys.read("/proc/self/stat").ok()?)?.pid;
    let mut numbers = sys.list("/proc").ok()?;
    numbers.retain(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    if numbers.len() > MOST {
        return None;
    }
    let read = |number: &String| parse(&sys.read(&format!("/proc/{number}/stat")).ok()?);
    // Processes end while we look: that is no error.
    Some(Table { this, processes: numbers.iter().filter_map(read).collect() })
}

/// A line of `/proc/PID/stat`. The name in parentheses may hold blanks and parentheses.
fn parse(text: &str) -> Option<Process> {
    let (pid, rest) = text.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    // The third field of the line, the state, is the first here.
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok().map(|n| n.max(0).unsigned_abs());
    Some(Process {
        pid: pid.parse().ok()?,
        parent: u32::try_from(number(1)?).ok()?,
        name: name.to_owned(),
        own: number(11)?.saturating_add(number(12)?),
        children: number(13)?.saturating_add(number(14)?),
        started: number(19)?,
    })
}

/// Who used the CPUs between `before` and `after`.
pub(super) fn used(before: &Table, after: &Table) -> Used {
    let index = |table: &Table| -> HashMap<u32, usize> {
        table.processes.iter().enumerate().map(|(index, process)| (process.pid, index)).collect()
    };
    let (was, is) = (index(before), index(after));
    let now = |pid: u32| is.get(&pid).and_then(|index| after.processes.get(*index));
    let then = |pid: u32| was.get(&pid).and_then(|index| before.processes.get(*index));
    let lives = |process: &Process| now(process.pid).is_some_and(|now| now.started == process.started);

    // What a process had used before the first look enters its parent's account when it ends: take it off again.
    let mut inherited: HashMap<u32, u64> = HashMap::new();
    for gone in before.processes.iter().filter(|process| !lives(process)) {
        let mut heir = then(gone.parent);
        for _ in 0..before.processes.len() {
            match heir {
                Some(process) if !lives(process) => heir = then(process.parent),
                _ => break,
            }
        }
        if let Some(heir) = heir {
            *inherited.entry(heir.pid).or_default() += gone.own.saturating_add(gone.children);
        }
    }

    let name = now(after.this).map(|process| process.name.as_str());
    let is_ours = |process: &Process| {
        let mut process = process;
        // No chain of parents is longer than the table; one that has changed meanwhile may be a circle.
        for _ in 0..after.processes.len() {
            if process.pid == after.this || Some(process.name.as_str()) == name {
                return true;
            }
            match now(process.parent) {
                Some(parent) => process = parent,
                None => return false,
            }
        }
        false
    };

    let mut used = Used::default();
    let mut by_name: HashMap<&str, u64> = HashMap::new();
    for process in &after.processes {
        let old = then(process.pid).filter(|old| old.started == process.started);
        let (own, children) = old.map_or((0, 0), |old| (old.own, old.children));
        let inherited = inherited.get(&process.pid).copied().unwrap_or(0);
        let ticks = process
            .own
            .saturating_sub(own)
            .saturating_add(process.children.saturating_sub(children).saturating_sub(inherited));
        if process.pid == KTHREADD || process.parent == KTHREADD {
            used.kernel += ticks;
        } else if is_ours(process) {
            used.ours += ticks;
        } else {
            used.foreign += ticks;
            *by_name.entry(&process.name).or_default() += ticks;
        }
    }
    used.by_name = by_name.into_iter().map(|(name, ticks)| (name.to_owned(), ticks)).collect();
    used.by_name.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pid, parent, name, own, children
    fn table(rows: &[(u32, u32, &str, u64, u64)]) -> Table {
        let process = |&(pid, parent, name, own, children): &(u32, u32, &str, u64, u64)| Process {
            pid,
            parent,
            name: name.to_owned(),
            started: 0,
            own,
            children,
        };
        Table { this: 50, processes: rows.iter().map(process).collect() }
    }

    /// (ours, kernel, foreign)
    fn check(
        before: &[(u32, u32, &str, u64, u64)],
        after: &[(u32, u32, &str, u64, u64)],
        expected: (u64, u64, u64),
    ) {
        let used = used(&table(before), &table(after));
        assert_eq!((used.ours, used.kernel, used.foreign), expected, "{used:?}");
    }

    const US: (u32, u32, &str, u64, u64) = (50, 9, "tenbin", 100, 0);

    #[test]
    fn whose_ticks() {
        let others = [
            (1, 0, "init", 5, 5),
            (9, 1, "bash", 5, 5),
            (2, 0, "kthreadd", 0, 0),
            (3, 2, "ksoftirqd/0", 10, 0),
        ];
        let with = |rows: &[(u32, u32, &'static str, u64, u64)]| [&others[..], rows].concat();
        // Nothing happened.
        check(&with(&[US]), &with(&[US]), (0, 0, 0));
        // We and a kernel thread worked.
        let mut after = with(&[(50, 9, "tenbin", 180, 0)]);
        after[3].3 = 25;
        check(&with(&[US]), &after, (80, 15, 0));
        // A child of ours, and its child, that still run; a child that ended.
        check(&with(&[US]), &with(&[US, (51, 50, "sh", 3, 0), (52, 51, "work", 30, 0)]), (33, 0, 0));
        check(&with(&[US]), &with(&[(50, 9, "tenbin", 100, 40)]), (40, 0, 0));
        // Another agent of the session.
        check(&with(&[US]), &with(&[US, (70, 60, "tenbin", 20, 0)]), (20, 0, 0));
        // Somebody else, before and new.
        check(&with(&[US, (80, 1, "hog", 100, 0)]), &with(&[US, (80, 1, "hog", 150, 0)]), (0, 0, 50));
        check(&with(&[US]), &with(&[US, (81, 9, "hog", 60, 1)]), (0, 0, 61));
        // A foreign compiler ended: 10 before the first look, 25 in all, waited for by make.
        let make = |children| (90, 1, "make", 1, children);
        check(&with(&[US, make(7), (91, 90, "cc", 10, 0)]), &with(&[US, make(32)]), (0, 0, 15));
        // The same, through a shell that ended too.
        check(
            &with(&[US, make(7), (91, 90, "sh", 1, 0), (92, 91, "cc", 10, 0)]),
            &with(&[US, make(38)]),
            (0, 0, 20),
        );
        // Nobody waited: nothing is known, and nothing turns negative.
        check(&with(&[US, make(7), (91, 90, "cc", 10, 0)]), &with(&[US, make(7)]), (0, 0, 0));
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        let mut after = table(&[US, (80, 1, "new", 30, 0)]);
        after.processes[1].started = 99;
        let used = used(&table(&[US, (80, 1, "old", 1000, 0)]), &after);
        assert_eq!((used.foreign, used.by_name), (30, vec![("new".to_owned(), 30)]));
    }

    #[test]
    fn circles_of_parents_end() {
        let rows = [US, (60, 61, "a", 1, 0), (61, 60, "b", 1, 0)];
        assert_eq!(used(&table(&rows), &table(&rows)).foreign, 0);
        assert_eq!(used(&table(&rows), &table(&rows[..1])).foreign, 0);
    }

    #[test]
    fn lines() {
        let line = "77 (odd ) (name) S 9 77 77 0 -1 4194304 1 2 3 4 11 12 13 14 20 0 1 0 555 10 20";
        let expected = Process {
            pid: 77,
            parent: 9,
            name: "odd ) (name".to_owned(),
            started: 555,
            own: 23,
            children: 27,
        };
        assert_eq!(parse(line), Some(expected));
        for junk in [
            "",
            "77",
            "77 (x",
            "77 (x) S",
            "77 (x) S a b c",
            "x (y) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        ] {
            assert_eq!(parse(junk), None, "{junk}");
        }
    }
}
