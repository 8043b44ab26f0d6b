//! Deviations that ping works out wrongly, and between which bounds the right ones lie.
//!
//! iputils before s20190324 takes the square of a mean cut to whole microseconds from the mean of the squares: with a
//! mean of m + d microseconds (0 <= d < 1) the variance comes out too large by 2md + d². Later ones do so where all
//! round trips sum up to 2³¹ microseconds.

use super::figures::Spread;

/// A microsecond.
const MICRO: f64 = 1e-6;

/// The first iputils without the fault in short runs.
const MENDED: u64 = 20_190_324;

/// Whether this version of iputils has the fault; `None` where it is no version of iputils.
pub fn is_old(version: &str) -> Option<bool> {
    let digits: String = version.trim_start_matches('s').chars().take_while(char::is_ascii_digit).collect();
    let date: u64 = digits.parse().ok().filter(|_| digits.len() == 8)?;
    Some(date < MENDED)
}

/// Between which deviations in seconds the true one lies where an old iputils printed these figures.
pub fn bounds(mean: f64, mdev: f64) -> (f64, f64) {
    let (mean, mdev) = ((mean / MICRO).round(), (mdev / MICRO).round());
    let low = (mdev * mdev - 2.0 * mean - 1.0).max(0.0).sqrt();
    (low * MICRO, (mdev + 1.0) * MICRO)
}

/// Whether `n` round trips sum up to so much that even a new iputils has the fault.
pub fn is_long(n: u64, mean: f64) -> bool {
    n as f64 * mean / MICRO >= f64::from(i32::MAX)
}

/// Whether no values between this shortest and longest with this mean can deviate so much. A printed figure may be
/// cut off by nearly a microsecond.
pub fn is_too_large(spread: &Spread) -> bool {
    let (Some(min), Some(mean), Some(max), Some(sd)) = (spread.min, spread.mean, spread.max, spread.sd)
    else {
        return false;
    };
    let most = (max - mean + MICRO) * (mean - min + MICRO);
    sd > most.max(0.0).sqrt() + MICRO
}

/// The least deviation of `n` values of which these are the shortest and the longest, if less was printed.
pub fn least_above(n: u64, spread: &Spread) -> Option<f64> {
    let (min, max, sd) = (spread.min?, spread.max?, spread.sd?);
    let range = max - min - MICRO;
    let least = if n > 0 && range > 0.0 { range / (2.0 * n as f64).sqrt() } else { 0.0 };
    (sd + MICRO < least).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(is_old("s20180629"), Some(true));
        assert_eq!(is_old("ss20101006"), Some(true));
        assert_eq!(is_old("s20190324"), Some(false));
        assert_eq!(is_old("20221126"), Some(false));
        assert_eq!(is_old("ping (GNU inetutils) 2.4"), None);
    }

    #[test]
    fn bounds_of_an_old_deviation() {
        let check = |mean: f64, mdev: f64, wanted: &str| {
            let (low, high) = bounds(mean, mdev);
            assert_eq!(format!("{:.1} {:.1}", low * 1e6, high * 1e6), wanted);
        };
        check(255e-6, 41e-6, "34.2 42.0");
        check(173e-6, 20e-6, "7.3 21.0");
        check(50e-6, 5e-6, "0.0 6.0");
    }

    #[test]
    fn deviations_that_cannot_be() {
        let check = |min, mean, max, sd, n, wanted: (bool, bool)| {
            let figure = |us: u32| Some(f64::from(us) / 1e6);
            let spread = Spread {
                min: figure(min),
                mean: figure(mean),
                max: figure(max),
                sd: figure(sd),
                ..Spread::default()
            };
            assert_eq!((is_too_large(&spread), least_above(n, &spread).is_some()), wanted, "{spread:?}");
        };
        check(10, 10, 11, 3, 10, (true, false));
        check(10, 10, 11, 1, 10, (false, false));
        check(69, 81, 100, 0, 3, (false, true));
        check(69, 81, 100, 13, 3, (false, false));
        check(5, 5, 5, 0, 0, (false, false));
    }
}
