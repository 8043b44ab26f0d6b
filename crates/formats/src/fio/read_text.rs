//! Reads fio's normal text: a block for each job, and the summaries of groups.

use std::collections::{HashMap, HashSet};

use super::model::{Job, Latency};
use super::settings::Settings;
use super::terse;
use super::text_line::{self, Rates};

/// Whether only fio writes such a line.
pub(super) fn is_fio(line: &str) -> bool {
    let text = prefixed(line).1;
    terse::is_terse(text)
        || text_line::start(text).is_some()
        || text_line::head(text).is_some()
        || text_line::rates(text)
            .is_some_and(|rates| rates.iops.is_some() && rates.bytes_per_second.is_some())
        || text.starts_with("Run status group ") && text.ends_with("(all jobs):")
}

/// Whether fio says that it was stopped.
pub(super) fn stopped(line: &str) -> bool {
    line.trim_start().starts_with("fio: terminating on signal")
}

/// The first error that fio tells.
pub(super) fn complaint(log: &str) -> Option<String> {
    let own = |line: &&str| {
        let known = ["fio: ", "fio-", "verify: ", "bs: "];
        let harmless = ["fio: terminating on signal", "fio: pinning", "fio: this platform", "fio-"];
        known.iter().any(|begin| line.starts_with(begin))
            && !harmless.iter().any(|begin| line.starts_with(begin))
    };
    let first = log.lines().map(str::trim).find(own)?;
    let said = first.rsplit(", error=").next().filter(|_| first.contains("err=")).unwrap_or(first);
    Some(said.chars().take(200).collect())
}

/// A server's lines begin with `<host>`.
fn prefixed(line: &str) -> (Option<&str>, &str) {
    let text = line.trim();
    let host = text.strip_prefix('<').and_then(|rest| rest.split_once("> "));
    match host {
        Some((host, rest)) if !host.contains([' ', '<']) => (Some(host), rest.trim()),
        _ => (None, text),
    }
}

/// What the line before asked for: percentiles of which latency, in which unit.
type Listing = Option<(bool, i32)>;

/// What the lines before the start say about the jobs of a group.
#[derive(Default)]
struct Announced {
    common: Settings,
    by_name: HashMap<String, Settings>,
}

/// A job's name, group and process.
type Process = (String, i64, String);

/// The summary of a group adds nothing to its jobs, and is all there is where they were not copied.
#[derive(Clone, Copy, Default)]
enum Summary {
    #[default]
    Known,
    /// The first line makes a job.
    Due(i64),
    /// Further lines belong to the current job.
    Open,
}

#[derive(Default)]
struct Found {
    jobs: Vec<Job>,
    /// The job being read.
    current: usize,
    /// In its block.
    inside: bool,
    announced: HashMap<i64, Announced>,
    version: Option<String>,
    stopped: bool,
    listing: Listing,
    /// Where the blocks of this invocation's processes are: one that comes again is a later state.
    processes: HashMap<Process, usize>,
    /// Jobs of this invocation were read.
    begun: bool,
    /// Groups of which jobs were read since their last summary.
    groups: HashSet<i64>,
    /// Jobs whose group is unknown, and which no summary followed yet.
    headless: usize,
    /// What the lines of the summary being read are for.
    summary: Summary,
}

/// Every job of `log`.
pub(super) fn read(log: &str) -> Vec<Job> {
    let mut found = Found::default();
    for line in log.split_inclusive('\n') {
        let whole = line.ends_with('\n');
        let (host, text) = prefixed(line);
        if terse::is_terse(text) {
            found.jobs.extend(terse::job(text, whole));
            found.inside = false;
            continue;
        }
        // Behind the last comma a number may lack digits.
        let closed = whole || text.ends_with([')', ']']);
        let text = if closed { text } else { text.rsplit_once(',').map_or("", |(text, _)| text) };
        found.line(text, host);
    }
    if found.inside
        && let Some(last) = found.jobs.get_mut(found.current)
    {
        last.cut = true;
    }
    found.jobs
}

impl Found {
    fn line(&mut self, text: &str, host: Option<&str>) {
        if let Some((name, group, rest)) = text_line::start(text) {
            self.announce(name, group, Settings::of_line(rest));
        } else if let Some(version) = banner(text) {
            self.version = Some(version.to_owned());
        } else if stopped(text) {
            self.stopped = true;
        } else if text_line::head(text).is_some() {
            self.head(text, host);
        } else if let Some(rest) = text.strip_prefix("Run status group ") {
            self.inside = false;
            let group = rest.split_whitespace().next().and_then(|group| group.parse().ok());
            self.summary = group.map_or(Summary::Known, |group| self.summary_of(group));
        } else if let Some(rates) = text_line::rates(text) {
            self.rates(&rates, host);
        } else if let (Summary::Due(_) | Summary::Open, Some(rates)) =
            (self.summary, text_line::summary(text))
        {
            self.summed(&rates);
        } else if self.inside {
            self.inner(text);
        }
    }

    fn head(&mut self, text: &str, host: Option<&str>) {
        let Some(head) = text_line::head(text) else { return };
        let mut job = Job {
            version: self.version.clone(),
            name: Some(head.name.to_owned()),
            group: Some(head.group),
            host: host.map(str::to_owned),
            date: head.date.map(str::to_owned),
            settings: self.settings(head.name, head.group, head.jobs),
            error: head.error,
            said: head.said.map(str::to_owned),
            interrupted: self.stopped,
            ..Job::default()
        };
        job.settings.jobs = Some(head.jobs);
        self.groups.insert(head.group);
        self.begun = true;
        let process = head.pid.map(|pid| (head.name.to_owned(), head.group, pid.to_owned()));
        // With --status-interval the last block of a process counts.
        let before = process.as_ref().and_then(|process| self.processes.get(process)).copied();
        match before.and_then(|at| self.jobs.get_mut(at)) {
            Some(old) => {
                *old = job;
                self.current = before.unwrap_or(self.current);
            }
            None => {
                self.add(job);
                self.processes.extend(process.map(|process| (process, self.current)));
            }
        }
        self.inside = true;
        self.listing = None;
    }

    fn add(&mut self, job: Job) {
        self.current = self.jobs.len();
        self.jobs.push(job);
    }

    fn announce(&mut self, name: &str, group: i64, settings: Settings) {
        self.inside = false;
        if std::mem::take(&mut self.begun) {
            // The next invocation.
            self.groups.clear();
            self.headless = 0;
            self.processes.clear();
            self.announced.clear();
            self.stopped = false;
        }
        match self.announced.get_mut(&group) {
            Some(announced) => announced.common = announced.common.common(&settings),
            None => {
                let announced = Announced { common: settings.clone(), by_name: HashMap::new() };
                self.announced.insert(group, announced);
            }
        }
        if let Some(announced) = self.announced.get_mut(&group) {
            announced.by_name.insert(name.to_owned(), settings);
        }
    }

    /// What the lines before the start said about a job; about several only what they agree in.
    fn settings(&self, name: &str, group: i64, jobs: i64) -> Settings {
        let Some(announced) = self.announced.get(&group) else { return Settings::default() };
        let own = announced.by_name.get(name).filter(|_| jobs == 1);
        own.unwrap_or(&announced.common).clone()
    }

    fn rates(&mut self, rates: &Rates, host: Option<&str>) {
        let seen = |job: &Job| job.sections.iter().any(|section| section.op == rates.op);
        if !self.inside || self.jobs.get(self.current).is_none_or(seen) {
            // A block that lost its first line.
            let host = host.map(str::to_owned);
            self.add(Job {
                version: self.version.clone(),
                host,
                interrupted: self.stopped,
                ..Job::default()
            });
            self.headless += 1;
            (self.inside, self.begun) = (true, true);
        }
        self.listing = None;
        if let Some(job) = self.jobs.get_mut(self.current) {
            fill(job, rates);
        }
    }

    fn summary_of(&mut self, group: i64) -> Summary {
        if self.groups.remove(&group) {
            return Summary::Known;
        }
        let headless = self.headless > 0;
        self.headless = self.headless.saturating_sub(1);
        if headless { Summary::Known } else { Summary::Due(group) }
    }

    fn summed(&mut self, rates: &Rates) {
        if let Summary::Due(group) = self.summary {
            let (version, group) = (self.version.clone(), Some(group));
            self.add(Job { version, group, ..Job::default() });
            (self.summary, self.begun) = (Summary::Open, true);
        }
        if let Some(job) = self.jobs.get_mut(self.current) {
            fill(job, rates);
        }
    }

    /// A line within a job's block.
    fn inner(&mut self, text: &str) {
        let Some(job) = self.jobs.get_mut(self.current) else { return };
        if let Some((name, figures)) = text_line::spread(text) {
            let Some(section) = job.sections.last_mut() else { return };
            let place = match name {
                "clat" => &mut section.clat,
                "lat" => &mut section.lat,
                _ => return,
            };
            let percentiles = std::mem::take(&mut place.percentiles);
            *place = Latency { percentiles, ..figures };
        } else if let Some((name, unit)) = text_line::percentiles_of(text) {
            self.listing = match name {
                "clat" => Some((true, unit)),
                "lat" => Some((false, unit)),
                _ => None,
            };
        } else if text.starts_with('|') {
            let (Some((clat, unit)), Some(section)) = (self.listing, job.sections.last_mut()) else { return };
            let place = if clat { &mut section.clat } else { &mut section.lat };
            place.percentiles.extend(text_line::percentiles(text, unit));
        } else if let Some(cpu) = text_line::cpu(text) {
            job.cpu = Some(cpu);
        } else if text.starts_with("issued") {
            // The last line that every version prints.
            self.inside = false;
        } else if !text_line::known(text) {
            job.foreign += 1;
            job.first_foreign.get_or_insert_with(|| text.chars().take(80).collect());
        } else {
            self.listing = self.listing.filter(|_| text.is_empty());
        }
    }
}

fn fill(job: &mut Job, rates: &Rates) {
    job.binary |= rates.binary;
    let section = job.section(rates.op);
    section.bytes_per_second = rates.bytes_per_second;
    section.iops = rates.iops;
    section.seconds = rates.seconds;
}

/// `fio-3.33`, `fio 2.0.8`: a line of its own.
fn banner(text: &str) -> Option<&str> {
    let version = text.strip_prefix("fio-").or_else(|| text.strip_prefix("fio "))?;
    let plain = version.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    (plain && version.starts_with(|c: char| c.is_ascii_digit())).then_some(version)
}
