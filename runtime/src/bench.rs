//! What the benchmarks of this crate reach into, beside what every host can. No part of the interface.

use crate::bridge::core::Core;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::collect::{Progress, RootSource, begin, go_on, unreachable};

/// The stores of a runtime, for a look.
#[derive(Clone, Copy)]
pub struct Stores<'a>(pub(crate) &'a Core);

impl Stores<'_> {
    /// The number of a class.
    pub fn class(&self, path: &str) -> Option<u32> {
        Some(self.0.world.types.class_by_path(path)?.id.0)
    }

    /// Object → conjugate: the plugin half of an object for a class, as every call into a module finds it.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: u32) -> Option<*mut ()> {
        Some(self.0.pairs.look(&self.0.world.objects, object, ClassId(class))?.0)
    }

    /// A whole mark, and the list of those that it did not reach.
    pub fn mark(&self) -> Vec<ObjectHandle> {
        unreachable(&self.0.world, &nobody())
    }

    /// Begins a mark in slices: from here on writes ask.
    pub fn begin_mark(&self) {
        begin(&self.0.world, &nobody());
    }

    /// Goes on with it for as long as `has_time` says. Whether it is done.
    pub fn go_on_mark(&self, has_time: &mut dyn FnMut() -> bool) -> bool {
        go_on(&self.0.world, &nobody(), has_time) != Progress::More
    }

    /// Gives it up.
    pub fn abandon_mark(&self) {
        self.0.world.objects.abandon_mark();
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.0.world
    }
}

fn nobody() -> impl RootSource {
    |_: &mut dyn FnMut(ObjectHandle)| ()
}
