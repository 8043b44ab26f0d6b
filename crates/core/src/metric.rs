//! What is measured: a name, its unit, and which direction is better.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Throughput, bandwidth, rates.
    Higher,
    /// Latency, loss, cost.
    Lower,
    /// Neither: context such as a congestion window.
    Neither,
}

/// A named quantity with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// The field's own word: `throughput`, `rtt`, `retransmits`.
    pub name: Cow<'static, str>,
    /// The unit of every value.
    pub unit: Unit,
    /// The direction a verdict calls faster.
    pub better: Better,
}

/// How two values of a metric are weighed against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// By their ratio: times, rates, whatever is never 0.
    #[default]
    Ratio,
    /// By their difference: counts, losses, temperatures, whatever may be 0.
    Difference,
}

impl Metric {
    /// How values of this metric are weighed. Follows from name and unit, so that stored runs need not say it.
    pub fn scale(&self) -> Scale {
        match (self.unit, self.name.as_ref()) {
            (Unit::Count | Unit::Celsius, _) => Scale::Difference,
            (Unit::Ratio, "cpu_utilization") => Scale::Ratio,
            (Unit::Ratio, _) => Scale::Difference,
            _ => Scale::Ratio,
        }
    }

    /// The same for values at hand: where one is 0 or less no ratio can be made.
    pub fn scale_for(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        let unfit = values.into_iter().any(|value| value <= 0.0);
        if unfit { Scale::Difference } else { self.scale() }
    }

    /// A metric known when the program is built.
    pub const fn new(name: &'static str, unit: Unit, better: Better) -> Metric {
        Metric { name: Cow::Borrowed(name), unit, better }
    }
}

/// Payload bits in a second through a network.
pub const THROUGHPUT: Metric = Metric::new("throughput", Unit::BitPerSecond, Better::Higher);
/// A full round trip.
pub const RTT: Metric = Metric::new("rtt", Unit::Second, Better::Lower);
/// Retransmission attempts of TCP.
pub const RETRANSMITS: Metric = Metric::new("retransmits", Unit::Count, Better::Lower);
/// Congestion window of TCP.
pub const CWND: Metric = Metric::new("cwnd", Unit::Byte, Better::Neither);
/// Payload moved.
pub const TRANSFERRED: Metric = Metric::new("transferred", Unit::Byte, Better::Neither);
/// Process CPU time over wall time; above 1 when several CPUs are used.
pub const CPU_UTILIZATION: Metric = Metric::new("cpu_utilization", Unit::Ratio, Better::Lower);
/// Process CPU time for a byte of payload.
pub const CPU_PER_BYTE: Metric = Metric::new("cpu_per_byte", Unit::SecondPerByte, Better::Lower);
/// Segments or datagrams in a second, derived from payload and segment size.
pub const PACKET_RATE: Metric = Metric::new("packet_rate", Unit::OpPerSecond, Better::Neither);
/// Share of packets that never arrived.
pub const LOSS: Metric = Metric::new("loss", Unit::Ratio, Better::Lower);
/// Echo requests sent.
pub const PACKETS_SENT: Metric = Metric::new("packets_sent", Unit::Count, Better::Neither);
/// First replies received.
pub const PACKETS_RECEIVED: Metric = Metric::new("packets_received", Unit::Count, Better::Neither);
/// Replies that came more than once.
pub const DUPLICATES: Metric = Metric::new("duplicates", Unit::Count, Better::Lower);
/// Wall time of a whole command or test.
pub const DURATION: Metric = Metric::new("duration", Unit::Second, Better::Lower);
/// CPU time (user and system) of a whole command.
pub const CPU_TIME: Metric = Metric::new("cpu_time", Unit::Second, Better::Lower);
/// One way through a message layer, an operation's time, or a storage request from submission to completion.
pub const LATENCY: Metric = Metric::new("latency", Unit::Second, Better::Lower);
/// Bytes in a second: message passing, memory, storage.
pub const BANDWIDTH: Metric = Metric::new("bandwidth", Unit::BytePerSecond, Better::Higher);
/// Storage requests completed in a second.
pub const IOPS: Metric = Metric::new("iops", Unit::OpPerSecond, Better::Higher);
/// Requests with their responses in a second.
pub const TRANSACTION_RATE: Metric = Metric::new("transaction_rate", Unit::OpPerSecond, Better::Higher);
/// Messages in a second.
pub const MESSAGE_RATE: Metric = Metric::new("message_rate", Unit::OpPerSecond, Better::Higher);
/// Floating point operations in a second.
pub const FLOP_RATE: Metric = Metric::new("flop_rate", Unit::FlopPerSecond, Better::Higher);
/// Speed relative to a reference machine.
pub const SCORE: Metric = Metric::new("score", Unit::None, Better::Higher);
/// What is left of a solver's error.
pub const RESIDUAL: Metric = Metric::new("residual", Unit::None, Better::Neither);
/// Share of communication hidden behind computation.
pub const OVERLAP: Metric = Metric::new("overlap", Unit::Ratio, Better::Higher);
/// Variation of the transit time of datagrams.
pub const JITTER: Metric = Metric::new("jitter", Unit::Second, Better::Lower);
/// Packets or datagrams that did not arrive.
pub const PACKETS_LOST: Metric = Metric::new("packets_lost", Unit::Count, Better::Lower);
/// Datagrams that came after a later one.
pub const REORDERED: Metric = Metric::new("reordered", Unit::Count, Better::Lower);
/// Temperature of a sensor.
pub const TEMPERATURE: Metric = Metric::new("temperature", Unit::Celsius, Better::Lower);
/// Speed of a fan.
pub const FAN_SPEED: Metric = Metric::new("fan_speed", Unit::Rpm, Better::Neither);
/// Electric potential at a sensor.
pub const VOLTAGE: Metric = Metric::new("voltage", Unit::Volt, Better::Neither);
/// Electric current at a sensor.
pub const CURRENT: Metric = Metric::new("current", Unit::Ampere, Better::Lower);
/// Power drawn.
pub const POWER: Metric = Metric::new("power", Unit::Watt, Better::Lower);
/// A sensor's reading in percent: fan duty, usage.
pub const LEVEL: Metric = Metric::new("level", Unit::Ratio, Better::Neither);
