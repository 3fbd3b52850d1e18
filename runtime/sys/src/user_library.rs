//! Libraries of users: found by a plain name in one folder and nowhere else, and opened as a private copy, so that a build may
//! overwrite the file and the next opening has the new one, while whoever uses the old one still has that.
#![expect(unsafe_code, reason = "opening a library runs its initializers, closing it its finalizers")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::native::{NativeError, NativeLibrary};

/// An open library of a user. It is closed when it is dropped, and its finalizers run then. Any thread.
#[derive(Debug)]
pub struct UserLibrary {
    // Closed before the copy is removed.
    library: NativeLibrary,
    source: PathBuf,
    _copy: tempfile::TempPath,
}

/// Why there is no library of that name.
#[derive(Debug, thiserror::Error)]
pub enum UserLibraryError {
    /// The name is a path, has an extension, or is no name.
    #[error("`{name}` is no name of a library: write it without path and extension, in letters, digits, `_` and `-`")]
    Name {
        /// As it was given.
        name: String,
    },
    /// The folder has no such file.
    #[error("{} has no library `{name}`: it would be {}", folder.display(), files(name).join(" or "))]
    Missing {
        /// The folder that was searched.
        folder: PathBuf,
        /// As it was given.
        name: String,
    },
    /// The file leads out of the folder.
    #[error("{} leads to {}, outside of its folder: put the library itself there", file.display(), target.display())]
    Escape {
        /// The file in the folder.
        file: PathBuf,
        /// What it leads to.
        target: PathBuf,
    },
    /// The file could not be copied.
    #[error("{}: {error}", file.display())]
    Copy {
        /// The file in the folder.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The loader refused it.
    #[error("{}: {error}", file.display())]
    Open {
        /// The file in the folder.
        file: PathBuf,
        /// What the loader says.
        error: NativeError,
    },
}

impl UserLibrary {
    /// Opens the library of that name in `folder`. Its initializers run on this thread.
    ///
    /// # Safety
    /// The caller vouches for every library in the folder: its initializers and finalizers do what its author meant, and when
    /// the library is dropped it has no thread or handler left and no address in it is followed.
    ///
    /// # Errors
    /// When there is none, it lies elsewhere, or the loader refuses it.
    pub unsafe fn open(folder: &Path, name: &str) -> Result<Self, UserLibraryError> {
        let source = find(folder, name)?;
        let failed = |error| UserLibraryError::Copy { file: source.clone(), error };
        let suffix = format!("-{name}{}", std::env::consts::DLL_SUFFIX);
        let copy = tempfile::Builder::new().prefix("alcedo-user-").suffix(&suffix).tempfile().map_err(failed)?;
        let copy = copy.into_temp_path();
        fs::copy(&source, &copy).map_err(failed)?;
        // SAFETY: our caller vouches for the library, of which this is a copy.
        let opened = unsafe { NativeLibrary::open(&copy) };
        let library = opened.map_err(|error| UserLibraryError::Open { file: source.clone(), error })?;
        // SAFETY: our caller vouches that it can be closed when this is dropped.
        unsafe { library.mark_unloadable() };
        Ok(Self { library, source, _copy: copy })
    }

    /// The file it was copied from.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// The file that is mapped: the private copy.
    #[must_use]
    pub fn mapped(&self) -> &Path {
        self.library.path()
    }

    /// The address of a symbol. It is good as long as this library is open.
    ///
    /// # Errors
    /// When it has no such symbol.
    pub fn symbol(&self, name: &str) -> Result<*const (), NativeError> {
        self.library.symbol(name)
    }
}

/// How the file of a library may be called: as the platform writes it, with and without what it writes before.
fn files(name: &str) -> [String; 2] {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    [format!("{prefix}{name}{suffix}"), format!("{name}{suffix}")]
}

/// Whether that is a name, and nothing that a path or an extension could be written with.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

fn find(folder: &Path, name: &str) -> Result<PathBuf, UserLibraryError> {
    if !is_name(name) {
        return Err(UserLibraryError::Name { name: name.to_owned() });
    }
    let missing = || UserLibraryError::Missing { folder: folder.to_owned(), name: name.to_owned() };
    let home = folder.canonicalize().map_err(|_| missing())?;
    let file = files(name).into_iter().map(|file| home.join(file)).find(|path| path.is_file()).ok_or_else(missing)?;
    let target = file.canonicalize().map_err(|error| UserLibraryError::Copy { file: file.clone(), error })?;
    if target.parent() == Some(&*home) { Ok(target) } else { Err(UserLibraryError::Escape { file, target }) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{UserLibrary, UserLibraryError, files, find};

    #[test]
    fn a_name_with_a_path_or_an_extension_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(&files("z")[0]), "no library").expect("written");
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
    fn a_link_may_lead_to_a_file_of_the_folder_and_to_none_outside() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().expect("a folder");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("target"), "").expect("written");
        fs::write(folder.path().join("target"), "").expect("written");
        symlink(outside.path().join("target"), folder.path().join(&files("out")[1])).expect("linked");
        symlink("target", folder.path().join(&files("in")[0])).expect("linked");
        symlink(folder.path().join("nothing"), folder.path().join(&files("dangling")[0])).expect("linked");
        assert!(matches!(find(folder.path(), "out"), Err(UserLibraryError::Escape { .. })));
        assert!(matches!(find(folder.path(), "dangling"), Err(UserLibraryError::Missing { .. })));
        assert!(find(folder.path(), "in").is_ok_and(|path| path.ends_with("target")));
        // The folder itself may be a link.
        symlink(folder.path(), outside.path().join("home")).expect("linked");
        assert!(find(&outside.path().join("home"), "in").is_ok());
        let folder_as_file = folder.path().join(&files("folder")[0]);
        fs::create_dir(folder_as_file).expect("made");
        assert!(matches!(find(folder.path(), "folder"), Err(UserLibraryError::Missing { .. })));
    }

    #[test]
    fn a_file_that_is_no_library_is_refused_and_its_copy_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(&files("z")[0]);
        fs::write(&file, "no library").expect("written");
        // SAFETY: a file of a few words has no initializer.
        let refused = unsafe { UserLibrary::open(folder.path(), "z") };
        assert!(
            matches!(&refused, Err(UserLibraryError::Open { file: named, .. }) if named.ends_with(&files("z")[0])),
            "{refused:?}"
        );
    }
}
