//! Where the Rust fields of each object of a class lie: a row that is looked at in every direct call, without a count of borrows.
#![expect(unsafe_code, reason = "looks into the row without a count of borrows")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;

/// By the index of the object. The addresses are those of parts that somebody else keeps.
pub(super) struct PartRow<C>(UnsafeCell<Vec<Place<C>>>);

struct Place<C> {
    object: ObjectHandle,
    part: Option<NonNull<PartCell<C>>>,
}

impl<C> PartRow<C> {
    /// None.
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(Vec::new()))
    }

    /// Where the part of an object lies, if it is there.
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<NonNull<PartCell<C>>> {
        // SAFETY: the row is of one thread, and no reference to it is there for longer than a method of this file, of which none
        // calls another code.
        let places = unsafe { &*self.0.get() };
        let place = places.get(object.index() as usize)?;
        if place.object == object { place.part } else { None }
    }

    /// From now on this is where the part of the object lies that has the place.
    pub(super) fn put(&self, object: ObjectHandle, part: Option<&Rc<PartCell<C>>>) {
        // SAFETY: as in `find`; nothing that is overwritten is dropped.
        let places = unsafe { &mut *self.0.get() };
        let at = object.index() as usize;
        if places.len() <= at {
            places.resize_with(at + 1, || Place { object: ObjectHandle::NONE, part: None });
        }
        places[at] = Place { object, part: part.map(|part| NonNull::from(&**part)) };
    }
}
