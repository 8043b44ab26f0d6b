//! What goes over the control connection, as bytes and back. Pure: no socket, no clock.
//!
//! Whatever the peer sends is read with suspicion: sizes are bounded, numbers are checked, and unknown keys or types
//! are errors that can be shown, never a panic.

use serde_json::{Map, Value, json};

/// Bytes of a cookie on the wire: 36 characters and a NUL.
pub const COOKIE_BYTES: usize = 37;
/// The longest parameter document a server reads, as in the reference from 3.18 on.
pub const PARAMETERS_LIMIT: usize = 8 * 1024;
/// The longest results document that is read: it may carry the whole output of the other side.
pub const RESULTS_LIMIT: usize = 16 * 1024 * 1024;
/// The most streams a test may have.
pub const STREAMS_LIMIT: u64 = 128;
/// The largest block of a TCP test in bytes.
pub const BLOCK_LIMIT: u64 = 1024 * 1024;
/// The largest socket buffer that may be asked for, in bytes.
pub const WINDOW_LIMIT: u64 = 512 * 1024 * 1024;
/// The largest segment that may be asked for, in bytes.
pub const MSS_LIMIT: u64 = 32767;
/// The longest test in seconds.
pub const TIME_LIMIT: u64 = 86400;
/// The longest warm-up in seconds.
pub const OMIT_LIMIT: u64 = 600;

/// What names a test: sent first on every connection that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie(pub [u8; COOKIE_BYTES]);

const COOKIE_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Cookie {
    /// A cookie out of random bytes.
    pub fn from_random(random: [u8; COOKIE_BYTES - 1]) -> Cookie {
        let mut bytes = [0; COOKIE_BYTES];
        for (to, from) in bytes.iter_mut().zip(random) {
            *to = COOKIE_ALPHABET[usize::from(from % 32)];
        }
        Cookie(bytes)
    }

    /// The cookie that stands for `text`: itself where it has the protocol's form, else its bytes in base32, cut or
    /// filled up. Both sides of a test get the same.
    pub fn from_text(text: &str) -> Cookie {
        let mut bytes = [0; COOKIE_BYTES];
        let fits = text.len() == COOKIE_BYTES - 1 && text.bytes().all(|b| COOKIE_ALPHABET.contains(&b));
        if fits {
            bytes[..COOKIE_BYTES - 1].copy_from_slice(text.as_bytes());
            return Cookie(bytes);
        }
        let source = text.as_bytes();
        let bit = |at: usize| source.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
        for (n, to) in bytes[..COOKIE_BYTES - 1].iter_mut().enumerate() {
            let five = (0..5).fold(0, |value, k| value << 1 | bit(n * 5 + k));
            *to = COOKIE_ALPHABET[usize::from(five)];
        }
        Cookie(bytes)
    }

    /// Its characters, for people.
    pub fn text(&self) -> String {
        self.0
            .iter()
            .take(COOKIE_BYTES - 1)
            .map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '?' })
            .collect()
    }
}

/// A byte of the control connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Streams are complete.
    TestStart,
    /// Move data.
    TestRunning,
    /// The client says that the test is over.
    TestEnd,
    /// Send the parameters.
    ParamExchange,
    /// Open the data streams.
    CreateStreams,
    /// The server was killed.
    ServerTerminate,
    /// The client was interrupted.
    ClientTerminate,
    /// Send the results, then read the server's.
    ExchangeResults,
    /// The exchange is over.
    DisplayResults,
    /// The client's good-bye.
    IperfDone,
    /// Busy, or a foreign cookie.
    AccessDenied,
    /// Two numbers follow: iperf3's and the system's error.
    ServerError,
}

impl State {
    const ALL: [(State, u8); 12] = [
        (State::TestStart, 1),
        (State::TestRunning, 2),
        (State::TestEnd, 4),
        (State::ParamExchange, 9),
        (State::CreateStreams, 10),
        (State::ServerTerminate, 11),
        (State::ClientTerminate, 12),
        (State::ExchangeResults, 13),
        (State::DisplayResults, 14),
        (State::IperfDone, 16),
        (State::AccessDenied, 0xff),
        (State::ServerError, 0xfe),
    ];

    /// The byte on the wire.
    pub fn byte(self) -> u8 {
        State::ALL.iter().find(|(state, _)| *state == self).map_or(0, |(_, byte)| *byte)
    }

    /// The state of a byte; `None` of reserved and unknown ones.
    pub fn of(byte: u8) -> Option<State> {
        State::ALL.iter().find(|(_, known)| *known == byte).map(|(state, _)| *state)
    }
}

/// The number of the `index`-th stream, from 0: 1, 3, 4, 5 ... An off-by-one of the reference that pairs the results of
/// both sides, so it stays.
pub fn stream_id(index: usize) -> i64 {
    if index == 0 { 1 } else { index as i64 + 2 }
}

/// `body` with its length in front. Documents of this program are far below 4 GiB.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), body].concat()
}

/// The length of a document whose 4-byte head came in, if it is allowed to be that long.
pub fn framed_length(head: [u8; 4], limit: usize) -> Result<usize, String> {
    match u32::from_be_bytes(head) as usize {
        0 => Err("sent an empty document".to_owned()),
        length if length > limit => Err(format!("sent a document of {length} bytes, more than {limit}")),
        length => Ok(length),
    }
}

/// What the client asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Seconds of warm-up.
    pub omit: u64,
    /// Seconds without the warm-up; 0 = until bytes or blocks are reached.
    pub time: u64,
    /// Limit in bytes; 0 = none.
    pub bytes: u64,
    /// Limit in blocks; 0 = none.
    pub blocks: u64,
    /// Streams.
    pub parallel: u64,
    /// Bytes of a write.
    pub length: u64,
    /// The server sends.
    pub reverse: bool,
    /// Nagle's algorithm off.
    pub nodelay: bool,
    /// Socket buffers in bytes.
    pub window: Option<u64>,
    /// Maximum segment size in bytes.
    pub mss: Option<u64>,
    /// bit/s of each stream.
    pub bitrate: Option<u64>,
    /// Congestion control.
    pub congestion: Option<String>,
    /// Type of service byte.
    pub tos: Option<u64>,
    /// The CPU the server shall run on.
    pub server_affinity: Option<u64>,
}

/// Why a server does not run what was asked for, with the reference's number for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// The reference's error number, which its client turns into words.
    pub code: i32,
    /// What is wrong, for this side.
    pub why: String,
}

/// Numbers of the reference for what a server may refuse.
mod code {
    pub const DURATION: i32 = 5;
    pub const STREAMS: i32 = 6;
    pub const BLOCK_SIZE: i32 = 7;
    pub const BUFFER_SIZE: i32 = 8;
    pub const MSS: i32 = 10;
    pub const OMIT: i32 = 12;
    pub const UNIMPLEMENTED: i32 = 13;
    pub const END_CONDITIONS: i32 = 16;
    pub const RECEIVE_PARAMETERS: i32 = 113;
}

impl Parameters {
    /// The document a client sends.
    pub fn to_json(&self) -> Vec<u8> {
        let mut map = Map::new();
        map.insert("tcp".into(), true.into());
        map.insert("omit".into(), self.omit.into());
        if let Some(cpu) = self.server_affinity {
            map.insert("server_affinity".into(), cpu.into());
        }
        map.insert("time".into(), self.time.into());
        map.insert("num".into(), self.bytes.into());
        map.insert("blockcount".into(), self.blocks.into());
        let mut some = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        some("MSS", self.mss.map(Value::from));
        some("nodelay", self.nodelay.then(|| true.into()));
        some("parallel", Some(self.parallel.into()));
        some("reverse", self.reverse.then(|| true.into()));
        some("window", self.window.map(Value::from));
        some("len", Some(self.length.into()));
        some("bandwidth", self.bitrate.map(Value::from));
        some("pacing_timer", Some(1000.into()));
        some("TOS", self.tos.map(Value::from));
        some("congestion", self.congestion.clone().map(Value::from));
        // Informational; servers are known to key on nothing in it. The version whose habits this program follows.
        some("client_version", Some("3.12".into()));
        Value::Object(map).to_string().into_bytes()
    }

    /// Reads and checks the document of a client.
    pub fn from_json(body: &[u8]) -> Result<Parameters, BadParameter> {
        let bad = |code, why: String| BadParameter { code, why };
        let value: Value = serde_json::from_slice(body)
            .map_err(|e| bad(code::RECEIVE_PARAMETERS, format!("its parameters are not JSON: {e}")))?;
        let Value::Object(map) = value else {
            return Err(bad(code::RECEIVE_PARAMETERS, "its parameters are not a JSON object".into()));
        };
        // Keys of a wrong type count as absent, as in the reference.
        let whole = |key: &str| map.get(key).and_then(whole_number);
        let yes = |key: &str| map.get(key) == Some(&Value::Bool(true));
        let within = |key: &str, least: u64, most: u64, code: i32| match whole(key) {
            None => Ok(None),
            Some(n) => match u64::try_from(n) {
                Ok(n) if (least..=most).contains(&n) => Ok(Some(n)),
                _ => Err(bad(code, format!("{key} is {n}, not within {least} to {most}"))),
            },
        };
        if yes("udp") {
            return Err(bad(code::UNIMPLEMENTED, "UDP tests are not available yet".into()));
        }
        if yes("sctp") || yes("mptcp") {
            return Err(bad(code::UNIMPLEMENTED, "only TCP tests are available".into()));
        }
        if yes("bidirectional") {
            return Err(bad(code::UNIMPLEMENTED, "bidirectional tests are not available yet".into()));
        }
        if !yes("tcp") {
            return Err(bad(code::RECEIVE_PARAMETERS, "its parameters name no transport".into()));
        }
        let most = i64::MAX as u64;
        let read = Parameters {
            omit: within("omit", 0, OMIT_LIMIT, code::OMIT)?.unwrap_or(0),
            time: within("time", 0, TIME_LIMIT, code::DURATION)?.unwrap_or(0),
            bytes: within("num", 0, most, code::END_CONDITIONS)?.unwrap_or(0),
            blocks: within("blockcount", 0, most, code::END_CONDITIONS)?.unwrap_or(0),
            parallel: within("parallel", 1, STREAMS_LIMIT, code::STREAMS)?.unwrap_or(1),
            length: within("len", 1, BLOCK_LIMIT, code::BLOCK_SIZE)?.unwrap_or(128 * 1024),
            reverse: yes("reverse"),
            nodelay: yes("nodelay"),
            window: within("window", 0, WINDOW_LIMIT, code::BUFFER_SIZE)?.filter(|&n| n > 0),
            mss: within("MSS", 0, MSS_LIMIT, code::MSS)?.filter(|&n| n > 0),
            bitrate: within("bandwidth", 0, most, code::UNIMPLEMENTED)?.filter(|&n| n > 0),
            congestion: map.get("congestion").and_then(Value::as_str).map(str::to_owned),
            tos: within("TOS", 0, 255, code::UNIMPLEMENTED)?.filter(|&n| n > 0),
            server_affinity: within("server_affinity", 0, 1024, code::UNIMPLEMENTED)?,
        };
        Ok(read)
    }
}

/// What one side measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// CPU time over wall time, in percent: total, user, system.
    pub cpu_percent: [f64; 3],
    /// This side sends and can count retransmissions; `None` where it only receives.
    pub counts_retransmits: Option<bool>,
    /// Congestion control in use.
    pub congestion: Option<String>,
    /// One entry a stream.
    pub streams: Vec<StreamResult>,
}

/// What one side measured of one stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamResult {
    /// Its number, see [`stream_id`].
    pub id: i64,
    /// Payload sent or received, without the warm-up.
    pub bytes: u64,
    /// Retransmission attempts, where counted.
    pub retransmits: Option<u64>,
    /// Own measuring time without the warm-up, in seconds; missing before 3.2.
    pub seconds: Option<f64>,
}

impl Results {
    /// The document.
    pub fn to_json(&self) -> Vec<u8> {
        let streams: Vec<Value> = self
            .streams
            .iter()
            .map(|stream| {
                json!({
                    "id": stream.id,
                    "bytes": stream.bytes,
                    "retransmits": stream.retransmits.map_or(Value::from(-1), Value::from),
                    "jitter": 0,
                    "errors": 0,
                    "omitted_errors": 0,
                    "packets": 0,
                    "omitted_packets": 0,
                    "start_time": 0,
                    "end_time": stream.seconds.unwrap_or(0.0),
                })
            })
            .collect();
        let mut map = Map::new();
        for (key, value) in
            ["cpu_util_total", "cpu_util_user", "cpu_util_system"].iter().zip(self.cpu_percent)
        {
            map.insert((*key).to_owned(), value.into());
        }
        let counts = self.counts_retransmits.map_or(-1, i64::from);
        map.insert("sender_has_retransmits".into(), counts.into());
        if let Some(name) = &self.congestion {
            map.insert("congestion_used".into(), name.as_str().into());
        }
        map.insert("streams".into(), streams.into());
        Value::Object(map).to_string().into_bytes()
    }

    /// Reads the document of the other side. It must speak of exactly the streams `ids`.
    pub fn from_json(body: &[u8], ids: &[i64]) -> Result<Results, String> {
        let value: Value =
            serde_json::from_slice(body).map_err(|e| format!("sent results that are not JSON: {e}"))?;
        let number = |of: &Value, key: &str| -> Result<f64, String> {
            of.get(key).and_then(Value::as_f64).ok_or_else(|| format!("sent results without a number {key}"))
        };
        let mut cpu_percent = [0.0; 3];
        for (slot, key) in cpu_percent.iter_mut().zip(["cpu_util_total", "cpu_util_user", "cpu_util_system"])
        {
            *slot = number(&value, key)?;
        }
        let counts = value
            .get("sender_has_retransmits")
            .and_then(whole_number)
            .ok_or("sent results without a number sender_has_retransmits")?;
        let Some(Value::Array(list)) = value.get("streams") else {
            return Err("sent results without streams".into());
        };
        let mut streams: Vec<StreamResult> = Vec::new();
        for entry in list {
            let whole = |key: &str| {
                entry
                    .get(key)
                    .and_then(whole_number)
                    .ok_or_else(|| format!("sent a stream without a number {key}"))
            };
            let id = whole("id")?;
            if !ids.contains(&id) || streams.iter().any(|stream| stream.id == id) {
                return Err(format!("sent results of a stream {id} that this test does not have"));
            }
            let bytes = whole("bytes")?;
            let bytes =
                u64::try_from(bytes).map_err(|_| format!("sent {bytes} bytes as result of stream {id}"))?;
            let time = |key| entry.get(key).and_then(Value::as_f64).filter(|t| t.is_finite() && *t >= 0.0);
            streams.push(StreamResult {
                id,
                bytes,
                retransmits: u64::try_from(whole("retransmits")?).ok(),
                seconds: time("end_time").map(|end| (end - time("start_time").unwrap_or(0.0)).max(0.0)),
            });
        }
        if streams.len() != ids.len() {
            return Err(format!("sent results of {} streams out of {}", streams.len(), ids.len()));
        }
        Ok(Results {
            cpu_percent,
            counts_retransmits: (counts >= 0).then_some(counts > 0),
            congestion: value.get("congestion_used").and_then(Value::as_str).map(str::to_owned),
            streams,
        })
    }
}

/// A whole number of JSON. iperf3 up to 3.12 prints -1 as 18446744073709551615, and some print 1e3.
fn whole_number(value: &Value) -> Option<i64> {
    if let Some(n) = value.as_i64() {
        return Some(n);
    }
    if let Some(n) = value.as_u64() {
        return Some(n as i64);
    }
    let x = value.as_f64()?;
    if x >= 9.2e18 {
        return Some(-1);
    }
    (x.is_finite() && x >= -9.2e18).then_some(x as i64)
}

/// The reference's error numbers in words, for those a server is known to send.
pub fn server_error(code: Option<i32>, errno: Option<i32>) -> String {
    let words = match code {
        None => "no reason given",
        Some(5) => "test duration too long",
        Some(6) => "number of parallel streams too large",
        Some(7) => "block size too large",
        Some(8 | 124 | 141) => "socket buffer too large or not available",
        Some(10 | 123) => "maximum segment size not accepted",
        Some(11) => "zero copy is not available there",
        Some(13) => "an option it does not know",
        Some(27) => "the total rate exceeds the server's limit",
        Some(37) => "the duration exceeds the server's limit",
        Some(142) => "authorisation failed",
        Some(144) => "no data was received",
        Some(160) => "the server's time for the test is over",
        Some(_) => "see the server's own output",
    };
    let number = code.map_or(String::new(), |code| format!(" (iperf3 error {code})"));
    match errno.filter(|&errno| errno > 0) {
        Some(errno) => format!("{words}{number}: {}", std::io::Error::from_raw_os_error(errno)),
        None => format!("{words}{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_ids_skip_two() {
        let ids: Vec<i64> = (0..5).map(stream_id).collect();
        assert_eq!(ids, [1, 3, 4, 5, 6]);
    }

    #[test]
    fn bytes_and_states() {
        for byte in 0..=255u8 {
            if let Some(state) = State::of(byte) {
                assert_eq!(state.byte(), byte);
            }
        }
        assert_eq!((0..=255).filter_map(State::of).count(), State::ALL.len());
        for reserved in [0, 3, 5, 6, 7, 8, 15, 17, 127, 128, 253] {
            assert_eq!(State::of(reserved), None);
        }
    }

    #[test]
    fn cookies() {
        let own = "erbtaedeardal47kd5yfhikorjush5iin2pc";
        assert_eq!(Cookie::from_text(own).text(), own);
        assert_eq!(Cookie::from_text(own).0[36], 0);
        let random = Cookie::from_random([255; 36]);
        assert_eq!(random.text(), "7".repeat(36));
        let hex = Cookie::from_text("00112233445566778899aabbccddeeff");
        assert_eq!(hex, Cookie::from_text("00112233445566778899aabbccddeeff"));
        assert_ne!(hex, Cookie::from_text("10112233445566778899aabbccddeeff"));
        assert!(hex.text().bytes().all(|b| COOKIE_ALPHABET.contains(&b)));
        assert_eq!(Cookie([0xff; 37]).text(), "?".repeat(36));
    }

    #[test]
    fn frames() {
        assert_eq!(frame(b"{}"), [0, 0, 0, 2, b'{', b'}']);
        assert_eq!(framed_length([0, 0, 0, 2], 8192), Ok(2));
        assert_eq!(framed_length([0, 0, 0x20, 0], 8192), Ok(8192));
        assert!(framed_length([0, 0, 0x20, 1], 8192).is_err());
        assert!(framed_length([0, 0, 0, 0], 8192).is_err());
        assert!(framed_length([255; 4], RESULTS_LIMIT).is_err());
    }

    #[test]
    fn parameters_come_back() {
        let asked = Parameters {
            omit: 1,
            time: 10,
            bytes: 5_000_000_000,
            blocks: 7,
            parallel: 128,
            length: 131072,
            reverse: true,
            nodelay: true,
            window: Some(1 << 20),
            mss: Some(1400),
            bitrate: Some(25_000_000_000),
            congestion: Some("cubic".into()),
            tos: Some(16),
            server_affinity: Some(1),
        };
        assert_eq!(Parameters::from_json(&asked.to_json()), Ok(asked));
        let reference = br#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.21"}"#;
        let plain = Parameters { time: 1, parallel: 1, length: 131072, ..Parameters::default() };
        assert_eq!(Parameters::from_json(reference), Ok(plain.clone()));
        // The reference's own document for the same wish differs only in the version.
        let ours = String::from_utf8(plain.to_json()).unwrap();
        assert_eq!(ours.replace("3.12", "3.21").as_bytes(), reference);
    }

    #[test]
    fn hostile_parameters() {
        let check = |text: &str, code: i32, why: &str| {
            let bad = Parameters::from_json(text.as_bytes()).unwrap_err();
            assert_eq!(bad.code, code, "{text}");
            assert!(bad.why.contains(why), "{text}: {}", bad.why);
        };
        check("", 113, "not JSON");
        check("{", 113, "not JSON");
        check("[]", 113, "not a JSON object");
        check("{}", 113, "no transport");
        check(&format!("{}1{}", "[".repeat(4000), "]".repeat(4000)), 113, "not JSON");
        check(r#"{"tcp":1}"#, 113, "no transport");
        check(r#"{"udp":true}"#, 13, "UDP tests are not available yet");
        check(r#"{"sctp":true}"#, 13, "only TCP");
        check(r#"{"tcp":true,"bidirectional":true}"#, 13, "bidirectional");
        check(r#"{"tcp":true,"parallel":0}"#, 6, "parallel is 0");
        check(r#"{"tcp":true,"parallel":500}"#, 6, "parallel is 500");
        check(r#"{"tcp":true,"len":0}"#, 7, "len is 0");
        check(r#"{"tcp":true,"len":1e12}"#, 7, "len is");
        check(r#"{"tcp":true,"len":-5}"#, 7, "len is -5");
        check(r#"{"tcp":true,"len":18446744073709551615}"#, 7, "len is -1");
        check(r#"{"tcp":true,"window":1e30}"#, 8, "window");
        check(r#"{"tcp":true,"MSS":40000}"#, 10, "MSS");
        check(r#"{"tcp":true,"time":86401}"#, 5, "time");
        check(r#"{"tcp":true,"omit":601}"#, 12, "omit");
        check(r#"{"tcp":true,"num":-1}"#, 16, "num");
        let odd = br#"{"tcp":true,"parallel":"many","congestion":7,"reverse":1}"#;
        let read = Parameters::from_json(odd).unwrap();
        assert_eq!((read.parallel, read.congestion, read.reverse), (1, None, false));
    }

    #[test]
    fn results_come_back() {
        let measured = Results {
            cpu_percent: [98.1, 0.9, 97.2],
            counts_retransmits: Some(true),
            congestion: Some("cubic".into()),
            streams: vec![
                StreamResult { id: 1, bytes: 1 << 40, retransmits: Some(3), seconds: Some(10.5) },
                StreamResult { id: 3, bytes: 0, retransmits: None, seconds: Some(0.0) },
            ],
        };
        assert_eq!(Results::from_json(&measured.to_json(), &[1, 3]), Ok(measured));
    }

    #[test]
    fn minus_one_as_the_old_ones_print_it() {
        let text = r#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":18446744073709551615,
            "streams":[{"id":1,"bytes":5,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0}]}"#;
        let read = Results::from_json(text.as_bytes(), &[1]).unwrap();
        assert_eq!(read.counts_retransmits, None);
        assert_eq!(read.streams, [StreamResult { id: 1, bytes: 5, retransmits: None, seconds: None }]);
        let float = text.replace("18446744073709551615", "1.8446744073709552e19");
        assert_eq!(Results::from_json(float.as_bytes(), &[1]), Ok(read));
    }

    #[test]
    fn hostile_results() {
        let good = r#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":-1,
            "streams":[{"id":1,"bytes":5,"retransmits":-1,"start_time":0,"end_time":1}]}"#;
        assert!(Results::from_json(good.as_bytes(), &[1]).is_ok());
        let check = |from: &str, to: &str, why: &str| {
            let text = good.replace(from, to);
            let said = Results::from_json(text.as_bytes(), &[1]).unwrap_err();
            assert!(said.contains(why), "{to}: {said}");
        };
        check("{\"cpu", "\"cpu", "not JSON");
        check("cpu_util_total", "cpu", "cpu_util_total");
        check("sender_has_retransmits", "s", "sender_has_retransmits");
        check("\"streams\":[", "\"stream\":[", "without streams");
        check("\"id\":1", "\"id\":2", "stream 2");
        check("\"id\":1,", "", "number id");
        check("\"bytes\":5", "\"bytes\":-5", "-5 bytes");
        check("\"bytes\":5", "\"bytes\":\"x\"", "number bytes");
        check("[{", "[{\"id\":1,\"bytes\":5,\"retransmits\":-1},{", "stream 1 that");
        check(
            "{\"id\":1,\"bytes\":5,\"retransmits\":-1,\"start_time\":0,\"end_time\":1}",
            "",
            "0 streams out of 1",
        );
        // An end before the start is no negative time.
        let text = good.replace("\"start_time\":0", "\"start_time\":9");
        assert_eq!(Results::from_json(text.as_bytes(), &[1]).unwrap().streams[0].seconds, Some(0.0));
    }

    #[test]
    fn errors_in_words() {
        assert_eq!(
            server_error(Some(27), Some(0)),
            "the total rate exceeds the server's limit (iperf3 error 27)"
        );
        assert!(server_error(Some(124), Some(105)).contains(": No buffer space"));
        assert_eq!(server_error(None, None), "no reason given");
    }
}
