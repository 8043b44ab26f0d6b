//! The lines of ping -j: an object for each reply, one for the end.

use serde_json::Value;

use super::figures::{Counts, Number, Spread};
use super::line::Line;
use super::reply::Reply;

/// What the object is. `at`: the stamp before it; `duplicate`: so marked, outside the object.
pub fn read(text: &str, at: Option<f64>, duplicate: bool) -> Option<Line<'_>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    if let Some(sent) = count("transmitted") {
        let received = count("received")?;
        return Some(Line::Counts(Counts {
            sent,
            received,
            lost: None,
            duplicates: count("duplicates").unwrap_or(0),
            corrupted: count("corrupted").unwrap_or(0),
            errors: count("errors").unwrap_or(0),
            loss: value.get("loss").and_then(Value::as_f64).map(|percent| percent / 100.0),
            // Printed as an integer by every version.
            whole_percent: false,
            certain: true,
            duration: count("time").map(|ms| ms as f64 / 1e3),
            // Without any reply it holds the figures' initial values.
            spread: spread(&value).filter(|_| received > 0),
        }));
    }
    let sequence = value.get("seq").and_then(Value::as_u64)?;
    let host = value.get("host")?.as_str()?;
    let time = value.get("time").and_then(milliseconds);
    Some(Line::Reply(Reply {
        from: text.find(host).and_then(|from| text.get(from..from + host.len())).unwrap_or(""),
        sequence: Some(sequence as u16),
        at,
        seconds: time.map(|time| time.scaled(3)),
        digit: time.map_or(0.0, |time| time.digit(3)),
        below: false,
        duplicate: duplicate || value.get("dup").and_then(Value::as_bool).unwrap_or(false),
        damaged: false,
        ttl: count("ttl"),
        windows: false,
        old: false,
        comma: false,
    }))
}

fn spread(value: &Value) -> Option<Spread> {
    let rtt = value.get("rtt")?;
    let figure = |key: &str| Some(milliseconds(rtt.get(key)?)?.scaled(3));
    let pace = |key: &str| Some(milliseconds(value.get(key)?)?.scaled(3));
    Some(Spread {
        min: figure("min"),
        mean: figure("avg"),
        max: figure("max"),
        sd: figure("mdev"),
        is_mdev: true,
        pace: pace("ipg").zip(pace("ewma")),
        comma: false,
    })
}

/// A time in quotes, or a bare number.
fn milliseconds(value: &Value) -> Option<Number> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.as_f64()?.to_string(),
    };
    Number::read(&text).map(|(number, _)| number)
}
