//! Reads and writes the file of a world. A save writes a temporary file in the folder of the world file, and then renames the temporary
//! file. After a crash, either the old or the new file exists.

use std::fs::File;
use std::io::{self, Error, Read as _, Write};
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use alcedo_sys::plain_file::{self, PlainFileError};
use crossbeam_channel::{Sender, bounded};

use crate::world::error::WorldError;
use crate::world::format::{HEAD, check_head};

/// Number of bytes after which the system starts to write the new content to the disk.
const EARLY: u64 = 1 << 20;

/// Maximum number of pieces of new content that are created but not yet written.
const PIECES: usize = 64;

/// Calls `write`, and atomically replaces the file by the written content. If an error occurs, the old file is unchanged.
pub(super) fn replace<T>(path: &Path, write: impl FnOnce(&File) -> Result<T, WorldError>) -> Result<T, WorldError> {
    let failed = |doing| move |source| WorldError::Disk { doing, path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let builder = &mut tempfile::Builder::new();
    // Creates a new file with the default permissions of the process. Without this setting, only the owner may read a temporary file.
    #[cfg(unix)]
    if !path.exists() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder).map_err(failed("creating a temporary file next to"))?;
    // Ignores an error, because the permissions of a file are less important than its content.
    #[cfg(unix)]
    let _kept = plain_file::keep_access(file.as_file(), path);
    #[cfg(unix)]
    widen_access(file.as_file(), path);
    let written = write(file.as_file())?;
    file.as_file().sync_all().map_err(unwritten(path))?;
    file.persist(path).map_err(|error| failed("replacing")(error.error))?;
    // Flushes the folder to the disk, because the folder contains the new file name. The file is already replaced.
    #[cfg(unix)]
    if let Err(error) = File::open(folder).and_then(|folder| folder.sync_all()) {
        let path = path.display();
        log!(WARN, %error, "{path} was saved, but its folder cannot be flushed to the disk");
    }
    Ok(written)
}

/// Calls `create`, and writes the created content to `to` on a second thread, so that the content is created and written at the same time.
/// If the system cannot start the thread, writes on this thread. Returns the error of the write, or else of `create`. `path` is the path of
/// the file, for errors. The second thread passes each range of about [`EARLY`] written bytes to `start`, which starts to write the range
/// to the disk, so that the last step, the sync of the file, takes less time.
pub(super) fn write_concurrently<T>(
    path: &Path,
    to: &mut (impl Write + Send),
    mut start: impl FnMut(Range<u64>) + Send,
    create: impl FnOnce(&mut dyn Write) -> Result<T, WorldError>,
) -> Result<T, WorldError> {
    let saved = thread::scope(|scope| {
        let (pieces, inbox) = bounded::<Vec<u8>>(PIECES);
        let file = &mut *to;
        // Owns the inbox, so that an error or a panic of the thread also ends the creation.
        let writing = move || {
            let mut unstarted = 0_u64..0;
            inbox.iter().try_for_each(|piece| {
                file.write_all(&piece)?;
                unstarted.end += piece.len() as u64;
                if unstarted.end - unstarted.start >= EARLY {
                    start(unstarted.clone());
                    unstarted.start = unstarted.end;
                }
                Ok::<_, Error>(())
            })
        };
        let Ok(writer) = thread::Builder::new().name("alcedo-save".into()).spawn_scoped(scope, writing) else {
            return Err(create);
        };
        let created = create(&mut Pieces(pieces));
        let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(written.map_err(unwritten(path)).and(created))
    });
    saved.unwrap_or_else(|create| create(to))
}

/// Sends content to the thread that writes the content. The thread ends when this value is dropped.
struct Pieces(Sender<Vec<u8>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // If the thread has ended, its error is reported instead of this error.
        self.0.send(bytes.to_vec()).map_err(|_unsent| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// If the new file has a different owner or group than the old file, keeps the rights of other users. Keeps the rights of the group only if
/// both files have the same group.
#[cfg(unix)]
fn widen_access(file: &File, path: &Path) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (Ok(old), Ok(new)) = (std::fs::metadata(path), file.metadata()) else { return };
    if old.is_file() && (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        let kept = old.mode() & if old.gid() == new.gid() { 0o666 } else { 0o606 };
        let _set = file.set_permissions(std::fs::Permissions::from_mode(kept | 0o600));
    }
}

/// Returns a function that describes an error of a write to the temporary file of `path`.
pub(super) fn unwritten(path: &Path) -> impl Fn(Error) -> WorldError {
    move |source| WorldError::Disk { doing: "writing the new content of", path: path.to_owned(), source }
}

/// Reads a file that may be a saved world. Opens only regular files, because opening a pipe or a device may block permanently. Reads the
/// rest of the file only if the file begins with the head of a world file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, WorldError> {
    let failed = |source| WorldError::Disk { doing: "reading", path: path.to_owned(), source };
    let (mut file, found) =
        plain_file::open(path).map_err(|source| match source.get_ref().and_then(|error| error.downcast_ref()) {
            Some(PlainFileError::NotPlain { .. }) => WorldError::NotAFile { path: path.to_owned() },
            _ => failed(source),
        })?;
    let length = found.len();
    let mut bytes = Vec::new();
    (&mut file).take(HEAD as u64).read_to_end(&mut bytes).map_err(failed)?;
    check_head(&bytes, length).map_err(|source| WorldError::Format { path: path.to_owned(), source })?;
    let rest = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(HEAD);
    bytes.try_reserve_exact(rest.saturating_add(1)).map_err(|error| failed(error.into()))?;
    // Reads at most one byte more than the length. If the file has grown, this byte makes the later length check fail.
    (&mut file).take(length.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::{EARLY, PIECES, read, replace, unwritten, write_concurrently};
    use crate::world::error::WorldError;
    use crate::world::records::FormatError;

    fn write(path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
        replace(path, |mut file| file.write_all(bytes).map_err(unwritten(path)))
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        let long = vec![7; 2 * EARLY as usize + 1];
        for bytes in [&b"one"[..], b"", &long[..], b"another one"] {
            write(&path, bytes).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn content_is_written_in_the_order_of_its_creation() {
        let (mut found, mut started) = (Vec::new(), Vec::new());
        let path = Path::new("world");
        let created = write_concurrently(
            path,
            &mut found,
            |range| started.push((range.start, range.end)),
            |to| (0..3 * PIECES).try_for_each(|piece| to.write_all(&[piece as u8; 10_000])).map_err(unwritten(path)),
        );
        created.unwrap();
        assert_eq!(found, (0..3 * PIECES).flat_map(|piece| [piece as u8; 10_000]).collect::<Vec<_>>());
        assert_eq!(started, [(0, EARLY.next_multiple_of(10_000))], "the rest is shorter");
    }

    #[test]
    fn the_error_of_a_write_ends_the_creation() {
        struct Full;
        impl std::io::Write for Full {
            fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("full"))
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let path = Path::new("world");
        // A piece is refused at the latest when no more pieces may wait.
        let created = write_concurrently(
            path,
            &mut Full,
            |_range| (),
            |to| (0..PIECES + 2).try_for_each(|_piece| to.write_all(b"piece")).map_err(unwritten(path)),
        );
        let error = created.unwrap_err().to_string();
        assert!(error.starts_with("writing the new content of") && error.ends_with("full"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        write(&path, b"one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn only_worlds_are_read_and_only_regular_files_opened() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(matches!(error, WorldError::NotAFile { .. }), "{error}");
        // Creates a sparse file as large as a disk.
        let path = folder.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(1 << 42).unwrap();
        let refusal = || match read(&path).unwrap_err() {
            WorldError::Format { source, .. } => source,
            other => panic!("{other}"),
        };
        assert_eq!(refusal(), FormatError::NotAWorld);
        std::os::unix::fs::FileExt::write_all_at(&file, b"ALCWORLD\x01\0\0\0", 0).unwrap();
        assert_eq!(refusal(), FormatError::Length { found: 1 << 42, expected: 32 });
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_world_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(matches!(read(&path).unwrap_err(), WorldError::NotAFile { .. }));
    }

    #[test]
    fn an_error_of_the_content_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        write(&path, b"old").unwrap();
        let failed = replace(&path, |mut file| {
            file.write_all(b"half").unwrap();
            Err::<(), _>(unwritten(&path)(std::io::Error::other("full")))
        });
        let error = failed.unwrap_err().to_string();
        assert!(error.starts_with("writing the new content of") && error.ends_with("full"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn failed_writes_name_the_file_and_keep_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/world");
        let error = write(&path, b"one").unwrap_err().to_string();
        assert!(error.starts_with("creating a temporary file next to") && error.contains("none/world"), "{error}");
        // A folder cannot be replaced by a file.
        let path = folder.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        assert!(write(&path, b"one").is_err() && path.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().starts_with("reading "));
    }
}
