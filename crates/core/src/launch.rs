//! Command prefixes: the arguments with which a program is started on a host. Starts nothing itself.

use crate::plan::{Host, Place};

/// The arguments that run a shell script on a host with stdin and stdout joined; `None` for hosts of this machine.
///
/// What follows an `ssh` destination is read by the far shell, so the script is quoted for it.
pub fn script_on(host: &Host, script: &str) -> Option<Vec<String>> {
    match &host.place {
        Place::Local | Place::Lab(_) | Place::Address => None,
        Place::Ssh(destination) => {
            let mut full = words(&["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
            full.extend(words(&["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "--"]));
            full.push(destination.clone());
            full.push(format!("sh -c {}", shell_quote(script)));
            Some(full)
        }
        Place::Exec(prefix) => Some(prefix.iter().cloned().chain(words(&["sh", "-c", script])).collect()),
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

    fn host(place: Place) -> Host {
        Host { place, sudo: false, address: None, interface: None }
    }

    #[test]
    fn prefixes() {
        assert_eq!(script_on(&host(Place::Local), "x"), None);
        let ssh = script_on(&host(Place::Ssh("ann@db1".into())), "echo $HOME").unwrap();
        assert_eq!(ssh[0], "ssh");
        assert_eq!(ssh[ssh.len() - 2..], ["ann@db1", "sh -c 'echo $HOME'"]);
        let exec = Place::Exec(words(&["kubectl", "exec", "-i", "pod", "--"]));
        assert_eq!(
            script_on(&host(exec), "a b").unwrap(),
            ["kubectl", "exec", "-i", "pod", "--", "sh", "-c", "a b"]
        );
    }

    #[test]
    fn quoting() {
        assert_eq!(shell_quote("a-b"), "a-b");
        assert_eq!(shell_quote(""), "''");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }
}
