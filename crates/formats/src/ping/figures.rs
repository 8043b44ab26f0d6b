//! Numbers with their units, and the lines of statistics that consist of them.

/// Packets sent and received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Requests.
    pub sent: u64,
    /// First answers.
    pub received: u64,
    /// Requests without an answer; only Windows prints them.
    pub lost: Option<u64>,
    /// Further answers.
    pub duplicates: u64,
    /// Answers with a wrong checksum.
    pub corrupted: u64,
    /// ICMP and local errors.
    pub errors: u64,
    /// The printed share of lost packets, as a ratio.
    pub loss: Option<f64>,
    /// The share was printed as a whole percentage.
    pub whole_percent: bool,
    /// In words that nothing but ping uses.
    pub certain: bool,
    /// Wall time in seconds.
    pub duration: Option<f64>,
    /// Figures of ping -j, which has all in one object.
    pub spread: Option<Spread>,
}

/// Figures of the round trips as printed, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The shortest.
    pub min: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// The deviation: of the population.
    pub sd: Option<f64>,
    /// It is called mdev: iputils' integer arithmetic.
    pub is_mdev: bool,
    /// Time from one request to the next and moving average, with -A and -f.
    pub pace: Option<(f64, f64)>,
    /// Decimals stand behind a comma.
    pub comma: bool,
}

/// A decimal number as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// All its digits, without the point.
    digits: f64,
    decimals: usize,
    /// Decimals stand behind a comma.
    pub comma: bool,
}

impl Number {
    /// The number at the start of `text`, and the rest.
    pub fn read(text: &str) -> Option<(Number, &str)> {
        let text = text.trim_start();
        let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let whole = count(text);
        let (integer, rest) = text.split_at_checked(whole).filter(|_| whole > 0)?;
        let mut number = Number { digits: integer.parse().ok()?, decimals: 0, comma: false };
        let point = rest.strip_prefix('.');
        let comma = rest.strip_prefix(',').filter(|rest| (1..=4).contains(&count(rest)));
        let Some(behind) = point.or(comma) else { return number.finite(rest) };
        let (fraction, rest) = behind.split_at_checked(count(behind))?;
        if !fraction.is_empty() {
            number.decimals = fraction.len();
            number.digits = number.digits * power_of_ten(number.decimals) + fraction.parse::<f64>().ok()?;
        }
        number.comma = comma.is_some();
        number.finite(rest)
    }

    fn finite(self, rest: &str) -> Option<(Number, &str)> {
        (self.digits.is_finite() && self.decimals < 200).then_some((self, rest))
    }

    /// The number in units of `10^-power`: the nearest to what was printed, by one division of two whole numbers.
    pub fn scaled(self, power: usize) -> f64 {
        self.digits / power_of_ten(self.decimals + power)
    }

    /// The worth of the last digit printed, in units of `10^-power`.
    pub fn digit(self, power: usize) -> f64 {
        1.0 / power_of_ten(self.decimals + power)
    }

    /// The number, if it is a whole one that a counter may have.
    pub fn count(self) -> Option<u64> {
        (self.decimals == 0 && self.digits < 1e15).then_some(self.digits as u64)
    }
}

/// A power of ten, exact up to 22.
pub fn power_of_ten(power: usize) -> f64 {
    10_f64.powi(power.min(300) as i32)
}

/// The unit of a time at the start of `text`, as a power of ten, and the rest.
pub fn unit(text: &str) -> Option<(usize, &str)> {
    const UNITS: &[(&str, usize)] = &[
        ("msec", 3),
        ("ms", 3),
        ("мсек", 3),
        ("мс", 3),
        ("ミリ秒", 3),
        ("毫秒", 3),
        ("밀리초", 3),
        ("მწმ", 3),
        ("mts", 3),
        ("usec", 6),
        ("us", 6),
    ];
    let text = text.trim_start();
    let (power, rest) = UNITS.iter().find_map(|(unit, power)| Some((*power, text.strip_prefix(unit)?)))?;
    (!rest.starts_with(char::is_alphanumeric) || rest.starts_with("TTL")).then_some((power, rest))
}

/// All whole numbers in `text`.
pub fn integers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// A number after `=` or `<`.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The word before the sign.
    pub name: &'a str,
    /// `<`: the value is a bound.
    pub below: bool,
    /// The number.
    pub number: Number,
    /// The text behind it.
    pub rest: &'a str,
}

/// All numbers after `=` or `<`.
pub fn pairs(text: &str) -> impl Iterator<Item = Pair<'_>> {
    text.match_indices(['=', '<']).filter_map(|(at, sign)| {
        let (before, behind) = text.split_at_checked(at)?;
        let (number, rest) = Number::read(behind.strip_prefix(sign)?)?;
        let name = before.trim_end().rsplit(|c: char| c.is_whitespace() || ",;:、，".contains(c)).next()?;
        Some(Pair { name, below: sign == "<", number, rest })
    })
}

/// `rtt min/avg/max/mdev = 0.043/0.096/0.122/0.031 ms, pipe 2, ipg/ewma 0.035/0.008 ms`
pub fn unix_spread(text: &str, whole: bool) -> Option<Spread> {
    let (names, figures) = text.split_once('=')?;
    if names.matches('/').count() < 2 || names.contains('%') || names.contains('=') {
        return None;
    }
    let mut spread = Spread { is_mdev: names.contains("mdev"), ..Spread::default() };
    let mut rest = figures;
    let mut read = Vec::new();
    // Whether the last figure is followed by anything.
    let mut ended = false;
    while let Some((number, behind)) = Number::read(rest).filter(|_| read.len() < 4) {
        spread.comma |= number.comma;
        read.push(number);
        let next = behind.strip_prefix('/');
        ended = next.is_some();
        rest = next.unwrap_or(behind);
        if !ended {
            break;
        }
    }
    let (power, behind) = match unit(rest) {
        Some(found) => found,
        None if names.contains("(ms)") || (whole && rest.trim().is_empty()) => (3, rest),
        None if !whole && rest.trim().len() < 2 => {
            // The last figure may be the beginning of a longer one.
            if !ended {
                read.pop();
            }
            (3, rest)
        }
        None => return None,
    };
    let mut read = read.into_iter().map(|number| number.scaled(power));
    spread.min = Some(read.next()?);
    spread.mean = Some(read.next()?);
    spread.max = read.next();
    spread.sd = read.next();
    spread.pace = pace(behind);
    Some(spread)
}

/// `ipg/ewma 0.035/0.008 ms` somewhere in `text`.
fn pace(text: &str) -> Option<(f64, f64)> {
    let (_, rest) = text.split_once("ipg/")?;
    let rest = rest.get(rest.find(|c: char| c.is_ascii_digit())?..)?;
    let (apart, rest) = Number::read(rest)?;
    let (average, rest) = Number::read(rest.strip_prefix('/')?)?;
    let (power, _) = unit(rest)?;
    Some((apart.scaled(power), average.scaled(power)))
}

/// `Minimum = 9ms, Maximum = 9ms, Average = 9ms`
pub fn windows_spread(text: &str) -> Option<Spread> {
    let all = pairs(text).map(|pair| Some(pair.number.scaled(unit(pair.rest)?.0)));
    let figures: Vec<f64> = all.collect::<Option<_>>()?;
    let [min, max, mean] = figures[..] else { return None };
    Some(Spread { min: Some(min), mean: Some(mean), max: Some(max), ..Spread::default() })
}

/// `5 packets transmitted, 4 received, +1 errors, 20% packet loss, time 4088ms`
pub fn unix_counts(text: &str) -> Option<Counts> {
    let text = text.replace(",+", ", +");
    let mut parts = text.split(", ").flat_map(|part| part.split(['，', '、']));
    let mut lone = || {
        let part = parts.next().filter(|part| !part.contains(['%', '=', '/', '[']))?;
        let mut numbers = integers(part);
        numbers.next().filter(|_| numbers.next().is_none())
    };
    let certain = text.contains("packets transmitted");
    let mut counts = Counts { sent: lone()?, received: lone()?, certain, ..Counts::default() };
    let mut complete = text.contains("somebody");
    for part in parts {
        let number = integers(part).next();
        if part.contains('%') {
            counts.loss = share(part);
            counts.whole_percent = !part.contains(['.', ',']);
            complete = true;
        } else if is_about(part, DUPLICATES) {
            counts.duplicates = number?;
        } else if is_about(part, CORRUPTED) {
            counts.corrupted = number?;
        } else if is_about(part, ERRORS) || (part.trim_start().starts_with('+') && !complete) {
            counts.errors = number?;
        } else if complete {
            let from = part.find(|c: char| c.is_ascii_digit());
            let time = from.and_then(|from| Number::read(part.get(from..)?));
            let time = time.and_then(|(number, rest)| Some(number.scaled(unit(rest)?.0)));
            counts.duration = counts.duration.or(time);
        }
    }
    complete.then_some(counts)
}

/// Beginnings of words for further answers, in the languages of iputils.
const DUPLICATES: &[&str] = &["dup", "重", "중복", "yinelenen", "дублі", "kaksois", "doubl", "ასლი"];
/// Likewise for answers with a wrong checksum.
const CORRUPTED: &[&str] =
    &["corr", "korup", "beschädigt", "破", "损", "損", "poškoz", "손상", "bozuk", "пошк", "vioittu", "გაფუჭ"];
/// Likewise for errors.
const ERRORS: &[&str] =
    &["err", "fehler", "エラー", "错误", "錯誤", "chyb", "오류", "hata", "помил", "virhe", "შეცდ"];

fn is_about(part: &str, stems: &[&str]) -> bool {
    let part = part.to_lowercase();
    stems.iter().any(|stem| part.contains(stem))
}

/// `Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),`
pub fn windows_counts(text: &str) -> Option<Counts> {
    windows_counts_of(&integers_after_signs(text)?, text)
}

/// The counts from three numbers; `text` has the share of lost packets.
pub fn windows_counts_of(figures: &[u64], text: &str) -> Option<Counts> {
    let [sent, received, lost] = figures[..] else { return None };
    (received.checked_add(lost) == Some(sent)).then_some(())?;
    let loss = share(text);
    Some(Counts {
        sent,
        received,
        lost: Some(lost),
        loss,
        whole_percent: true,
        certain: true,
        ..Counts::default()
    })
}

/// One or two of the three counts, where the line is broken between them.
pub fn windows_part(text: &str) -> Option<Vec<u64>> {
    integers_after_signs(text).filter(|figures| (1..=2).contains(&figures.len()))
}

fn integers_after_signs(text: &str) -> Option<Vec<u64>> {
    let whole = |pair: Pair<'_>| pair.number.count().filter(|_| !pair.below && unit(pair.rest).is_none());
    pairs(text).map(whole).collect()
}

/// `(22% loss),` on a line of its own.
pub fn lone_share(text: &str) -> Option<f64> {
    let inside = text.strip_prefix('(')?.trim_end_matches([',', '，', '、']).strip_suffix(')')?;
    (!inside.contains(['=', '/'])).then(|| share(inside)).flatten()
}

/// The number beside the first `%`, as a ratio.
fn share(text: &str) -> Option<f64> {
    let (before, behind) = text.split_once('%')?;
    let before = before.trim_end();
    let other = before.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let number = before.get(other.len()..).and_then(|text| Number::read(text.trim_start_matches([',', '.'])));
    // Turkish has the sign in front.
    let (number, _) = number.or_else(|| Number::read(behind))?;
    Some(number.scaled(2))
}
