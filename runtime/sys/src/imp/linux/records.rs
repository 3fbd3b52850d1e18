//! All that one image has on record here, and what an ending asks of it.
#![expect(unsafe_code, reason = "what an image has left is freed once it is gone")]

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ffi::c_int;
use std::ops::Range;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use super::before::Before;
use super::c::library::{self, Closes};
use super::companions::{self, Companions};
use super::locals::Locals;
use super::lookups::Lookups;
use super::memory::Pages;
use super::rings::Rings;
use super::strays::Strays;
use super::threads::Threads;
use super::{
    Mapping, altstack, c_heap, children, cpp, environment, evict, exits, fds, fork, frames, locals, lock, random,
    robust, scan, signals, sources, strays, streams, threads, timers,
};
use crate::end_report::{EndPolicy, EndReport};
use crate::ledger::plan::{Facts, Step};
use crate::ledger::{Holder, HolderKind, Ledger, LedgerCounts};
use crate::reference::Look;

/// The records of one image. What belongs to one image at a time but may be given up by another (blocks, descriptors,
/// handles of threads) stands in books for all of them, under the address of the ledger.
pub(crate) struct Records {
    pub(super) locals: Locals,
    pub(super) threads: Threads,
    pub(super) pages: Pages,
    pub(super) rings: Rings,
    companions: Companions,
    pub(super) lookups: Lookups,
    strays: Strays,
    born: Instant,
    /// What was found to lead into the image from outside when that was looked for last.
    outside: Mutex<Option<Holder>>,
    fds_before: Vec<c_int>,
    code: OnceLock<Vec<Range<usize>>>,
    /// Its handlers were taken out: nothing of it may raise a signal any more.
    is_closed: AtomicBool,
    pub(super) before: Arc<Before>,
    /// Its finalisers run, and then it is gone: nothing may be registered any more.
    is_closing: AtomicBool,
    /// The functions that were refused since.
    refused: Mutex<Vec<String>>,
    /// The environment as it was just before.
    environment: Mutex<Option<environment::Texts>>,
}

impl Records {
    pub(crate) fn new() -> Self {
        fork::listen();
        exits::listen();
        environment::listen();
        cpp::listen();
        Self {
            locals: Locals::default(),
            threads: Threads::default(),
            pages: Pages::new(),
            rings: Rings::new(),
            companions: Companions::new(),
            lookups: Lookups::default(),
            strays: Strays::new(),
            born: Instant::now(),
            outside: Mutex::new(None),
            fds_before: fds::open_now(),
            code: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            before: Before::now(),
            is_closing: AtomicBool::new(false),
            refused: Mutex::new(Vec::new()),
            environment: Mutex::new(None),
        }
    }

    /// The image has been mapped, and its initialisers have run.
    pub(crate) fn is_mapped(&self, ledger: &Arc<Ledger>, mapping: &Mapping) {
        self.code.get_or_init(|| mapping.ranges().to_vec());
        self.pages.is_mapped(mapping.ranges());
        scan::is_mapped(owner(ledger), mapping.ranges());
        // The library of C++ may have come with it.
        cpp::listen();
        self.companions.is_mapped(owner(ledger), mapping);
        strays::is_mapped(ledger);
    }

    /// The image is about to end: what it is going to close is looked at while it is there, and which libraries it has.
    pub(crate) fn ends(&self, ledger: &Ledger) {
        self.rings.look(owner(ledger));
        self.companions.ends(&self.lookups);
    }

    /// Whether the image works with libraries that are neither of the host nor of the C library, which may keep what they
    /// were handed.
    pub(crate) fn has_other_libraries(&self) -> bool {
        self.companions.has_others()
    }

    /// The image is closed next.
    pub(crate) fn leave(&self, ledger: &Ledger) {
        self.companions.leave(owner(ledger));
        let own = [self.pages.all(), c_heap::all(owner(ledger))].concat();
        self.strays.look(self.code(), &own);
        *lock(&self.environment) = Some(environment::Texts::now());
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// The image was closed and is still there: other code has a share of it, so no finaliser has run.
    pub(crate) fn stays(&self, ledger: &Ledger) {
        self.is_closing.store(false, Ordering::SeqCst);
        self.tell_refused(ledger);
    }

    /// Whether the image is being closed, so that what it asks of `function` would be called, or written to, when it is gone.
    /// That is then refused, and noted.
    pub(super) fn refuses(&self, function: &str) -> bool {
        let is_closing = self.is_closing();
        if is_closing {
            let mut refused = lock(&self.refused);
            if !refused.iter().any(|known| known == function) {
                refused.push(function.to_owned());
            }
        }
        is_closing
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    /// Not said at once: the loader is at work then, and a log may be anybody's code.
    fn tell_refused(&self, ledger: &Ledger) {
        let refused = std::mem::take(&mut *lock(&self.refused));
        for function in refused {
            tracing::warn!(
                target: "alcedo_sys::closing",
                image = ledger.label(),
                function,
                "a finaliser has called this while its module was being closed: it was refused, or done with a copy"
            );
        }
    }

    /// Since when the image is there.
    pub(super) fn born(&self) -> Instant {
        self.born
    }

    /// Tells of an address whether it lies in the image or its memory.
    pub(super) fn memory(&self, ledger: &Ledger) -> impl Fn(usize) -> bool {
        let owner = owner(ledger);
        let (pages, blocks) = (self.pages.all(), c_heap::all(owner));
        move |address: usize| {
            let within = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&address));
            let behind = blocks.partition_point(|block| block.start <= address);
            within(self.code())
                || within(&pages)
                || behind.checked_sub(1).is_some_and(|at| blocks[at].contains(&address))
        }
    }

    /// Its segments and the pages that are on its record.
    pub(super) fn own_pages(&self) -> Vec<Range<usize>> {
        [self.pages.all(), self.code().to_vec()].concat()
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
        holders.extend(sources::holders(ledger));
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
            timers: timers::held(owner(ledger)),
            children: children::held(owner(ledger)),
        }
    }

    pub(crate) fn facts(&self, ledger: &Ledger, may_evict: bool) -> Facts {
        let locals = self.locals.whereabouts(ledger);
        let stacks = altstack::whereabouts(ledger);
        let mut facts = Facts {
            gone: false,
            process_exits: exits::process_exits(),
            locals_here: locals.here || stacks.0,
            threads: !threads::holding(ledger).is_empty() || !self.companions.guests().is_empty(),
            locals_elsewhere: locals.elsewhere || stacks.1 || sources::must_end_first(ledger),
            may_evict: may_evict && evict::IS_POSSIBLE,
            signals: sources::are_held(ledger),
            handler_runs: sources::may_call(owner(ledger)),
            exit_handlers: exits::held(owner(ledger)) > 0 || streams::lead_to(owner(ledger)),
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
        if let Some(signal) = self.companions.handled() {
            let name = format!("the handler of signal {signal}, which was set past the hooks");
            return Some(holder(HolderKind::Handler, name, self.born));
        }
        // Most threads hold nothing, and then it need not be known where the memory is.
        let memory = LazyCell::new(|| self.memory(ledger));
        #[expect(clippy::redundant_closure, reason = "the memory is asked for when there is an address and not before")]
        let tid = robust::holder(|address| memory(address))?;
        let name = "a robust mutex in the module's memory, which a thread holds".to_owned();
        Some(Holder { thread: locals::thread_in_words(tid), ..holder(HolderKind::Reference, name, Instant::now()) })
    }

    /// What keeps the image though none of its code runs: streams that would write into its memory.
    pub(crate) fn keepers(&self, ledger: &Ledger) -> Vec<Holder> {
        let holder =
            |name| Holder { kind: HolderKind::Stream, name, thread: String::new(), since: Instant::now(), place: None };
        streams::holders(owner(ledger)).into_iter().map(holder).collect()
    }

    /// Leads elsewhere, or takes back, what the process still has of the image and what can be undone: just before it is
    /// closed.
    pub(crate) fn put_right(&self, ledger: &Ledger, report: &mut EndReport) {
        let owner = owner(ledger);
        report.frames += frames::take_back(owner);
        report.put_back.extend(sources::release_again(ledger));
        let memory = self.memory(ledger);
        let is_ours = |address: usize| memory(address) || streams::is_of(owner, address);
        report.addresses += environment::put_right(is_ours) + u64::from(random::move_out(is_ours));
        report.addresses += cpp::put_right(is_ours);
        report.put_back.extend(altstack::take_away_here(memory));
    }

    /// Looks whether anything that stays still leads to the image or its memory.
    pub(crate) fn look(&self, ledger: &Ledger, path: &Path) -> (Look, HashSet<usize>) {
        let (memory, blocks) = (self.pages.all(), c_heap::all(owner(ledger)));
        let libraries = self.companions.within_reach(&self.lookups);
        scan::look(&scan::Going { image: self.code(), memory, blocks, libraries, path })
    }

    pub(crate) fn evict(&self, ledger: &Ledger) {
        evict::ask(&threads::holding(ledger));
    }

    pub(crate) fn release_signals(&self, ledger: &Ledger, report: &mut EndReport) {
        let (signals, put_back) = sources::release(ledger);
        report.signals += signals;
        report.put_back.extend(put_back);
    }

    /// Nothing of the image may raise a signal any more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    pub(crate) fn run_exit_handlers(&self, ledger: &Ledger) -> u64 {
        let run = exits::run(owner(ledger));
        // A handler may write to a stream, and may have registered another handler.
        if exits::held(owner(ledger)) == 0 {
            streams::cut_off(owner(ledger));
        }
        run
    }

    /// Gives back what the image has left, and says what that was. Blocks of the C heap that are `kept` are not freed.
    ///
    /// # Safety
    ///
    /// The image is gone.
    pub(crate) unsafe fn free(
        &self,
        ledger: &Ledger,
        policy: &EndPolicy,
        kept: &HashSet<usize>,
        report: &mut EndReport,
    ) {
        let owner = owner(ledger);
        // Finalisers have had the last word, and their memory goes next.
        if let Some(before) = lock(&self.environment).take() {
            let memory = self.memory(ledger);
            report.addresses += environment::put_right_after(&before, self.code(), &memory);
            report.put_back.extend(altstack::take_away_here(memory));
        }
        scan::is_gone(owner);
        streams::forget(owner);
        // What the finalisers have registered while the image was being closed cannot be called any more.
        report.keys = self.locals.forget(ledger);
        exits::forget(owner);
        self.release_signals(ledger, report);
        self.tell_refused(ledger);
        self.pages.tell_holes(ledger.label());
        altstack::forget(ledger);
        (report.children_left, report.children_reaped) = children::take(owner, policy.reap_children);
        let (joined, not_joined) = threads::join_ended(ledger);
        report.threads_joined = joined;
        let is_kept = |address| !policy.free_c_heap || kept.contains(&address);
        // SAFETY: the block was the image's and lives, and the setter of the policy says that it gives none away.
        let left = c_heap::take(owner, is_kept, |block| unsafe { library::free(block) });
        (report.c_heap_bytes, report.c_heap_blocks) = left.freed;
        (report.c_heap_kept_bytes, report.c_heap_kept_blocks) = left.kept;
        if not_joined == 0 {
            // SAFETY: the pages were the image's, and no thread of it is left that might stand on them.
            (report.maps_bytes, report.heap_bytes) = unsafe { self.pages.free_all() };
        } else {
            tracing::warn!(image = ledger.label(), "a thread does not end: its image's pages stay");
        }
        let fds = fds::take(owner);
        if policy.close_fds {
            for left in &fds {
                let closes = fds::closes(left);
                // SAFETY: the image has opened it and is gone, and the setter of the policy says that nobody else has
                // it.
                let close = move || unsafe { library::close(closes) };
                match closes {
                    // It waits for a process, which may run as long as it likes.
                    Closes::Pipe(_) => close_apart(close),
                    _ => close(),
                }
            }
        }
        let told = if policy.close_fds { &mut report.fds_closed } else { &mut report.fds_left };
        *told = fds.into_iter().map(|left| (left.fd, left.to)).collect();
        report.fds_unknown = fds::unknown(&self.fds_before);
        let named = &report.fds_left;
        report.fds_unknown.retain(|(fd, _)| !named.iter().any(|(left, _)| left == fd));
        let strays = self.strays.left();
        (report.maps_unknown, report.maps_unknown_bytes) = (strays.count, strays.bytes);
        companions::review();
        companions::note_gone();
        report.thread_locals_run = self.locals.run.load(Ordering::SeqCst);
        report.thread_locals_forgotten = self.locals.forgotten.load(Ordering::SeqCst);
        report.threads_evicted = self.threads.evicted.load(Ordering::SeqCst);
    }
}

fn close_apart(close: impl FnOnce() + Send + 'static) {
    let started = thread::Builder::new().name("alcedo-pclose".to_owned()).spawn(close);
    if let Err(error) = started {
        tracing::warn!(%error, "a stream made by `popen` stays open: no thread can be started to close it");
    }
}

/// How the books for all images name one.
fn owner(ledger: &Ledger) -> usize {
    ptr::from_ref(ledger).addr()
}
