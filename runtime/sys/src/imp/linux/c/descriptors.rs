//! Queries and changes descriptors that other code owns, by their numbers. An invalid number causes an error, not a fault.
#![expect(unsafe_code, reason = "queries descriptors in C")]

use std::ffi::{c_int, c_uint, c_void};
use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::ops::Range;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;

/// Target of a descriptor: device, inode number and file type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::imp::linux) struct Identity {
    pub(in crate::imp::linux) device: libc::dev_t,
    pub(in crate::imp::linux) number: libc::ino_t,
    pub(in crate::imp::linux) kind: libc::mode_t,
}

pub(in crate::imp::linux) fn identity(fd: c_int) -> Option<Identity> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the C library writes to `stat`, and has initialized it on success.
    let stat = unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }?;
    Some(Identity { device: stat.st_dev, number: stat.st_ino, kind: stat.st_mode & libc::S_IFMT })
}

/// Checks if a descriptor is a local socket with a peer, such as each end of a `socketpair`.
pub(in crate::imp::linux) fn is_paired_locally(fd: c_int) -> bool {
    let mut peer = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: the C library writes at most `len` bytes to `peer`, and rejects descriptors without a peer. All bytes that it does not write
    // are zero, so `peer` is initialized.
    let peer =
        unsafe { (libc::getpeername(fd, peer.as_mut_ptr().cast(), &raw mut len) == 0).then(|| peer.assume_init()) };
    peer.is_some_and(|peer| c_int::from(peer.ss_family) == libc::AF_UNIX)
}

/// Waits until the C library no longer uses the blocks of completed asynchronous requests. After the C library has stored the result of a
/// request, the library still reads the event in the block, under a lock for which `aio_cancel` waits.
///
/// # Errors
/// Fails if no descriptor is free.
pub(in crate::imp::linux) fn settle_requests() -> io::Result<()> {
    let (unused, _writer) = io::pipe()?;
    // Without a block, the call would cancel all requests of the descriptor, but this new descriptor has no requests.
    aio_cancel(unused.as_raw_fd(), None);
    Ok(())
}

/// Command of `fcntl` that takes and returns a number. The value is the command's number in `fcntl.h`, which is equal on all Linux
/// architectures.
#[derive(Clone, Copy, Debug)]
pub(in crate::imp::linux) struct Command(c_int);

impl Command {
    pub(in crate::imp::linux) const FLAGS: Self = Self(libc::F_GETFL);
    pub(in crate::imp::linux) const SET_FLAGS: Self = Self(libc::F_SETFL);
    pub(in crate::imp::linux) const NOTIFY: Self = Self(libc::F_NOTIFY);
    pub(in crate::imp::linux) const LEASE: Self = Self(libc::F_GETLEASE);
    pub(in crate::imp::linux) const SET_LEASE: Self = Self(libc::F_SETLEASE);
    pub(in crate::imp::linux) const SET_OWNER: Self = Self(8);
    pub(in crate::imp::linux) const SET_SIGNAL: Self = Self(10);
    pub(in crate::imp::linux) const SIGNAL: Self = Self(11);
}

pub(in crate::imp::linux) fn control(fd: c_int, command: Command, argument: c_int) -> c_int {
    // SAFETY: each `Command` takes and returns a number, and the C library rejects invalid descriptors.
    unsafe { libc::fcntl(fd, command.0, argument) }
}

/// Starts to write a range of a file to the disk, so that a later `File::sync_all` takes less time. Waits for the disk only if the queue of
/// the disk is full. Has no effect on platforms that do not support this call. This function may be called on any thread.
pub fn start_writing(file: &File, range: Range<u64>) {
    let (start, len) = (range.start.cast_signed(), (range.end - range.start).cast_signed());
    // Ignores an error, because a sync of the file writes the remaining parts of the range. Without a flag that waits, the kernel also
    // keeps an error of the disk for this sync.
    let _started = sync_file_range(file.as_raw_fd(), start, len, libc::SYNC_FILE_RANGE_WRITE);
}

/// Writes bytes of this process at `address` to a descriptor. Returns the number of bytes written, or `None` on error. The kernel reads the
/// memory, so unmapped pages cause an error.
pub(in crate::imp::linux) fn write_memory(to: BorrowedFd<'_>, address: usize, len: usize) -> Option<usize> {
    usize::try_from(write(to.as_raw_fd(), ptr::without_provenance(address), len)).ok()
}

pub(in crate::imp::linux) fn forget_requester(queue: c_int) {
    // SAFETY: without an event, the C library takes a number, and rejects a number that is not a queue.
    unsafe { libc::mq_notify(queue, ptr::null()) };
}

// SAFETY: `write` only reads memory of this process, and the kernel checks this memory. `aio_cancel` compares the address of the block with
// the addresses of current requests. `sync_file_range` takes only numbers, and rejects invalid numbers.
unsafe extern "C" {
    safe fn sync_file_range(fd: c_int, start: libc::off64_t, len: libc::off64_t, flags: c_uint) -> c_int;
    safe fn write(fd: c_int, address: *const c_void, len: usize) -> isize;
    safe fn aio_cancel(fd: c_int, block: Option<&mut libc::aiocb>) -> c_int;
}
