//! iperf3 3.12's `--json` document.

use serde_json::{Map, Value, json};

use super::model::{Cpu, Direction, End, Interval, Role, Row, Side, Start, Test};

/// The document.
pub fn document(test: &Test) -> Value {
    let mut map = Map::new();
    map.insert("start".into(), start(&test.start));
    let several = test.intervals.iter().map(|report| interval(&test.start, report)).collect();
    map.insert("intervals".into(), Value::Array(several));
    map.insert("end".into(), test.end.as_ref().map_or(json!({}), |totals| end(&test.start, totals)));
    if let Some(error) = &test.error {
        map.insert("error".into(), error.as_str().into());
    }
    Value::Object(map)
}

/// A whole number without a point, as iperf3 prints it.
fn number(value: f64) -> Value {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { Value::from(value as i64) } else { Value::from(value) }
}

fn start(start: &Start) -> Value {
    let connected: Vec<Value> = start
        .connected
        .iter()
        .map(|connection| {
            json!({
                "socket": connection.socket,
                "local_host": connection.local_host,
                "local_port": connection.local_port,
                "remote_host": connection.remote_host,
                "remote_port": connection.remote_port,
            })
        })
        .collect();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("connected", connected.into());
    put("version", format!("iperf {}", start.version.as_deref().unwrap_or_default()).into());
    put("system_info", start.system_info.clone().unwrap_or_default().into());
    // A test that never came about has nothing more to tell.
    if start.connected.is_empty() {
        return Value::Object(map);
    }
    if let Some(seconds) = start.time_unix_seconds {
        put("timestamp", json!({ "time": http_date(seconds), "timesecs": seconds }));
    }
    let peer = json!({ "host": start.peer_host, "port": start.peer_port });
    put(if start.role == Role::Client { "connecting_to" } else { "accepted_connection" }, peer);
    put("cookie", start.cookie.clone().unwrap_or_default().into());
    let mss = start.mss_bytes.unwrap_or(0);
    if !is_udp(start) {
        put(if start.mss_asked { "tcp_mss" } else { "tcp_mss_default" }, mss.into());
    }
    put("target_bitrate", start.target_bitrate.into());
    put("sock_bufsize", start.window_bytes.into());
    put("sndbuf_actual", start.send_buffer_bytes.unwrap_or(0).into());
    put("rcvbuf_actual", start.receive_buffer_bytes.unwrap_or(0).into());
    let test = json!({
        "protocol": start.protocol,
        "num_streams": start.streams,
        "blksize": start.block_bytes,
        "omit": start.omit_seconds,
        "duration": number(start.duration_seconds),
        "bytes": start.limit_bytes,
        "blocks": start.limit_blocks,
        "reverse": i32::from(start.reverse),
        "tos": start.tos,
        "target_bitrate": start.target_bitrate,
    });
    put("test_start", test);
    Value::Object(map)
}

/// Whether the side that tells sends: iperf3's flag `sender`.
fn sends(start: &Start, row: &Row) -> bool {
    (row.direction == Direction::Forward) == (start.role == Role::Client)
}

fn figures(row: &Row, more: &[(&str, Value)]) -> Value {
    let mut map = Map::new();
    if let Some(stream) = row.stream {
        map.insert("socket".into(), stream.into());
    }
    map.insert("start".into(), number(row.start));
    map.insert("end".into(), number(row.end));
    map.insert("seconds".into(), number(row.end - row.start));
    map.insert("bytes".into(), number(row.bytes.unwrap_or(0.0)));
    map.insert("bits_per_second".into(), number(row.bits_per_second.unwrap_or(0.0)));
    for (key, value) in more {
        map.insert((*key).to_owned(), value.clone());
    }
    Value::Object(map)
}

/// Figures that are there, in microseconds where they are times.
fn kernel(row: &Row, names: [&'static str; 3]) -> Vec<(&'static str, Value)> {
    let us = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 1e6).round());
    let [cwnd, window, rtt] = names;
    let list = [
        ("retransmits", row.retransmits),
        (cwnd, row.cwnd_bytes),
        (window, row.send_window_bytes),
        ("max_rtt", us(row.rtt_max_seconds)),
        ("min_rtt", us(row.rtt_min_seconds)),
        (rtt, us(row.rtt_seconds)),
        ("rttvar", us(row.rtt_deviation_seconds)),
        ("pmtu", row.path_mtu_bytes),
    ];
    list.into_iter().filter_map(|(key, value)| Some((key, number(value?)))).collect()
}

/// The counters of datagrams that are there.
fn counters(row: &Row) -> Vec<(&'static str, Value)> {
    let list = [
        ("jitter_ms", row.jitter_seconds.map(|seconds| seconds * 1e3)),
        ("lost_packets", row.lost_packets),
        ("packets", row.packets),
        ("lost_percent", row.lost_ratio.map(|ratio| ratio * 100.0)),
        ("out_of_order", row.out_of_order),
    ];
    list.into_iter().filter_map(|(key, value)| Some((key, number(value?)))).collect()
}

/// The names of a direction's sums end so: those of the way back of a bidirectional test.
fn suffix(start: &Start, direction: Direction) -> &'static str {
    if start.bidir && direction == Direction::Reverse { "_bidir_reverse" } else { "" }
}

/// An interval report.
pub fn interval(start: &Start, interval: &Interval) -> Value {
    let row = |row: &Row| {
        let mut more =
            if is_udp(start) { counters(row) } else { kernel(row, ["snd_cwnd", "snd_wnd", "rtt"]) };
        more.push(("omitted", row.omitted.into()));
        more.push(("sender", sends(start, row).into()));
        figures(row, &more)
    };
    let mut map = Map::new();
    map.insert("streams".into(), interval.streams.iter().map(row).collect());
    for sum in &interval.sums {
        map.insert(format!("sum{}", suffix(start, sum.direction)), row(sum));
    }
    Value::Object(map)
}

fn is_udp(start: &Start) -> bool {
    start.protocol == "UDP"
}

/// A row of the totals. The far side that a server knows nothing of is all zeroes, as in iperf3; what else is not known
/// is left out.
fn total(
    start: &Start,
    rows: &[Row],
    stream: Option<i64>,
    side: Side,
    direction: Direction,
) -> Option<Value> {
    let of = |row: &&Row| row.stream == stream && row.direction == direction;
    let other = rows.iter().find(of)?;
    let zero = Row { stream, side, direction, end: other.end, ..Row::default() };
    let known = |row: &&Row| of(row) && row.side == side && row.bits_per_second.is_some();
    let found = rows.iter().find(known).copied();
    let row = found.or((start.role == Role::Server).then_some(zero))?;
    let mut more = match (is_udp(start), side) {
        (false, _) => kernel(&row, ["max_snd_cwnd", "max_snd_wnd", "mean_rtt"]),
        // A sender's own jitter and losses are zeroes that nobody measured.
        (true, Side::Sender) => {
            let (packets, zero) = (row.packets.or(Some(0.0)), Some(0.0));
            counters(&Row {
                packets,
                jitter_seconds: zero,
                lost_packets: zero,
                lost_ratio: zero,
                ..Row::default()
            })
        }
        (true, Side::Receiver) => counters(&row),
    };
    more.retain(|(key, _)| stream.is_some() || *key != "out_of_order");
    // Of TCP the flag means the side that tells, of UDP the row.
    let sender = if is_udp(start) { side == Side::Sender } else { sends(start, &row) };
    more.push(("sender", sender.into()));
    Some(figures(&row, &more))
}

/// The row of a UDP stream: the rate of the side that tells, beside the receiver's counters.
fn mixed(start: &Start, rows: &[Row], stream: Option<i64>, direction: Direction) -> Option<Value> {
    let of = |side: Side| {
        rows.iter().find(|row| row.stream == stream && row.direction == direction && row.side == side)
    };
    let (sender, receiver) = (of(Side::Sender), of(Side::Receiver));
    let rate = if start.role == Role::Client { sender.or(receiver) } else { receiver.or(sender) }?;
    let mut row = *receiver.unwrap_or(rate);
    // A stream ends with the side that tells, all together with the receiver.
    row.end = if stream.is_some() { rate.end } else { row.end };
    (row.bytes, row.bits_per_second) = (rate.bytes, rate.bits_per_second);
    let mut more = counters(&row);
    more.retain(|(key, _)| stream.is_some() || *key != "out_of_order");
    more.push(("sender", sends(start, rate).into()));
    Some(figures(&row, &more))
}

fn end(start: &Start, end: &End) -> Value {
    // The row of a lone UDP stream says nothing that its sums do not, and is not kept.
    let lone = |row: &Row| Row { stream: start.connected.first().map(|one| one.socket), ..*row };
    let streams = match end.streams.is_empty() && is_udp(start) && start.connected.len() == 1 {
        true => end.sums.iter().map(lone).collect(),
        false => end.streams.clone(),
    };
    let mut places: Vec<(Option<i64>, Direction)> =
        streams.iter().map(|row| (row.stream, row.direction)).collect();
    places.sort_by_key(|(stream, _)| *stream);
    places.dedup();
    let stream = |(id, direction): (Option<i64>, Direction)| {
        if is_udp(start) {
            return json!({ "udp": mixed(start, &streams, id, direction) });
        }
        let sides = [Side::Sender, Side::Receiver].into_iter();
        let told = sides
            .filter_map(|side| Some((side.word().to_owned(), total(start, &streams, id, side, direction)?)));
        Value::Object(told.collect())
    };
    let mut map = Map::new();
    map.insert("streams".into(), places.into_iter().map(stream).collect());
    let near = if start.reverse { Direction::Reverse } else { Direction::Forward };
    let ways = if start.bidir { vec![Direction::Forward, Direction::Reverse] } else { vec![near] };
    for way in ways {
        let suffix = suffix(start, way);
        if is_udp(start) {
            map.extend(mixed(start, &end.sums, None, way).map(|sum| (format!("sum{suffix}"), sum)));
        }
        for (name, side) in [("sum_sent", Side::Sender), ("sum_received", Side::Receiver)] {
            let row = total(start, &end.sums, None, side, way);
            map.extend(row.map(|row| (format!("{name}{suffix}"), row)));
        }
    }
    let mut shares = Map::new();
    for (host, cpu) in [("host", end.cpu_local), ("remote", end.cpu_remote)] {
        let Some(Cpu { total, user, system }) = cpu else { continue };
        for (part, share) in [("total", Some(total)), ("user", user), ("system", system)] {
            shares.extend(share.map(|share| (format!("{host}_{part}"), Value::from(share * 100.0))));
        }
    }
    map.insert("cpu_utilization_percent".into(), Value::Object(shares));
    for (key, name) in [
        ("sender_tcp_congestion", &end.sender_congestion),
        ("receiver_tcp_congestion", &end.receiver_congestion),
    ] {
        if let Some(name) = name {
            map.insert(key.into(), name.as_str().into());
        }
    }
    Value::Object(map)
}

/// `Tue, 01 Dec 2026 01:56:00 GMT`
pub fn http_date(unix_seconds: i64) -> String {
    let days = unix_seconds.div_euclid(86400);
    let (hour, minute, second) = {
        let of_day = unix_seconds.rem_euclid(86400);
        (of_day / 3600, of_day / 60 % 60, of_day % 60)
    };
    // Years of 365.2425 days from 1 March 0000, as in the proleptic Gregorian calendar.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let name = |list: &[&'static str], at: i64| list.get(at as usize).copied().unwrap_or_default();
    format!(
        "{}, {day:02} {} {year} {hour:02}:{minute:02}:{second:02} GMT",
        name(&weekdays, days.rem_euclid(7)),
        name(&months, month)
    )
}
