//! How often the CPUs slowed themselves down because they were hot (Intel).

use crate::sysroot::{ReadError, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";

/// Throttle events of all cores, and of each package once for each of its CPUs: only its change has a meaning.
pub(crate) fn count(sys: &SysRoot) -> Result<i64, ReadError> {
    let mut sum: Option<i64> = None;
    for name in sys.list(CPUS)? {
        let is_cpu = name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok());
        if !is_cpu {
            continue;
        }
        for file in ["core_throttle_count", "package_throttle_count"] {
            let path = format!("{CPUS}/{name}/thermal_throttle/{file}");
            match sys.read(&path) {
                Ok(text) => {
                    let count: i64 = text.parse().map_err(|_| ReadError::nonsense(&path, &text))?;
                    sum = Some(sum.unwrap_or(0).saturating_add(count));
                }
                Err(ReadError::Absent { .. }) => {}
                Err(e) => return Err(e),
            }
        }
    }
    sum.ok_or_else(|| ReadError::Absent { path: format!("{CPUS}/cpu*/thermal_throttle") })
}
