use super::*;

/// The lines of `log`, joined by `|`; a last one that is cut ends in `~`.
#[track_caller]
fn check(log: impl AsRef<[u8]>, expected: &str) {
    let mut input = log.as_ref();
    let mut lines = Lines::new(&mut input);
    let mut found = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        found.push(format!("{}{}", line.text, if line.whole { "" } else { "~" }));
    }
    assert_eq!(found.join("|"), expected);
}

#[test]
fn ends_of_lines() {
    check("", "");
    check("a\nb", "a|b~");
    check("a\r\nb \t\r\r\n\n", "a|b|");
    check("old\rmac\rend", "old|mac|end~");
    check("10%\r20%\r100%\nnext\n", "10%|20%|100%|next");
    check("\u{feff}a\n\u{feff}b\n", "a|b");
}

#[test]
fn terminals() {
    check("\u{1b}[1;31m64\u{1b}[0m bytes\n", "64 bytes");
    check("\u{1b}]0;title\u{7}$ ping\u{1b}[K\n", "$ ping");
    check("\u{1b}]2;t\u{1b}\\x\u{1b}(By\u{1b}=z\n", "xyz");
    check("pinn\u{8}g\u{0}\n", "ping");
    check("\u{1b}\u{1b}[", "~");
    check("a\u{1b}[31\nb\u{1b}\nc\u{1b}]open\n", "a|b|c");
}

#[test]
fn blanks_and_bytes() {
    check("1\u{a0}234\u{202f}ms\u{200b}\u{a0}\n", "1 234 ms");
    check(b"Minimum\xa0= 1\xffms, caf\xe9\n", "Minimum = 1 ms, caf\u{fffd}");
    check("zeit=1 µs …\n", "zeit=1 µs …");
}

#[test]
fn mail_and_web() {
    check("> > 64 bytes\n>>> x\n>   1   2\n>\n", "64 bytes|x|  1   2|");
    check("&gt; 1 &lt; 2 &amp;&amp; &quot;a&quot;&nbsp;&#160;b&#x27;\n", "1 < 2 && \"a\"  b'");
    check("a & b; &unknown; &#0; &\n", "a & b; &unknown; &#0; &");
    check(">=2000 us\n->\n a > b\n", ">=2000 us|->| a > b");
    // A page as it is; what is no tag of a page stays.
    check("<pre class=\"log\">1<br>\n2 <BR />\n<p><br>\n3</pre></div>\n", "1|2||3");
    check("<span class=\"quotelev1\">&gt;   1   2<br>\n</span><br>\n<span>&gt; &gt; 3\n", "  1   2||3");
    check("---> <MAX> 1\n<Time>1</Time>\n a <b\nb> c\n<>\n", "---> <MAX> 1|<Time>1</Time>| a <b|b> c|<>");
}

#[test]
fn documents_stay() {
    check("{\"a\": \"&gt; > x=3D=20\",\n> 1}\n", "{\"a\": \"&gt; > x=3D=20\",|> 1}");
    check("[\n  {\"a\":\"&amp;\"}]\n", "[|  {\"a\":\"&amp;\"}]");
    check("{ &quot;a&quot;: 1 }\n", "{ \"a\": 1 }");
    check("[  5] &gt; x\n", "[  5] > x");
}

#[test]
fn quoted_printable() {
    check("icmp_seq=3D1 ttl=3D64 time=\n=3D0.5=20ms\n1=C2=A0234=20\n", "icmp_seq=1 ttl=64 time=0.5 ms|1 234");
    check(
        "Content-Transfer-Encoding: Quoted-Printable\n\na=3Db=zz c=\r\nd\n",
        "Content-Transfer-Encoding: Quoted-Printable||a=b=zz cd",
    );
    check("ttl=64 time=20 ms\nttl=64 time=3D\n", "ttl=64 time=20 ms|ttl=64 time=3D");
    check("a=3D1=20\nb=", "a=1|b=~");
}

#[test]
fn wide() {
    let log = "\u{feff}Größe 1 µs\r\n64 bytes from\n";
    let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
    check(le(log), "Größe 1 µs|64 bytes from");
    check(be(log), "Größe 1 µs|64 bytes from");
    check(le(&log[3..]), "Größe 1 µs|64 bytes from");
    check(be(&log[3..]), "Größe 1 µs|64 bytes from");
    let mut odd = le(log);
    odd.pop();
    check(odd, "Größe 1 µs|64 bytes from~");
}

#[test]
fn stamps_are_taken_off() {
    check(
        "Jan  2 03:04:05 h ping[7]: PING a\nJan  2 03:04:06 h ping[7]:  64\nJan  2 03:04:07 h ping[7]:\n",
        "PING a| 64|",
    );
    check("2024-01-02T03:04:05+0100 h ping[7]: a: b\n2024-01-02T03:04:06+0100 h ping[7]: c\n", "a: b|c");
    check("1700000000.123456 h ping[7]: a\n1700000001.123456 h sshd: c\n", "a|c");
    check("2024-01-02T03:04:05.123456789Z a\n2024-01-02T03:04:05Z  b\nforeign\n", "a| b|foreign");
    check("Jan 02 03:04:05 PING\nJan 02 03:04:06 64\n", "PING|64");
    check("[2024-01-02 03:04:05] a\n[2024-01-02 03:04:05,678] b\n", "a|b");
    check("2024-01-02 03:04:05 - a\n2024-01-02 03:04:05: b\n1/2/2024 3:04:05 PM - c\n", "a|b|c");
    check("03:04:05.123 a\n03:04:05 b\n", "a|b");
    check("[1,0]<stdout>:a\n[1,0]<stdout>: b\n[1,1]<stderr>:c\n", "a| b|c");
    check("0: # a\n0:   1 2\n0:\n0: b\n", "# a|  1 2||b");
    check(
        "bmc-1  | 12V | 12.1 Volts | ok\nbmc-1  | 5VSB | 5.1 Volts | ok\nbmc-1  | A | 1Fh | ok\n",
        "12V | 12.1 Volts | ok|5VSB | 5.1 Volts | ok|A | 1Fh | ok",
    );
    check(
        "bmc-1 | 4 | CPU Temp | 45.00\nbmc-1 | 71 | FAN1 | 1200.00\nbmc-1 |\n",
        "4 | CPU Temp | 45.00|71 | FAN1 | 1200.00|",
    );
    check(
        "2024-01-02T03:04:05.1Z stdout F a\n2024-01-02T03:04:06.1Z stdout F\n2024-01-02T03:04:07.1Z stderr P  b\n",
        "a|| b",
    );
    check("job\tRun ping\t2024-01-02T03:04:05.1Z a\njob\tRun ping\t2024-01-02T03:04:06.1Z  b\n", "a| b");
    check("[pod/web-1/web] a\n[pod/web-1/web]\n[pod/web-1/web]  b\n", "a|| b");
    check("node1: a\nnode1:\nnode1:  b: c\n", "a|| b: c");
    check("web-1  | a\nweb-1  |  b | c\nweb-1  |\n", "a| b | c|");
}

#[test]
fn stamps_of_tools_stay() {
    let check = |log: &str| check(log, log.trim_end().replace('\n', "|").as_str());
    check("[1234567890.123456] 64 bytes from a\n[1234567891.123456] 64 bytes from a\n");
    check("Tue Jan  2 03:04:05 2024 Connecting to host a, port 5201\nTue Jan  2 03:04:05 2024 [  5] local\n");
    check(" 135 | 10/19/2020 | 14:50:29 | Fan | x | Asserted\n 136 | 10/19/2020 | 14:50:30 | Fan | x\n");
    check("[03:04:05]\na : 1\n[03:04:06]\na : 2\n");
    check("sockperf: a\nsockperf: b\nsockperf: c\n");
    check("iperf3: a\niperf3: b\niperf3: c\n");
    check("[  5] a\n[  5] b\n[  5] c\n[SUM] d\n[SUM] e\n[SUM] f\n");
    check("temp1: 45\ntemp2: 46\ntemp3: 47\n");
    check("FAN 1 | 1200 RPM | ok\nFAN 1 | 1200 RPM | ok\nFAN 1 | 1200 RPM | ok\n");
    check("FAN_1 | 1200 RPM | ok\nFAN_1 | 1210 RPM | ok\nFAN_1 | no reading | ns\n");
    check(
        "FAN_1 | 41h | ok | 29.1 | 1200 RPM\nFAN_1 | 41h | ok | 29.1 | 1200 RPM\nFAN_1 | 41h | ns | 29.1 | No Reading\n",
    );
    check("20240102030405,a\n20240102030406,b\n");
    // One dated line among others is the tool's.
    check("Jan  2 03:04:05 a\nb\nc\n");
}

#[test]
fn words_of_wrappers() {
    check("[OUTPUT] a\n[OUTPUT] b\n[OUTPUT]\n[OUTPUT]   c\n", "a|b||  c");
    check("[SUM] a\n[SUM] b\n[SUM] c\n", "[SUM] a|[SUM] b|[SUM] c");
    check("[INFO] a\nb\nc\n", "[INFO] a|b|c");
}

#[test]
fn long_lines_come_in_pieces() {
    let long = "é".repeat(LONGEST as usize);
    let log = format!("{{\"a\": \"{long}\"}}\nb\n");
    let mut input = log.as_bytes();
    let mut text = String::new();
    Text::new(&mut input).read_to_string(&mut text).unwrap();
    assert_eq!(text, log);
}
