//! What the benchmarks of this crate reach into, beside what every host can. No part of the interface.
#![expect(unsafe_code, reason = "declares the door that only this crate's own benchmarks and tests may open")]

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::collect::{Progress, RootSource, begin, go_on, unreachable};
use crate::object::dump::dump;
use crate::runtime::Runtime;

/// The stores of a runtime, for a look.
#[derive(Clone, Copy)]
pub struct Stores<'a>(pub(crate) &'a Core);

impl Runtime {
    /// The stores, for the benchmarks and tests of this crate.
    ///
    /// # Safety
    /// What is got here is used as the runtime uses it: no mark is left under way, no address is followed after its object
    /// has ended, no container is aged that anybody has a view into.
    #[doc(hidden)]
    pub unsafe fn bench(&self) -> Stores<'_> {
        Stores(self.core())
    }
}

impl Stores<'_> {
    /// The number of a class.
    pub fn class(&self, path: &str) -> Option<u32> {
        Some(self.0.world.types.class_by_path(path)?.id.0)
    }

    /// All that the registry has of a package, as text, but for who declared it.
    pub fn types_of(&self, package: &str) -> String {
        dump(&self.0.world.types, &self.0.world.names, package)
    }

    /// Object → conjugate: the plugin part of an object for a class, as every call into a module finds it.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: u32) -> Option<*mut ()> {
        Some(self.0.pairs.look(&self.0.world.objects, object, ClassId(class))?.0)
    }

    /// A whole mark, and the list of those that it did not reach.
    pub fn mark(&self) -> Vec<ObjectHandle> {
        unreachable(&self.0.world, &nobody()).expect("no native has a say")
    }

    /// Begins a mark in slices: from here on writes ask.
    pub fn begin_mark(&self) {
        begin(&self.0.world, &nobody());
    }

    /// Goes on with it for as long as `has_time` says. Whether it is done.
    pub fn go_on_mark(&self, has_time: &mut dyn FnMut() -> bool) -> bool {
        go_on(&self.0.world, &nobody(), has_time) != Ok(Progress::More)
    }

    /// Gives it up.
    pub fn abandon_mark(&self) {
        self.0.world.objects.abandon_mark();
    }

    /// Makes the container in a property as old as if it had changed so many times.
    ///
    /// # Errors
    /// When the object is gone, or has no such container.
    pub fn age(&self, object: ObjectHandle, property: &str, epoch: u64) -> Result<(), CallError> {
        self.0.world.objects.with_body_to_write(object, |body| {
            let found = body.class().find_property(property).ok_or(CallError::Stale { handle: object })?;
            body.view().age(found, epoch)
        })?
    }

    /// Where an object lies.
    #[inline]
    pub fn memory(&self, object: ObjectHandle) -> Option<*mut u8> {
        self.0.world.objects.memory(object)
    }
}

/// How many borrows of stores are open on this thread: none, whenever foreign code runs. Always zero in a release build.
pub fn open_borrows() -> u32 {
    crate::cells::open_borrows()
}

fn nobody() -> impl RootSource {
    |_: &mut dyn FnMut(ObjectHandle)| ()
}
