//! BusyBox, GNU inetutils, options and old versions of iputils: output of the real tools.

use super::*;

#[test]
fn busybox_and_inetutils() {
    let check = |text: &str, wanted: &str| assert_eq!(brief(&one(text)), wanted, "{text}");
    check(
        log!("busybox-1.35.0-debian12-plain"),
        "rtt 161 73 73 73 102 161 -; packets_sent 3; packets_received 3; loss 0",
    );
    check(
        log!("busybox-1.35.0-debian12-quiet"),
        "rtt  50 64 74 -; packets_sent 3; packets_received 3; loss 0; summary-only",
    );
    check(log!("busybox-1.35.0-debian12-loss"), "packets_sent 2; packets_received 0; loss 1");
    check(log!("busybox-1.35.0-debian12-small"), "packets_sent 2; packets_received 2; loss 0");
    // Prints 0.000 for every deviation below a millisecond.
    check(
        log!("inetutils-2.4-debian12-plain"),
        "rtt 64 66 95 64 75 95 0; packets_sent 3; packets_received 3; loss 0; biased-deviation",
    );
    check(
        log!("inetutils-2.4-debian12-quiet"),
        "rtt  69 81 100 0; packets_sent 3; packets_received 3; loss 0; summary-only; biased-deviation",
    );
    check(
        log!("inetutils-2.4-debian12-flood"),
        "rtt  41 53 77 0; packets_sent 20; packets_received 20; loss 0; summary-only; biased-deviation",
    );
    check(
        log!("inetutils-2.4-debian12-unreachable"),
        "packets_sent 2; packets_received 0; loss 1; error-reported",
    );
    check(
        log!("inetutils-2.4-debian12-route"),
        "rtt 61 18 18 40 61 0; packets_sent 2; packets_received 2; loss 0; biased-deviation",
    );
}

#[test]
fn options_of_iputils() {
    let check = |text: &str, wanted: &str| assert_eq!(brief(&one(text)), wanted, "{text}");
    check(
        sample!("verbose"),
        "rtt 58 63 58 60 63 2; packets_sent 2; packets_received 2; loss 0; duration 0.211",
    );
    check(
        sample!("route"),
        "rtt 55 68 55 61 68 6; packets_sent 2; packets_received 2; loss 0; duration 0.212",
    );
    check(
        sample!("route-times"),
        "rtt 60 197 60 128 197 68; packets_sent 2; packets_received 2; loss 0; duration 0.208",
    );
    check(
        sample!("bell"),
        "rtt 61 61 61 61 61 0; packets_sent 2; packets_received 2; loss 0; duration 0.208",
    );
    check(
        sample!("sigquit"),
        "rtt 154 65 45 45 88 154 47; packets_sent 3; packets_received 3; loss 0; duration 1.012",
    );
    // The second answer to a request is not marked there.
    check(
        sample!("multicast"),
        "rtt 67 72 67 75 88 9; packets_sent 2; packets_received 2; loss 0; duplicates 1; duration 0.204; \
         duplicates; error-reported",
    );
    let paced = one(sample!("flood"));
    assert_eq!(paced.facts["ping.interval"].value, Some(7e-6.into()));
    let both = read(sample!("two-at-once")).unwrap();
    assert_eq!(
        both.iter().map(brief).collect::<Vec<_>>(),
        [
            "rtt 33 55 51 33 46 55 9; packets_sent 3; packets_received 3; loss 0; duration 0.623",
            "rtt 50 64 68 50 60 68 7; packets_sent 3; packets_received 3; loss 0; duration 0.649",
        ]
    );
}

#[test]
fn deviations_of_old_iputils() {
    let check = |text: &str, wanted: Option<&str>| {
        let run = one(text);
        let biased = run.caveats.iter().find(|caveat| caveat.kind == CaveatKind::BiasedDeviation);
        assert_eq!(biased.map(|caveat| caveat.text.as_str()), wanted, "{text}");
    };
    check(
        log!("iputils-s20121221-built-plain"),
        Some(
            "the deviation was printed as 0.011 ms, the replies give 0.0078 ms: iputils before 2019 cuts the mean \
             to whole microseconds",
        ),
    );
    check(log!("iputils-s20101006-built-plain"), None);
    check(
        log!("iputils-s20121221-built-version-quiet"),
        Some(
            "mdev 0.012 ms is too high: iputils before s20190324 cuts the mean to whole microseconds; the true \
             deviation lies from 4.1 to 13.0 us",
        ),
    );
    assert_eq!(one(log!("iputils-s20121221-built-version-quiet")).tool_version.as_deref(), Some("s20121221"));
    // 2 of 7 lost are not 28 %: a loss without decimals is old.
    check(
        log!("iputils-s20121221-built-loss"),
        Some(
            "mdev 0.070 ms is too high: iputils before s20190324 cuts the mean to whole microseconds; the true \
             deviation lies from 68.5 to 71.0 us",
        ),
    );
    let summary = |figures: &str| {
        format!(
            "20 packets transmitted, 20 received, 0% packet loss, time 1001ms\n\
             rtt min/avg/max/mdev = {figures} ms\n"
        )
    };
    check(&summary("0.104/0.144/0.184/0.020"), None);
    check(
        &summary("0.010/0.010/0.011/0.003"),
        Some(
            "mdev 0.003 ms is too high: no values in this range deviate so much, so iputils is one before \
             s20190324, which cuts the mean; the true deviation lies from 0.0 to 4.0 us",
        ),
    );
    // 2³¹ us in all.
    check(
        &summary("120000.000/120001.000/120002.000/0.500"),
        Some(
            "mdev 0.500 ms is too high: iputils cuts the mean to whole microseconds where round trips sum up to \
             2147 s; the true deviation lies from 0.0 to 501.0 us",
        ),
    );
}
