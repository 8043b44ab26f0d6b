//! What of a machine's facts would spoil or limit a result now.

use tenbin_core::caveat::{Caveat, CaveatKind};
use tenbin_core::ceiling::pcie::data_rate;
use tenbin_core::env::{Environment, FactValue};
use tenbin_core::quantity::human;
use tenbin_core::unit::Unit;

/// A fact that should stay below a limit. The limits are guesses from experience.
struct Limit {
    key: &'static str,
    above: f64,
    unit: Unit,
    kind: CaveatKind,
    says: &'static str,
}

const LIMITS: &[Limit] = &[
    Limit {
        key: "noise.psi_cpu",
        above: 0.05,
        unit: Unit::Ratio,
        kind: CaveatKind::NoisyNeighbour,
        says: "tasks waited for a CPU in this share of the last 10 s",
    },
    Limit {
        key: "noise.psi_memory",
        above: 0.01,
        unit: Unit::Ratio,
        kind: CaveatKind::NoisyNeighbour,
        says: "tasks waited for memory in this share of the last 10 s",
    },
    Limit {
        key: "noise.steal",
        above: 0.01,
        unit: Unit::Ratio,
        kind: CaveatKind::NoisyNeighbour,
        says: "the hypervisor gave this share of the CPUs' time since boot to others",
    },
];

/// Other runnable tasks per CPU from which the machine counts as busy, but never a single one.
const RUNNABLE_PER_CPU: f64 = 0.25;
/// Degrees below critical from which throttling is near.
const HEADROOM: f64 = 5.0;
/// Clock sources that cost a system call for every look at the time.
const SLOW_CLOCKS: &[&str] = &["hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen"];

/// Everything that would make a result of this machine, taken now, doubtful or lower than need be.
pub fn warnings(env: &Environment) -> Vec<Caveat> {
    let mut found = Vec::new();
    noise(env, &mut found);
    cpu(env, &mut found);
    links(env, &mut found);
    found
}

fn noise(env: &Environment, found: &mut Vec<Caveat>) {
    for limit in LIMITS {
        if let Some(value) = env.number(limit.key).filter(|value| *value > limit.above) {
            let (value, above) = (human(value, limit.unit, 2), human(limit.above, limit.unit, 2));
            found.push(Caveat::new(limit.kind, format!("{}: {value} (limit {above})", limit.says)));
        }
    }
    // The reader itself runs.
    let others = env.number("noise.procs_running").map(|running| (running - 1.0).max(0.0));
    if let (Some(others), Some(cpus)) = (others, env.number("cpu.online"))
        && others > (cpus * RUNNABLE_PER_CPU).max(1.0)
    {
        let text = format!("{others} other tasks are running on {cpus} CPUs");
        found.push(Caveat::new(CaveatKind::NoisyNeighbour, text));
    }
    if let Some(room) = env.number("noise.headroom").filter(|room| *room < HEADROOM) {
        let hot = env.number("noise.temperature").unwrap_or(f64::NAN);
        let text = format!("a sensor reads {hot:.0} °C, {room:.0} °C below critical; clocks may fall");
        found.push(Caveat::new(CaveatKind::Throttled, text));
    }
}

fn cpu(env: &Environment, found: &mut Vec<Caveat>) {
    if let Some(governor) = env.text("cpu.governor").filter(|governor| *governor != "performance") {
        let text =
            format!("the CPU frequency governor is {governor}, not performance: clocks follow the load");
        found.push(Caveat::new(CaveatKind::Note, text));
    }
    if let Some(clock) = env.text("cpu.clocksource").filter(|clock| SLOW_CLOCKS.contains(clock)) {
        let text = format!("the clock source is {clock}: every look at the time is a slow call");
        found.push(Caveat::new(CaveatKind::CoarseClock, text));
    }
    if let (Some(quota), Some(cpus)) = (env.number("limits.cpu_quota"), env.number("cpu.online"))
        && quota < cpus
    {
        let text = format!(
            "the control group may use {quota} of {cpus} CPUs; beyond that it is stopped for a while"
        );
        found.push(Caveat::new(CaveatKind::Note, text));
    }
}

fn links(env: &Environment, found: &mut Vec<Caveat>) {
    for (key, fact) in &env.facts {
        let Some(interface) = key.strip_prefix("net.").and_then(|rest| rest.strip_suffix(".pci")) else {
            continue;
        };
        let Some(FactValue::Text(bdf)) = &fact.value else { continue };
        let link = |bdf: &str, name: &str| env.number(&format!("pci.{bdf}.{name}"));
        let link_rate = |speed: &str, width: &str| Some(data_rate(link(bdf, speed)?, link(bdf, width)?));
        let shown = |speed: Option<f64>, width: Option<f64>| match (speed, width) {
            (Some(speed), Some(width)) => format!("{} GT/s x{width}", speed / 1e9),
            _ => "an unknown link".to_owned(),
        };
        let now = link_rate("link_speed", "link_width");
        let most = link_rate("max_link_speed", "max_link_width");
        if let (Some(now), Some(most)) = (now, most)
            && now < most
        {
            let text = format!(
                "{interface}: the PCIe link of {bdf} runs at {}, it could {}",
                shown(link(bdf, "link_speed"), link(bdf, "link_width")),
                shown(link(bdf, "max_link_speed"), link(bdf, "max_link_width")),
            );
            found.push(Caveat::new(CaveatKind::Note, text));
        }
        let path = link(bdf, "path_rate");
        if let (Some(path), Some(now), Some(hop)) = (path, now, env.text(&format!("pci.{bdf}.path_slowest")))
            && path < now
        {
            let text = format!(
                "{interface}: the PCIe path of {bdf} is slowest at {hop}, {}, {}",
                shown(link(hop, "link_speed"), link(hop, "link_width")),
                human(path, Unit::BitPerSecond, 3),
            );
            found.push(Caveat::new(CaveatKind::Note, text));
        }
        if let (Some(path), Some(port)) = (path, env.number(&format!("net.{interface}.speed")))
            && path < port
        {
            let text = format!(
                "{interface}: its PCIe path carries {}, less than the port's {}",
                human(path, Unit::BitPerSecond, 3),
                human(port, Unit::BitPerSecond, 3),
            );
            found.push(Caveat::new(CaveatKind::Note, text));
        }
    }
}
