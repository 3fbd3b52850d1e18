//! Reads library files that other processes may still be writing. Opening a file never blocks, and most unsuitable files are rejected by
//! their first bytes. A copy is a consistent snapshot of the file.
//!
//! A seal certifies the whole content. A file without a seal may be read while a build overwrites it, and a mix of two builds may have
//! consistent headers. Therefore the host holds a *lease* while it copies such a file. The kernel grants a lease only if no process has the
//! file open for writing. If leases are unavailable (files of another user, some network file systems), the file must be unmodified for a
//! while and must not change during the copy. The file is then read twice. If both reads return equal content, the copy is a consistent
//! snapshot.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use xxhash_rust::xxh3::Xxh3;

use crate::format;
use crate::image_error::{ImageError, with_path};
use crate::imp::{Lease, Writers};
use crate::plain_file::{self, PlainFileError};
use crate::stamp::Stamp;

/// Minimum time since the last write to a file without lease and seal. Longer than the granularity of file system timestamps.
const QUIET: Duration = Duration::from_millis(25);

/// Time limit for writers to close the file. Between fork and exec, a new child process holds all descriptors of this process, including
/// descriptors for writing.
const FORK: Duration = Duration::from_millis(200);

/// Number of bytes that are checked before the remaining bytes are read.
const HEAD: u64 = format::HEAD as u64;

#[derive(Debug)]
pub(crate) struct Source<'a> {
    path: &'a Path,
    file: File,
    stamp: Stamp,
    len: u64,
}

#[derive(Debug)]
#[must_use = "the copy may be torn"]
pub(crate) struct Copied<'a> {
    source: Source<'a>,
    writers: Writers,
    copied: u64,
}

impl<'a> Source<'a> {
    /// Opens the file and checks its first bytes. Follows links, and opens only regular files.
    pub(crate) fn open(path: &'a Path, largest: u64) -> Result<Self, ImageError> {
        let (file, found) = open_regular(path)?;
        Self::of_open(path, file, &found, largest)
    }

    /// Checks a file that is open already.
    pub(crate) fn of_open(path: &'a Path, file: File, found: &Metadata, largest: u64) -> Result<Self, ImageError> {
        let io = |source| ImageError::Io { path: path.to_owned(), source };
        let len = found.len();
        check_len(path, len, largest)?;
        let mut source = Self { path, file, stamp: Stamp::of(found), len };
        let mut head = Vec::with_capacity(HEAD as usize);
        (&source.file).take(HEAD).read_to_end(&mut head).map_err(io)?;
        source.file.rewind().map_err(io)?;
        format::glance(&head, len).map_err(|error| with_path(error, source.path, &head, len))?;
        Ok(source)
    }

    /// Copies the file up to its size at opening, plus at most one byte that reveals growth.
    pub(crate) fn copy_to(self, to: &mut impl Write) -> io::Result<Copied<'a>> {
        let lease = self.lease();
        if let Err(Writers::Unknown) = lease {
            self.wait_until_old()?;
        }
        let copied = io::copy(&mut (&self.file).take(self.len + 1), to)?;
        let writers = lease.map_or_else(|writers| writers, Lease::end);
        Ok(Copied { source: self, writers, copied })
    }

    /// Requests the lease. Waits until forked child processes have closed the file.
    fn lease(&self) -> Result<Lease<'_>, Writers> {
        let until = Instant::now() + FORK;
        loop {
            match Lease::take(&self.file) {
                Err(Writers::Some) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                taken => return taken,
            }
        }
    }

    /// Waits until a further write would change the timestamp of the file.
    fn wait_until_old(&self) -> io::Result<()> {
        let written = self.file.metadata()?.modified()?;
        let age = SystemTime::now().duration_since(written);
        // Waits for the whole time if the timestamp is in the future, because the clock of another machine has set this timestamp.
        thread::sleep(QUIET.saturating_sub(age.unwrap_or_default()));
        Ok(())
    }
}

impl Copied<'_> {
    pub(crate) fn len(&self) -> u64 {
        self.copied
    }

    /// Checks that the copy is a consistent snapshot. `digest` is the digest of the copy, if already computed.
    ///
    /// # Errors
    ///
    /// Returns [`ImageError::StillWritten`] if another process writes to the file, or may be writing to the file.
    pub(crate) fn is_of_one_moment(&self, digest: Option<u128>) -> Result<(), ImageError> {
        let Source { path, file, stamp, len } = &self.source;
        let still_written = |how: &str| Err(ImageError::StillWritten { path: (*path).to_owned(), how: how.to_owned() });
        let io = |source| ImageError::Io { path: (*path).to_owned(), source };
        if self.writers == Writers::Some {
            return still_written("a program has it open for writing");
        }
        if self.copied != *len || Stamp::of(&file.metadata().map_err(io)?) != *stamp {
            return still_written("it changed while it was copied");
        }
        match (self.writers, digest) {
            (Writers::Unknown, Some(digest)) if self.digest_again().map_err(io)? != digest => {
                still_written("it had other content when it was read again")
            }
            (Writers::Unknown, Some(_)) if Stamp::of(&file.metadata().map_err(io)?) != *stamp => {
                still_written("it changed while it was read again")
            }
            _ => Ok(()),
        }
    }

    fn digest_again(&self) -> io::Result<u128> {
        let mut file = &self.source.file;
        file.rewind()?;
        let (mut digest, mut piece) = (Xxh3::new(), vec![0; 1 << 18]);
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(digest.digest128()),
                read => digest.update(&piece[..read]),
            }
        }
    }
}

/// Opens a plain file and adds the path to errors.
pub(crate) fn open_regular(path: &Path) -> Result<(File, Metadata), ImageError> {
    plain_file::open(path).map_err(|source| match source.get_ref().and_then(|error| error.downcast_ref()) {
        Some(PlainFileError::NotPlain { found }) => {
            ImageError::NotAFile { path: path.to_owned(), found: (*found).to_owned() }
        }
        _ => ImageError::Io { path: path.to_owned(), source },
    })
}

pub(crate) fn check_len(path: &Path, len: u64, largest: u64) -> Result<(), ImageError> {
    let path = || path.to_owned();
    match len {
        0 => Err(ImageError::Empty { path: path() }),
        len if len > largest => Err(ImageError::TooLarge { path: path(), len, largest }),
        _ => Ok(()),
    }
}

pub(crate) fn read(path: &Path, largest: u64) -> Result<(Vec<u8>, Copied<'_>), ImageError> {
    let source = Source::open(path, largest)?;
    let mut bytes = Vec::with_capacity(usize::try_from(source.len).unwrap_or_default());
    let copied = source.copy_to(&mut bytes);
    let copied = copied.map_err(|source| ImageError::Io { path: PathBuf::from(path), source })?;
    Ok((bytes, copied))
}
