//! A lab in a program of its own: `lab` sends a word from one host to the other and says what they see; `lab hold`
//! says so too, starts a program on the second host, and waits to be killed. The tests run it as other users and kill
//! it.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use tenbin_linux::lab::{self, INTERFACE, Lab, LabSpec, LinkSpec};
use tenbin_linux::net;

fn main() -> ExitCode {
    // Before anything that might start a thread.
    let result = lab::enter_user_namespace_if_needed().map_err(Into::into).and_then(|()| show());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn show() -> Result<(), Box<dyn Error>> {
    let link =
        LinkSpec { rate_bps: Some(100_000_000), offload: Some(false), mtu: 9000, ..LinkSpec::default() };
    let lab = Lab::up(&LabSpec { names: vec!["left".to_owned(), "right".to_owned()], link })?;
    for address in [lab.address("right"), lab.address_v6("right")].into_iter().flatten() {
        println!("{address} says {}", word(&lab, address)?);
    }
    for name in ["left", "right"] {
        let seen = lab.run(name, || {
            let namespace = fs::read_link("/proc/thread-self/ns/net")?;
            let sys = fs::read_to_string(format!("/sys/class/net/{INTERFACE}/mtu"))?;
            let echo = fs::read_to_string("/proc/sys/net/ipv4/ping_group_range")?;
            Ok::<_, std::io::Error>((namespace, sys.trim().to_owned(), echo.trim().replace('\t', " ")))
        })??;
        println!("{name} is {} with mtu {} in /sys, echo for groups {}", seen.0.display(), seen.1, seen.2);
    }
    if std::env::args().nth(1).as_deref() == Some("hold") {
        let child = lab.spawn("right", || -> Result<(), std::io::Error> {
            let mut sleeper = Command::new("sleep");
            let mut sleeper = lab::die_with_parent(sleeper.arg("600").stdout(Stdio::null())).spawn()?;
            println!("holding {}", sleeper.id());
            sleeper.wait().map(drop)
        })?;
        child.join().map_err(|_| "the waiting thread panicked")??;
    }
    Ok(())
}

/// What a server on the right tells a client on the left.
fn word(lab: &Lab, address: IpAddr) -> Result<String, Box<dyn Error>> {
    let listener = lab.run("right", move || TcpListener::bind((address, 0)))??;
    let to: SocketAddr = listener.local_addr()?;
    let server = lab.spawn("right", move || listener.accept()?.0.write_all(b"hello"))?;
    let said = lab.run("left", move || {
        net::route_to(to.ip()).map_err(std::io::Error::other)?;
        let mut text = String::new();
        TcpStream::connect_timeout(&to, Duration::from_secs(10))?.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    })??;
    server.join().map_err(|_| "the server panicked")??;
    Ok(said)
}
