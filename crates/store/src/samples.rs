//! Samples as bytes: two columns (times and values), each turned to whole numbers where that loses nothing, their
//! bytes sorted by significance, all of it compressed with zstd.
//!
//! Every bit of every number comes back: a column that is not exactly whole numbers of a known fraction is kept as
//! bit patterns. The layout of a piece, before compression:
//! `presence: u8, [bitmap: n bits if some times are missing], [times column if any is known], values column`;
//! a column is `fraction: u8` and then the n lowest bytes, the n second lowest ones, and so on.

use std::cell::RefCell;
use std::io::{BufReader, Read, Write};

use tenbin_core::sample::Sample;

/// All samples in one piece.
const WHOLE: i64 = 1;

/// In pieces of [`PIECE`] samples, each laid out like a whole of its own, compressed together.
const PIECES: i64 = 2;

/// Samples of a piece: what packing and unpacking takes beside the samples stays small.
const PIECE: usize = 1 << 16;

const LEVEL: i32 = 3;

const NONE_TIMED: u8 = 0;
const ALL_TIMED: u8 = 1;
const SOME_TIMED: u8 = 2;

/// How a whole number k in a column becomes the value.
const FRACTIONS: [fn(i64) -> f64; 5] = [
    // 0: k is the bit pattern. Always possible.
    |k| f64::from_bits(k.cast_unsigned()),
    // 1: counts, bytes.
    |k| k as f64,
    // 2 and 3: milliseconds and microseconds as tools print them.
    |k| k as f64 / 1e3,
    |k| k as f64 / 1e6,
    // 4: nanoseconds the way std::time::Duration turns them into seconds.
    |k| (k / 1_000_000_000) as f64 + (k % 1_000_000_000) as f64 / 1e9,
];
const PER_UNIT: [f64; 5] = [0.0, 1.0, 1e3, 1e6, 1e9];

/// Whole numbers up to here are exact as f64.
const EXACT: f64 = 9e15;

/// The samples as a blob, and its encoding.
pub(crate) fn encode(samples: &[Sample]) -> std::io::Result<(i64, Vec<u8>)> {
    let mut raw = Vec::new();
    if samples.len() <= PIECE {
        piece(samples, &mut raw);
        return Ok((WHOLE, compress(&raw)?));
    }
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    for samples in samples.chunks(PIECE) {
        raw.clear();
        piece(samples, &mut raw);
        encoder.write_all(&raw)?;
    }
    Ok((PIECES, encoder.finish()?))
}

fn piece(samples: &[Sample], raw: &mut Vec<u8>) {
    let n = samples.len();
    let timed = samples.iter().filter(|sample| sample.time().is_some()).count();
    raw.reserve(3 + n / 8 + n * if timed == 0 { 8 } else { 16 });
    match timed {
        0 => raw.push(NONE_TIMED),
        _ if timed == n => raw.push(ALL_TIMED),
        _ => {
            raw.push(SOME_TIMED);
            for eight in samples.chunks(8) {
                raw.push(
                    eight.iter().rev().fold(0, |bits, sample| bits << 1 | u8::from(sample.time().is_some())),
                );
            }
        }
    }
    if timed > 0 {
        // A time that is not known stands as the one before it, which costs nothing.
        let mut last = 0.0;
        let times = samples.iter().map(|sample| {
            last = sample.time().unwrap_or(last);
            last
        });
        column(&times.collect::<Vec<_>>(), Step::Differences, raw);
    }
    column(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>(), Step::Plain, raw);
}

/// The `n` samples of a blob. Errors say what is wrong with it.
pub(crate) fn decode(encoding: i64, n: usize, blob: &[u8]) -> Result<Vec<Sample>, String> {
    let most = match encoding {
        WHOLE => n.max(1),
        PIECES => PIECE,
        other => return Err(format!("samples in encoding {other}, known are {WHOLE} and {PIECES}")),
    };
    let decoder = zstd::stream::Decoder::with_buffer(blob);
    let mut raw = BufReader::new(decoder.map_err(|error| format!("cannot decompress: {error}"))?);
    let mut samples = Vec::new();
    // No samples are a piece too.
    while samples.is_empty() || samples.len() < n {
        read_piece(&mut raw, most.min(n - samples.len()), &mut samples)?;
        if n == 0 {
            break;
        }
    }
    match raw.read(&mut [0]) {
        Ok(0) => Ok(samples),
        Ok(_) => Err(format!("more bytes than {n} samples have")),
        Err(error) => Err(format!("cannot decompress: {error}")),
    }
}

fn read_piece(raw: &mut impl Read, n: usize, into: &mut Vec<Sample>) -> Result<(), String> {
    let presence = byte(raw)?;
    let bitmap = match presence {
        NONE_TIMED | ALL_TIMED => Vec::new(),
        SOME_TIMED => take(raw, n.div_ceil(8))?,
        other => return Err(format!("unknown presence of times: {other}")),
    };
    let times = match presence {
        NONE_TIMED => Vec::new(),
        _ => read_column(raw, n, Step::Differences)?,
    };
    let values = read_column(raw, n, Step::Plain)?;
    let at = |i: usize| {
        let known = bitmap.get(i / 8).is_none_or(|bits| bits >> (i % 8) & 1 == 1);
        times.get(i).copied().filter(|_| known)
    };
    into.extend(values.iter().enumerate().map(|(i, value)| Sample::new(at(i), *value)));
    Ok(())
}

/// Compressed with a checksum, so that a flipped bit is noticed.
pub(crate) fn compress(raw: &[u8]) -> std::io::Result<Vec<u8>> {
    // Making a compressor takes longer than compressing the few samples of most series.
    thread_local!(static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) });
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => {
                let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
                compressor.include_checksum(true)?;
                kept.insert(compressor)
            }
        };
        compressor.compress(raw)
    })
}

/// At most `most` bytes out of `blob`, whatever it claims to hold. Memory grows with what really comes.
pub(crate) fn decompress(blob: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut raw = Vec::new();
    zstd::stream::Decoder::with_buffer(blob)
        .and_then(|decoder| decoder.take(most as u64 + 1).read_to_end(&mut raw))
        .map_err(|error| format!("cannot decompress: {error}"))?;
    match raw.len() {
        len if len > most => Err(format!("more than {most} bytes in a blob")),
        _ => Ok(raw),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// Each number as it is.
    Plain,
    /// Each as the difference from the one before: times grow evenly.
    Differences,
}

fn column(values: &[f64], step: Step, raw: &mut Vec<u8>) {
    let whole = |fraction: usize| -> Option<Vec<i64>> {
        let one = |value: &f64| {
            let k = (value * PER_UNIT[fraction]).round();
            // A NaN fails the comparison.
            let fits = k.abs() < EXACT;
            let k = k as i64;
            (fits && FRACTIONS[fraction](k).to_bits() == value.to_bits()).then_some(k)
        };
        values.iter().map(one).collect()
    };
    let found = (1..FRACTIONS.len()).find_map(|fraction| Some((fraction, whole(fraction)?)));
    let (fraction, mut column) =
        found.unwrap_or_else(|| (0, values.iter().map(|value| value.to_bits().cast_signed()).collect()));
    if step == Step::Differences {
        let mut last = 0;
        for k in &mut column {
            (*k, last) = (k.wrapping_sub(last), *k);
        }
    }
    raw.push(fraction as u8);
    for byte in 0..8 {
        raw.extend(column.iter().map(|k| k.to_le_bytes()[byte]));
    }
}

fn read_column(raw: &mut impl Read, n: usize, step: Step) -> Result<Vec<f64>, String> {
    let fraction = byte(raw)?;
    let value = FRACTIONS.get(usize::from(fraction)).ok_or_else(|| format!("unknown fraction {fraction}"))?;
    let bytes = take(raw, 8 * n)?;
    let mut last = 0_i64;
    Ok((0..n)
        .map(|i| {
            let k = i64::from_le_bytes(std::array::from_fn(|byte| bytes[byte * n + i]));
            last = if step == Step::Differences { last.wrapping_add(k) } else { k };
            value(last)
        })
        .collect())
}

fn byte(raw: &mut impl Read) -> Result<u8, String> {
    take(raw, 1).map(|one| one[0])
}

/// The next `n` bytes. Memory grows with what really comes.
fn take(raw: &mut impl Read, n: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    raw.take(n as u64).read_to_end(&mut bytes).map_err(|error| format!("cannot decompress: {error}"))?;
    match bytes.len() == n {
        true => Ok(bytes),
        false => Err("too few bytes for its samples".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(samples: &[Sample]) -> Vec<(Option<u64>, u64)> {
        samples.iter().map(|sample| (sample.time().map(f64::to_bits), sample.value.to_bits())).collect()
    }

    #[track_caller]
    fn check(samples: &[(Option<f64>, f64)]) -> usize {
        let samples: Vec<Sample> = samples.iter().map(|&(at, value)| Sample::new(at, value)).collect();
        let (encoding, blob) = encode(&samples).unwrap();
        let back = decode(encoding, samples.len(), &blob).unwrap();
        assert_eq!(bits(&back), bits(&samples));
        blob.len()
    }

    #[test]
    fn every_bit_comes_back() {
        check(&[]);
        check(&[(None, 1.0)]);
        check(&[(Some(0.0), -0.0), (Some(-0.0), 0.0)]);
        check(&[(None, f64::NAN), (Some(1.0), f64::INFINITY)]);
        check(&[(Some(f64::NEG_INFINITY), f64::from_bits(0x7ff0_0000_0000_0001))]);
        check(&[(None, f64::MAX), (None, f64::MIN_POSITIVE), (None, 5e-324), (None, 9e15), (None, -1e300)]);
        check(&[(Some(3.0), 0.123), (None, 0.000_045), (Some(1.0), 1.0 / 3.0)]);
        check(&[(Some(1e9), 1_700_000_000.123_456_7), (Some(2e9), 0.1 + 0.2)]);
        for n in [7, 8, 9, 17] {
            let mixed = |i: usize| ((!i.is_multiple_of(3)).then_some(i as f64 * 0.1), (i as f64).sqrt());
            check(&(0..n).map(mixed).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_million_round_trips_are_small() {
        // Latencies of about 20 us with noise in nanoseconds, the worst realistic case, from a fixed generator.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut now = 0_u64;
        let seconds = |nanos: u64| std::time::Duration::from_nanos(nanos).as_secs_f64();
        let samples: Vec<_> = (0..1_000_000)
            .map(|_| {
                let rtt = 20_000 + (-2_000.0 * random().max(1e-9).ln()) as u64;
                now += rtt + 300;
                (Some(seconds(now)), seconds(rtt))
            })
            .collect();
        let size = check(&samples);
        assert!(size < 16_000_000 / 4, "{size} bytes for 16 MB");
    }

    #[test]
    fn damage_is_noticed() {
        let samples: Vec<Sample> = (0..100).map(|i| Sample::at(f64::from(i), 0.5)).collect();
        let (encoding, blob) = encode(&samples).unwrap();
        assert_eq!(encoding, WHOLE);
        let fails = |encoding, n, blob: &[u8], why: &str| {
            let error = decode(encoding, n, blob).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        fails(3, 100, &blob, "encoding 3");
        fails(WHOLE, 101, &blob, "");
        fails(WHOLE, 99, &blob, "bytes");
        fails(WHOLE, 0, &blob, "more bytes than 0 samples");
        fails(WHOLE, 100, &blob[..blob.len() - 1], "cannot decompress");
        fails(WHOLE, 100, b"", "cannot decompress");
        fails(WHOLE, 100, &compress(&blob).unwrap(), "");
        fails(WHOLE, 1, &compress(&[0; 9]).unwrap(), "too few bytes");
        fails(WHOLE, 100, b"garbage", "cannot decompress");
        fails(WHOLE, 1, &compress(&[7; 18]).unwrap(), "unknown presence");
        fails(WHOLE, 1, &compress(&[0, 9, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap(), "unknown fraction");
        // A gigabyte of zeros in a few kilobytes is stopped at what the samples need.
        fails(WHOLE, 10, &compress(&vec![0; 1 << 24]).unwrap(), "more bytes than 10 samples");
        for i in 0..blob.len() {
            let mut flipped = blob.clone();
            flipped[i] ^= 0x10;
            let _ = decode(WHOLE, 100, &flipped).map(|back| assert_eq!(bits(&back), bits(&samples)));
        }
    }
}
