//! Command prefixes: the arguments with which a program is started on a host. Starts nothing itself.

use crate::plan::{Host, Place};

/// The arguments that run `argv` on a host, stdin and stdout joined; `None` for hosts inside this process.
///
/// What follows an `ssh` destination is read by the far shell, so every argument is quoted for it.
pub fn on_host(host: &Host, argv: &[&str]) -> Option<Vec<String>> {
    let sudo: &[&str] = if host.sudo { &["sudo", "-n", "--"] } else { &[] };
    let command = sudo.iter().chain(argv).copied();
    match &host.place {
        Place::Local | Place::Lab(_) => None,
        Place::Ssh(destination) => {
            let mut full = words(&["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
            full.extend(words(&["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "--"]));
            full.push(destination.clone());
            full.push(command.map(shell_quote).collect::<Vec<_>>().join(" "));
            Some(full)
        }
        Place::Exec(prefix) => Some(prefix.iter().cloned().chain(command.map(str::to_owned)).collect()),
    }
}

/// `word` so that a POSIX shell reads it as one argument.
pub fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(place: Place, sudo: bool) -> Host {
        Host { place, sudo, address: None, interface: None }
    }

    #[test]
    fn prefixes() {
        assert_eq!(on_host(&host(Place::Local, false), &["x"]), None);
        let ssh = on_host(&host(Place::Ssh("ann@db1".into()), true), &["sh", "-c", "echo $HOME"]).unwrap();
        assert_eq!(ssh[0], "ssh");
        assert_eq!(ssh[ssh.len() - 2..], ["ann@db1", "sudo -n -- sh -c 'echo $HOME'"]);
        let exec = Place::Exec(words(&["kubectl", "exec", "-i", "pod", "--"]));
        assert_eq!(
            on_host(&host(exec, false), &["a b"]).unwrap(),
            ["kubectl", "exec", "-i", "pod", "--", "a b"]
        );
    }

    #[test]
    fn quoting() {
        assert_eq!(shell_quote("a-b"), "a-b");
        assert_eq!(shell_quote(""), "''");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }
}
