//! What the machine's sensors and counters say, a file a sensor kind.

pub(crate) mod hwmon;
pub(crate) mod stat;
pub(crate) mod throttle;
