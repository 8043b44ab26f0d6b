//! The client's side of a test.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tenbin_formats::iperf3::model::{Connection, Cpu, Direction, End, Role, Row, Side, Start, Test};

use super::control::{Control, PATIENCE};
use super::meter::{self, Meter};
use super::run::{self, Ended, Event, Limits};
use super::session::{Break, Client, ClientStep};
use super::stream::{CpuTime, Flow, Streams};
use super::tcpinfo::TcpInfo;
use super::wire::{self, Cookie, Parameters, Results, State, StreamResult};
use crate::{RunError, Stop};

/// How long a connection may take to be made.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// A test as asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server.
    pub peer: SocketAddr,
    /// The own address.
    pub bind: Option<IpAddr>,
    /// The own port of the first stream; the others follow.
    pub client_port: Option<u16>,
    /// Names the test; `None` = a new one.
    pub cookie: Option<Cookie>,
    /// Seconds of the measured part; ignored where bytes or blocks are set.
    pub time: f64,
    /// Seconds of warm-up.
    pub omit: u64,
    /// Seconds between interval reports; `None` = none.
    pub interval: Option<f64>,
    /// Streams.
    pub parallel: u64,
    /// Bytes of a write.
    pub length: u64,
    /// Ends after so many bytes.
    pub bytes: Option<u64>,
    /// Ends after so many blocks.
    pub blocks: Option<u64>,
    /// bit/s of each stream.
    pub bitrate: Option<u64>,
    /// Socket buffers in bytes.
    pub window: Option<u64>,
    /// Maximum segment size in bytes.
    pub mss: Option<u64>,
    /// Congestion control.
    pub congestion: Option<String>,
    /// Type of service byte.
    pub tos: Option<u64>,
    /// Nagle's algorithm off.
    pub nodelay: bool,
    /// The server sends.
    pub reverse: bool,
    /// The CPU for this side's streams.
    pub affinity: Option<u64>,
    /// The CPU for the server's streams.
    pub server_affinity: Option<u64>,
}

impl Settings {
    /// A test of 10 s in one stream of 128 KiB blocks, as iperf3 does it unasked.
    pub fn new(peer: SocketAddr) -> Settings {
        Settings {
            peer,
            bind: None,
            client_port: None,
            cookie: None,
            time: 10.0,
            omit: 0,
            interval: Some(1.0),
            parallel: 1,
            length: 128 * 1024,
            bytes: None,
            blocks: None,
            bitrate: None,
            window: None,
            mss: None,
            congestion: None,
            tos: None,
            nodelay: false,
            reverse: false,
            affinity: None,
            server_affinity: None,
        }
    }

    fn parameters(&self) -> Parameters {
        let endless = self.bytes.is_some() || self.blocks.is_some();
        Parameters {
            omit: self.omit,
            // Only the server's watchdog looks at it.
            time: if endless { 0 } else { self.time.ceil() as u64 },
            bytes: self.bytes.unwrap_or(0),
            blocks: self.blocks.unwrap_or(0),
            parallel: self.parallel,
            length: self.length,
            reverse: self.reverse,
            nodelay: self.nodelay,
            window: self.window,
            mss: self.mss,
            bitrate: self.bitrate,
            congestion: self.congestion.clone(),
            tos: self.tos,
            server_affinity: self.server_affinity,
        }
    }

    fn limit(&self) -> Option<u64> {
        let blocks = self.blocks.map(|blocks| blocks.saturating_mul(self.length));
        self.bytes.into_iter().chain(blocks).min()
    }
}

/// A test that was run.
#[derive(Debug)]
pub struct Outcome {
    /// What iperf3 would tell of it.
    pub test: Test,
    /// The kernel's view of the first stream at the end.
    pub info: Option<TcpInfo>,
    /// CPU time this side spent on the test, warm-up included.
    pub cpu: CpuTime,
    /// Payload that this side moved in that time, in bytes.
    pub moved_bytes: u64,
    /// Congestion control of this side's streams.
    pub congestion: Option<String>,
    /// [`Stop`] ended it early; the totals are those of this side, if any.
    pub interrupted: bool,
}

/// Runs a test. `watch` hears of it while it runs.
pub fn run(settings: &Settings, stop: &Stop, watch: &mut dyn FnMut(Event<'_>)) -> Result<Outcome, RunError> {
    let cookie = match &settings.cookie {
        Some(cookie) => cookie.clone(),
        None => new_cookie()?,
    };
    let mut session = Client::new();
    let (mut control, first) = greet(settings, &cookie, session.waiting_for(), stop)?;
    let mut first = Some(first);
    let mut sockets = Vec::new();
    let mut measured: Option<Measured> = None;
    loop {
        let byte = match first.take() {
            Some(byte) => byte,
            None => control.byte(PATIENCE, session.waiting_for(), stop)?,
        };
        let step = session.on_byte(byte).map_err(|why| explain(why, &mut control, stop))?;
        match step {
            ClientStep::SendParameters => control.send_document(&settings.parameters().to_json())?,
            ClientStep::OpenStreams => {
                for index in 0..settings.parallel {
                    sockets.push(open_stream(settings, index, &cookie)?);
                }
            }
            ClientStep::Prepare => {}
            ClientStep::Run => {
                let start = start(settings, &cookie, &control, &sockets);
                let opened = std::mem::take(&mut sockets);
                let now = measure(settings, start, opened, &mut control, &mut session, stop, watch)?;
                if now.outcome.interrupted {
                    return Ok(now.outcome);
                }
                measured = Some(now);
            }
            ClientStep::ExchangeResults => {
                if let Some(measured) = &mut measured {
                    measured.exchange(settings, &mut control, stop)?;
                }
            }
            ClientStep::Finish => {
                control.send_state(State::IperfDone)?;
                control.close();
                let unmeasured = RunError::Interrupted;
                return measured.map(|measured| measured.outcome).ok_or(unmeasured);
            }
        }
    }
}

/// Connects and shows the cookie: the control connection and the server's first byte.
///
/// Between two tests iperf3 closes its listener and opens it anew, and drops whoever came in that moment: a server
/// that closes without a word is asked once more.
fn greet(settings: &Settings, cookie: &Cookie, what: &str, stop: &Stop) -> Result<(Control, u8), RunError> {
    let attempt = || {
        let mut control = Control::new(connect(settings, None)?, settings.peer)?;
        control.send(&cookie.0)?;
        let byte = control.byte(PATIENCE, what, stop)?;
        Ok((control, byte))
    };
    let began = Instant::now();
    attempt().or_else(|why| match why {
        RunError::Protocol { .. } if began.elapsed() < Duration::from_secs(1) => {
            std::thread::sleep(Duration::from_millis(200));
            attempt()
        }
        other => Err(other),
    })
}

/// A cookie that no other test has.
pub fn new_cookie() -> Result<Cookie, RunError> {
    let mut random = [0; wire::COOKIE_BYTES - 1];
    getrandom::fill(&mut random)
        .map_err(|e| RunError::Io { what: "get random bytes".into(), source: std::io::Error::other(e) })?;
    Ok(Cookie::from_random(random))
}

/// This side's part of the results, before the exchange.
struct Measured {
    outcome: Outcome,
    streams: Streams,
    rows: Vec<Row>,
    bytes: Vec<u64>,
    seconds: f64,
    wall: f64,
    cpu_before: CpuTime,
}

fn measure(
    settings: &Settings,
    start: Start,
    sockets: Vec<TcpStream>,
    control: &mut Control,
    session: &mut Client,
    stop: &Stop,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Measured, RunError> {
    watch(Event::Started(&start));
    let side = if settings.reverse { Side::Receiver } else { Side::Sender };
    let direction = if settings.reverse { Direction::Reverse } else { Direction::Forward };
    let flow = Flow {
        side,
        length: settings.length as usize,
        limit: settings.limit(),
        bitrate: settings.bitrate,
        cpu: settings.affinity.map(|cpu| cpu as usize),
    };
    let mut streams = Streams::new(sockets, flow)?;
    let cpu_before = CpuTime::of_this_thread();
    let shown = start.connected.iter().map(|connection| connection.socket).collect();
    let first = streams.readings();
    let began = Instant::now();
    let mut meter = Meter::new(side, direction, shown, settings.interval, settings.omit as f64, &first);
    if settings.omit == 0 {
        streams.arm_limit();
    }
    streams.start()?;
    let limits = Limits { time: settings.limit().is_none().then_some(settings.time), ..Limits::default() };
    let mut on_byte = |control: &mut Control, byte: u8| match session.on_byte(byte) {
        Ok(_) => Ok(false),
        Err(why) => Err(explain(why, control, stop)),
    };
    let course = run::run(began, &streams, &mut meter, limits, control, None, &mut on_byte, stop, watch)?;
    let info = streams.info();
    let congestion = streams.sockets().last().and_then(congestion_of);
    let interrupted = course.ended == Ended::Interrupted;
    if interrupted {
        // The server then forgets the test. Whether it hears so is no concern of ours.
        let _ = control.send_state(State::ClientTerminate);
    } else {
        control.send_state(State::TestEnd)?;
        session.ended();
    }
    let (last, rows) = meter.finish(course.at, &course.readings);
    let mut intervals = course.intervals;
    if let Some(last) = last {
        watch(Event::Interval(&last));
        intervals.push(last);
    }
    let cpu = if interrupted { streams.join() } else { CpuTime::default() };
    // What an interrupted test knows of its end is this side's part.
    let own_end = || End {
        streams: rows.clone(),
        sums: meter::sum(&rows).into_iter().collect(),
        cpu_local: Some(share(cpu, course.at)),
        ..End::default()
    };
    let end = interrupted.then(own_end);
    let outcome = Outcome {
        test: Test { start, intervals, end, error: None },
        info,
        cpu,
        moved_bytes: course.readings.iter().map(|reading| reading.bytes).sum(),
        congestion,
        interrupted,
    };
    let bytes = meter.measured(&course.readings);
    let seconds = meter.seconds(course.at);
    Ok(Measured { outcome, streams, rows, bytes, seconds, wall: course.at, cpu_before })
}

impl Measured {
    /// Exchanges results and makes the totals of both sides' figures.
    fn exchange(&mut self, settings: &Settings, control: &mut Control, stop: &Stop) -> Result<(), RunError> {
        let own = CpuTime::of_this_thread().since(self.cpu_before);
        self.outcome.cpu = self.streams.join().plus(own);
        let cpu = share(self.outcome.cpu, self.wall);
        let ours = results(&self.rows, &self.bytes, self.seconds, cpu, self.outcome.congestion.clone());
        control.send_document(&ours.to_json())?;
        let ids: Vec<i64> = ours.streams.iter().map(|stream| stream.id).collect();
        let body = control.document(wire::RESULTS_LIMIT, "the server's results", stop)?;
        let theirs = Results::from_json(&body, &ids).map_err(|why| control.broke(why))?;
        let far = far_rows(&self.rows, &ids, &theirs);
        let congestion = (self.outcome.congestion.clone(), theirs.congestion);
        let (sender_congestion, receiver_congestion) =
            if settings.reverse { (congestion.1, congestion.0) } else { congestion };
        let [total, user, system] = theirs.cpu_percent.map(|percent| percent / 100.0);
        self.outcome.test.end =
            Some(totals(&self.rows, far, cpu, Cpu { total, user: Some(user), system: Some(system) }));
        if let Some(end) = &mut self.outcome.test.end {
            end.sender_congestion = sender_congestion;
            end.receiver_congestion = receiver_congestion;
        }
        Ok(())
    }
}

/// The rows of both sides, the sender's of each stream first.
fn totals(near: &[Row], far: Vec<Row>, cpu_local: Cpu, cpu_remote: Cpu) -> End {
    let mut sums: Vec<Row> = [meter::sum(near), meter::sum(&far)].into_iter().flatten().collect();
    let mut streams: Vec<Row> = near.iter().copied().zip(far).flat_map(|(near, far)| [near, far]).collect();
    for pair in streams.chunks_mut(2).chain([sums.as_mut_slice()]) {
        pair.sort_by_key(|row| row.side);
    }
    End { streams, sums, cpu_local: Some(cpu_local), cpu_remote: Some(cpu_remote), ..End::default() }
}

/// The far side's rows. Its clock is its own; very old servers do not tell its length.
fn far_rows(near: &[Row], ids: &[i64], theirs: &Results) -> Vec<Row> {
    let row = |(near, id): (&Row, &i64)| {
        let far = theirs.streams.iter().find(|stream| stream.id == *id)?;
        let seconds = far.seconds.filter(|seconds| *seconds > 0.0).unwrap_or(near.end - near.start);
        let side = near.side.other();
        let counted = side == Side::Sender && theirs.counts_retransmits == Some(true);
        Some(Row {
            stream: near.stream,
            side,
            direction: near.direction,
            start: 0.0,
            end: seconds,
            bytes: Some(far.bytes as f64),
            bits_per_second: (seconds > 0.0).then(|| far.bytes as f64 * 8.0 / seconds),
            retransmits: far.retransmits.filter(|_| counted).map(|n| n as f64),
            ..Row::default()
        })
    };
    near.iter().zip(ids).filter_map(row).collect()
}

/// This side's results for the other.
pub fn results(rows: &[Row], bytes: &[u64], seconds: f64, cpu: Cpu, congestion: Option<String>) -> Results {
    let sends = rows.iter().any(|row| row.side == Side::Sender);
    let counted = rows.iter().all(|row| row.retransmits.is_some());
    let stream = |(index, (row, bytes)): (usize, (&Row, &u64))| StreamResult {
        id: wire::stream_id(index),
        bytes: *bytes,
        retransmits: row.retransmits.map(|n| n as u64),
        seconds: Some(seconds),
    };
    Results {
        cpu_percent: [Some(cpu.total), cpu.user, cpu.system].map(|share| share.unwrap_or(0.0) * 100.0),
        counts_retransmits: sends.then_some(counted),
        congestion,
        streams: rows.iter().zip(bytes).enumerate().map(stream).collect(),
    }
}

/// CPU time over wall time.
pub fn share(cpu: CpuTime, wall: f64) -> Cpu {
    let of = |seconds: f64| if wall > 0.0 { seconds / wall } else { 0.0 };
    Cpu { total: of(cpu.total()), user: Some(of(cpu.user)), system: Some(of(cpu.system)) }
}

/// The name of the congestion control of a connection.
pub fn congestion_of(socket: &TcpStream) -> Option<String> {
    let name = SockRef::from(socket).tcp_congestion().ok()?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Some(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// What iperf3 tells before data flows, of either side.
pub fn start_of(
    role: Role,
    parameters: &Parameters,
    cookie: &Cookie,
    control: &TcpStream,
    sockets: &[TcpStream],
) -> Start {
    let connection = |(index, socket): (usize, &TcpStream)| {
        let (local, remote) = (socket.local_addr().ok(), socket.peer_addr().ok());
        let host = |address: Option<SocketAddr>| {
            address.map_or(String::new(), |a| a.ip().to_canonical().to_string())
        };
        Connection {
            // iperf3 shows the number of the descriptor, which is 5 for the first in a fresh process.
            socket: 5 + 2 * index as i64,
            local_host: host(local),
            local_port: local.map_or(0, |a| a.port()),
            remote_host: host(remote),
            remote_port: remote.map_or(0, |a| a.port()),
        }
    };
    let peer = control.peer_addr().ok();
    let first = sockets.first().map(SockRef::from);
    Start {
        role,
        cookie: Some(cookie.text()),
        peer_host: peer.map_or(String::new(), |peer| peer.ip().to_canonical().to_string()),
        peer_port: peer.map_or(0, |peer| peer.port()),
        protocol: "TCP".into(),
        streams: parameters.parallel as u32,
        block_bytes: parameters.length,
        omit_seconds: parameters.omit,
        duration_seconds: parameters.time as f64,
        limit_bytes: parameters.bytes,
        limit_blocks: parameters.blocks,
        reverse: parameters.reverse,
        tos: parameters.tos.unwrap_or(0) as u8,
        target_bitrate: parameters.bitrate.unwrap_or(0),
        mss_bytes: parameters.mss.or_else(|| SockRef::from(control).tcp_mss().ok().map(u64::from)),
        mss_asked: parameters.mss.is_some(),
        window_bytes: parameters.window.unwrap_or(0),
        send_buffer_bytes: first.as_ref().and_then(|socket| socket.send_buffer_size().ok()).map(|n| n as u64),
        receive_buffer_bytes: first
            .as_ref()
            .and_then(|socket| socket.recv_buffer_size().ok())
            .map(|n| n as u64),
        connected: sockets.iter().enumerate().map(connection).collect(),
        ..Start::default()
    }
}

fn start(settings: &Settings, cookie: &Cookie, control: &Control, sockets: &[TcpStream]) -> Start {
    let mut start = start_of(Role::Client, &settings.parameters(), cookie, control.socket(), sockets);
    if start.duration_seconds > 0.0 {
        start.duration_seconds = settings.time;
    }
    start
}

/// A break of the session in words.
fn explain(why: Break, control: &mut Control, stop: &Stop) -> RunError {
    let peer = control.peer.clone();
    match why {
        Break::Busy => RunError::Refused { peer, why: "it is busy with another test".into() },
        Break::ServerError => {
            let (code, errno) = control.error_numbers(stop);
            RunError::Refused { peer, why: wire::server_error(code, errno) }
        }
        Break::ServerTerminated => RunError::Refused { peer, why: "it was stopped during the test".into() },
        Break::ClientTerminated => control.broke("ended the test in the client's name".into()),
        Break::Unexpected { byte, waiting_for } => control
            .broke(format!("sent byte {byte} while {waiting_for} was waited for; is it an iperf3 server?")),
    }
}

fn open_stream(settings: &Settings, index: u64, cookie: &Cookie) -> Result<TcpStream, RunError> {
    use std::io::Write;
    let mut stream = connect(settings, Some(index))?;
    stream.set_write_timeout(Some(CONNECT_PATIENCE)).and_then(|()| stream.write_all(&cookie.0)).map_err(
        |source| RunError::Io { what: format!("open a data stream to {}", settings.peer), source },
    )?;
    // Blocking without a limit from here on: closing is what ends it.
    let _ = stream.set_write_timeout(None);
    Ok(stream)
}

/// Connects: the control connection, or the data stream of that index with the options asked for.
fn connect(settings: &Settings, stream: Option<u64>) -> Result<TcpStream, RunError> {
    let peer = settings.peer;
    let io = |what: String| move |source| RunError::Io { what, source };
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))
        .map_err(io("open a TCP socket".into()))?;
    let port = match (stream, settings.client_port) {
        (Some(index), Some(port)) => u16::try_from(u64::from(port) + index)
            .map_err(|_| RunError::BadParameter { what: format!("there is no port {port} + {index}") })?,
        _ => 0,
    };
    if stream.is_some() {
        set_options(&socket, &settings.parameters())?;
    }
    let any = || if peer.is_ipv6() { IpAddr::from([0u16; 8]) } else { IpAddr::from([0u8; 4]) };
    if settings.bind.is_some() || port != 0 {
        let own = SocketAddr::new(settings.bind.unwrap_or_else(any), port);
        if own.is_ipv6() != peer.is_ipv6() {
            return Err(RunError::BadParameter {
                what: format!("{} and {peer} are of different IP versions", own.ip()),
            });
        }
        if port != 0 {
            socket.set_reuse_address(true).map_err(io(format!("prepare port {port}")))?;
        }
        socket.bind(&own.into()).map_err(io(format!("bind to {own}")))?;
    }
    socket
        .connect_timeout(&peer.into(), CONNECT_PATIENCE)
        .map_err(|e| RunError::Unreachable { peer: peer.to_string(), why: in_words(&e) })?;
    Ok(socket.into())
}

/// The system's reason without its number.
fn in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// The socket options of a data stream, before it is connected.
fn set_options(socket: &Socket, parameters: &Parameters) -> Result<(), RunError> {
    let io = |what: String| move |source| RunError::Io { what, source };
    if let Some(window) = parameters.window {
        set_window(socket, window)?;
    }
    if let Some(mss) = parameters.mss {
        socket.set_tcp_mss(mss as u32).map_err(io(format!("set the maximum segment size to {mss}")))?;
    }
    if parameters.nodelay {
        socket.set_tcp_nodelay(true).map_err(io("set TCP_NODELAY".into()))?;
    }
    if let Some(tos) = parameters.tos {
        set_tos(socket, tos as u32).map_err(io(format!("set the type of service to {tos}")))?;
    }
    if let Some(name) = &parameters.congestion {
        socket.set_tcp_congestion(name.as_bytes()).map_err(|e| RunError::BadParameter {
            what: format!(
                "cannot use congestion control \"{name}\": {}\nhint: see net.ipv4.tcp_available_congestion_control, or load its module",
                in_words(&e)
            ),
        })?;
    }
    Ok(())
}

/// Sets both socket buffers. A smaller one than asked for is an error: the test would not be the one asked for.
pub fn set_window(socket: &Socket, window: u64) -> Result<(), RunError> {
    let io = |source| RunError::Io { what: format!("set the socket buffers to {window} bytes"), source };
    let size = window as usize;
    socket.set_send_buffer_size(size).map_err(io)?;
    socket.set_recv_buffer_size(size).map_err(io)?;
    let got = socket.send_buffer_size().map_err(io)?.min(socket.recv_buffer_size().map_err(io)?);
    if got < size {
        return Err(RunError::BadParameter {
            what: format!(
                "the system gives socket buffers of {got} bytes, not {window}\nhint: raise net.core.wmem_max and net.core.rmem_max"
            ),
        });
    }
    Ok(())
}

/// Sets the type of service of IPv4 or the traffic class of IPv6.
pub fn set_tos(socket: &Socket, tos: u32) -> std::io::Result<()> {
    let v6 = socket.domain()? == Domain::IPV6;
    if v6 { socket.set_tclass_v6(tos) } else { socket.set_tos_v4(tos) }
}
