//! What an engine accepts and gives, as data: plans are checked, help is printed and schedules are timed from it.

use crate::metric::Metric;
use crate::quantity;

/// The description of an engine. Making one touches nothing.
#[derive(Debug)]
pub struct EngineSpec {
    /// Its name in plans and on the command line.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// What it needs at the far end.
    pub peer: Peer,
    /// The parameters a plan may set.
    pub params: &'static [ParamSpec],
    /// The metrics of its headline series, most important first.
    pub metrics: &'static [Metric],
    /// Seconds one run takes with these parameters, for `--dry-run` and time left.
    pub seconds: fn(&Values) -> f64,
}

/// What an engine needs at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Nothing: it measures one host.
    None,
    /// An address that answers; no tenbin there.
    Address,
    /// The engine's passive side, started there first.
    Serve,
    /// A passive side where the measure names a far host, else nothing. It ends when it is told to.
    Optional,
}

/// A parameter of an engine or a setter.
#[derive(Debug)]
pub struct ParamSpec {
    /// Its key in a plan.
    pub name: &'static str,
    /// The sort of value.
    pub kind: ParamKind,
    /// The value where a plan is silent, in the plan's own grammar; `None` = not set.
    pub default: Option<&'static str>,
    /// One line for people.
    pub help: &'static str,
}

/// The sort of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// `3s`, `5ms`; seconds.
    Duration {
        /// Smallest allowed, in seconds.
        min: f64,
        /// Largest allowed, in seconds.
        max: f64,
    },
    /// `128k`, `1m`; bytes, k = 1024.
    Size {
        /// Smallest allowed, in bytes.
        min: u64,
        /// Largest allowed, in bytes.
        max: u64,
    },
    /// `25Gbit`; bit/s, decimal.
    BitRate,
    /// A whole number.
    Count {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// true or false.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A command: text for the shell or an array of arguments.
    Command,
}

/// A checked value in base units.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A switch.
    Switch(bool),
    /// A whole number: counts, bytes, bit/s.
    Count(u64),
    /// Seconds.
    Seconds(f64),
    /// A word or text.
    Text(String),
    /// The arguments of a command.
    Command(Vec<String>),
}

/// Checked parameters by name; complete, since defaults are filled in.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Values(pub std::collections::BTreeMap<String, Value>);

impl Values {
    /// A duration in seconds.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        match self.0.get(name)? {
            Value::Seconds(x) => Some(*x),
            // JSON has one kind of number: a whole number of seconds comes back as a count.
            Value::Count(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// A count, a size in bytes or a rate in bit/s.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::Count(n) => Some(*n),
            _ => None,
        }
    }

    /// A switch; off where absent.
    pub fn switch(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Switch(true)))
    }

    /// A word or text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The arguments of a command.
    pub fn command(&self, name: &str) -> Option<&[String]> {
        match self.0.get(name)? {
            Value::Command(argv) => Some(argv),
            _ => None,
        }
    }
}

impl ParamSpec {
    /// Reads a value from text in the plan's grammar. Errors say what was expected.
    pub fn read_text(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            ParamKind::Duration { .. } => self.in_range(Value::Seconds(quantity::parse_duration(text)?)),
            ParamKind::Size { .. } => self.in_range(Value::Count(quantity::parse_size(text)?)),
            ParamKind::BitRate => Ok(Value::Count(quantity::parse_bit_rate(text)?)),
            ParamKind::Count { .. } => {
                let count = text.parse().map_err(|_| format!("expected a whole number, found \"{text}\""))?;
                self.in_range(Value::Count(count))
            }
            ParamKind::Switch => match text {
                "true" | "on" => Ok(Value::Switch(true)),
                "false" | "off" => Ok(Value::Switch(false)),
                _ => Err(format!("expected true or false, found \"{text}\"")),
            },
            ParamKind::Choice(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            ParamKind::Choice(words) => {
                Err(format!("expected one of {}, found \"{text}\"", words.join(", ")))
            }
            ParamKind::Text => Ok(Value::Text(text.to_owned())),
            ParamKind::Command => Ok(Value::Command(vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()])),
        }
    }

    /// Checks a value against the allowed range. Errors give the range.
    pub fn in_range(&self, value: Value) -> Result<Value, String> {
        match (self.kind, &value) {
            (ParamKind::Duration { min, max }, Value::Seconds(x)) if !(*x >= min && *x <= max) => {
                Err(format!("must be between {} and {}", quantity::duration(min), quantity::duration(max)))
            }
            (ParamKind::Size { min, max } | ParamKind::Count { min, max }, Value::Count(n))
                if !(min..=max).contains(n) =>
            {
                Err(format!("must be between {min} and {max}"))
            }
            _ => Ok(value),
        }
    }
}

impl EngineSpec {
    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }

    /// `values` with every default filled in. A default that can't be read is an error of the program's own.
    pub fn with_defaults(&self, mut values: Values) -> Result<Values, String> {
        for param in self.params {
            if let Some(default) = param.default
                && !values.0.contains_key(param.name)
            {
                values.0.insert(param.name.to_owned(), param.read_text(default)?);
            }
        }
        Ok(values)
    }
}
