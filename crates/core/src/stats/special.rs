//! Distribution functions that intervals and asymptotic tests need: normal, beta, Student's t, binomial.
//!
//! Quantiles halve an interval until no number is left inside it: slower than a series, as exact as its distribution
//! function, and nothing calls them in a loop.

/// P(Z <= z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    if z < 0.0 { normal_tail(-z) } else { 1.0 - normal_tail(z) }
}

/// P(Z > z) of the standard normal distribution; keeps its relative accuracy far out.
pub fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        // The central mass as a power series: z + z^3/3 + z^5/(3*5) + ...
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > sum * f64::EPSILON / 4.0 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // Laplace's continued fraction z + 1/(z + 2/(z + 3/(...))), from far inside.
    density / (1..=120).rev().fold(z, |inner, k| z + f64::from(k) / inner)
}

/// The z below which a standard normal variable lies with chance `p`; infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p if p > 0.5 => -normal_quantile(1.0 - p),
        p => -falling(0.0, 40.0, |z| normal_tail(z) > p),
    }
}

/// The t below which Student's variable with `df` degrees of freedom lies with chance `p`; infinite at 0 and 1.
pub fn t_quantile(p: f64, df: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p if p < 0.5 => -t_quantile(1.0 - p, df),
        p => falling(0.0, 1e150, |t| t_tail(t, df) > 1.0 - p),
    }
}

/// P(T > t) of Student's variable with `df` degrees of freedom.
pub fn t_tail(t: f64, df: f64) -> f64 {
    let far = beta(df / 2.0, 0.5, df / (df + t * t)) / 2.0;
    if t < 0.0 { 1.0 - far } else { far }
}

/// P(F > f) of Fisher's variable with `above` and `below` degrees of freedom.
pub fn f_tail(f: f64, above: f64, below: f64) -> f64 {
    if f <= 0.0 { 1.0 } else { beta(below / 2.0, above / 2.0, below / (below + above * f)) }
}

/// P(X > x) of the chi-square variable with `df` degrees of freedom; keeps its relative accuracy far out.
pub fn chi2_tail(x: f64, df: f64) -> f64 {
    let (a, x) = (df / 2.0, x / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        // The mass below as a series: x^a e^-x / gamma(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...)
        let (mut term, mut sum, mut next) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON / 4.0 {
            next += 1.0;
            term *= x / next;
            sum += term;
        }
        return (1.0 - scale * sum).clamp(0.0, 1.0);
    }
    // Legendre's continued fraction 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))), from far inside.
    let inner = (1..=500).rev().fold(0.0, |inner, k| {
        let k = f64::from(k);
        k * (k - a) / (x + 2.0 * k + 1.0 - a - inner)
    });
    (scale / (x + 1.0 - a - inner)).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function, for positive `a` and `b` and `x` in 0..=1.
pub fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // 1/(1 + d1/(1 + d2/(1 + ...))) by Lentz's method: ratios of successive numerators and denominators.
    let step = |m: f64, odd: bool| match odd {
        true => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        false => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
    };
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut above, mut below, mut fraction) = (1.0, 0.0, 1.0);
    for i in 1..2000 {
        let d = step(f64::from(i / 2), i % 2 == 1);
        below = 1.0 / away_from_zero(1.0 + d * below);
        above = away_from_zero(1.0 + d / above);
        fraction *= above * below;
        if (above * below - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (scale.exp() / (a * fraction)).clamp(0.0, 1.0)
}

/// ln of the gamma function of a positive number.
pub fn ln_gamma(x: f64) -> f64 {
    // Stirling's series is exact enough from 10 on; smaller numbers are brought there by gamma(x+1) = x gamma(x).
    let (mut product, mut x) = (1.0, x);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let correction = series.iter().rev().fold(0.0, |sum, c| sum * inverse + c) / x;
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + correction - f64::ln(product)
}

/// P(Bin(n, p) <= k) for k = 0, 1, 2, ..., n.
pub fn binomial_cdf(n: usize, p: f64) -> impl Iterator<Item = f64> {
    let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
    let (mut ln_choose, mut below) = (0.0, 0.0);
    (0..=n).map(move |k| {
        // ln 0 times 0 successes is nothing, not NaN.
        let power = |times: usize, ln: f64| if times == 0 { 0.0 } else { times as f64 * ln };
        below += (ln_choose + power(k, ln_p) + power(n - k, ln_q)).exp();
        ln_choose += ((n - k) as f64 / (k + 1) as f64).ln();
        f64::min(below, 1.0)
    })
}

/// Where `above` turns from true to false between `lo` and `hi`.
fn falling(mut lo: f64, mut hi: f64, above: impl Fn(f64) -> bool) -> f64 {
    loop {
        // The geometric middle crosses magnitudes fast once both ends are positive.
        let middle = if lo > 0.0 && hi > 4.0 * lo { (lo * hi).sqrt() } else { lo / 2.0 + hi / 2.0 };
        let middle = if lo == 0.0 && hi > 1.0 { 1.0 } else { middle };
        if middle <= lo || middle >= hi {
            return middle;
        }
        *(if above(middle) { &mut lo } else { &mut hi }) = middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: f64, right: f64) {
        assert!((ours / right - 1.0).abs() < 1e-12, "{ours:e} instead of {right:e}");
    }

    /// Right answers are half of Python's math.erfc(z / sqrt 2).
    #[test]
    fn normal_tails() {
        check(normal_tail(0.1), 4.601_721_627_229_71e-1);
        check(normal_tail(1.5), 6.680_720_126_885_809e-2);
        check(normal_tail(2.999_999), 1.349_902_463_485_155e-3);
        check(normal_tail(3.0), 1.349_898_031_630_095_7e-3);
        check(normal_tail(4.5), 3.397_673_124_730_061_5e-6);
        check(normal_tail(10.0), 7.619_853_024_160_593e-24);
        check(normal_tail(37.0), 5.725_571_222_525_139e-300);
        check(1.0 - normal_tail(-3.0), 1.349_898_031_630_095_7e-3);
    }

    /// Right answers are Python's math.lgamma.
    #[test]
    fn gamma() {
        check(ln_gamma(0.5), 0.572_364_942_924_700_4);
        check(ln_gamma(1.5), -0.120_782_237_635_245_43);
        check(ln_gamma(9.99), 12.779_315_214_350_197);
        check(ln_gamma(57.5), 174.372_129_818_745_18);
    }

    #[test]
    fn quantiles_invert_and_end() {
        for p in [1e-12, 0.01, 0.3, 0.5, 0.8, 0.999] {
            assert!((normal_cdf(normal_quantile(p)) / p - 1.0).abs() < 1e-9);
            assert!((t_quantile(p, 4.0) + t_quantile(1.0 - p, 4.0)).abs() <= 1e-3 * t_quantile(p, 4.0).abs());
        }
        assert_eq!((normal_quantile(0.0), t_quantile(1.0, 3.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((beta(2.0, 3.0, 0.0), beta(2.0, 3.0, 1.0)), (0.0, 1.0));
        assert!((binomial_cdf(100_000, 0.3).last().unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(binomial_cdf(3, 0.0).collect::<Vec<f64>>(), [1.0; 4]);
    }
}
