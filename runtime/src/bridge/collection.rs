//! What a collection has to do with the layers above the object store: what else holds objects, when a collection was
//! requested, and what becomes of what it finds.

use std::cell::Cell;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::collect::{Progress, RootSource, begin, go_on, unreachable};

/// How a collection is to be done at the next safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// At once.
    Whole,
    /// In slices.
    InSlices,
}

/// What was requested of the collection, and how it is set.
#[derive(Debug)]
pub(crate) struct Collection {
    wanted: Cell<Option<Wanted>>,
    /// Whether values that plugin code owns keep the objects they refer to.
    pub blacks_are_roots: Cell<bool>,
    /// Slices of the mark that is under way.
    slices: Cell<u32>,
}

impl Default for Collection {
    fn default() -> Self {
        Self { wanted: Cell::default(), blacks_are_roots: Cell::new(true), slices: Cell::default() }
    }
}

impl Collection {
    /// Asks for one at the next safe point. A whole one is no less than one in slices.
    pub(crate) fn ask(&self, wanted: Wanted) {
        if self.wanted.get() != Some(Wanted::Whole) {
            self.wanted.set(Some(wanted));
        }
    }

    /// What was requested, if anything.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        self.wanted.get()
    }

    /// Takes what was requested, if anything.
    pub(crate) fn take(&self) -> Option<Wanted> {
        self.wanted.take()
    }
}

impl Core {
    /// Destroys every object that nothing keeps. How many. At safe points only.
    ///
    /// # Errors
    /// When an `add_references` panics; nothing is destroyed then.
    pub(crate) fn collect(&self) -> Result<usize, CallError> {
        Ok(self.end_all(&unreachable(&self.world, self)?))
    }

    /// Begins a mark in slices, unless one is under way. At safe points only.
    pub(crate) fn begin_collecting(&self) {
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
    pub(crate) fn go_on_collecting(
        &self,
        has_time: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(usize, u32)>, CallError> {
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
