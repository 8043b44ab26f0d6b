//! "45 degrees C", "12.03 V", "43.51 percent": the cells of sensor lists, in base units.

use tenbin_core::metric::{Better, CURRENT, FAN_SPEED, LEVEL, Metric, POWER, TEMPERATURE, VOLTAGE};
use tenbin_core::unit::Unit;

/// What sensors print in units that no metric of tenbin has: feet, CFM, "unspecified". The unit becomes a param.
pub const READING: Metric = Metric::new("reading", Unit::None, Better::Neither);
/// Energy since the counter began.
pub const ENERGY: Metric = Metric::new("energy", Unit::Joule, Better::Neither);

/// Other units of the IPMI tables that real machines use. A number with any other word behind it is a state's text.
const OTHERS: &[&str] = &[
    "unspecified",
    "feet",
    "cfm",
    "hz",
    "va",
    "ppm",
    "psi",
    "kpa",
    "cu feet",
    "inches",
    "second",
    "minute",
    "hour",
    "day",
    "millisecond",
    "microsecond",
    "db",
    "decibels",
    "dba",
    "bit",
    "byte",
    "kilobyte",
    "megabyte",
    "gigabyte",
    "ohms",
    "grams",
    "liters",
    "lux",
    "lumen",
    "lm",
];

/// A sensor's reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What was read.
    pub metric: Metric,
    /// In the metric's unit.
    pub value: f64,
    /// The printed unit, where the metric is [`READING`] and a unit was printed.
    pub unit: Option<String>,
    /// Whether a comma stood for the point.
    pub comma: bool,
}

/// A plain decimal number: no hexadecimal, no exponent, no "inf". The flag tells of a decimal comma.
pub fn number(text: &str) -> Option<(f64, bool)> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let comma = digits.contains(',');
    let (whole, part) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
    let plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(part) {
        return None;
    }
    let value: f64 = if comma { text.replace(',', ".").parse() } else { text.parse() }.ok()?;
    value.is_finite().then_some((value, comma))
}

/// `value` of a column whose unit is printed elsewhere. Any unit will do.
pub fn in_unit(value: &str, unit: &str) -> Option<Reading> {
    let (value, comma) = number(value)?;
    let unit = unit.trim();
    let known = known(value, unit).map(|(metric, value)| Reading { metric, value, unit: None, comma });
    Some(known.unwrap_or_else(|| {
        let unit = (!unit.is_empty()).then(|| unit.to_owned());
        Reading { metric: READING, value, unit, comma }
    }))
}

/// A cell with a number and a unit that sensors have.
pub fn quantity(cell: &str) -> Option<Reading> {
    // "45 (+/- 0.500) degrees C" tells the tolerance too.
    let without;
    let cell = match cell.split_once("(+/-") {
        Some((number, rest)) => {
            without = format!("{} {}", number.trim(), rest.split_once(')')?.1.trim());
            &without
        }
        None => cell.trim(),
    };
    let end = cell.find(|c: char| !c.is_ascii_digit() && !"+-.,".contains(c)).unwrap_or(cell.len());
    let (digits, unit) = cell.split_at(end);
    let unit = unit.trim();
    let value = number(digits)?.0;
    let other = || OTHERS.contains(&unit.to_ascii_lowercase().as_str());
    (known(value, unit).is_some() || other()).then(|| in_unit(digits, unit))?
}

/// The metric and the value in its unit.
fn known(value: f64, unit: &str) -> Option<(Metric, f64)> {
    // What becomes of a degree sign depends on the terminal and on the web page.
    let ascii: String = unit.chars().filter(char::is_ascii).collect();
    let unit = ascii.trim();
    let lower = unit.to_ascii_lowercase();
    let degrees = ["degrees ", "degree ", "deg "].iter().find_map(|word| lower.strip_prefix(word));
    match degrees.unwrap_or(unit) {
        "C" | "c" => return Some((TEMPERATURE, value)),
        "F" | "f" => return Some((TEMPERATURE, (value - 32.0) * 5.0 / 9.0)),
        "K" | "k" => return Some((TEMPERATURE, value - 273.15)),
        _ => {}
    }
    match lower.as_str() {
        "volts" | "volt" => return Some((VOLTAGE, value)),
        "amps" | "amp" | "amperes" => return Some((CURRENT, value)),
        "watts" | "watt" => return Some((POWER, value)),
        "joules" | "joule" => return Some((ENERGY, value)),
        "rpm" => return Some((FAN_SPEED, value)),
        "percent" | "%" | "%rh" => return Some((LEVEL, value / 100.0)),
        // "% RPM": of the full speed.
        _ if unit.starts_with("% ") => return Some((LEVEL, value / 100.0)),
        _ => {}
    }
    let (prefix, metric) = [("V", VOLTAGE), ("A", CURRENT), ("W", POWER), ("J", ENERGY)]
        .into_iter()
        .find_map(|(symbol, metric)| Some((unit.strip_suffix(symbol)?, metric)))?;
    let value = match prefix {
        "" => value,
        "n" => value / 1e9,
        "u" => value / 1e6,
        "m" => value / 1e3,
        "k" => value * 1e3,
        "M" => value * 1e6,
        "G" => value * 1e9,
        _ => return None,
    };
    Some((metric, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let check = |cell: &str, name: &str, value: f64| {
            let reading = quantity(cell).unwrap_or_else(|| panic!("{cell}"));
            assert_eq!(reading.metric.name, name, "{cell}");
            assert!((reading.value - value).abs() <= 1e-9 * value.abs(), "{cell}: {}", reading.value);
        };
        check("45 degrees C", "temperature", 45.0);
        check("-40 degrees C", "temperature", -40.0);
        check("+113.0\u{b0}F", "temperature", 45.0);
        check("+45.0\u{c2}\u{b0}C", "temperature", 45.0);
        check("+45.0\u{fffd}C", "temperature", 45.0);
        check("+45.0 C", "temperature", 45.0);
        check("300 degrees K", "temperature", 26.85);
        check("5600 RPM", "fan_speed", 5600.0);
        check("12,03 Volts", "voltage", 12.03);
        check("816.00 mV", "voltage", 0.816);
        check("1.40 Amps", "current", 1.4);
        check("1.20 kW", "power", 1200.0);
        check("320 Watts", "power", 320.0);
        check("43.51 percent", "level", 0.4351);
        check("50%", "level", 0.5);
        check("40 % RPM", "level", 0.4);
        check("45 (+/- 0.500) degrees C", "temperature", 45.0);
        check("7 unspecified", "reading", 7.0);
        check("1.50 MJ", "energy", 1.5e6);
    }

    #[test]
    fn no_readings() {
        for cell in [
            "",
            "0x08",
            "0h",
            "no reading",
            "na",
            "N/A",
            "Disabled",
            "- degrees C",
            "nan degrees C",
            "1e999 Volts",
            "2 drives missing",
            "45 degrees",
            "45 Watt-ish",
            "1.2.3 Volts",
            "degrees C",
            "3h",
            "45 (+/- 1",
            "45",
            "12 kV/s",
        ] {
            assert_eq!(quantity(cell), None, "{cell}");
        }
    }

    #[test]
    fn a_column_keeps_any_unit() {
        let reading = in_unit("3", "furlongs").unwrap();
        assert_eq!((reading.metric, reading.unit.as_deref()), (READING, Some("furlongs")));
        assert_eq!(in_unit("0x3", "Volts"), None);
    }
}
