//! `tenbin probe`: what a machine is, what limits it, what would spoil a result now.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;
use tenbin_core::caveat::Caveat;
use tenbin_core::ceiling::{self, Ceiling, Ip, Transport, pcie};
use tenbin_core::env::Environment;
use tenbin_core::quantity::human;
use tenbin_linux::probe;
use tenbin_linux::sysroot::{ReadError, SysRoot};
use tenbin_report::fact_text;

use crate::args::ProbeArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Prints facts, ceilings and warnings.
pub fn probe(args: &ProbeArgs) -> Outcome {
    let sys = match &args.sysroot {
        Some(dir) => kept(dir)?,
        None => SysRoot::live(),
    };
    let env = probe::all(&sys);
    let limits = limits(&env);
    let warnings = probe::warnings(&env);
    if args.json {
        output::print(&format!("{:#}\n", document(&env, &limits, &warnings)))?;
    } else {
        output::print(&text(&env, &limits, &warnings))?;
    }
    Ok(Exit::Done)
}

fn kept(dir: &Path) -> Result<SysRoot, Failure> {
    let why = match SysRoot::dir(dir) {
        Ok(sys) if ["/proc", "/sys"].iter().any(|path| sys.exists(path)) => return Ok(sys),
        Ok(_) => "no machine is kept there".to_owned(),
        Err(ReadError::Absent { .. }) => "there is no such directory".to_owned(),
        Err(e) => e.why().to_owned(),
    };
    Err(Failure::usage(format!(
        "cannot probe {}: {why}\nhint: give a directory that holds proc/ and sys/ as on the machine",
        dir.display()
    )))
}

/// What limits an interface, or why nothing does.
struct Limit {
    interface: String,
    what: Result<Ceiling, String>,
}

fn limits(env: &Environment) -> Vec<Limit> {
    // The setting 0 is off; 1 and 2 are two ways of on.
    let timestamps = env.number("net.tcp.timestamps").map(|setting| setting != 0.0);
    let interfaces = env.facts.keys().filter_map(|key| key.strip_prefix("net.")?.strip_suffix(".operstate"));
    let mut found = Vec::new();
    for interface in interfaces.filter(|name| *name != "lo") {
        let link = ceiling::for_environment(env, interface, Ip::V4, Transport::Tcp { timestamps });
        let what = link.map_err(|none| none.to_string());
        found.push(Limit { interface: interface.to_owned(), what });
        let path = || {
            let bdf = env.text(&format!("net.{interface}.pci"))?;
            let slowest = env.text(&format!("pci.{bdf}.path_slowest"))?;
            let link = |name: &str| env.number(&format!("pci.{slowest}.{name}"));
            Some(pcie::ceiling(slowest, link("link_speed")?, link("link_width")?))
        };
        found.extend(path().map(|path| Limit { interface: interface.to_owned(), what: Ok(path) }));
    }
    found
}

fn document(env: &Environment, limits: &[Limit], warnings: &[Caveat]) -> serde_json::Value {
    let ceilings = limits.iter().filter_map(|limit| {
        let ceiling = limit.what.as_ref().ok()?;
        Some(json!({
            "name": ceiling.name, "interface": limit.interface, "limit": ceiling.limit, "unit": ceiling.unit,
            "steps": ceiling.steps, "all_read": ceiling.all_read,
        }))
    });
    let none = limits.iter().filter_map(|limit| {
        let text = limit.what.as_ref().err()?;
        Some(json!({ "interface": limit.interface, "text": text }))
    });
    json!({
        "schema": "tenbin.probe/1",
        "facts": env,
        "ceilings": ceilings.collect::<Vec<_>>(),
        "no_ceilings": none.collect::<Vec<_>>(),
        "warnings": warnings,
    })
}

fn text(env: &Environment, limits: &[Limit], warnings: &[Caveat]) -> String {
    let mut out = String::new();
    let mut absent = Vec::new();
    let mut group = "";
    for (key, fact) in &env.facts {
        // One line sums them up.
        if key.starts_with("cpu.vulnerability.") {
            continue;
        }
        if fact.absent {
            absent.push(key.as_str());
            continue;
        }
        let (first, rest) = key.split_once('.').unwrap_or((key, key));
        if first != group {
            let _ = writeln!(out, "{}{first}", if out.is_empty() { "" } else { "\n" });
            group = first;
        }
        let value = fact_text(fact).replace(char::is_control, " ");
        let value = if value.is_empty() { "empty" } else { &value };
        let _ = writeln!(out, "  {rest:<32}  {value}");
    }
    out.push_str("\nceilings\n");
    for Limit { interface, what } in limits {
        match what {
            Ok(ceiling) => {
                let limit = human(ceiling.limit, ceiling.unit, 4);
                let _ = writeln!(out, "  {interface}: {}, {limit}", ceiling.name);
                for step in &ceiling.steps {
                    let _ = writeln!(out, "    {step}");
                }
            }
            Err(none) => {
                let _ = writeln!(out, "  {interface}: {none}");
            }
        }
    }
    if limits.is_empty() {
        out.push_str("  none: there is no interface but lo\n");
    }
    out.push_str("\nwarnings\n");
    for warning in warnings {
        let _ = writeln!(out, "  {}", warning.text);
    }
    if warnings.is_empty() {
        out.push_str("  none: nothing that was looked at would spoil a result now\n");
    }
    if !absent.is_empty() {
        let _ = writeln!(out, "\nabsent on this machine: {}", absent.join(", "));
    }
    out
}
