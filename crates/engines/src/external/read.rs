//! What a command printed, and where it listens.

use tenbin_core::env::{Class, Fact};
use tenbin_core::recorder::Recorder;
use tenbin_core::run::Run;
use tenbin_formats::Format;

/// Reads `output` by `format` into `rec`. Several runs in it (tables of one command) come to one: equal series are
/// joined. Errors are ends of the sentence "`command` ...".
pub fn read(format: &dyn Format, output: &[u8], rec: &mut Recorder) -> Result<(), String> {
    let mut runs: Vec<Run> = Vec::new();
    format
        .parse(&mut &*output, &mut runs)
        .map_err(|error| format!("printed what {} can't read: {error}", format.name()))?;
    for run in runs {
        for (name, word) in [("tool_version", run.tool_version), ("benchmark", run.benchmark)] {
            if let Some(word) = word {
                rec.fact(format!("external.{name}"), Fact::new(Class::Identity, word, "its output"));
            }
        }
        for series in run.series {
            rec.join(series);
        }
        for (key, fact) in run.facts {
            rec.fact(key, fact);
        }
        for caveat in run.caveats {
            rec.caveat(caveat);
        }
    }
    Ok(())
}

/// Whether something in this thread's network namespace listens on `port`, TCP or UDP.
pub fn listens(port: u16) -> bool {
    // State 0A is LISTEN; an unconnected UDP socket is in state 07.
    [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")].into_iter().any(|(table, state)| {
        let text = std::fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default();
        text.lines().any(|line| is_listener(line, port, state))
    })
}

/// Whether a row of /proc/net/tcp or udp is of that port and state. Columns: number, local, remote, state.
fn is_listener(row: &str, port: u16, state: &str) -> bool {
    let mut columns = row.split_whitespace().skip(1);
    let local = columns.next().and_then(|local| local.rsplit_once(':'));
    let at_port = local.is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
    at_port && columns.nth(1) == Some(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_sockets() {
        let row = "   0: 0100007F:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0";
        assert!(is_listener(row, 5201, "0A"));
        assert!(!is_listener(row, 5201, "07"));
        assert!(!is_listener(row, 5202, "0A"));
        assert!(!is_listener("  sl  local_address rem_address   st tx_queue", 5201, "0A"));
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(listens(socket.local_addr().unwrap().port()));
    }
}
