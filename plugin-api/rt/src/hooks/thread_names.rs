//! Names of threads. The standard library passes a truncated name to the operating system, but stores the full name. The
//! hook reports the full name to the host.

use std::panic::catch_unwind;
use std::thread;

use super::notes;

/// Maximum length of a thread name in the operating system, in bytes.
const KEPT: usize = 15;

/// Reports the full name of this thread. `short` is the name that the operating system stores, which may be truncated.
pub(super) fn own_name(short: &[u8]) {
    let full = in_full(short);
    notes::thread_named(full.as_deref().map_or(short, str::as_bytes));
}

/// Returns the name that the standard library stores for this thread, if `short` may be a truncated form of this name. Returns `None` for
/// threads that the standard library did not start, and during the destruction of thread-locals.
fn in_full(short: &[u8]) -> Option<String> {
    if short.len() < KEPT {
        return None;
    }
    let name = catch_unwind(|| thread::current().name().map(str::to_owned)).ok()??;
    name.as_bytes().starts_with(short).then_some(name)
}
