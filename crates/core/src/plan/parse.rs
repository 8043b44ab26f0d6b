//! The plan's TOML text into a checked [`Plan`].
//!
//! [`parse`] reads top-down: the plan's own keys, hosts, lab, arms, measures, then what must hold between them.
//! The first mistake ends it, with its line and column. Where an address is needed (a measure's `to`) it must be
//! in the plan; of `ssh = "ann@192.0.2.7"` it is the destination's when that is a literal address, since a name
//! may be an alias of the user's OpenSSH or lead to another network than the measured one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::IpAddr;

use toml::de::DeTable;

use super::reader::{Item, Source, Table, did_you_mean, shown};
use super::{
    Arm, Budget, Change, Host, HostCommand, Lab, Link, Measure, Order, Place, Plan, Settings, Tolerance,
    Until,
};
use crate::quantity;
use crate::spec::{EngineSpec, Peer, Values};

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}:{column}: {what}")]
pub struct PlanError {
    /// The plan's name or path as given.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in one line.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The offending line of the file.
    pub snippet: String,
}

impl PlanError {
    /// The error for a terminal without colours: the line, a caret under the place, and the cure.
    pub fn render(&self) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let (line, before) = self.window();
        let mut text = format!("{self}\n{number} | {line}\n{margin} | {before}^");
        if let Some(hint) = &self.hint {
            // Writing to a string does not fail.
            let _ = write!(text, "\nhint: {hint}");
        }
        text
    }

    /// What of the line fits a terminal, and the blanks that lead below the column.
    fn window(&self) -> (String, String) {
        const WIDTH: usize = 100;
        let column = self.column.saturating_sub(1);
        let start = if column < WIDTH { 0 } else { column - WIDTH / 2 };
        let visible = self.snippet.chars().skip(start).take(WIDTH);
        // A tab stays a tab in both lines, so that the caret stands right whatever its width.
        let line =
            visible.clone().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
        let before = visible.take(column - start).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        (line, before)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> PlanError {
        self.hint = Some(hint.into());
        self
    }
}

const MOST_BYTES: usize = 1 << 20;
const MOST_HOSTS: usize = 64;
const MOST_ARMS: usize = 32;
const MOST_MEASURES: usize = 32;
const MOST_SLOTS: u64 = 100_000;
const MOST_WORDS: usize = 64;
const LONGEST_NAME: usize = 64;
const LONGEST_QUESTION: usize = 300;
const DAY: f64 = 86_400.0;

const PLAN_KEYS: &[&str] = &[
    "name", "question", "blocks", "until", "at_most", "margin", "seed", "order", "rest", "tolerate", "hosts",
    "lab", "arm", "measure",
];
const TOLERATE_KEYS: &[&str] = &["steal"];
const HOST_KEYS: &[&str] = &["local", "lab", "ssh", "exec", "sudo", "address", "interface"];
const LINK_KEYS: &[&str] = &["rate", "burst", "overhead", "wire_segments", "offload"];
const ARM_KEYS: &[&str] = &["name", "set", "before", "after", "change", "hosts", "params"];
const SET_KEYS: &[&str] = &["mtu", "offload", "congestion", "env", "link"];
const MEASURE_KEYS: &[&str] = &["engine", "name", "from", "to"];

/// Reads a plan. `path` is the file's path or any other name for messages; without folder and `.toml` it is the
/// plan's name where the text gives none. `engines` says which engines and parameters exist.
pub fn parse(path: &str, text: &str, engines: &[&EngineSpec]) -> Result<Plan, PlanError> {
    let source = Source { name: path, text };
    if text.len() > MOST_BYTES {
        return Err(source.error(0, format!("larger than a plan may be ({MOST_BYTES} bytes)")));
    }
    let document = DeTable::parse(text).map_err(|error| syntax(&source, &error))?;
    let root = Table::root(&source, &document);

    root.only(PLAN_KEYS)?;

    let hosts = read_hosts(&root)?;
    let arm_tables = match root.get("arm") {
        None => Vec::new(),
        Some(item) => item.tables(MOST_ARMS)?,
    };
    let measure_tables = match root.get("measure") {
        None => Vec::new(),
        Some(item) => item.tables(MOST_MEASURES)?,
    };
    let mut plan = Plan {
        name: match root.get("name") {
            None => stem(path),
            Some(item) => word(item)?.to_owned(),
        },
        question: root.get("question").map(read_question).transpose()?,
        blocks: root.get("blocks").map_or(Ok(8), |item| item.whole(1..=1000))? as u32,
        until: read_until(&root)?,
        margin: root.get("margin").map_or(Ok(0.02), read_margin)?,
        // TOML's own range, which is also that of the store.
        seed: root.get("seed").map(|item| item.whole(0..=i64::MAX as u64)).transpose()?,
        order: match root.get("order").map(|item| item.choice(&["balanced", "few-changes"])).transpose()? {
            Some("few-changes") => Order::FewChanges,
            _ => Order::Balanced,
        },
        rest: root.get("rest").map_or(Ok(0.0), |item| item.seconds(0.0..=3600.0))?,
        tolerate: root.get("tolerate").map(read_tolerance).transpose()?.unwrap_or_default(),
        lab: root.get("lab").map(read_lab).transpose()?,
        hosts,
        arms: Vec::new(),
        measures: Vec::new(),
        text: text.to_owned(),
    };
    for table in &arm_tables {
        let arm = read_arm(table, &plan, engines)?;
        plan.arms.push(arm);
    }
    check_lab(&mut plan, &root)?;
    for table in &measure_tables {
        let measure = read_measure(table, &plan, engines)?;
        plan.measures.push(measure);
    }
    check_counts(&plan, &root, &arm_tables)?;
    for (arm, table) in plan.arms.iter().zip(&arm_tables) {
        check_arm(&plan, arm, table, &root)?;
    }
    for (measure, table) in plan.measures.iter().zip(&measure_tables) {
        check_addresses(&plan, measure, table)?;
    }
    Ok(plan)
}

/// The parser's complaint in our form.
fn syntax(source: &Source<'_>, error: &toml::de::Error) -> PlanError {
    let at = error.span().map_or(source.text.len(), |span| span.start);
    let mut lines = error.message().lines();
    let what = source.error(at, lines.next().unwrap_or("not TOML").to_owned());
    match what.what.as_str() {
        "duplicate key" => {
            let what = PlanError { what: "this key is given twice".to_owned(), ..what };
            what.hint("a section that may come several times has two brackets: [[arm]], [[measure]]")
        }
        _ => what,
    }
}

/// What a plan is called after its path.
fn stem(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let plain = |c: char| if c.is_alphanumeric() || "_-.+".contains(c) { c } else { '-' };
    let name: String = stem.trim_start_matches('.').chars().take(LONGEST_NAME).map(plain).collect();
    if name.is_empty() { "plan".to_owned() } else { name }
}

/// A name that may become a file's or a host's: letters, digits, `_ - .`.
fn word(item: Item<'_>) -> Result<&str, PlanError> {
    let text = item.line(LONGEST_NAME)?;
    if is_word(text) {
        return Ok(text);
    }
    let what = format!("{}: {} is no name", item.key, shown(text));
    Err(item.error(what).hint("use letters, digits, _, - and ., beginning with a letter or digit"))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        && text.len() <= LONGEST_NAME
}

fn read_question(item: Item<'_>) -> Result<String, PlanError> {
    // A question over several lines is one in the report.
    let text = item.text()?.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0 => Err(item.error("question: is empty")),
        1..=LONGEST_QUESTION if !text.chars().any(super::reader::unprintable) => Ok(text),
        1..=LONGEST_QUESTION => Err(item.error("question: holds characters that can't be printed")),
        _ => Err(item.error(format!("question: longer than {LONGEST_QUESTION} characters"))),
    }
}

fn read_margin(item: Item<'_>) -> Result<f64, PlanError> {
    let example = "a share of the value, in quotes: margin = \"2%\"";
    let text = item.text().map_err(|_| item.expected("a percentage").hint(example))?;
    match quantity::parse_percent(text) {
        Ok(margin) if margin <= 0.5 => Ok(margin),
        Ok(_) => Err(item.error("margin: must be between 0% and 50%")),
        Err(why) => Err(item.error(format!("margin: {why}"))),
    }
}

/// `until = "ci <= 2%"` with `at_most = "20m"` or a number of blocks.
fn read_until(root: &Table<'_>) -> Result<Option<Until>, PlanError> {
    let at_most = root.get("at_most");
    let Some(item) = root.get("until") else {
        return match at_most {
            None => Ok(None),
            Some(item) => Err(item.key_error("at_most without until").hint("add until = \"ci <= 2%\"")),
        };
    };
    if let Some(blocks) = root.get("blocks") {
        let error = blocks.key_error("blocks and until: a plan has either a fixed length or a rule");
        return Err(error.hint("bound the rule by at_most = 40"));
    }
    let example = "the widest interval that will do: until = \"ci <= 2%\"";
    let text = item.text().map_err(|_| item.expected("a rule").hint(example))?;
    let squeezed: String = text.split_whitespace().collect();
    let share = squeezed.strip_prefix("ci<=").map(quantity::parse_percent);
    let ci = match share {
        Some(Ok(ci)) if ci > 0.0 && ci <= 0.5 => ci,
        Some(Ok(_)) => return Err(item.error("until: must be above 0% and at most 50%")),
        Some(Err(why)) => return Err(item.error(format!("until: {why}"))),
        None => return Err(item.error(format!("until: {} is no rule", shown(text))).hint(example)),
    };
    let at_most = match at_most {
        None => Budget::Blocks(40),
        Some(item) if item.text().is_ok() => Budget::Seconds(item.seconds(1.0..=30.0 * 86400.0)?),
        Some(item) => Budget::Blocks(item.whole(8..=1000)? as u32),
    };
    Ok(Some(Until { ci, at_most }))
}

fn read_tolerance(item: Item<'_>) -> Result<Tolerance, PlanError> {
    let table = item.table("a table like tolerate = { steal = \"25%\" }")?;
    table.only(TOLERATE_KEYS)?;
    let Some(item) = table.get("steal") else { return Ok(Tolerance::default()) };
    let example = "a share of the CPUs' time, in quotes: steal = \"25%\"";
    let text = item.text().map_err(|_| item.expected("a percentage").hint(example))?;
    match quantity::parse_percent(text) {
        Ok(steal) if steal <= 1.0 => Ok(Tolerance { steal }),
        Ok(_) => Err(item.error("steal: must be between 0% and 100%")),
        Err(why) => Err(item.error(format!("steal: {why}"))),
    }
}

fn read_hosts(root: &Table<'_>) -> Result<BTreeMap<String, Host>, PlanError> {
    let table = match root.get("hosts") {
        Some(item) => item.table("[hosts] above lines like client = { ssh = \"ann@db1\" }")?,
        None => {
            let error = root.error("hosts are missing: a plan says where it measures");
            return Err(error.hint("add [hosts] with lines like client = { local = true }"));
        }
    };
    if let Some(item) = table.items.get(MOST_HOSTS) {
        return Err(item.key_error(format!("more than {MOST_HOSTS} hosts")));
    }
    let mut hosts = BTreeMap::new();
    for item in &table.items {
        if !item.is_table() && PLAN_KEYS.contains(&item.key) {
            // The classic slip of TOML: a key below a section's header belongs to the section.
            let error = item.key_error(format!("{} is no host", shown(item.key)));
            return Err(error.hint(format!("{} belongs above the first [section]", item.key)));
        }
        if !is_word(item.key) {
            let error = item.key_error(format!("{} is no name for a host", shown(item.key)));
            return Err(error.hint("use letters, digits, _, - and ., beginning with a letter or digit"));
        }
        hosts.insert(item.key.to_owned(), read_host(*item)?);
    }
    if hosts.is_empty() {
        return Err(table.error("[hosts] names no host").hint("add a line like client = { local = true }"));
    }
    check_lab_hosts(&hosts, &table)?;
    Ok(hosts)
}

fn read_host(item: Item<'_>) -> Result<Host, PlanError> {
    let table = item.table(&format!("{} = {{ ssh = \"ann@db1\" }}", item.key))?;
    if let Some(slurm) = table.get("slurm") {
        let error = slurm.key_error("slurm hosts are not available yet");
        return Err(
            error.hint("inside an allocation use exec = [\"srun\", \"-N1\", \"-n1\", \"-w\", \"node1\"]")
        );
    }
    table.only(HOST_KEYS)?;
    let mut places = table.items.iter().filter(|item| ["local", "lab", "ssh", "exec"].contains(&item.key));
    let Some(place_item) = places.next() else {
        if let (Some(address), 1) = (table.get("address"), table.items.len()) {
            let address = Some(read_address(address)?);
            return Ok(Host { place: Place::Address, sudo: false, address, interface: None });
        }
        let error = table.error(format!("host {} has no place", shown(item.key)));
        return Err(
            error.hint("give it one of local = true, lab = \"left\", ssh = \"ann@db1\", exec = [...]; address alone is a far side without tenbin")
        );
    };
    if let Some(second) = places.next() {
        let what = format!("host {} is at two places: {} and {}", item.key, place_item.key, second.key);
        return Err(second.key_error(what).hint("keep one of them"));
    }
    let place = match place_item.key {
        "lab" => Place::Lab(word(*place_item)?.to_owned()),
        "ssh" => Place::Ssh(read_destination(*place_item)?.to_owned()),
        "exec" if !place_item.is_list() => {
            let error = place_item.expected("an array of arguments");
            return Err(error.hint("like exec = [\"kubectl\", \"exec\", \"-i\", \"pod\", \"--\"]"));
        }
        "exec" => Place::Exec(place_item.command()?),
        _ if place_item.switch()? => Place::Local,
        _ => {
            let error = place_item.error("local: a host that is not here needs another place");
            return Err(error.hint("replace it by ssh = \"ann@db1\" or exec = [...]"));
        }
    };
    let sudo = table.get("sudo").map_or(Ok(false), |item| item.switch())?;
    let in_process = matches!(place, Place::Lab(_));
    if let (true, true, Some(item)) = (sudo, in_process, table.get("sudo")) {
        let error = item.key_error("sudo: this host is part of this process");
        return Err(error.hint("leave it out and start tenbin itself with sudo"));
    }
    if let (Place::Lab(_), Some(item)) = (&place, table.get("address").or(table.get("interface"))) {
        let error = item.key_error(format!("{}: the lab gives its hosts their own", item.key));
        return Err(error.hint("leave it out"));
    }
    let address = match (table.get("address"), &place) {
        (Some(item), _) => Some(read_address(item)?),
        (None, Place::Ssh(destination)) => literal_address(destination),
        (None, _) => None,
    };
    let interface = table.get("interface").map(read_interface).transpose()?;
    Ok(Host { place, sudo, address, interface })
}

fn read_destination(item: Item<'_>) -> Result<&str, PlanError> {
    let text = item.line(255)?;
    let host = destination_host(text);
    // What begins with a minus could be taken for an option: `-oProxyCommand=...` runs a command here.
    if text.starts_with('-') || host.starts_with('-') {
        let error = item.error(format!("ssh: {} looks like an option", shown(text)));
        return Err(error.hint("put options into ~/.ssh/config and give the host's name"));
    }
    if host.is_empty() || text.contains(char::is_whitespace) {
        let error = item.error(format!("ssh: {} is no destination", shown(text)));
        return Err(error.hint("write ssh = \"user@host\" or the name of a host in ~/.ssh/config"));
    }
    Ok(text)
}

/// The host of `host`, `user@host` or `ssh://user@host:port`.
fn destination_host(destination: &str) -> &str {
    let Some(rest) = destination.strip_prefix("ssh://") else {
        return destination.rsplit('@').next().unwrap_or(destination);
    };
    let host = rest.trim_end_matches('/').rsplit('@').next().unwrap_or(rest);
    match host.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.split(':').next().unwrap_or(host),
    }
}

fn literal_address(destination: &str) -> Option<IpAddr> {
    destination_host(destination).parse().ok()
}

fn read_address(item: Item<'_>) -> Result<IpAddr, PlanError> {
    let text = item.text()?;
    let address: IpAddr = text.parse().map_err(|_| {
        let error = item.error(format!("address: {} is no IP address", shown(text)));
        error.hint("give the address on the measured network, like \"192.0.2.7\" or \"2001:db8::7\"")
    })?;
    if address.is_unspecified() || address.is_multicast() {
        return Err(item.error(format!("address: {address} is no host's address")));
    }
    Ok(address)
}

fn read_interface(item: Item<'_>) -> Result<String, PlanError> {
    // The kernel's rules: at most 15 bytes, no slash, no blank, neither of the two folders.
    let text = item.line(15)?;
    if text.len() > 15 || text.contains(['/', ':', ' ']) || matches!(text, "." | "..") {
        return Err(item.error(format!("interface: {} can't be an interface", shown(text))));
    }
    Ok(text.to_owned())
}

/// Lab hosts come in twos, and alone: the lab is two namespaces that reach nothing else.
fn check_lab_hosts(hosts: &BTreeMap<String, Host>, table: &Table<'_>) -> Result<(), PlanError> {
    let mut names = BTreeMap::new();
    for (host, Host { place, .. }) in hosts {
        if let Place::Lab(name) = place
            && let Some(other) = names.insert(name.as_str(), host.as_str())
        {
            let item = table.get(host).or(table.get(other));
            let what = format!("hosts {other} and {host} are both lab = \"{name}\"");
            return Err(item
                .map_or_else(|| table.error(&what), |item| item.error(&what))
                .hint("give each its own name, like \"left\" and \"right\""));
        }
    }
    if names.is_empty() || (names.len() == 2 && hosts.len() == 2) {
        return Ok(());
    }
    let what = format!(
        "a lab has two hosts and reaches no other; here are {} in the lab of {}",
        names.len(),
        hosts.len()
    );
    // Points at the host that is too much: the first outside the lab, else the last.
    let outside = table
        .items
        .iter()
        .find(|item| hosts.get(item.key).is_some_and(|host| !matches!(host.place, Place::Lab(_))));
    let error = match outside.or(table.items.last()) {
        Some(item) => item.key_error(what),
        None => table.error(what),
    };
    Err(error.hint("write client = { lab = \"left\" } and server = { lab = \"right\" }, nothing else"))
}

fn read_lab(item: Item<'_>) -> Result<Lab, PlanError> {
    let table = item.table("[lab] above link = { rate = \"25Gbit\" }")?;
    table.only(&["link"])?;
    Ok(Lab { link: table.get("link").map_or(Ok(Link::default()), read_link)? })
}

fn read_link(item: Item<'_>) -> Result<Link, PlanError> {
    let table = item.table("link = { rate = \"25Gbit\" }")?;
    table.only(LINK_KEYS)?;
    let rate = table.get("rate").map(|item| Ok((item, item.bit_rate()?))).transpose()?;
    if let Some((item, rate)) = rate
        && !(1_000..=1_000_000_000_000).contains(&rate)
    {
        return Err(item.error("rate: must be between 1kbit and 1Tbit"));
    }
    Ok(Link {
        rate: rate.map(|(_, rate)| rate),
        burst: table.get("burst").map(|item| item.size(100..=1 << 30)).transpose()?,
        overhead: table.get("overhead").map(|item| item.whole(0..=1000)).transpose()?.map(|n| n as u32),
        wire_segments: table.get("wire_segments").map(|item| item.switch()).transpose()?,
        offload: table.get("offload").map(|item| item.switch()).transpose()?,
    })
}

fn read_arm(table: &Table<'_>, plan: &Plan, engines: &[&EngineSpec]) -> Result<Arm, PlanError> {
    if let Some(item) = table.items.iter().find(|item| SET_KEYS.contains(&item.key)) {
        let error = item.key_error(format!("{} is a setting and belongs into set", item.key));
        return Err(error.hint(format!("write set = {{ {} = ... }}", item.key)));
    }
    table.only(ARM_KEYS)?;
    let name_item = table.need("name", "name = \"mtu-1500\"")?;
    let name = name_item.line(LONGEST_NAME)?;
    if plan.arms.iter().any(|arm| arm.name == name) {
        return Err(name_item.error(format!("name: there is another arm {}", shown(name))));
    }
    Ok(Arm {
        name: name.to_owned(),
        set: table.get("set").map_or(Ok(Settings::default()), read_settings)?,
        before: table.get("before").map_or(Ok(Vec::new()), |item| read_commands(item, plan))?,
        after: table.get("after").map_or(Ok(Vec::new()), |item| read_commands(item, plan))?,
        change: table.get("change").map_or(Ok(Change::Free), read_change)?,
        hosts: table.get("hosts").map_or(Ok(BTreeMap::new()), |item| read_arm_hosts(item, plan))?,
        params: table.get("params").map_or(Ok(BTreeMap::new()), |item| read_arm_params(item, engines))?,
    })
}

fn read_settings(item: Item<'_>) -> Result<Settings, PlanError> {
    let table = item.table("set = { mtu = 9000 }")?;
    table.only(SET_KEYS)?;
    Ok(Settings {
        // 68 is what IPv4 demands of every link (RFC 791); 65535 is where a packet's length field ends.
        mtu: table.get("mtu").map(|item| item.whole(68..=65535)).transpose()?.map(|n| n as u32),
        offload: table.get("offload").map(|item| item.switch()).transpose()?,
        congestion: table.get("congestion").map(read_congestion).transpose()?,
        env: table.get("env").map_or(Ok(BTreeMap::new()), read_env)?,
        link: table.get("link").map(read_link).transpose()?,
    })
}

fn read_congestion(item: Item<'_>) -> Result<String, PlanError> {
    // TCP_CA_NAME_MAX is 16 with the closing NUL.
    let text = item.line(15)?;
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
        let error = item.error(format!("congestion: {} is no algorithm's name", shown(text)));
        return Err(error.hint("one that /proc/sys/net/ipv4/tcp_available_congestion_control lists"));
    }
    Ok(text.to_owned())
}

fn read_env(item: Item<'_>) -> Result<BTreeMap<String, String>, PlanError> {
    let table = item.table("env = { OMP_NUM_THREADS = \"4\" }")?;
    if let Some(item) = table.items.get(MOST_WORDS) {
        return Err(item.key_error(format!("more than {MOST_WORDS} environment variables in an arm")));
    }
    let mut env = BTreeMap::new();
    for item in &table.items {
        let named = item.key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && item.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && item.key.len() <= 255;
        if !named {
            let error = item.key_error(format!("{} can't be an environment variable", shown(item.key)));
            return Err(error.hint("use letters, digits and _, not beginning with a digit"));
        }
        env.insert(item.key.to_owned(), item.argument()?.to_owned());
    }
    Ok(env)
}

/// A command is a text for the shell or an array of arguments; alone it runs on every host. A table
/// `{ host = "client", run = COMMAND }` runs it on one, and an array of such tables runs them in order.
fn read_commands(item: Item<'_>, plan: &Plan) -> Result<Vec<HostCommand>, PlanError> {
    if item.is_table() {
        return Ok(vec![read_host_command(item, plan)?]);
    }
    let list = if item.is_list() { item.list()? } else { Vec::new() };
    if !list.iter().any(Item::is_table) {
        return Ok(vec![HostCommand { host: None, argv: item.command()? }]);
    }
    if let Some(item) = list.get(MOST_WORDS) {
        return Err(item.error(format!("{}: more than {MOST_WORDS} commands", item.key)));
    }
    if let Some(other) = list.iter().find(|item| !item.is_table()) {
        let error = other.error(format!("{}: mixes arguments and commands", item.key));
        return Err(error.hint("write every command as { run = ... }, with host = ... if it is for one host"));
    }
    list.into_iter().map(|item| read_host_command(item, plan)).collect()
}

fn read_host_command(item: Item<'_>, plan: &Plan) -> Result<HostCommand, PlanError> {
    let table = item.table("{ host = \"client\", run = \"sync\" }")?;
    table.only(&["host", "run"])?;
    let host = table.get("host").map(|item| known_host(item, plan)).transpose()?;
    let argv = table.need("run", "run = \"a command\"")?.command()?;
    Ok(HostCommand { host, argv })
}

fn known_host(item: Item<'_>, plan: &Plan) -> Result<String, PlanError> {
    let name = item.text()?;
    if plan.hosts.contains_key(name) {
        return Ok(name.to_owned());
    }
    let known: Vec<&str> = plan.hosts.keys().map(String::as_str).collect();
    Err(item.unknown_value(&format!("{}: [hosts] has no", item.key), name, &known))
}

fn read_change(item: Item<'_>) -> Result<Change, PlanError> {
    match item.text() {
        Ok("manual") => Ok(Change::Manual),
        Ok(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok(Change::Seconds(item.seconds(0.0..=30.0 * DAY)?))
        }
        _ => Err(item.expected("\"manual\" or a time").hint("like change = \"manual\" or change = \"2m\"")),
    }
}

fn read_arm_hosts(item: Item<'_>, plan: &Plan) -> Result<BTreeMap<String, Host>, PlanError> {
    let table = item.table("hosts = { client = { ssh = \"ann@db2\" } }")?;
    let known: Vec<&str> = plan.hosts.keys().map(String::as_str).collect();
    let mut hosts = BTreeMap::new();
    for item in &table.items {
        if !plan.hosts.contains_key(item.key) {
            return Err(item.unknown("[hosts] has no", &known));
        }
        hosts.insert(item.key.to_owned(), read_host(*item)?);
    }
    Ok(hosts)
}

fn read_arm_params(item: Item<'_>, engines: &[&EngineSpec]) -> Result<BTreeMap<String, Values>, PlanError> {
    let table = item.table("params = { iperf3 = { parallel = 4 } }")?;
    let mut params = BTreeMap::new();
    for item in &table.items {
        let known: Vec<&str> = engines.iter().map(|spec| spec.name).collect();
        let Some(spec) = engines.iter().find(|spec| spec.name == item.key) else {
            return Err(item.unknown("params: there is no engine", &known));
        };
        let own = item.table(&format!("{} = {{ ... }}", item.key))?;
        params.insert(item.key.to_owned(), read_params(&own, spec, &[])?);
    }
    Ok(params)
}

/// Every key of `table` but those in `others` as a parameter of the engine.
fn read_params(table: &Table<'_>, spec: &EngineSpec, others: &[&str]) -> Result<Values, PlanError> {
    let mut values = Values::default();
    for item in table.items.iter().filter(|item| !others.contains(&item.key)) {
        let Some(param) = spec.param(item.key) else {
            let known: Vec<&str> = others.iter().copied().chain(spec.params.iter().map(|p| p.name)).collect();
            return Err(item.unknown(&format!("{} has no parameter", spec.name), &known));
        };
        values.0.insert(param.name.to_owned(), item.typed(param.kind)?);
    }
    Ok(values)
}

fn read_measure(table: &Table<'_>, plan: &Plan, engines: &[&EngineSpec]) -> Result<Measure, PlanError> {
    let engine = table.need("engine", "engine = \"iperf3\"")?;
    let name = engine.text()?;
    let Some(spec) = engines.iter().find(|spec| spec.name == name) else {
        let known: Vec<&str> = engines.iter().map(|spec| spec.name).collect();
        return Err(engine.unknown_value("engine: there is no", name, &known));
    };
    let values = read_params(table, spec, MEASURE_KEYS)?;
    let from_item = table.need("from", "from = \"client\", the host that measures")?;
    let from = known_host(from_item, plan)?;
    let to = match (spec.peer, table.get("to")) {
        (Peer::None | Peer::Optional, None) => None,
        (Peer::None, Some(item)) => {
            let error = item.key_error(format!("to: {name} measures one host, not between two"));
            return Err(error.hint("leave it out"));
        }
        (Peer::Address | Peer::Serve, None) => {
            let error = table.error(format!("to is missing: {name} measures from one host to another"));
            return Err(error.hint("add to = \"server\""));
        }
        (Peer::Address | Peer::Serve | Peer::Optional, Some(item)) => {
            let to = known_host(item, plan)?;
            if to == from {
                let error = item.error(format!("to: {name} would measure from {from} to itself"));
                return Err(error.hint("give the other host"));
            }
            Some(to)
        }
    };
    let measure = Measure {
        engine: name.to_owned(),
        name: table.get("name").map(|item| item.line(LONGEST_NAME)).transpose()?.map(str::to_owned),
        from,
        to,
        params: spec.with_defaults(values).map_err(|why| engine.error(format!("engine: {name}: {why}")))?,
    };
    if plan.measures.iter().any(|other| other.label() == measure.label()) {
        let what = format!("there is another measure called {}", shown(measure.label()));
        let error = table.get("name").unwrap_or(engine).error(what);
        return Err(error.hint("give each a name of its own: name = \"four streams\""));
    }
    Ok(measure)
}

fn check_counts(plan: &Plan, root: &Table<'_>, arms: &[Table<'_>]) -> Result<(), PlanError> {
    match arms {
        [] => {
            let error = root.error("no [[arm]]: a plan compares at least two configurations");
            return Err(error.hint("add [[arm]] with a name and what it sets, twice"));
        }
        [only] => {
            let error = only.error("only one [[arm]]: a plan compares at least two configurations");
            return Err(error.hint(
                "add the configuration to compare with; an [[arm]] with another name and the same settings shows the noise",
            ));
        }
        _ => {}
    }
    if plan.measures.is_empty() {
        let error = root.error("no [[measure]]: a plan says what is measured");
        return Err(error.hint("add [[measure]] with engine = \"...\" and from = \"...\""));
    }
    let slots = u64::from(plan.blocks) * (plan.arms.len() * plan.measures.len()) as u64;
    if slots > MOST_SLOTS {
        let what = format!("blocks x arms x measures are {slots} runs; at most {MOST_SLOTS} are possible");
        return Err(root.get("blocks").map_or_else(|| root.error(&what), |item| item.error(&what)));
    }
    Ok(())
}

/// A lab is there exactly if a host of the plan or of an arm lives in it.
fn check_lab(plan: &mut Plan, root: &Table<'_>) -> Result<(), PlanError> {
    let mut hosts = plan.hosts.values().chain(plan.arms.iter().flat_map(|arm| arm.hosts.values()));
    let in_lab = hosts.any(|host| matches!(host.place, Place::Lab(_)));
    match root.get("lab") {
        Some(item) if !in_lab => {
            let error = item.key_error("[lab] is described, yet no host is in it");
            Err(error.hint("place two hosts in it, like client = { lab = \"left\" }, or leave it out"))
        }
        None if in_lab => {
            plan.lab = Some(Lab::default());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What must hold between an arm, its hosts, the lab and the measures.
fn check_arm(plan: &Plan, arm: &Arm, table: &Table<'_>, root: &Table<'_>) -> Result<(), PlanError> {
    let setting = |key: &str| table.get("set").and_then(|item| item.table("").ok()?.get(key));
    let lab_link = || root.get("lab").and_then(|item| item.table("").ok()?.get("link"));
    let fault = |item: Option<Item<'_>>, what: String| match item {
        Some(item) => item.key_error(what),
        None => table.error(what),
    };
    let hosts = plan.hosts_of(arm);
    if let Some(item) = table.get("hosts") {
        check_lab_hosts(&hosts, &item.table("")?)?;
    }
    let in_lab = hosts.values().any(|host| matches!(host.place, Place::Lab(_)));
    if arm.set.link.is_some() && !in_lab {
        let error =
            fault(setting("link"), "link: only a lab's link can be shaped, and these hosts are real".into());
        return Err(error.hint("place both hosts in a lab, or shape the link in before and after commands"));
    }
    let frame = u64::from(arm.set.mtu.unwrap_or(1500)) + 14;
    if let Some(link) = plan.link_of(arm) {
        if link.rate.is_none() && (link.burst.is_some() || link.overhead.is_some()) {
            let key = if link.burst.is_some() { "burst" } else { "overhead" };
            let what = format!("arm {}: the link has a {key} and no rate", shown(&arm.name));
            let item = setting("link").or_else(lab_link);
            return Err(fault(item, what).hint("add rate = \"25Gbit\" to link, in [lab] or in the arm"));
        }
        let needed = frame + u64::from(link.overhead.unwrap_or(0));
        if let Some(burst) = link.burst
            && burst < needed
        {
            let what = format!(
                "arm {}: a burst of {burst} bytes lets no frame of {needed} bytes pass",
                shown(&arm.name)
            );
            let item = setting("mtu").or(setting("link")).or_else(lab_link);
            return Err(fault(item, what).hint("raise burst; 8m is the default"));
        }
    }
    if let Some(mtu) = arm.set.mtu
        && mtu < 1280
        && let Some((name, _)) = hosts.iter().find(|(_, host)| host.address.is_some_and(|a| a.is_ipv6()))
    {
        let what = format!("mtu: IPv6, which {name} is measured by, needs at least 1280");
        return Err(fault(setting("mtu"), what));
    }
    let has_interface = in_lab
        || hosts.values().any(|host| host.interface.is_some())
        || plan.measures.iter().any(|measure| measure.to.is_some());
    if (arm.set.mtu.is_some() || arm.set.offload.is_some()) && !has_interface {
        let key = if arm.set.mtu.is_some() { "mtu" } else { "offload" };
        let what = format!("{key}: no interface is measured that it could be set on");
        return Err(fault(setting(key), what).hint("add interface = \"eth0\" to the host"));
    }
    let used: BTreeSet<&str> = plan.measures.iter().map(|measure| measure.engine.as_str()).collect();
    if let Some(engine) = arm.params.keys().find(|engine| !used.contains(engine.as_str())) {
        let item = table.get("params").and_then(|item| item.table("").ok()?.get(engine));
        let known: Vec<&str> = used.into_iter().collect();
        let error = fault(item, format!("params: no measure uses the engine {}", shown(engine)));
        return Err(error.hint(did_you_mean(engine, &known)));
    }
    Ok(())
}

/// A measure's `to` needs an address in every arm, of the same family as that of `from`.
fn check_addresses(plan: &Plan, measure: &Measure, table: &Table<'_>) -> Result<(), PlanError> {
    for arm in &plan.arms {
        let near = plan.hosts_of(arm).remove(&measure.from);
        if near.is_some_and(|host| host.place == Place::Address) {
            let item = table.get("from");
            let error = item.map_or_else(|| table.error(""), |item| item.error(""));
            let what = format!("from: host {} is an address only and can't measure", shown(&measure.from));
            return Err(PlanError { what, ..error }.hint("give it a place, like ssh = \"ann@db1\""));
        }
    }
    let (Some(to), Some(item)) = (&measure.to, table.get("to")) else { return Ok(()) };
    for arm in &plan.arms {
        let hosts = plan.hosts_of(arm);
        let (Some(near), Some(far)) = (hosts.get(&measure.from), hosts.get(to)) else { continue };
        match (near.address, far.address) {
            (_, None) if !matches!(far.place, Place::Lab(_)) => {
                let error = item.error(format!("to: host {} has no address to measure to", shown(to)));
                return Err(error.hint(format!(
                    "add its address on the measured network: {to} = {{ ..., address = \"192.0.2.7\" }}"
                )));
            }
            (Some(near), Some(far)) if near.is_ipv4() != far.is_ipv4() => {
                let what = format!("to: {} has {near} and {to} has {far}: IPv4 and IPv6", measure.from);
                return Err(item.error(what).hint("give both hosts addresses of one kind"));
            }
            _ => {}
        }
    }
    Ok(())
}
