//! Output of sensors 3.6.0 on a made-up sysfs (`testdata/hwmon`), and lines of other machines.

use std::fs;

use tenbin_core::run::Run;

use super::*;
use crate::sensors::tell;

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/hwmon");
    fs::read_to_string(format!("{folder}/sensors-3.6.0-{name}.txt")).unwrap()
}

fn parse_all(log: &str) -> Result<Vec<Run>, ParseError> {
    let mut runs = Vec::new();
    Hwmon.parse(&mut log.as_bytes(), &mut runs).map(|()| runs)
}

/// `log` is recognised and its runs, told line by line, are these: runs are parted by `--`.
fn check(log: &str, told: &[&str]) {
    assert!(Hwmon.sniff(log.as_bytes()), "not recognised: {log}");
    let runs = parse_all(log).unwrap_or_else(|error| panic!("{error}: {log}"));
    let lines: Vec<String> = runs.iter().map(|run| tell::lines(run).join("\n")).collect();
    assert_eq!(lines.join("\n--\n"), told.join("\n"), "{log}");
}

#[test]
fn real_lists() {
    let some = [
        "voltage chip=amdgpu-pci-0100 sensor=vddgfx: 0.725",
        "power chip=amdgpu-pci-0100 sensor=slowPPT: 9",
        "power chip=power_meter-acpi-0 sensor=power1: 130",
        "current chip=ina219-i2c-3-40 sensor=curr1: 1.4",
        "fan_speed chip=nct6798-isa-0290 sensor=CPU Fan: 1290",
        "fan_speed chip=nct6798-isa-0290 sensor=fan3: 0",
        "level chip=sht15-isa-0000 sensor=humidity1: 0.453",
        "energy chip=sht15-isa-0000 sensor=energy1: 15.2",
        "temperature chip=coretemp-isa-0000 sensor=Package id 0: 45",
        "temperature chip=coretemp-isa-0000 sensor=Core 0: 43",
        "temperature chip=nct6798-isa-0290 sensor=SYSTIN: 33",
        "state fan2 @nct6798-isa-0290 - [FAULT]",
        "state CPUTIN @nct6798-isa-0290 - [FAULT]",
        "state intrusion0 @nct6798-isa-0290 - [ALARM]",
        "state beep_enable @nct6798-isa-0290 - [disabled]",
    ];
    for name in ["text", "raw", "json", "fahrenheit", "noadapter", "clocale"] {
        let log = fixture(name);
        assert!(Hwmon.sniff(log.as_bytes()), "{name}");
        let runs = parse_all(&log).unwrap();
        assert_eq!(runs.len(), 1, "{name}");
        assert_eq!([runs[0].series.len(), runs[0].states.len()], [20, 24], "{name}");
        assert!(runs[0].caveats.is_empty(), "{name}: {:?}", runs[0].caveats);
        let lines = tell::lines(&runs[0]);
        for line in some {
            assert!(lines.iter().any(|told| told == line), "{name}: no {line} in\n{}", lines.join("\n"));
        }
        let alarm = if ["raw", "json"].contains(&name) { "ALARM" } else { "ALARM (CRIT)" };
        assert!(lines.contains(&format!("state Core 0 @coretemp-isa-0000 {alarm} [-]")), "{name}");
    }
}

#[test]
fn lines_of_others() {
    let chip = "a-isa-0000\nAdapter: ISA adapter\n";
    let told = ["temperature chip=a-isa-0000 sensor=T: 40", "state T @a-isa-0000 - [-]"];
    let row = "T:   +40.0\u{b0}C  (high = +80.0\u{b0}C)\n";
    check(&format!("{chip}{row}"), &told);
    check(&format!("{chip}T: +40.0\u{c2}\u{b0}C (high = +80.0\u{c2}\u{b0}C) sensor = thermistor\n"), &told);
    check(
        &format!("{chip}{row}ERROR: Can't get value of subfeature temp2_input: I/O error\nU:     N/A\n"),
        &[told[0], told[1], "state U @a-isa-0000 - [N/A]", "caveat error-reported"],
    );
    check(
        &format!("{chip}{row}usb 1-1: new device\nU:  1200 RPM\n"),
        &[
            told[0],
            "fan_speed chip=a-isa-0000 sensor=U: 1200",
            told[1],
            "state U @a-isa-0000 - [-]",
            "caveat foreign-lines",
        ],
    );
    for log in
        ["", "web-pci-dss\nnote: x\n", "T: +40.0 C\n", "Adapter: x\n", "{\"a\": {\"temp1_input\": 4}}\n"]
    {
        assert!(!Hwmon.sniff(log.as_bytes()), "{log}");
    }
    let error = parse_all("No sensors found!\nMake sure you loaded all the kernel drivers you need.\n");
    assert_eq!(error.unwrap_err().to_string(), "hwmon measured nothing: No sensors found!");
}

#[test]
fn json_of_others() {
    let told = ["temperature chip=a-isa-0000 sensor=T: 40", "state T @a-isa-0000 - [-]"];
    check("{\"a-isa-0000\":{\"Adapter\":\"x\",\"T\":{\"temp1_input\":40.0,\"temp1_max\":80}}}", &told);
    // Two sensors of one label, and the comma that old versions leave behind.
    check(
        "{\n\"a-isa-0000\":{\n\"T\":{\n\"temp1_input\": 40.0,\n},\n\"T\":{\n\"fan1_input\": 900\n}\n}\n}\n",
        &[told[0], "fan_speed chip=a-isa-0000 sensor=T: 900", told[1], told[1]],
    );
    check(
        "\"a-isa-0000\":{\n\"T\":{\n\"temp1_input\": 40.0,\n\"temp1_max\": 8",
        &[told[0], told[1], "caveat truncated"],
    );
}

#[test]
fn several_lists() {
    for name in ["text", "raw", "json"] {
        let log = fixture(name);
        let runs = parse_all(&log.repeat(2)).unwrap();
        assert_eq!(runs.iter().map(|run| run.series.len()).collect::<Vec<_>>(), [20, 20], "{name}");
        let stamped =
            parse_all(&format!("Mon Nov 30 23:21:27 UTC 2026\n{log}2026-11-30 23:22:27\n{log}")).unwrap();
        assert_eq!(stamped.len(), 2, "{name}");
    }
}

#[test]
fn cut_logs() {
    // Every beginning of a log is read without a fall, and gives no number that is not in the whole.
    for name in ["text", "raw", "json", "fahrenheit"] {
        let log = fixture(name);
        let values = |log: &str| -> Vec<f64> {
            let runs = parse_all(log).unwrap_or_default();
            runs.iter().flat_map(|run| run.series.iter().flat_map(|series| series.values())).collect()
        };
        let whole = values(&log);
        for end in (0..log.len()).step_by(5).filter(|end| log.is_char_boundary(*end)) {
            // Whether the sensor is at fault stands in the line behind.
            let open = log[..end].trim_end().trim_end_matches(',').ends_with("-62.000");
            let known = |value: &f64| whole.contains(value) || (open && *value == -62.0);
            let strange = values(&log[..end]).into_iter().find(|value| !known(value));
            assert_eq!(strange, None, "{name} cut at {end}");
        }
    }
}
