//! What hyperfine shows on a terminal.

use super::{Command, Commands};
use crate::clean::Line;

/// Whether only hyperfine writes such a line.
pub fn is_hyperfine(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("Time (mean ± ")
        || text.starts_with("Time (abs ≡)")
        || text.starts_with("Range (min … max):")
}

/// Puts the lines together to commands.
#[derive(Default)]
pub struct Reader {
    command: Option<Command>,
    /// Why there is no result.
    pub said: Option<String>,
}

impl Reader {
    pub fn line(&mut self, line: Line<'_>, commands: &mut Commands<'_>) {
        let text = line.text.trim();
        if let Some(name) = title(text) {
            self.end(commands);
            self.command = Some(Command { name: name.to_owned(), ..Command::default() });
        } else if let Some(rest) = text.strip_prefix("Time (") {
            self.time(rest);
        } else if let Some(rest) = text.strip_prefix("Range (min … max):") {
            let command = self.command.get_or_insert_default();
            let mut words = Words::new(rest);
            for name in ["min", "max"] {
                command.figures.extend(words.seconds().map(|seconds| (name, seconds)));
            }
            // `12 runs` may be cut.
            if line.whole || rest.ends_with("runs") {
                command.figures.extend(words.number().map(|n| ("n", n)));
            }
        } else if let Some(warning) = text.strip_prefix("Warning:") {
            if let Some(command) = &mut self.command {
                let failed = warning.contains("exit code");
                let list = if failed { &mut command.errors } else { &mut command.notes };
                list.push(format!("hyperfine warns: {}", warning.trim()));
            }
        } else if let Some(error) = text.strip_prefix("Error:") {
            self.said.get_or_insert_with(|| error.trim().to_owned());
        } else if text == "Summary" {
            self.end(commands);
        }
    }

    /// `mean ± σ):     14.5 ms ±   1.6 ms    [User: 1.1 ms, System: 0.8 ms]`
    fn time(&mut self, rest: &str) {
        let Some((what, rest)) = rest.split_once("):") else { return };
        let command = self.command.get_or_insert_default();
        let (times, cpu) = rest.split_once('[').map_or((rest, ""), |(times, cpu)| (times, cpu));
        let mut words = Words::new(times);
        command.figures.extend(words.seconds().map(|seconds| ("mean", seconds)));
        if what.starts_with("mean") {
            command.figures.extend(words.seconds().map(|seconds| ("sd", seconds)));
        } else {
            command.figures.push(("n", 1.0));
        }
        let part = |name: &str| Words::new(cpu.split_once(name)?.1).seconds();
        (command.user, command.system) = (part("User:"), part("System:"));
    }

    /// The command is over.
    pub fn end(&mut self, commands: &mut Commands<'_>) {
        if let Some(command) = self.command.take() {
            commands.take(command);
        }
    }
}

/// `Benchmark 1: sleep 0.01`; `Benchmark #1: ` before 1.12.
fn title(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Benchmark ")?;
    let (number, name) = rest.trim_start_matches('#').split_once(": ")?;
    number.parse::<u32>().ok().map(|_| name.trim())
}

/// Numbers with units between words.
struct Words<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Words<'a> {
        Words(text.split_whitespace())
    }

    /// The next number, whatever its unit.
    fn number(&mut self) -> Option<f64> {
        self.0.find_map(|word| word.parse().ok().filter(|value: &f64| value.is_finite()))
    }

    /// The next time.
    fn seconds(&mut self) -> Option<f64> {
        let number = self.number()?;
        match self.0.next()?.trim_end_matches([',', ']']) {
            "s" => Some(number),
            "ms" => Some(number / 1e3),
            "µs" | "μs" | "us" => Some(number / 1e6),
            _ => None,
        }
    }
}
