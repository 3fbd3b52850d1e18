//! When objects are collected: at once, or in slices that each take no more of a frame than it gives them.

use std::time::{Duration, Instant};

use super::Runtime;
use crate::border::CallError;
use crate::bridge::collection::Wanted;
use crate::bridge::core::Core;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::collect::{Progress, RootSource, begin, go_on, unreachable};

/// A collection that was done at a safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collected {
    /// Objects that were destroyed.
    pub objects: usize,
    /// Ticks that the mark was spread over; one for a collection that was done at once.
    pub slices: u32,
}

/// The collection of objects that nothing keeps: [`Runtime::collection`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// assert_eq!(runtime.collection().collect()?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Collection<'a>(pub(super) &'a Runtime);

impl Collection<'_> {
    /// Destroys every object that nothing keeps: no root, no reference in a property of a kept object, no value that plugin
    /// code owns. Returns how many. A mark in slices that is under way is given up.
    ///
    /// # Errors
    /// When plugin code is on the stack; the collection is done at the next safe point then. When an `add_references` of a
    /// native class panics; nothing is destroyed then.
    pub fn collect(&self) -> Result<usize, Error> {
        let core = &self.0.inner.core;
        let _busy = self.0.at_safe_point("a collection").inspect_err(|_| core.collection.ask(Wanted::Whole))?;
        Ok(core.collect()?)
    }

    /// Asks for a collection whose mark is done in slices: from the next safe point on, each tick gives it as much time as
    /// its [`Budget`](crate::Budget) says, and the world goes on in between. A reload gives the mark up, and it begins
    /// again. What it destroyed comes out of [`Collection::take_done`].
    pub fn begin_in_slices(&self) {
        self.0.inner.core.collection.ask(Wanted::InSlices);
    }

    /// Whether a mark in slices is under way.
    pub fn is_under_way(&self) -> bool {
        self.0.inner.core.world.objects.is_marking()
    }

    /// The collections done at safe points since the last time, oldest first; of more than 256 the last.
    pub fn take_done(&self) -> Vec<Collected> {
        self.0.inner.collected.take()
    }
}

impl Runtime {
    /// What a safe point does for collections, in about so much time, not counting what it destroys.
    pub(super) fn tend_collections(&self, time: Duration) {
        let core = &self.inner.core;
        if self.inner.slicing.get() && !core.world.objects.is_marking() {
            core.begin_collecting();
        }
        match core.collection.take() {
            Some(Wanted::Whole) => match self.collection().collect() {
                Ok(objects) => self.note_collected(Collected { objects, slices: 1 }),
                Err(error @ Error::NotASafePoint { .. }) => {
                    tracing::debug!(%error, "a collection waits for the next safe point");
                }
                Err(error) => tracing::error!(%error, "a collection is given up"),
            },
            Some(Wanted::InSlices) => {
                self.inner.slicing.set(true);
                core.begin_collecting();
            }
            None => {}
        }
        if !core.world.objects.is_marking() {
            return;
        }
        let Ok(_busy) = self.at_safe_point("a collection") else { return };
        let begun = Instant::now();
        match core.go_on_collecting(&mut || begun.elapsed() < time) {
            Ok(Some((objects, slices))) => self.note_collected(Collected { objects, slices }),
            Ok(None) => {}
            Err(error) => {
                self.inner.slicing.set(false);
                tracing::error!(%error, "a collection in slices is given up");
            }
        }
    }

    fn note_collected(&self, collected: Collected) {
        self.inner.slicing.set(false);
        self.inner.collected.push(collected);
    }
}

impl Core {
    /// Destroys every object that nothing keeps. How many. At safe points only.
    ///
    /// # Errors
    /// When an `add_references` panics; nothing is destroyed then.
    fn collect(&self) -> Result<usize, CallError> {
        Ok(self.end_all(&unreachable(&self.world, self)?))
    }

    /// Begins a mark in slices, unless one is under way. At safe points only.
    fn begin_collecting(&self) {
        if !self.world.objects.is_marking() {
            self.collection.slices.set(0);
            begin(&self.world, self);
        }
    }

    /// Goes on with a mark in slices, if one is under way, for as long as `has_time` says. When it is done: how many objects
    /// were destroyed, and how many slices it took. At safe points only.
    ///
    /// # Errors
    /// When an `add_references` panics; the mark is given up then.
    fn go_on_collecting(&self, has_time: &mut dyn FnMut() -> bool) -> Result<Option<(usize, u32)>, CallError> {
        if !self.world.objects.is_marking() {
            return Ok(None);
        }
        self.collection.slices.set(self.collection.slices.get() + 1);
        Ok(match go_on(&self.world, self, has_time)? {
            Progress::More => None,
            Progress::Done(dead) => Some((self.end_all(&dead), self.collection.slices.get())),
        })
    }

    fn end_all(&self, dead: &[ObjectHandle]) -> usize {
        for object in dead {
            // One that went with its owner is gone already.
            let _gone = self.end_object(*object);
        }
        self.finalizer.release();
        self.world.objects.free_graveyard();
        dead.len()
    }
}

/// What holds objects beside the store: values in host memory that plugin code owns.
impl RootSource for Core {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        if self.collection.blacks_are_roots.get() {
            self.blacks.each_object(visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Instant;

    use alcedo_abi::handles::TypeNumber;

    use crate::bridge::core::Core;
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::handles::{Generation, ModuleId, ObjectHandle};
    use crate::lease::Leases;
    use crate::object::decl::{Batch, ClassDecl};
    use crate::object::nested::ElementType;
    use crate::object::origin::Origin;
    use crate::object::owned::OwnedValue;
    use crate::object::property::PropertyType;
    use crate::object::value::Value;

    /// A module owns an array with an object that nothing else keeps. Is the object there after a collection?
    fn check(blacks_are_roots: bool) {
        let core = Core::new().expect("a finalizer thread");
        core.collection.blacks_are_roots.set(blacks_are_roots);
        core.world.types.declare_package("Engine");
        let decl = ClassDecl::new("Engine", "Object", "", Origin::Native);
        let batch = Batch { classes: vec![decl], ..Batch::default() };
        let class = core.world.types.declare(&core.world.names, &batch).expect("a right declaration").classes.remove(0);
        let object = core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        let gate = Gate::new(ModuleTag { id: ModuleId(1), name: "m".into(), generation: Generation(1) });
        core.blacks.admit(&gate, Leases::new("m"));
        let reference = PropertyType::Object { class: "/Script/Engine.Object".into() };
        let mut list = OwnedValue::zero(PropertyType::Array(Rc::new(ElementType::new(reference))));
        list.write(&Value::Array(vec![Value::Object(object)])).expect("an array of references");
        core.blacks.make(ModuleId(1), TypeNumber(1), list, None, Instant::now()).expect("an open gate");
        assert_eq!(core.collect(), Ok(usize::from(!blacks_are_roots)));
        assert_eq!(core.world.objects.is_alive(object), blacks_are_roots);
        // In slices it is the same.
        core.begin_collecting();
        let ended = core.go_on_collecting(&mut || true);
        assert_eq!(ended, Ok(Some((0, 1))));
    }

    #[test]
    fn what_plugin_code_owns_keeps_its_objects() {
        check(true);
    }

    #[test]
    fn or_keeps_them_not_where_the_host_says_so_and_their_handles_are_stale() {
        check(false);
    }
}
