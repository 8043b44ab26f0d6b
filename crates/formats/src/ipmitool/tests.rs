//! Output of ipmitool 1.8.19 against a simulated BMC (`testdata/ipmitool`), and rows of other machines and versions.

use std::fs;

use super::*;
use crate::sensors::tell;

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/ipmitool");
    fs::read_to_string(format!("{folder}/ipmitool-1.8.19-{name}.txt")).unwrap()
}

fn parse(log: &str) -> Result<Vec<Run>, ParseError> {
    let mut runs = Vec::new();
    Ipmitool.parse(&mut log.as_bytes(), &mut runs).map(|()| runs)
}

/// `log` is recognised and its runs, told line by line, are these: runs are parted by `--`.
fn check(log: &str, told: &[&str]) {
    assert!(Ipmitool.sniff(log.as_bytes()), "not recognised: {log}");
    let runs = parse(log).unwrap_or_else(|error| panic!("{error}: {log}"));
    let lines: Vec<String> = runs.iter().map(|run| tell::lines(run).join("\n")).collect();
    assert_eq!(lines.join("\n--\n"), told.join("\n"), "{log}");
}

/// The fixture has so many series, states and events in one run, and these lines among them.
fn check_fixture(name: &str, counts: [usize; 3], some: &[&str]) {
    let log = fixture(name);
    assert!(Ipmitool.sniff(log.as_bytes()), "{name}");
    let runs = parse(&log).unwrap();
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
    let by_name = [
        "temperature sensor=CPU1 Temp: 45",
        "temperature sensor=CPU1 Margin: -40",
        "fan_speed sensor=FanA: 3300",
        "power sensor=PW Consumption: 320",
    ];
    check_fixture("sdr", [16, 22, 0], &by_name);
    check_fixture("sdr", [16, 22, 0], &["state PS1 Status ok [0x01]", "state NIC Temp ns [disabled]"]);
    check_fixture("sdr-csv", [16, 22, 0], &by_name);
    check_fixture(
        "sdr-csv",
        [16, 22, 0],
        &[
            "voltage sensor=P12v: 12.033",
            "state NIC Temp ns [-]",
            "state PS2 Status @10.2 ok [Presence detected]",
        ],
    );
    check_fixture(
        "sdr-elist-all",
        [16, 24, 0],
        &[
            "temperature entity=39.1 sensor=Inlet Temp: 24",
            "voltage entity=7.1 sensor=P12v: 12.03",
            "current entity=10.1 sensor=PSU1 Current: 1.4",
            "state Bmc @7.1 ok [Dynamic MC @ 20h]",
            "state Watchdog @6.1 ns [Event-Only]",
            "state NIC Temp @11.1 ns [Disabled]",
            "state Chassis Intru @23.1 ok [-]",
        ],
    );
    check_fixture("sdr-elist-all-csv", [16, 24, 0], &["state Watchdog @6.1 ns [Event-Only]"]);
    check_fixture("sdr-elist-hot", [16, 22, 0], &["state CPU1 Temp @3.1 ucr [-]"]);
    check_fixture("sensor", [16, 22, 0], &by_name);
    check_fixture(
        "sensor-hot",
        [16, 22, 0],
        &["state CPU1 Temp cr [-]", "state NIC Temp na [na]", "state CPU1 Status 0x8000 [0x80]"],
    );
    check_fixture("sensor-csv", [16, 22, 0], &by_name);
    check_fixture("sensor-csv", [16, 22, 0], &["voltage sensor=P12v: 12.033", "state NIC Temp na [na]"]);
    check_fixture("sensor-reading", [2, 2, 0], &["reading sensor=CPU1 Temp: 45", "caveat error-reported"]);
}

#[test]
fn real_blocks() {
    let some = [
        "temperature entity=3.1 sensor=CPU1 Temp: 45",
        "state CPU1 Temp @3.1 ok [-]",
        "state PS1 Status @10.1 - [Presence detected]",
    ];
    check_fixture("sdr-get", [1, 3, 0], &some);
    check_fixture("sdr-get", [1, 3, 0], &["state NIC Temp @11.1 Not Available [Disabled]"]);
    check_fixture("sdr-get-csv", [1, 2, 0], &["temperature entity=3.1 sensor=CPU1 Temp: 45"]);
    check_fixture("sensor-get", [2, 4, 0], &some);
    check_fixture(
        "sensor-get",
        [2, 4, 0],
        &["state NIC Temp @11.1 - [Unable to read sensor: Device Not Present]"],
    );
}

#[test]
fn real_event_logs() {
    let elist = [
        "event 1 2026-12-01T04:27:23 UTC [Temperature CPU1 Temp] [Upper Non-critical going high] on",
        "event 3 2026-12-01T04:27:25 UTC [Temperature CPU1 Temp] [Upper Non-critical going high] off",
        "event 5 2026-12-01T04:27:27 UTC [Power Supply #0x28] [Failure detected ()] on",
        "caveat error-reported",
    ];
    check_fixture("sel-elist", [0, 0, 7], &elist);
    check_fixture("sel-elist-csv", [0, 0, 7], &elist);
    let list = ["event 4 2026-12-01T04:27:25 UTC [Temperature #0x01] [Upper Critical going high] off"];
    check_fixture("sel-list", [0, 0, 7], &list);
    check_fixture("sel-list-csv", [0, 0, 7], &list);
    // This version prints the date in the place of the time.
    let block = ["event 2 - [Temperature #0x01] [Upper Critical going high] on"];
    check_fixture("sel-list-v", [0, 0, 7], &block);
    check_fixture("sel-get", [0, 0, 3], &block);
}

#[test]
fn what_measured_nothing() {
    let check = |log: &str, said: &str| {
        assert!(Ipmitool.sniff(log.as_bytes()), "{log}");
        let error = parse(log).unwrap_err().to_string();
        assert_eq!(error, format!("ipmitool measured nothing: {said}"));
    };
    check(&fixture("sel-empty"), "SEL has no entries");
    check(&fixture("dcmi-refused"), "DCMI request failed because: Invalid command (c1)");
    for log in [
        "SEL Information\nVersion          : 1.5 (v1.5, v2 compliant)\nEntries          : 12\n",
        "System Power         : on\nPower Overload       : false\nMain Power Fault     : false\n",
        "Device ID                 : 32\nDevice Revision           : 1\nIPMI Version              : 2.0\n",
        "FRU Device Description : Builtin FRU Device (ID 0)\n Board Mfg Date        : Mon Jan  1 00:00:00 2024\n",
    ] {
        let error = crate::read(log.as_bytes()).unwrap().unwrap_err().to_string();
        assert!(
            error.contains("ipmitool measured nothing") && error.contains(" prints no reading, "),
            "{error}"
        );
    }
    check(
        "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n",
        "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory",
    );
    check(
        "$ ipmitool -I lanplus -H bmc1 sdr\nError: Unable to establish IPMI v2 / RMCP+ session\n",
        "Error: Unable to establish IPMI v2 / RMCP+ session",
    );
}

#[test]
fn readings() {
    check(
        "Fan 1            | 43.51 percent     | ok\n",
        &["level sensor=Fan 1: 0.4351", "state Fan 1 ok [-]"],
    );
    check("DIMM Temp|30 degrees C|nc\n", &["temperature sensor=DIMM Temp: 30", "state DIMM Temp nc [-]"]);
    check(
        "| CPU Temp | 113 degrees F | ok |\n",
        &["temperature sensor=CPU Temp: 45", "state CPU Temp ok [-]"],
    );
    check("CPU Temp         | 0x08              | ok\n", &["state CPU Temp ok [0x08]"]);
    check(
        "Altitude         | 80 feet           | ok\n",
        &["reading sensor=Altitude unit=feet: 80", "state Altitude ok [-]"],
    );
    check(
        "12V              | 12,19 Volts       | ok\n",
        &["voltage sensor=12V: 12.19", "state 12V ok [-]", "caveat locale"],
    );
    check(
        "Usage            | 7.000      | unspecified | ok    | na | na | na | na | na | na\n",
        &["reading sensor=Usage unit=unspecified: 7", "state Usage ok [-]"],
    );
    check(
        "Temp A           | 0.000      | degrees C  | ok    | na\n",
        &["temperature sensor=Temp A: 0", "state Temp A ok [-]"],
    );
    check(
        "p0_temp          | 1Dh | ok  | 208.10 | 32 degrees C\n",
        &["temperature entity=208.10 sensor=p0_temp: 32", "state p0_temp @208.10 ok [-]"],
    );
    check("Board,left,24,degrees C,ok\n", &["temperature sensor=Board,left: 24", "state Board,left ok [-]"]);
    check(
        "Amb,24,degrees C,ok,1.1,1\nDIMM,no reading,degrees C,ns,7.1,\n",
        &[
            "temperature entity=1.1 sensor=Amb: 24",
            "state Amb @1.1 ok [-]",
            "state DIMM @7.1 ns [no reading]",
        ],
    );
}

#[test]
fn equal_sensors() {
    check(
        "Temp | 47 degrees C | ok\nTemp | no reading | ns\nTemp | 44 degrees C | ok\n",
        &[
            "temperature sensor=Temp: 47",
            "temperature occurrence=2 sensor=Temp: 44",
            "state Temp ok [-]",
            "state Temp ns [no reading]",
            "state Temp ok [-]",
        ],
    );
}

#[test]
fn several_lists() {
    let a = ["temperature entity=3.1 sensor=T: 40", "state T @3.1 ok [-]"];
    let b = ["temperature entity=3.1 sensor=T: 41", "state T @3.1 ok [-]"];
    let both = [a[0], a[1], "--", b[0], b[1]];
    let (one, two) = ("T | 01h | ok | 3.1 | 40 degrees C\n", "T | 01h | ok | 3.1 | 41 degrees C\n");
    check(&format!("{one}{two}"), &both);
    check(&format!("Mon Nov 30 23:21:27 UTC 2026\n{one}Mon Nov 30 23:21:37 UTC 2026\n{two}"), &both);
    check(&format!("[root@a ~]# ipmitool sdr elist\n{one}[root@a ~]# ipmitool sdr elist\n{two}"), &both);
    check(&format!("a: {one}b: {two}").replace("T |", "T                |"), &both);
    // Another command without a prompt between.
    check(&format!("{one}P | 12 Watts | ok\n"), &[a[0], a[1], "--", "power sensor=P: 12", "state P ok [-]"]);
    let loops = parse(&fixture("sensor").repeat(3)).unwrap();
    assert_eq!(loops.iter().map(|run| run.series.len()).collect::<Vec<_>>(), [16, 16, 16]);
    let stamped = parse(&format!("2026-11-30 23:21:27\n{one}")).unwrap();
    assert_eq!(stamped[0].facts["ipmitool.printed_at"].value, Some("2026-11-30 23:21:27".into()));
}

#[test]
fn lines_of_others() {
    let row = "T | 01h | ok | 3.1 | 40 degrees C\n";
    let told = ["temperature entity=3.1 sensor=T: 40", "state T @3.1 ok [-]", "state U @3.1 ns [-]"];
    let with = |line: &str| format!("{row}{line}\nU | 02h | ns | 3.1 |\n");
    check(&with(""), &told);
    check(&with("Get SDR 0042 command failed"), &[told[0], told[1], told[2], "caveat error-reported"]);
    check(&with("usb 1-1: new device"), &[told[0], told[1], told[2], "caveat foreign-lines"]);
    for log in [
        "",
        "a | b | ok\n",
        "| name | 5 | ok |\n",
        "1,2,3,4\n",
        "x | 1 | 2\n",
        "name,5,ok\n",
        "Sensor ID: 5\n",
    ] {
        assert!(!Ipmitool.sniff(log.as_bytes()), "{log}");
    }
}

#[test]
fn events() {
    check(
        " 56 |  Pre-Init  |0000000085| OS Boot | C: boot completed | Asserted\n",
        &["event 86 - [OS Boot] [C: boot completed] on"],
    );
    check(
        "14b | 11/03/2020 | 07:13:58 | OEM record dd | 000137 | 000000000500\n",
        &["event 331 2020-11-03T07:13:58 [OEM record dd] [000137 | 000000000500] ?"],
    );
    check(
        "  3 | OEM record e0 | 0000\n  4 | Linux kernel panic: Fatal ex\n",
        &["event 3 - [OEM record e0] [0000] ?", "event 4 - [-] [Linux kernel panic: Fatal ex] ?"],
    );
    check("3,,,OEM record e0,0000\n", &["event 3 - [OEM record e0] [0000] ?"]);
    check(
        "  9 | 10/19/2020 | 02:50:29 PM CST | Unknown #0xff |  | Asserted\n",
        &["event 9 2020-10-19T14:50:29 CST [Unknown #0xff] [-] on"],
    );
    check(
        "  a | 10/19/2020 | 14:50:29 | Fan #0x41 | Lower | going low | Deasserted | Reading 4 < Threshold 5 RPM\n",
        &["event 10 2020-10-19T14:50:29 [Fan #0x41] [Lower | going low] off"],
    );
    check(
        "  a | 10/19/2020 | 14:50:29 | Fan #0x41 | Lower Critical going low  | Reading 4 < Threshold 5 RPM\n",
        &["event 10 2020-10-19T14:50:29 [Fan #0x41] [Lower Critical going low] ?"],
    );
    check(
        "  1 | 02/03/2020 | 14:50:29 | Fan #0x41 | x | Asserted\n  2 | 13/03/2020 | 14:50:29 | Fan #0x41 | x | Asserted\n",
        &[
            "event 1 2020-03-02T14:50:29 [Fan #0x41] [x] on",
            "event 2 2020-03-13T14:50:29 [Fan #0x41] [x] on",
            "caveat locale",
        ],
    );
    check(
        "SEL Record ID          : 0015\n Record Type           : 02\n Timestamp             : 11/30/2020 23:21:27\n Sensor Type           : Fan\n Sensor Number         : 41\n Event Direction       : Deassertion Event\n Description           : Lower Critical",
        &["event 21 2020-11-30T23:21:27 [Fan #0x41] [Lower Critical] off"],
    );
}

#[test]
fn power() {
    let log = |state: &str, min: u32| {
        format!(
            "    Instantaneous power reading:                   220 Watts\n    Minimum during sampling period:           {min:8} Watts\n    Maximum during sampling period:                300 Watts\n    Average power reading over sample period:      210 Watts\n    IPMI timestamp:                           Mon Nov 30 23:21:27 2026\n    Sampling period:                          00000001 Seconds.\n    Power reading state is:                   {state}\n\n"
        )
    };
    check(&log("activated", 7), &["power: 220 max=300 mean=210 min=7"]);
    check(&log("deactivated", 0), &["power: 220 max=300 mean=210"]);
    check(
        &log("activated", 7).repeat(2),
        &["power: 220 max=300 mean=210 min=7", "--", "power: 220 max=300 mean=210 min=7"],
    );
}

#[test]
fn cut_logs() {
    let row = "T | 01h | ok | 3.1 | 40 degrees C\n";
    let told = ["temperature entity=3.1 sensor=T: 40", "state T @3.1 ok [-]"];
    for end in ["U | 02h | ok | 3.1 | 4", "U | 02h | ok | 3.1 | 41 degrees", "U | 02h | o", "U | 02"] {
        check(&format!("{row}{end}"), &[told[0], told[1], "caveat truncated"]);
    }
    check(row.trim_end(), &told);
    // Every beginning of a log is read without a fall, and gives no number that is not in the whole.
    for name in ["sdr", "sensor", "sensor-csv", "sdr-get", "sel-elist", "sdr-elist-all-csv"] {
        let log = fixture(name);
        let whole: Vec<f64> =
            parse(&log).unwrap().iter().flat_map(|run| run.series.iter().flat_map(|s| s.values())).collect();
        for end in (0..log.len()).step_by(7) {
            for run in parse(&log[..end]).unwrap_or_default() {
                for value in run.series.iter().flat_map(|series| series.values()) {
                    assert!(whole.contains(&value), "{name} cut at {end}: {value}");
                }
            }
        }
    }
}

#[test]
fn prints_what_it_reads() {
    let check = |log: &str| {
        let runs = parse(log).unwrap();
        let mut printed = String::new();
        for run in &runs {
            Ipmitool.print(run, &mut printed).unwrap();
        }
        assert_eq!(printed.trim_end(), log.trim_end());
    };
    for name in ["sdr-elist-all", "sdr-elist-hot", "sdr"] {
        check(&fixture(name));
    }
    for name in ["sel-elist", "sel-list"] {
        check(fixture(name).split_once('\n').unwrap().1);
    }
    check(" 14b | 11/03/20 | 07:13:58 | OEM record dd | 000137 | 000000000500\n");
    check("   3 | OEM record e0 | 0000\n   4 | Linux kernel panic: Fatal ex\n");
    // Limits are not kept: what is printed without them reads the same.
    for name in ["sensor", "sensor-hot", "sdr-csv"] {
        let read = parse(&fixture(name)).unwrap();
        let mut printed = String::new();
        Ipmitool.print(&read[0], &mut printed).unwrap();
        let again = parse(&printed).unwrap();
        let told = |run: &Run| tell::lines(run).join("\n");
        if name == "sdr-csv" {
            assert_eq!(again[0].states.len(), read[0].states.len());
        } else {
            assert_eq!(told(&again[0]), told(&read[0]), "{name}");
        }
    }
}
