//! Provides an editable copy of the example plugin at a fixed path. All runs of the demo share one target folder, so dependencies are
//! compiled only once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use alcedo_build::SourceCopy;
use anyhow::bail;

use crate::error::{Error, file};
use crate::install::checkout;
use crate::screen::print_progress;

/// The plugin that the demo edits.
pub(super) const PLUGIN: &str = "magic-cube";

/// Editable copy of the example plugin, with its target folder.
#[derive(Debug)]
pub(super) struct Scratch {
    copy: SourceCopy,
    pub(super) target: PathBuf,
    /// Lock that prevents concurrent demos, which would load each other's libraries.
    _lock: File,
}

impl Scratch {
    /// Copies the example plugin from the repository in which this program was built. Waits until no other demo is running.
    pub(super) fn new() -> Result<Self, Error> {
        let Some(repository) = checkout() else {
            bail!(
                "the demo edits an example plugin, which is in the repository only: run it in a clone, with `cargo run --bin alcedo -- demo`, \
                 or create a project with `alcedo new workspace my-game`"
            );
        };
        let examples = repository.join("example-plugins");
        let manifest = examples.join(PLUGIN).join("Cargo.toml");
        if !manifest.is_file() {
            bail!(
                "no example plugin in {}: run the demo in a clone of the repository, with `cargo run --bin alcedo -- demo`",
                examples.display()
            );
        }
        let built = match std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()) {
            // Resolves the path against the user's working directory, as cargo does.
            Some(dir) => std::path::absolute(&dir).map_err(file("find", Path::new(&dir)))?,
            None => repository.join("target"),
        };
        let target = built.join("demo");
        fs::create_dir_all(&target).map_err(file("create", &target))?;
        let lock_file = lock(&target.join(".alcedo-demo.lock"))?;
        let copy = SourceCopy::new(&manifest, &target.join("source"), &BTreeMap::new())?;
        Ok(Self { copy, target, _lock: lock_file })
    }

    pub(super) fn plugin(&self) -> PathBuf {
        self.copy.package().to_owned()
    }
}

fn lock(path: &Path) -> Result<File, Error> {
    let options = File::options().create(true).truncate(false).write(true).open(path);
    let lock_file = options.map_err(file("create", path))?;
    if lock_file.try_lock().is_err() {
        // Prints to standard error, so that JSON on standard output stays valid.
        print_progress("alcedo: another demo is running; this one waits for it");
        lock_file.lock().map_err(file("lock", path))?;
    }
    Ok(lock_file)
}
