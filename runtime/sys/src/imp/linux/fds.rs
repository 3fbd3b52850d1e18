//! Descriptors that images have opened. A descriptor is only a number, which may be closed and given to other code
//! without a hook being asked; so what it led to is written down as well, and one that leads elsewhere now is not theirs.
#![expect(unsafe_code, reason = "closes what an image has left open")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{LazyLock, Mutex};
use std::thread;

use super::c::descriptors::{Identity, identity};
use super::c::library::{self, Closes};
use super::{fd_target, lock, proc};
use crate::ledger::repair::{Gone, Repair};

pub(super) const REPAIR: Repair = Repair {
    name: "a descriptor",
    counts: |image, counts| counts.fds = held(image.owner()),
    free: |gone, report| {
        let fds = take(gone.image.owner());
        fds.iter().for_each(|left| close(gone, left));
        let told = if gone.policy.close_fds { &mut report.fds_closed } else { &mut report.fds_left };
        *told = fds.into_iter().map(|left| (left.fd, left.to)).collect();
        report.fds_unknown = unknown(&gone.image.records.fds_before);
        let named = &report.fds_left;
        report.fds_unknown.retain(|(fd, _)| !named.iter().any(|(left, _)| left == fd));
    },
    ..Repair::NONE
};

/// One book for all images: a number has one owner at a time.
static BOOK: LazyLock<Mutex<HashMap<c_int, Opened>>> = LazyLock::new(Mutex::default);

struct Opened {
    /// The address of the ledger of the image that opened it.
    owner: usize,
    identity: Identity,
    /// Of what in the C library it is a part; none if it is the image's own.
    stream: Option<Stream>,
}

/// A stream of the C library that closes its descriptor itself.
#[derive(Clone, Copy)]
struct Stream {
    address: usize,
    maker: Maker,
}

/// The functions that make one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Maker {
    Fopen,
    Fdopen,
    Tmpfile,
    Popen,
    Opendir,
    Fdopendir,
}

impl Maker {
    /// As the table of hooks numbers them.
    pub(super) fn of(number: c_int) -> Self {
        match number {
            0 => Self::Fopen,
            1 => Self::Fdopen,
            2 => Self::Tmpfile,
            3 => Self::Popen,
            4 => Self::Opendir,
            _ => Self::Fdopendir,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fopen => "fopen",
            Self::Fdopen => "fdopen",
            Self::Tmpfile => "tmpfile",
            Self::Popen => "popen",
            Self::Opendir => "opendir",
            Self::Fdopendir => "fdopendir",
        }
    }
}

/// A descriptor that an image has left open.
struct Left {
    fd: c_int,
    /// What it leads to, and by whom it was opened if that was not the image itself.
    to: String,
    stream: Option<Stream>,
}

pub(super) fn opened(owner: usize, fd: c_int) {
    write_down(owner, fd, None);
}

/// The descriptor is a stream's from here on, which closes it itself.
pub(super) fn stream_opened(owner: usize, fd: c_int, stream: *mut c_void, maker: Maker) {
    write_down(owner, fd, Some(Stream { address: stream.expose_provenance(), maker }));
}

fn write_down(owner: usize, fd: c_int, stream: Option<Stream>) {
    if let Some(identity) = identity(fd) {
        lock(&BOOK).insert(fd, Opened { owner, identity, stream });
    }
}

/// Said before it is closed: as soon as it is, both the stream and the number may be another's.
pub(super) fn stream_closed(stream: *mut c_void) {
    lock(&BOOK).retain(|_, opened| opened.stream.is_none_or(|known| known.address != stream.addr()));
}

/// Said before it is closed: as soon as it is, the number may be another's.
pub(super) fn closed(fd: c_int) {
    lock(&BOOK).remove(&fd);
}

/// How many an image has open.
fn held(owner: usize) -> u64 {
    let book = lock(&BOOK);
    book.iter().filter(|(fd, opened)| opened.owner == owner && is_still(**fd, opened)).count() as u64
}

/// Whether another image is known to have opened it.
pub(super) fn is_of_another(owner: usize, fd: c_int) -> bool {
    lock(&BOOK).get(&fd).is_some_and(|opened| opened.owner != owner && is_still(fd, opened))
}

/// Strikes out all of an image; returns those that are open.
fn take(owner: usize) -> Vec<Left> {
    let mut open = Vec::new();
    lock(&BOOK).retain(|fd, opened| {
        let keep = opened.owner != owner;
        if !keep && is_still(*fd, opened) {
            open.push((*fd, opened.stream));
        }
        keep
    });
    open.sort_unstable_by_key(|(fd, _)| *fd);
    let left = |(fd, stream): (c_int, Option<Stream>)| {
        let to = fd_target(fd)?;
        let to = stream.map_or(to.clone(), |stream| format!("{to}, opened by `{}`", stream.maker.name()));
        Some(Left { fd, to, stream })
    };
    open.into_iter().filter_map(left).collect()
}

/// Closes it by what has opened it, if the policy wants that. A pipe waits for a process, which may run as long as it likes.
fn close(gone: &Gone<'_>, left: &Left) {
    if !gone.policy.close_fds {
        return;
    }
    let (closes, waits) = match left.stream {
        None => (Closes::Descriptor(left.fd), false),
        Some(Stream { address, maker }) => match maker {
            Maker::Fopen | Maker::Fdopen | Maker::Tmpfile => (Closes::Stream(address), false),
            Maker::Opendir | Maker::Fdopendir => (Closes::Folder(address), false),
            Maker::Popen => (Closes::Pipe(address), true),
        },
    };
    // SAFETY: the book had it as opened by the image, by the function that is named there, and `take` has seen that it is open and
    // has struck it out. The policy closes descriptors.
    let close = unsafe { library::closing(gone, closes) };
    if !waits {
        return close();
    }
    if let Err(error) = thread::Builder::new().name("alcedo-pclose".to_owned()).spawn(close) {
        tracing::warn!(%error, "a stream made by `popen` stays open: no thread can be started to close it");
    }
}

/// The numbers that are open now, sorted; nothing where the system does not list them.
pub(super) fn open_now() -> Vec<c_int> {
    let mut open = proc::numbers("fd").unwrap_or_default();
    open.sort_unstable();
    open
}

/// What is open now, was not open `before`, and is on no record.
fn unknown(before: &[c_int]) -> Vec<(c_int, String)> {
    let mut fresh = open_now();
    fresh.retain(|fd| before.binary_search(fd).is_err());
    let book = lock(&BOOK);
    fresh.retain(|fd| !book.contains_key(fd));
    drop(book);
    // The look itself took one, which has no target any more.
    fresh.into_iter().filter_map(|fd| Some((fd, fd_target(fd)?))).collect()
}

fn is_still(fd: c_int, opened: &Opened) -> bool {
    identity(fd) == Some(opened.identity)
}
