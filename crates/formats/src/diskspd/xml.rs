//! The XML of `-Rxml`: elements with text, hardly any attributes, no entities that matter.

use std::collections::VecDeque;

use super::outcome::{Outcome, Target, figure};
use crate::crystaldiskmark::number::decimal;

/// Whether `text` is one, or begins like one.
pub(super) fn is_diskspd(text: &str) -> bool {
    let has = |words: &str| text.contains(words);
    has("<Results>")
        && (has("<TimeSpan>") || has("<Profile>"))
        && (has("<Tool>") || has("<Targets>") || has("<TestTimeSeconds>"))
}

/// What the threads of a timespan did.
#[derive(Default)]
struct Sums {
    read: (f64, f64),
    write: (f64, f64),
}

#[derive(Default)]
struct Reader {
    version: Option<String>,
    host: Option<String>,
    /// The targets of each timespan of the profile.
    asked: VecDeque<Vec<Target>>,
    outcome: Outcome,
    sums: Sums,
    percentile: Option<String>,
    done: Vec<Outcome>,
}

/// Every timespan of `text`.
pub(super) fn read(text: &str) -> Vec<Outcome> {
    let mut reader = Reader::default();
    let mut path: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((content, after)) = rest.split_once('<') {
        let Some((tag, after)) = after.split_once('>') else { break };
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let name = name.trim();
            if path.last() == Some(&name) {
                reader.closed(&path, content.trim());
                path.pop();
            }
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) && path.len() < 32 {
            let name = tag.split_whitespace().next().unwrap_or("");
            if name == "Results" {
                // The next document.
                reader.asked.clear();
                path.clear();
            }
            reader.opened(&path, name);
            path.push(name);
        }
    }
    if path.contains(&"TimeSpan") && !path.contains(&"Profile") {
        reader.outcome.cut = true;
        reader.finish();
    }
    reader.done
}

impl Reader {
    fn opened(&mut self, path: &[&str], name: &str) {
        let profile = path.contains(&"Profile");
        match name {
            "TimeSpan" if profile => self.asked.push_back(Vec::new()),
            "TimeSpan" => (self.outcome, self.sums) = (Outcome::default(), Sums::default()),
            "Target" if profile => {
                if let Some(targets) = self.asked.back_mut() {
                    targets.push(Target::default());
                }
            }
            _ => {}
        }
    }

    fn closed(&mut self, path: &[&str], text: &str) {
        let Some((name, parents)) = path.split_last() else { return };
        let within = |name: &str| parents.contains(&name);
        let parent = parents.last().copied().unwrap_or("");
        if within("Profile") {
            self.asked_for(name, parent, text);
            return;
        }
        let milliseconds = || decimal(text, -3);
        let count = |place: &mut f64| *place += decimal(text, 0).unwrap_or(0.0);
        match (parent, *name) {
            ("Tool", "Version") => self.version = Some(text.to_owned()),
            (_, "ComputerName") => self.host = Some(text.to_owned()),
            (_, "TestTimeSeconds") => self.outcome.seconds = decimal(text, 0),
            ("Average", "UsagePercent") => self.outcome.cpu = decimal(text, -2),
            ("Target", "ReadBytes") => count(&mut self.sums.read.0),
            ("Target", "ReadCount") => count(&mut self.sums.read.1),
            ("Target", "WriteBytes") => count(&mut self.sums.write.0),
            ("Target", "WriteCount") => count(&mut self.sums.write.1),
            ("Latency", "AverageReadMilliseconds") => self.outcome.read.mean = milliseconds(),
            ("Latency", "AverageWriteMilliseconds") => self.outcome.write.mean = milliseconds(),
            ("Latency", "ReadLatencyStdev") => self.outcome.read.sd = milliseconds(),
            ("Latency", "WriteLatencyStdev") => self.outcome.write.sd = milliseconds(),
            ("Bucket", "Percentile") => self.percentile = figure(text),
            ("Bucket", "ReadMilliseconds") => {
                self.outcome.read.figures.extend(self.percentile.clone().zip(milliseconds()));
            }
            ("Bucket", "WriteMilliseconds") => {
                self.outcome.write.figures.extend(self.percentile.clone().zip(milliseconds()));
            }
            (_, "TimeSpan") => self.finish(),
            _ => {}
        }
    }

    fn asked_for(&mut self, name: &str, parent: &str, text: &str) {
        let target = self.asked.back_mut().and_then(|targets| targets.last_mut());
        let (Some(target), "Target") = (target, parent) else { return };
        let number = || text.parse::<i64>().ok().filter(|number| *number > 0);
        match name {
            "BlockSize" => target.block = number(),
            "RequestCount" => target.queue = number(),
            "ThreadsPerFile" => target.threads = number(),
            "Random" => target.pattern = Some("rand"),
            "StrideSize" | "InterlockedSequential" => target.pattern = target.pattern.or(Some("seq")),
            // Some requests random, some not.
            "RandomRatio" if text != "100" => target.pattern = None,
            _ => {}
        }
    }

    fn finish(&mut self) {
        let mut outcome = std::mem::take(&mut self.outcome);
        let sums = std::mem::take(&mut self.sums);
        (outcome.version, outcome.host) = (self.version.clone(), self.host.clone());
        outcome.targets = self.asked.pop_front().unwrap_or_default();
        // A cut result has not summed all its threads.
        if let (Some(seconds), false) = (outcome.seconds.filter(|seconds| *seconds > 0.0), outcome.cut) {
            for (direction, (bytes, count)) in
                [(&mut outcome.read, sums.read), (&mut outcome.write, sums.write)]
            {
                direction.bytes_per_second = Some(bytes / seconds);
                direction.iops = Some(count / seconds);
            }
        }
        self.done.push(outcome);
    }
}
