//! Table with the address of the Rust fields (the part) of each object. Direct calls read this table without borrow checks.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::handles::ObjectHandle;
use crate::native::part_cell::PartCell;
use crate::object::row::Row;

/// Addresses of parts, by object index. The table does not own the parts.
pub(super) struct PartRow<C>(Row<Entry>, PhantomData<NonNull<PartCell<C>>>);

/// Address of an object's part. The address is untyped, because entries of a [`Row`] must be `'static`.
#[derive(Clone, Copy)]
struct Entry {
    object: ObjectHandle,
    part: Option<NonNull<()>>,
}

impl<C> PartRow<C> {
    pub(super) fn new() -> Self {
        Self(Row::new(Entry { object: ObjectHandle::NONE, part: None }), PhantomData)
    }

    /// Returns the address of an object's part. Returns `None` if the object has no part.
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<NonNull<PartCell<C>>> {
        let entry = self.0.get(object.index())?;
        if entry.object == object { entry.part.map(NonNull::cast) } else { None }
    }

    /// Sets the part address of an object. If an earlier object had the index of this object, replaces the address of the earlier object.
    pub(super) fn put(&self, object: ObjectHandle, part: Option<&Rc<PartCell<C>>>) {
        while self.0.count() <= object.index() {
            self.0.push();
        }
        self.0.set(object.index(), Entry { object, part: part.map(|part| NonNull::from(&**part).cast()) });
    }
}
