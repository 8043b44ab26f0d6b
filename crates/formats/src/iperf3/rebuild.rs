//! From a run back to the test that iperf3 would tell of, so that its text and its document can be printed of any run
//! with such series. What a run does not hold is left out, never made up.

use std::collections::BTreeMap;

use tenbin_core::caveat::CaveatKind;
use tenbin_core::env::FactValue;
use tenbin_core::metric::{
    CPU_UTILIZATION, CWND, JITTER, LOSS, PACKETS_LOST, PACKETS_SENT, REORDERED, RETRANSMITS, RTT, THROUGHPUT,
    TRANSFERRED,
};
use tenbin_core::run::Run;
use tenbin_core::sample::{Param, Params, Series};

use super::model::{Connection, Cpu, Direction, End, Interval, Role, Row, Side, Start, Test};
use super::series::local_side;

/// The version that is named where the run was not iperf3's own: the one whose forms are printed.
const VERSION: &str = "3.12";
/// The number that iperf3 mostly gives its first stream.
const FIRST_SOCKET: i64 = 5;

/// Whose rows: direction, stream (`None`: all together, or the only one), side.
type Place = (Direction, Option<i64>, Side);

/// The test; `None` of a run without a rate or an amount that iperf3 prints.
pub fn test(run: &Run) -> Option<Test> {
    let rows = |total| rows_of(run, total);
    let (mut intervals, totals) = (rows(false), rows(true));
    if intervals.is_empty() && totals.is_empty() {
        return None;
    }
    let mut test = Test { start: start(run, &intervals, &totals), ..Test::default() };
    // Those of the other side that its own report added have no place here.
    let near = local_side(&test.start);
    let first = if test.start.reverse { Direction::Reverse } else { Direction::Forward };
    intervals.retain(|(direction, _, side), _| (*side == near) == (*direction == first));
    let alone = Alone::of(intervals.keys().chain(totals.keys()));
    test.intervals = reports(&intervals, &alone);
    test.end = end(run, &test.start, &totals, &alone);
    test.error = run.caveats.iter().find_map(|caveat| match caveat.kind {
        CaveatKind::ErrorReported => Some(caveat.text.trim_start_matches("iperf3 says: ").to_owned()),
        CaveatKind::Interrupted => {
            Some(caveat.text.trim_start_matches("the test was stopped before its end: ").to_owned())
        }
        _ => None,
    });
    Some(test)
}

fn rows_of(run: &Run, total: bool) -> BTreeMap<Place, Vec<Row>> {
    let mut all: BTreeMap<Place, Vec<Row>> = BTreeMap::new();
    // Rates and amounts make the rows, the rest is added to those of the same time.
    let makes = |series: &&Series| [THROUGHPUT.name, TRANSFERRED.name].contains(&series.metric.name);
    let (first, rest): (Vec<&Series>, Vec<&Series>) =
        run.series.iter().filter(|series| series.params.contains_key("window") == total).partition(makes);
    for series in first.into_iter().chain(rest) {
        let Some((place, set)) = place(&series.params).zip(setter(&series.metric.name)) else { continue };
        let may_make = makes(&series);
        let rows = all.entry(place).or_default();
        let mut cursor = 0;
        for sample in &series.samples {
            let Some(end) = sample.time() else { continue };
            // Samples come in the order of the rows, of which several may end at the same printed time.
            let found = rows.iter().skip(cursor).position(|row| row.end == end).map(|at| at + cursor);
            let at = match found {
                Some(at) => at,
                None if may_make || total => {
                    let start = if total { 0.0 } else { rows.last().map_or(0.0, |row| row.end) };
                    let (direction, stream, side) = place;
                    rows.push(Row { stream, side, direction, start, end, ..Row::default() });
                    rows.len() - 1
                }
                None => continue,
            };
            cursor = at + 1;
            if let Some(row) = rows.get_mut(at) {
                set(row, sample.value);
            }
        }
        if total
            && series.metric.name == LOSS.name
            && let (Some(row), Some(printed)) = (rows.last_mut(), series.reported.get("mean"))
        {
            row.lost_ratio = Some(*printed);
        }
    }
    all.retain(|_, rows| !rows.is_empty());
    all
}

fn place(params: &Params) -> Option<Place> {
    let direction = match params.get("direction") {
        Some(Param::Text(word)) if word == Direction::Reverse.word() => Direction::Reverse,
        _ => Direction::Forward,
    };
    let stream = match params.get("stream") {
        Some(Param::Int(number)) => Some(*number),
        Some(_) => return None,
        None => None,
    };
    let side = match params.get("side") {
        Some(Param::Text(word)) if word == Side::Receiver.word() => Side::Receiver,
        Some(Param::Text(word)) if word == Side::Sender.word() => Side::Sender,
        _ => return None,
    };
    Some((direction, stream, side))
}

/// Puts a value into its row.
type Setter = fn(&mut Row, f64);

/// What a value of a metric is in a row.
fn setter(metric: &str) -> Option<Setter> {
    let known: [(&str, Setter); 10] = [
        (&THROUGHPUT.name, |row, value| row.bits_per_second = Some(value)),
        (&TRANSFERRED.name, |row, value| row.bytes = Some(value)),
        (&RETRANSMITS.name, |row, value| row.retransmits = Some(value)),
        (&CWND.name, |row, value| row.cwnd_bytes = Some(value)),
        (&RTT.name, |row, value| row.rtt_seconds = Some(value)),
        (&JITTER.name, |row, value| row.jitter_seconds = Some(value)),
        (&PACKETS_SENT.name, |row, value| row.packets = Some(value)),
        (&PACKETS_LOST.name, |row, value| row.lost_packets = Some(value)),
        (&REORDERED.name, |row, value| row.out_of_order = Some(value)),
        (&LOSS.name, |row, value| row.lost_ratio = Some(value)),
    ];
    known.into_iter().find(|(name, _)| *name == metric).map(|(_, set)| set)
}

/// Directions with a lone stream, whose rows carry no number, and the numbers they get.
struct Alone(BTreeMap<Direction, i64>);

impl Alone {
    fn of<'a>(places: impl Iterator<Item = &'a Place>) -> Alone {
        let mut numbered: BTreeMap<Direction, bool> = BTreeMap::new();
        for (direction, stream, _) in places {
            *numbered.entry(*direction).or_default() |= stream.is_some();
        }
        let lone = numbered.into_iter().filter(|(_, numbered)| !numbered).map(|(direction, _)| direction);
        Alone(lone.zip((0..).map(|nth| FIRST_SOCKET + 2 * nth)).collect())
    }

    /// The rows of streams and of all together that a row without a number stands for.
    fn put(&self, row: &Row, streams: &mut Vec<Row>, sums: &mut Vec<Row>) {
        match (row.stream, self.0.get(&row.direction)) {
            (Some(_), _) => streams.push(*row),
            (None, Some(number)) => {
                streams.push(Row { stream: Some(*number), ..*row });
                // Only a stream has a window and a round trip time of its own.
                sums.push(Row { cwnd_bytes: None, rtt_seconds: None, ..*row });
            }
            (None, None) => sums.push(*row),
        }
    }
}

/// The first rows of all make the first report, and so on.
fn reports(rows: &BTreeMap<Place, Vec<Row>>, alone: &Alone) -> Vec<Interval> {
    let count = rows.values().map(Vec::len).max().unwrap_or(0);
    let report = |nth: usize| {
        let mut interval = Interval::default();
        for row in rows.values().filter_map(|rows| rows.get(nth)) {
            alone.put(row, &mut interval.streams, &mut interval.sums);
        }
        interval
    };
    (0..count).map(report).collect()
}

fn end(run: &Run, start: &Start, rows: &BTreeMap<Place, Vec<Row>>, alone: &Alone) -> Option<End> {
    let mut end = End::default();
    for row in rows.values().flatten() {
        alone.put(row, &mut end.streams, &mut end.sums);
    }
    let near = local_side(start);
    let cpu = |side: Side| {
        let of = |series: &&Series| {
            series.metric.name == CPU_UTILIZATION.name
                && series.params.get("side") == Some(&side.word().into())
                && series.params.contains_key("window")
        };
        let total = run.series.iter().find(of)?.samples.last()?.value;
        Some(Cpu { total, user: None, system: None })
    };
    (end.cpu_local, end.cpu_remote) = (cpu(near), cpu(near.other()));
    let congestion = words(run, "tcp.congestion");
    (end.sender_congestion, end.receiver_congestion) = (congestion.clone(), congestion);
    (!end.streams.is_empty() || !end.sums.is_empty()).then_some(end)
}

fn words(run: &Run, fact: &str) -> Option<String> {
    match run.facts.get(fact)?.value.as_ref()? {
        FactValue::Text(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn whole(run: &Run, fact: &str) -> Option<u64> {
    match run.facts.get(fact)?.value.as_ref()? {
        FactValue::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

fn start(run: &Run, intervals: &BTreeMap<Place, Vec<Row>>, totals: &BTreeMap<Place, Vec<Row>>) -> Start {
    let places = || intervals.keys().chain(totals.keys());
    let goes = |direction: Direction| places().any(|(way, _, _)| *way == direction);
    let (forward, reverse) = (goes(Direction::Forward), goes(Direction::Reverse));
    // Who tells prints the intervals of its own side; of totals alone a server knows one side only.
    let first = if forward { Direction::Forward } else { Direction::Reverse };
    let sides = |of: &BTreeMap<Place, Vec<Row>>, side: Side| {
        of.keys().any(|(direction, _, have)| *direction == first && *have == side)
    };
    let told = if intervals.is_empty() { totals } else { intervals };
    let server_side = if first == Direction::Forward { Side::Receiver } else { Side::Sender };
    let server = sides(told, server_side) && !sides(told, server_side.other());
    let numbers: std::collections::BTreeSet<i64> = places().filter_map(|(_, stream, _)| *stream).collect();
    let lone = Alone::of(places()).0;
    let (local, remote) = (words(run, "tcp.local"), words(run, "tcp.remote"));
    let connection = |socket| Connection {
        socket,
        local_host: local.clone().unwrap_or_default(),
        remote_host: remote.clone().unwrap_or_default(),
        ..Connection::default()
    };
    let udp = |row: &Row| row.jitter_seconds.is_some() || row.lost_packets.is_some();
    let datagrams = intervals.values().chain(totals.values()).flatten().any(udp);
    let protocol = if datagrams { "UDP" } else { "TCP" };
    let ends = totals.values().flatten().map(|row| row.end);
    Start {
        role: if server { Role::Server } else { Role::Client },
        version: Some(
            run.tool_version.clone().filter(|_| run.tool == "iperf3").unwrap_or(VERSION.to_owned()),
        ),
        system_info: words(run, "iperf3.system"),
        peer_host: remote.clone().unwrap_or_default(),
        protocol: words(run, "iperf3.protocol").unwrap_or(protocol.to_owned()),
        streams: whole(run, "iperf3.streams").map_or(numbers.len().max(1) as u32, |n| n as u32),
        block_bytes: whole(run, "tcp.block").unwrap_or(0),
        duration_seconds: ends.fold(0.0, f64::max).round(),
        reverse: reverse && !forward,
        bidir: reverse && forward,
        mss_bytes: whole(run, "tcp.mss"),
        connected: numbers.iter().copied().chain(lone.values().copied()).map(connection).collect(),
        ..Start::default()
    }
}
