//! Intervals read straight into flat rows. A document of a day has a million of them, and a tree for each costs more
//! than all the rest; what is not flat is left to the tree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A row of figures, as a tree or flat.
pub trait Figures {
    /// The number under `key`.
    fn number(&self, key: &str) -> Option<f64>;
    /// The switch under `key`.
    fn switch(&self, key: &str) -> Option<bool>;
}

impl Figures for serde_json::Value {
    fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(serde_json::Value::as_f64)
    }

    fn switch(&self, key: &str) -> Option<bool> {
        self.get(key).and_then(serde_json::Value::as_bool)
    }
}

/// An object without objects in it.
#[derive(Debug, Default)]
pub struct Flat<'a>(Vec<(&'a str, Scalar)>);

impl Flat<'_> {
    /// Of equal keys the last counts, as in a tree.
    fn get(&self, key: &str) -> Option<Scalar> {
        self.0.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

impl Figures for Flat<'_> {
    fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Scalar::Number(number) => Some(number),
            Scalar::Switch(_) | Scalar::Other => None,
        }
    }

    fn switch(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Scalar::Switch(on) => Some(on),
            Scalar::Number(_) | Scalar::Other => None,
        }
    }
}

/// An interval: its streams, and the sums by their names.
#[derive(Debug, Default)]
pub struct FlatInterval<'a> {
    /// One row a stream.
    pub streams: Vec<Flat<'a>>,
    /// The others, by name.
    pub sums: Vec<(&'a str, Flat<'a>)>,
}

impl FlatInterval<'_> {
    /// The interval that `text` is; `None` if a tree must be made of it.
    pub fn read(text: &str) -> Option<FlatInterval<'_>> {
        serde_json::from_str(text).ok()
    }
}

#[derive(Clone, Copy, Debug)]
enum Scalar {
    Number(f64),
    Switch(bool),
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a switch or a text")
    }

    fn visit_bool<E>(self, on: bool) -> Result<Scalar, E> {
        Ok(Scalar::Switch(on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_str<E>(self, _: &str) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Flat<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flat<'a>, D::Error> {
        deserializer.deserialize_map(FlatVisitor)
    }
}

struct FlatVisitor;

impl<'de> Visitor<'de> for FlatVisitor {
    type Value = Flat<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of numbers, switches and texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Flat<'de>, A::Error> {
        // iperf3 has up to sixteen figures in a row.
        let mut entries = Vec::with_capacity(16);
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Flat(entries))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FlatInterval<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FlatInterval<'a>, D::Error> {
        deserializer.deserialize_map(IntervalVisitor)
    }
}

struct IntervalVisitor;

impl<'de> Visitor<'de> for IntervalVisitor {
    type Value = FlatInterval<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an interval")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FlatInterval<'de>, A::Error> {
        let mut interval = FlatInterval::default();
        while let Some(key) = map.next_key::<&str>()? {
            match key {
                "streams" => interval.streams = map.next_value::<Rows<'_>>()?.0,
                key if key.starts_with("sum") => {
                    interval.sums.retain(|(name, _)| *name != key);
                    interval.sums.push((key, map.next_value()?));
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(interval)
    }
}

struct Rows<'a>(Vec<Flat<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Rows<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows<'a>, D::Error> {
        deserializer.deserialize_seq(RowsVisitor)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = Rows<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rows<'de>, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = list.next_element()? {
            rows.push(row);
        }
        Ok(Rows(rows))
    }
}
