//! Private copies of user libraries, found by name in a single folder. A build may overwrite the original file at any time. Libraries that
//! are opened later have the new content, and open libraries keep the old content.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::crash;
use crate::folder::{COPIES, PrivateFolder, create_private};
use crate::image::Digest;
use crate::image_error::{ImageError, NativeError, not_copied};
use crate::plain_file;
use crate::source::{Source, open_regular};
use crate::stamp::FileId;

/// Number of the next copy. The number makes the names of copies unique, because the loader identifies an image by name.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Maximum number of lookups if the file is replaced during each lookup.
const TRIES: usize = 8;

/// Error of opening a library.
#[derive(Debug, thiserror::Error)]
pub enum UserLibraryError {
    /// The name contains a path, an extension or invalid characters.
    #[error("`{name}` is not a library name: write it without path and extension, in letters, digits, `_` and `-`")]
    Name {
        /// The requested name.
        name: String,
    },
    /// The folder has no library with this name.
    #[error("{} has no library `{name}`: the file would be {}", folder.display(), file_names(name).join(" or "))]
    Missing {
        /// Path of the searched folder.
        folder: PathBuf,
        /// The requested name.
        name: String,
    },
    /// The file is a link to a target outside of the folder.
    #[error("{} points to {}, outside of its folder: put the library itself there", file.display(), target.display())]
    Escape {
        /// Path of the file in the folder.
        file: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// The file is not a library for this machine, is still being written, or could not be copied to a private folder.
    #[error("{0}")]
    Image(#[from] ImageError),
    /// The folder for copies does not allow execution.
    #[error(
        "copies of libraries are stored in {}, which is mounted `noexec`: set TMPDIR to a folder from which code may run",
        folder.display()
    )]
    NoExec {
        /// Folder for temporary files.
        folder: PathBuf,
    },
    /// The file could not be read, or was replaced during each lookup.
    #[error("{}: {error}", file.display())]
    Read {
        /// Path of the file in the folder.
        file: PathBuf,
        /// System error.
        error: io::Error,
    },
    /// The loader rejected the library.
    #[error("{}: {error}", file.display())]
    Open {
        /// Path of the file in the folder.
        file: PathBuf,
        /// Error of the loader.
        error: NativeError,
    },
}

/// Private copy of a library. Dropping the value removes the copy.
#[derive(Debug)]
pub(crate) struct LibraryCopy {
    /// File that was copied.
    pub(crate) source: PathBuf,
    /// Path of the copy.
    pub(crate) path: PathBuf,
    pub(crate) digest: Digest,
    _folder: PrivateFolder,
}

/// Finds the library with this name in `folder`, and copies it to a private folder.
pub(crate) fn copy_of(folder: &Path, name: &str) -> Result<LibraryCopy, UserLibraryError> {
    let (source, file, found) = find(folder, name)?;
    let copies = PrivateFolder::new(COPIES).map_err(not_copied(&source, &std::env::temp_dir()))?;
    if crate::imp::forbids_code(copies.path()) {
        return Err(UserLibraryError::NoExec { folder: std::env::temp_dir() });
    }
    crash::stage(copies.path());
    let (bytes, digest) = content_of(&source, file, &found)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = copies.path().join(format!("{name}-{number}{}", std::env::consts::DLL_SUFFIX));
    let written = create_private(&path).and_then(|mut file| file.write_all(&bytes));
    written.map_err(not_copied(&source, copies.path()))?;
    Ok(LibraryCopy { source, path, digest, _folder: copies })
}

/// Returns the possible file names of a library: with the suffix of the platform, and with and without the prefix of the platform.
pub(crate) fn file_names(name: &str) -> [String; 2] {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    [format!("{prefix}{name}{suffix}"), format!("{name}{suffix}")]
}

/// Checks if a name consists only of letters, digits, `_` and `-`.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

/// Finds and opens the library with this name, and returns its real path. The opened file is in the folder, not a link to another folder.
/// If the file is replaced during the lookup, the lookup is repeated.
pub(crate) fn find(folder: &Path, name: &str) -> Result<(PathBuf, File, Metadata), UserLibraryError> {
    if !is_name(name) {
        return Err(UserLibraryError::Name { name: name.to_owned() });
    }
    let missing = || UserLibraryError::Missing { folder: folder.to_owned(), name: name.to_owned() };
    let directory = folder.canonicalize().map_err(|_| missing())?;
    for _ in 0..TRIES {
        let file = file_names(name).into_iter().map(|file| directory.join(file)).find(|path| path.is_file());
        let file = file.ok_or_else(missing)?;
        if let Some(found) = open_in(&directory, &file)? {
            return Ok(found);
        }
    }
    let error = io::Error::other("it is replaced again and again");
    Err(UserLibraryError::Read { file: directory.join(&file_names(name)[0]), error })
}

/// Opens the file. Fails if the file is a link out of the folder. Returns `None` if the file was replaced during the call.
fn open_in(directory: &Path, file: &Path) -> Result<Option<(PathBuf, File, Metadata)>, UserLibraryError> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let (open, found) = match open_regular(file) {
        Ok(opened) => opened,
        Err(ImageError::Io { source, .. }) if is_gone(&source) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Resolves the path after opening and compares both files. The opened file therefore had this path, even if a link changes later.
    let resolved = file.canonicalize().and_then(|target| Ok((fs::symlink_metadata(&target)?, target)));
    match resolved {
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(UserLibraryError::Read { file: file.to_owned(), error }),
        Ok((_, target)) if target.parent() != Some(directory) => {
            Err(UserLibraryError::Escape { file: file.to_owned(), target })
        }
        Ok((there, _)) if FileId::of(&there) != FileId::of(&found) => Ok(None),
        Ok((_, target)) => Ok(Some((target, open, found))),
    }
}

/// Reads a library completely. Fails if the library is being written.
pub(crate) fn content_of(source: &Path, file: File, found: &Metadata) -> Result<(Vec<u8>, Digest), UserLibraryError> {
    let mut bytes = Vec::new();
    let read = Source::of_open(source, file, found, plain_file::LARGEST_LIBRARY)?.copy_to(&mut bytes);
    let digest = Digest::of(&bytes);
    let read = read.map_err(|error| UserLibraryError::Read { file: source.to_owned(), error })?;
    read.is_of_one_moment(Some(digest.number()))?;
    Ok((bytes, digest))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{UserLibraryError, file_names, find};

    #[test]
    fn a_name_with_a_path_or_an_extension_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(&file_names("z")[0]), "no library").expect("written");
        let deep = folder.path().join("deep");
        fs::create_dir(&deep).expect("made");
        for name in ["", ".", "..", "../z", "/z", "./z", "z.so", "libz.so", "a\\z", "z\0", "z ", "a/../z", "z;"] {
            let found = find(&deep, name);
            assert!(matches!(found, Err(UserLibraryError::Name { .. })), "{name:?}: {found:?}");
        }
        assert!(matches!(find(&deep, "z"), Err(UserLibraryError::Missing { .. })));
        assert!(find(folder.path(), "z").is_ok());
        assert!(matches!(find(&folder.path().join("none"), "z"), Err(UserLibraryError::Missing { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn links_may_point_to_files_inside_the_folder_only() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().expect("a folder");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("target"), "").expect("written");
        fs::write(folder.path().join("target"), "").expect("written");
        symlink(outside.path().join("target"), folder.path().join(&file_names("out")[1])).expect("linked");
        symlink("target", folder.path().join(&file_names("in")[0])).expect("linked");
        symlink(folder.path().join("nothing"), folder.path().join(&file_names("dangling")[0])).expect("linked");
        assert!(matches!(find(folder.path(), "out"), Err(UserLibraryError::Escape { .. })));
        assert!(matches!(find(folder.path(), "dangling"), Err(UserLibraryError::Missing { .. })));
        assert!(find(folder.path(), "in").is_ok_and(|(path, ..)| path.ends_with("target")));
        // The folder itself may be a link.
        symlink(folder.path(), outside.path().join("home")).expect("linked");
        assert!(find(&outside.path().join("home"), "in").is_ok());
        let folder_as_file = folder.path().join(&file_names("folder")[0]);
        fs::create_dir(folder_as_file).expect("made");
        assert!(matches!(find(folder.path(), "folder"), Err(UserLibraryError::Missing { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_replaced_by_a_link_never_escapes_the_folder() {
        use std::io::Read as _;
        use std::os::unix::fs::symlink;
        use std::sync::atomic::{AtomicBool, Ordering};
        let outside = tempfile::tempdir().expect("a folder");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("bad"), "bad").expect("written");
        let (file, bad) = (folder.path().join(&file_names("z")[0]), outside.path().join("bad"));
        fs::write(&file, "good").expect("written");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let staged = folder.path().join("beside");
                while !is_over.load(Ordering::Relaxed) {
                    symlink(&bad, &staged).and_then(|()| fs::rename(&staged, &file)).expect("a link");
                    fs::write(&staged, "good").and_then(|()| fs::rename(&staged, &file)).expect("a file");
                }
            });
            let (mut opened, mut refused) = (0, 0);
            while opened + refused < 4_000 {
                match find(folder.path(), "z") {
                    Ok((path, mut file, _)) => {
                        let mut content = String::new();
                        file.read_to_string(&mut content).expect("read");
                        assert_eq!(content, "good", "{path:?}");
                        opened += 1;
                    }
                    Err(
                        UserLibraryError::Escape { .. }
                        | UserLibraryError::Read { .. }
                        | UserLibraryError::Missing { .. },
                    ) => refused += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(opened > 0);
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_rejected_without_waiting_for_its_other_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(folder.path().join(&file_names("z")[0])).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(matches!(find(folder.path(), "z"), Err(UserLibraryError::Missing { .. })));
        }
    }
}
