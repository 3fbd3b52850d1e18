//! Finds plugin libraries in the folder of a program. In a target folder, cargo places libraries next to programs.

use std::env::consts::DLL_EXTENSION;
use std::fs;
use std::path::{Path, PathBuf};

use alcedo_sys::plain_file;

/// Maximum size in bytes of a source list, the `.d` file that cargo writes next to a library.
const LARGEST_LIST: u64 = 1 << 24;

/// Returns the libraries in the folder of a program, sorted. Cargo keeps the library of a plugin that was removed from its workspace.
/// Therefore, if a source folder of a library no longer exists, this function omits the library and logs a warning. Can be called on any
/// thread.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::sibling_libraries;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("libweather.so"), "")?;
/// let program = folder.path().join("game");
/// assert_eq!(sibling_libraries(&program), [folder.path().join("libweather.so")]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sibling_libraries(program: &Path) -> Vec<PathBuf> {
    let entries = program.parent().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten().flatten();
    let mut libraries: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_library(path)).collect();
    libraries.retain(|library| {
        let missing = missing_sources(library);
        if let Some(sources) = &missing {
            let (library, sources) = (library.display(), sources.display());
            log!(WARN, "{library} is left out, since its sources in {sources} are gone: delete the file, or build its plugin again");
        }
        missing.is_none()
    });
    libraries.sort();
    libraries
}

fn is_library(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == DLL_EXTENSION)
}

/// Returns a source folder of the library if the folder no longer exists. Reads the source folders from the `.d` file that cargo writes
/// next to the library. Returns `None` if all folders exist, or if the library has no `.d` file. Checks only folders of Rust files, because
/// a build script may list other files that never existed.
fn missing_sources(library: &Path) -> Option<PathBuf> {
    let list = plain_file::read_text(&library.with_extension("d"), LARGEST_LIST).ok()?;
    let (_library, sources) = list.lines().next()?.split_once(": ")?;
    // Cargo escapes spaces in paths.
    let sources = sources.replace("\\ ", "\0");
    let sources = sources.split(' ').filter(|source| source.ends_with(".rs"));
    let folders = sources.filter_map(|source| Some(PathBuf::from(source.replace('\0', " ")).parent()?.to_owned()));
    folders.filter(|folder| folder.is_absolute()).find(|folder| !folder.is_dir())
}

#[cfg(test)]
mod tests {
    use std::env::consts::DLL_EXTENSION;
    use std::fs;

    use super::sibling_libraries;

    #[test]
    fn a_library_without_sources_is_omitted() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: String| fs::write(dir.path().join(name), text).expect("written");
        let library = |name: &str| dir.path().join(name).with_extension(DLL_EXTENSION);
        for name in ["here", "gone", "deployed", "listed"] {
            write(&format!("{name}.{DLL_EXTENSION}"), String::new());
        }
        fs::create_dir_all(dir.path().join("my plugins/here")).expect("made");
        let source = |name: &str| {
            dir.path().join("my plugins").join(name).join("lib.rs").display().to_string().replace(' ', "\\ ")
        };
        write("here.d", format!("{}: {}\n", library("here").display(), source("here")));
        write("gone.d", format!("{}: {} {}\n", library("gone").display(), source("here"), source("gone")));
        // A build script may list a file that does not exist.
        write("listed.d", format!("{}: {} /absent/icons/a.png\n", library("listed").display(), source("here")));
        let found = sibling_libraries(&dir.path().join("host"));
        assert_eq!(found, [library("deployed"), library("here"), library("listed")]);
    }
}
