//! The mark itself. It is bound by how fast memory answers, so it takes objects by the handful: while the answer for one is
//! on its way, it asks for the others. It does not recurse and allocates nothing per object but the room it waits in.
#![expect(unsafe_code, reason = "reads references out of the memory of objects")]

use std::fmt;
use std::rc::Rc;

use alcedo_base::handles::{ClassId, ObjectHandle};
use alcedo_base::numbered::Numbered;

use crate::bits::Bits;
use crate::class::Class;
use crate::hooks::AddReferences;
use crate::slots::Slots;
use crate::storage::{Schema, View};

/// How many objects are looked at together.
const HANDFUL: usize = 16;

/// After so many handfuls it asks whether there is time; in a test after each, so that small worlds have many slices.
const PATIENCE: u32 = if cfg!(test) { 1 } else { 64 };

/// How many natives are called between two looks at the clock.
const ASKED_TOGETHER: usize = if cfg!(test) { 1 } else { 64 };

/// Limit of objects that hooks create during a mark. A hook that creates an object with the same hook would keep the mark from its
/// end.
const MOST_BORN_IN_HOOKS: u32 = 1 << 16;

/// A holder of objects that the store does not track.
pub trait RootSource {
    /// Shows `visit` each of them, at least once.
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle));
}

impl<T: Fn(&mut dyn FnMut(ObjectHandle))> RootSource for T {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self(visit);
    }
}

/// A mark that is under way.
#[derive(Debug)]
pub(crate) struct Marker {
    /// The slots whose objects are reached: they were looked at, or wait for it in `open`.
    marked: Bits,
    open: Vec<u32>,
    /// Objects that were born, or written to, since they were looked at.
    again: Vec<ObjectHandle>,
    /// The objects of natives that are to say themselves what else they refer to.
    to_ask: Vec<(Rc<MarkClass>, ObjectHandle)>,
    /// Those that have said it.
    told: Vec<u32>,
    /// Slots whose hooks were called, or are queued, since the mark or its last part began: at most once in either, although hooks
    /// write to objects.
    asked: Bits,
    /// Holds a flag that a hook runs, and the count of objects that hooks have created.
    born_in_hooks: (bool, u32),
    /// By the number of the class.
    classes: Numbered<Rc<MarkClass>>,
    /// References on their way into `open`.
    found: Vec<ObjectHandle>,
}

/// What a mark has to know of a class.
pub(super) struct MarkClass {
    pub(super) path: Rc<str>,
    schema: Rc<Schema>,
    pub(super) hooks: Box<[AddReferences]>,
}

impl Marker {
    /// A mark that has reached nothing. It knows objects of these classes, and learns others when it meets them.
    pub(super) fn new(classes: &[Rc<Class>]) -> Self {
        let mut marker = Self {
            marked: Bits::default(),
            open: Vec::new(),
            again: Vec::new(),
            to_ask: Vec::new(),
            told: Vec::new(),
            asked: Bits::default(),
            born_in_hooks: (false, 0),
            classes: Numbered::default(),
            found: Vec::new(),
        };
        classes.iter().for_each(|class| marker.learn(class));
        marker
    }

    /// An object is new: it is looked at in any case, since the object that refers to it may have been looked at
    /// already.
    pub(crate) fn born(&mut self, object: ObjectHandle) {
        // The object that was in the slot before may have been reached.
        self.marked.put(object.index(), false);
        self.asked.put(object.index(), false);
        self.born_in_hooks.1 += u32::from(self.born_in_hooks.0);
        self.again.push(object);
    }

    /// An object that is there is written to.
    pub(crate) fn look_again(&mut self, object: ObjectHandle) {
        if self.marked.get(object.index()) {
            self.marked.put(object.index(), false);
            self.again.push(object);
        }
    }

    /// Reaches the objects that `each_root` shows. Whether anything waits to be looked at then.
    pub(super) fn shade_roots(&mut self, slots: &Slots, each_root: impl FnOnce(&mut dyn FnMut(ObjectHandle))) -> bool {
        self.marked.reserve(slots.len());
        each_root(&mut |object| self.shade(slots, object));
        !self.open.is_empty()
    }

    /// Natives are to report once more what they refer to: changes of that are not seen.
    pub(super) fn ask_natives_again(&mut self) {
        self.asked = Bits::default();
        self.open.append(&mut self.told);
    }

    /// Looks at objects until there are none left, or `has_time` returns false. Returns whether there are none left;
    /// natives are not called.
    pub(super) fn run(&mut self, slots: &Slots, has_time: &mut dyn FnMut() -> bool) -> bool {
        self.marked.reserve(slots.len());
        self.asked.reserve(slots.len());
        for object in std::mem::take(&mut self.again) {
            self.shade(slots, object);
        }
        loop {
            for _ in 0..PATIENCE {
                if self.open.is_empty() {
                    return true;
                }
                self.look_at_some(slots);
            }
            if !has_time() {
                return false;
            }
        }
    }

    /// Some of the natives that have not said yet what they refer to.
    pub(super) fn some_to_ask(&mut self) -> Vec<(Rc<MarkClass>, ObjectHandle)> {
        self.to_ask.split_off(self.to_ask.len().saturating_sub(ASKED_TOGETHER))
    }

    /// The objects that were not reached, in order of creation.
    pub(super) fn unmarked(&self, slots: &Slots) -> Vec<ObjectHandle> {
        let dead = slots.occupied().without(&self.marked).map(|index| slots.handle(index));
        let mut dead: Vec<_> = dead.filter_map(|object| Some((slots.get(object)?.construction, object))).collect();
        dead.sort_unstable();
        dead.into_iter().map(|(_, object)| object).collect()
    }

    #[inline]
    fn shade(&mut self, slots: &Slots, object: ObjectHandle) {
        if slots.columns().find(object).is_some() && self.marked.take(object.index()) {
            self.open.push(object.index());
        }
    }

    fn look_at_some(&mut self, slots: &Slots) {
        let columns = slots.columns();
        let mut handful = [(std::ptr::null_mut(), ClassId::NONE, 0); HANDFUL];
        let mut count = 0;
        while count < HANDFUL
            && let Some(index) = self.open.pop()
        {
            let entry = columns.entry(index);
            // It may have ended since it was reached; and the object that is in its slot then is looked at by itself.
            if entry.serial != 0 {
                fetch(entry.memory.addr());
                handful[count] = (entry.memory, entry.class, index);
                count += 1;
            }
        }
        for &(memory, class, index) in &handful[..count] {
            // SAFETY: the column had this memory and class of the object just now, and no object ends while a mark has its turn.
            unsafe { self.look_at(slots, memory, class, index) };
        }
        while let Some(object) = self.found.pop() {
            self.shade(slots, object);
        }
    }

    /// Looks at one object.
    ///
    /// # Safety
    /// `memory` is a live body of the class, and is not written during the call.
    #[inline]
    unsafe fn look_at(&mut self, slots: &Slots, memory: *mut u8, class: ClassId, index: u32) {
        let Self { marked, found, classes, to_ask, asked, .. } = self;
        let mut find = |object: ObjectHandle| {
            if !object.is_none() && !marked.get(object.index()) {
                fetch(slots.columns().address(object.index()).addr());
                found.push(object);
            }
        };
        match classes.get(class.0.into()) {
            Some(class) => {
                // SAFETY: promised by the caller.
                unsafe { View::from_raw(memory, &class.schema) }.each_reference(&mut find);
                if !class.hooks.is_empty() && asked.take(index) {
                    to_ask.push((Rc::clone(class), slots.handle(index)));
                }
            }
            None => return self.look_at_stranger(slots, index),
        }
        if slots.has_relations(index)
            && let Some(tenant) = slots.get(slots.handle(index))
        {
            tenant.each_relation(find);
        }
    }

    /// Looks at an object of a class that was not there when the mark began.
    #[cold]
    fn look_at_stranger(&mut self, slots: &Slots, index: u32) {
        let Some(tenant) = slots.get(slots.handle(index)) else { return };
        let (class, memory) = (tenant.seen().class(), tenant.seen().memory());
        self.learn(class);
        // SAFETY: the tenant is there, with a body of its class, and nothing writes while a mark has its turn.
        unsafe { self.look_at(slots, memory, class.id, index) };
    }

    /// Counts the objects that are created until [`Marker::heard`].
    pub(super) fn asks(&mut self) {
        self.born_in_hooks.0 = true;
    }

    /// What a native refers to, as its hooks said. A hook may have been followed by a change; so it is called again at
    /// the end. Returns whether hooks create more objects than a mark can follow.
    pub(super) fn heard(&mut self, object: ObjectHandle, refers_to: Vec<ObjectHandle>) -> bool {
        self.again.extend(refers_to);
        self.told.push(object.index());
        self.born_in_hooks.0 = false;
        self.born_in_hooks.1 > MOST_BORN_IN_HOOKS
    }

    fn learn(&mut self, class: &Rc<Class>) {
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

/// Has the memory at an address fetched, whatever it is.
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
