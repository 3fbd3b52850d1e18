//! A temporary plugin crate with a separate target folder. The crate has no dependencies, so builds are short and need no network.

use alcedo_build::BuildRequest;
use memchr::memmem;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Scratch {
    dir: TempDir,
    manifest: PathBuf,
}

impl Scratch {
    /// Creates a folder with these files. Each file is a pair of path and text.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Self { manifest: dir.path().join("Cargo.toml"), dir };
        files.iter().for_each(|(path, text)| scratch.write(path, text));
        // Waits, because a file that is as new as the start of a build counts as changed during the build.
        thread::sleep(Duration::from_millis(30));
        scratch
    }

    pub(crate) fn plugin() -> Self {
        Self::new(&[("Cargo.toml", &manifest("plug", "[workspace]\n[features]\nloud = []")), ("src/lib.rs", LIB)])
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn manifest(&self) -> &Path {
        &self.manifest
    }

    pub(crate) fn request(&self) -> BuildRequest<'_> {
        BuildRequest::new(&self.manifest).target_dir(self.path("out"))
    }
}

pub(crate) const LIB: &str = r#"
pub fn voice() -> &'static str { if cfg!(feature = "loud") { "LOUD-VOICE" } else { "soft-voice" } }
#[unsafe(no_mangle)]
pub extern "C" fn speak() -> *const u8 { voice().as_ptr() }
"#;

/// Returns `true` if the library contains the string.
pub(crate) fn holds(library: &Path, text: &str) -> bool {
    memmem::find(&fs::read(library).unwrap(), text.as_bytes()).is_some()
}

pub(crate) fn manifest(name: &str, rest: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n{rest}\n"
    )
}
