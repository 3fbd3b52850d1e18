//! Names of threads. The standard library truncates a name before passing it to the system, but keeps the full name, which is
//! reported to the host.

use std::panic::catch_unwind;
use std::thread;

use super::notes;

/// Maximum length of a name in the system, in bytes.
const KEPT: usize = 15;

/// Reports the name of this thread, which may have been truncated.
pub(super) fn own_name(short: &[u8]) {
    let full = in_full(short);
    notes::thread_named(full.as_deref().map_or(short, str::as_bytes));
}

/// Returns the standard library's name of this thread, if the name begins with `short`, which may have been truncated. Threads
/// that the standard library did not start have no name; during destruction of thread-locals the name is not available.
fn in_full(short: &[u8]) -> Option<String> {
    if short.len() < KEPT {
        return None;
    }
    let name = catch_unwind(|| thread::current().name().map(str::to_owned)).ok()??;
    name.as_bytes().starts_with(short).then_some(name)
}
