//! The live line of a session, and its plain form where there is no terminal.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tenbin_core::experiment::Slot;
use tenbin_core::plan::Plan;
use tenbin_core::quantity;
use tenbin_core::recorder::Progress;
use tenbin_engines::Stop;

use crate::output;
use crate::session::Audience;

/// How much is said while measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// A live line on a terminal, a line a run elsewhere.
    Normal,
    /// A live line on a terminal, elsewhere errors only.
    Live,
    /// Errors only.
    Quiet,
}

/// A time to go: `7 s`, `2 min 40 s`.
fn whole_seconds(seconds: f64) -> String {
    match seconds.ceil() {
        few if few < 100.0 => format!("{few:.0} s"),
        many => quantity::duration(many),
    }
}

/// Shows a session on stderr.
pub struct Screen {
    bar: Option<ProgressBar>,
    voice: Voice,
    head: String,
}

impl Screen {
    /// A screen on this process's stderr.
    pub fn new(voice: Voice) -> Screen {
        let live = voice != Voice::Quiet && std::io::stderr().is_terminal();
        let bar = live.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            // The template is fixed; should indicatif ever refuse it, its own default serves.
            let style = ProgressStyle::with_template("{spinner} {bar:24} {msg}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Screen { bar, voice, head: String::new() }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(output::printable(line)),
            None => output::say(line),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `3/8`; without an end where a rule decides on it.
fn block(plan: &Plan, slot: Slot) -> String {
    match plan.until {
        None => format!("{}/{}", slot.block + 1, plan.blocks),
        Some(_) => format!("{}", slot.block + 1),
    }
}

impl Audience for Screen {
    fn slot(&mut self, plan: &Plan, slot: Slot, done: usize, total: usize, seconds_left: f64) {
        let (arm, measure) = (&plan.arms[slot.arm as usize], &plan.measures[slot.measure as usize]);
        self.head = format!(
            "block {}  {}  {}  {} left",
            block(plan, slot),
            arm.name,
            measure.label(),
            whole_seconds(seconds_left),
        );
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(output::printable(&self.head).into_owned());
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_message(output::printable(&format!("{}  {}", self.head, progress.text)).into_owned());
        }
    }

    fn ended(&mut self, plan: &Plan, slot: Slot, outcome: &Result<String, String>) {
        let (arm, measure) = (&plan.arms[slot.arm as usize], &plan.measures[slot.measure as usize]);
        let head = format!("block {}  {}  {}", block(plan, slot), arm.name, measure.label());
        match outcome {
            // On a terminal the table at the end says it; a failure is worth a line at once.
            Ok(values) if self.bar.is_none() && self.voice == Voice::Normal => {
                self.say(&format!("{head}  {values}"));
            }
            Ok(_) => {}
            Err(error) => self.say(&format!("{head}  failed: {error}")),
        }
    }

    fn note(&mut self, text: &str) {
        self.say(&format!("tenbin: {text}"));
    }

    fn by_hand(&mut self, arm: &str, stop: &Stop) -> bool {
        if !std::io::stdin().is_terminal() {
            return false;
        }
        let ask = || {
            // Read by the same person who would miss it: if it can't be written, nobody answers.
            let _ = write!(std::io::stderr(), "Set up {arm} now, then press Enter: ");
            // Reading goes on past signals, so Ctrl-C is looked for beside it.
            let (sender, answer) = channel();
            std::thread::spawn(move || {
                let read = std::io::stdin().read_line(&mut String::new());
                sender.send(read.is_ok_and(|n| n > 0))
            });
            loop {
                match answer.recv_timeout(Duration::from_millis(50)) {
                    Err(RecvTimeoutError::Timeout) if !stop.is_set() => {}
                    answer => break answer.unwrap_or(false),
                }
            }
        };
        match &self.bar {
            Some(bar) => bar.suspend(ask),
            None => ask(),
        }
    }
}
