//! Namespaces: the user namespace that lends an ordinary user the rights of root, and the network namespaces that are
//! hosts. Why one of them is refused is found out here, since the kernel's one word for it, usually "operation not
//! permitted", has five causes with five cures.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::{LabError, io_error};

/// Makes this process root in a user namespace of its own, where it lacks the rights to make network namespaces; does
/// nothing where it has them. Must be called before the process has a second thread: first thing in `main`.
///
/// Afterwards the process can still do what its user can, and nothing more outside of its own namespaces; files of
/// others look as if `nobody` owned them.
///
/// # Errors
/// [`LabError::Forbidden`] with the cause and its cure; [`LabError::Threads`] when called too late. The process may
/// then be in a namespace in which it is nobody: report and end.
pub fn enter_user_namespace_if_needed() -> Result<(), LabError> {
    if may_administer() {
        return Ok(());
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|e| refusal("make a user namespace", e.into(), &Facts::read()))?;
    let write = |path, text: &str| {
        fs::write(path, text).map_err(|e| refusal("become root in a user namespace", e, &Facts::read()))
    };
    // Without the right to change groups, an ordinary user may map its own group. Kernels before 3.19 lack the file.
    if fs::exists("/proc/self/setgroups").unwrap_or(true) {
        write("/proc/self/setgroups", "deny")?;
    }
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write("/proc/self/gid_map", &format!("0 {group} 1"))
}

/// Whether this process has CAP_SYS_ADMIN and CAP_NET_ADMIN in the user namespace it is in.
pub(super) fn may_administer() -> bool {
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = field(&status, "CapEff:").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
    effective & (NET_ADMIN | SYS_ADMIN) == NET_ADMIN | SYS_ADMIN
}

/// A new network namespace, kept by its descriptor.
pub(super) fn new_network_namespace() -> Result<OwnedFd, LabError> {
    let made = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || -> io::Result<OwnedFd> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread ended early")))
    });
    made.map_err(|e| refusal("make a network namespace", e, &Facts::read()))
}

/// Lets the calling thread, and what it starts, see the interfaces of its own namespace in /sys. Where that is refused,
/// /sys goes on showing the first namespace's, and facts about interfaces are read by netlink.
pub(super) fn show_own_interfaces() {
    const NOTHING: Option<&str> = None;
    let plain = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    if unshare(CloneFlags::CLONE_NEWNS).is_err()
        || mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING).is_err()
    {
        return;
    }
    // What is mounted inside /sys would vanish under the fresh one; control groups are read by probes and sensors.
    let groups = File::open("/sys/fs/cgroup");
    // Where the old /sys is read-only for good, as in many containers, the new one has to be.
    let fresh = |flags| mount(Some("sysfs"), "/sys", Some("sysfs"), flags, NOTHING);
    if fresh(plain).or_else(|_| fresh(plain | MsFlags::MS_RDONLY)).is_ok()
        && let Ok(groups) = groups
    {
        let old = format!("/proc/thread-self/fd/{}", groups.as_raw_fd());
        let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
        // Without it control groups are merely unknown here.
        let _ = mount(Some(old.as_str()), "/sys/fs/cgroup", NOTHING, bind, NOTHING);
    }
}

/// Lets echo requests go through datagram sockets, for all groups or at least our own. Raw ones serve where this is
/// refused.
pub(super) fn allow_datagram_echo() {
    const RANGE: &str = "/proc/sys/net/ipv4/ping_group_range";
    // In a user namespace only the groups that are mapped can be named: the one of the user.
    let _ = fs::write(RANGE, "0 2147483647").or_else(|_| fs::write(RANGE, "0 0"));
}

/// What decides whether namespaces are allowed.
#[derive(Default)]
struct Facts {
    threads: u64,
    seccomp: bool,
    max_user_namespaces: Option<u64>,
    max_net_namespaces: Option<u64>,
    unprivileged_userns_clone: Option<u64>,
    apparmor_restricts: Option<u64>,
}

impl Facts {
    fn read() -> Facts {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
        Facts {
            threads: field(&status, "Threads:").and_then(|text| text.parse().ok()).unwrap_or(1),
            seccomp: field(&status, "Seccomp:") == Some("2"),
            max_user_namespaces: number("/proc/sys/user/max_user_namespaces"),
            max_net_namespaces: number("/proc/sys/user/max_net_namespaces"),
            unprivileged_userns_clone: number("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        }
    }
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The error for a namespace that was refused, with the cure for its likeliest cause.
fn refusal(what: &'static str, source: io::Error, facts: &Facts) -> LabError {
    let forbidden = |hint: &str| format!("run as root, {hint}");
    let hint = match source.raw_os_error() {
        Some(libc::EINVAL) if facts.threads > 1 => return LabError::Threads { threads: facts.threads },
        Some(libc::EINVAL | libc::ENOSYS) => forbidden("or on a kernel with CONFIG_USER_NS"),
        // The count of nested namespaces, 32 at most, has its own error only on old kernels.
        Some(libc::ENOSPC | libc::EUSERS | libc::EPERM) if facts.max_user_namespaces == Some(0) => {
            forbidden("or allow user namespaces: sysctl user.max_user_namespaces=10000")
        }
        Some(libc::ENOSPC) if facts.max_net_namespaces == Some(0) => {
            "allow network namespaces: sysctl user.max_net_namespaces=10000".to_owned()
        }
        Some(libc::ENOSPC | libc::EUSERS) => {
            "too many namespaces, or nested too deeply: see sysctl user.max_user_namespaces and \
             user.max_net_namespaces"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) if facts.unprivileged_userns_clone == Some(0) => {
            forbidden("or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1")
        }
        Some(libc::EPERM | libc::EACCES) if facts.apparmor_restricts.is_some_and(|n| n != 0) => forbidden(
            "or let AppArmor allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        Some(libc::EPERM | libc::EACCES) if facts.seccomp => forbidden(
            "in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN: its system call filter forbids it",
        ),
        Some(libc::EPERM | libc::EACCES) => {
            forbidden("or outside of the chroot, container or security module that forbids it")
        }
        _ => return io_error(what)(source),
    };
    LabError::Forbidden { what, source, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(errno: i32, facts: &Facts, expected: &str) {
        let text = refusal("make a user namespace", io::Error::from_raw_os_error(errno), facts).to_string();
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn every_cause_has_its_cure() {
        let plain = || Facts { threads: 1, max_user_namespaces: Some(10_000), ..Facts::default() };
        check(
            libc::EPERM,
            &plain(),
            "cannot make a user namespace: operation not permitted\nhint: run as root",
        );
        check(libc::EPERM, &plain(), "chroot, container or security module");
        check(libc::EPERM, &Facts { seccomp: true, ..plain() }, "--cap-add SYS_ADMIN");
        check(
            libc::ENOSPC,
            &Facts { max_user_namespaces: Some(0), ..plain() },
            "user.max_user_namespaces=10000",
        );
        check(
            libc::ENOSPC,
            &Facts { max_net_namespaces: Some(0), ..plain() },
            "user.max_net_namespaces=10000",
        );
        check(libc::ENOSPC, &plain(), "nested too deeply");
        check(libc::EPERM, &Facts { unprivileged_userns_clone: Some(0), ..plain() }, "userns_clone=1");
        check(libc::EPERM, &Facts { unprivileged_userns_clone: Some(1), ..plain() }, "chroot, container");
        check(
            libc::EACCES,
            &Facts { apparmor_restricts: Some(1), ..plain() },
            "restrict_unprivileged_userns=0",
        );
        check(libc::EPERM, &Facts { apparmor_restricts: Some(0), ..plain() }, "chroot, container");
        check(libc::EINVAL, &Facts { threads: 3, ..plain() }, "this process already has 3 threads");
        check(libc::EINVAL, &plain(), "CONFIG_USER_NS");
        check(libc::ENOMEM, &plain(), "cannot make a user namespace: out of memory");
    }
}
