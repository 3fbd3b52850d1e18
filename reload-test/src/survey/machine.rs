//! Describes the machine and its tools for the page.

use std::path::Path;
use std::process::Command;

/// Returns the name and version of the compiler, for example `rustc 1.95.0`.
pub(crate) fn rustc() -> String {
    // Omits the commit and the date: `rustc 1.95.0 (59807616e 2026-04-14)`.
    first_words(&output("rustc", &["--version"]), 2)
}

/// Returns the name and version of the C library, for example `glibc 2.36`. Returns a fixed phrase if the C library is not glibc.
pub(crate) fn libc() -> String {
    let found = first_words(&output("getconf", &["GNU_LIBC_VERSION"]), 2);
    if found.is_empty() { "another C library".to_owned() } else { found }
}

/// Returns operating system and architecture, for example `Linux x86_64`.
pub(crate) fn system() -> String {
    format!("{} {}", output("uname", &["-s"]).trim(), std::env::consts::ARCH)
}

/// Returns the current date in UTC, for example `2026-11-21`.
pub(crate) fn today() -> String {
    output("date", &["-u", "+%F"]).trim().to_owned()
}

/// Returns the current commit, for example `955e1450`, with the suffix `-dirty` if files have changed since this commit. Returns an empty
/// string outside of a repository.
pub(crate) fn commit(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    output("git", &["-C", &folder, "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]).trim().to_owned()
}

fn first_words(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// Returns the standard output of a program. Returns an empty string if the program cannot be run.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
}
