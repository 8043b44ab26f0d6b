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

impl Metric {
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
