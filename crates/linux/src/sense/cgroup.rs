//! How long the control groups that this process is in were stopped because their CPU quota was used up.

use super::snapshot::Counters;
use crate::probe::limits;
use crate::sysroot::{ReadError, SysRoot};

/// Notes the throttled time of each group in microseconds.
pub(super) fn read(sys: &SysRoot, counters: &mut Counters) {
    for dir in limits::cpu_groups(sys) {
        let path = format!("{dir}/cpu.stat");
        let value = sys.read(&path).and_then(|text| microseconds(&path, &text));
        counters.note("cgroup_throttled", &dir, value);
    }
}

/// Version 2 counts microseconds, version 1 nanoseconds.
fn microseconds(path: &str, text: &str) -> Result<i64, ReadError> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let (word, divisor) = match (value("throttled_usec"), value("throttled_time")) {
        (Some(word), _) => (word, 1),
        (None, Some(word)) => (word, 1000),
        // A group without the controller.
        (None, None) => return Err(ReadError::Absent { path: path.to_owned() }),
    };
    let time: i64 = word.trim().parse().map_err(|_| ReadError::nonsense(path, word))?;
    Ok(time / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        for (text, expected) in [
            ("usage_usec 5\nnr_throttled 1\nthrottled_usec 70", Some(70)),
            ("nr_periods 5\nnr_throttled 1\nthrottled_time 70000", Some(70)),
            ("usage_usec 5", None),
            ("throttled_usec x", None),
        ] {
            assert_eq!(microseconds("cpu.stat", text).ok(), expected, "{text}");
        }
    }
}
