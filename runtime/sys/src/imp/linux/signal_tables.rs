//! What each signal leads to: tables that never change and are swapped whole. A handler may run at any moment, also in the
//! middle of `malloc`, so a table is mapped rather than allocated; and a thread that swaps holds the lock with all
//! signals blocked, so that no handler ever waits for the thread it has interrupted. A table that was swapped out is
//! freed once no thread can be reading it: until then a handler listed in it may be running.
#![expect(unsafe_code, reason = "keeps tables in mapped pages")]

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::c::pages::fresh;
use super::c::signals::{COUNT, Quiet, wish};
use super::lock;
use crate::ledger::disposition::{Effect, Wish};

/// What each signal leads to; null while no image has ever asked for it. A table once there is only ever replaced.
static TABLES: [AtomicPtr<Table>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

/// How many handlers are between reading a table's address and saying so in the table itself.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// Held by the thread that swaps a table; the head of the list of tables that were swapped out.
static RETIRED: Mutex<Retired> = Mutex::new(Retired(ptr::null_mut()));

struct Retired(*mut Table);

// SAFETY: the list is followed only by who holds the lock.
unsafe impl Send for Retired {}

/// What a signal leads to. Entries follow in the same mapping.
#[repr(C)]
pub(super) struct Table {
    /// How many handlers are reading it.
    users: AtomicUsize,
    /// The table that was swapped out before this one. Only under the lock.
    next: Cell<*mut Table>,
    /// Since it was swapped out, there was a moment without anybody on the way to it. Only under the lock.
    unreachable: Cell<bool>,
    /// Bytes of the mapping.
    bytes: usize,
    /// How many entries follow.
    pub(super) len: usize,
    /// What the process had.
    pub(super) original: libc::sigaction,
    /// What was set on behalf of this table.
    pub(super) effect: Effect,
}

/// What one image has asked for.
#[repr(C)]
pub(super) struct Entry {
    /// The address of the image's ledger.
    pub(super) owner: usize,
    pub(super) action: libc::sigaction,
    /// A handler for one time has had its time.
    pub(super) is_spent: AtomicBool,
}

/// A table that cannot be freed while this is there.
pub(super) struct InUse(pub(super) &'static Table);

/// The tables, for a caller that changes them: all signals are blocked on this thread.
pub(super) struct Tables {
    retired: MutexGuard<'static, Retired>,
    // The lock is given back first: no handler runs on this thread while it is held.
    _quiet: Quiet,
}

impl Tables {
    pub(super) fn lock() -> Self {
        let quiet = Quiet::new();
        Self { retired: lock(&RETIRED), _quiet: quiet }
    }

    /// What the signal leads to.
    pub(super) fn current(&self, signal: c_int) -> Option<&'static Table> {
        current(signal)
    }

    /// A signal leads to this table from now on; the one that it has led to.
    pub(super) fn lead(&mut self, signal: c_int, table: &'static Table) {
        TABLES[signal as usize].store(ptr::from_ref(table).cast_mut(), Ordering::SeqCst);
    }

    /// Nothing leads to this table any more.
    pub(super) fn retire(&mut self, table: &'static Table) {
        table.next.set(self.retired.0);
        self.retired.0 = ptr::from_ref(table).cast_mut();
    }

    /// Hands over the tables that were swapped out and may still be read, until there is an answer.
    pub(super) fn visit_kept<T>(&mut self, mut see: impl FnMut(&Table) -> Option<T>) -> Option<T> {
        self.collect();
        let mut at = self.retired.0;
        while !at.is_null() {
            // SAFETY: a table on the list is mapped until `collect` takes it off, under the lock that is held.
            let table = unsafe { &*at };
            if let Some(answer) = see(table) {
                return Some(answer);
            }
            at = table.next.get();
        }
        None
    }

    /// Frees what no thread can be reading any more.
    pub(super) fn collect(&mut self) {
        // Who reads from now on reads what is in `TABLES`, where no retired table is.
        let nobody_on_the_way = READERS.load(Ordering::SeqCst) == 0;
        let mut kept = ptr::null_mut();
        let mut at = std::mem::replace(&mut self.retired.0, ptr::null_mut());
        while !at.is_null() {
            // SAFETY: a table on the list is mapped until this function takes it off.
            let table = unsafe { &*at };
            let (here, bytes) = (at, table.bytes);
            at = table.next.get();
            table.unreachable.set(table.unreachable.get() || nobody_on_the_way);
            if table.unreachable.get() && table.users.load(Ordering::SeqCst) == 0 {
                // SAFETY: no thread reads the table, none can reach it, and it was mapped with this length.
                unsafe { libc::munmap(here.cast(), bytes) };
            } else {
                table.next.set(kept);
                kept = here;
            }
        }
        self.retired.0 = kept;
    }
}

/// A run that has read this table has ended without coming back.
pub(super) fn let_go(table: usize) {
    // SAFETY: the run counts as a user of the table, so that is mapped until this one is taken off.
    let table = unsafe { &*ptr::with_exposed_provenance::<Table>(table) };
    table.users.fetch_sub(1, Ordering::SeqCst);
}

impl Table {
    pub(super) fn entries(&self) -> &[Entry] {
        let first = ptr::from_ref(self).wrapping_add(1).cast::<Entry>();
        // SAFETY: `make` has written `len` entries behind the table, in the same mapping.
        unsafe { std::slice::from_raw_parts(first, self.len) }
    }

    pub(super) fn has(&self, owner: usize) -> bool {
        self.entries().iter().any(|entry| entry.owner == owner)
    }

    /// A table in pages of its own, with room for so many entries; the error is an error number.
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
            let place = table.wrapping_add(1).cast::<Entry>().wrapping_add(len);
            // SAFETY: the mapping has room for `most` entries behind the table.
            unsafe { place.write(entry) };
            len += 1;
        }
        let (users, next, unreachable) = (AtomicUsize::new(0), Cell::new(ptr::null_mut()), Cell::new(false));
        let made = Self { users, next, unreachable, bytes, len, original, effect: Effect::Original };
        // SAFETY: the mapping is large enough, aligned to a page, and nothing else has its address.
        Ok(unsafe {
            table.write(made);
            &mut *table
        })
    }
}

impl Entry {
    pub(super) fn again(&self) -> Self {
        let is_spent = AtomicBool::new(self.is_spent.load(Ordering::SeqCst));
        Self { owner: self.owner, action: self.action, is_spent }
    }

    /// A handler for one time has become the default once it was called.
    pub(super) fn wish(&self) -> Wish {
        if self.is_spent.load(Ordering::SeqCst) { Wish::Default } else { wish(&self.action) }
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
    /// What the signal leads to now.
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
    // SAFETY: a table stays mapped while it can be read: `collect` frees it after it was swapped out, when there was a
    // moment without readers on the way and no user is left. Callers either are such readers or hold the lock.
    unsafe { table.as_ref() }
}
