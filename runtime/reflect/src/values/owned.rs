//! Owned values of any type: values in host memory that belong to plugin code, and values that calls pass by address.

use alcedo_base::handles::ObjectHandle;

use crate::property::PropertyType;
use crate::value::{Value, WrongType};
use crate::values::ptr::Ptr;
use crate::values::structure::{fix_fields, start_of};

pub use crate::values::ptr::OwnedValue;

impl OwnedValue {
    /// Creates the initial value of a type. Struct fields have their defaults, and fixed arrays their lengths. All other values are zero.
    pub fn initial(ty: PropertyType) -> Self {
        let start = start_of(&ty);
        let mut own = Self::zero(ty);
        if let Some(start) = start {
            own.as_mut().put(&start);
        }
        fix_fields(own.as_mut());
        own
    }

    /// Creates a copy of the value `from`.
    #[inline]
    pub fn copy_of(from: Ptr<'_>) -> Self {
        let mut own = Self::zero(from.ty().clone());
        own.as_mut().copy_from(from);
        own
    }

    /// Reads the value.
    #[inline]
    pub fn read(&self) -> Value {
        self.as_ptr().read()
    }

    /// Calls `visit` for each strong reference in the value.
    #[inline]
    pub fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.as_ptr().visit_objects(visit);
    }

    /// Overwrites the value.
    ///
    /// # Errors
    /// Returns [`WrongType`] if `value` does not match the type. The old value is then unchanged.
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
