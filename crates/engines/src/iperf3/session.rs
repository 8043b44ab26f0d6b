//! The order of a test on the control connection, for each role, as a state machine: bytes in, steps out.
//! No socket, no clock: whoever drives it does the step and hands in the next byte.

use super::wire::State;

/// What the client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Send the parameters.
    SendParameters,
    /// Open the data streams.
    OpenStreams,
    /// Get ready; [`ClientStep::Run`] follows at once.
    Prepare,
    /// Start the clock and move data.
    Run,
    /// Send the results, then read the server's.
    ExchangeResults,
    /// Say good-bye.
    Finish,
}

/// Why a test ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The server runs another test.
    Busy,
    /// Two numbers with the reason follow.
    ServerError,
    /// The server was stopped.
    ServerTerminated,
    /// The client was stopped.
    ClientTerminated,
    /// A byte that has no place here.
    Unexpected {
        /// The byte.
        byte: u8,
        /// What was waited for.
        waiting_for: &'static str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientPhase {
    Hello,
    Parameters,
    Streams,
    Prepared,
    Running,
    Ended,
    Results,
    Over,
}

/// The client's part.
#[derive(Debug)]
pub struct Client(ClientPhase);

impl Client {
    /// The cookie has been sent.
    pub fn new() -> Client {
        Client(ClientPhase::Hello)
    }

    /// What is waited for, in words.
    pub fn waiting_for(&self) -> &'static str {
        match self.0 {
            ClientPhase::Hello => "the request for parameters",
            ClientPhase::Parameters => "the request for streams",
            ClientPhase::Streams => "the start of the test",
            ClientPhase::Prepared => "the go-ahead",
            ClientPhase::Running => "the end of the test",
            ClientPhase::Ended => "the request for results",
            ClientPhase::Results => "the end of the exchange",
            ClientPhase::Over => "nothing more",
        }
    }

    /// The client has sent [`State::TestEnd`].
    pub fn ended(&mut self) {
        self.0 = ClientPhase::Ended;
    }

    /// The server sent `byte`.
    pub fn on_byte(&mut self, byte: u8) -> Result<ClientStep, Break> {
        use ClientPhase as P;
        let (step, next) = match (self.0, State::of(byte)) {
            (_, Some(State::AccessDenied)) => return Err(Break::Busy),
            (_, Some(State::ServerError)) => return Err(Break::ServerError),
            (_, Some(State::ServerTerminate)) => return Err(Break::ServerTerminated),
            (P::Hello, Some(State::ParamExchange)) => (ClientStep::SendParameters, P::Parameters),
            (P::Parameters, Some(State::CreateStreams)) => (ClientStep::OpenStreams, P::Streams),
            (P::Streams, Some(State::TestStart)) => (ClientStep::Prepare, P::Prepared),
            (P::Prepared, Some(State::TestRunning)) => (ClientStep::Run, P::Running),
            (P::Ended, Some(State::ExchangeResults)) => (ClientStep::ExchangeResults, P::Results),
            (P::Results, Some(State::DisplayResults)) => (ClientStep::Finish, P::Over),
            _ => return Err(Break::Unexpected { byte, waiting_for: self.waiting_for() }),
        };
        self.0 = next;
        Ok(step)
    }
}

/// What the server does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// Stop the clock, close the streams, exchange results.
    End,
    /// The client is done.
    Finish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerPhase {
    Opening,
    Running,
    Over,
}

/// The server's part. It speaks first in most steps, so few bytes come in.
#[derive(Debug)]
pub struct Server(ServerPhase);

impl Server {
    /// The streams are being opened.
    pub fn new() -> Server {
        Server(ServerPhase::Opening)
    }

    /// The server has sent [`State::TestRunning`].
    pub fn running(&mut self) {
        self.0 = ServerPhase::Running;
    }

    /// The client sent `byte`.
    pub fn on_byte(&mut self, byte: u8) -> Result<ServerStep, Break> {
        let unexpected = |waiting_for| Err(Break::Unexpected { byte, waiting_for });
        match (self.0, State::of(byte)) {
            (_, Some(State::ClientTerminate)) => Err(Break::ClientTerminated),
            (ServerPhase::Running, Some(State::TestEnd)) => {
                self.0 = ServerPhase::Over;
                Ok(ServerStep::End)
            }
            (ServerPhase::Over, Some(State::IperfDone)) => Ok(ServerStep::Finish),
            (ServerPhase::Opening, _) => unexpected("its data streams"),
            (ServerPhase::Running, _) => unexpected("the end of the test"),
            (ServerPhase::Over, _) => unexpected("its good-bye"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `word` is how a session goes: the bytes of the server, `E` for the client's own TEST_END.
    fn client(word: &[i32]) -> Result<ClientStep, Break> {
        let mut session = Client::new();
        let mut last = Err(Break::Busy);
        for &byte in word {
            if byte < 0 {
                session.ended();
            } else {
                last = session.on_byte(byte as u8);
                last?;
            }
        }
        last
    }

    const END: i32 = -1;

    #[test]
    fn a_client_from_start_to_end() {
        let whole = [9, 10, 1, 2, END, 13, 14];
        let steps = [
            (1, ClientStep::SendParameters),
            (2, ClientStep::OpenStreams),
            (3, ClientStep::Prepare),
            (4, ClientStep::Run),
            (6, ClientStep::ExchangeResults),
            (7, ClientStep::Finish),
        ];
        for (length, step) in steps {
            assert_eq!(client(&whole[..length]), Ok(step));
        }
    }

    #[test]
    fn every_other_byte_breaks_a_client_and_is_named() {
        let good =
            [(vec![], 9), (vec![9], 10), (vec![9, 10], 1), (vec![9, 10, 1], 2), (vec![9, 10, 1, 2], -2)];
        let late = [
            (vec![9, 10, 1, 2, END], 13),
            (vec![9, 10, 1, 2, END, 13], 14),
            (vec![9, 10, 1, 2, END, 13, 14], -2),
        ];
        for (before, next) in good.into_iter().chain(late) {
            for byte in 0..=255 {
                let mut word = before.clone();
                word.push(byte);
                let got = client(&word);
                match byte {
                    0xff => assert_eq!(got, Err(Break::Busy)),
                    0xfe => assert_eq!(got, Err(Break::ServerError)),
                    11 => assert_eq!(got, Err(Break::ServerTerminated)),
                    _ if byte == next => assert!(got.is_ok(), "{word:?}"),
                    _ => assert!(
                        matches!(got, Err(Break::Unexpected { byte: b, .. }) if i32::from(b) == byte),
                        "{word:?}"
                    ),
                }
            }
        }
    }

    #[test]
    fn a_server_in_every_phase() {
        let opening = Server::new;
        let running = || {
            let mut server = Server::new();
            server.running();
            server
        };
        let over = || {
            let mut server = running();
            server.on_byte(4).unwrap();
            server
        };
        for byte in 0..=255u8 {
            let got = [opening().on_byte(byte), running().on_byte(byte), over().on_byte(byte)];
            match byte {
                12 => assert_eq!(got, [Err(Break::ClientTerminated); 3]),
                4 => assert_eq!(got.map(|step| step.ok()), [None, Some(ServerStep::End), None]),
                16 => assert_eq!(got.map(|step| step.ok()), [None, None, Some(ServerStep::Finish)]),
                _ => assert!(got.iter().all(|step| matches!(step, Err(Break::Unexpected { .. })))),
            }
        }
    }
}
