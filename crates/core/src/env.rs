//! Facts about a host: what it is, how it is set, what its counters say, each with its source.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// What a change of a fact would mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Must be equal between compared arms unless declared.
    Identity,
    /// Must not change during a session unless declared.
    State,
    /// Read before and after each run; the difference is judged.
    Counter,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FactValue {
    /// A switch.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Num(f64),
    /// A word or a line.
    Text(String),
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Bool(true) => f.write_str("on"),
            FactValue::Bool(false) => f.write_str("off"),
            FactValue::Int(n) => n.fmt(f),
            FactValue::Num(x) => x.fmt(f),
            FactValue::Text(text) => text.fmt(f),
        }
    }
}
impl From<bool> for FactValue {
    fn from(on: bool) -> FactValue {
        FactValue::Bool(on)
    }
}
impl From<i64> for FactValue {
    fn from(n: i64) -> FactValue {
        FactValue::Int(n)
    }
}
impl From<f64> for FactValue {
    fn from(x: f64) -> FactValue {
        FactValue::Num(x)
    }
}
impl From<&str> for FactValue {
    fn from(text: &str) -> FactValue {
        FactValue::Text(text.to_owned())
    }
}
impl From<String> for FactValue {
    fn from(text: String) -> FactValue {
        FactValue::Text(text)
    }
}

/// A fact: exactly one of `value`, `absent`, `error` is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<FactValue>,
    /// The unit of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// There is no such thing on this host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// It exists and could not be read: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The file, ioctl or message it came from.
    pub source: String,
    /// What a change would mean.
    pub class: Class,
}

impl Fact {
    /// A fact that was read.
    pub fn new(class: Class, value: impl Into<FactValue>, source: impl Into<String>) -> Fact {
        Fact {
            value: Some(value.into()),
            unit: None,
            absent: false,
            error: None,
            source: source.into(),
            class,
        }
    }

    /// The same with a unit.
    pub fn in_unit(mut self, unit: Unit) -> Fact {
        self.unit = Some(unit);
        self
    }

    /// A fact that this host does not have.
    pub fn absent(class: Class, source: impl Into<String>) -> Fact {
        Fact { value: None, unit: None, absent: true, error: None, source: source.into(), class }
    }

    /// A fact that exists and could not be read.
    pub fn unreadable(class: Class, source: impl Into<String>, why: impl Into<String>) -> Fact {
        Fact { value: None, unit: None, absent: false, error: Some(why.into()), source: source.into(), class }
    }
}

/// The facts of one host by dotted key: `cpu.model`, `net.eth0.mtu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment {
    /// Facts by key.
    pub facts: BTreeMap<String, Fact>,
}

impl Environment {
    /// The value of a fact that was read.
    pub fn value(&self, key: &str) -> Option<&FactValue> {
        self.facts.get(key)?.value.as_ref()
    }

    /// The value of a numeric fact.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            FactValue::Int(n) => Some(*n as f64),
            FactValue::Num(x) => Some(*x),
            FactValue::Bool(_) | FactValue::Text(_) => None,
        }
    }

    /// The value of a text fact.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            FactValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Notes a fact under `key`, replacing an earlier one.
    pub fn insert(&mut self, key: impl Into<String>, fact: Fact) {
        self.facts.insert(key.into(), fact);
    }
}
