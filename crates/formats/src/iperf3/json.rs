//! iperf3 3.12's `--json` document of a TCP test.

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
    put(if start.mss_asked { "tcp_mss" } else { "tcp_mss_default" }, mss.into());
    put("target_bitrate", start.target_bitrate.into());
    put("sock_bufsize", start.window_bytes.into());
    put("sndbuf_actual", start.send_buffer_bytes.unwrap_or(0).into());
    put("rcvbuf_actual", start.receive_buffer_bytes.unwrap_or(0).into());
    put(
        "test_start",
        json!({
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
        }),
    );
    Value::Object(map)
}

/// Whether the side that tells sends: iperf3's flag `sender`.
fn sends(start: &Start, row: &Row) -> bool {
    (row.direction == Direction::Forward) == (start.role == Role::Client)
}

fn figures(row: &Row, place: &[(&str, Value)]) -> Map<String, Value> {
    let mut map = Map::new();
    if let Some(stream) = row.stream {
        map.insert("socket".into(), stream.into());
    }
    map.insert("start".into(), number(row.start));
    map.insert("end".into(), number(row.end));
    map.insert("seconds".into(), number(row.end - row.start));
    map.insert("bytes".into(), number(row.bytes.unwrap_or(0.0)));
    map.insert("bits_per_second".into(), number(row.bits_per_second.unwrap_or(0.0)));
    for (key, value) in place {
        map.insert((*key).to_owned(), value.clone());
    }
    map
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

/// An interval report.
pub fn interval(start: &Start, interval: &Interval) -> Value {
    let row = |row: &Row| {
        let mut more = kernel(row, ["snd_cwnd", "snd_wnd", "rtt"]);
        more.push(("omitted", row.omitted.into()));
        more.push(("sender", sends(start, row).into()));
        Value::Object(figures(row, &more))
    };
    let streams: Vec<Value> = interval.streams.iter().map(row).collect();
    json!({ "streams": streams, "sum": interval.sums.first().map(row) })
}

fn end(start: &Start, end: &End) -> Value {
    // The side that a server knows nothing of is all zeroes, as in iperf3.
    let of = |rows: &[Row], stream: Option<i64>, side: Side| {
        let found = rows.iter().find(|row| row.stream == stream && row.side == side).copied();
        let other = rows.iter().find(|row| row.stream == stream).copied().unwrap_or_default();
        let zero = Row { stream, side, direction: other.direction, end: other.end, ..Row::default() };
        let row = found.unwrap_or(zero);
        let mut more = kernel(&row, ["max_snd_cwnd", "max_snd_wnd", "mean_rtt"]);
        more.push(("sender", sends(start, &row).into()));
        Value::Object(figures(&row, &more))
    };
    let mut ids: Vec<Option<i64>> = end.streams.iter().map(|row| row.stream).collect();
    ids.dedup();
    let streams: Vec<Value> = ids
        .into_iter()
        .map(|id| json!({ "sender": of(&end.streams, id, Side::Sender), "receiver": of(&end.streams, id, Side::Receiver) }))
        .collect();
    let mut map = Map::new();
    map.insert("streams".into(), streams.into());
    map.insert("sum_sent".into(), of(&end.sums, None, Side::Sender));
    map.insert("sum_received".into(), of(&end.sums, None, Side::Receiver));
    let percent = |share: f64| share * 100.0;
    let (local, remote) = (end.cpu_local.unwrap_or_default(), end.cpu_remote.unwrap_or_default());
    let cpu = |cpu: Cpu| [percent(cpu.total), percent(cpu.user), percent(cpu.system)];
    let ([host_total, host_user, host_system], [remote_total, remote_user, remote_system]) =
        (cpu(local), cpu(remote));
    map.insert(
        "cpu_utilization_percent".into(),
        json!({
            "host_total": host_total,
            "host_user": host_user,
            "host_system": host_system,
            "remote_total": remote_total,
            "remote_user": remote_user,
            "remote_system": remote_system,
        }),
    );
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
