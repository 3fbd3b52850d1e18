//! Description of the machine and tools for the page.

use std::path::Path;
use std::process::Command;

/// Returns `rustc 1.95.0`.
pub(crate) fn rustc() -> String {
    // From `rustc 1.95.0 (59807616e 2026-04-14)`, name and version suffice.
    first_words(&output("rustc", &["--version"]), 2)
}

/// Returns `glibc 2.36`, or a text for another C library.
pub(crate) fn libc() -> String {
    let found = first_words(&output("getconf", &["GNU_LIBC_VERSION"]), 2);
    if found.is_empty() { "another C library".to_owned() } else { found }
}

/// Returns `Linux x86_64`.
pub(crate) fn system() -> String {
    format!("{} {}", output("uname", &["-s"]).trim(), std::env::consts::ARCH)
}

/// Returns the day in UTC: `2026-11-21`.
pub(crate) fn today() -> String {
    output("date", &["-u", "+%F"]).trim().to_owned()
}

/// Returns the commit of the code, `955e1450`, with the suffix `-dirty` if files differ from it; empty outside of a
/// repository.
pub(crate) fn commit(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    output("git", &["-C", &folder, "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]).trim().to_owned()
}

fn first_words(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// Returns the output of a program, or an empty string if it is missing.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
}
