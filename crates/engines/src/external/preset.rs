//! How well-known tools are started: the commands, and the format that reads what they print.

/// A tool as a measure: `preset = "iperf3"`.
#[derive(Debug)]
pub struct Preset {
    /// Its name in plans.
    pub name: &'static str,
    /// What is started on the far host, if the measure names one.
    pub serve: &'static [&'static str],
    /// What is started on the measuring host; empty where only the user knows the binary.
    pub command: &'static [&'static str],
    /// The format of its output.
    pub format: &'static str,
}

/// Every preset.
pub static PRESETS: &[Preset] = &[
    Preset { name: "ping", serve: &[], command: &["ping", "-n", "-c", "10", "{server}"], format: "ping" },
    Preset {
        name: "iperf3",
        serve: &["iperf3", "-s", "-1", "-p", "{port}"],
        command: &["iperf3", "-c", "{server}", "-p", "{port}", "-J"],
        format: "iperf3",
    },
    Preset {
        name: "sockperf",
        serve: &["sockperf", "server", "-i", "{server}", "-p", "{port}"],
        command: &["sockperf", "ping-pong", "-i", "{server}", "-p", "{port}"],
        format: "sockperf",
    },
    Preset {
        name: "imb",
        serve: &[],
        command: &["mpirun", "-np", "2", "IMB-MPI1", "PingPong"],
        format: "imb",
    },
    Preset { name: "osu", serve: &[], command: &["mpirun", "-np", "2", "osu_latency"], format: "osu" },
    Preset { name: "fio", serve: &[], command: &["fio", "--output-format=json"], format: "fio" },
    Preset { name: "iozone", serve: &[], command: &["iozone", "-a"], format: "iozone" },
    Preset { name: "himeno", serve: &[], command: &[], format: "himeno" },
    Preset { name: "stream", serve: &[], command: &[], format: "stream" },
];

/// The preset of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
