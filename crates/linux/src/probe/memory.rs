//! Memory: how much, on how many nodes, in which pages.

use tenbin_core::env::{Class, Environment, FactValue};
use tenbin_core::unit::Unit;

use super::{As, ProbeError, Row, count_of_list, note, rows};
use crate::sysroot::{ReadError, SysRoot};

const MEMINFO: &str = "/proc/meminfo";
const NODES: &str = "/sys/devices/system/node/online";

const ROWS: &[Row] = &[
    ("memory.thp", "/sys/kernel/mm/transparent_hugepage/enabled", Class::State, As::Choice),
    ("memory.thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", Class::State, As::Choice),
    ("memory.numa_balancing", "/proc/sys/kernel/numa_balancing", Class::State, As::Int(Unit::None)),
    ("memory.swappiness", "/proc/sys/vm/swappiness", Class::State, As::Int(Unit::None)),
    ("memory.zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", Class::State, As::Int(Unit::None)),
    ("memory.overcommit", "/proc/sys/vm/overcommit_memory", Class::State, As::Int(Unit::None)),
];

/// Lines of `/proc/meminfo`; its `kB` are 1024 bytes.
const LINES: &[(&str, &str, Class, i64, Unit)] = &[
    ("memory.total", "MemTotal", Class::Identity, 1024, Unit::Byte),
    ("memory.swap_total", "SwapTotal", Class::State, 1024, Unit::Byte),
    ("memory.huge_pages", "HugePages_Total", Class::State, 1, Unit::Count),
    ("memory.huge_page_size", "Hugepagesize", Class::State, 1024, Unit::Byte),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    rows(sys, env, ROWS);
    let info = sys.read(MEMINFO);
    for &(key, name, class, factor, unit) in LINES {
        let value = info.clone().and_then(|text| match line(&text, name) {
            Some(word) => {
                let value = word.parse::<i64>().ok().and_then(|n| n.checked_mul(factor));
                let value = value.ok_or_else(|| ReadError::nonsense(MEMINFO, word))?;
                Ok((FactValue::Int(value), Some(unit)))
            }
            None => Err(ReadError::Absent { path: MEMINFO.to_owned() }),
        });
        note(env, key, class, &format!("{MEMINFO} {name}"), value);
    }
    let nodes = sys.read(NODES).and_then(|text| {
        let count = count_of_list(&text).ok_or_else(|| ReadError::nonsense(NODES, &text))?;
        Ok((FactValue::Int(count), Some(Unit::Count)))
    });
    note(env, "memory.numa_nodes", Class::Identity, NODES, nodes);
    Ok(())
}

/// The first word behind `name:`.
fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next())
}
