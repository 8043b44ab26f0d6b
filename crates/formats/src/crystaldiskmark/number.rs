//! Printed decimal numbers.

/// `text` times ten to the power of `exponent`, without the rounding of a multiplication; `None` unless it is a
/// plain decimal number.
pub(crate) fn decimal(text: &str, exponent: i32) -> Option<f64> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !plain || text.is_empty() || text.len() > 40 {
        return None;
    }
    format!("{text}e{exponent}").parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Splits a number off the end of `text`, whatever its decimal sign.
pub(crate) fn split_last(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let number = text.get(before.len()..)?;
    (!number.is_empty()).then_some((before, number))
}

/// A number that is printed with so many `decimals`, with the point: `3.488,917` with three is `3488.917`. `None`
/// where the signs are no number's.
pub(crate) fn localised(text: &str, decimals: usize) -> Option<String> {
    let text = text.trim();
    let (whole, fraction) = text.rsplit_once(['.', ','])?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(fraction) || fraction.len() != decimals {
        return None;
    }
    let sign = text.as_bytes().get(whole.len()).copied()?;
    let other = if sign == b'.' { ',' } else { '.' };
    let mut groups = whole.split(other);
    let first = groups.next().filter(|first| digits(first))?;
    let mut number = first.to_owned();
    for group in groups {
        if first.len() > 3 || group.len() != 3 || !digits(group) {
            return None;
        }
        number.push_str(group);
    }
    Some(format!("{number}.{fraction}"))
}

/// Bytes of `4KiB`, `512KB`, `1 MiB`: kilo is 1024 where storage tools name a block.
pub(crate) fn block(number: &str, unit: &str) -> Option<i64> {
    let factor = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<i64>().ok().filter(|n| *n > 0)?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let check = |text: &str, exponent, wanted| assert_eq!(decimal(text, exponent), wanted, "{text}");
        check("531.458", 6, Some(531_458_000.0));
        check(" 98.75", -6, Some(98.75e-6));
        check("1", 400, None);
        check("1e9", 0, None);
        check("-1", 0, None);
        check("", 0, None);
        check(".", 0, None);
        assert_eq!(block("4", "KiB"), Some(4096));
        assert_eq!(block("9223372036854775807", "MB"), None);
        assert_eq!(split_last("a: 12.5 "), Some(("a: ", "12.5")));
    }

    #[test]
    fn decimal_signs() {
        let check = |text: &str, decimals, wanted: Option<&str>| {
            assert_eq!(localised(text, decimals).as_deref(), wanted, "{text}");
        };
        check("3488.917", 3, Some("3488.917"));
        check("3488,917", 3, Some("3488.917"));
        check("3.488,917", 3, Some("3488.917"));
        check("1,203,488.5", 1, Some("1203488.5"));
        check(" 98,75 ", 2, Some("98.75"));
        check("12.5", 3, None);
        check("3488", 3, None);
        check("34,88.917", 3, None);
        check("1203,488.917", 3, None);
        check(",488.917", 3, None);
        check("1.2.345", 3, None);
        check(".", 0, None);
    }
}
