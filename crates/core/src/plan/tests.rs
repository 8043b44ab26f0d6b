//! Tables of bad plans with the place and words of their refusal, good ones with what is read, and damage at random.

use super::*;
use crate::metric::DURATION;
use crate::spec::{EngineSpec, ParamKind, ParamSpec, Peer, Value};

const fn param(name: &'static str, kind: ParamKind, default: Option<&'static str>) -> ParamSpec {
    ParamSpec { name, kind, default, help: "" }
}

/// Engines of every kind of peer, with parameters of every kind.
static IPERF3: EngineSpec = EngineSpec {
    name: "iperf3",
    summary: "",
    peer: Peer::Serve,
    params: &[
        param("time", ParamKind::Duration { min: 0.1, max: 86400.0 }, Some("10s")),
        param("omit", ParamKind::Duration { min: 0.0, max: 60.0 }, Some("0s")),
        param("parallel", ParamKind::Count { min: 1, max: 128 }, Some("1")),
        param("length", ParamKind::Size { min: 1, max: 1 << 20 }, Some("128k")),
        param("bitrate", ParamKind::BitRate, None),
        param("reverse", ParamKind::Switch, Some("false")),
        param("protocol", ParamKind::Choice(&["tcp", "udp"]), Some("tcp")),
    ],
    metrics: &[DURATION],
    seconds: |values| values.seconds("time").unwrap_or(0.0),
};
static PING: EngineSpec = EngineSpec {
    name: "ping",
    summary: "",
    peer: Peer::Address,
    params: &[
        param("count", ParamKind::Count { min: 1, max: 1_000_000 }, Some("10")),
        param("interval", ParamKind::Duration { min: 0.0, max: 60.0 }, Some("1s")),
        param("size", ParamKind::Size { min: 0, max: 65507 }, Some("56")),
    ],
    metrics: &[DURATION],
    seconds: |values| values.count("count").unwrap_or(0) as f64 * values.seconds("interval").unwrap_or(0.0),
};
static COMMAND: EngineSpec = EngineSpec {
    name: "command",
    summary: "",
    peer: Peer::None,
    params: &[param("run", ParamKind::Command, None), param("note", ParamKind::Text, None)],
    metrics: &[DURATION],
    seconds: |_| 0.0,
};
static ENGINES: &[&EngineSpec] = &[&IPERF3, &PING, &COMMAND];

const LAB: &str = r#"question = "Do jumbo frames pay?"
blocks = 4
margin = "2%"
seed = 7
rest = "100ms"

[hosts]
client = { lab = "left" }
server = { lab = "right" }

[lab]
link = { rate = "25Gbit", offload = false }

[[arm]]
name = "mtu-1500"
set = { mtu = 1500 }

[[arm]]
name = "mtu-9000"
set = { mtu = 9000 }
before = "true"

[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "3s"

[[measure]]
engine = "ping"
from = "client"
to = "server"
count = 200
"#;

const REAL: &str = r#"[hosts]
a = { local = true }
b = { ssh = "ann@db1", sudo = true, address = "192.0.2.7", interface = "eth0" }
[[arm]]
name = "base"
[[arm]]
name = "four"
params = { iperf3 = { parallel = 4 } }
[[measure]]
engine = "iperf3"
from = "a"
to = "b"
[[measure]]
engine = "command"
name = "build"
from = "a"
run = ["make", "-j2"]
"#;

fn read(text: &str) -> Plan {
    parse("plans/good.toml", text, ENGINES).unwrap_or_else(|error| panic!("{}\n{text}", error.render()))
}

/// `text` must be refused at `at` with a message that contains `fragment`, and so the hint `hint`.
fn refuse(text: &str, at: &str, fragment: &str, hint: &str) {
    let error = parse("p.toml", text, ENGINES).expect_err(&format!("no complaint about {fragment}\n{text}"));
    let found = format!("{}:{}", error.line, error.column);
    assert_eq!(found, at, "{}", error.render());
    assert!(error.what.contains(fragment), "no {fragment:?} in\n{}", error.render());
    assert!(!error.what.contains('\n'), "{:?}", error.what);
    assert!(error.hint.as_deref().unwrap_or("").contains(hint), "no {hint:?} in\n{}", error.render());
}

/// The same for a good plan with one change.
fn edit(plan: &str, old: &str, new: &str, at: &str, fragment: &str, hint: &str) {
    assert!(plan.contains(old), "{old}");
    refuse(&plan.replacen(old, new, 1), at, fragment, hint);
}

#[test]
fn bad_documents() {
    refuse("", "1:1", "hosts are missing", "[hosts]");
    refuse("blocks = 8\nblocks = 9\n", "2:1", "twice", "");
    refuse("blocks 8", "1:8", "expected `=`", "");
    refuse("blocks = \n", "1:10", "", "");
    refuse("[hosts\n", "1:7", "expected `]`", "");
    refuse("question = \"why?\nblocks = 2\n", "1:17", "basic string", "");
    refuse("hosts = 3", "1:9", "hosts: expected a table, found the number 3", "[hosts]");
    refuse("[hosts]\n", "1:1", "names no host", "");
    refuse("\u{feff}[hosts]\na = 1\n", "2:5", "a: expected a table", "");
    refuse(
        "[hosts.a]\nsudo = true\n[hosts.b]\nsudo = true\n",
        "1:1",
        "host \"a\" has no place",
        "local = true",
    );
    refuse(&"#\n".repeat(1 << 20), "1:1", "larger than a plan may be", "");
    refuse("[[hosts]]\na = { local = true }\n", "1:1", "hosts: expected a table, found an array", "");
}

/// Nesting as deep as a plan's size allows must not use up the stack.
#[test]
fn deep_documents() {
    let deep = |text: String| parse("deep.toml", &text, ENGINES).expect_err("deep").what;
    deep(format!("blocks = {}", "[".repeat(1_000_000)));
    deep(format!("blocks = {}", "{a=".repeat(300_000)));
    deep(format!("blocks{} = 1", ".a".repeat(500_000)));
    deep(format!("[blocks{}]", ".a".repeat(500_000)));
}

#[test]
fn bad_keys_of_the_plan() {
    edit(LAB, "blocks = 4", "block = 4", "2:1", "unknown key \"block\"", "\"blocks\"");
    edit(LAB, "blocks = 4", "zebra = 4", "2:1", "unknown key \"zebra\"", "known are name, question");
    edit(LAB, "blocks = 4", "blocks = 0", "2:10", "between 1 and 1000", "");
    edit(LAB, "blocks = 4", "blocks = 1001", "2:10", "between 1 and 1000", "");
    edit(LAB, "blocks = 4", "blocks = -4", "2:10", "negative", "");
    edit(LAB, "blocks = 4", "blocks = \"4\"", "2:10", "whole number", "without quotes: blocks = 4");
    edit(LAB, "blocks = 4", "blocks = 4.5", "2:10", "found the number 4.5", "");
    edit(LAB, "blocks = 4", "blocks = 4\nuntil = \"ci <= 2%\"", "2:1", "blocks and until", "at_most = 40");
    edit(LAB, "blocks = 4", "at_most = \"20m\"", "2:1", "at_most without until", "ci <= 2%");
    edit(LAB, "blocks = 4", "until = 2", "2:9", "expected a rule", "ci <= 2%");
    edit(LAB, "blocks = 4", "until = \"p < 5%\"", "2:9", "is no rule", "ci <= 2%");
    edit(LAB, "blocks = 4", "until = \"ci <= 2\"", "2:9", "no percentage", "");
    edit(LAB, "blocks = 4", "until = \"ci <= 80%\"", "2:9", "at most 50%", "");
    edit(LAB, "blocks = 4", "until = \"ci<=2%\"\nat_most = 4", "3:11", "between 8 and 1000", "");
    edit(LAB, "blocks = 4", "until = \"ci<=2%\"\nat_most = \"20\"", "3:11", "no unit", "");
    edit(LAB, "margin = \"2%\"", "margin = 0.02", "3:10", "expected a percentage", "margin = \"2%\"");
    edit(LAB, "margin = \"2%\"", "margin = \"2\"", "3:10", "no percentage", "");
    edit(LAB, "margin = \"2%\"", "margin = \"80%\"", "3:10", "between 0% and 50%", "");
    edit(LAB, "seed = 7", "tolerate = \"5%\"", "4:12", "expected", "tolerate = { steal");
    edit(LAB, "seed = 7", "tolerate = { heat = 1 }", "4:14", "unknown key \"heat\"", "steal");
    edit(LAB, "seed = 7", "tolerate = { steal = 0.2 }", "4:22", "expected a percentage", "steal = \"25%\"");
    edit(LAB, "seed = 7", "tolerate = { steal = \"120%\" }", "4:22", "between 0% and 100%", "");
    edit(LAB, "seed = 7", "seed = 99999999999999999999", "4:8", "too large", "");
    edit(LAB, "rest = \"100ms\"", "rest = 5", "5:8", "expected a duration", "rest = \"3s\"");
    edit(LAB, "rest = \"100ms\"", "rest = \"5\"", "5:8", "no unit", "");
    edit(LAB, "rest = \"100ms\"", "rest = \"2h\"", "5:8", "between", "");
    edit(
        LAB,
        "rest = \"100ms\"",
        "order = \"few-change\"",
        "5:9",
        "expected \"balanced\"",
        "\"few-changes\"",
    );
    edit(LAB, "rest = \"100ms\"", "name = \"../x\"", "5:8", "is no name", "letters");
    edit(LAB, "\"Do jumbo frames pay?\"", "[]", "1:12", "expected text, found an array", "");
    edit(LAB, "\"Do jumbo frames pay?\"", "\" \"", "1:12", "empty", "");
}

#[test]
fn bad_hosts() {
    let client = r#"client = { lab = "left" }"#;
    let host = |new: &str, at: &str, fragment: &str, hint: &str| {
        edit(LAB, client, &format!("client = {new}"), at, fragment, hint);
    };
    host("{ }", "8:10", "has no place", "local = true");
    host("\"db1\"", "8:10", "expected a table", "ssh");
    host("{ lab = \"left\", ssh = \"db1\" }", "8:26", "two places: lab and ssh", "keep one");
    host("{ slurm = \"node1\" }", "8:12", "slurm hosts are not available yet", "srun");
    host("{ sssh = \"db1\" }", "8:12", "unknown key \"sssh\"", "\"ssh\"");
    host("{ local = false }", "8:20", "not here", "");
    host("{ local = \"yes\" }", "8:20", "true or false", "");
    host("{ ssh = \"-oProxyCommand=id\" }", "8:18", "looks like an option", "");
    host("{ ssh = \"ann@-x\" }", "8:18", "looks like an option", "");
    host("{ ssh = \"ann@\" }", "8:18", "no destination", "user@host");
    host("{ exec = \"kubectl exec\" }", "8:19", "array of arguments", "kubectl");
    host("{ exec = [] }", "8:19", "names no program", "");
    host("{ exec = [\"a\", 3] }", "8:25", "expected text, found the number 3", "exec = \"3\"");
    host("{ lab = \"x\", sudo = true }", "8:23", "part of this process", "sudo");
    host("{ lab = \"left\", address = \"192.0.2.1\" }", "8:26", "the lab gives", "");
    host("{ lab = \"right\" }", "9:10", "both lab = \"right\"", "");
    host("{ lab = \"le ft\" }", "8:18", "is no name", "");
    host("{ local = true }", "8:1", "a lab has two hosts", "nothing else");
    host("{ ssh = \"db1\", address = \"db1.lan\" }", "8:35", "no IP address", "");
    host("{ ssh = \"db1\", address = \"0.0.0.0\" }", "8:35", "no host's address", "");
    host("{ ssh = \"db1\", interface = \"a/b\" }", "8:37", "can't be an interface", "");
    edit(LAB, "[hosts]\n", "[hosts]\nblocks = 8\n", "8:1", "\"blocks\" is no host", "above the first");
    edit(LAB, client, "\"my host\" = { local = true }", "8:1", "no name for a host", "");
    edit(LAB, "[lab]\n", "third = { local = true }\n[lab]\n", "11:1", "2 in the lab of 3", "");
    edit(REAL, "[[arm]]", "[lab]\n[[arm]]", "4:2", "no host is in it", "leave it out");
}

#[test]
fn bad_links() {
    let link = |new: &str, at: &str, fragment: &str, hint: &str| {
        edit(LAB, "{ rate = \"25Gbit\", offload = false }", new, at, fragment, hint);
    };
    link("{ rate = 25 }", "12:17", "expected a bit rate", "rate = \"25Gbit\"");
    link("{ rate = \"25G\" }", "12:17", "no bit rate", "");
    link("{ rate = \"2bit\" }", "12:17", "between 1kbit and 1Tbit", "");
    link("{ rates = \"25Gbit\" }", "12:10", "unknown key", "\"rate\"");
    link("{ offload = \"false\" }", "12:20", "true or false", "without quotes");
    link("{ burst = \"8m\" }", "12:1", "a burst and no rate", "rate");
    link("{ rate = \"25Gbit\", burst = 4096 }", "20:9", "no frame of 9014 bytes", "burst");
    link("{ rate = \"25Gbit\", burst = 10 }", "12:35", "between 100", "");
    link("{ rate = \"25Gbit\", overhead = 5000 }", "12:38", "between 0 and 1000", "");
    edit(LAB, "{ mtu = 1500 }", "{ link = { overhaed = 24 } }", "16:18", "unknown key", "\"overhead\"");
    edit(
        REAL,
        "name = \"base\"",
        "name = \"base\"\nset = { link = { rate = \"1Gbit\" } }",
        "6:9",
        "real",
        "lab",
    );
}

#[test]
fn bad_arms() {
    let set = |new: &str, at: &str, fragment: &str, hint: &str| {
        edit(LAB, "{ mtu = 1500 }", new, at, fragment, hint);
    };
    set("{ mtu = 67 }", "16:15", "between 68 and 65535", "");
    set("{ mtu = 65536 }", "16:15", "between 68 and 65535", "");
    set("{ mtu = \"9000\" }", "16:15", "whole number", "mtu = 9000");
    set("{ mut = 9000 }", "16:9", "unknown key", "\"mtu\"");
    set("{ congestion = \"bbr; id\" }", "16:22", "no algorithm", "");
    set("{ env = { A = 4 } }", "16:21", "expected text, found the number 4", "A = \"4\"");
    set("{ env = { 4A = \"x\" } }", "16:17", "environment variable", "");
    set("{ env = { A = \"\\u0000\" } }", "16:21", "NUL", "");
    edit(LAB, "set = { mtu = 1500 }", "mtu = 1500", "16:1", "belongs into set", "set = { mtu");
    edit(LAB, "set = { mtu = 1500 }", "sets = { mtu = 1500 }", "16:1", "unknown key", "\"set\"");
    edit(LAB, "name = \"mtu-1500\"\n", "", "14:1", "name is missing", "name =");
    edit(LAB, "name = \"mtu-9000\"", "name = \"mtu-1500\"", "19:8", "another arm \"mtu-1500\"", "");
    edit(LAB, "name = \"mtu-9000\"", "name = \"a\\u001b[1m\"", "19:8", "can't be printed", "");
    edit(LAB, "name = \"mtu-9000\"", "name = \" a\"", "19:8", "blanks", "");
    edit(LAB, "name = \"mtu-9000\"", &format!("name = \"{}\"", "a".repeat(65)), "19:8", "longer than 64", "");
    edit(LAB, "[[arm]]", "[[arms]]", "14:3", "unknown key \"arms\"", "\"arm\"");
    let before = |new: &str, at: &str, fragment: &str, hint: &str| {
        edit(LAB, "before = \"true\"", &format!("before = {new}"), at, fragment, hint);
    };
    before("\"\"", "21:10", "empty", "");
    before("[]", "21:10", "names no program", "");
    before("7", "21:10", "expected a command, found the number 7", "shell");
    before("[{ run = \"a\" }, \"b\"]", "21:26", "mixes", "{ run = ... }");
    before("{ host = \"client\" }", "21:10", "run is missing", "");
    before("{ host = \"cleint\", run = \"a\" }", "21:19", "has no \"cleint\"", "\"client\"");
    edit(LAB, "before = \"true\"", "change = \"manuel\"", "21:10", "\"manual\" or a time", "");
    edit(LAB, "before = \"true\"", "change = \"2 weeks\"", "21:10", "unknown unit", "");
    edit(LAB, "before = \"true\"", "hosts = { cli = { local = true } }", "21:11", "has no \"cli\"", "");
    edit(LAB, "before = \"true\"", "hosts = { client = { local = true } }", "21:11", "a lab has two", "");
    edit(REAL, "iperf3 = {", "iperf = {", "8:12", "no engine \"iperf\"", "\"iperf3\"");
    edit(REAL, "iperf3 = { parallel = 4", "iperf3 = { paralel = 4", "8:23", "no parameter", "\"parallel\"");
    edit(REAL, "{ parallel = 4 }", "{ parallel = 400 }", "8:34", "between 1 and 128", "");
    edit(REAL, "iperf3 = { parallel = 4 }", "ping = { count = 4 }", "8:12", "no measure uses", "");
    let one = "[hosts]\na = { local = true }\n[[arm]]\nname = \"x\"\n[[measure]]\nengine = \"command\"\nfrom = \"a\"\n";
    refuse(one, "3:1", "only one [[arm]]", "add the configuration");
    refuse(&one.replace("[[arm]]\nname = \"x\"\n", ""), "1:1", "no [[arm]]", "");
    refuse(&one.replace("[[arm]]", "[arm]"), "3:1", "array of tables", "[[arm]]");
    let two = one.replace("[[measure]]", "[[arm]]\nname = \"y\"\nset = { mtu = 9000 }\n[[measure]]");
    refuse(&two, "7:9", "no interface is measured", "interface");
    let v6 = REAL
        .replace("192.0.2.7", "2001:db8::7")
        .replace("name = \"four\"", "name = \"four\"\nset.mtu = 1200");
    refuse(&v6, "8:5", "at least 1280", "");
    refuse(
        &format!("{REAL}{}", (0..40).map(|n| format!("[[arm]]\nname = \"{n}\"\n")).collect::<String>()),
        "78:1",
        "more than 32 [[arm]]",
        "",
    );
}

#[test]
fn bad_measures() {
    edit(LAB, "engine = \"iperf3\"\n", "", "23:1", "engine is missing", "");
    edit(LAB, "engine = \"iperf3\"", "engine = \"iperf\"", "24:10", "there is no \"iperf\"", "\"iperf3\"");
    edit(LAB, "engine = \"iperf3\"", "engine = \"fio\"", "24:10", "there is no \"fio\"", "known are iperf3");
    edit(LAB, "engine = \"iperf3\"", "engine = 3", "24:10", "expected text", "quotes");
    edit(LAB, "from = \"client\"\n", "", "23:1", "from is missing", "");
    edit(LAB, "from = \"client\"", "from = \"clent\"", "25:8", "has no \"clent\"", "\"client\"");
    edit(LAB, "to = \"server\"\n", "", "23:1", "to is missing", "");
    edit(LAB, "to = \"server\"", "to = \"client\"", "26:6", "to itself", "");
    edit(LAB, "time = \"3s\"", "tiem = \"3s\"", "27:1", "iperf3 has no parameter", "\"time\"");
    edit(LAB, "time = \"3s\"", "time = 3", "27:8", "expected a duration", "time = \"3s\"");
    edit(LAB, "time = \"3s\"", "time = \"3 parsecs\"", "27:8", "unknown unit", "");
    edit(LAB, "time = \"3s\"", "time = \"0s\"", "27:8", "must be between", "");
    edit(LAB, "time = \"3s\"", "length = true", "27:10", "expected a size", "128k");
    edit(LAB, "time = \"3s\"", "length = \"9g\"", "27:10", "must be between 1 and 1048576", "");
    edit(LAB, "time = \"3s\"", "bitrate = 100", "27:11", "expected a bit rate", "");
    edit(LAB, "time = \"3s\"", "reverse = \"true\"", "27:11", "true or false", "reverse = true");
    edit(LAB, "time = \"3s\"", "protocol = \"tpc\"", "27:12", "expected \"tcp\" or \"udp\"", "\"tcp\"");
    edit(LAB, "engine = \"ping\"", "engine = \"iperf3\"", "33:1", "iperf3 has no parameter \"count\"", "");
    edit(
        LAB,
        "engine = \"ping\"\n",
        "engine = \"ping\"\nname = \"iperf3\"\n",
        "31:8",
        "another measure",
        "name",
    );
    edit(
        LAB,
        "[[measure]]\nengine = \"ping\"",
        "[measure]\nengine = \"ping\"",
        "29:2",
        "twice",
        "[[measure]]",
    );
    edit(REAL, "run = [\"make\", \"-j2\"]", "run = \"\"", "17:7", "empty", "");
    edit(REAL, "name = \"build\"", "to = \"b\"", "15:1", "measures one host", "leave it out");
    edit(REAL, ", address = \"192.0.2.7\"", "", "12:6", "\"b\" has no address", "address");
    edit(REAL, "{ local = true }", "{ local = true, address = \"::1\" }", "12:6", "IPv4 and IPv6", "");
    let none = REAL.split("[[measure]]").next().unwrap();
    refuse(none, "1:1", "no [[measure]]", "add [[measure]]");
    let crowd = format!(
        "blocks = 1000\n{REAL}{}",
        (0..30)
            .map(|n| format!(
                "[[arm]]\nname = \"{n}\"\n[[measure]]\nname = \"{n}\"\nengine = \"command\"\nfrom = \"a\"\n"
            ))
            .collect::<String>()
    );
    refuse(&crowd, "1:10", "runs; at most 100000", "");
}

#[test]
fn lengths() {
    let check = |lines: &str, blocks: u32, until: Option<(f64, Budget)>| {
        let plan = read(&LAB.replace("blocks = 4", lines));
        let until = until.map(|(ci, at_most)| Until { ci, at_most });
        assert_eq!((plan.blocks, plan.until), (blocks, until), "{lines}");
    };
    check("blocks = 12", 12, None);
    check("until = \"ci <= 2%\"", 8, Some((0.02, Budget::Blocks(40))));
    check("until = \"ci<=0.5 %\"\nat_most = 60", 8, Some((0.005, Budget::Blocks(60))));
    check("until = \"ci <= 2%\"\nat_most = \"20m\"", 8, Some((0.02, Budget::Seconds(1200.0))));
}

#[test]
fn a_lab_plan() {
    let plan = read(LAB);
    assert_eq!(
        (plan.name.as_str(), plan.blocks, plan.margin, plan.seed, plan.rest),
        ("good", 4, 0.02, Some(7), 0.1)
    );
    assert_eq!(plan.text, LAB);
    assert_eq!(plan.hosts["client"].place, Place::Lab("left".into()));
    assert_eq!(plan.lab.as_ref().unwrap().link.rate, Some(25_000_000_000));
    assert_eq!(
        plan.arms[1].before,
        [HostCommand { host: None, argv: vec!["sh".into(), "-c".into(), "true".into()] }]
    );
    assert_eq!(plan.measures[0].params.seconds("time"), Some(3.0));
    assert_eq!(plan.measures[0].params.count("length"), Some(131072));
    assert_eq!(plan.measures[0].params.0.get("bitrate"), None);
    assert_eq!(plan.measures[1].params.seconds("interval"), Some(1.0));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
}

/// Seconds of measuring and of rest.
fn length(plan: &Plan) -> (f64, f64) {
    let run = |measure: &Measure| {
        ENGINES
            .iter()
            .find(|spec| spec.name == measure.engine)
            .map_or(0.0, |spec| (spec.seconds)(&measure.params))
    };
    let slots = f64::from(plan.blocks) * plan.arms.len() as f64;
    let measuring = slots * plan.measures.iter().map(run).sum::<f64>();
    (measuring, slots * plan.measures.len() as f64 * plan.rest)
}

#[test]
fn examples() {
    let read =
        |path: &str, text: &str| parse(path, text, ENGINES).unwrap_or_else(|e| panic!("{}", e.render()));
    let lab = read("examples/mtu.toml", include_str!("../../../../examples/mtu.toml"));
    assert_eq!((lab.name.as_str(), lab.blocks, lab.arms.len(), lab.measures.len()), ("mtu", 8, 2, 2));
    let link = lab.link_of(&lab.arms[1]).unwrap();
    assert_eq!((link.rate, link.offload), (Some(25_000_000_000), Some(false)));
    // As its head says, to the tenth of a second.
    let (measuring, rests) = length(&lab);
    assert!((measuring - 64.0).abs() < 0.1 && (rests - 6.4).abs() < 0.1, "{measuring} {rests}");

    let real = read("mtu-two-hosts", include_str!("../../../../examples/mtu-two-hosts.toml"));
    assert!(real.hosts.values().all(|host| host.sudo && host.address.is_some()));
    assert_eq!((real.lab.as_ref(), real.arms.len()), (None, 2));
    let (measuring, rests) = length(&real);
    assert!((measuring - 240.0).abs() < 0.1 && (rests - 64.0).abs() < 0.1, "{measuring} {rests}");
    // The lines in comments are right, too.
    let mut all = include_str!("../../../../examples/mtu-two-hosts.toml").to_owned();
    for key in ["interface", "before", "after", "change"] {
        assert!(all.contains(&format!("\n# {key} = ")), "{key}");
        all = all.replace(&format!("\n# {key} = "), &format!("\n{key} = "));
    }
    let all = read("all.toml", &all);
    assert_eq!((all.arms[1].change, all.arms[1].before.len()), (Change::Manual, 1));
}

#[test]
fn what_an_arm_changes() {
    let text = LAB.replace("{ mtu = 9000 }", "{ link = { rate = \"10Gbit\" } }");
    let plan = read(&text);
    assert_eq!(plan.link_of(&plan.arms[0]).unwrap().rate, Some(25_000_000_000));
    let slow = plan.link_of(&plan.arms[1]).unwrap();
    assert_eq!((slow.rate, slow.offload), (Some(10_000_000_000), Some(false)));

    let text = REAL.replace(
        "name = \"four\"",
        "name = \"four\"\nhosts.b = { ssh = \"ssh://ann@[2001:db8::9]:22\" }\nhosts.a.local = true",
    );
    let plan = read(&text);
    assert_eq!(plan.link_of(&plan.arms[0]), None);
    assert_eq!(plan.hosts_of(&plan.arms[0])["b"].address, Some("192.0.2.7".parse().unwrap()));
    let moved = plan.hosts_of(&plan.arms[1]);
    assert_eq!((moved["b"].address, moved["b"].sudo), (Some("2001:db8::9".parse().unwrap()), false));
    assert_eq!(plan.params_of(&plan.arms[0], &plan.measures[0]).count("parallel"), Some(1));
    let params = plan.params_of(&plan.arms[1], &plan.measures[0]);
    assert_eq!((params.count("parallel"), params.seconds("time")), (Some(4), Some(10.0)));
    assert_eq!(plan.measures[1].params.command("run").unwrap(), ["make", "-j2"]);
    assert_eq!(plan.measures[1].label(), "build");
}

#[test]
fn forms_of_values() {
    let arm = |line: &str| read(&LAB.replace("before = \"true\"", line)).arms[1].clone();
    assert_eq!(arm("change = \"manual\"").change, Change::Manual);
    assert_eq!(arm("change = \"2m\"").change, Change::Seconds(120.0));
    assert_eq!(arm("before = [\"sleep\", \"1\"]").before[0].argv, ["sleep", "1"]);
    let one = arm("after = { host = \"server\", run = [\"sync\"] }").after;
    assert_eq!(one, [HostCommand { host: Some("server".into()), argv: vec!["sync".into()] }]);
    let two = arm("[[arm.before]]\nrun = \"a\"\n[[arm.before]]\nhost = \"client\"\nrun = [\"b\"]").before;
    assert_eq!(
        two.iter().map(|c| (c.host.as_deref(), c.argv.len())).collect::<Vec<_>>(),
        [(None, 3), (Some("client"), 1)]
    );
    assert_eq!(arm("hosts = { client = { lab = \"east\" } }").hosts.len(), 1);
    // Equal arms are an A/A test: allowed.
    assert_eq!(read(&LAB.replace("9000 }", "1500 }")).arms.len(), 2);

    let measure = |line: &str| read(&LAB.replace("time = \"3s\"", line)).measures[0].params.clone();
    assert_eq!(measure("length = 4096").count("length"), Some(4096));
    assert_eq!(measure("parallel = 0x10").count("parallel"), Some(16));
    assert_eq!(measure("bitrate = \"1Gbit\"").count("bitrate"), Some(1_000_000_000));
    assert!(measure("reverse = true").switch("reverse"));
    let run = read(&REAL.replace("[\"make\", \"-j2\"]", "\"make | tail\"")).measures[1].params.clone();
    assert_eq!(run.0["run"], Value::Command(vec!["sh".into(), "-c".into(), "make | tail".into()]));

    let host = |place: &str| read(&REAL.replace("ssh = \"ann@db1\"", place)).hosts["b"].clone();
    assert_eq!(
        host("exec = [\"kubectl\", \"exec\", \"-i\", \"p\", \"--\"]").place,
        Place::Exec(["kubectl", "exec", "-i", "p", "--"].map(str::to_owned).to_vec())
    );
    let literal = REAL.replace("ann@db1", "ann@192.0.2.9").replace(", address = \"192.0.2.7\"", "");
    assert_eq!(read(&literal).hosts["b"].address, Some("192.0.2.9".parse().unwrap()));

    let top = |line: &str| read(&LAB.replace("seed = 7", line));
    assert_eq!(top("name = \"jumbo\"").name, "jumbo");
    assert_eq!(top("order = \"few-changes\"").order, Order::FewChanges);
    assert_eq!(top("seed = 9223372036854775807").seed, Some(i64::MAX as u64));
    let defaults = read(REAL);
    assert_eq!((defaults.blocks, defaults.margin, defaults.rest, defaults.seed), (8, 0.02, 0.0, None));
    let named = |path: &str| parse(path, REAL, ENGINES).unwrap().name;
    assert_eq!(
        (named("a/b/nic.toml"), named("-"), named(""), named("..")),
        ("nic".to_owned(), "-".to_owned(), "plan".to_owned(), "plan".to_owned())
    );
    assert_eq!(read(&LAB.replace('\n', "\r\n")).blocks, 4);
}

#[test]
fn errors_as_people_see_them() {
    let error =
        parse("plans/mtu.toml", "# 天秤\nblocks = 8\n\t[hosts]\n\tclient = { lcoal = true }\n", ENGINES);
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "plans/mtu.toml:4:13: unknown key \"lcoal\"");
    assert_eq!(
        error.render(),
        "plans/mtu.toml:4:13: unknown key \"lcoal\"\n4 | \tclient = { lcoal = true }\n  | \t           ^\nhint: did you mean \"local\"?"
    );
    // A line that no terminal holds shows the part that matters, and nothing in it moves the cursor.
    let long = format!("# {}\nquestion = \"{}\u{1b}[2J\"\n", "x".repeat(9), "y".repeat(500));
    let error = parse("p", &long, ENGINES).unwrap_err();
    let shown = error.render();
    assert!(!shown.contains('\u{1b}') && shown.lines().all(|line| line.chars().count() < 120), "{shown}");
    assert_eq!(error.column, 513);
}

/// Random damage to good plans: an answer or an error with a place in the text, never a panic.
#[test]
fn damaged_plans_never_panic() {
    const WORDS: &[&str] = &[
        "true",
        "-1",
        "0",
        "\"\"",
        "\"2%\"",
        "[]",
        "{}",
        "[[arm]]\n",
        "[lab]\n",
        "[hosts]\n",
        "mtu = 1\n",
        "\n",
        "\"",
        "'''",
        "=",
        "1e999",
        "99999999999999999999",
        "\u{1b}",
        "天",
        "1979-05-27",
        "\"\\u0000\"",
        "[[measure]]\n",
        ".",
        "link = { rate = \"1Gbit\" }\n",
        "hosts = { client = { local = true } }\n",
        "\"999999999999999999999999h\"",
        "nan",
        "engine = \"command\"\n",
        "\r",
        "\u{feff}",
        "{ local = true }",
        "to = \"b\"\n",
        "address = \"::1\"",
        ",",
    ];
    // xorshift64*: any fixed sequence will do, as long as a failure can be repeated.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    };
    let (mut good, mut bad) = (0, 0);
    for round in 0..20_000 {
        let mut chars: Vec<char> = if round % 2 == 0 { LAB } else { REAL }.chars().collect();
        for _ in 0..=below(4) {
            let at = below(chars.len() + 1);
            let end = (at + below(12)).min(chars.len());
            match below(4) {
                0 => drop(chars.drain(at..end)),
                1 => drop(chars.splice(at..end, WORDS[below(WORDS.len())].chars())),
                2 => drop(chars.splice(at..at, WORDS[below(WORDS.len())].chars())),
                _ => {
                    // A stretch from elsewhere, so that keys meet values of other keys.
                    let from = below(chars.len() + 1);
                    let part = chars[from..(from + below(40)).min(chars.len())].to_vec();
                    chars.splice(at..end, part);
                }
            }
        }
        let text: String = chars.into_iter().collect();
        match parse("fuzz.toml", &text, ENGINES) {
            Ok(plan) => {
                good += 1;
                for arm in &plan.arms {
                    let _ = (plan.hosts_of(arm), plan.link_of(arm));
                    for measure in &plan.measures {
                        let _ = plan.params_of(arm, measure);
                    }
                }
            }
            Err(error) => {
                bad += 1;
                assert!(error.line >= 1 && error.line <= text.split('\n').count(), "{}", error.render());
                assert!(
                    error.column >= 1 && error.column <= error.snippet.chars().count() + 2,
                    "{}",
                    error.render()
                );
                assert!(!error.what.is_empty() && !error.what.contains('\n'), "{:?}", error.what);
                assert!(!error.render().contains('\u{1b}'));
            }
        }
    }
    // Both outcomes must have been met, or the damage is of the wrong size.
    assert!(good > 200 && bad > 2000, "{good} read, {bad} refused");
}
