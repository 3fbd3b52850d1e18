//! A value of any type in memory of its own: what plugin code owns in the host, and what calls pass by address.

use alcedo_base::handles::ObjectHandle;

use crate::property::PropertyType;
use crate::value::{Value, WrongType};
use crate::values::ptr::{Own, Ptr, PtrMut};
use crate::values::structure::start_of;

/// A value of a type. It does not move, and ends with this.
#[derive(Debug)]
pub struct OwnedValue(Own);

impl OwnedValue {
    /// The value that zero bytes mean.
    #[inline]
    pub fn zero(ty: PropertyType) -> Self {
        Self(Own::zero(ty))
    }

    /// The value that a new one begins as: zero, but with the defaults of a struct's fields.
    pub fn initial(ty: PropertyType) -> Self {
        let start = start_of(&ty);
        let mut own = Self::zero(ty);
        if let Some(start) = start {
            own.as_mut().put(&start);
        }
        own
    }

    /// A copy of another value.
    #[inline]
    pub fn copy_of(from: Ptr<'_>) -> Self {
        let mut own = Self::zero(from.ty().clone());
        own.as_mut().copy_from(from);
        own
    }

    /// The value, to read.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        self.0.as_ptr()
    }

    /// The value, to write.
    #[inline]
    pub fn as_mut(&mut self) -> PtrMut<'_> {
        self.0.as_mut()
    }

    /// Its type.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        self.0.ty()
    }

    /// Where it lies, for as long as it is not dropped.
    #[inline]
    pub fn at(&self) -> *mut u8 {
        self.0.at()
    }

    /// The value.
    #[inline]
    pub fn read(&self) -> Value {
        self.as_ptr().read()
    }

    /// Shows `visit` every object that the value keeps alive.
    #[inline]
    pub fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.as_ptr().visit_objects(visit);
    }

    /// Overwrites the value.
    ///
    /// # Errors
    /// [`WrongType`] when it does not fit; nothing is written then.
    #[inline]
    pub fn write(&mut self, value: &Value) -> Result<(), WrongType> {
        self.as_mut().write(value)
    }
}

impl Drop for OwnedValue {
    fn drop(&mut self) {
        if self.ty().owns_memory() {
            self.as_mut().destroy();
        }
    }
}
