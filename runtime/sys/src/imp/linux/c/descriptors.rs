//! Descriptors that are only numbers, because other code owns them: what they lead to, and what the kernel is asked
//! about them. A number that is no descriptor is an answer and not a fault.
#![expect(unsafe_code, reason = "asks about descriptors in C")]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// What a descriptor leads to: device, number and kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::imp::linux) struct Identity {
    pub(in crate::imp::linux) device: libc::dev_t,
    pub(in crate::imp::linux) number: libc::ino_t,
    pub(in crate::imp::linux) kind: libc::mode_t,
}

/// What a descriptor leads to; `None` when it is not open.
pub(in crate::imp::linux) fn identity(fd: c_int) -> Option<Identity> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the C library writes to the place it is given, and has written all of it when it says that it succeeded.
    let stat = unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }?;
    Some(Identity { device: stat.st_dev, number: stat.st_ino, kind: stat.st_mode & libc::S_IFMT })
}

/// The commands of `fcntl` that take a number and give one back.
#[derive(Clone, Copy, Debug)]
pub(in crate::imp::linux) enum Command {
    Flags,
    SetFlags,
    Notify,
    Lease,
    SetLease,
    SetOwner,
    Signal,
    SetSignal,
}

impl Command {
    /// Of `fcntl.h`, where all Linux machines agree on it.
    fn number(self) -> c_int {
        match self {
            Self::Flags => libc::F_GETFL,
            Self::SetFlags => libc::F_SETFL,
            Self::Notify => libc::F_NOTIFY,
            Self::Lease => libc::F_GETLEASE,
            Self::SetLease => libc::F_SETLEASE,
            Self::SetOwner => 8,
            Self::SetSignal => 10,
            Self::Signal => 11,
        }
    }
}

/// The answer; below zero when it is refused.
pub(in crate::imp::linux) fn ask(fd: c_int, command: Command, argument: c_int) -> c_int {
    // SAFETY: each `Command` takes a number and gives one back, and the C library refuses what is no descriptor.
    unsafe { libc::fcntl(fd, command.number(), argument) }
}

/// Writes so many bytes of this process from an address on; how many there were, or `None` where there are none. The kernel
/// reads them, and says so where nothing is mapped.
pub(in crate::imp::linux) fn write_memory(to: BorrowedFd<'_>, address: usize, len: usize) -> Option<usize> {
    // SAFETY: the kernel looks itself whether it may read what it is told to, and nothing is written to this process.
    let written = unsafe { libc::write(to.as_raw_fd(), std::ptr::without_provenance(address), len) };
    usize::try_from(written).ok()
}

/// A message queue notifies this process no longer.
pub(in crate::imp::linux) fn forget_asker(queue: c_int) {
    // SAFETY: without an event the C library takes a number, and refuses one that is no queue.
    unsafe { c_mq_notify(queue, std::ptr::null()) };
}

unsafe extern "C" {
    #[link_name = "mq_notify"]
    fn c_mq_notify(queue: c_int, event: *const std::ffi::c_void) -> c_int;
}
