//! The lines of `-y C`: `20261201042852,192.0.2.1,38248,192.0.2.2,5001,1,0.0-1.0,384434236,3075473888`, for UDP with
//! jitter, lost, all, percent and late datagrams behind. Version 2.2 names its columns with -e.

use super::row::{Cells, Id, Row, number};

/// A line.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The address and port printed first.
    pub first: (&'a str, u16),
    /// The address and port printed second.
    pub second: (&'a str, u16),
    /// The figures.
    pub row: Row,
    /// Those of a sender of datagrams, who cannot know how many arrived.
    pub unknown_total: bool,
}

/// Whether `line` is one.
pub fn is_iperf2(line: &str) -> bool {
    header(line).is_some() || read(line, None, true).is_some()
}

/// The names of the columns.
pub fn header(line: &str) -> Option<Vec<String>> {
    line.starts_with("time,srcaddress,srcport,dstaddr,dstport,")
        .then(|| line.trim().split(',').map(str::to_owned).collect())
}

/// `20261201042852`, with a zone before and fractions behind in later versions.
fn is_time(text: &str) -> bool {
    let text = text.rsplit(':').next().unwrap_or_default();
    let whole = text.split('.').next().unwrap_or_default();
    whole.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The record in `line`. The last figure of a line that is not whole may lack digits.
pub fn read<'a>(line: &'a str, names: Option<&[String]>, whole: bool) -> Option<Record<'a>> {
    let mut fields: Vec<&str> = line.trim().split(',').map(str::trim).collect();
    if fields.len() < 9 || fields.len() > 40 || !is_time(fields.first()?) {
        return None;
    }
    if !whole && fields.len() > 9 {
        fields.pop();
    }
    let port = |at: usize| fields.get(at)?.parse::<u16>().ok();
    let (first, second) = ((*fields.get(1)?, port(2)?), (*fields.get(3)?, port(4)?));
    let id = match fields.get(5)?.parse::<i64>().ok()? {
        -1 => Id::Sum,
        number => Id::Stream { number, star: false },
    };
    let mut at = 7;
    let (start, end) = match fields.get(6)?.split_once('-') {
        Some(pair) => pair,
        None => {
            at = 8;
            (*fields.get(6)?, *fields.get(7)?)
        }
    };
    let value = |at: usize| number(fields.get(at)?);
    let (start, end, bytes, bits) = (number(start)?, number(end)?, value(at)?, value(at + 1)?);
    if !(start >= 0.0 && end >= start && bytes >= 0.0 && bits >= 0.0) {
        return None;
    }
    if !whole && fields.len() == 9 && (bytes * 8.0 - bits * (end - start)).abs() > bytes * 2.0 {
        return None;
    }
    let decimals = 1;
    let mut row = Row { id, start, end, decimals, bytes, bits, cells: Cells::default() };
    let mut unknown_total = false;
    match names {
        Some(names) => named(&mut row.cells, names, &fields),
        None => {
            let udp = at + 2;
            if let Some((lost, all)) = value(udp + 1).zip(value(udp + 2)) {
                unknown_total = all < 0.0;
                let cells = &mut row.cells;
                cells.jitter = value(udp).filter(|ms| *ms >= 0.0).map(|ms| ms / 1e3);
                cells.lost = Some((lost, all));
                cells.loss = value(udp + 3).map(|percent| percent / 100.0).filter(|loss| *loss >= 0.0);
                cells.reordered = value(udp + 4).filter(|late| *late >= 0.0);
            }
        }
    }
    Some(Record { first, second, row, unknown_total })
}

fn named(cells: &mut Cells, names: &[String], fields: &[&str]) {
    let get = |name: &str| {
        let at = names.iter().position(|known| known == name)?;
        number(fields.get(at)?).filter(|value| *value >= 0.0)
    };
    cells.jitter = get("jitter").map(|ms| ms / 1e3);
    cells.lost = get("errors").zip(get("datagrams"));
    cells.loss = get("errpercent").map(|percent| percent / 100.0);
    cells.reordered = get("outoforder");
    cells.retransmits = get("tcpretry");
    cells.cwnd = get("tcpcwnd").map(|kbytes| kbytes * 1024.0);
    cells.rtt = get("tcprtt").filter(|us| *us > 0.0).map(|us| us / 1e6);
    cells.writes = get("writecnt").is_some();
    cells.reads = get("readcnt").is_some();
    cells.packets = get("pps");
}
