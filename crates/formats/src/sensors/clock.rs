//! Dates and times of day in the forms that event logs have, as `YYYY-MM-DDThh:mm:ss`.

/// A date as printed: three numbers, of which the first two may be month and day or day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Date {
    /// Both orders may be meant: the other rows of the log tell.
    Slashes {
        /// Month, or day.
        first: u32,
        /// Day, or month.
        second: u32,
        /// The year, with its century.
        year: u32,
    },
    /// Only one order may be meant.
    Plain {
        /// The year, with its century.
        year: u32,
        /// From 1.
        month: u32,
        /// From 1.
        day: u32,
    },
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `11/30/26`, `11/30/2026`, `30.11.2026`, `2026-11-30`, `Nov-30-2026`, `30-Nov-2026`.
pub fn date(text: &str) -> Option<Date> {
    let text = text.trim();
    let mark = text.chars().find(|c| "/.-".contains(*c))?;
    let mut parts = text.split(mark);
    let [a, b, c] = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() {
        return None;
    }
    let number = |text: &str, digits: usize| {
        let plain = (1..=digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if plain { text.parse::<u32>().ok() } else { None }
    };
    let month = |text: &str| {
        let name = text.to_ascii_lowercase();
        MONTHS.iter().position(|month| *month == name).map(|at| at as u32 + 1)
    };
    let plain = |year, month, day| {
        let right = (1..=12).contains(&month) && (1..=31).contains(&day);
        right.then_some(Date::Plain { year, month, day })
    };
    if a.len() == 4 {
        return plain(number(a, 4)?, number(b, 2)?, number(c, 2)?);
    }
    let year = match (c.len(), number(c, 4)?) {
        (4, year) => year,
        // The IPMI clock begins in 1970.
        (2, year @ 70..) => 1900 + year,
        (2, year) => 2000 + year,
        _ => return None,
    };
    if let Some(month) = month(a) {
        return plain(year, month, number(b, 2)?);
    }
    if let Some(month) = month(b) {
        return plain(year, month, number(a, 2)?);
    }
    let (first, second) = (number(a, 2)?, number(b, 2)?);
    if mark == '.' {
        return plain(year, second, first);
    }
    let right = (1..=31).contains(&first) && (1..=31).contains(&second) && first.min(second) <= 12;
    right.then_some(Date::Slashes { first, second, year })
}

impl Date {
    /// Whether the day certainly stands first.
    pub fn day_is_first(self) -> bool {
        matches!(self, Date::Slashes { first: 13.., .. })
    }

    /// `YYYY-MM-DD`; `None` if the order does not fit.
    pub fn told(self, day_first: bool) -> Option<String> {
        let (year, month, day) = match self {
            Date::Plain { year, month, day } => (year, month, day),
            Date::Slashes { first, second, year } if day_first => (year, second, first),
            Date::Slashes { first, second, year } => (year, first, second),
        };
        (month <= 12).then(|| format!("{year:04}-{month:02}-{day:02}"))
    }
}

/// `hh:mm:ss` and the zone of `23:21:27 UTC`, `02:50:29 PM CST`, `14:50:29`.
pub fn time_of_day(text: &str) -> Option<(String, Option<String>)> {
    let mut words = text.split_whitespace();
    let mut parts = words.next()?.split(':');
    let mut next = |below: u32| {
        let part = parts.next()?;
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if plain { part.parse().ok().filter(|number: &u32| *number < below) } else { None }
    };
    // A leap second is the 61st.
    let (mut hour, minute, second) = (next(24)?, next(60)?, next(61)?);
    if parts.next().is_some() {
        return None;
    }
    let mut zone = words.next();
    if let Some(half @ ("AM" | "PM" | "am" | "pm")) = zone {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
        zone = words.next();
    }
    if words.next().is_some() {
        return None;
    }
    Some((format!("{hour:02}:{minute:02}:{second:02}"), zone.map(str::to_owned)))
}

/// Whether a line is nothing but a point in time, as `date` or a loop prints it.
pub fn is_stamp(line: &str) -> bool {
    let words = || line.split_whitespace();
    let number = |word: &str| {
        word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_digit() || b":./-+,TZ".contains(&byte))
    };
    let name = |word: &str| {
        word.trim_end_matches(['.', ',']).chars().count() <= 4
            && word.chars().all(|c| c.is_alphabetic() || ".,".contains(c))
    };
    let numbers = words().filter(|word| number(word)).count();
    let timed = words().any(|word| number(word) && word.matches(':').count() >= 1);
    let years = words().any(|word| number(word) && word.contains("20") && word.len() >= 4);
    line.len() < 64 && numbers >= 1 && timed && years && words().all(|word| number(word) || name(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let check = |text: &str, day_first: bool, told: Option<&str>| {
            assert_eq!(date(text).and_then(|date| date.told(day_first)).as_deref(), told, "{text}");
        };
        check("11/30/26", false, Some("2026-11-30"));
        check("11/30/2026", false, Some("2026-11-30"));
        check("02/03/2026", false, Some("2026-02-03"));
        check("02/03/2026", true, Some("2026-03-02"));
        check("30/11/2026", false, None);
        check("30.11.2026", false, Some("2026-11-30"));
        check("2026-11-30", false, Some("2026-11-30"));
        check("Nov-30-2026", false, Some("2026-11-30"));
        check("30-Nov-2026", false, Some("2026-11-30"));
        check("01/01/70", false, Some("1970-01-01"));
        check("13/13/2026", false, None);
        check("00/10/2026", false, None);
        check("11/30", false, None);
        check("PostInit", false, None);
        check("1/2/3/4", false, None);
        check("0000000085", false, None);
        assert!(date("30/11/2026").unwrap().day_is_first());
    }

    #[test]
    fn times() {
        let check = |text: &str, told: Option<(&str, Option<&str>)>| {
            let read = time_of_day(text);
            assert_eq!(read.as_ref().map(|(time, zone)| (time.as_str(), zone.as_deref())), told, "{text}");
        };
        check("23:21:27 UTC", Some(("23:21:27", Some("UTC"))));
        check("14:50:29", Some(("14:50:29", None)));
        check("02:50:29 PM CST", Some(("14:50:29", Some("CST"))));
        check("12:00:01 AM", Some(("00:00:01", None)));
        check("23:59:60", Some(("23:59:60", None)));
        check("11/30/26", None);
        check("25:00:00", None);
        check("13:00:00 PM", None);
        check("10:00", None);
    }

    #[test]
    fn stamps() {
        for line in ["Mon Nov 30 23:21:27 UTC 2026", "2026-11-30 23:21:27", "Mo 30. Nov 23:21:27 CET 2026"] {
            assert!(is_stamp(line), "{line}");
        }
        for line in ["Temp 20", "2026-11-30 23:21:27 kernel: ipmi_si", "Nov 30 23:21:27", "45"] {
            assert!(!is_stamp(line), "{line}");
        }
    }
}
