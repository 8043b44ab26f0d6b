//! Lines among others, alone, cut, and those that are not ping's.

use super::*;

#[test]
fn lines_in_company() {
    let check = |text: &str, wanted: &[&str]| {
        let briefs: Vec<String> = read(text).unwrap_or_default().iter().map(brief).collect();
        assert_eq!(briefs, wanted, "{text}");
    };
    let header = "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n";
    let reply = |host: &str, sequence: u16| {
        format!("64 bytes from {host}: icmp_seq={sequence} ttl=64 time=0.05{sequence} ms\n")
    };
    let (one, two) = (reply("10.0.0.9", 1), reply("10.0.0.9", 2));
    let other = reply("h (10.0.0.8)", 1);
    let end = "\n--- 10.0.0.9 ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss, time 1ms\n\
               rtt min/avg/max/mdev = 0.051/0.051/0.052/0.000 ms\n";
    let whole = "rtt 51 52 51 51 52 0; packets_sent 2; packets_received 2; loss 0; duration 0.001";
    // Behind dates of the user's own.
    let dated: String = [header, &one, &two, end]
        .concat()
        .lines()
        .map(|line| format!("Tue Jan  2 03:04:05 CET 2024: {line}\n"))
        .collect();
    check(&dated, &[whole]);
    // The lines of replies alone, or of figures alone.
    check(&[&*one, &*two].concat(), &["rtt 51 52 - - - -; truncated"]);
    check(&[&*one, &*two, &*one, &*two].concat(), &["rtt 51 52 - - - -; truncated"; 2]);
    check(&[&*one, &*two, &*other].concat(), &["rtt 51 52 - - - -; truncated", "rtt 51 - - - -; truncated"]);
    check("rtt min/avg/max/mdev = 0.051/0.051/0.052/0.000 ms\n", &["rtt  51 51 52 0; summary-only"]);
    check("rtt min/avg/max/mdev = 0.051/0.051/0.052/0.0", &["rtt  51 51 52 -; summary-only"]);
    check(
        "2 packets transmitted, 2 received, 0% packet loss\n",
        &["packets_sent 2; packets_received 2; loss 0"],
    );
    // Cut at the beginning, an error behind, a killed one before.
    check(
        &[&*two, end].concat(),
        &["rtt 52 51 51 52 0; packets_sent 2; packets_received 2; loss 0; duration 0.001; truncated"],
    );
    check(&[header, &one, &two, end, "ping: h: Name or service not known\n"].concat(), &[whole]);
    check(&[header, &one, header, &one, &two, end].concat(), &["rtt 51 - - - -; truncated", whole]);
    // What stands between.
    check(
        &["$ ping -c 5 10.0.0.9\n", header, &one, "eth0: link up\n", &two, "^C", end].concat(),
        &[&format!("{whole}; interrupted; foreign-lines")],
    );
    // More than was asked for.
    check(
        "1 packets transmitted, 2 packets received, -- somebody is printing up packets!\n",
        &["packets_sent 1; packets_received 2; inconsistent"],
    );
    // Damaged answers are not counted by ping.
    let damaged = two.replace(" ms", " ms (BAD CHECKSUM!)");
    check(&[header, &one, &damaged].concat(), &["rtt 51 - - - -; truncated; error-reported"]);
    // Solaris and HP-UX.
    check(
        "PING h: 56 data bytes\n64 bytes from h (10.0.0.9): icmp_seq=0. time=0.430 ms\n\n\
         ----h PING Statistics----\n1 packets transmitted, 1 packets received, 0% packet loss\n\
         round-trip (ms)  min/avg/max/stddev = 0.430/0.430/0.430/-\n",
        &["rtt 430 430 430 430 -; packets_sent 1; packets_received 1; loss 0"],
    );
}

#[test]
fn fast_lines_are_read_like_all_others() {
    let check = |text: &str, fast: bool| {
        let slow = reply::read(line::stamp(text).1, line::stamp(text).0, true);
        let quick = reply::fast(text);
        assert_eq!(quick.is_some(), fast, "{text}");
        if fast {
            assert_eq!(quick, slow, "{text}");
        }
    };
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0.050 ms", true);
    check("64 bytes from h.example.org (10.0.0.9): icmp_seq=65535 ttl=55 time=15.087 ms", true);
    check("[1596881133.081898] 64 bytes from ::1: icmp_seq=2 ttl=64 time=1029 ms", true);
    check("64 bytes from 10.0.0.9: seq=0 ttl=64 time=0.050 ms", true);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0.050 ms (DUP!)", false);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0,050 ms", false);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=. ms", false);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=1.2.3 ms", false);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=12345678901234567890 ms", false);
    check("64 bytes from 10.0.0.9: icmp_seq=1 ttl= time=0.050 ms", false);
    check(" bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0.050 ms", false);
    check(" ms", false);
}

#[test]
fn not_ours() {
    for text in [
        "len=46 ip=10.0.0.9 ttl=64 id=0 sport=0 flags=RA seq=0 win=0 rtt=3.8 ms\n",
        "connected to 10.0.0.9:80 (318 bytes), seq=0 time= 10.31 ms \n",
        "The reply took time=5ms and ping was fine:\n",
        "[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    325 KBytes\n",
        "3 errors, 2 warnings, 5% done\n",
        "printf(\"%d packets transmitted\", sent);\n",
    ] {
        assert!(!Ping.sniff(text.as_bytes()), "{text}");
    }
}
