//! The mark itself. It is bound by how fast memory answers, so it takes objects by the handful: while the answer for one is
//! on its way, it asks for the others. It does not recurse and allocates nothing per object but the room it waits in.
#![expect(unsafe_code, reason = "reads references out of the memory of objects")]

use std::rc::Rc;

use crate::border::{CallError, trap};
use crate::handles::{ClassId, ObjectHandle};
use crate::numbered::Numbered;
use crate::object::World;
use crate::object::bits::Bits;
use crate::object::class::Class;
use crate::object::collect::{AddReferences, RootSource};
use crate::object::slots::Slots;
use crate::object::storage::Schema;

/// How many objects are looked at together.
const HANDFUL: usize = 16;

/// After so many handfuls it asks whether there is time; in a test after each, so that small worlds have many slices.
const PATIENCE: u32 = if cfg!(test) { 1 } else { 64 };

/// How many natives are asked between two looks at the clock.
const ASKED_TOGETHER: usize = if cfg!(test) { 1 } else { 64 };

/// A mark that is under way.
#[derive(Debug)]
pub(in crate::object) struct Marker {
    /// The slots whose objects are reached: they were looked at, or wait for it in `open`.
    marked: Bits,
    open: Vec<u32>,
    /// Objects that were born, or written to, since they were looked at.
    again: Vec<ObjectHandle>,
    /// The objects of natives that are to say themselves what else they refer to.
    to_ask: Vec<(Rc<MarkClass>, ObjectHandle)>,
    /// Those that have said it.
    told: Vec<u32>,
    /// By the number of the class.
    classes: Numbered<Rc<MarkClass>>,
    /// References on their way into `open`.
    found: Vec<ObjectHandle>,
}

/// What a mark has to know of a class.
#[derive(Debug)]
struct MarkClass {
    path: Rc<str>,
    schema: Rc<Schema>,
    hooks: Box<[AddReferences]>,
}

impl Marker {
    /// A mark that has reached nothing.
    pub(super) fn new(world: &World) -> Self {
        let mut marker = Self {
            marked: Bits::default(),
            open: Vec::new(),
            again: Vec::new(),
            to_ask: Vec::new(),
            told: Vec::new(),
            classes: Numbered::default(),
            found: Vec::new(),
        };
        world.types.all_classes().iter().for_each(|class| marker.learn(class));
        marker
    }

    /// An object is new: it is looked at in any case, since who refers to it may have been looked at already.
    pub(in crate::object) fn born(&mut self, object: ObjectHandle) {
        // Whoever was in the slot before may have been reached.
        self.marked.put(object.index(), false);
        self.again.push(object);
    }

    /// An object that is there is written to.
    pub(in crate::object) fn look_again(&mut self, object: ObjectHandle) {
        if self.marked.get(object.index()) {
            self.marked.put(object.index(), false);
            self.again.push(object);
        }
    }

    /// Reaches all roots: the root set, the CDOs of all classes, what running calls hold, and what `others` do. Whether
    /// anything waits to be looked at then.
    pub(super) fn shade_roots(&mut self, world: &World, others: &dyn RootSource) -> bool {
        let store = world.objects.store.borrow();
        self.marked.reserve(store.slots.len());
        for index in store.roots.iter() {
            self.shade(&store.slots, store.slots.handle(index));
        }
        for class in world.types.all_classes() {
            self.shade(&store.slots, class.cdo.get());
        }
        world.stack.each_object(&mut |object| self.shade(&store.slots, object));
        others.each_object(&mut |object| self.shade(&store.slots, object));
        !self.open.is_empty()
    }

    /// Natives are to say once more what they refer to: nobody sees when they change that.
    pub(super) fn ask_natives_again(&mut self) {
        self.open.append(&mut self.told);
    }

    /// Looks at objects until there are none left, or `has_time` says no. Whether there are none left; natives are not asked.
    fn run(&mut self, world: &World, has_time: &mut dyn FnMut() -> bool) -> bool {
        let store = world.objects.store.borrow();
        self.marked.reserve(store.slots.len());
        for object in std::mem::take(&mut self.again) {
            self.shade(&store.slots, object);
        }
        loop {
            for _ in 0..PATIENCE {
                if self.open.is_empty() {
                    return true;
                }
                self.look_at_some(world, &store.slots);
            }
            if !has_time() {
                return false;
            }
        }
    }

    fn some_to_ask(&mut self) -> Vec<(Rc<MarkClass>, ObjectHandle)> {
        self.to_ask.split_off(self.to_ask.len().saturating_sub(ASKED_TOGETHER))
    }

    /// The objects that were not reached, in order of creation.
    pub(super) fn unmarked(&self, world: &World) -> Vec<ObjectHandle> {
        let store = world.objects.store.borrow();
        let slots = &store.slots;
        let dead = slots.occupied().without(&self.marked).map(|index| slots.handle(index));
        let mut dead: Vec<_> = dead.filter_map(|object| Some((slots.get(object)?.birth, object))).collect();
        dead.sort_unstable();
        dead.into_iter().map(|(_, object)| object).collect()
    }

    #[inline]
    fn shade(&mut self, slots: &Slots, object: ObjectHandle) {
        if slots.seats().find(object).is_some() && self.marked.take(object.index()) {
            self.open.push(object.index());
        }
    }

    fn look_at_some(&mut self, world: &World, slots: &Slots) {
        let seats = slots.seats();
        let mut handful = [(std::ptr::null_mut(), ClassId::NONE, 0); HANDFUL];
        let mut count = 0;
        while count < HANDFUL
            && let Some(index) = self.open.pop()
        {
            let entry = seats.entry(index);
            // It may have ended since it was reached; and whoever is in its slot then is looked at for himself.
            if entry.serial != 0 {
                fetch(entry.memory);
                handful[count] = (entry.memory, entry.class, index);
                count += 1;
            }
        }
        for &(memory, class, index) in &handful[..count] {
            self.look_at(world, slots, memory, class, index);
        }
        while let Some(object) = self.found.pop() {
            self.shade(slots, object);
        }
    }

    #[inline]
    fn look_at(&mut self, world: &World, slots: &Slots, memory: *mut u8, class: ClassId, index: u32) {
        let Self { marked, found, classes, to_ask, .. } = self;
        let mut find = |object: ObjectHandle| {
            if !object.is_none() && !marked.get(object.index()) {
                fetch(slots.seats().address(object.index()));
                found.push(object);
            }
        };
        match classes.get(class.0.into()) {
            Some(class) => {
                // SAFETY: seat and tenant are the same, so this is the memory of a body of the class, and nobody writes
                // while a mark has its turn.
                unsafe { class.schema.references().each(memory, &mut find) };
                if !class.hooks.is_empty() {
                    to_ask.push((Rc::clone(class), slots.handle(index)));
                }
            }
            None => return self.look_at_stranger(world, slots, index),
        }
        if slots.has_relations(index)
            && let Some(tenant) = slots.get(slots.handle(index))
        {
            tenant.each_relation(find);
        }
    }

    /// Looks at an object of a class that was not there when the mark began.
    #[cold]
    fn look_at_stranger(&mut self, world: &World, slots: &Slots, index: u32) {
        let Some(tenant) = slots.get(slots.handle(index)) else { return };
        let (class, memory) = (tenant.seen().class(), tenant.seen().memory());
        self.learn(class);
        self.look_at(world, slots, memory, class.id, index);
    }

    fn learn(&mut self, class: &Rc<Class>) {
        let chain = std::iter::successors(Some(class), |class| class.base.as_ref());
        let hooks = chain.filter_map(|class| class.add_references).collect();
        let (path, schema) = (Rc::clone(&class.path), Rc::clone(class.schema()));
        self.classes.insert(class.id.0.into(), Rc::new(MarkClass { path, schema, hooks }));
    }
}

/// Goes on with the mark that is under way until nothing is left to look at and nobody to ask, or `has_time` says no.
/// Whether nothing is left.
///
/// A native's hook is code of the host, which may do what it likes: so it runs as anything that runs between two slices
/// does, with no store borrowed and the mark in its place, where it hears of all that is written, born and rooted.
///
/// # Errors
/// When a hook panics: what its object refers to is not known then, so nothing can be said to be unreachable.
pub(super) fn go_on(world: &World, has_time: &mut dyn FnMut() -> bool) -> Result<bool, CallError> {
    loop {
        let asked = {
            let run = world.objects.with_marker(|marker| marker.run(world, has_time).then(|| marker.some_to_ask()));
            // A hook cannot end the mark it is asked for: that takes a safe point.
            let Some(Some(asked)) = run else { return Ok(run.is_none()) };
            asked
        };
        if asked.is_empty() {
            return Ok(true);
        }
        for (class, object) in asked.iter().filter(|(_, object)| world.objects.is_alive(*object)) {
            let found = class.ask(world, *object)?;
            world.objects.with_marker(|marker| {
                marker.again.extend(found);
                marker.told.push(object.index());
            });
        }
        if !has_time() {
            return Ok(false);
        }
    }
}

impl MarkClass {
    /// What the hooks of an object's class and of its bases say.
    fn ask(&self, world: &World, object: ObjectHandle) -> Result<Vec<ObjectHandle>, CallError> {
        let mut found = Vec::new();
        let asked = trap(|| {
            self.hooks.iter().for_each(|hook| hook(world, object, &mut |object| found.push(object)));
            Ok(())
        });
        asked.map_err(|error| {
            let why = "so nothing is collected, because what it refers to is not known";
            let object = world.objects.shown(object);
            CallError::other(format!("add_references of {} failed on {object}, {why}: {error}", self.path))
        })?;
        Ok(found)
    }
}

/// Has the memory at an address fetched, whatever it is.
#[inline]
fn fetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it neither faults nor changes anything, at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
