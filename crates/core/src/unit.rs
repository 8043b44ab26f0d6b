//! Units. Values are in base units until they become text; prefixes exist only in [`crate::quantity`].

use serde::{Deserialize, Serialize};

/// The unit of a metric or a fact: base units and quotients of them, never a prefixed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Time.
    #[serde(rename = "s")]
    Second,
    /// Octets.
    #[serde(rename = "byte")]
    Byte,
    /// Storage, memory and message-passing rates.
    #[serde(rename = "byte/s")]
    BytePerSecond,
    /// Network rates.
    #[serde(rename = "bit/s")]
    BitPerSecond,
    /// Requests, transactions, messages or packets in a second.
    #[serde(rename = "op/s")]
    OpPerSecond,
    /// Floating point operations in a second.
    #[serde(rename = "flop/s")]
    FlopPerSecond,
    /// CPU time spent on a byte.
    #[serde(rename = "s/byte")]
    SecondPerByte,
    /// Frequency.
    #[serde(rename = "hertz")]
    Hertz,
    /// Temperature.
    #[serde(rename = "celsius")]
    Celsius,
    /// Revolutions in a minute.
    #[serde(rename = "rpm")]
    Rpm,
    /// Electric potential.
    #[serde(rename = "volt")]
    Volt,
    /// Electric current.
    #[serde(rename = "ampere")]
    Ampere,
    /// Power.
    #[serde(rename = "watt")]
    Watt,
    /// Energy.
    #[serde(rename = "joule")]
    Joule,
    /// A share: 1 is the whole.
    #[serde(rename = "ratio")]
    Ratio,
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// A bare number, such as a score or a residual.
    #[serde(rename = "none")]
    None,
}

impl Unit {
    /// Every unit, for tables and tests.
    pub const ALL: [Unit; 17] = [
        Unit::Second,
        Unit::Byte,
        Unit::BytePerSecond,
        Unit::BitPerSecond,
        Unit::OpPerSecond,
        Unit::FlopPerSecond,
        Unit::SecondPerByte,
        Unit::Hertz,
        Unit::Celsius,
        Unit::Rpm,
        Unit::Volt,
        Unit::Ampere,
        Unit::Watt,
        Unit::Joule,
        Unit::Ratio,
        Unit::Count,
        Unit::None,
    ];

    /// The name written in JSON, CSV and the store.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Second => "s",
            Unit::Byte => "byte",
            Unit::BytePerSecond => "byte/s",
            Unit::BitPerSecond => "bit/s",
            Unit::OpPerSecond => "op/s",
            Unit::FlopPerSecond => "flop/s",
            Unit::SecondPerByte => "s/byte",
            Unit::Hertz => "hertz",
            Unit::Celsius => "celsius",
            Unit::Rpm => "rpm",
            Unit::Volt => "volt",
            Unit::Ampere => "ampere",
            Unit::Watt => "watt",
            Unit::Joule => "joule",
            Unit::Ratio => "ratio",
            Unit::Count => "count",
            Unit::None => "none",
        }
    }

    /// The unit of that [`name`](Unit::name).
    pub fn from_name(name: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_agree_with_serde() {
        for unit in Unit::ALL {
            assert_eq!(Unit::from_name(unit.name()), Some(unit));
            assert_eq!(serde_json::to_string(&unit).unwrap(), format!("\"{}\"", unit.name()));
        }
        assert_eq!(Unit::from_name("Mbit/s"), None);
    }
}
