//! An editable copy of the example plugins, and a target folder shared by all copies: the dependencies of the plugins
//! are compiled once; artifacts of the copy itself are removed again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use alcedo_runtime::development::plain_file;
use anyhow::{anyhow, bail};
use tempfile::TempDir;

use crate::described::LARGEST_MANIFEST;
use crate::error::{Error, file};
use crate::figures::lexical;
use crate::install::checkout;
use crate::screen::print_progress;

/// The plugin that the demo edits.
pub(super) const PLUGIN: &str = "magic-cube";

/// The copy, deleted on drop.
#[derive(Debug)]
pub(super) struct Scratch {
    dir: TempDir,
    target: PathBuf,
    /// Lock held while this demo builds: concurrent demos would load each other's libraries.
    _lock: File,
}

impl Scratch {
    /// Copies the example plugins of the repository that this program was built from. Waits for a running demo.
    pub(super) fn new() -> Result<Self, Error> {
        let repository = checkout();
        let examples = repository.join("example-plugins");
        if !examples.join(PLUGIN).join("Cargo.toml").is_file() {
            bail!(
                "no example plugin in {}: run the demo in a clone of the repository, with `cargo run --bin alcedo -- demo`",
                examples.display()
            );
        }
        let built = match std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()) {
            // Relative to the user's working directory, as in cargo.
            Some(dir) => std::path::absolute(&dir).map_err(file("find", Path::new(&dir)))?,
            None => repository.join("target"),
        };
        let target = built.join("demo");
        fs::create_dir_all(&target).map_err(file("create", &target))?;
        let lock_file = lock(&target.join(".alcedo-demo.lock"))?;
        let dir = tempfile::Builder::new().prefix("alcedo-demo-").tempdir();
        let dir = dir.map_err(file("create a scratch folder in", &std::env::temp_dir()))?;
        copy(&examples, dir.path(), &examples)?;
        Ok(Self { dir, target, _lock: lock_file })
    }

    pub(super) fn plugin(&self) -> PathBuf {
        self.dir.path().join(PLUGIN)
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let crates: Vec<_> = entries(self.dir.path()).iter().filter_map(|path| crate_name(path)).collect();
        let profile = self.target.join("debug");
        for folder in [".fingerprint", "build", "deps", "incremental"] {
            for path in entries(&profile.join(folder)) {
                if path.file_name().is_some_and(|name| is_of(&name.to_string_lossy(), &crates)) {
                    // A file that cannot be removed only uses space.
                    let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                }
            }
        }
    }
}

fn lock(path: &Path) -> Result<File, Error> {
    let options = File::options().create(true).truncate(false).write(true).open(path);
    let lock_file = options.map_err(file("create", path))?;
    if lock_file.try_lock().is_err() {
        // Standard error, so that JSON on standard output stays valid.
        print_progress("alcedo: another demo is running; this one waits for it");
        lock_file.lock().map_err(file("lock", path))?;
    }
    Ok(lock_file)
}

/// Copies sources, without build artifacts and hidden files.
fn copy(from: &Path, to: &Path, root: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(file("create", to))?;
    for path in entries(from) {
        let Some(name) = path.file_name() else { continue };
        let copied = to.join(name);
        if path.is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                copy(&path, &copied, root)?;
            }
        } else if name == "Cargo.toml" {
            let manifest = plain_file::read_text(&path, LARGEST_MANIFEST).map_err(file("read", &path))?;
            let unread = |error| anyhow!("{} cannot be read: {error}", path.display());
            let mut manifest: toml::Table = manifest.parse().map_err(unread)?;
            make_absolute(&mut manifest, from, root);
            fs::write(&copied, manifest.to_string()).map_err(file("write", &copied))?;
        } else {
            fs::copy(&path, &copied).map_err(file("copy", &path))?;
        }
    }
    Ok(())
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect()
}

/// Rewrites a manifest of `dir` for another location: paths outside of `root` become absolute, paths within it are copied along and
/// stay relative.
fn make_absolute(manifest: &mut toml::Table, dir: &Path, root: &Path) {
    for (key, value) in manifest {
        match value {
            toml::Value::Table(table) => make_absolute(table, dir, root),
            toml::Value::String(path) if key == "path" => {
                let whole = lexical(&dir.join(&*path));
                if !whole.starts_with(root) {
                    *path = whole.display().to_string();
                }
            }
            _ => {}
        }
    }
}

fn crate_name(dir: &Path) -> Option<String> {
    let name = dir.file_name()?.to_str()?;
    dir.join("Cargo.toml").is_file().then(|| name.replace('-', "_"))
}

/// Returns true if cargo created a file or folder of this name for a crate of `crates`.
fn is_of(name: &str, crates: &[String]) -> bool {
    let name = name.replace('-', "_");
    let bare = name.strip_prefix("lib").unwrap_or(&name);
    crates.iter().any(|of| {
        bare.strip_prefix(of.as_str()).is_some_and(|rest| {
            let hash = rest.strip_prefix('_').map(|rest| rest.split('.').next().unwrap_or(rest));
            rest.is_empty() || rest.starts_with('.') || hash.is_some_and(is_hash)
        })
    })
}

/// Cargo's hashes have 16 digits, hashes of the compiler's own folders about 13 letters and digits.
fn is_hash(text: &str) -> bool {
    text.len() >= 12 && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_of, make_absolute};

    #[test]
    fn paths_that_lead_out_become_absolute_and_those_within_stay() {
        let check = |manifest: &str, expected: &str| {
            let mut manifest: toml::Table = manifest.parse().unwrap();
            make_absolute(&mut manifest, Path::new("/r/example-plugins/cube"), Path::new("/r/example-plugins"));
            assert_eq!(manifest, expected.parse::<toml::Table>().unwrap());
        };
        check(
            "alcedo-plugin-api = { path = \"../../plugin-api\" }\n",
            "alcedo-plugin-api = { path = \"/r/plugin-api\" }\n",
        );
        check("x.path=\"../../plugin-api\"", "x.path=\"/r/plugin-api\"");
        check("engine-glue = { path = \"../engine-glue\" }", "engine-glue = { path = \"../engine-glue\" }");
        check("[lib]\npath = \"src/lib.rs\"", "[lib]\npath = \"src/lib.rs\"");
        check("subpath = \"../../x\"\n# a path\npath-like = 1", "subpath = \"../../x\"\n# a path\npath-like = 1");
        check("a.path = \"../../a\"\nb.path = \"../../b\"", "a.path = \"/r/a\"\nb.path = \"/r/b\"");
    }

    #[test]
    fn artifacts_of_a_crate_are_recognized_by_its_name() {
        let crates = ["magic_cube".to_owned(), "engine_glue".to_owned()];
        let check = |name: &str, expected: bool| assert_eq!(is_of(name, &crates), expected, "{name}");
        check("libmagic_cube.so", true);
        check("magic_cube.d", true);
        check("magic-cube-0123456789abcdef", true);
        check("libengine_glue-0123456789abcdef.rlib", true);
        check("magic_cube-1x2y3z4a5b6c7", true);
        check("libmagic_cube_and_more.so", false);
        check("libalcedo_plugin_api-0123456789abcdef.rlib", false);
    }
}
