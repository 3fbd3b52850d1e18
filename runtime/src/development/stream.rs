//! The socket to the tool, as far as the host needs it, and the check of the process at its other end.

#[cfg(not(unix))]
pub(super) use none::Stream;
#[cfg(unix)]
pub(super) use unix::Stream;

/// Whether the process at the other end of a connection belongs to the user of this one. On platforms that do not say, the
/// folder of the socket, which only its user may enter, has to do.
///
/// # Errors
/// When the system does not say.
#[cfg(unix)]
pub fn is_of_this_user(stream: &std::os::unix::net::UnixStream) -> std::io::Result<bool> {
    #[cfg(target_os = "linux")]
    let is_ours = rustix::net::sockopt::socket_peercred(stream)?.uid == rustix::process::geteuid();
    #[cfg(not(target_os = "linux"))]
    let is_ours = stream.peer_addr().is_ok();
    Ok(is_ours)
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    use super::is_of_this_user;

    pub(in super::super) struct Stream(UnixStream);

    impl Stream {
        /// Connects to the process that listens there, if it is this user's.
        pub(in super::super) fn connect(path: &Path) -> io::Result<Self> {
            let stream = UnixStream::connect(path)?;
            match is_of_this_user(&stream)? {
                true => Ok(Self(stream)),
                false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens there")),
            }
        }

        pub(in super::super) fn try_clone(&self) -> io::Result<Self> {
            self.0.try_clone().map(Self)
        }

        /// So long a read or a write may wait; none for as long as it takes.
        pub(in super::super) fn set_patience(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
            self.0.set_read_timeout(read)?;
            self.0.set_write_timeout(write)
        }

        /// Ends the connection for all its handles.
        pub(in super::super) fn end(&self) {
            // One that has ended is ended.
            let _ended = self.0.shutdown(Shutdown::Both);
        }
    }

    impl From<UnixStream> for Stream {
        fn from(stream: UnixStream) -> Self {
            Self(stream)
        }
    }

    impl Read for Stream {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }
}

#[cfg(not(unix))]
mod none {
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::time::Duration;

    /// There is none here.
    pub(in super::super) enum Stream {}

    impl Stream {
        pub(in super::super) fn connect(_path: &Path) -> io::Result<Self> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "`alcedo dev` runs no hosts on this platform"))
        }

        pub(in super::super) fn try_clone(&self) -> io::Result<Self> {
            match *self {}
        }

        pub(in super::super) fn set_patience(
            &self,
            _read: Option<Duration>,
            _write: Option<Duration>,
        ) -> io::Result<()> {
            match *self {}
        }

        pub(in super::super) fn end(&self) {
            match *self {}
        }
    }

    impl Read for Stream {
        fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
            match *self {}
        }
    }

    impl Write for Stream {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            match *self {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match *self {}
        }
    }
}
