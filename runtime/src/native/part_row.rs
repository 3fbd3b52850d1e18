//! Table of the addresses of Rust fields by object, read in every direct call without borrow checks.
#![expect(unsafe_code, reason = "reads the table without counting borrows")]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;

/// Addresses by object index. The parts are owned elsewhere.
pub(super) struct PartRow<C>(UnsafeCell<Vec<Entry<C>>>);

struct Entry<C> {
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
        let entries = unsafe { &*self.0.get() };
        let entry = entries.get(object.index() as usize)?;
        if entry.object == object { entry.part } else { None }
    }

    /// Sets the part address of the object that occupies the index.
    pub(super) fn put(&self, object: ObjectHandle, part: Option<&Rc<PartCell<C>>>) {
        // SAFETY: as in `find`; overwritten entries need no drop.
        let entries = unsafe { &mut *self.0.get() };
        let at = object.index() as usize;
        if entries.len() <= at {
            entries.resize_with(at + 1, || Entry { object: ObjectHandle::NONE, part: None });
        }
        entries[at] = Entry { object, part: part.map(|part| NonNull::from(&**part)) };
    }
}
