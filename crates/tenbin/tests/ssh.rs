//! Two real OpenSSH servers, each on a host of its own (a named namespace), an unprivileged login that may sudo.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod peer {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::common::{Bench, json, there};

    /// A user of these machines who exists only for the test.
    const USER: &str = "tenbin-peer";

    /// The controller's host and two servers on one switch.
    struct Site {
        tag: String,
        servers: Vec<Child>,
        folder: PathBuf,
    }

    fn sh(script: &str) {
        let output = Command::new("sh").args(["-ec", script]).output().unwrap();
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    impl Site {
        /// `None` where this user or this machine can't do it.
        fn up(bench: &Bench) -> Option<Site> {
            let able = ["sshd", "ssh", "ssh-keygen", "sudo", "ip", "useradd"].into_iter().all(there);
            if !able || !nix::unistd::geteuid().is_root() {
                println!("skipped: needs root and an OpenSSH server");
                return None;
            }
            let tag = format!("tb{}", std::process::id());
            let mut site = Site { tag: tag.clone(), servers: Vec::new(), folder: bench.path("") };
            sh(&format!(
                "mkdir -p /run/sshd
                 id {USER} >/dev/null 2>&1 || useradd -m -s /bin/sh {USER}
                 usermod -p '*' {USER}
                 echo '{USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{USER}
                 chmod 440 /etc/sudoers.d/{USER}
                 ip netns add {tag}c; ip netns add {tag}a; ip netns add {tag}b
                 ip -n {tag}c link set lo up
                 ip -n {tag}c link add br0 type bridge
                 ip -n {tag}c addr add 10.118.7.1/24 dev br0
                 for h in a b; do
                   ip -n {tag}c link add p$h type veth peer name eth0 netns {tag}$h
                   ip -n {tag}c link set p$h mtu 9000 master br0 up
                   ip -n {tag}$h link set lo up
                   ip -n {tag}$h link set eth0 up
                 done
                 ip -n {tag}c link set br0 up
                 ip -n {tag}a addr add 10.118.7.11/24 dev eth0
                 ip -n {tag}b addr add 10.118.7.12/24 dev eth0"
            ));
            let key = site.folder.join("key");
            sh(&format!(
                "ssh-keygen -q -t ed25519 -N '' -f {0}; ssh-keygen -q -t ed25519 -N '' -f {0}.host",
                key.display()
            ));
            let readable = Path::new("/run").join(format!("{tag}-keys"));
            sh(&format!("cp {}.pub {}; chmod 644 {1}", key.display(), readable.display()));
            for host in ["a", "b"] {
                // Both servers share this machine's files: each has a cache folder of its own.
                let cache = site.folder.join(format!("cache-{host}"));
                sh(&format!(
                    "mkdir -p {0}; chown {USER} {0}; chmod 755 {1}",
                    cache.display(),
                    site.folder.display()
                ));
                let config = site.folder.join(format!("sshd-{host}"));
                let text = format!(
                    "HostKey {}.host\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nSetEnv XDG_CACHE_HOME={}\n",
                    key.display(),
                    readable.display(),
                    cache.display()
                );
                fs::write(&config, text).unwrap();
                let mut server = Command::new("ip");
                server.args(["netns", "exec", &format!("{tag}{host}"), "/usr/sbin/sshd", "-D", "-e", "-f"]);
                server.arg(&config).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
                site.servers.push(server.spawn().unwrap());
            }
            // OpenSSH reads the user's configuration by the password file, not by HOME: a wrapper names ours.
            let bin = site.folder.join("bin");
            fs::create_dir(&bin).unwrap();
            let wrapper = format!(
                "#!/bin/sh\nexec /usr/bin/ssh -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no \
                 -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \"$@\"\n",
                key.display()
            );
            fs::write(bin.join("ssh"), wrapper).unwrap();
            fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
            Some(site)
        }

        fn controller(&self, bench: &Bench, arguments: &[&str]) -> Command {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &format!("{}c", self.tag), env!("CARGO_BIN_EXE_tenbin")]);
            command.args(arguments).current_dir(bench.path(""));
            let path = format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
            command.env("PATH", path).env("XDG_DATA_HOME", bench.path("data"));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }

        fn mtu(&self, host: &str) -> u32 {
            let output = Command::new("ip")
                .args(["netns", "exec", &format!("{}{host}", self.tag), "cat", "/sys/class/net/eth0/mtu"])
                .output()
                .unwrap();
            String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
        }

        fn wait_for_mtu(&self, wanted: u32, patience: Duration) -> bool {
            let until = Instant::now() + patience;
            while Instant::now() < until {
                if self.mtu("a") == wanted && self.mtu("b") == wanted {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            false
        }
    }

    impl Drop for Site {
        fn drop(&mut self) {
            for server in &mut self.servers {
                let _ = server.kill();
                let _ = server.wait();
            }
            for host in ["a", "b", "c"] {
                let name = format!("{}{host}", self.tag);
                let _ = Command::new("sh")
                    .args(["-c", &format!("ip netns pids {name} | xargs -r kill -9; ip netns del {name}")])
                    .output();
            }
            let _ = fs::remove_file(format!("/run/{}-keys", self.tag));
        }
    }

    fn plan(seconds: u32, blocks: u32) -> String {
        format!(
            r#"
question = "Does a jumbo MTU help between two servers?"
blocks = {blocks}
tolerate = {{ steal = "60%" }}
[hosts]
client = {{ ssh = "{USER}@10.118.7.11", sudo = true }}
server = {{ ssh = "{USER}@10.118.7.12", sudo = true }}
[[arm]]
name = "mtu-1500"
set = {{ mtu = 1500 }}
[[arm]]
name = "mtu-9000"
set = {{ mtu = 9000 }}
[[measure]]
engine = "iperf3"
from = "client"
to = "server"
time = "{seconds}s"
[[measure]]
engine = "ping"
from = "client"
to = "server"
count = 20
interval = "5ms"
"#
        )
    }

    #[test]
    fn an_experiment_over_ssh_brings_its_own_binary_and_leaves_hosts_as_they_were() {
        let bench = Bench::new();
        let Some(site) = Site::up(&bench) else { return };
        bench.plan("two.toml", &plan(1, 6));
        let output = site.controller(&bench, &["run", "two.toml", "--json"]).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        let document = json(&String::from_utf8(output.stdout).unwrap());
        let metrics: Vec<_> = document["comparisons"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["metric"].as_str().unwrap())
            .collect();
        assert!(metrics.contains(&"throughput") && metrics.contains(&"rtt"), "{metrics:?}");
        assert_eq!((site.mtu("a"), site.mtu("b")), (1500, 1500));
    }

    #[test]
    fn a_killed_controller_leaves_both_hosts_as_they_were() {
        let bench = Bench::new();
        let Some(site) = Site::up(&bench) else { return };
        bench.plan("two.toml", &plan(20, 1));
        let mut controller = site.controller(&bench, &["run", "two.toml", "-q"]).spawn().unwrap();
        let changed = site.wait_for_mtu(9000, Duration::from_secs(60));
        // `ip netns exec` replaces itself by the program: the process is tenbin's own.
        controller.kill().unwrap();
        controller.wait().unwrap();
        assert!(changed, "the arm never began");
        assert!(site.wait_for_mtu(1500, Duration::from_secs(15)), "{} and {}", site.mtu("a"), site.mtu("b"));
    }
}
