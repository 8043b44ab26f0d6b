//! `tenbin ab`: two configurations without a plan file.
//!
//! The words are turned into the text of a plan, which is then read like any other: what `--write-plan` prints is
//! exactly what is run.

use std::fmt::Write as _;
use std::net::ToSocketAddrs;
use std::path::Path;

use tenbin_core::plan;

use super::run;
use crate::args::{AbArgs, WeighingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

/// Runs, or with `--write-plan` writes, the plan that the words stand for.
pub fn ab(args: &AbArgs) -> Outcome {
    let text = plan_text(args).map_err(Failure::usage)?;
    if let Some(path) = &args.write_plan {
        if path == Path::new("-") {
            output::print(&text)?;
        } else {
            output::write_file(path, &text, "--write-plan - prints it")?;
        }
        return Ok(Exit::Done);
    }
    let plan = plan::parse("ab", &text, &tenbin_engines::specs()).map_err(|e| {
        let hint = e.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        Failure::usage(format!("cannot weigh that: {}{hint}", e.what))
    })?;
    let seed = args.seed.unwrap_or_else(|| output::seed_of(&text));
    run::start(plan, seed, args.dry_run, &args.output, &WeighingArgs::default())
}

/// What is varied: a setting with its values, or nothing where two commands are compared.
struct Setting<'a> {
    name: &'a str,
    values: Vec<&'a str>,
}

fn plan_text(args: &AbArgs) -> Result<String, String> {
    let body = match &args.setting {
        Some(setting) => varied(&read_setting(setting)?, args)?,
        None => two_commands(args)?,
    };
    // A quick look on whatever machine is at hand: pairs bear more of a neighbour than lone runs do.
    let mut head = format!("blocks = {}\ntolerate = {{ steal = \"25%\" }}\n", args.blocks);
    if let Some(margin) = &args.margin {
        let _ = writeln!(head, "margin = {}", quoted(margin));
    }
    Ok(format!("{}\n{head}\n{}", body.question, body.rest))
}

struct Body {
    question: String,
    rest: String,
}

fn read_setting(text: &str) -> Result<Setting<'_>, String> {
    let (name, values) = text.split_once('=').ok_or_else(|| {
        format!("\"{text}\" is no setting\nhint: write it like mtu=1500,9000; two commands follow after --")
    })?;
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    if values.len() < 2 || values.iter().any(|value| value.is_empty()) {
        return Err(format!("{name} has {} values; give at least two, like mtu=1500,9000", values.len()));
    }
    Ok(Setting { name, values })
}

/// `ab -- 'CMD A' 'CMD B'`.
fn two_commands(args: &AbArgs) -> Result<Body, String> {
    if args.command.len() < 2 {
        return Err(
            "give two commands to compare, each as one word\nhint: tenbin ab -- 'CMD A' 'CMD B'".to_owned()
        );
    }
    if let Some(option) = args.command.iter().find(|word| word.starts_with('-')) {
        return Err(format!("\"{option}\" stands for a command after --\nhint: options go before --"));
    }
    let mut rest = "[hosts]\nhere = { local = true }\n".to_owned();
    for (index, command) in args.command.iter().enumerate() {
        let name = format!("{}: {}", char::from(b'A' + (index % 26) as u8), shortened(command));
        let _ = write!(
            rest,
            "\n[[arm]]\nname = {}\nparams = {{ external = {{ command = {} }} }}\n",
            quoted(&name),
            quoted(command)
        );
    }
    rest.push_str("\n[[measure]]\nengine = \"external\"\nfrom = \"here\"\n");
    Ok(Body { question: "question = \"Which command takes less time?\"".to_owned(), rest })
}

/// `ab SETTING=A,B -- ENGINE ...` or, with `--external`, any command under each value.
fn varied(setting: &Setting<'_>, args: &AbArgs) -> Result<Body, String> {
    let Some((program, words)) = args.command.split_first() else {
        return Err(
            "give what to measure after --\nhint: tenbin ab mtu=1500,9000 -- iperf3 -c HOST".to_owned()
        );
    };
    let native = (!args.external).then(|| tenbin_engines::find(program)).flatten();
    let measured = match native {
        Some(engine) => native_measure(engine.spec().name, words)?,
        None => Native {
            peer: None,
            lines: format!(
                "engine = \"external\"\ncommand = [{}]\n",
                args.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
            ),
        },
    };
    let mut rest = "[hosts]\nhere = { local = true }\n".to_owned();
    let far = args.on.as_deref().map(|on| match on.strip_prefix("ssh:") {
        Some(destination) if !destination.is_empty() => Ok(destination),
        _ => Err(format!("\"{on}\" is no far side\nhint: write it like --on ssh:user@host")),
    });
    let far = far.transpose()?;
    let sudo = if args.sudo { ", sudo = true" } else { "" };
    match (&measured.peer, far) {
        (Some(peer), Some(destination)) => {
            let _ = writeln!(
                rest,
                "far = {{ ssh = {}, address = {}{sudo} }}",
                quoted(destination),
                quoted(&resolved(peer)?)
            );
        }
        (Some(peer), None) => {
            let _ = writeln!(rest, "far = {{ address = {} }}", quoted(&resolved(peer)?));
        }
        (None, Some(_)) => {
            return Err("--on needs a measurement with a far side, like iperf3 -c HOST".to_owned());
        }
        (None, None) => {}
    }
    for value in &setting.values {
        let _ = write!(
            rest,
            "\n[[arm]]\nname = {}\n{}\n",
            quoted(&format!("{}-{value}", setting.name)),
            arm_line(setting.name, value, native.map(|engine| engine.spec()))?
        );
    }
    let to = if measured.peer.is_some() { "to = \"far\"\n" } else { "" };
    let _ = write!(rest, "\n[[measure]]\nfrom = \"here\"\n{to}{}", measured.lines);
    let question = format!(
        "question = {}",
        quoted(&format!("Does {} {} differ from {}?", setting.name, setting.values[1], setting.values[0]))
    );
    Ok(Body { question, rest })
}

/// The address of a peer given by name or address. Plans hold addresses, so that a stored one measures the same again.
fn resolved(peer: &str) -> Result<String, String> {
    let cannot = |why: String| format!("cannot resolve {peer}: {why}");
    let mut found = (peer, 0).to_socket_addrs().map_err(|e| cannot(e.to_string()))?;
    found.next().map(|address| address.ip().to_string()).ok_or_else(|| cannot("no address".to_owned()))
}

/// The line of an arm that puts `value` in force.
fn arm_line(
    name: &str,
    value: &str,
    engine: Option<&tenbin_core::spec::EngineSpec>,
) -> Result<String, String> {
    if let Some(variable) = name.strip_prefix("env.") {
        return Ok(format!("set = {{ env = {{ {} = {} }} }}", quoted(variable), quoted(value)));
    }
    match name {
        "mtu" => Ok(format!("set = {{ mtu = {} }}", number(name, value)?)),
        "congestion" => Ok(format!("set = {{ congestion = {} }}", quoted(value))),
        "offload" => match value {
            "on" | "true" => Ok("set = { offload = true }".to_owned()),
            "off" | "false" => Ok("set = { offload = false }".to_owned()),
            _ => Err(format!("offload is on or off, not \"{value}\"")),
        },
        _ => match engine.and_then(|engine| engine.param(name).map(|param| (engine.name, param))) {
            Some((engine, param)) => {
                Ok(format!("params = {{ {engine} = {{ {name} = {} }} }}", param_text(param, value)))
            }
            None => Err(format!(
                "no setting \"{name}\"; there are mtu, offload, congestion, env.NAME{}",
                engine.map(|e| format!(" and the parameters of {}", e.name)).unwrap_or_default()
            )),
        },
    }
}

/// A native measurement as lines of a plan.
struct Native {
    peer: Option<String>,
    lines: String,
}

/// Flags that users know, with the parameter they stand for and the unit that the tool implies.
const FLAGS: &[(&str, &str, &str, &str)] = &[
    ("iperf3", "-t", "time", "s"),
    ("iperf3", "--time", "time", "s"),
    ("iperf3", "-i", "interval", "s"),
    ("iperf3", "-O", "omit", "s"),
    ("iperf3", "-P", "parallel", ""),
    ("iperf3", "--parallel", "parallel", ""),
    ("iperf3", "-l", "length", ""),
    ("iperf3", "-w", "window", ""),
    ("iperf3", "-M", "mss", ""),
    ("iperf3", "-C", "congestion", ""),
    ("iperf3", "-p", "port", ""),
    ("ping", "-c", "count", ""),
    ("ping", "-i", "interval", "s"),
    ("ping", "-s", "size", ""),
    ("ping", "-W", "timeout", "s"),
];

/// Flags without a value.
const SWITCHES: &[(&str, &str, &str)] = &[
    ("iperf3", "-R", "reverse"),
    ("iperf3", "--reverse", "reverse"),
    ("iperf3", "-N", "nodelay"),
    ("iperf3", "-Z", "zerocopy"),
    ("ping", "-A", "adaptive"),
];

fn native_measure(engine: &str, words: &[String]) -> Result<Native, String> {
    let spec = tenbin_engines::find(engine).map(|engine| engine.spec());
    let mut native = Native { peer: None, lines: format!("engine = {}\n", quoted(engine)) };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{engine} {word} needs a value"));
        if engine == "iperf3" && (word == "-c" || word == "--client") {
            native.peer = Some(value()?.clone());
        } else if let Some((_, _, name)) = SWITCHES.iter().find(|(e, flag, _)| *e == engine && flag == word) {
            let _ = writeln!(native.lines, "{name} = true");
        } else if let Some((_, _, name, unit)) =
            FLAGS.iter().find(|(e, flag, _, _)| *e == engine && flag == word)
        {
            let value = value()?;
            let bare = value.parse::<f64>().is_ok();
            let value = if bare { format!("{value}{unit}") } else { value.clone() };
            let param = spec.and_then(|spec| spec.param(name));
            let text = param.map_or_else(|| quoted(&value), |param| param_text(param, &value));
            let _ = writeln!(native.lines, "{name} = {text}");
        } else if !word.starts_with('-') && native.peer.is_none() && engine != "null" {
            native.peer = Some(word.clone());
        } else {
            return Err(format!(
                "the native {engine} engine has no flag {word}\nhint: --external runs the program of that name"
            ));
        }
    }
    Ok(native)
}

/// A parameter's value in TOML: numbers and switches bare, all else quoted.
fn param_text(param: &tenbin_core::spec::ParamSpec, value: &str) -> String {
    use tenbin_core::spec::ParamKind;
    let bare = match param.kind {
        ParamKind::Count { .. } | ParamKind::Size { .. } => value.parse::<u64>().is_ok(),
        ParamKind::Switch => value == "true" || value == "false",
        _ => false,
    };
    if bare { value.to_owned() } else { quoted(value) }
}

fn number(name: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{name} takes whole numbers, not \"{value}\""))
}

fn shortened(command: &str) -> String {
    let flat: String = command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match flat.chars().count() > 40 {
        true => format!("{}...", flat.chars().take(37).collect::<String>()),
        false => flat,
    }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
