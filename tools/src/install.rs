//! Checks if shells find the `alcedo` command, and returns the line that installs it.

use std::path::{Path, PathBuf};

/// Returns true if a folder of `PATH` has a file of this name.
pub(crate) fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Returns the checkout that this program was built from.
pub(crate) fn checkout() -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"));
    tools.parent().unwrap_or(tools).to_owned()
}

/// Returns the line that installs the command from the checkout of this build.
pub(crate) fn installing(features: &[&str]) -> String {
    let tools = checkout().join("tools");
    let path = if tools.is_dir() { tools.display().to_string() } else { "tools".to_owned() };
    let features = if features.is_empty() { String::new() } else { format!(" --features {}", features.join(",")) };
    format!("cargo install --path {path}{features}")
}
