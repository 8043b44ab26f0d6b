//! What stands above a table: the test, the device, how it is connected.

/// Names of the banner's settings, and the facts they become.
const SETTINGS: [(&str, &str); 20] = [
    ("Dual-port", "dual_port"),
    ("Device", "device"),
    ("Number of qps", "qps"),
    ("Transport type", "transport"),
    ("Connection type", "connection"),
    ("Using SRQ", "srq"),
    ("PCIe relax order", "relaxed_ordering"),
    ("Lock-free", "lock_free"),
    ("ibv_wr* API", "wr_api"),
    ("Using Enhanced Reorder", "enhanced_reorder"),
    ("TX depth", "tx_depth"),
    ("RX depth", "rx_depth"),
    ("Post List", "post_list"),
    ("CQ Moderation", "cq_moderation"),
    ("Mtu", "mtu"),
    ("Link type", "link_type"),
    ("GID index", "gid_index"),
    ("Max inline data", "max_inline"),
    ("Outstand reads", "outstanding_reads"),
    ("Data ex. method", "exchange"),
];

/// The test as a program's name, and whether both directions are added up: `RDMA_Write Bidirectional BW Test`.
pub fn test(text: &str) -> Option<(String, bool)> {
    let name = text.strip_suffix("Test")?.trim_end();
    let name = name.replace('_', " ");
    let words: Vec<&str> = name.split_whitespace().collect();
    if words.len() > 8 {
        return None;
    }
    let has = |word: &str| words.iter().any(|other| other.eq_ignore_ascii_case(word));
    let verb = match *words.first()? {
        "RDMA" if has("Write") => "write",
        "RDMA" if has("Read") => "read",
        "Send" => "send",
        "Atomic" => "atomic",
        _ => return None,
    };
    let what = if has("BW") { "bw" } else { has("Latency").then_some("lat")? };
    let kind = if has("imm") { "_imm" } else { "" };
    Some((format!("ib_{verb}{kind}_{what}"), has("Bidirectional")))
}

/// The program in a line that starts it or is headed by its name: all that is known of a table without a banner.
pub fn command(text: &str) -> Option<&str> {
    const PROGRAMS: [&str; 8] = [
        "ib_send_bw",
        "ib_send_lat",
        "ib_write_bw",
        "ib_write_lat",
        "ib_read_bw",
        "ib_read_lat",
        "ib_atomic_bw",
        "ib_atomic_lat",
    ];
    let names = text.split_whitespace().filter_map(|word| word.rsplit('/').next());
    names.into_iter().find(|name| PROGRAMS.contains(name))
}

/// Settings in a line, two at most: ` Number of qps   : 1        Transport type : IB`.
pub fn settings(text: &str) -> Vec<(&'static str, String)> {
    let mut starts: Vec<(usize, usize, &'static str)> = SETTINGS
        .iter()
        .filter_map(|(name, fact)| {
            let at = text.find(name)?;
            let behind = text.get(at + name.len()..)?;
            let colon = behind.find(':').filter(|colon| behind[..*colon].trim().is_empty())?;
            Some((at, at + name.len() + colon + 1, *fact))
        })
        .collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(at, ..)| *at).chain([text.len()]);
    let value = |((_, from, fact), to): (&(usize, usize, &'static str), usize)| {
        let value = text.get(*from..to)?.trim();
        (!value.is_empty()).then(|| (*fact, value.to_owned()))
    };
    starts.iter().zip(ends).filter_map(value).collect()
}

/// Whether only perftest writes such a line, results apart.
pub fn is_perftest(text: &str) -> bool {
    let dual = text.starts_with("Dual-port") && text.contains("Device");
    let qps = text.starts_with("Number of qps") && text.contains(':');
    dual || qps || text.contains("Unable to init the socket connection")
}

/// Whether a line tells of a failure.
pub fn is_error(text: &str) -> bool {
    const WORDS: [&str; 9] = [
        "Couldn't ",
        "Unable to ",
        "Failed ",
        "Completion with error",
        "Error: ",
        "IB device ",
        "poll CQ failed",
        "mlx5: ",
        "Test exited with Error",
    ];
    WORDS.iter().any(|words| text.starts_with(words))
}
