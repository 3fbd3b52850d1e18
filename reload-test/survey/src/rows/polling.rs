//! Polls a socket, and is woken by a thread. The poller is dropped when the module ends. In the row `polling-leaked`, the poller is left in
//! a static. The crate opens its descriptors by direct system calls.
#![allow(unsafe_code, reason = "adding a socket is unsafe, as it must be taken away before it is closed")]

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::local::Kept;

use polling::{Event, Events, Poller};

static POLLER: Kept<(Arc<Poller>, UdpSocket)> = Kept::new();

fn poller() -> io::Result<(Arc<Poller>, UdpSocket)> {
    let poller = Poller::new()?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    // SAFETY: `end` removes the socket before it is closed.
    unsafe { poller.add(&socket, Event::readable(7)) }?;
    Ok((Arc::new(poller), socket))
}

pub(crate) fn begin() {
    POLLER.keep(poller());
}

pub(crate) fn work() -> String {
    POLLER.work(|(poller, socket)| {
        let (waking, target) = (socket.try_clone()?, socket.local_addr()?);
        let sent = thread::spawn(move || waking.send_to(b"x", target));
        let mut events = Events::new();
        poller.wait(&mut events, Some(Duration::from_secs(5)))?;
        sent.join().expect("it does not panic")?;
        let is_seen = events.iter().any(|event| event.key == 7);
        socket.recv_from(&mut [0; 8])?;
        poller.modify(&*socket, Event::readable(7))?;
        Ok::<_, io::Error>(is_seen)
    })
}

pub(crate) fn end() {
    let Some((poller, socket)) = (if cfg!(feature = "polling-leaked") { None } else { POLLER.take() }) else { return };
    let _unknown = poller.delete(&socket);
}
