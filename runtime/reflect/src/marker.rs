//! Marker of the garbage collector's mark phase (short: mark). Memory latency dominates the cost of a mark, so the marker processes objects
//! in batches and prefetches the next objects. The marker is not recursive. Per object, the marker needs only three bits and a queue entry.
#![expect(unsafe_code, reason = "reads references out of the memory of objects")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use alcedo_base::handles::{ClassId, ObjectHandle};
use alcedo_base::id_table::IdTable;

use crate::bits::Bits;
use crate::class::Class;
use crate::hooks::AddReferences;
use crate::slots::Slots;
use crate::storage::{Schema, View};

/// Number of objects per batch.
const BATCH: usize = 16;

/// Number of batches between two checks of the time limit. The number is 1 in tests, so that small worlds need many slices.
const BATCHES_PER_CHECK: u32 = if cfg!(test) { 1 } else { 64 };

/// Number of native objects whose hooks run between two checks of the time limit.
const HOOK_BATCH: usize = if cfg!(test) { 1 } else { 64 };

/// Number of blocks of 64 slots that a sweep scans between two checks of the time limit.
const BLOCKS_PER_CHECK: usize = if cfg!(test) { 1 } else { 4 };

/// Average number of scans per slot after which a mark ignores its time limit. Code may write references faster than the slices scan the
/// written objects. Without this limit, the mark would then never complete.
const MAX_SCANS: u64 = 16;

/// Maximum number of objects that hooks create between two resets of the counter. A hook may create objects of its own class. Without this
/// limit, the mark would then never complete.
const MAX_CREATED_IN_HOOKS: u32 = 1 << 16;

/// Source of roots: code that holds objects outside the store.
pub trait RootSource {
    /// Calls `visit` at least once for each held object.
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle));
}

impl<T: Fn(&mut dyn FnMut(ObjectHandle))> RootSource for T {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self(visit);
    }
}

/// Step of the sweep after an incremental mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// The time limit was reached, or the mark was aborted.
    More,
    /// An unreachable object. The caller must destroy the object, unless the object was already destroyed, for example together with its
    /// owner.
    Dead(ObjectHandle),
    /// The sweep has returned all unreachable objects.
    Done,
}

/// State of a mark in progress, and of the sweep after the mark.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    /// Slots of reached objects. Each reached object was already scanned, or is queued in `open`.
    marked: Bits,
    open: Vec<u32>,
    /// Slots in `open`. A queued object that is written to is not queued a second time.
    queued: Bits,
    /// Number of scans, including repeated scans of written objects.
    scanned: u64,
    /// Objects to mark, because they were created or added to the root set, or because a hook refers to them.
    to_mark: Vec<ObjectHandle>,
    /// First slot that the scan of the root set has not visited.
    next_root: u32,
    /// Sweep in progress. `None` until the mark is complete.
    sweeping: Option<Sweeping>,
    /// Native objects whose `add_references` hooks are still to be called.
    hook_queue: Vec<(Rc<MarkClass>, ObjectHandle)>,
    /// Slots of objects whose hooks were called.
    hooked: Vec<u32>,
    /// Slots of objects whose hooks were queued or called in the current phase of the mark. A hook may write to its object, and each write
    /// queues the object again. This set limits each hook to one run per phase. The final slice begins a new phase.
    hook_queued: Bits,
    /// True while a hook runs, and the number of objects that hooks have created.
    created_in_hooks: (bool, u32),
    classes: IdTable<Rc<MarkClass>>,
    /// References found in the current batch, to be queued in `open`.
    found: Vec<ObjectHandle>,
}

/// Sweep in progress.
#[derive(Debug)]
struct Sweeping {
    /// Blocks of 64 slots that the sweep has not yet scanned for unreached objects. Objects in later slots are newer than the mark.
    blocks: Range<usize>,
    /// Unreached objects with their construction numbers.
    unreached: BinaryHeap<Reverse<(u64, ObjectHandle)>>,
}

/// Path, layout and hooks of a class, for a mark.
pub(super) struct MarkClass {
    pub(super) path: Rc<str>,
    schema: Rc<Schema>,
    pub(super) hooks: Box<[AddReferences]>,
}

impl Marker {
    /// Creates a mark without reached objects. `classes` are the known classes. A class that is missing in `classes` is added when the mark
    /// finds an object of the class.
    pub(super) fn new(classes: &[Rc<Class>]) -> Self {
        let mut marker = Self::default();
        classes.iter().for_each(|class| marker.add_class(class));
        marker
    }

    /// Queues a new object unconditionally. The object that refers to the new object may already have been scanned.
    pub(crate) fn add_created(&mut self, object: ObjectHandle) {
        // Clears the bits of the previous object in the slot.
        self.marked.put(object.index(), false);
        self.hook_queued.put(object.index(), false);
        self.created_in_hooks.1 += u32::from(self.created_in_hooks.0);
        self.to_mark.push(object);
    }

    /// Queues an object that was added to the root set. The scan of the root set may already have passed the object's slot.
    pub(crate) fn add_root(&mut self, object: ObjectHandle) {
        self.to_mark.push(object);
    }

    /// If the object was reached, queues the object for a new scan. Called for each write to an object.
    pub(crate) fn rescan(&mut self, object: ObjectHandle) {
        if self.marked.get(object.index()) && self.queued.take(object.index()) {
            self.open.push(object.index());
        }
    }

    /// Marks the objects that `each_root` passes to its argument. Returns `true` if any object is queued.
    pub(super) fn shade_roots(&mut self, slots: &Slots, each_root: impl FnOnce(&mut dyn FnMut(ObjectHandle))) -> bool {
        self.reserve(slots);
        each_root(&mut |object| self.shade(slots, object));
        !self.open.is_empty()
    }

    fn reserve(&mut self, slots: &Slots) {
        let Self { marked, queued, hook_queued, .. } = self;
        [marked, queued, hook_queued].into_iter().for_each(|bits| bits.reserve(slots.len()));
    }

    /// Queues all native objects whose hooks were called, because changes to the references that these hooks report are not tracked.
    pub(super) fn requeue_natives(&mut self) {
        self.hook_queued = Bits::default();
        self.created_in_hooks.1 = 0;
        self.open.append(&mut self.hooked);
    }

    /// Marks the next objects of the root set. Returns `false` if the queue is empty and all roots are marked.
    fn shade_next_roots(&mut self, slots: &Slots, roots: &Bits) -> bool {
        for _ in 0..BATCH {
            let Some(index) = roots.first_from(self.next_root) else {
                // Later additions to the root set are queued by `add_root`.
                self.next_root = u32::MAX;
                return !self.open.is_empty();
            };
            self.next_root = index + 1;
            self.shade(slots, slots.handle(index));
        }
        true
    }

    /// Marks the root set, and scans objects until the queue is empty or `has_time` returns `false`. Ignores `has_time` after
    /// [`MAX_SCANS`]. Returns `true` if the queue is empty. Does not call hooks of native objects.
    pub(super) fn run(&mut self, slots: &Slots, roots: &Bits, has_time: &mut dyn FnMut() -> bool) -> bool {
        self.reserve(slots);
        for object in std::mem::take(&mut self.to_mark) {
            self.shade(slots, object);
        }
        loop {
            for _ in 0..BATCHES_PER_CHECK {
                if self.open.is_empty() && !self.shade_next_roots(slots, roots) {
                    return true;
                }
                self.scan_batch(slots);
            }
            if self.scanned <= MAX_SCANS * u64::from(slots.len()) && !has_time() {
                return false;
            }
        }
    }

    /// Removes and returns the next batch of native objects whose hooks are still to be called.
    pub(super) fn next_hooks(&mut self) -> Vec<(Rc<MarkClass>, ObjectHandle)> {
        self.hook_queue.split_off(self.hook_queue.len().saturating_sub(HOOK_BATCH))
    }

    /// Returns the objects that were not reached, in order of creation.
    pub(super) fn unmarked(&self, slots: &Slots) -> Vec<ObjectHandle> {
        let dead = slots.occupied().without(&self.marked).map(|index| slots.handle(index));
        let mut dead: Vec<_> = dead.filter_map(|object| Some((slots.get(object)?.construction, object))).collect();
        dead.sort_unstable();
        dead.into_iter().map(|(_, object)| object).collect()
    }

    /// Checks if at least one object is queued for a scan or for a call of its hooks.
    pub(super) fn has_queued(&self) -> bool {
        !(self.to_mark.is_empty() && self.open.is_empty() && self.hook_queue.is_empty())
    }

    /// Checks if the mark is complete and a sweep has begun.
    pub(super) fn is_sweeping(&self) -> bool {
        self.sweeping.is_some()
    }

    /// Returns the next unreached object in order of creation. All queues must be empty, because queued objects may refer to objects that
    /// are not marked yet.
    pub(super) fn next_dead(&mut self, slots: &Slots, has_time: &mut dyn FnMut() -> bool) -> Sweep {
        let Self { marked, sweeping, .. } = self;
        let Sweeping { blocks, unreached } = sweeping.get_or_insert_with(|| {
            let blocks = 0..(slots.len() as usize).div_ceil(64);
            Sweeping { blocks, unreached: BinaryHeap::new() }
        });
        while blocks.start < blocks.end {
            let end = blocks.end.min(blocks.start + BLOCKS_PER_CHECK);
            let found = slots.occupied().without_in(marked, blocks.start..end).map(|index| slots.handle(index));
            unreached.extend(found.filter_map(|object| Some(Reverse((slots.get(object)?.construction, object)))));
            blocks.start = end;
            if blocks.start < blocks.end && !has_time() {
                return Sweep::More;
            }
        }
        while let Some(Reverse((_, object))) = unreached.pop() {
            // The object may have become reachable since the scan of its slot. If the object was destroyed, its slot may contain a new
            // object.
            let is_reached = slots.columns().find(object).is_some() && marked.get(object.index());
            if !is_reached {
                return Sweep::Dead(object);
            }
            if !has_time() {
                return Sweep::More;
            }
        }
        Sweep::Done
    }

    #[inline]
    fn shade(&mut self, slots: &Slots, object: ObjectHandle) {
        if slots.columns().find(object).is_some() && self.marked.take(object.index()) {
            self.queued.put(object.index(), true);
            self.open.push(object.index());
        }
    }

    fn scan_batch(&mut self, slots: &Slots) {
        let columns = slots.columns();
        let mut batch = [(std::ptr::null_mut(), ClassId::NONE, 0); BATCH];
        let mut count = 0;
        while count < BATCH
            && let Some(index) = self.open.pop()
        {
            self.queued.put(index, false);
            let entry = columns.entry(index);
            // The object may have been released since it was queued. A new object in its slot is queued separately.
            if entry.serial != 0 {
                fetch(entry.memory.addr());
                batch[count] = (entry.memory, entry.class, index);
                count += 1;
            }
        }
        self.scanned += count as u64;
        for &(memory, class, index) in &batch[..count] {
            // SAFETY: memory and class of the object were read from the column above. No object is released during a slice of a mark.
            unsafe { self.scan(slots, memory, class, index) };
        }
        while let Some(object) = self.found.pop() {
            self.shade(slots, object);
        }
    }

    /// Scans the references of one object.
    ///
    /// # Safety
    /// `memory` is a live body of the class, and is not written during the call.
    #[inline]
    unsafe fn scan(&mut self, slots: &Slots, memory: *mut u8, class: ClassId, index: u32) {
        let Self { marked, found, classes, hook_queue, hook_queued, .. } = self;
        let mut find = |object: ObjectHandle| {
            if !object.is_none() && !marked.get(object.index()) {
                fetch(slots.columns().address(object.index()).addr());
                found.push(object);
            }
        };
        match classes.get(class.0.into()) {
            Some(class) => {
                // SAFETY: the caller promised a live body of this class that is not written during the call.
                unsafe { View::from_raw(memory, &class.schema) }.each_reference(&mut find);
                if !class.hooks.is_empty() && hook_queued.take(index) {
                    hook_queue.push((Rc::clone(class), slots.handle(index)));
                }
            }
            None => return self.scan_new_class(slots, index),
        }
        if slots.has_relations(index)
            && let Some(tenant) = slots.get(slots.handle(index))
        {
            tenant.each_relation(find);
        }
    }

    /// Scans an object of a class that was declared after the mark began.
    #[cold]
    fn scan_new_class(&mut self, slots: &Slots, index: u32) {
        let Some(tenant) = slots.get(slots.handle(index)) else { return };
        let (class, memory) = (tenant.body.class(), tenant.body.memory());
        self.add_class(class);
        // SAFETY: the object in the slot has a body of its class, and no code writes during a slice of the mark.
        unsafe { self.scan(slots, memory, class.id, index) };
    }

    /// Starts the count of objects that hooks create. [`Marker::end_hooks`] stops the count.
    pub(super) fn begin_hooks(&mut self) {
        self.created_in_hooks.0 = true;
    }

    /// Queues the references that the hooks of a native object reported. The references may change later. The hooks are therefore called
    /// again at the end of the mark. Returns `true` if hooks have created more objects than a mark allows.
    pub(super) fn end_hooks(&mut self, object: ObjectHandle, refers_to: Vec<ObjectHandle>) -> bool {
        self.to_mark.extend(refers_to);
        self.hooked.push(object.index());
        self.created_in_hooks.0 = false;
        self.created_in_hooks.1 > MAX_CREATED_IN_HOOKS
    }

    fn add_class(&mut self, class: &Rc<Class>) {
        let chain = std::iter::successors(Some(class), |class| class.base.as_ref());
        let hooks = chain.filter_map(|class| class.add_references.clone()).collect();
        let (path, schema) = (Rc::clone(&class.path), Rc::clone(class.schema()));
        self.classes.insert(class.id.0.into(), Rc::new(MarkClass { path, schema, hooks }));
    }
}

impl fmt::Debug for MarkClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} hooks", self.path, self.hooks.len())
    }
}

/// Prefetches the memory at an address. The address does not have to be valid.
#[inline]
fn fetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it neither faults nor changes anything, at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
