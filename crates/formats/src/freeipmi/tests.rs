//! Output of FreeIPMI 1.6.10 against a simulated BMC (`testdata/freeipmi`), and rows of other versions.

use std::fs;

use tenbin_core::run::Run;

use super::*;
use crate::sensors::tell;

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/freeipmi");
    fs::read_to_string(format!("{folder}/freeipmi-1.6.10-{name}.txt")).unwrap()
}

fn parse_all(log: &str) -> Result<Vec<Run>, ParseError> {
    let mut runs = Vec::new();
    FreeIpmi.parse(&mut log.as_bytes(), &mut runs).map(|()| runs)
}

/// `log` is recognised and its runs, told line by line, are these: runs are parted by `--`.
fn check(log: &str, told: &[&str]) {
    assert!(FreeIpmi.sniff(log.as_bytes()), "not recognised: {log}");
    let runs = parse_all(log).unwrap_or_else(|error| panic!("{error}: {log}"));
    let lines: Vec<String> = runs.iter().map(|run| tell::lines(run).join("\n")).collect();
    assert_eq!(lines.join("\n--\n"), told.join("\n"), "{log}");
}

/// The fixture has so many series, states and events in one run, and these lines among them.
fn check_fixture(name: &str, counts: [usize; 3], some: &[&str]) {
    let log = fixture(name);
    assert!(FreeIpmi.sniff(log.as_bytes()), "{name}");
    let runs = parse_all(&log).unwrap();
    assert_eq!(runs.len(), 1, "{name}");
    let run = &runs[0];
    assert_eq!([run.series.len(), run.states.len(), run.events.len()], counts, "{name}");
    let lines = tell::lines(run);
    for line in some {
        assert!(lines.iter().any(|told| told == line), "{name}: no {line} in\n{}", lines.join("\n"));
    }
}

#[test]
fn real_lists_of_sensors() {
    let all = [
        "temperature sensor=CPU1 Margin: -40",
        "fan_speed sensor=FanA: 3300",
        "voltage sensor=P12v: 12.03",
        "current sensor=PSU1 Current: 1.4",
        "power sensor=PW Consumption: 320",
        "state CPU1 Temp - [-]",
        "state NIC Temp - [N/A]",
        "state PS1 Status - [Presence detected]",
    ];
    for layout in ["", "-thresholds", "-csv", "-noheader", "-notype", "-long-units", "-hosts"] {
        // --ignore-not-available-sensors came with the long units.
        let (rows, some) = if layout == "-long-units" { (21, &all[..6]) } else { (22, &all[..]) };
        check_fixture(&format!("ipmi-sensors{layout}"), [16, rows, 0], some);
    }
    let with_state = [
        "temperature sensor=CPU1 Temp: 45",
        "state CPU1 Temp Nominal [-]",
        "state NIC Temp N/A [N/A]",
        "state PS1 Status Nominal [Presence detected]",
    ];
    check_fixture("ipmi-sensors-state", [16, 22, 0], &with_state);
    check_fixture("ipmi-sensors-csv-state", [16, 22, 0], &with_state);
    check_fixture("ipmi-sensors-state-hot", [16, 22, 0], &["state CPU1 Temp Critical [-]"]);
    check_fixture("ipmi-sensors-entity", [16, 22, 0], &["temperature sensor=Processor 1 CPU1 Temp: 45"]);
    check_fixture("ipmi-sensors-bitmask", [16, 22, 0], &["state PS1 Status - [0001h]"]);
    check_fixture("ipmi-sensors-quiet", [0, 22, 0], &["state CPU1 Temp - [OK]"]);
    check_fixture("ipmi-sensors-hosts", [16, 22, 0], &["caveat error-reported"]);
    let hosts = parse_all(&fixture("ipmi-sensors-hosts")).unwrap();
    assert_eq!(hosts[0].facts["freeipmi.host"].value, Some("127.0.0.1:9061".into()));
}

#[test]
fn real_lists_outside_of_tables() {
    check_fixture(
        "ipmi-sensors-v",
        [16, 22, 0],
        &[
            "temperature entity=3.1 sensor=CPU1 Temp: 45",
            "voltage entity=7.1 sensor=P12v: 12.033",
            "state NIC Temp @11.1 - [N/A]",
            "state PS2 Status @10.2 - [Presence detected]",
        ],
    );
    check_fixture(
        "ipmi-sensors-legacy",
        [16, 22, 0],
        &[
            "temperature sensor=CPU1 Margin: -40",
            "state CPU1 Temp OK [-]",
            "state NIC Temp - [NA]",
            "state PS1 Status - [Presence detected]",
        ],
    );
}

#[test]
fn real_event_logs() {
    let told = |state: &str, way: &str| {
        format!(
            "event 4 2026-12-01T04:27:25 [CPU1 Temp] [{state} ; Sensor Reading = 45.00 C ; Threshold = 95.00 C] {way}"
        )
    };
    let plain = told("Upper Critical - going high", "?");
    for layout in ["", "-state", "-csv", "-noheader"] {
        check_fixture(&format!("ipmi-sel{layout}"), [0, 0, 7], &[&plain]);
    }
    let directed = told("Upper Critical - going high", "off");
    check_fixture("ipmi-sel-v", [0, 0, 7], &[&directed]);
    check_fixture("ipmi-sel-vv", [0, 0, 7], &[&directed]);
    check_fixture(
        "ipmi-sel-legacy",
        [0, 0, 7],
        &[
            "event 4 2026-12-01T04:27:25 [Temperature CPU1 Temp] [Upper Critical - going high:Reading = 45.00 C:Threshold = 95.00 C] ?",
            "event 7 2026-12-01T04:27:27 [Physical Security #42] [General Chassis Intrusion] ?",
        ],
    );
}

#[test]
fn what_measured_nothing() {
    let check = |log: &str, said: &str| {
        assert!(FreeIpmi.sniff(log.as_bytes()), "{log}");
        let error = parse_all(log).unwrap_err().to_string();
        assert_eq!(error, format!("freeipmi measured nothing: {said}"));
    };
    check(&fixture("ipmi-dcmi-refused"), "ipmi_cmd_dcmi_get_power_reading: command invalid or unsupported");
    check("ipmi-sensors: connection timeout\n", "ipmi-sensors: connection timeout");
    check(
        "ID | Name | Type | Reading | Units | Event\n",
        "no complete row of a sensor list, event log or power reading",
    );
}

#[test]
fn rows_of_other_versions() {
    check(
        "Record_ID | Sensor Name | Sensor Group | Monitoring Status| Sensor Units | Sensor Reading\n1 | Temp | Temperature | Nominal | C | 29.000000\n2 | PS | Power Supply | Critical | N/A | 'Presence detected'\n",
        &["temperature sensor=Temp: 29", "state Temp Nominal [-]", "state PS Critical [Presence detected]"],
    );
    check(
        "ID,Name,Type,Reading,Units,Event\n1,Fan 1, left,Fan,43.51,%,'OK'\n2,CPU,Processor,N/A,N/A,'A, b' 'C'\n",
        &["level sensor=Fan 1, left: 0.4351", "state Fan 1, left - [-]", "state CPU - ['A, b' 'C']"],
    );
    check("12 | Alt | Other | 80.00 | ft | 'OK'\n", &["reading sensor=Alt unit=ft: 80", "state Alt - [-]"]);
    check(
        "7 | PostInit | PostInit | Sensor #1 | Fan | Lower Critical - going low\n",
        &["event 7 - [Sensor #1] [Lower Critical - going low] ?"],
    );
    check("7:PostInit Time-stamp:Fan #1:State Asserted\n", &["event 7 - [Fan #1] [State Asserted] ?"]);
    check(
        "ID | Date | Time | Name | Type | Event\n8 | Nov-30-2026 | 23:21:27 | N/A | N/A | a | b\n",
        &["event 8 2026-11-30T23:21:27 [-] [a | b] ?"],
    );
}

#[test]
fn several_lists() {
    let (a, b) = ("3 | T | Temperature | 40.00 | C | 'OK'\n", "3 | T | Temperature | 41.00 | C | 'OK'\n");
    let told =
        ["temperature sensor=T: 40", "state T - [-]", "--", "temperature sensor=T: 41", "state T - [-]"];
    check(&format!("{a}{b}"), &told);
    let header = "ID | Name | Type | Reading | Units | Event\n";
    check(&format!("{header}{a}{header}{b}"), &told);
    check(&format!("$ ipmi-sensors\n{header}{a}$ ipmi-sensors\n{header}{b}"), &told);
    check(&format!("n1: {header}n2: {header}n1: {a}n2: {b}"), &told);
}

#[test]
fn power() {
    let log = |measuring: &str, min: u32| {
        format!(
            "Current Power                        : 105 Watts\nMinimum Power over sampling duration : {min} watts\nMaximum Power over sampling duration : 300 watts\nAverage Power over sampling duration : 200 watts\nTime Stamp                           : 05/29/2023 - 14:33:12\nStatistics reporting time period     : 1000 milliseconds\nPower Measurement                    : {measuring}\n"
        )
    };
    check(&log("Active", 4), &["power: 105 max=300 mean=200 min=4"]);
    check(&log("Not Available", 0), &["power: 105 max=300 mean=200"]);
}

#[test]
fn tables_of_others() {
    for log in [
        "1 | a | N/A\n",
        "1,a,b,N/A,N/A,N/A\n",
        "ID,Name,Size,Date\n1,a,2,Nov-30-2026\n",
        "| ID | Name | Type | Default |\n",
        "Record ID: 5\nName: x\n",
        "1: note (see below): [x]\n",
    ] {
        assert!(!FreeIpmi.sniff(log.as_bytes()), "{log}");
    }
}

#[test]
fn cut_logs() {
    let row = "3 | T | Temperature | 40.00 | C | 'OK'\n";
    let told = ["temperature sensor=T: 40", "state T - [-]"];
    for end in ["4 | U | Temperature | 4", "4 | U | Temperature | 41.00 | C |", "4 | U | Te"] {
        check(&format!("{row}{end}"), &[told[0], told[1], "caveat truncated"]);
    }
    check(row.trim_end(), &told);
    // Every beginning of a log is read without a fall, and gives no number that is not in the whole.
    for name in
        ["ipmi-sensors", "ipmi-sensors-csv-state", "ipmi-sensors-legacy", "ipmi-sensors-v", "ipmi-sel"]
    {
        let log = fixture(name);
        let values = |log: &str| -> Vec<f64> {
            let runs = parse_all(log).unwrap_or_default();
            runs.iter().flat_map(|run| run.series.iter().flat_map(|series| series.values())).collect()
        };
        let whole = values(&log);
        for end in (0..log.len()).step_by(53) {
            let strange = values(&log[..end]).into_iter().find(|value| !whole.contains(value));
            assert_eq!(strange, None, "{name} cut at {end}");
        }
    }
}
