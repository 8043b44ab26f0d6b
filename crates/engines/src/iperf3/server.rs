//! The server's side of a test.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tenbin_formats::iperf3::model::{Direction, End, Role, Side, Test};

use super::client::{self, Outcome};
use super::control::{Control, PATIENCE, TICK, wait_readable};
use super::meter::{self, Meter};
use super::run::{self, Aside, Ended, Event, Limits};
use super::session::{Break, Server as Session, ServerStep};
use super::stream::{CpuTime, Flow, Streams};
use super::wire::{self, BadParameter, COOKIE_BYTES, Cookie, Parameters, Results, State};
use crate::{RunError, Stop};

/// How long a guest may take to send its cookie.
const COOKIE_PATIENCE: Duration = Duration::from_secs(10);
/// How many guests may be about to send it.
const GUESTS: usize = 256;
/// Seconds that a client may exceed its own time by.
const WATCHDOG_SECONDS: f64 = 40.0;
/// Seconds without a byte after which a client without a time counts as dead.
const IDLE_SECONDS: f64 = 120.0;

/// A listening server.
#[derive(Debug)]
pub struct Server {
    door: Door,
    address: SocketAddr,
    /// The options of an earlier test are still set on the listener.
    worn: bool,
}

impl Server {
    /// Listens on `address`; an unspecified IPv6 address takes IPv4 clients too.
    pub fn open(address: SocketAddr) -> Result<Server, RunError> {
        let v4 = SocketAddr::new(IpAddr::from([0u8; 4]), address.port());
        let both = address.ip() == IpAddr::from([0u16; 8]);
        let listener = match listen(address) {
            // A machine without IPv6.
            Err(RunError::Io { source, .. }) if both && source.raw_os_error() == Some(libc::EAFNOSUPPORT) => {
                listen(v4)?
            }
            other => other?,
        };
        let address = listener
            .local_addr()
            .map_err(|source| RunError::Io { what: format!("listen on {address}"), source })?;
        Ok(Server { door: Door { listener, guests: Vec::new() }, address, worn: false })
    }

    /// The address listened on, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves one test: of the client with `cookie`, or of whoever comes first.
    pub fn serve(
        &mut self,
        cookie: Option<&Cookie>,
        interval: Option<f64>,
        stop: &Stop,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome, RunError> {
        if self.worn {
            // Buffer and segment sizes cannot be taken back from a socket.
            self.door.listener = listen_again(&mut self.door, self.address)?;
            self.worn = false;
        }
        let (mut control, cookie) = self.meet(cookie, stop)?;
        control.send_state(State::ParamExchange)?;
        let body = control.document(wire::PARAMETERS_LIMIT, "the parameters", stop)?;
        let parameters = match Parameters::from_json(&body) {
            Ok(parameters) => parameters,
            Err(bad) => return Err(refuse(control, &bad)),
        };
        if let Err(e) = self.prepare(&parameters) {
            return Err(refuse(control, &BadParameter { code: 8, why: e.to_string() }));
        }
        control.send_state(State::CreateStreams)?;
        let mut session = Session::new();
        let sockets = self.gather(&parameters, &cookie, &mut control, &mut session, stop)?;
        self.measure(&parameters, &cookie, sockets, control, session, interval, stop, watch)
    }

    /// Waits for the client.
    fn meet(&mut self, wanted: Option<&Cookie>, stop: &Stop) -> Result<(Control, Cookie), RunError> {
        loop {
            if stop.is_set() {
                return Err(RunError::Interrupted);
            }
            let (arrived, _) = self.door.turn(None)?;
            let mut arrived = arrived.into_iter();
            for guest in arrived.by_ref() {
                if wanted.is_none_or(|cookie| *cookie == guest.cookie) {
                    arrived.for_each(Guest::deny);
                    return Ok((Control::new(guest.socket, guest.address)?, guest.cookie));
                }
                guest.deny();
            }
        }
    }

    /// Sets what accepted connections inherit.
    fn prepare(&mut self, parameters: &Parameters) -> Result<(), RunError> {
        if parameters.window.is_none() && parameters.mss.is_none() {
            return Ok(());
        }
        self.worn = true;
        let listener = self
            .door
            .listener
            .try_clone()
            .map_err(|source| RunError::Io { what: format!("set options of {}", self.address), source })?;
        let socket = Socket::from(listener);
        if let Some(window) = parameters.window {
            client::set_window(&socket, window)?;
        }
        if let Some(mss) = parameters.mss {
            socket.set_tcp_mss(mss as u32).map_err(|source| RunError::Io {
                what: format!("set the maximum segment size to {mss}"),
                source,
            })?;
        }
        Ok(())
    }

    /// Waits for the data streams.
    fn gather(
        &mut self,
        parameters: &Parameters,
        cookie: &Cookie,
        control: &mut Control,
        session: &mut Session,
        stop: &Stop,
    ) -> Result<Vec<TcpStream>, RunError> {
        let until = Instant::now() + PATIENCE;
        let mut sockets = Vec::new();
        while sockets.len() < parameters.parallel as usize {
            if stop.is_set() {
                let _ = control.send_state(State::ServerTerminate);
                return Err(RunError::Interrupted);
            }
            if Instant::now() > until {
                let came = sockets.len();
                return Err(control.broke(format!("opened {came} of {} data streams", parameters.parallel)));
            }
            let (arrived, spoken) = self.door.turn(Some(control.socket().as_fd()))?;
            for guest in arrived {
                if guest.cookie == *cookie && sockets.len() < parameters.parallel as usize {
                    set_options(&guest.socket, parameters);
                    sockets.push(guest.socket);
                } else {
                    guest.deny();
                }
            }
            if spoken && let Some(byte) = control.byte_now("its data streams")? {
                session.on_byte(byte).map_err(|why| explain(why, control))?;
            }
        }
        Ok(sockets)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a test, each of them used once")]
    fn measure(
        &mut self,
        parameters: &Parameters,
        cookie: &Cookie,
        sockets: Vec<TcpStream>,
        mut control: Control,
        mut session: Session,
        interval: Option<f64>,
        stop: &Stop,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome, RunError> {
        let start = client::start_of(Role::Server, parameters, cookie, control.socket(), &sockets);
        watch(Event::Started(&start));
        let side = if parameters.reverse { Side::Sender } else { Side::Receiver };
        let direction = if parameters.reverse { Direction::Reverse } else { Direction::Forward };
        let flow = Flow {
            side,
            length: parameters.length as usize,
            limit: None,
            bitrate: parameters.bitrate,
            cpu: parameters.server_affinity.map(|cpu| cpu as usize),
        };
        let mut streams = Streams::new(sockets, flow)?;
        let cpu_before = CpuTime::of_this_thread();
        let shown = start.connected.iter().map(|connection| connection.socket).collect();
        let first = streams.readings();
        // Receivers are ready before the client may send, senders wait for the word.
        if side == Side::Receiver {
            streams.start()?;
        }
        control.send(&[State::TestStart.byte(), State::TestRunning.byte()])?;
        session.running();
        let began = Instant::now();
        if side == Side::Sender {
            streams.start()?;
        }
        let mut meter = Meter::new(side, direction, shown, interval, parameters.omit as f64, &first);
        let timed = parameters.time > 0 && parameters.bytes == 0 && parameters.blocks == 0;
        let limits = Limits {
            time: None,
            watchdog: timed.then(|| (parameters.omit + parameters.time) as f64 + WATCHDOG_SECONDS),
            idle: Some(IDLE_SECONDS),
        };
        let mut on_byte = |control: &mut Control, byte: u8| match session.on_byte(byte) {
            Ok(step) => Ok(step == ServerStep::End),
            Err(why) => Err(explain(why, control)),
        };
        let aside: Option<&mut dyn Aside> = Some(&mut self.door);
        let course =
            run::run(began, &streams, &mut meter, limits, &mut control, aside, &mut on_byte, stop, watch)?;
        let info = streams.info();
        let congestion = streams.sockets().last().and_then(client::congestion_of);
        let (last, rows) = meter.finish(course.at, &course.readings);
        let own = CpuTime::of_this_thread().since(cpu_before);
        let cpu = streams.join().plus(own);
        let mut intervals = course.intervals;
        if let Some(last) = last {
            watch(Event::Interval(&last));
            intervals.push(last);
        }
        let mut outcome = Outcome {
            test: Test { start, intervals, end: None, error: None },
            info,
            cpu,
            moved_bytes: course.readings.iter().map(|reading| reading.bytes).sum(),
            congestion: congestion.clone(),
            interrupted: course.ended == Ended::Interrupted,
        };
        if outcome.interrupted {
            let _ = control.send_state(State::ServerTerminate);
            return Ok(outcome);
        }
        let cpu = client::share(cpu, course.at);
        let bytes = meter.measured(&course.readings);
        let ours = client::results(&rows, &bytes, meter.seconds(course.at), cpu, congestion.clone());
        control.send_state(State::ExchangeResults)?;
        let ids: Vec<i64> = ours.streams.iter().map(|stream| stream.id).collect();
        let body = control.document(wire::RESULTS_LIMIT, "the client's results", stop)?;
        let theirs = Results::from_json(&body, &ids).map_err(|why| control.broke(why))?;
        control.send_document(&ours.to_json())?;
        control.send_state(State::DisplayResults)?;
        // Old clients just close.
        let _ = control.byte(Duration::from_secs(2), "the good-bye", stop);
        control.close();
        let [total, user, system] = theirs.cpu_percent.map(|percent| percent / 100.0);
        let (near, far) = (congestion, theirs.congestion);
        let (sender_congestion, receiver_congestion) =
            if side == Side::Sender { (near, far) } else { (far, near) };
        outcome.test.end = Some(End {
            sums: meter::sum(&rows).into_iter().collect(),
            streams: rows,
            cpu_local: Some(cpu),
            cpu_remote: Some(tenbin_formats::iperf3::model::Cpu {
                total,
                user: Some(user),
                system: Some(system),
            }),
            sender_congestion,
            receiver_congestion,
        });
        Ok(outcome)
    }
}

/// What a refused client is told, and what this side tells.
fn refuse(mut control: Control, bad: &BadParameter) -> RunError {
    let numbers = [bad.code.to_be_bytes(), 0i32.to_be_bytes()].concat();
    let sent = control.send_state(State::ServerError).and_then(|()| control.send(&numbers));
    let peer = control.peer.clone();
    if sent.is_ok() {
        control.close();
    }
    RunError::Unsupported { what: format!("cannot serve {peer}: {}", bad.why) }
}

fn explain(why: Break, control: &Control) -> RunError {
    match why {
        Break::ClientTerminated => control.broke("was stopped during the test".into()),
        Break::Unexpected { byte, waiting_for } => {
            control.broke(format!("sent byte {byte} while {waiting_for} was waited for"))
        }
        Break::Busy | Break::ServerError | Break::ServerTerminated => {
            control.broke("spoke in the server's name".into())
        }
    }
}

/// The options of a stream that are set on the accepted connection. The client sees a failure by its effect only, as with
/// the reference: it asked for its own end.
fn set_options(socket: &TcpStream, parameters: &Parameters) {
    let socket = SockRef::from(socket);
    if parameters.nodelay {
        let _ = socket.set_tcp_nodelay(true);
    }
    if let Some(name) = &parameters.congestion {
        let _ = socket.set_tcp_congestion(name.as_bytes());
    }
    if let Some(tos) = parameters.tos {
        let _ = client::set_tos(&socket, tos as u32);
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, RunError> {
    let attempt = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().is_unspecified())?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(GUESTS as i32)?;
        socket.set_nonblocking(true)?;
        Ok(TcpListener::from(socket))
    };
    attempt().map_err(|source: std::io::Error| match source.kind() {
        ErrorKind::PermissionDenied => RunError::Permission {
            what: format!("listen on {address}"),
            hint: "take a port above 1023, or run as root".into(),
        },
        _ => RunError::Io { what: format!("listen on {address}"), source },
    })
}

/// Opens the listener anew; the old one must be closed first, since two cannot share a port.
fn listen_again(door: &mut Door, address: SocketAddr) -> Result<TcpListener, RunError> {
    let aside = SocketAddr::new(address.ip(), 0);
    door.listener = listen(aside)?;
    listen(address)
}

/// The listener and those who came but have not yet sent their cookie. They wait side by side: whoever sends nothing
/// holds up nobody.
#[derive(Debug)]
struct Door {
    listener: TcpListener,
    guests: Vec<Knocking>,
}

#[derive(Debug)]
struct Knocking {
    socket: TcpStream,
    address: SocketAddr,
    cookie: [u8; COOKIE_BYTES],
    got: usize,
    since: Instant,
}

/// A connection that sent its cookie.
#[derive(Debug)]
struct Guest {
    socket: TcpStream,
    address: SocketAddr,
    cookie: Cookie,
}

impl Guest {
    fn deny(self) {
        deny(self.socket);
    }
}

/// Tells that there is no place. A byte fits into every socket buffer; if not, closing says it as well.
fn deny(mut socket: TcpStream) {
    let _ = socket.write(&[State::AccessDenied.byte()]);
}

impl Door {
    /// Waits a moment for the listener, the guests and `also`: who has arrived, and whether `also` can be read.
    fn turn(&mut self, also: Option<BorrowedFd<'_>>) -> Result<(Vec<Guest>, bool), RunError> {
        let mut sockets = vec![self.listener.as_fd()];
        sockets.extend(self.guests.iter().map(|guest| guest.socket.as_fd()));
        sockets.extend(also);
        let ready = wait_readable(&sockets, TICK)
            .map_err(|source| RunError::Io { what: "wait for clients".into(), source })?;
        if ready.first() == Some(&true) {
            while let Some((socket, address)) = self.accept() {
                let guest =
                    Knocking { socket, address, cookie: [0; COOKIE_BYTES], got: 0, since: Instant::now() };
                if self.guests.len() < GUESTS {
                    self.guests.push(guest);
                } else {
                    deny(guest.socket);
                }
            }
        }
        let mut arrived = Vec::new();
        for mut guest in std::mem::take(&mut self.guests) {
            match guest.socket.read(&mut guest.cookie[guest.got..]) {
                Ok(0) => continue,
                Ok(n) => guest.got += n,
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => continue,
            }
            if guest.got == COOKIE_BYTES {
                let Knocking { socket, address, cookie, .. } = guest;
                arrived.push(Guest { socket, address, cookie: Cookie(cookie) });
            } else if guest.since.elapsed() < COOKIE_PATIENCE {
                self.guests.push(guest);
            }
        }
        Ok((arrived, also.is_some() && ready.last() == Some(&true)))
    }

    fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        let (socket, address) = self.listener.accept().ok()?;
        socket.set_nonblocking(true).ok()?;
        Some((socket, address))
    }
}

impl Aside for Door {
    fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn ready(&mut self) {
        self.guests.drain(..).for_each(|guest| deny(guest.socket));
        while let Some((socket, _)) = self.accept() {
            deny(socket);
        }
    }
}
