//! Names of threads in full. The system keeps fifteen bytes of each; a plugin's standard library has the whole name, and
//! the module's hook tells it when the thread gets it.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::Ordering;

use super::lock;
use super::started::{self, Started};

/// How many bytes of a name the system keeps.
const KEPT: usize = 15;

/// The longest name that is kept here, in bytes; the rest of a longer one is left out.
const LONGEST: usize = 256;

/// How many names of one thread are kept: of one that is renamed all the time, the last are as the system has them.
const MOST: usize = 16;

/// So much of it may be asked for where nothing can be locked.
const AT_HAND: usize = 120;

thread_local! {
    /// The beginning of the full name of this thread, and its length.
    static HERE: Cell<([u8; AT_HAND], usize)> = const { Cell::new(([0; AT_HAND], 0)) };
}

/// The calling thread, which an image has started, has got this name.
pub(super) fn told(started: &Started, name: &[u8]) {
    let begins = name.len().min(AT_HAND);
    let mut here = [0; AT_HAND];
    here[..begins].copy_from_slice(&name[..begins]);
    HERE.set((here, begins));
    let name = String::from_utf8_lossy(&name[..name.len().min(LONGEST)]);
    let mut names = lock(&started.names);
    if !names.iter().any(|known| **known == *name) && names.len() < MOST {
        names.push(name.into());
    }
}

/// The name of a thread as it is now, in full where the thread is an image's; `None` for a thread that has ended.
pub(super) fn thread_name(tid: i32) -> Option<String> {
    let short = kept_name(tid)?;
    Some(in_full(tid, &short).unwrap_or_else(|| String::from_utf8_lossy(&short).into_owned()))
}

/// The name of a thread as the system keeps it.
pub(super) fn kept_name(tid: i32) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// Checks if the system has no name for it but that of the thread which started it.
pub(super) fn is_nameless(started: &Started) -> bool {
    let now = kept_name(started.tid.load(Ordering::SeqCst));
    now.is_some() && now == started.inherited && lock(&started.names).is_empty()
}

/// A thread as reports name it.
pub(super) fn thread_in_words(tid: i32) -> String {
    let is_nameless = started::of_number(tid).is_some_and(|started| is_nameless(&started));
    let name = if is_nameless { None } else { thread_name(tid) };
    crate::imp::thread_in_words(name.as_deref(), Some(tid))
}

/// The full name of a thread of an image whose name begins as the system says.
fn in_full(tid: i32, short: &[u8]) -> Option<String> {
    let started = started::of_number(tid)?;
    let names = lock(&started.names);
    names.iter().rev().find(|name| is_kept_as(name.as_bytes(), short)).map(|name| name.to_string())
}

/// The name of a thread of an image, if its module has reported one.
pub(crate) fn told_name(tid: i32) -> Option<String> {
    let has_name = !lock(&started::of_number(tid)?.names).is_empty();
    if has_name { thread_name(tid) } else { None }
}

/// Hands the full name of this thread to `see`, or what the system has of it. Takes no lock and no memory.
pub(super) fn with_own<R>(short: &[u8], see: impl FnOnce(&[u8]) -> R) -> R {
    let (name, len) = HERE.get();
    see(if is_kept_as(&name[..len], short) { &name[..len] } else { short })
}

/// Whether the system keeps a name as this: all of it, or as much as there is room for.
fn is_kept_as(name: &[u8], short: &[u8]) -> bool {
    name == short || short.len() == KEPT && name.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::is_kept_as;

    #[test]
    fn a_name_is_known_by_what_the_system_keeps_of_it() {
        assert!(is_kept_as(b"exporter", b"exporter") && is_kept_as(b"exporter of everything", b"exporter of eve"));
        assert!(!is_kept_as(b"exporter of everything", b"exporter") && !is_kept_as(b"", b"x"));
        // A letter may be cut in two.
        assert!(is_kept_as("fourteen bytesü".as_bytes(), b"fourteen bytes\xc3"));
    }
}
