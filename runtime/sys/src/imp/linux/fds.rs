//! Descriptors opened by images. A direct system call may close a descriptor, and the number may then be reused, without a call of a hook.
//! Therefore the target (file, socket or pipe) of each descriptor is recorded. If the number now has a different target, the descriptor no
//! longer belongs to the image.
#![expect(unsafe_code, reason = "closes what an image has left open")]

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::{fs, thread};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::c::descriptors::{Identity, identity, is_paired_locally};
use super::c::library::{self, Closes};
use super::{fd_target, handlers, lock, proc};
use crate::ledger::Ledger;
use crate::ledger::repair::{Gone, Repair};
use crate::ledger::uses::{UseKind, Uses, is_for_author};

pub(super) const REPAIR: Repair = Repair {
    name: "a descriptor",
    counts: |image, counts| counts.fds = held(image.owner()),
    free: |gone, report| {
        let fds = take(gone.image().owner());
        fds.iter().for_each(|left| close(gone, left));
        let list = if gone.policy().close_fds { &mut report.fds_closed } else { &mut report.fds_left };
        *list = fds.into_iter().map(|left| (left.fd, left.to)).collect();
        report.fds_unknown = unknown(&gone.image().records.fds_before);
        let named = &report.fds_left;
        report.fds_unknown.retain(|(fd, _)| !named.iter().any(|(left, _)| left == fd));
    },
    ..Repair::NONE
};

/// Open descriptors of all images. All images share one map, because a number has one owner at a time.
static RECORDS: Mutex<FxHashMap<c_int, Opened>> = Mutex::new(FxHashMap::with_hasher(FxBuildHasher));

struct Opened {
    owner: usize,
    identity: Identity,
    /// Stream of the C library that owns the descriptor. `None` if the image opened the descriptor without a stream.
    stream: Option<Stream>,
}

/// Stream of the C library that owns a descriptor and closes it.
#[derive(Clone, Copy)]
struct Stream {
    address: usize,
    maker: &'static Maker,
}

/// Function of the C library that opens a stream, by name. `closes` selects the function that closes such a stream, and receives the
/// stream's address.
pub(super) struct Maker {
    name: &'static str,
    closes: fn(usize) -> Closes,
}

/// Functions that open streams. The index of a function is the number that the hook `stream_opened` receives.
static MAKERS: [Maker; 6] = [
    Maker { name: "fopen", closes: Closes::Stream },
    Maker { name: "fdopen", closes: Closes::Stream },
    Maker { name: "tmpfile", closes: Closes::Stream },
    Maker { name: "popen", closes: Closes::Pipe },
    Maker { name: "opendir", closes: Closes::Folder },
    Maker { name: "fdopendir", closes: Closes::Folder },
];

impl Maker {
    /// Returns the entry of [`MAKERS`] with this number. Returns the last entry for an unknown number.
    pub(super) fn of(number: c_int) -> &'static Self {
        usize::try_from(number).ok().and_then(|number| MAKERS.get(number)).unwrap_or(&MAKERS[5])
    }
}

struct Left {
    fd: c_int,
    /// Target of the descriptor. If the descriptor belongs to a stream, also names the function that opened the stream.
    to: String,
    stream: Option<Stream>,
}

pub(super) fn opened(ledger: &Ledger, fd: c_int) {
    add_record(ledger, fd, None);
}

/// Records that the descriptor belongs to a stream. The stream closes the descriptor.
pub(super) fn stream_opened(ledger: &Ledger, fd: c_int, stream: *mut c_void, maker: &'static Maker) {
    add_record(ledger, fd, Some(Stream { address: stream.expose_provenance(), maker }));
}

/// Adds a record, except for a standard stream that was open before the image was mapped. Such a descriptor belongs to the process, even if
/// the image redirects it by `dup2` and later restores it.
fn add_record(ledger: &Ledger, fd: c_int, stream: Option<Stream>) {
    if fd <= libc::STDERR_FILENO && ledger.records.fds_before.contains(&fd) {
        return;
    }
    if let Some(identity) = identity(fd) {
        lock(&RECORDS).insert(fd, Opened { owner: ledger.owner(), identity, stream });
    }
}

/// Records in `uses` that the image has opened the file or socket of this descriptor.
pub(super) fn note_use(uses: &Uses, fd: c_int) {
    let Some(identity) = identity(fd) else { return };
    match identity.kind {
        libc::S_IFSOCK if !uses.has(UseKind::Socket) && !is_paired_locally(fd) => {
            uses.note(UseKind::Socket, || "opened a socket".to_owned());
        }
        libc::S_IFREG | libc::S_IFDIR if !uses.has(UseKind::File) => {
            let Some(path) = fd_target(fd) else { return };
            let program = fs::read_link("/proc/self/exe").ok();
            if is_for_author(&path, program.as_deref().and_then(Path::to_str)) {
                // A file name may contain line breaks and terminal control characters.
                uses.note(UseKind::File, || format!("opened {}", path.escape_debug()));
            }
        }
        _ => {}
    }
}

/// Removes the record of a stream that is about to be closed, because the stream's address and descriptor number may be reused afterwards.
pub(super) fn stream_closed(stream: *mut c_void) {
    lock(&RECORDS).retain(|_, opened| opened.stream.is_none_or(|known| known.address != stream.addr()));
}

/// Removes the record of a descriptor that is about to be closed, because the number may be reused afterwards. A signal handler that has
/// interrupted the holder of the lock keeps the record, whose target usually no longer matches after the closing.
pub(super) fn closed(fd: c_int) {
    let records = if handlers::is_running_here() { RECORDS.try_lock().ok() } else { Some(lock(&RECORDS)) };
    records.into_iter().for_each(|mut records| _ = records.remove(&fd));
}

fn held(owner: usize) -> u64 {
    let records = lock(&RECORDS);
    records.iter().filter(|(fd, opened)| opened.owner == owner && is_still(**fd, opened)).count() as u64
}

pub(super) fn is_of_another(owner: usize, fd: c_int) -> bool {
    lock(&RECORDS).get(&fd).is_some_and(|opened| opened.owner != owner && is_still(fd, opened))
}

/// Removes the records of an image. Returns the recorded descriptors that are still open.
fn take(owner: usize) -> Vec<Left> {
    let own = |_: &c_int, opened: &mut Opened| opened.owner == owner;
    let mut open: Vec<_> = lock(&RECORDS).extract_if(own).filter(|(fd, opened)| is_still(*fd, opened)).collect();
    open.sort_unstable_by_key(|(fd, _)| *fd);
    let left = |(fd, Opened { stream, .. })| {
        let to = fd_target(fd)?;
        let to = stream.map_or(to.clone(), |stream| format!("{to}, opened by `{}`", stream.maker.name));
        Some(Left { fd, to, stream })
    };
    open.into_iter().filter_map(left).collect()
}

/// Closes a descriptor with the function that matches its creation, if the policy allows it. Closing a `popen` stream waits for its process
/// without a time limit. A separate thread therefore closes such a stream.
fn close(gone: &Gone<'_>, left: &Left) {
    if !gone.policy().close_fds {
        return;
    }
    let closes = left.stream.map_or(Closes::Descriptor(left.fd), |Stream { address, maker }| (maker.closes)(address));
    // SAFETY: the record shows that the image opened the descriptor by the named function; `take` has checked that it is open, and
    // has removed the record. The policy allows closing.
    let close = unsafe { library::closing(gone, closes) };
    if !matches!(closes, Closes::Pipe(_)) {
        return close();
    }
    if let Err(error) = thread::Builder::new().name("alcedo-pclose".to_owned()).spawn(close) {
        log!(WARN, %error, "a stream made by `popen` stays open: no thread can be started to close it");
    }
}

/// Returns the open descriptors of the process, sorted. Returns an empty list if the system does not list descriptors.
pub(super) fn open_now() -> Vec<c_int> {
    let mut open = proc::numbers("fd").unwrap_or_default();
    open.sort_unstable();
    open
}

/// Returns the open descriptors that have no record and are not in `before`, each with its target.
fn unknown(before: &[c_int]) -> Vec<(c_int, String)> {
    let mut fresh = open_now();
    fresh.retain(|fd| before.binary_search(fd).is_err());
    let records = lock(&RECORDS);
    fresh.retain(|fd| !records.contains_key(fd));
    drop(records);
    // Excludes the descriptor through which the folder was listed: this descriptor is closed and has no target.
    fresh.into_iter().filter_map(|fd| Some((fd, fd_target(fd)?))).collect()
}

fn is_still(fd: c_int, opened: &Opened) -> bool {
    identity(fd) == Some(opened.identity)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd as _;

    use super::{RECORDS, closed, held, lock};
    use crate::imp::linux::handlers::{self, Frame};
    use crate::imp::linux::hooks;
    use crate::ledger::Ledger;

    #[test]
    fn signal_handlers_open_and_close_descriptors_without_waiting_for_a_lock() {
        let (ledger, file) = (Ledger::new("image"), File::open("/dev/null").expect("it is there"));
        let (owner, fd) = (ledger.owner(), file.as_raw_fd());
        // SAFETY: the ledger is live, and the descriptor is open.
        let open = || unsafe { hooks::fd_opened(ledger.word(), fd) };
        let frame = Frame { top: usize::MAX, interrupted: usize::MAX, alternate: 0..0, is_switched: false };
        let enter = || handlers::enter(libc::SIGUSR1, &frame).expect("a record is free");
        let run = enter();
        open();
        assert_eq!(held(owner), 0);
        let records = lock(&RECORDS);
        open();
        closed(fd);
        drop(records);
        assert!(run.leave());
        open();
        assert_eq!(held(owner), 1);
        let run = enter();
        closed(fd);
        assert!(run.leave());
        assert_eq!(held(owner), 0);
    }
}
