//! What a log says of a connection.

use tenbin_core::unit::Unit;

use super::row;
use crate::sheet::Sheet;

/// `TCP window size: 85.3 KByte`: the bytes.
pub fn window_bytes(rest: &str) -> Option<i64> {
    let mut words = rest.split_whitespace();
    let bytes = row::number(words.next()?)? * row::size(words.next()?)?;
    Some(bytes.round() as i64)
}

/// Facts of a connection.
pub fn of(sheet: &mut Sheet, local: &str, remote: &str, window: Option<i64>, mss: Option<i64>) {
    if sheet.run.facts.contains_key("tcp.local") {
        return;
    }
    sheet.fact("tcp.local", local.to_owned());
    sheet.fact("tcp.remote", remote.to_owned());
    if let Some(window) = window {
        sheet.fact_in("tcp.window", window, Unit::Byte);
    }
    if let Some(mss) = mss {
        sheet.fact_in("tcp.mss", mss, Unit::Byte);
    }
}
