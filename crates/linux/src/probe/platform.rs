//! The box, and whether it is a virtual one.

use tenbin_core::env::{Class, Environment, Fact};

use super::{As, ProbeError, Row, cpu, rows};
use crate::sysroot::{ReadError, SysRoot};

const ROWS: &[Row] = &[
    ("platform.vendor", "/sys/class/dmi/id/sys_vendor", Class::Identity, As::Text),
    ("platform.product", "/sys/class/dmi/id/product_name", Class::Identity, As::Text),
    ("platform.board", "/sys/class/dmi/id/board_name", Class::Identity, As::Text),
    ("platform.chassis_tag", "/sys/class/dmi/id/chassis_asset_tag", Class::Identity, As::Text),
    ("platform.bios_version", "/sys/class/dmi/id/bios_version", Class::Identity, As::Text),
    ("platform.bios_date", "/sys/class/dmi/id/bios_date", Class::Identity, As::Text),
    ("platform.profile", "/sys/firmware/acpi/platform_profile", Class::State, As::Text),
    ("virt.type", "/sys/hypervisor/type", Class::Identity, As::Text),
];

pub fn probe(sys: &SysRoot, env: &mut Environment) -> Result<(), ProbeError> {
    rows(sys, env, ROWS);
    let key = "virt.guest";
    let fact = match sys.head(cpu::CPUINFO, 64 * 1024) {
        // Only x86 prints a flag for it; elsewhere a missing flag says nothing.
        Ok(text) => match cpu::field(&text, "flags") {
            Some(flags) => {
                let guest = flags.split_whitespace().any(|flag| flag == "hypervisor");
                Fact::new(Class::Identity, guest, format!("{} flags", cpu::CPUINFO))
            }
            None => Fact::absent(Class::Identity, format!("{} flags", cpu::CPUINFO)),
        },
        Err(ReadError::Absent { .. }) => Fact::absent(Class::Identity, cpu::CPUINFO),
        Err(e) => Fact::unreadable(Class::Identity, cpu::CPUINFO, e.why()),
    };
    env.insert(key, fact);
    Ok(())
}
