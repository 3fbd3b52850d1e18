//! All that one image has on record here, and what an ending asks of it.
#![expect(unsafe_code, reason = "what an image has left is freed once it is gone")]

use std::ffi::c_int;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::companions::{self, Companions};
use super::locals::Locals;
use super::memory::Pages;
use super::rings::Rings;
use super::threads::Threads;
use super::{Mapping, c_heap, evict, exits, fds, fork, locals, lock, signals, threads};
use crate::ending::{EndPolicy, EndReport};
use crate::ledger::plan::{Facts, Step};
use crate::ledger::{Holder, HolderKind, Ledger, LedgerCounts};

/// The records of one image. What belongs to one image at a time but may be given up by another (blocks, descriptors,
/// handles of threads) stands in books for all of them, under the address of the ledger.
pub(crate) struct Records {
    pub(super) locals: Locals,
    pub(super) threads: Threads,
    pub(super) pages: Pages,
    pub(super) rings: Rings,
    companions: Companions,
    born: Instant,
    /// What was found to lead into the image from outside when that was looked for last.
    outside: Mutex<Option<Holder>>,
    fds_before: Vec<c_int>,
    code: OnceLock<Vec<Range<usize>>>,
}

impl Records {
    pub(crate) fn new() -> Self {
        fork::listen();
        exits::listen();
        Self {
            locals: Locals::default(),
            threads: Threads::default(),
            pages: Pages::new(),
            rings: Rings::new(),
            companions: Companions::new(),
            born: Instant::now(),
            outside: Mutex::new(None),
            fds_before: fds::open_now(),
            code: OnceLock::new(),
        }
    }

    /// The image has been mapped, and its initialisers have run.
    pub(crate) fn is_mapped(&self, ledger: &Ledger, mapping: &Mapping) {
        self.code.get_or_init(|| mapping.ranges.clone());
        self.companions.is_mapped(owner(ledger), mapping);
    }

    /// The image is about to end: what it is going to close is looked at while it is there.
    pub(crate) fn look(&self, ledger: &Ledger) {
        self.rings.look(owner(ledger));
    }

    /// The image is closed next.
    pub(crate) fn leave(&self, ledger: &Ledger) {
        self.companions.leave(owner(ledger));
    }

    /// Where the image is, as soon as that is known.
    pub(super) fn code(&self) -> &[Range<usize>] {
        self.code.get().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn holders(&self, ledger: &Ledger) -> Vec<Holder> {
        let mut holders = threads::holders(ledger);
        holders.extend(self.companions.guests().into_iter().map(|guest| Holder {
            kind: HolderKind::Thread,
            name: format!("thread {}", guest.name),
            thread: locals::thread_in_words(guest.tid),
            since: self.born,
            place: None,
        }));
        holders.extend(self.locals.holders(ledger));
        holders.extend(lock(&self.outside).clone());
        if signals::may_run(owner(ledger)) {
            holders.push(Holder {
                kind: HolderKind::Handler,
                name: "a running signal handler".to_owned(),
                thread: String::new(),
                since: Instant::now(),
                place: None,
            });
        }
        holders
    }

    pub(crate) fn run_thread_locals_here(&self, ledger: &Ledger) -> u64 {
        locals::settle_here(ledger)
    }

    pub(crate) fn counts(&self, ledger: &Ledger) -> LedgerCounts {
        let (c_heap_bytes, c_heap_blocks) = c_heap::held(owner(ledger));
        LedgerCounts {
            thread_locals_registered: self.locals.registered.load(Ordering::SeqCst),
            thread_locals_run: self.locals.run.load(Ordering::SeqCst),
            thread_locals_forgotten: self.locals.forgotten.load(Ordering::SeqCst),
            threads_started: self.threads.started.load(Ordering::SeqCst),
            threads_ended: self.threads.ended.load(Ordering::SeqCst),
            threads_evicted: self.threads.evicted.load(Ordering::SeqCst),
            keys: self.locals.keys(),
            signals: signals::held(owner(ledger)),
            exit_handlers: exits::held(owner(ledger)),
            maps_bytes: self.pages.map_bytes(),
            heap_bytes: self.pages.heap_bytes(),
            c_heap_bytes,
            c_heap_blocks,
            fds: fds::held(owner(ledger)),
        }
    }

    pub(crate) fn facts(&self, ledger: &Ledger, may_evict: bool) -> Facts {
        let locals = self.locals.whereabouts(ledger);
        let mut facts = Facts {
            gone: false,
            process_exits: exits::process_exits(),
            locals_here: locals.here,
            threads: !threads::holding(ledger).is_empty() || !self.companions.guests().is_empty(),
            locals_elsewhere: locals.elsewhere,
            may_evict: may_evict && evict::IS_POSSIBLE,
            signals: signals::held(owner(ledger)) > 0,
            handler_runs: signals::may_run(owner(ledger)),
            exit_handlers: exits::held(owner(ledger)) > 0,
            outside: false,
        };
        // These looks cost more than all the others, and what is yet to run may change what they find.
        let outside = if facts.next() == Step::Close { self.outside(ledger) } else { None };
        facts.outside = outside.is_some();
        *lock(&self.outside) = outside;
        facts
    }

    /// What leads into the image although nothing of its own does any more.
    fn outside(&self, ledger: &Ledger) -> Option<Holder> {
        let holder = |kind, name, since| Holder { kind, name, thread: String::new(), since, place: None };
        if let Some(kept) = self.rings.kept(owner(ledger)) {
            return Some(holder(HolderKind::Ring, kept.name, kept.since));
        }
        let signal = self.companions.handled()?;
        let name = format!("the handler of signal {signal}, which was set past the hooks");
        Some(holder(HolderKind::Handler, name, self.born))
    }

    pub(crate) fn evict(&self, ledger: &Ledger) {
        evict::ask(&threads::holding(ledger));
    }

    pub(crate) fn release_signals(&self, ledger: &Ledger) -> u64 {
        signals::release(owner(ledger))
    }

    pub(crate) fn run_exit_handlers(&self, ledger: &Ledger) -> u64 {
        exits::run(owner(ledger))
    }

    /// Gives back what the image has left, and says what that was.
    ///
    /// # Safety
    ///
    /// The image is gone.
    pub(crate) unsafe fn free(&self, ledger: &Ledger, policy: &EndPolicy, report: &mut EndReport) {
        let owner = owner(ledger);
        // What the finalisers have registered while the image was being closed cannot be called any more.
        report.keys = self.locals.forget(ledger);
        exits::forget(owner);
        report.signals += signals::release(owner);
        let (joined, not_joined) = threads::join_ended(ledger);
        report.threads_joined = joined;
        // SAFETY: the blocks were the image's, and whoever set the policy says that it gives none away.
        (report.c_heap_bytes, report.c_heap_blocks) = unsafe { c_heap::free_all(owner, policy.free_c_heap) };
        if not_joined == 0 {
            // SAFETY: the pages were the image's, and no thread of it is left that might stand on them.
            (report.maps_bytes, report.heap_bytes) = unsafe { self.pages.free_all() };
        } else {
            tracing::warn!(image = ledger.label(), "a thread does not end: its image's pages stay");
        }
        let fds = fds::take(owner);
        if policy.close_fds {
            for (fd, _) in &fds {
                // SAFETY: the image has opened it and is gone, and whoever set the policy says that nobody else has it.
                unsafe { fds::close(*fd) };
            }
            report.fds_closed = fds;
        } else {
            report.fds_left = fds;
        }
        report.fds_unknown = fds::unknown(&self.fds_before);
        companions::review();
        report.thread_locals_run = self.locals.run.load(Ordering::SeqCst);
        report.thread_locals_forgotten = self.locals.forgotten.load(Ordering::SeqCst);
        report.threads_evicted = self.threads.evicted.load(Ordering::SeqCst);
    }
}

/// How the books for all images name one.
fn owner(ledger: &Ledger) -> usize {
    ptr::from_ref(ledger).addr()
}
