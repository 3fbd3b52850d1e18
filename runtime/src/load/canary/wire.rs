//! Socket between a host and its canary. The canary receives one end of the socket as standard input. The canary immediately moves this end
//! to a new descriptor that child processes do not inherit. Then the canary replaces standard input with `/dev/null`. Modules that print,
//! read or start processes therefore do not affect the socket.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
#[cfg(not(unix))]
use std::net::TcpStream as Stream;
#[cfg(unix)]
use std::os::fd::{AsFd as _, OwnedFd};
#[cfg(unix)]
use std::os::unix::net::UnixStream as Stream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::protocol::{FrameError, Listener, Message, Speaker, Token};

/// Failure of the socket or of the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Result of a read with a timeout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Message(Message),
    /// No complete message was received in time.
    Nothing,
    /// The peer has closed the socket.
    End,
}

/// End of the socket in this process, with the encoder and the decoder of frames.
pub(crate) struct Wire {
    stream: Stream,
    listener: Listener,
    speaker: Option<Speaker>,
}

impl Wire {
    /// Creates a socket. Returns the host's end, and the canary's end as standard input for the canary process.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot create the socket.
    #[cfg(unix)]
    pub(super) fn pair(token: Token) -> io::Result<(Self, Stdio)> {
        let (ours, theirs) = Stream::pair()?;
        let wire = Self { stream: ours, listener: Listener::new(token), speaker: Some(Speaker::new(token)) };
        Ok((wire, Stdio::from(OwnedFd::from(theirs))))
    }

    /// Fails, because canaries are not supported on this platform.
    #[cfg(not(unix))]
    pub(super) fn pair(_token: Token) -> io::Result<(Self, Stdio)> {
        Err(unsupported())
    }

    /// Takes the canary's end of the socket from standard input.
    ///
    /// # Errors
    /// Returns an error if standard input is not a socket. In this case, no host has started the process as a canary.
    #[cfg(unix)]
    pub(crate) fn take_standard_input() -> io::Result<Self> {
        let stream = Stream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // This call fails if standard input is not a socket.
        stream.peer_addr()?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(Self { stream, listener: Listener::default(), speaker: None })
    }

    /// Fails like [`Wire::pair`] on this platform.
    #[cfg(not(unix))]
    pub(crate) fn take_standard_input() -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns a second handle to this end of the socket, on which a thread can wait until the peer closes the socket.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot duplicate the descriptor of the socket.
    pub(crate) fn lifeline(&self) -> io::Result<Stream> {
        self.stream.try_clone()
    }

    /// Sends a message. Waits for at most `patience`.
    ///
    /// # Errors
    /// Returns an error if the peer has closed the socket, or if the message does not fit into a frame.
    pub(crate) fn send(&mut self, message: &Message, patience: Option<Duration>) -> Result<(), WireError> {
        let unknown = || io::Error::new(ErrorKind::NotConnected, "no request was received yet");
        if self.speaker.is_none() {
            self.speaker = self.listener.token().map(Speaker::new);
        }
        let frame = self.speaker.as_mut().ok_or_else(unknown)?.frame(std::process::id(), message)?;
        self.stream.set_write_timeout(patience)?;
        self.stream.write_all(&frame)?;
        Ok(())
    }

    /// Waits for a message, for at most `patience`. Received parts of a message do not extend the wait. `None` waits without limit.
    ///
    /// # Errors
    /// Returns an error if the received bytes are not the expected frame.
    pub(crate) fn receive(&mut self, patience: Option<Duration>) -> Result<Received, WireError> {
        let until = patience.map(crate::deadline::after);
        let mut left = patience;
        let mut bytes = [0; 4096];
        loop {
            if let Some(message) = self.listener.next()? {
                return Ok(Received::Message(message));
            }
            // Avoids a timeout of zero, because a zero timeout is an error.
            self.stream.set_read_timeout(left.map(|left| left.max(Duration::from_millis(1))))?;
            match self.stream.read(&mut bytes) {
                Ok(0) => return self.end(),
                Ok(count) => {
                    self.listener.push(&bytes[..count]);
                    left = until.map(|until| until.saturating_duration_since(Instant::now()));
                    if left.is_some_and(|left| left.is_zero()) {
                        return Ok(self.listener.next()?.map_or(Received::Nothing, Received::Message));
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(Received::Nothing),
                    // The peer has ended without reading all sent bytes.
                    ErrorKind::ConnectionReset => return self.end(),
                    _ => return Err(error.into()),
                },
            }
        }
    }

    fn end(&self) -> Result<Received, WireError> {
        self.listener.end()?;
        Ok(Received::End)
    }
}

#[cfg(not(unix))]
fn unsupported() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "canaries are not supported on this platform")
}

#[cfg(all(test, unix))]
pub(super) mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::{Received, Wire, WireError};
    use crate::load::canary::protocol::{FrameError, Message, Speaker, Token};

    const SOON: Option<Duration> = Some(Duration::from_millis(5));

    /// Creates a socket. Returns the host's end as a [`Wire`], and the canary's end as a raw stream.
    pub(in crate::load::canary) fn ends() -> (Wire, UnixStream) {
        let (mut wire, _stdin) = Wire::pair(Token(3)).expect("a socket");
        let (ours, theirs) = UnixStream::pair().expect("a socket");
        wire.stream = ours;
        (wire, theirs)
    }

    #[test]
    fn a_message_is_received_once_it_is_complete() {
        let (mut wire, mut other) = ends();
        let frame = Speaker::new(Token(3)).frame(1, &Message::Here).expect("it fits");
        other.write_all(&frame[..10]).expect("it is read");
        assert_eq!(wire.receive(SOON).expect("no error yet"), Received::Nothing);
        other.write_all(&frame[10..]).expect("it is read");
        assert_eq!(wire.receive(SOON).expect("a message"), Received::Message(Message::Here));
        drop(other);
        assert_eq!(wire.receive(SOON).expect("an end"), Received::End);
    }

    #[test]
    fn slow_single_bytes_do_not_extend_the_timeout() {
        let (mut wire, mut other) = ends();
        let text = "x".repeat(60_000);
        let frame = Speaker::new(Token(3)).frame(1, &Message::Refused(text.clone())).expect("it fits");
        let (head, rest) = frame.split_at(100);
        other.write_all(head).expect("it is read");
        let (began, begins) = std::sync::mpsc::channel::<()>();
        let (stopped, stops) = std::sync::mpsc::channel::<()>();
        let rest = rest.to_vec();
        let slow = std::thread::spawn(move || {
            let mut sent = 0;
            while stops.try_recv().is_err() {
                other.write_all(&rest[sent..=sent]).expect("it is read");
                sent += 1;
                if sent == 1 {
                    began.send(()).expect("somebody waits for that");
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            other.write_all(&rest[sent..]).expect("it is read");
            other
        });
        begins.recv().expect("it speaks");
        // The thread sends single bytes for up to one minute.
        assert_eq!(wire.receive(SOON).expect("no error yet"), Received::Nothing);
        stopped.send(()).expect("it still speaks");
        assert_eq!(wire.receive(None).expect("a message"), Received::Message(Message::Refused(text)));
        drop(slow.join());
    }

    #[test]
    fn foreign_bytes_and_truncation_are_errors() {
        let (mut wire, mut other) = ends();
        other.write_all(b"hello\n").expect("it is read");
        assert!(matches!(wire.receive(SOON), Err(WireError::Frame(FrameError::NotAFrame))));
        let (mut wire, mut other) = ends();
        other.write_all(b"AC").expect("it is read");
        drop(other);
        assert!(matches!(wire.receive(SOON), Err(WireError::Frame(FrameError::CutOff(2)))));
    }
}
