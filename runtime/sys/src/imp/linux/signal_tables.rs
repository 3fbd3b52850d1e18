//! Immutable tables of signal actions, one table per signal. A table contains the actions of all images for its signal, and is replaced as
//! a whole. Tables are mapped instead of allocated, because a signal handler may run at any time, even inside `malloc`. A thread that
//! replaces a table blocks all signals while it holds the lock. Otherwise a handler could wait for the thread that it has interrupted. A
//! replaced table is freed once no thread can be reading it, because its handlers may be running until then.
#![expect(unsafe_code, reason = "keeps tables in mapped pages")]

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::c::pages::fresh;
use super::c::signals::{COUNT, Quiet, disposition};
use super::lock;
use crate::ledger::disposition::{Disposition, Effect};

/// Table of each signal. Null until an image sets an action. Once set, a table is replaced but never removed.
static TABLES: [AtomicPtr<Table>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// Number of handlers between the load of a table's address and the increment of the table's user count.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// Lock that is held to replace tables. Contains the list of replaced tables that are not freed yet.
static RETIRED: Mutex<Retired> = Mutex::new(Retired(ptr::null_mut()));

struct Retired(*mut Table);

// SAFETY: the list is accessed only by the holder of the lock.
unsafe impl Send for Retired {}

/// Header of a table with the actions of a signal. The entries follow the header in the same mapping.
#[repr(C)]
pub(super) struct Table {
    /// Number of handlers that use the table.
    users: AtomicUsize,
    /// Next table in the list of replaced tables. Accessed only while the lock is held.
    next: Cell<*mut Table>,
    /// `true` if there has been a moment without readers since the table was replaced. Accessed only while the lock is held.
    unreachable: Cell<bool>,
    bytes: usize,
    pub(super) len: usize,
    pub(super) original: libc::sigaction,
    /// Effective disposition of the signal while this table is installed.
    pub(super) effect: Effect,
    /// `true` if the process has replaced the dispatcher by a handler of its own. Such a handler may call the dispatcher as its previous
    /// handler.
    pub(super) is_chained: bool,
}

#[repr(C)]
pub(super) struct Entry {
    pub(super) owner: usize,
    pub(super) action: libc::sigaction,
    /// `true` if the entry has a one-shot handler that has already been called.
    pub(super) is_spent: AtomicBool,
}

/// Reference that prevents the table from being freed.
pub(super) struct InUse(pub(super) &'static Table);

/// Exclusive access to the tables, with all signals blocked on this thread.
pub(super) struct Tables {
    retired: MutexGuard<'static, Retired>,
    // The order of the fields matters: the lock must be released before the signals are unblocked. Otherwise a handler could run on this
    // thread while the lock is held.
    _quiet: Quiet,
}

impl Tables {
    pub(super) fn lock() -> Self {
        let quiet = Quiet::new();
        Self { retired: lock(&RETIRED), _quiet: quiet }
    }

    pub(super) fn current(&self, signal: c_int) -> Option<&'static Table> {
        current(signal)
    }

    pub(super) fn install(&mut self, signal: c_int, table: &'static Table) {
        TABLES[signal as usize].store(ptr::from_ref(table).cast_mut(), Ordering::SeqCst);
    }

    pub(super) fn retire(&mut self, table: &'static Table) {
        table.next.set(self.retired.0);
        self.retired.0 = ptr::from_ref(table).cast_mut();
    }

    /// Calls `see` with each replaced table that may still be read, until `see` returns a value.
    pub(super) fn visit_retired<T>(&mut self, mut see: impl FnMut(&Table) -> Option<T>) -> Option<T> {
        self.collect();
        let mut at = self.retired.0;
        while !at.is_null() {
            // SAFETY: a table on the list is mapped until `collect` removes it under the lock, which is held.
            let table = unsafe { &*at };
            if let Some(value) = see(table) {
                return Some(value);
            }
            at = table.next.get();
        }
        None
    }

    /// Frees the tables that no thread can be reading any more.
    pub(super) fn collect(&mut self) {
        // Later readers load a table from `TABLES`, which contains no replaced table.
        let has_no_readers = READERS.load(Ordering::SeqCst) == 0;
        let mut retired = ptr::null_mut();
        let mut at = std::mem::replace(&mut self.retired.0, ptr::null_mut());
        while !at.is_null() {
            // SAFETY: a table on the list is mapped until this function removes it.
            let table = unsafe { &*at };
            let (here, bytes) = (at, table.bytes);
            at = table.next.get();
            table.unreachable.set(table.unreachable.get() || has_no_readers);
            if table.unreachable.get() && table.users.load(Ordering::SeqCst) == 0 {
                // SAFETY: no thread reads the table or can reach it, and it was mapped with this length.
                unsafe { libc::munmap(here.cast(), bytes) };
            } else {
                table.next.set(retired);
                retired = here;
            }
        }
        self.retired.0 = retired;
    }
}

/// Releases the table of a run whose dispatcher has ended without returning.
pub(super) fn release_table(table: usize) {
    // SAFETY: the run counts as a user of the table, which stays mapped until the user count drops.
    let table = unsafe { &*ptr::with_exposed_provenance::<Table>(table) };
    table.users.fetch_sub(1, Ordering::SeqCst);
}

impl Table {
    pub(super) fn entries(&self) -> &[Entry] {
        let first = ptr::from_ref(self).wrapping_add(1).cast::<Entry>();
        // SAFETY: `make` has written `len` entries after the table, in the same mapping.
        unsafe { std::slice::from_raw_parts(first, self.len) }
    }

    pub(super) fn has(&self, owner: usize) -> bool {
        self.entries().iter().any(|entry| entry.owner == owner)
    }

    /// Creates a table in its own pages with space for `most` entries. The error is the `errno` value of the C library.
    pub(super) fn make(
        original: libc::sigaction,
        most: usize,
        entries: [&mut dyn Iterator<Item = Entry>; 2],
    ) -> Result<&'static mut Self, c_int> {
        const { assert!(size_of::<Table>().is_multiple_of(align_of::<Entry>())) };
        let bytes = size_of::<Self>() + most * size_of::<Entry>();
        let pages = fresh(bytes, libc::PROT_READ | libc::PROT_WRITE);
        if pages.is_null() {
            return Err(libc::ENOMEM);
        }
        let (table, mut len) = (pages.cast::<Self>(), 0);
        for entry in entries.into_iter().flatten().take(most) {
            let slot = table.wrapping_add(1).cast::<Entry>().wrapping_add(len);
            // SAFETY: the mapping has room for `most` entries after the table.
            unsafe { slot.write(entry) };
            len += 1;
        }
        let (users, next, unreachable) = (AtomicUsize::new(0), Cell::new(ptr::null_mut()), Cell::new(false));
        let (effect, is_chained) = (Effect::Original, false);
        let new_table = Self { users, next, unreachable, bytes, len, original, effect, is_chained };
        // SAFETY: the mapping is large enough, page-aligned, and exclusively owned.
        Ok(unsafe {
            table.write(new_table);
            &mut *table
        })
    }
}

impl Entry {
    pub(super) fn again(&self) -> Self {
        let is_spent = AtomicBool::new(self.is_spent.load(Ordering::SeqCst));
        Self { owner: self.owner, action: self.action, is_spent }
    }

    /// Returns the disposition that the image has requested. Returns the default disposition if a one-shot handler was already called.
    pub(super) fn disposition(&self) -> Disposition {
        if self.is_spent.load(Ordering::SeqCst) { Disposition::Default } else { disposition(&self.action) }
    }

    pub(super) fn seen(&self) -> libc::sigaction {
        let mut seen = self.action;
        if self.is_spent.load(Ordering::SeqCst) {
            seen.sa_sigaction = libc::SIG_DFL;
        }
        seen
    }
}

impl InUse {
    /// Takes a reference to the current table of the signal.
    pub(super) fn of(signal: c_int) -> Option<Self> {
        READERS.fetch_add(1, Ordering::SeqCst);
        let table = current(signal);
        if let Some(table) = table {
            table.users.fetch_add(1, Ordering::SeqCst);
        }
        READERS.fetch_sub(1, Ordering::SeqCst);
        table.map(Self)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Ordering::SeqCst);
    }
}

fn current(signal: c_int) -> Option<&'static Table> {
    let table = TABLES.get(usize::try_from(signal).ok()?)?.load(Ordering::SeqCst);
    // SAFETY: a replaced table stays mapped until `collect` has seen a moment without readers and no user is left. Callers are counted as
    // readers or hold the lock.
    unsafe { table.as_ref() }
}
