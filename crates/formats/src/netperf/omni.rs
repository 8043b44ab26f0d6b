//! Outputs chosen by name: `KEY=value` lines, comma separated lines and columns of the omni tests.

use super::result::{Field, Unit};

/// What an output is, by its key and by the name it has in headings.
const FIELDS: [(&str, &str, Field); 27] = [
    ("THROUGHPUT", "Throughput", Field::Rate),
    ("THROUGHPUT_UNITS", "Throughput Units", Field::RateUnit),
    ("ELAPSED_TIME", "Elapsed Time (sec)", Field::Elapsed),
    ("TRANSACTION_RATE", "Transaction Rate Tran/s", Field::Transactions),
    ("RT_LATENCY", "Round Trip Latency usec/tran", Field::RoundTrip),
    ("MIN_LATENCY", "Minimum Latency Microseconds", Field::Latency("min")),
    ("MAX_LATENCY", "Maximum Latency Microseconds", Field::Latency("max")),
    ("MEAN_LATENCY", "Mean Latency Microseconds", Field::Latency("mean")),
    ("P50_LATENCY", "50th Percentile Latency Microseconds", Field::Latency("median")),
    ("P90_LATENCY", "90th Percentile Latency Microseconds", Field::Latency("p90")),
    ("P99_LATENCY", "99th Percentile Latency Microseconds", Field::Latency("p99")),
    ("STDDEV_LATENCY", "Stddev Latency Microseconds", Field::Latency("sd")),
    ("LOCAL_SEND_THROUGHPUT", "Local Send Throughput", Field::LocalSent),
    ("LOCAL_RECV_THROUGHPUT", "Local Recv Throughput", Field::LocalReceived),
    ("REMOTE_SEND_THROUGHPUT", "Remote Send Throughput", Field::RemoteSent),
    ("REMOTE_RECV_THROUGHPUT", "Remote Recv Throughput", Field::RemoteReceived),
    ("LOCAL_CPU_UTIL", "Local CPU Util %", Field::LocalCpu),
    ("REMOTE_CPU_UTIL", "Remote CPU Util %", Field::RemoteCpu),
    ("LOCAL_TRANSPORT_RETRANS", "Local Transport Retransmissions", Field::LocalRetransmits),
    ("REMOTE_TRANSPORT_RETRANS", "Remote Transport Retransmissions", Field::RemoteRetransmits),
    ("LOCAL_SEND_CALLS", "Local Send Calls", Field::LocalSendCalls),
    ("REMOTE_RECV_CALLS", "Remote Recv Calls", Field::RemoteReceiveCalls),
    ("PROTOCOL", "Protocol", Field::Protocol),
    ("DIRECTION", "Direction", Field::Direction),
    ("LOCAL_SEND_SIZE", "Local Send Size", Field::MessageBytes),
    ("REQUEST_SIZE", "Request Size Bytes", Field::RequestBytes),
    ("THROUGHPUT_CONFID", "Throughput Confidence Width (%)", Field::Confidence),
];

/// Names that nothing is read from, by which a heading is known all the same.
const OTHERS: [&str; 6] = [
    "Local Send Socket Size Final",
    "Remote Recv Socket Size Final",
    "Confidence Iterations Run",
    "Local Service Demand",
    "Remote Service Demand",
    "Socket Type",
];

/// The output of a `KEY=value` line, if it is netperf's.
pub fn key_value(line: &str) -> Option<(Option<Field>, &str)> {
    let (key, value) = line.trim().split_once('=')?;
    let known = FIELDS.iter().find(|(name, ..)| *name == key).map(|(.., field)| *field);
    let other = || {
        let prefixed =
            ["LOCAL_", "REMOTE_", "LSS_", "LSR_", "RSS_", "RSR_", "SOURCE_", "DEST_", "CONFIDENCE_"];
        let plain = [
            "SOCKET_TYPE",
            "RESPONSE_SIZE",
            "SD_UNITS",
            "BURST_SIZE",
            "TRANSPORT_MSS",
            "COMMAND_LINE",
            "UUID",
        ];
        let upper =
            key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        upper && (prefixed.iter().any(|prefix| key.starts_with(prefix)) || plain.contains(&key))
    };
    (known.is_some() || other()).then_some((known, value.trim()))
}

/// Name and value of a line in which -D tells of an interval while a test of -k runs: `NETPERF_INTERVAL[0]=0.200`.
pub fn interim_key(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().strip_prefix("NETPERF_")?.split_once('[')?;
    let (number, value) = rest.split_once("]=")?;
    let known = matches!(name, "INTERIM_RESULT" | "UNITS" | "INTERVAL" | "ENDING");
    (known && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((name, value.trim()))
}

/// The field of that name.
pub fn field(name: &str) -> Option<Field> {
    FIELDS.iter().find(|(_, known, _)| *known == name).map(|(.., field)| *field)
}

/// The names of a comma separated heading, even of one that was wrapped and is not whole yet.
pub fn names(line: &str) -> Option<Vec<String>> {
    let names: Vec<String> = line.split(',').map(|name| name.trim().to_owned()).collect();
    let known = |name: &String| field(name).is_some() || OTHERS.contains(&name.as_str());
    (names.len() > 1 && names.iter().filter(|name| known(name)).count() > 1).then_some(names)
}

/// The columns of a heading of several lines above `values`: a column begins where no line goes on.
pub fn columns(heading: &[String], values: &str) -> Vec<(String, String)> {
    let lines: Vec<&[u8]> = heading.iter().map(String::as_bytes).chain([values.as_bytes()]).collect();
    let blank = |line: &[u8], at: usize| line.get(at).is_none_or(|byte| *byte == b' ');
    let width = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    let mut starts: Vec<usize> = Vec::new();
    for at in 0..width {
        let fresh = at == 0 || lines.iter().all(|line| blank(line, at - 1));
        if fresh && !blank(values.as_bytes(), at) {
            starts.push(at);
        }
    }
    let cell = |line: &str, from: usize, to: usize| {
        line.get(from..to.min(line.len())).unwrap_or_default().trim().to_owned()
    };
    let ends = starts.iter().skip(1).copied().chain([width]);
    let mut found = Vec::new();
    for (from, to) in starts.iter().copied().zip(ends) {
        let words: Vec<String> =
            heading.iter().map(|line| cell(line, from, to)).filter(|w| !w.is_empty()).collect();
        found.push((words.join(" "), cell(values, from, to)));
    }
    found
}

/// The unit of a rate: `10^6bits/s`, `MBytes/sec`, `Trans/s`.
pub fn unit(text: &str) -> Option<Unit> {
    let text = text.trim();
    let (unit, per) = text.split_once('/')?;
    if !matches!(per.trim(), "s" | "sec" | "second") {
        return None;
    }
    Some(match unit.trim() {
        "Trans" => Unit::Transactions,
        "Bytes" => Unit::Bits(8.0),
        "KBytes" => Unit::Bits(8.0 * 1024.0),
        "MBytes" => Unit::Bits(8.0 * 1024.0 * 1024.0),
        "GBytes" => Unit::Bits(8.0 * 1024.0 * 1024.0 * 1024.0),
        "10^0bits" => Unit::Bits(1.0),
        "10^3bits" => Unit::Bits(1e3),
        "10^6bits" => Unit::Bits(1e6),
        "10^9bits" => Unit::Bits(1e9),
        _ => return None,
    })
}
