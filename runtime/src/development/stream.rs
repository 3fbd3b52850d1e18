//! Socket to `alcedo dev`, with a check of the process at the other end.

use std::io;
use std::path::Path;

/// Placeholder for platforms without Unix sockets. Never constructed.
#[cfg(not(unix))]
pub(super) use std::net::TcpStream as Stream;
#[cfg(unix)]
pub(super) use std::os::unix::net::UnixStream as Stream;

/// Checks that the process at the other end of a connection belongs to the user of this process. The check exists only on Linux. On other
/// platforms, only the permissions of the socket's folder restrict access.
///
/// # Errors
/// Returns the error of the system call.
#[cfg(unix)]
pub fn is_of_this_user(stream: &std::os::unix::net::UnixStream) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    let is_ours = rustix::net::sockopt::socket_peercred(stream)?.uid == rustix::process::geteuid();
    #[cfg(not(target_os = "linux"))]
    let is_ours = stream.peer_addr().is_ok();
    Ok(is_ours)
}

/// Connects to the process that listens at `path`. Fails if the process belongs to a different user.
#[cfg(unix)]
pub(super) fn connect(path: &Path) -> io::Result<Stream> {
    let stream = Stream::connect(path)?;
    match is_of_this_user(&stream)? {
        true => Ok(stream),
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens there")),
    }
}

#[cfg(not(unix))]
pub(super) fn connect(_path: &Path) -> io::Result<Stream> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "`alcedo dev` runs no hosts on this platform"))
}
