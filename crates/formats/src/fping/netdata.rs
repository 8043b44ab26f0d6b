//! The charts of fping -N, as netdata's plugins print them: for each target and period the packets, the share that
//! came back, and the round trips in nanoseconds. A target's name has its dots replaced in all lines but `CHART`.

use std::collections::HashMap;

use super::line::Total;

/// So many targets keep the name they were asked by.
const MOST_NAMES: usize = 1 << 16;

/// Charts while they are read.
#[derive(Debug, Default)]
pub struct Charts {
    /// What stands in the charts, and the target as asked for.
    names: HashMap<String, String>,
    /// What the next values are of.
    values: Values,
    target: String,
    sent: Option<u64>,
    received: Option<u64>,
    spread: [Option<f64>; 3],
}

#[derive(Debug, Default, PartialEq)]
enum Values {
    #[default]
    Others,
    Packets,
    Latency,
}

/// Whether only fping -N writes such a line.
pub fn is_chart(text: &str) -> bool {
    chart(text, "CHART ").is_some() || chart(text, "BEGIN ").is_some()
}

/// Name, kind and what follows: `fping.192_0_2_1_packets`.
fn chart<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let text = text.strip_prefix(word)?.strip_prefix("fping.")?;
    let (id, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (name, kind) = id.rsplit_once('_')?;
    ["packets", "quality", "latency"].contains(&kind).then_some((name, kind, rest))
}

impl Charts {
    /// Takes a line; false if it is no chart's.
    pub fn take(&mut self, text: &str) -> bool {
        if let Some((name, _, rest)) = chart(text, "CHART ") {
            // The fourth quoted text or word: '' 'title' packets 'target'.
            let target = rest.rsplit_once("' fping.").and_then(|(before, _)| before.rsplit_once('\''));
            if let Some((_, target)) = target
                && self.names.len() < MOST_NAMES
            {
                self.names.insert(name.to_owned(), target.to_owned());
            }
            return true;
        }
        if let Some((name, kind, _)) = chart(text, "BEGIN ") {
            self.values = match kind {
                "packets" => Values::Packets,
                "latency" => Values::Latency,
                _ => Values::Others,
            };
            self.target = self.names.get(name).cloned().unwrap_or_else(|| name.to_owned());
            return true;
        }
        if let Some((key, value)) = text.strip_prefix("SET ").and_then(|set| set.split_once(" = ")) {
            self.set(key, value);
            return true;
        }
        text == "END" || text.starts_with("DIMENSION ")
    }

    fn set(&mut self, key: &str, value: &str) {
        let seconds = || value.parse::<u64>().ok().map(|nanoseconds| nanoseconds as f64 * 1e-9);
        match (&self.values, key) {
            (Values::Packets, "xmt") => self.sent = value.parse().ok(),
            (Values::Packets, "rcv") => self.received = value.parse().ok(),
            (Values::Latency, "min") => self.spread[0] = seconds(),
            (Values::Latency, "avg") => self.spread[1] = seconds(),
            (Values::Latency, "max") => self.spread[2] = seconds(),
            _ => {}
        }
    }

    /// The totals of a target's period, once `text` begins another, or at the end of the log (`None`).
    pub fn ended(&mut self, text: Option<&str>) -> Option<(String, Total)> {
        let ends = text.is_none_or(|text| matches!(chart(text, "BEGIN "), Some((_, "packets", _))));
        let (sent, received) = (self.sent.filter(|_| ends)?, self.received?);
        let spread = std::mem::take(&mut self.spread);
        (self.sent, self.received) = (None, None);
        Some((self.target.clone(), Total { sent, received, loss: None, spread }))
    }
}
