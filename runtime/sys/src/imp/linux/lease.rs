//! Whether any process writes to a file, according to the kernel: a read lease is given only where no process has the
//! file open for writing or mapped so, and it is gone as soon as a process asks to.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use super::c::descriptors::{self, Command};
use crate::imp::Writers;

/// A read lease, given back on drop.
#[derive(Debug)]
pub(crate) struct Lease<'a>(&'a File);

impl<'a> Lease<'a> {
    /// Takes the lease; a writer who comes now waits until it is given back. The answer is `Unknown` for a file of somebody
    /// else's, and for a file system that has no leases.
    pub(crate) fn take(file: &'a File) -> Result<Self, Writers> {
        // The kernel tells the holder by a signal when a process waits. The usual one ends a process that has no
        // handler for it; this one is ignored where it has no handler.
        if ask(file, Command::SetSignal, libc::SIGURG).is_none() {
            return Err(Writers::Unknown);
        }
        match ask(file, Command::SetLease, libc::F_RDLCK) {
            Some(_) => Ok(Self(file)),
            None if std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) => Err(Writers::Some),
            None => Err(Writers::Unknown),
        }
    }

    /// Gives it back, and says whether anybody could write meanwhile.
    pub(crate) fn end(self) -> Writers {
        match ask(self.0, Command::Lease, 0) {
            Some(libc::F_RDLCK) => Writers::None,
            _ => Writers::Some,
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // Closing the file would do it as well.
        let _given_back = ask(self.0, Command::SetLease, libc::F_UNLCK);
    }
}

/// The answer; none when it is refused.
fn ask(file: &File, command: Command, argument: libc::c_int) -> Option<libc::c_int> {
    let answer = descriptors::ask(file.as_raw_fd(), command, argument);
    (answer >= 0).then_some(answer)
}
