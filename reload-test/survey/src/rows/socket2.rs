//! Sets options of a socket, and sends a datagram from the socket to itself.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::local::report;

use socket2::{Domain, Protocol, Socket, Type};

fn send() -> io::Result<bool> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    let socket = UdpSocket::from(socket);
    socket.send_to(b"hello", socket.local_addr()?)?;
    let mut received = [0; 16];
    let (length, _) = socket.recv_from(&mut received)?;
    Ok(&received[..length] == b"hello")
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(send())
}

pub(crate) fn end() {}
