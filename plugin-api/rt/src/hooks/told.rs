//! The names of threads. The standard library cuts a name off before it gives it to the system, and still has all of it; the host
//! is told the whole name.

use std::panic::catch_unwind;
use std::thread;

use super::notes;

/// How many bytes of a name the system keeps.
const KEPT: usize = 15;

/// This thread has a name, which may have been cut off.
pub(super) fn own_name(short: &[u8]) {
    let full = in_full(short);
    notes::thread_named(full.as_deref().map_or(short, str::as_bytes));
}

/// The name that the standard library has for this thread, if it begins like that and may have been cut off. A thread that it
/// did not start has none, and one that has given up its thread-locals cannot be asked.
fn in_full(short: &[u8]) -> Option<String> {
    if short.len() < KEPT {
        return None;
    }
    let name = catch_unwind(|| thread::current().name().map(str::to_owned)).ok()??;
    name.as_bytes().starts_with(short).then_some(name)
}
