//! Peers that break the protocol at every step. Each must end in an error in words, soon, never in a hang or a panic.

use super::*;
use crate::iperf3::wire::{COOKIE_BYTES, State, frame};

/// What a scripted peer does.
enum Act {
    Send(&'static [u8]),
    Document(&'static [u8]),
    /// Reads so many bytes.
    Take(usize),
    /// Reads a document.
    ReadDocument,
    /// Accepts a data stream with its cookie.
    Accept,
    /// Does nothing for a moment.
    Wait,
}
use Act::*;

fn play(socket: &mut TcpStream, listener: Option<&TcpListener>, acts: &[Act]) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for act in acts {
        let done = match act {
            Send(bytes) => socket.write_all(bytes),
            Document(body) => socket.write_all(&frame(body)),
            Take(n) => socket.read_exact(&mut vec![0; *n]),
            ReadDocument => {
                let mut head = [0; 4];
                socket
                    .read_exact(&mut head)
                    .and_then(|()| socket.read_exact(&mut vec![0; u32::from_be_bytes(head) as usize]))
            }
            Accept => listener.unwrap().accept().and_then(|(mut stream, _)| {
                let read = stream.read_exact(&mut [0; COOKIE_BYTES]);
                streams.push(stream);
                read
            }),
            Wait => {
                thread::sleep(Duration::from_millis(300));
                Ok(())
            }
        };
        if done.is_err() {
            break;
        }
    }
    streams
}

/// A client of ours against a server that does `acts` and closes.
fn server(acts: Vec<Act>, params: &'static [(&str, &str)]) -> String {
    let listener = TcpListener::bind(local()).unwrap();
    let address = listener.local_addr().unwrap();
    let script = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        play(&mut socket, Some(&listener), &acts);
    });
    let began = Instant::now();
    let said = run(address, "", params).err().expect("the script is no good server").to_string();
    script.join().unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{said}");
    said
}

#[test]
fn servers() {
    let check = |acts: Vec<Act>, words: &str| {
        let said = server(acts, &[("time", "100ms")]);
        assert!(said.contains(words), "{said}");
    };
    let hello = || vec![Take(COOKIE_BYTES)];
    let streams = || vec![Take(COOKIE_BYTES), Send(&[9]), ReadDocument, Send(&[10]), Accept];
    let with = |mut acts: Vec<Act>, more: Vec<Act>| {
        acts.extend(more);
        acts
    };
    check(with(hello(), vec![Send(&[0xff])]), "busy with another test");
    check(with(hello(), vec![Send(&[0xfe])]), "no reason given");
    check(with(hello(), vec![Send(&[0xfe, 0, 0, 0, 142])]), "authorisation failed");
    check(with(hello(), vec![Send(&[0xfe, 0, 0, 0, 27, 0, 0, 0, 0])]), "the total rate exceeds");
    check(with(hello(), vec![Send(b"SSH-2.0-OpenSSH")]), "is it an iperf3 server?");
    check(with(hello(), vec![Send(&[9]), ReadDocument]), "while the request for streams");
    check(with(hello(), vec![Send(&[9, 1])]), "sent byte 1 while the request for streams");
    check(with(streams(), vec![]), "while the start of the test");
    check(with(streams(), vec![Send(&[2])]), "sent byte 2");
    check(with(streams(), vec![Send(&[1, 2]), Wait, Send(&[14])]), "sent byte 14");
    check(with(streams(), vec![Send(&[1, 2, 14])]), "sent byte 14 while the end of the test");
    check(with(streams(), vec![Send(&[1, 2, 11])]), "stopped during the test");
    check(with(streams(), vec![Send(&[1, 2, 0xfe, 0, 0, 0, 160, 0, 0, 0, 0])]), "time for the test is over");
    check(with(streams(), vec![Send(&[1, 2])]), "closed the control connection");
    let results = || with(streams(), vec![Send(&[1, 2]), Take(1), Send(&[13]), ReadDocument]);
    check(with(results(), vec![]), "while the server's results");
    check(with(results(), vec![Send(&[255, 255, 255, 255])]), "a document of 4294967295 bytes");
    check(with(results(), vec![Send(&[0, 0, 0, 0])]), "an empty document");
    check(with(results(), vec![Send(&[0, 0, 0, 9, b'{'])]), "while the server's results");
    check(with(results(), vec![Document(b"nonsense")]), "not JSON");
    check(with(results(), vec![Document(b"{}")]), "without a number cpu_util_total");
    const GOOD: &[u8] = br#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[{"id":1,"bytes":5,"retransmits":-1}]}"#;
    check(with(results(), vec![Document(GOOD)]), "while the end of the exchange");
    check(with(results(), vec![Document(GOOD), Send(&[16])]), "sent byte 16");
}

#[test]
fn a_server_that_closes_without_a_word_is_asked_twice() {
    let listener = TcpListener::bind(local()).unwrap();
    let address = listener.local_addr().unwrap();
    let script =
        thread::spawn(move || (0..2).map(|_| listener.accept().is_ok()).filter(|came| *came).count());
    let said = run(address, "", &[]).err().unwrap().to_string();
    assert!(said.contains("closed the control connection while the request for parameters"), "{said}");
    assert_eq!(script.join().unwrap(), 2);
}

#[test]
fn a_server_that_drops_the_data_says_so_or_is_given_up() {
    let acts = vec![Take(COOKIE_BYTES), Send(&[9]), ReadDocument, Send(&[10, 1, 2]), Wait, Wait];
    // The listener takes the connection and closes it with the script's end.
    let said = server(acts, &[("time", "5s")]);
    assert!(said.contains("closed the control connection") || said.contains("move data"), "{said}");
}

/// A server of ours against a client that does `acts` and closes: what the server says.
fn client(acts: &[Act], data_streams: usize) -> String {
    let (address, server) = ours("", &Stop::default());
    let mut socket = TcpStream::connect(address).unwrap();
    let mut kept = Vec::new();
    let cut = acts.iter().position(|act| matches!(act, Wait)).unwrap_or(acts.len());
    kept.extend(play(&mut socket, None, &acts[..cut]));
    for _ in 0..data_streams {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&[b'a'; COOKIE_BYTES]).unwrap();
        kept.push(stream);
    }
    play(&mut socket, None, &acts[cut..]);
    drop(socket);
    drop(kept);
    let began = Instant::now();
    let said = server.join().unwrap().unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(20), "{said}");
    said
}

#[test]
fn clients() {
    const COOKIE: &[u8] = &[b'a'; COOKIE_BYTES];
    let check = |acts: Vec<Act>, streams: usize, words: &str| {
        let said = client(&acts, streams);
        assert!(said.contains(words), "{said}");
    };
    check(vec![Send(COOKIE), Take(1)], 0, "closed the control connection while the parameters");
    check(vec![Send(COOKIE), Take(1), Send(&[0, 0, 0, 0])], 0, "an empty document");
    check(vec![Send(COOKIE), Take(1), Send(&[0, 1, 0, 0])], 0, "a document of 65536 bytes, more than 8192");
    check(vec![Send(COOKIE), Take(1), Send(b"GET / HTTP/1.1\r\n")], 0, "more than 8192");
    check(vec![Send(COOKIE), Take(1), Document(b"x"), Take(9)], 0, "not JSON");
    let udp = Document(br#"{"udp":true,"parallel":1}"#);
    check(vec![Send(COOKIE), Take(1), udp, Take(9)], 0, "UDP tests are not available yet");
    let many = Document(br#"{"tcp":true,"parallel":1000}"#);
    check(vec![Send(COOKIE), Take(1), many, Take(9)], 0, "parallel is 1000");
    let good = || vec![Send(COOKIE), Take(1), Document(br#"{"tcp":true,"parallel":1,"time":1}"#), Take(1)];
    let with = |mut acts: Vec<Act>, more: Vec<Act>| {
        acts.extend(more);
        acts
    };
    check(good(), 0, "closed the control connection while its data streams");
    check(with(good(), vec![Send(&[4])]), 0, "sent byte 4 while its data streams");
    check(with(good(), vec![Send(&[12])]), 0, "stopped during the test");
    check(with(good(), vec![Wait, Take(2)]), 1, "closed the control connection while the end of the test");
    check(with(good(), vec![Wait, Take(2), Send(&[12])]), 1, "stopped during the test");
    check(with(good(), vec![Wait, Take(2), Send(&[16])]), 1, "sent byte 16");
    check(with(good(), vec![Wait, Take(2), Send(&[4]), Take(1)]), 1, "while the client's results");
    check(with(good(), vec![Wait, Take(2), Send(&[4]), Take(1), Document(b"[]")]), 1, "cpu_util_total");
}

#[test]
fn the_refused_client_gets_the_number() {
    let (address, server) = ours("", &Stop::default());
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(&[b'a'; COOKIE_BYTES]).unwrap();
    socket.read_exact(&mut [0]).unwrap();
    socket.write_all(&frame(br#"{"udp":true}"#)).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, [State::ServerError.byte(), 0, 0, 0, 13, 0, 0, 0, 0]);
    assert!(server.join().unwrap().is_err());
}

#[test]
fn guests_that_say_nothing_hold_up_nobody() {
    let (address, server) = ours("", &Stop::default());
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"abc").unwrap();
    run(address, "", &[("time", "100ms")]).unwrap();
    drop(silent);
    server.join().unwrap().unwrap();
}

#[test]
fn a_stream_with_a_foreign_cookie_is_denied() {
    let (address, server) = ours("", &Stop::default());
    let mut control = TcpStream::connect(address).unwrap();
    control.write_all(&[b'a'; COOKIE_BYTES]).unwrap();
    control.read_exact(&mut [0]).unwrap();
    control.write_all(&frame(br#"{"tcp":true,"parallel":1}"#)).unwrap();
    control.read_exact(&mut [0]).unwrap();
    let mut foreign = TcpStream::connect(address).unwrap();
    foreign.write_all(&[b'b'; COOKIE_BYTES]).unwrap();
    let mut answer = Vec::new();
    foreign.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, [0xff]);
    drop(control);
    assert!(server.join().unwrap().is_err());
}
