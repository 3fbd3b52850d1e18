//! The conversation with the process of a world: accepts the connection, checks the greeting, sends requests, and converts messages to
//! events.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::link::{FromHost, ToHost, VERSION, is_of_this_user, receive, send};
use crossbeam_channel::{Receiver, Sender};
use rustix::fd::OwnedFd;

use super::Known;
use crate::error::{Error, file};
use crate::input::spare_at_exit;
use crate::lock;
use crate::world::WorldEvent;

/// Time limit for a host with development support to connect after its start, and to send its greeting after this connection.
const JOINS: Duration = Duration::from_secs(10);

/// The connection to one process. A separate thread handles the connection.
pub(super) struct Conversation {
    pub(super) events: Sender<WorldEvent>,
    pub(super) known: Arc<Known>,
    pub(super) program: PathBuf,
    pub(super) process: Weak<OwnedFd>,
    /// Dropped after all messages were read, so that the end of the process is the last event.
    pub(super) _reading: Sender<()>,
}

impl Conversation {
    pub(super) fn hold(self, listener: UnixListener, socket: &Path, requests: Receiver<ToHost>) {
        let joined = self.joined(&listener);
        // Accepts only one connection, because child processes of the host inherit its environment and must not connect.
        drop(listener);
        let _removed = fs::remove_file(socket);
        let Ok(Some(mut from)) = joined else { return };
        if let Some(problem) = greeting_problem(&mut from, JOINS) {
            let message = format!("{} {problem}", self.program.display());
            let _sent = self.events.send(WorldEvent::NotJoined(message));
            return;
        }
        spare_at_exit(&self.process);
        let Ok(mut to) = from.try_clone() else { return };
        // Sends requests on a thread. This thread ends when the sender of requests is dropped, or when the host has ended.
        thread::spawn(move || requests.iter().try_for_each(|order| send(&mut to, &order)));
        loop {
            let event = match receive::<FromHost>(&mut from) {
                Ok(Some(FromHost::Ended { left })) => {
                    *lock(&self.known.left) = Some(left);
                    continue;
                }
                Ok(Some(FromHost::Hello { .. })) => continue,
                Ok(Some(message)) => {
                    if let FromHost::Status(status) = &message {
                        lock(&self.known.status).clone_from(status);
                    }
                    WorldEvent::Host(message, Instant::now())
                }
                Ok(None) => return,
                // Reached if the process ended during a message. Another thread reports this end.
                Err(error) if error.kind() != io::ErrorKind::InvalidData => return,
                Err(error) => {
                    let _sent = self.events.send(WorldEvent::Unreadable(error.to_string()));
                    return;
                }
            };
            if self.events.send(event).is_err() {
                return;
            }
        }
    }

    /// Waits until the host connects. Returns `None` if the host ends before it connects.
    fn joined(&self, listener: &UnixListener) -> io::Result<Option<UnixStream>> {
        listener.set_nonblocking(true)?;
        let (begun, mut is_late) = (Instant::now(), false);
        while !self.known.has_ended.load(Ordering::Acquire) {
            match listener.accept() {
                Ok((stream, _)) if !is_of_this_user(&stream)? => {}
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(Some(stream));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(2)),
                Err(error) => return Err(error),
            }
            if begun.elapsed() >= JOINS && !std::mem::replace(&mut is_late, true) {
                let message = format!(
                    "{} runs but has not joined: its builder needs the line `.development()`, before `.build()`",
                    self.program.display()
                );
                let _sent = self.events.send(WorldEvent::NotJoined(message));
            }
        }
        Ok(None)
    }
}

/// Receives the greeting of a host, which must arrive within `limit`. Returns the problem of a missing or unsupported greeting, and a hint.
/// Returns `None` for a supported greeting. Also returns `None` if the host has ended, because another thread reports this end.
fn greeting_problem(from: &mut UnixStream, limit: Duration) -> Option<String> {
    let limited = from.set_read_timeout(Some(limit));
    let greeting = limited.and_then(|()| receive(from));
    let unlimited = from.set_read_timeout(None);
    let of_another_version =
        |what: &str| Some(format!("{what}, this tool is {}: build both from one checkout", env!("CARGO_PKG_VERSION")));
    match unlimited.and(greeting) {
        Ok(Some(FromHost::Hello { version: VERSION, .. }) | None) => None,
        Ok(Some(FromHost::Hello { runtime, .. })) => {
            of_another_version(&format!("is built with alcedo-runtime {runtime}"))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(format!(
            "has connected but sent no greeting within {limit:?}: it hangs in `Builder::build`; a debugger shows where"
        )),
        Err(error) if error.kind() != io::ErrorKind::InvalidData => None,
        _ => of_another_version("sends messages that this tool does not support"),
    }
}

/// Listens for connections from processes of this user only. Other users also cannot access the guard's folder, which contains the socket.
pub(super) fn listen(socket: &Path) -> Result<UnixListener, Error> {
    let listener = UnixListener::bind(socket).map_err(file("listen at", socket))?;
    fs::set_permissions(socket, Permissions::from_mode(0o600)).map_err(file("close to others", socket))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::sync::{Arc, Weak};
    use std::thread;
    use std::time::Duration;

    use alcedo_runtime::development::link::{FromHost, VERSION, send};
    use crossbeam_channel::{bounded, unbounded};

    use super::{Conversation, WorldEvent, greeting_problem, listen};
    use crate::guard::Guard;

    /// Returns the events for a host that sends these bytes after its greeting.
    fn events_of(bytes: Vec<u8>) -> Vec<WorldEvent> {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("dev");
        let listener = listen(&socket).unwrap();
        let (events, received) = unbounded();
        let conversation = Conversation {
            events,
            known: Arc::default(),
            program: "host".into(),
            process: Weak::new(),
            _reading: bounded(0).0,
        };
        let at = socket.clone();
        let host = thread::spawn(move || {
            let mut stream = UnixStream::connect(at).unwrap();
            send(&mut stream, &FromHost::Hello { version: VERSION, runtime: "0.1.0".into() }).unwrap();
            stream.write_all(&bytes).unwrap();
        });
        let (_orders, requests) = unbounded();
        conversation.hold(listener, &socket, requests);
        host.join().unwrap();
        assert!(!socket.exists(), "the socket is closed after the host joined");
        received.try_iter().collect()
    }

    #[test]
    fn invalid_messages_are_reported_and_truncated_ones_end_the_stream() {
        let mut half = Vec::new();
        send(&mut half, &FromHost::Started { generation: 1, builds: Default::default() }).unwrap();
        half.pop();
        assert!(events_of(half).is_empty());
        for bytes in [&[0xff; 4][..], b"\x03\0\0\0\xff\xff\xff", b"\x07\0\0\0\x66Reboot"] {
            let events = events_of(bytes.to_vec());
            assert!(matches!(events.as_slice(), [WorldEvent::Unreadable(_)]), "{events:?}");
        }
    }

    #[test]
    fn a_host_without_a_greeting_is_reported_after_a_time_limit() {
        let (tool, mut host) = UnixStream::pair().unwrap();
        let limit = Duration::from_millis(20);
        let problem = || greeting_problem(&mut tool.try_clone().unwrap(), limit);
        assert!(problem().is_some_and(|problem| problem.starts_with("has connected but sent no greeting within 20ms")));
        send(&mut host, &FromHost::Hello { version: VERSION, runtime: "0.1.0".into() }).unwrap();
        assert_eq!(problem(), None);
        // Later messages have no time limit.
        assert_eq!(tool.read_timeout().unwrap(), None);
        send(&mut host, &FromHost::Hello { version: VERSION + 1, runtime: "0.2.0".into() }).unwrap();
        assert!(
            problem().is_some_and(|problem| problem.starts_with("is built with alcedo-runtime 0.2.0, this tool is"))
        );
        drop(host);
        assert_eq!(problem(), None, "the end of the host has its own event");
    }

    #[test]
    fn the_socket_is_for_this_user_only() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let guard = Guard::new().unwrap();
        let socket = guard.dir().join("dev");
        let _listener = listen(&socket).unwrap();
        assert_eq!((mode(guard.dir()), mode(&socket)), (0o700, 0o600));
    }
}
