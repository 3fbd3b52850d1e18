//! Polls a socket, and a waker that a thread uses. Socket and waker are dropped when the module ends. In the row `mio-leaked`, both are
//! left in a static.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::local::Kept;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token, Waker};

static POLL: Kept<(Poll, UdpSocket, Arc<Waker>)> = Kept::new();

fn poll() -> io::Result<(Poll, UdpSocket, Arc<Waker>)> {
    let poll = Poll::new()?;
    let mut socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    let waker = Waker::new(poll.registry(), Token(1))?;
    Ok((poll, socket, Arc::new(waker)))
}

pub(crate) fn begin() {
    POLL.keep(poll());
}

pub(crate) fn work() -> String {
    POLL.work(|(poll, _socket, waker)| {
        let waking = Arc::clone(waker);
        let woken = thread::spawn(move || waking.wake());
        let mut events = Events::with_capacity(8);
        poll.poll(&mut events, Some(Duration::from_secs(5)))?;
        woken.join().expect("it does not panic")?;
        Ok::<_, io::Error>(events.iter().any(|event| event.token() == Token(1)))
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "mio-leaked")) {
        drop(POLL.take());
    }
}
