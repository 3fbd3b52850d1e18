//! Snapshot of the resources of the process. A process that maps an image without hooks, such as a canary, finds the resources that the
//! image uses by comparing two snapshots. The comparison misses resources that the image has already released, and attributes new resources
//! of other code to the image.

use std::ffi::c_int;

use super::c::descriptors::identity;
use super::c::signals;
use super::{fds, proc};
use crate::ledger::uses::{Use, UseKind, Uses};

/// Resources of this process at one moment. With a snapshot, a process that maps an image without hooks, such as a canary process, can
/// determine the uses of the image by [`Self::uses`].
#[derive(Debug)]
pub struct Snapshot {
    fds: Vec<c_int>,
    threads: Vec<i32>,
    /// Handlers of all signals, in the order of the signal numbers.
    handlers: Vec<Option<usize>>,
}

impl Snapshot {
    /// Lists the descriptors, threads and signal handlers of this process.
    #[must_use]
    pub fn now() -> Self {
        let mut fds = fds::open_now();
        // Excludes the descriptor that was open only for this listing.
        fds.retain(|fd| identity(*fd).is_some());
        Self { fds, threads: proc::numbers("task").unwrap_or_default(), handlers: handlers() }
    }

    /// Compares the current resources of this process with the snapshot. Returns a use for each kind of new resource, including resources
    /// that other code of the process created. Omits resources that were released again.
    #[must_use]
    pub fn uses(&self) -> Vec<Use> {
        let uses = Uses::default();
        let new_fds = fds::open_now().into_iter().filter(|fd| !self.fds.contains(fd));
        new_fds.for_each(|fd| fds::note_use(&uses, fd));
        let threads = proc::numbers("task").unwrap_or_default();
        if threads.iter().any(|thread| !self.threads.contains(thread)) {
            uses.note(UseKind::Thread, || "started a thread".to_owned());
        }
        let changed = self.handlers.iter().zip(handlers()).position(|(before, now)| *before != now);
        if let Some(at) = changed {
            uses.note(UseKind::Signal, || format!("changed the action of signal {}", at + 1));
        }
        uses.all()
    }
}

fn handlers() -> Vec<Option<usize>> {
    let handler = |signal| signals::action(signal).ok().map(|action| action.sa_sigaction);
    (1..signals::COUNT as c_int).map(handler).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::{fs, thread};

    use super::{Snapshot, UseKind};

    fn kinds(before: &Snapshot) -> Vec<UseKind> {
        before.uses().into_iter().map(|found| found.kind).collect()
    }

    #[test]
    fn open_files_and_running_threads_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = Snapshot::now();
        let file = fs::File::create(folder.path().join("level")).expect("a file");
        let found = before.uses();
        let by = found.iter().find(|found| found.kind == UseKind::File).map(|found| found.by.as_str());
        assert!(by.is_some_and(|by| by.starts_with("opened /")), "{found:?}");
        drop(file);

        let before = Snapshot::now();
        let (end, ends) = mpsc::channel::<()>();
        let thread = thread::spawn(move || ends.recv().is_err());
        assert!(kinds(&before).contains(&UseKind::Thread));
        drop(end);
        assert!(thread.join().expect("it does not panic"));
    }

    #[test]
    fn names_of_files_are_escaped() {
        use super::fds::note_use;
        use crate::ledger::uses::Uses;
        use std::os::fd::AsRawFd as _;

        let folder = tempfile::tempdir().expect("a folder");
        let file = fs::File::create(folder.path().join("level\n\u{1b}[2J")).expect("a file");
        let uses = Uses::default();
        note_use(&uses, file.as_raw_fd());
        let found = uses.all();
        assert!(found.len() == 1 && found[0].by.ends_with("/level\\n\\u{1b}[2J"), "{found:?}");
    }

    #[test]
    fn only_sockets_of_other_parties_are_uses_of_the_network() {
        use std::net::UdpSocket;
        use std::os::unix::net::{UnixListener, UnixStream};

        use super::fds::note_use;
        use crate::ledger::uses::Uses;
        use std::os::fd::{AsRawFd as _, RawFd};

        let is_use = |fd: RawFd| {
            let uses = Uses::default();
            note_use(&uses, fd);
            uses.has(UseKind::Socket)
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = UnixStream::pair().expect("a pair");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        assert_eq!([one.as_raw_fd(), other.as_raw_fd()].map(is_use), [false; 2]);
        assert_eq!([listener.as_raw_fd(), udp.as_raw_fd()].map(is_use), [true; 2]);
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        assert!(!is_use(reader.as_raw_fd()));
    }
}
