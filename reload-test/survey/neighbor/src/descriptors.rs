//! Opens files, which receive the freed descriptors. If the unloaded plugin's former descriptors are written to or closed late, these files
//! are affected.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;

/// Number of files, and number of pipe ends. Files and pipe ends receive the lowest free descriptors.
const COUNT: usize = 8;
const TEXT: &[u8] = b"what the neighbor wrote";

/// Open files, and writing ends of one pipe.
pub(crate) struct Descriptors {
    files: Vec<File>,
    reader: PipeReader,
    writers: Vec<PipeWriter>,
}

impl Descriptors {
    pub(crate) fn open() -> Result<Self, String> {
        Self::try_open().map_err(|error| format!("it could not open its files: {error}"))
    }

    fn try_open() -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        // Reads from an empty pipe must not block.
        // SAFETY: sets a flag of an open descriptor.
        unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let writers = (0..COUNT).map(|_| writer.try_clone()).collect::<Result<_, _>>()?;
        let path = std::env::temp_dir().join(format!("neighbor-{}", std::process::id()));
        let file = |_| {
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
            file.write_all(TEXT)?;
            fs::remove_file(&path)?;
            Ok(file)
        };
        let files = (0..COUNT).map(file).collect::<std::io::Result<_>>()?;
        Ok(Self { files, reader, writers })
    }

    /// Checks that all files are open and unchanged.
    pub(crate) fn check(&self) -> Result<(), String> {
        for writer in &self.writers {
            // SAFETY: queries a descriptor; a closed descriptor is an error.
            if unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETFD) } < 0 {
                return Err(format!("its descriptor was closed: {}", writer.as_raw_fd()));
            }
        }
        let mut bytes = [0; 64];
        match (&self.reader).read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Ok(count @ 1..) => {
                return Err(format!("its pipe received {count} bytes: {:?}", &bytes[..count]));
            }
            other => return Err(format!("its descriptor was closed: {}: {other:?}", self.reader.as_raw_fd())),
        }
        for mut file in &self.files {
            let mut content = Vec::new();
            let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut content));
            if read.is_err() || content != TEXT {
                return Err(format!("its descriptor was used: {}: {read:?}, {content:?}", file.as_raw_fd()));
            }
        }
        Ok(())
    }
}
