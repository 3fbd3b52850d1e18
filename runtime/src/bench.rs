//! Internals for the benchmarks and tests of this crate. Not part of the public API.
#![expect(unsafe_code, reason = "declares functions that only this crate's own benchmarks and tests may call")]

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::{ClassId, ObjectHandle};
use crate::load::declared::of_types;
use crate::object::collect::{RootSource, begin, end_mark, mark, unreachable};
use crate::runtime::Runtime;

/// Access to the stores of a runtime.
#[derive(Clone, Copy)]
pub struct Stores<'a>(pub(crate) &'a Core);

impl Runtime {
    /// Returns the stores, for the benchmarks and tests of this crate.
    ///
    /// # Safety
    /// The caller must not leave a mark in progress, must not use an address after its object is destroyed, and must not call
    /// [`Stores::age`] for a container that is borrowed.
    #[doc(hidden)]
    pub unsafe fn bench(&self) -> Stores<'_> {
        Stores(self.core())
    }
}

impl Stores<'_> {
    /// Returns the id of the class with this path.
    pub fn class(&self, path: &str) -> Option<u32> {
        Some(self.0.world.types.class_by_path(path)?.id.0)
    }

    /// Returns all registered types of a package as text, without their origins. The text includes class data that [`Declared`] omits.
    ///
    /// [`Declared`]: crate::Declared
    pub fn types_of(&self, package: &str) -> String {
        let (world, start) = (&self.0.world, format!("/Script/{package}."));
        let mut text = format!("{:#?}\n", of_types(world, &|_, path| path.starts_with(&start)));
        let mut classes = world.types.classes();
        classes.retain(|class| class.path.starts_with(&start));
        classes.sort_by(|one, other| one.path.cmp(&other.path));
        for class in classes {
            let parts = class.subobjects.iter().map(|part| (&part.name, &part.class_path, part.is_root));
            let (parts, of_bases) = (parts.collect::<Vec<_>>(), (&class.subobject_overrides, &class.default_overrides));
            let vtable: Vec<_> = class.vtable.iter().map(|function| &function.path).collect();
            text += &format!("{} {parts:?} {vtable:?} {of_bases:?}\n", class.path);
        }
        text
    }

    /// Returns the plugin part of an object for a class. Uses the same lookup as calls into modules.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: u32) -> Option<*mut ()> {
        Some(self.0.pairs.find_part(&self.0.world.objects, object, ClassId(class))?.0)
    }

    /// Runs a full mark and returns the unreachable objects.
    pub fn mark(&self) -> Vec<ObjectHandle> {
        unreachable(&self.0.world, &no_roots()).expect("no native class adds references")
    }

    /// Begins a mark in slices. Until the mark ends, writes of references pass the write barrier.
    pub fn begin_mark(&self) {
        begin(&self.0.world, &no_roots());
    }

    /// Continues the mark while `has_time` returns `true`. Returns `true` if the mark is done.
    pub fn go_on_mark(&self, has_time: &mut dyn FnMut() -> bool) -> bool {
        let is_done = mark(&self.0.world, &no_roots(), has_time) != Ok(false);
        if is_done {
            end_mark(&self.0.world);
        }
        is_done
    }

    /// Aborts the mark.
    pub fn abandon_mark(&self) {
        self.0.world.objects.abandon_mark();
    }

    /// Sets the change counter of the container in a property to `epoch`.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such container.
    pub fn age(&self, object: ObjectHandle, property: &str, epoch: u64) -> Result<(), CallError> {
        self.0.world.objects.with_body_to_write(object, |body| {
            let found = body.class().find_property(property).ok_or(CallError::Stale { handle: object })?;
            body.view().age(found, epoch)
        })?
    }

    /// Returns the address of an object.
    #[inline]
    pub fn memory(&self, object: ObjectHandle) -> Option<*mut u8> {
        self.0.world.objects.memory(object)
    }
}

/// Returns the number of open borrows of stores on this thread. The number is zero while plugin code or host callbacks run. Release builds
/// always return zero.
pub fn open_borrows() -> u32 {
    crate::cells::open_borrows()
}

fn no_roots() -> impl RootSource {
    |_: &mut dyn FnMut(ObjectHandle)| ()
}
