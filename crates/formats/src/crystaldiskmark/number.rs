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

/// Splits a number off the end of `text`.
pub(crate) fn split_last(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.get(before.len()..)?;
    (!number.is_empty()).then_some((before, number))
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
}
