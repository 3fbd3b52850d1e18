//! Describes the machine and its tools for the page.

use std::path::Path;
use std::process::Command;

/// Returns name and version of the compiler: `rustc 1.95.0`.
pub(crate) fn rustc() -> String {
    // The output is `rustc 1.95.0 (59807616e 2026-04-14)`.
    first_words(&output("rustc", &["--version"]), 2)
}

/// Returns the name and version of the C library: `glibc 2.36`. Returns a phrase if the C library is not glibc.
pub(crate) fn libc() -> String {
    let found = first_words(&output("getconf", &["GNU_LIBC_VERSION"]), 2);
    if found.is_empty() { "another C library".to_owned() } else { found }
}

/// Returns operating system and architecture: `Linux x86_64`.
pub(crate) fn system() -> String {
    format!("{} {}", output("uname", &["-s"]).trim(), std::env::consts::ARCH)
}

/// Returns the current date in UTC: `2026-11-21`.
pub(crate) fn today() -> String {
    output("date", &["-u", "+%F"]).trim().to_owned()
}

/// Returns the commit of the code: `955e1450`. If files have changed, the suffix `-dirty` follows. Returns an empty string outside of a
/// repository.
pub(crate) fn commit(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    output("git", &["-C", &folder, "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]).trim().to_owned()
}

fn first_words(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// Returns the output of a program. Returns an empty string if the program is missing.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
}
