//! Runs the missing slots of an experiment: enters arms, measures, stores, restores.
//!
//! Knows the order of things and nothing about sockets, SQL or screens: hosts are [`hosts::Hosts`], every run
//! goes through the [`Store`] before and after it is made, talk goes to an [`Audience`].

pub mod hosts;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenbin_core::analysis;
use tenbin_core::env::{Class, Environment, Fact};
use tenbin_core::experiment::{self, Experiment, Slot, State};
use tenbin_core::job::Job;
use tenbin_core::plan::{Arm, Change, Host, HostCommand, Measure, Place, Plan};
use tenbin_core::recorder::Progress;
use tenbin_core::run::Run;
use tenbin_core::schedule;
use tenbin_core::spec::Peer;
use tenbin_core::stats::precision::Next;
use tenbin_core::stopping;
use tenbin_core::taint::{Taint, TaintLevel};
use tenbin_engines::Stop;
use tenbin_linux::set::Setting;
use tenbin_store::{Ending, Store, StoreError};

use crate::agent::link::{AskError, Link, Pending};
use crate::agent::protocol::{Measured, Reply, Request, Watched};
use hosts::{HostError, Hosts, PATIENCE, Side, link_spec, unexpected};

/// Who watches a session: the live line, plain lines, or nobody.
pub trait Audience {
    /// A slot begins.
    fn slot(&mut self, plan: &Plan, slot: Slot, done: usize, total: usize, seconds_left: f64);
    /// A measurement tells how far it is.
    fn progress(&mut self, progress: &Progress);
    /// A slot ended, with its headline values or the error.
    fn ended(&mut self, plan: &Plan, slot: Slot, outcome: &Result<String, String>);
    /// Something that is not about one slot.
    fn note(&mut self, text: &str);
    /// An arm needs a person's hands. Returns once they are done; `false` if nobody can be asked, or at `stop`.
    fn by_hand(&mut self, arm: &str, stop: &Stop) -> bool;
}

/// What ended a session early.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The store failed: nothing more is measured, what it holds is whole.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The hosts could not be brought together.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The same trouble several times running.
    #[error("giving up after {count} failures in a row; the last: {error}")]
    Failing {
        /// How many.
        count: usize,
        /// The last one's words.
        error: String,
    },
    /// Asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A change by hand with nobody there.
    #[error("arm {0} is changed by hand and there is no terminal to ask at\nhint: run it from a terminal")]
    NobodyThere(String),
}

impl SessionError {
    /// Whether an agent is gone or does not answer.
    fn is_loss(&self) -> bool {
        matches!(self, SessionError::Host(HostError::Ask(AskError::Lost { .. } | AskError::Silent { .. })))
    }

    /// Whether the same would happen again at once: a host that can't be reached, nobody to ask.
    fn is_final(&self) -> bool {
        matches!(self, SessionError::Host(HostError::Connect(_)) | SessionError::NobodyThere(_))
    }
}

/// So many failures in a row end a session: what is wrong then will not mend itself.
const GIVE_UP: usize = 3;

/// So many runs of one slot that the machine's state spoiled are enough.
const SPOILED_RUNS: usize = 3;

/// Measures every slot that has no run that counts. What was measured is stored, however it ends.
pub fn run(
    experiment: &Experiment,
    store: &mut Store,
    audience: &mut dyn Audience,
    stop: &Stop,
    now: &dyn Fn() -> f64,
) -> Result<(), SessionError> {
    let plan = &experiment.plan;
    let mut session = Session { plan, hosts: Hosts::new(plan, stop)?, current: None, owed: Vec::new() };
    let result = session.run_to_the_end(experiment, store, audience, stop, now);
    let left = session.leave(audience, stop);
    for failure in session.hosts.close() {
        audience.note(&failure.to_string());
    }
    // An agent that was killed restored nothing: another does it.
    for failure in session.hosts.settle() {
        audience.note(&format!("a host may still be changed: {failure}"));
    }
    session.hosts.close();
    result.and(left)
}

struct Session<'a> {
    plan: &'a Plan,
    hosts: Hosts,
    current: Option<Entered>,
    /// Agents that could not put everything back. Nothing is measured before they have.
    owed: Vec<Arc<Link>>,
}

/// An arm whose settings are in force.
struct Entered {
    arm: usize,
    hosts: BTreeMap<String, Host>,
    /// Facts of each host of the plan under these settings.
    facts: BTreeMap<String, Environment>,
    /// Agents that were asked to change something or to run a command.
    touched: Vec<Arc<Link>>,
}

/// The experiment with the blocks that its plan's rule asks for next; `None` at its end. They are stored before the
/// first of them is measured.
fn grow(id: i64, store: &mut Store) -> Result<Option<Experiment>, SessionError> {
    let experiment = store.load(id)?;
    if experiment.plan.until.is_none() {
        return Ok(None);
    }
    let Next::Measure(more) = stopping::next(&experiment, &analysis::weigh(&experiment)) else {
        return Ok(None);
    };
    let present = experiment.blocks();
    let plan = Plan { blocks: present + more as u32, ..experiment.plan };
    let all = experiment::slots(&schedule::of(&plan, experiment.seed), plan.measures.len());
    let new: Vec<Slot> = all.into_iter().filter(|slot| slot.block >= present).collect();
    store.extend(id, &new)?;
    Ok(Some(store.load(id)?))
}

impl Session<'_> {
    /// Every missing slot, then, where the plan's length is not fixed, block after block until its rule ends it.
    fn run_to_the_end(
        &mut self,
        experiment: &Experiment,
        store: &mut Store,
        audience: &mut dyn Audience,
        stop: &Stop,
        now: &dyn Fn() -> f64,
    ) -> Result<(), SessionError> {
        self.run_slots(experiment, store, audience, stop, now)?;
        while let Some(grown) = grow(experiment.id, store)? {
            self.run_slots(&grown, store, audience, stop, now)?;
        }
        Ok(())
    }

    fn run_slots(
        &mut self,
        experiment: &Experiment,
        store: &mut Store,
        audience: &mut dyn Audience,
        stop: &Stop,
        now: &dyn Fn() -> f64,
    ) -> Result<(), SessionError> {
        let missing = experiment.missing();
        let (total, before) = (experiment.schedule.len(), experiment.schedule.len() - missing.len());
        let (mut failures, mut measured) = (0, false);
        for (index, &slot) in missing.iter().enumerate() {
            let left = missing[index..].iter().map(|slot| seconds(self.plan, *slot)).sum();
            for attempt in 1..=SPOILED_RUNS {
                if stop.is_set() {
                    return Err(SessionError::Interrupted);
                }
                audience.slot(self.plan, slot, before + index, total, left);
                let id = store.start_run(experiment.id, slot, now())?;
                let outcome = self.measure_slot(slot, audience, stop);
                let outcome = match outcome {
                    // What never worked will not mend itself, and one clear line is better than several.
                    Err(e) if !measured && e.is_final() => {
                        let text = e.to_string();
                        let (state, error) = (State::Failed, Some(text.as_str()));
                        store.finish_run(id, &Ending { state, ended_at: now(), error, run: None })?;
                        return Err(if stop.is_set() { SessionError::Interrupted } else { e });
                    }
                    other => other,
                };
                let (state, error, run) = match outcome {
                    Ok(run) if run.taint.level == TaintLevel::Invalid => {
                        (State::Invalid, Some(run.taint.reasons.join("; ")), Some(run))
                    }
                    Ok(run) if run.series.iter().all(|series| series.headline_value().is_none()) => {
                        // A slot that counts as done would never be measured again, and its block lack a value.
                        (State::Failed, Some("it left no value to compare by".to_owned()), Some(run))
                    }
                    Ok(run) => (State::Done, None, Some(run)),
                    Err(e) => (State::Failed, Some(e.to_string()), None),
                };
                let ending = Ending { state, ended_at: now(), error: error.as_deref(), run: run.as_ref() };
                store.finish_run(id, &ending)?;
                let told = match (&error, &run) {
                    (None, Some(run)) => Ok(headlines(run)),
                    (error, _) => Err(error.clone().unwrap_or_default()),
                };
                audience.ended(self.plan, slot, &told);
                match state {
                    State::Done => (failures, measured) = (0, true),
                    State::Failed if stop.is_set() => return Err(SessionError::Interrupted),
                    State::Failed => failures += 1,
                    _ => {}
                }
                if failures >= GIVE_UP {
                    let error = error.unwrap_or_default();
                    return Err(SessionError::Failing { count: failures, error });
                }
                if state != State::Invalid || attempt == SPOILED_RUNS {
                    break;
                }
            }
        }
        Ok(())
    }

    fn measure_slot(
        &mut self,
        slot: Slot,
        audience: &mut dyn Audience,
        stop: &Stop,
    ) -> Result<Run, SessionError> {
        let arm = slot.arm as usize;
        let result = self.change_to(arm, audience, stop).and_then(|()| {
            rest(self.plan.rest, stop);
            self.measure(arm, &self.plan.measures[slot.measure as usize], audience, stop)
        });
        if result.as_ref().is_err_and(SessionError::is_loss) {
            // The agent restored what it had set, if it lives: the next slot starts afresh.
            self.drop_agents(audience);
        }
        result
    }

    /// Leaves the arm in force for another, which is then in force as a whole or not at all.
    fn change_to(
        &mut self,
        arm: usize,
        audience: &mut dyn Audience,
        stop: &Stop,
    ) -> Result<(), SessionError> {
        if self.current.as_ref().is_some_and(|current| current.arm == arm) {
            return Ok(());
        }
        self.leave(audience, stop)?;
        let entered = self.enter(arm, audience, stop);
        if entered.as_ref().is_err_and(|e| !e.is_loss()) {
            // Half an arm must not be measured as if it were the whole. What this fails at is tried again before
            // the next arm, and the first failure is the one to tell.
            let _ = self.leave(audience, stop);
        }
        entered
    }

    /// Puts an arm's settings in force and looks at the hosts under them.
    fn enter(&mut self, arm: usize, audience: &mut dyn Audience, stop: &Stop) -> Result<(), SessionError> {
        let plan = self.plan;
        let arm_plan = &plan.arms[arm];
        if arm_plan.change == Change::Manual && !audience.by_hand(&arm_plan.name, stop) {
            return Err(match stop.is_set() {
                true => SessionError::Interrupted,
                false => SessionError::NobodyThere(arm_plan.name.clone()),
            });
        }
        let hosts = plan.hosts_of(&plan.arms[arm]);
        self.current =
            Some(Entered { arm, hosts: hosts.clone(), facts: BTreeMap::new(), touched: Vec::new() });
        let interfaces = self.interfaces(&hosts)?;
        for command in &arm_plan.before {
            self.command(command, arm_plan, &hosts, stop)?;
        }
        for (name, host) in agents(&hosts) {
            let settings = settings(plan, arm, interfaces.get(name).map(String::as_str));
            if settings.is_empty() {
                continue;
            }
            self.touch(name, host)?;
            self.hosts.apply(name, host, settings)?;
        }
        for (name, host) in agents(&hosts) {
            let facts = self.facts(name, host)?;
            if let Some(current) = &mut self.current {
                current.facts.insert(name.clone(), facts);
            }
        }
        Ok(())
    }

    /// Runs the `after` commands of the arm in force and puts its settings back.
    fn leave(&mut self, audience: &mut dyn Audience, stop: &Stop) -> Result<(), SessionError> {
        let mut first = Ok(());
        let mut unrestored = std::mem::take(&mut self.owed);
        let mut left = "the arm before";
        if let Some(Entered { arm, hosts, touched, .. }) = self.current.take() {
            let arm_plan = &self.plan.arms[arm];
            left = &arm_plan.name;
            first = self.after(arm_plan, &hosts);
            unrestored.retain(|owing| !touched.iter().any(|link| Arc::ptr_eq(link, owing)));
            unrestored.extend(touched);
        }
        // The last one first: where two agents act on one machine, the first of them knows what was there before.
        for link in unrestored.into_iter().rev() {
            if let Err(e) = self.hosts.restore(&link) {
                first = first.and(Err(HostError::from(e).into()));
                self.owed.insert(0, link);
            }
        }
        if let Err(e) = &first
            && !stop.is_set()
        {
            audience.note(&format!("leaving arm {left}: {e}"));
        }
        first
    }

    fn drop_agents(&mut self, audience: &mut dyn Audience) {
        let current = self.current.take();
        self.owed.clear();
        // All of them, also those that answered: each restores before it ends, and none may keep what it has set
        // while another takes its place.
        self.hosts.close();
        let Some(Entered { arm, hosts, .. }) = current else { return };
        // Agents restore what was set; what `before` did only `after` undoes, and the next arm must not inherit it.
        let arm_plan = &self.plan.arms[arm];
        if let Err(e) = self.after(arm_plan, &hosts) {
            audience.note(&format!("leaving arm {}: {e}", arm_plan.name));
        }
    }

    /// Runs the `after` commands of an arm, all of them even if one fails. These put things back: they run even
    /// when the user is in a hurry.
    fn after(&mut self, arm: &Arm, hosts: &BTreeMap<String, Host>) -> Result<(), SessionError> {
        let mut first = Ok(());
        for command in &arm.after {
            first = first.and(self.command(command, arm, hosts, &Stop::default()));
        }
        first
    }

    fn touch(&mut self, name: &str, host: &Host) -> Result<Arc<Link>, SessionError> {
        let link = self.hosts.link(name, host)?;
        if let Some(current) = &mut self.current
            && !current.touched.iter().any(|known| Arc::ptr_eq(known, &link))
        {
            current.touched.push(Arc::clone(&link));
        }
        Ok(link)
    }

    fn command(
        &mut self,
        command: &HostCommand,
        arm: &Arm,
        hosts: &BTreeMap<String, Host>,
        stop: &Stop,
    ) -> Result<(), SessionError> {
        for (name, host) in hosts.iter().filter(|(name, _)| command.host.as_ref().is_none_or(|h| h == *name))
        {
            let link = self.hosts.link(name, host)?;
            let request = Request::Command { argv: command.argv.clone(), env: arm.set.env.clone() };
            let pending = link.start(request).map_err(HostError::from)?;
            wait(name, &pending, Duration::from_secs(3600), stop, |_| {})?;
        }
        Ok(())
    }

    fn facts(&mut self, name: &str, host: &Host) -> Result<Environment, SessionError> {
        let link = self.hosts.link(name, host)?;
        match link.ask(Request::Probe, PATIENCE).map_err(HostError::from)? {
            Reply::Facts { facts } => Ok(facts),
            other => Err(unexpected(name, &other).into()),
        }
    }

    /// The measured interface of each host that takes part in a pair.
    fn interfaces(
        &mut self,
        hosts: &BTreeMap<String, Host>,
    ) -> Result<BTreeMap<String, String>, SessionError> {
        let mut found = BTreeMap::new();
        for measure in &self.plan.measures {
            if let Some(((from, to), (from_name, to_name))) = self.sides(measure, hosts)? {
                found.extend(from.interface.map(|interface| (from_name, interface)));
                found.extend(to.interface.map(|interface| (to_name, interface)));
            }
        }
        for (name, host) in hosts {
            if let Some(interface) = &host.interface {
                found.entry(name.clone()).or_insert_with(|| interface.clone());
            }
        }
        Ok(found)
    }

    #[expect(
        clippy::type_complexity,
        reason = "two sides with their names, taken apart at once by both callers"
    )]
    fn sides(
        &mut self,
        measure: &Measure,
        hosts: &BTreeMap<String, Host>,
    ) -> Result<Option<((Side, Side), (String, String))>, SessionError> {
        let Some(to) = &measure.to else { return Ok(None) };
        let (from_host, to_host) = (host(hosts, &measure.from)?, host(hosts, to)?);
        let sides = self.hosts.pair((&measure.from, from_host), (to, to_host))?;
        Ok(Some((sides, (measure.from.clone(), to.clone()))))
    }

    fn measure(
        &mut self,
        arm: usize,
        measure: &Measure,
        audience: &mut dyn Audience,
        stop: &Stop,
    ) -> Result<Run, SessionError> {
        let plan = self.plan;
        let hosts = plan.hosts_of(&plan.arms[arm]);
        let sides = self.sides(measure, &hosts)?.map(|(sides, _)| sides);
        let spec = tenbin_engines::find(&measure.engine).map(|engine| engine.spec());
        let spec = spec.ok_or_else(|| HostError::Plan(format!("no engine {}", measure.engine)))?;
        let params = plan.params_of(&plan.arms[arm], measure);
        // A parameter of that name is the engine's own limit; the agent gets a little more to tell of it.
        let expected = 60.0 + 3.0 * (spec.seconds)(&params);
        let longest = params.seconds("timeout").map_or(expected, |timeout| timeout + 60.0);
        let longest = Duration::from_secs_f64(longest);
        let mut job = Job {
            engine: measure.engine.clone(),
            params,
            peer: sides.as_ref().map(|(_, to)| (to.address, 0).into()),
            bind: sides.as_ref().map(|(from, _)| from.address),
            cookie: cookie(),
            env: plan.arms[arm].set.env.clone(),
        };
        let from_link = self.hosts.link(&measure.from, host(&hosts, &measure.from)?)?;
        let watched = |side: Option<&Side>| Watched {
            interfaces: side.and_then(|side| side.interface.clone()).into_iter().collect(),
            tolerate: plan.tolerate,
        };
        let from_watch = Some(watched(sides.as_ref().map(|(from, _)| from)));
        let (measured, far) = match (&measure.to, spec.peer) {
            (Some(to), Peer::Serve | Peer::Optional) if host(&hosts, to)?.place == Place::Address => {
                // Somebody else's server listens there, on the tool's own port and without our cookie.
                job.cookie = String::new();
                if let (Some(peer), Some(port)) = (&mut job.peer, job.params.count("port")) {
                    peer.set_port(u16::try_from(port).unwrap_or_default());
                }
                let running =
                    from_link.start(Request::Run { job, watch: from_watch }).map_err(HostError::from)?;
                (wait(&measure.from, &running, longest, stop, |progress| audience.progress(progress))?, None)
            }
            (Some(to), Peer::Serve | Peer::Optional) => {
                let to_link = self.hosts.link(to, host(&hosts, to)?)?;
                let to_watch = (!self.hosts.is_lab()).then(|| watched(sides.as_ref().map(|(_, to)| to)));
                let serve = Job { bind: None, ..job.clone() };
                let serving =
                    to_link.start(Request::Serve { job: serve, watch: to_watch }).map_err(HostError::from)?;
                match serving.next(PATIENCE).map_err(HostError::from)? {
                    Reply::Ready { address } => job.peer = Some(address),
                    other => return Err(unexpected(to, &other).into()),
                }
                let running =
                    from_link.start(Request::Run { job, watch: from_watch }).map_err(HostError::from)?;
                let measured =
                    wait(&measure.from, &running, longest, stop, |progress| audience.progress(progress));
                if measured.is_err() || spec.peer == Peer::Optional {
                    serving.cancel();
                }
                // Else the passive side ends with the active one. If the active one failed its reason is the better one.
                let far = wait(to, &serving, PATIENCE, &Stop::default(), |_| {});
                let measured = measured?;
                (measured, Some((to.clone(), far?)))
            }
            _ => {
                let running =
                    from_link.start(Request::Run { job, watch: from_watch }).map_err(HostError::from)?;
                (wait(&measure.from, &running, longest, stop, |progress| audience.progress(progress))?, None)
            }
        };
        let mut run = Run {
            source: match &measure.to {
                Some(to) => format!("{} {}->{}", measure.label(), measure.from, to),
                None => format!("{} on {}", measure.label(), measure.from),
            },
            tool: "tenbin".to_owned(),
            tool_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            benchmark: Some(measure.engine.clone()),
            hosts: self.current.as_ref().map(|current| current.facts.clone()).unwrap_or_default(),
            // The measuring host is always watched; its agent's judgement is merged into this.
            taint: Taint::clean(),
            ..Run::default()
        };
        if let Some((from, to)) = &sides {
            for (name, side) in [("from", from), ("to", to)] {
                if let Some(interface) = &side.interface {
                    let fact = Fact::new(Class::State, interface.as_str(), "route to the peer");
                    run.facts.insert(format!("path.{name}.interface"), fact);
                }
                let fact = Fact::new(Class::State, side.address.to_string(), "route to the peer");
                run.facts.insert(format!("path.{name}.address"), fact);
            }
        }
        run.facts.insert("path.from.host".to_owned(), Fact::new(Class::State, measure.from.as_str(), "plan"));
        if let Some(to) = &measure.to {
            run.facts.insert("path.to.host".to_owned(), Fact::new(Class::State, to.as_str(), "plan"));
        }
        add(&mut run, &measure.from, measured, true);
        if let Some((to, far)) = far {
            add(&mut run, &to, far, false);
        }
        Ok(run)
    }
}

/// Adds what one host's agent sent. Telemetry and judgements carry the host's name.
fn add(run: &mut Run, host: &str, measured: Measured, active: bool) {
    if active {
        run.series = measured.series;
        run.facts.extend(measured.facts);
    }
    run.caveats.extend(measured.caveats);
    for mut series in measured.telemetry {
        series.params.insert("host".to_owned(), host.into());
        run.series.push(series);
    }
    if let Some(taint) = measured.taint {
        let reasons = taint.reasons.iter().map(|reason| format!("{host}: {reason}")).collect();
        run.taint.merge(Taint { level: taint.level, reasons });
    }
}

/// Waits for the end of a measurement, passing progress on and `stop` through.
fn wait(
    host: &str,
    pending: &Pending<'_>,
    longest: Duration,
    stop: &Stop,
    mut on_progress: impl FnMut(&Progress),
) -> Result<Measured, SessionError> {
    let step = Duration::from_millis(100);
    let (mut patience, mut until) = (longest, Instant::now() + longest);
    let mut cancelled = false;
    loop {
        // Looked at in every round: an engine that tells its progress all the time must not be deaf to Ctrl-C.
        if stop.is_set() && !cancelled {
            cancelled = true;
            pending.cancel();
            patience = Duration::from_secs(5);
            until = Instant::now() + patience;
        }
        if Instant::now() >= until {
            pending.cancel();
            let silent = AskError::Silent { host: host.to_owned(), seconds: patience.as_secs() };
            return Err(HostError::from(silent).into());
        }
        match pending.next(step) {
            Ok(Reply::Progress { progress }) => on_progress(&progress),
            // What ends on request is shorter than what it would be compared with: its slot is measured again.
            Ok(Reply::Measured(_)) if cancelled => return Err(SessionError::Interrupted),
            Ok(Reply::Measured(measured)) => return Ok(*measured),
            Ok(Reply::Ok) => return Ok(Measured::default()),
            Ok(Reply::Ready { .. }) | Err(AskError::Silent { .. }) => {}
            Ok(other) => return Err(unexpected(host, &other).into()),
            Err(e) if e.is_interrupted() => return Err(SessionError::Interrupted),
            Err(e) => return Err(HostError::from(e).into()),
        }
    }
}

/// What an arm changes on one host.
fn settings(plan: &Plan, arm: usize, interface: Option<&str>) -> Vec<Setting> {
    let set = &plan.arms[arm].set;
    let mut settings = Vec::new();
    if let Some(interface) = interface {
        let interface = interface.to_owned();
        if set.link.is_some()
            && let Some(link) = plan.link_of(&plan.arms[arm])
        {
            settings.push(Setting::Link { interface: interface.clone(), link: link_spec(&link) });
        }
        if let Some(bytes) = set.mtu {
            settings.push(Setting::Mtu { interface: interface.clone(), bytes });
        }
        if let Some(on) = set.offload {
            settings.push(Setting::Offload { interface, on });
        }
    }
    if let Some(algorithm) = &set.congestion {
        settings.push(Setting::Congestion { algorithm: algorithm.clone() });
    }
    settings
}

/// The hosts that have an agent.
fn agents(hosts: &BTreeMap<String, Host>) -> impl Iterator<Item = (&String, &Host)> {
    hosts.iter().filter(|(_, host)| host.place != Place::Address)
}

fn host<'a>(hosts: &'a BTreeMap<String, Host>, name: &str) -> Result<&'a Host, HostError> {
    hosts.get(name).ok_or_else(|| HostError::Plan(format!("the plan has no host {name}")))
}

/// The seconds that a slot is expected to take.
pub fn seconds(plan: &Plan, slot: Slot) -> f64 {
    let measure = &plan.measures[slot.measure as usize];
    let params = plan.params_of(&plan.arms[slot.arm as usize], measure);
    let engine = tenbin_engines::find(&measure.engine);
    plan.rest + engine.map_or(0.0, |engine| (engine.spec().seconds)(&params))
}

fn headlines(run: &Run) -> String {
    let values = run.series.iter().filter_map(|series| {
        let value = series.headline_value()?;
        Some(format!("{} {}", series.metric.name, tenbin_core::quantity::human(value, series.metric.unit, 3)))
    });
    values.collect::<Vec<_>>().join(", ")
}

fn rest(seconds: f64, stop: &Stop) {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    while !stop.is_set() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20).min(until - Instant::now().min(until)));
    }
}

/// 36 random letters of the alphabet that iperf3 uses.
fn cookie() -> String {
    let mut random = [0u8; 36];
    // Without randomness the cookie only loses its power to keep strangers out of the measurement.
    let _ = getrandom::fill(&mut random);
    random
        .iter()
        .map(|byte| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(byte & 31)]))
        .collect()
}
