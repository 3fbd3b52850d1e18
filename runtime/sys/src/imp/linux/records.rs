//! Records the resources of one image, in one table per kind of resource.

use std::cell::LazyCell;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::before::Before;
use super::companions::Companions;
use super::locals::Locals;
use super::lookups::Lookups;
use super::memory::Pages;
use super::proc::Maps;
use super::rings::Rings;
use super::started::Threads;
use super::untracked::Untracked;
use super::{c_heap, fds, fork, streams};
use crate::ledger::Ledger;

/// Records of one image. All images share the tables of resources that other images may release (blocks, descriptors, thread handles). In
/// these tables, the owner of a resource is identified by the address of its ledger.
pub(crate) struct Records {
    pub(super) locals: Locals,
    pub(super) threads: Threads,
    pub(super) pages: Pages,
    pub(super) rings: Rings,
    pub(super) companions: Companions,
    pub(super) lookups: Lookups,
    pub(super) untracked: Untracked,
    pub(super) created: Instant,
    pub(super) fds_before: Vec<c_int>,
    code: OnceLock<Vec<Range<usize>>>,
    /// `true` once the host has begun to remove the image. From then on, the image cannot set timers or request signals.
    is_closed: AtomicBool,
    pub(super) before: Arc<Before>,
    /// Addresses of the environment strings just before the image was closed.
    pub(super) environment: Mutex<Option<Vec<usize>>>,
}

impl Records {
    pub(crate) fn new() -> Self {
        fork::listen();
        let maps = Maps::read().ok();
        Self {
            locals: Locals::default(),
            threads: Threads::default(),
            pages: Pages::default(),
            rings: Rings::new(maps.as_ref()),
            companions: Companions::new(),
            lookups: Lookups::default(),
            untracked: Untracked::new(maps.as_ref()),
            created: Instant::now(),
            fds_before: fds::open_now(),
            code: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            before: Before::now(),
            environment: Mutex::new(None),
        }
    }

    pub(super) fn is_at(&self, segments: &[Range<usize>]) {
        self.code.get_or_init(|| segments.to_vec());
        self.pages.is_mapped(segments);
    }

    /// Returns a function that checks if an address is in the image or its memory. The first call of the returned function lists the
    /// memory.
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

    /// Returns a function that checks if an address is in the image or its memory, or belongs to a stream of the image.
    pub(crate) fn is_ours(&self, ledger: &Ledger) -> impl Fn(usize) -> bool {
        let (memory, owner) = (self.memory(ledger), ledger.owner());
        move |address| memory(address) || streams::is_of(owner, address)
    }

    pub(super) fn own_pages(&self) -> Vec<Range<usize>> {
        [self.pages.all(), self.code().to_vec()].concat()
    }

    /// Returns the segments of the image, once known.
    pub(super) fn code(&self) -> &[Range<usize>] {
        self.code.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Prevents the image from setting timers and requesting signals. Does not disarm existing timers and other sources.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }
}
