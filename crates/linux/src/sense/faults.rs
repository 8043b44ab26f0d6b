//! Faults of memory and of PCI Express: errors that hardware corrected or could not correct, and swapping.

use super::number;
use super::snapshot::Counters;
use crate::probe::pci;
use crate::sysroot::{ReadError, SysRoot};

const EDAC: &str = "/sys/devices/system/edac/mc";
const VMSTAT: &str = "/proc/vmstat";

/// Notes memory errors of each controller and the pages swapped.
pub(super) fn memory(sys: &SysRoot, counters: &mut Counters) {
    for controller in sys.list(EDAC).unwrap_or_default() {
        if controller.starts_with("mc") {
            for (signal, file) in [("memory_corrected", "ce_count"), ("memory_uncorrected", "ue_count")] {
                let path = format!("{EDAC}/{controller}/{file}");
                counters.note(signal, &controller, number(sys, &path));
            }
        }
    }
    counters.note("swapped_pages", "", sys.read(VMSTAT).and_then(|text| swapped(&text)));
}

fn swapped(text: &str) -> Result<i64, ReadError> {
    let mut sum: Option<i64> = None;
    for name in ["pswpin ", "pswpout "] {
        if let Some(word) = text.lines().find_map(|line| line.strip_prefix(name)) {
            let pages: i64 = word.trim().parse().map_err(|_| ReadError::nonsense(VMSTAT, word))?;
            sum = Some(sum.unwrap_or(0).saturating_add(pages));
        }
    }
    // Kernels without swap have neither line.
    sum.ok_or_else(|| ReadError::Absent { path: VMSTAT.to_owned() })
}

/// Notes the PCI Express errors of the device in `dir`.
pub(super) fn pci_express(sys: &SysRoot, bdf: &str, dir: &str, counters: &mut Counters) {
    for (signal, file) in
        [("pci_corrected", pci::AER[0]), ("pci_uncorrected", pci::AER[1]), ("pci_fatal", pci::AER[2])]
    {
        let path = format!("{dir}/{file}");
        let total = sys.read(&path);
        let total =
            total.and_then(|text| pci::aer_total(&text).ok_or_else(|| ReadError::nonsense(&path, &text)));
        counters.note(signal, bdf, total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap() {
        assert_eq!(swapped("nr_free_pages 5\npswpin 3\npswpout 4\n"), Ok(7));
        assert!(matches!(swapped("nr_free_pages 5"), Err(ReadError::Absent { .. })));
        assert!(matches!(swapped("pswpin many"), Err(ReadError::Unreadable { .. })));
    }
}
