//! Full names of threads. The system stores only the first fifteen bytes of a name. The module's copy of the standard library stores the
//! full name. A hook reports the full name to the host when the module sets it.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::Ordering;

use super::lock;
use super::started::{self, Started};

/// Maximum number of bytes of a name that the system stores.
const SYSTEM_LEN: usize = 15;

/// Maximum number of bytes of a name. Longer names are truncated.
const LONGEST: usize = 256;

/// Maximum number of full names that are recorded per thread. Further names of a frequently renamed thread are reported in the truncated
/// form of the system.
const MOST: usize = 16;

/// Number of bytes of a name that are available without locks.
const LOCK_FREE_LEN: usize = 120;

thread_local! {
    /// Start of the full name of this thread, and its length.
    static HERE: Cell<([u8; LOCK_FREE_LEN], usize)> = const { Cell::new(([0; LOCK_FREE_LEN], 0)) };
}

/// Records the name of the calling thread. An image has started this thread.
pub(super) fn record_name(started: &Started, name: &[u8]) {
    let begins = name.len().min(LOCK_FREE_LEN);
    let mut here = [0; LOCK_FREE_LEN];
    here[..begins].copy_from_slice(&name[..begins]);
    HERE.set((here, begins));
    let name = String::from_utf8_lossy(&name[..name.len().min(LONGEST)]);
    let mut names = lock(&started.names);
    if !names.iter().any(|known| **known == *name) && names.len() < MOST {
        names.push(name.into());
    }
}

/// Returns the current name of a thread. For a thread of an image, returns the full name. Returns `None` for a thread that has ended.
pub(super) fn thread_name(tid: i32) -> Option<String> {
    let short = system_name(tid)?;
    Some(in_full(tid, &short).unwrap_or_else(|| String::from_utf8_lossy(&short).into_owned()))
}

/// Returns the name of a thread as stored by the system.
pub(super) fn system_name(tid: i32) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// Checks if the thread still has the name that it inherited from the thread that started it.
pub(super) fn is_nameless(started: &Started) -> bool {
    let now = system_name(started.tid.load(Ordering::SeqCst));
    now.is_some() && now == started.inherited && lock(&started.names).is_empty()
}

pub(super) fn describe_thread(tid: i32) -> String {
    let is_nameless = started::of_number(tid).is_some_and(|started| is_nameless(&started));
    let name = if is_nameless { None } else { thread_name(tid) };
    crate::imp::describe_thread(name.as_deref(), Some(tid))
}

/// Returns the full name of a thread of an image. The full name starts with `short`, the name that the system stores.
fn in_full(tid: i32, short: &[u8]) -> Option<String> {
    let started = started::of_number(tid)?;
    let names = lock(&started.names);
    names.iter().rev().find(|name| is_stored_as(name.as_bytes(), short)).map(|name| name.to_string())
}

/// Returns the name of a thread of an image, if the module has reported a name.
pub(crate) fn reported_name(tid: i32) -> Option<String> {
    let has_name = !lock(&started::of_number(tid)?.names).is_empty();
    if has_name { thread_name(tid) } else { None }
}

/// Calls `see` with the full name of this thread, or with the system's name. This function neither locks nor allocates.
pub(super) fn with_own<R>(short: &[u8], see: impl FnOnce(&[u8]) -> R) -> R {
    let (name, len) = HERE.get();
    see(if is_stored_as(&name[..len], short) { &name[..len] } else { short })
}

/// Checks if the system stores `name` as `short`: completely or truncated.
fn is_stored_as(name: &[u8], short: &[u8]) -> bool {
    name == short || short.len() == SYSTEM_LEN && name.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::is_stored_as;

    #[test]
    fn names_are_recognized_by_their_truncated_form() {
        assert!(is_stored_as(b"exporter", b"exporter") && is_stored_as(b"exporter of everything", b"exporter of eve"));
        assert!(!is_stored_as(b"exporter of everything", b"exporter") && !is_stored_as(b"", b"x"));
        // The system may truncate a name in the middle of a character.
        assert!(is_stored_as("fourteen bytesü".as_bytes(), b"fourteen bytes\xc3"));
    }
}
