//! Finds the paths that a health watch uses: the path of a watched library in the Master, and the path of the status file.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_sys::ImageFile;

use crate::error::Error;
use crate::load::module::master::MasterModule;

/// Finds the module of a watched library in a Master, and the index of its path. If the host has loaded the module from another path, finds
/// the module by its name.
pub(super) fn locate(
    paths: &[PathBuf],
    modules: &[Rc<MasterModule>],
    file: &Path,
    name: &str,
) -> Option<(usize, Rc<MasterModule>)> {
    let slot_of = |path: &Path| paths.iter().position(|other| other == path);
    let own = modules.iter().find(|module| module.info().origin.as_deref() == Some(file));
    let own = own.filter(|_| slot_of(file).is_some());
    let module = own.or_else(|| modules.iter().find(|module| module.name() == name))?;
    let (origin, digest) = (module.info().origin.as_deref(), module.info().digest);
    let is_image = |path: &PathBuf| ImageFile::read(path).is_ok_and(|image| image.digest() == digest);
    let slot = slot_of(file).or_else(|| origin.and_then(slot_of)).or_else(|| paths.iter().position(is_image))?;
    Some((slot, Rc::clone(module)))
}

/// Returns the absolute path of a status file. Returns an error if the path is empty, is the path of a watched library, or is not the path
/// of a file in an existing folder.
pub(super) fn checked_status_file<'a>(
    path: &Path,
    libraries: impl IntoIterator<Item = &'a Path>,
) -> Result<PathBuf, Error> {
    let failed = |reason: String| {
        let doing = format!("writing the status file \"{}\"", path.display());
        Error::System { doing, source: io::Error::other(reason) }
    };
    if path.as_os_str().is_empty() {
        return Err(failed("the path is empty: name a file".to_owned()));
    }
    let absolute = std::path::absolute(path).map_err(|error| failed(error.to_string()))?;
    // A write replaces the directory entry, so a link in the last component of the path is not followed.
    let entry = |path: &Path| -> io::Result<PathBuf> {
        let folder = path.parent().unwrap_or(path).canonicalize()?;
        Ok(folder.join(path.file_name().unwrap_or_default()))
    };
    let own = entry(&absolute).map_err(|error| failed(format!("its folder: {error}; create the folder first")))?;
    if own.is_dir() || !own.parent().is_some_and(Path::is_dir) {
        return Err(failed("it is a folder or is below a file: name a file in a folder".to_owned()));
    }
    for library in libraries {
        let is_own = |other: io::Result<PathBuf>| other.is_ok_and(|other| other == own);
        if is_own(entry(library)) || is_own(library.canonicalize()) {
            return Err(failed(format!("it is the watched library {}: name another file", library.display())));
        }
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::checked_status_file;

    #[test]
    fn a_status_file_needs_a_folder_and_its_own_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("libweather.so");
        fs::write(&library, "library").expect("the folder is writable");
        let sibling = folder.path().join("status.json");
        for (path, expected) in [
            (PathBuf::new(), "the path is empty"),
            (folder.path().join("none/status.json"), "create the folder first"),
            (folder.path().to_owned(), "name a file in a folder"),
            (library.join("status.json"), "below a file"),
            (library.clone(), "it is the watched library"),
            (folder.path().join(".").join("libweather.so"), "it is the watched library"),
        ] {
            let error = checked_status_file(&path, [library.as_path()]).expect_err("it is refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(checked_status_file(&sibling, [library.as_path()]).expect("it is accepted"), sibling);
        let relative = checked_status_file("status.json".as_ref(), []).expect("it is accepted");
        assert!(relative.is_absolute(), "{}", relative.display());
    }
}
