//! Table of the addresses of Rust fields by object, read in every direct call without borrow checks.
#![expect(unsafe_code, reason = "reads the table without counting borrows")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;

/// Addresses by object index. The parts are owned elsewhere.
pub(super) struct PartRow<C>(UnsafeCell<Vec<Place<C>>>);

struct Place<C> {
    object: ObjectHandle,
    part: Option<NonNull<PartCell<C>>>,
}

impl<C> PartRow<C> {
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(Vec::new()))
    }

    /// Returns the address of an object's part, if the part exists.
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<NonNull<PartCell<C>>> {
        // SAFETY: the table belongs to one thread, and a reference to it exists only during a method of this file; these methods call
        // no other code.
        let places = unsafe { &*self.0.get() };
        let place = places.get(object.index() as usize)?;
        if place.object == object { place.part } else { None }
    }

    /// Sets the part address of the object that occupies the index.
    pub(super) fn put(&self, object: ObjectHandle, part: Option<&Rc<PartCell<C>>>) {
        // SAFETY: as in `find`; overwritten entries need no drop.
        let places = unsafe { &mut *self.0.get() };
        let at = object.index() as usize;
        if places.len() <= at {
            places.resize_with(at + 1, || Place { object: ObjectHandle::NONE, part: None });
        }
        places[at] = Place { object, part: part.map(|part| NonNull::from(&**part)) };
    }
}
