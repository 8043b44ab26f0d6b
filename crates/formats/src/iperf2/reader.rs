//! Finds out which test a line belongs to: clients and servers, several after each other or at once.

use tenbin_core::caveat::CaveatKind;
use tenbin_core::run::Run;

use super::csv;
use super::facts;
use super::group::{Group, Side, Taken};
use super::row::{self, Id, Row};

/// What the banner above the rows says.
#[derive(Clone, Debug, Default)]
struct Banner {
    /// `iperf -c` wrote it; `None` before any.
    client: Option<bool>,
    udp: bool,
    /// The port that this program listens at.
    listens: Option<u16>,
    window: Option<i64>,
    /// A client that a server starts for its own client (-d, -r).
    called_back: bool,
}

/// Reads lines into tests.
#[derive(Default)]
pub struct Reader {
    groups: Vec<Group>,
    /// Which group and stream an id means now.
    now: Vec<(Id, usize, usize)>,
    banner: Banner,
    columns: Option<Side>,
    version: Option<String>,
    /// What was said before there was a test to say it of.
    said: Option<String>,
    /// The columns of CSV lines, where a line names them.
    names: Option<Vec<String>>,
}

impl Reader {
    /// The next line.
    pub fn line(&mut self, line: &str, whole: bool) {
        if let Some(names) = csv::header(line) {
            self.names = Some(names);
        } else if let Some(record) = csv::read(line, self.names.as_deref(), whole) {
            self.record(&record);
        } else if let Some(row) = row::read(line, whole) {
            if line.trim_start().starts_with("^C") {
                self.interrupt(row.id);
            }
            self.row(row);
        } else if !self.banner(line) {
            self.remark(line);
        }
    }

    /// Every run, and what iperf said where there is none.
    pub fn finish(self) -> (Vec<Run>, Option<String>) {
        let said = self.groups.iter().flat_map(|group| &group.said).next().cloned();
        let version = self.version;
        let runs = self.groups.into_iter().filter_map(Group::finish).map(|mut run| {
            run.tool_version = run.tool_version.or_else(|| version.clone());
            run
        });
        (runs.collect(), self.said.or(said))
    }

    /// The lines above the rows.
    fn banner(&mut self, line: &str) -> bool {
        if let Some(rest) = after(line, "Client connecting to ") {
            let host = rest.split(',').next().unwrap_or_default().trim();
            let listens = self.banner.listens.filter(|_| self.banner.client == Some(false));
            let last = self.groups.last();
            let called_back =
                listens.is_some() && last.is_some_and(|group| !group.client && group.peer == host);
            // A server's banner without a connection in between: the client's own for the way back.
            let listens = listens.filter(|_| called_back || !self.served());
            let client = Some(!called_back);
            self.banner =
                Banner { client, udp: rest.contains("UDP port"), listens, window: None, called_back };
            if !called_back {
                self.now.clear();
            }
        } else if let Some(rest) = after(line, "Server listening on ") {
            let listens = rest.split_whitespace().find_map(|word| word.parse().ok());
            let udp = rest.starts_with("UDP");
            self.banner = Banner { client: Some(false), udp, listens, ..Banner::default() };
            self.now.clear();
        } else if let Some(rest) = after(line, "window size:").or_else(|| after(line, "buffer size:")) {
            if !line.contains("Write buffer") && !line.contains("Read buffer") {
                self.banner.window = facts::window_bytes(rest);
            }
        } else if line.contains("] local ") && line.contains(" connected with ") {
            self.connection(line);
        } else if line.contains("Interval") && (line.contains("[ ID]") || line.contains("[SUM-cnt]")) {
            self.columns = if line.contains("Write/Err") {
                Some(Side::Sender)
            } else if line.contains("Jitter") || line.contains("Reads") {
                Some(Side::Receiver)
            } else {
                None
            };
        } else {
            return false;
        }
        true
    }

    /// Whether the banner that stands now has had a connection.
    fn served(&self) -> bool {
        !self.now.is_empty()
    }

    /// `[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001`
    fn connection(&mut self, line: &str) -> Option<()> {
        let (head, rest) = line.split_once("] local ")?;
        let (id, _) = row::id(&format!("{}]", head.rsplit('[').next()?))?;
        let (local, remote) = rest.split_once(" connected with ")?;
        let end = |text: &str| {
            let (host, port) = text.trim().split_once(" port ")?;
            let port = port.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u16>().ok()?;
            Some((host.split('%').next().unwrap_or_default().to_owned(), port))
        };
        let ((local, local_port), (remote, remote_port)) = (end(local)?, end(remote)?);
        // The line of a connection that failed.
        if local_port == 0 {
            return None;
        }
        let listens = self.banner.listens == Some(local_port);
        // Without a banner the port that iperf listens at tells.
        let server = self.banner.client.map_or(local_port == 5001 && remote_port != 5001, |client| !client);
        // Streams that begin together are one test.
        let joins = self.groups.len().checked_sub(1).filter(|at| {
            let group = &self.groups[*at];
            self.served() && group.peer == remote && !group.has_rows()
        });
        let at = joins.unwrap_or_else(|| {
            self.groups.push(Group::new(&remote, !server, self.banner.udp));
            self.groups.len() - 1
        });
        let mss = after(line, "/mss/irtt=").and_then(|rest| rest.split('/').nth(1)?.parse().ok());
        let group = &mut self.groups[at];
        facts::of(&mut group.sheet, &local, &remote, self.banner.window, mss);
        if let Some(version) = after(line, "(peer ").and_then(|rest| rest.split([')', '-']).next()) {
            group.sheet.fact("iperf2.peer_version", version.trim().to_owned());
        }
        // Who connects sends, unless the way is turned round.
        let connects = self.banner.called_back || !(server || listens);
        let turned = line.contains("(reverse)") && !self.banner.called_back;
        let side = if connects != turned { Side::Sender } else { Side::Receiver };
        let reverse = turned || self.banner.called_back || (listens && !server);
        let stream = group.add(id, Some(side), reverse);
        self.now.retain(|(known, ..)| *known != id);
        self.now.push((id, at, stream));
        Some(())
    }

    /// The group and stream that an id means, made if need be.
    fn place(&mut self, id: Id) -> (usize, usize) {
        if let Some((_, group, stream)) = self.now.iter().find(|(known, ..)| *known == id) {
            return (*group, *stream);
        }
        // The other way of a full-duplex or reverse stream has the same number.
        let twin = match id {
            Id::Stream { number, star: true } => {
                self.now.iter().find(|(known, ..)| *known == Id::Stream { number, star: false }).copied()
            }
            _ => None,
        };
        let at = match twin {
            Some((_, group, _)) => group,
            None => match self.now.last() {
                Some((_, group, _)) => *group,
                None => {
                    let client = self.banner.client.unwrap_or(self.columns != Some(Side::Receiver));
                    self.groups.push(Group::new("", client, self.banner.udp));
                    self.groups.len() - 1
                }
            },
        };
        let group = &mut self.groups[at];
        let (side, reverse) = match twin.and_then(|(_, _, stream)| group.streams.get(stream)) {
            Some(stream) if stream.reverse => (stream.side, true),
            Some(stream) => (stream.side.map(Side::other), true),
            None => {
                let first = group.streams.first();
                let known =
                    self.banner.client.map(|client| if client { Side::Sender } else { Side::Receiver });
                (first.and_then(|stream| stream.side).or(known), first.is_some_and(|stream| stream.reverse))
            }
        };
        let stream = group.add(id, side, reverse);
        self.now.push((id, at, stream));
        (at, stream)
    }

    fn row(&mut self, row: Row) {
        if row.id == Id::Both {
            return;
        }
        // A sum over both directions says nothing of either.
        let (at, stream) = self.place(row.id);
        let group = &mut self.groups[at];
        if row.id == Id::Sum
            && group.streams.iter().any(|s| s.reverse)
            && !group.streams.iter().all(|s| s.reverse)
        {
            return;
        }
        let told = if row.cells.writes || row.cells.bounce.is_some() {
            Some(Side::Sender)
        } else if row.cells.reads {
            Some(Side::Receiver)
        } else {
            None
        };
        if let Some(stream) = group.streams.get_mut(stream) {
            let guess = row.cells.jitter.map(|_| Side::Receiver).or(self.columns);
            stream.side = told.or(stream.side).or(guess);
        }
        if group.row(stream, row) == Taken::Another {
            let before = &self.groups[at];
            let (peer, client, udp) = (before.peer.clone(), before.client, before.udp);
            let same = before.streams.get(stream).cloned();
            self.groups.push(Group::new(&peer, client, udp));
            self.now.retain(|(_, group, _)| *group != at);
            let next = self.groups.len() - 1;
            let (side, reverse) = same.map_or((None, false), |stream| (stream.side, stream.reverse));
            let stream = self.groups[next].add(row.id, side, reverse);
            self.now.push((row.id, next, stream));
            self.groups[next].row(stream, row);
        }
    }

    fn record(&mut self, record: &csv::Record<'_>) {
        // A server of 2.0 prints its own end first, later ones and clients the client's.
        let server = record.first.1 == 5001 && record.second.1 != 5001;
        let cells = &record.row.cells;
        let heard = cells.reads || cells.jitter.is_some_and(|jitter| jitter > 0.0) && !record.unknown_total;
        let side = if server || heard { Side::Receiver } else { Side::Sender };
        let (client, peer) =
            if server { (record.second, record.first) } else { (record.first, record.second) };
        let key = format!("{} {}", client.0, peer.0);
        let at = self.groups.iter().rposition(|group| group.peer == key);
        let at = at.unwrap_or_else(|| self.record_group(&key, side, record));
        let id = record.row.id;
        let group = &mut self.groups[at];
        let stream = group.find(id).unwrap_or_else(|| group.add(id, Some(side), false));
        // A first line without jitter may be either's.
        if !group.is_settled(stream)
            && let Some(stream) = group.streams.get_mut(stream)
        {
            stream.side = Some(side);
        }
        if group.row(stream, record.row) == Taken::Another {
            let at = self.record_group(&key, side, record);
            let stream = self.groups[at].add(id, Some(side), false);
            self.groups[at].row(stream, record.row);
        }
    }

    fn record_group(&mut self, key: &str, side: Side, record: &csv::Record<'_>) -> usize {
        let cells = &record.row.cells;
        let udp = cells.lost.is_some();
        let mut group = Group::new(key, side == Side::Sender, udp);
        facts::of(&mut group.sheet, record.first.0, record.second.0, None, None);
        if side == Side::Sender && !udp && !cells.writes {
            let text = "lines of -y C do not tell which end wrote them: read as the client's";
            group.sheet.caveat(CaveatKind::Note, text);
        }
        self.groups.push(group);
        self.groups.len() - 1
    }

    fn interrupt(&mut self, id: Id) {
        let (at, _) = self.place(id);
        self.groups[at].interrupted = true;
    }

    /// Anything else that iperf says, and the commands that people leave in their notes.
    fn remark(&mut self, line: &str) {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("iperf version ") {
            self.version = rest.split_whitespace().next().map(str::to_owned);
            return;
        }
        if after(line, "iperf -c").is_some()
            || after(line, "iperf -s").is_some()
            || after(line, "iperf --").is_some()
        {
            let client = Some(!line.contains("iperf -s"));
            self.banner = Banner { client, udp: line.contains(" -u"), ..Banner::default() };
            self.columns = None;
            self.now.clear();
            return;
        }
        let bracketed = line.split_once('[').and_then(|(_, rest)| row::id(rest));
        if let Some((id, rest)) = bracketed {
            let words: Vec<&str> = rest.split_whitespace().collect();
            match &words[..] {
                ["Sent", count, "datagrams"] => {
                    if let Some(count) = row::number(count).filter(|count| *count >= 0.0) {
                        let (at, stream) = self.place(id);
                        self.groups[at].udp = true;
                        self.groups[at].sent(stream, count);
                    }
                    return;
                }
                ["Server", "Report:"] => {
                    let (at, stream) = self.place(id);
                    self.groups[at].udp = true;
                    self.groups[at].expect_report(stream);
                    return;
                }
                _ => {}
            }
            if let Some((_, end, _, rest)) = row::span(rest)
                && rest.contains("received out-of-order")
                && let Some(count) = rest.split_whitespace().next().and_then(row::number)
            {
                let (at, stream) = self.place(id);
                self.groups[at].reordered(stream, end, count);
                return;
            }
        }
        if let Some(message) = message(text) {
            match self.now.last() {
                Some((_, at, _)) => {
                    let said = &mut self.groups[*at].said;
                    if !said.iter().any(|known| known == message) && said.len() < 8 {
                        said.push(message.to_owned());
                    }
                }
                None => self.said = self.said.take().or_else(|| Some(message.to_owned())),
            }
        }
    }
}

fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.find(words).map(|at| &line[at + words.len()..])
}

/// What iperf says to the terminal when something fails.
fn message(text: &str) -> Option<&str> {
    let failed = ["connect", "bind", "read", "write", "recvfrom", "listen", "accept", "socket", "shutdown"];
    let failure = |text: &str| {
        failed.iter().any(|call| {
            text.split_once(" failed: ").is_some_and(|(head, _)| head.ends_with(call) && head.len() < 40)
        })
    };
    if failure(text) {
        return Some(text);
    }
    let warning =
        text.find("WARNING: did not receive ack").or_else(|| text.find("WARNING: ack of last datagram"));
    if let Some(at) = warning {
        return Some(&text[at..]);
    }
    (text.starts_with("error: ") || text.starts_with("ERROR: ")).then_some(text)
}
