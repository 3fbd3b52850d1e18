//! What a page says of where its figures come from.

use std::path::Path;
use std::process::Command;

/// `rustc 1.95.0`.
pub(crate) fn rustc() -> String {
    // `rustc 1.95.0 (59807616e 2026-04-14)`: the name and the number say enough.
    first_words(&output("rustc", &["--version"]), 2)
}

/// `glibc 2.36`, or what there is instead.
pub(crate) fn libc() -> String {
    let found = first_words(&output("getconf", &["GNU_LIBC_VERSION"]), 2);
    if found.is_empty() { "another C library".to_owned() } else { found }
}

/// `Linux x86_64`.
pub(crate) fn system() -> String {
    format!("{} {}", output("uname", &["-s"]).trim(), std::env::consts::ARCH)
}

/// Returns the day in UTC: `2026-11-21`.
pub(crate) fn today() -> String {
    output("date", &["-u", "+%F"]).trim().to_owned()
}

/// The commit of the code, `955e1450`, with `-dirty` behind it where files differ from it; nothing outside a repository.
pub(crate) fn commit(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    output("git", &["-C", &folder, "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"]).trim().to_owned()
}

fn first_words(text: &str, count: usize) -> String {
    text.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

/// What a program says, or nothing where it is not there.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
}
