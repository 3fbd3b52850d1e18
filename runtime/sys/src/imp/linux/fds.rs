//! Descriptors that images have opened. A descriptor is only a number, which may be closed and given to somebody else
//! without a hook being asked; so what it led to is written down as well, and one that leads elsewhere now is not theirs.
#![expect(unsafe_code, reason = "asks about descriptors and closes them, in C")]

use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::{LazyLock, Mutex};
use std::{fs, io};

use super::{fd_target, lock};

/// One book for all images: a number has one owner at a time.
static BOOK: LazyLock<Mutex<HashMap<c_int, Opened>>> = LazyLock::new(Mutex::default);

struct Opened {
    /// The address of the ledger of whoever opened it.
    owner: usize,
    identity: Identity,
}

/// Device, number and kind of what a descriptor leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity(libc::dev_t, libc::ino_t, libc::mode_t);

pub(super) fn opened(owner: usize, fd: c_int) {
    if let Some(identity) = identity(fd) {
        lock(&BOOK).insert(fd, Opened { owner, identity });
    }
}

/// Said before it is closed: as soon as it is, the number may be another's.
pub(super) fn closed(fd: c_int) {
    lock(&BOOK).remove(&fd);
}

/// How many an image has open.
pub(super) fn held(owner: usize) -> u64 {
    let book = lock(&BOOK);
    book.iter().filter(|(fd, opened)| opened.owner == owner && is_still(**fd, opened)).count() as u64
}

/// Whether another image is known to have opened it.
pub(super) fn is_of_another(owner: usize, fd: c_int) -> bool {
    lock(&BOOK).get(&fd).is_some_and(|opened| opened.owner != owner && is_still(fd, opened))
}

/// Strikes out all of an image; returns those that are open, each with what it leads to.
pub(super) fn take(owner: usize) -> Vec<(c_int, String)> {
    let mut open = Vec::new();
    lock(&BOOK).retain(|fd, opened| {
        let keep = opened.owner != owner;
        if !keep && is_still(*fd, opened) {
            open.push(*fd);
        }
        keep
    });
    open.sort_unstable();
    open.into_iter().filter_map(|fd| Some((fd, fd_target(fd)?))).collect()
}

/// # Safety
///
/// Nobody uses the descriptor.
pub(super) unsafe fn close(fd: c_int) {
    // SAFETY: our caller promises that nobody uses it.
    unsafe { libc::close(fd) };
}

/// The numbers that are open now, sorted; nothing where the system does not tell.
pub(super) fn open_now() -> Vec<c_int> {
    let list = || -> io::Result<Vec<c_int>> {
        let numbers = fs::read_dir("/proc/self/fd")?.filter_map(|fd| fd.ok()?.file_name().to_str()?.parse().ok());
        Ok(numbers.collect())
    };
    let mut open = list().unwrap_or_default();
    open.sort_unstable();
    open
}

/// What is open now, was not open `before`, and is on nobody's record.
pub(super) fn unknown(before: &[c_int]) -> Vec<(c_int, String)> {
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

fn identity(fd: c_int) -> Option<Identity> {
    let mut stat = MaybeUninit::uninit();
    // SAFETY: the call writes to the place it is given, and a number that is no descriptor is refused.
    let asked = unsafe { libc::fstat(fd, stat.as_mut_ptr()) };
    (asked == 0).then(|| {
        // SAFETY: the call has succeeded and so has written all of it.
        let stat: libc::stat = unsafe { stat.assume_init() };
        Identity(stat.st_dev, stat.st_ino, stat.st_mode & libc::S_IFMT)
    })
}
