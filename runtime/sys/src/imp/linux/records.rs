//! The records of one image.

use std::cell::LazyCell;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::before::Before;
use super::companions::Companions;
use super::environment::Texts;
use super::locals::Locals;
use super::lookups::Lookups;
use super::memory::Pages;
use super::proc::Maps;
use super::rings::Rings;
use super::started::Threads;
use super::strays::Strays;
use super::{c_heap, fds, fork, streams};
use crate::ledger::Ledger;

/// The records of one image. What belongs to one image at a time but may be given up by another (blocks, descriptors,
/// handles of threads) stands in books for all of them, under the address of the ledger.
pub(crate) struct Records {
    pub(super) locals: Locals,
    pub(super) threads: Threads,
    pub(super) pages: Pages,
    pub(super) rings: Rings,
    pub(super) companions: Companions,
    pub(super) lookups: Lookups,
    pub(super) strays: Strays,
    born: Instant,
    pub(super) fds_before: Vec<c_int>,
    code: OnceLock<Vec<Range<usize>>>,
    /// Its handlers were taken out: nothing of it may raise a signal any more.
    is_closed: AtomicBool,
    pub(super) before: Arc<Before>,
    /// The environment as it was just before the image was closed.
    pub(super) environment: Mutex<Option<Texts>>,
}

impl Records {
    pub(crate) fn new() -> Self {
        fork::listen();
        let maps = Maps::read().ok();
        Self {
            locals: Locals::default(),
            threads: Threads::default(),
            pages: Pages::new(),
            rings: Rings::new(maps.as_ref()),
            companions: Companions::new(),
            lookups: Lookups::default(),
            strays: Strays::new(maps.as_ref()),
            born: Instant::now(),
            fds_before: fds::open_now(),
            code: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            before: Before::now(),
            environment: Mutex::new(None),
        }
    }

    /// The image has been mapped, with these segments.
    pub(super) fn is_at(&self, segments: &[Range<usize>]) {
        self.code.get_or_init(|| segments.to_vec());
        self.pages.is_mapped(segments);
    }

    /// Since when the image is there.
    pub(super) fn born(&self) -> Instant {
        self.born
    }

    /// Checks if an address is in the image or its memory. Its memory is listed at the first address.
    pub(super) fn memory(&self, ledger: &Ledger) -> impl Fn(usize) -> bool {
        let owner = ledger.owner();
        let known = LazyCell::new(move || (self.pages.all(), c_heap::all(owner)));
        move |address: usize| {
            let (pages, blocks) = &*known;
            let within = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&address));
            let behind = blocks.partition_point(|block| block.start <= address);
            within(self.code())
                || within(pages)
                || behind.checked_sub(1).is_some_and(|at| blocks[at].contains(&address))
        }
    }

    /// Checks if an address is in the image or its memory, or is that of a stream which it has made.
    pub(crate) fn is_ours(&self, ledger: &Ledger) -> impl Fn(usize) -> bool {
        let (memory, owner) = (self.memory(ledger), ledger.owner());
        move |address| memory(address) || streams::is_of(owner, address)
    }

    /// Its segments and the pages that are on its record.
    pub(super) fn own_pages(&self) -> Vec<Range<usize>> {
        [self.pages.all(), self.code().to_vec()].concat()
    }

    /// Where the image is, as soon as that is known.
    pub(super) fn code(&self) -> &[Range<usize>] {
        self.code.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Nothing of the image may raise a signal any more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }
}
