//! Detects writers of a file. The kernel grants a read lease only if no process has the file open or mapped for writing. The kernel breaks
//! the lease as soon as a process requests write access.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use super::c::descriptors::{self, Command};
use crate::imp::Writers;

#[derive(Debug)]
pub(crate) struct Lease<'a>(&'a File);

impl<'a> Lease<'a> {
    /// Takes the lease. Later writers wait until the lease is released. Returns the error `Unknown` if the file belongs to a different
    /// user, or if the file system has no leases.
    pub(crate) fn take(file: &'a File) -> Result<Self, Writers> {
        // When a writer waits for the lease, the kernel sends a signal to the holder of the lease. Selects a signal that is ignored by
        // default, because the kernel's usual signal terminates a process without a handler.
        if control(file, Command::SET_SIGNAL, libc::SIGURG).is_none() {
            return Err(Writers::Unknown);
        }
        match control(file, Command::SET_LEASE, libc::F_RDLCK) {
            Some(_) => Ok(Self(file)),
            None if std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) => Err(Writers::Some),
            None => Err(Writers::Unknown),
        }
    }

    /// Releases the lease. Returns `Writers::Some` if a process may have written to the file during the lease.
    pub(crate) fn end(self) -> Writers {
        match control(self.0, Command::LEASE, 0) {
            Some(libc::F_RDLCK) => Writers::None,
            _ => Writers::Some,
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // An error can be ignored, because closing the file also releases the lease.
        let _released = control(self.0, Command::SET_LEASE, libc::F_UNLCK);
    }
}

fn control(file: &File, command: Command, argument: libc::c_int) -> Option<libc::c_int> {
    let answer = descriptors::control(file.as_raw_fd(), command, argument);
    (answer >= 0).then_some(answer)
}
