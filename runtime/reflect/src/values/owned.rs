//! Owned values of any type: values in host memory that belong to plugin code, and values that calls pass by address.

use alcedo_base::handles::ObjectHandle;

use crate::property::PropertyType;
use crate::value::{Value, WrongType};
use crate::values::ptr::{Own, Ptr, PtrMut};
use crate::values::structure::start_of;

/// Owned value at a stable address. Dropping the owner destroys the value.
///
/// # Examples
/// ```
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::value::Value;
///
/// let mut title = OwnedValue::zero(PropertyType::Text);
/// title.write(&Value::Text("Cellar".into()))?;
/// assert_eq!(title.read(), Value::Text("Cellar".into()));
/// # Ok::<(), alcedo_reflect::value::WrongType>(())
/// ```
#[derive(Debug)]
pub struct OwnedValue(Own);

impl OwnedValue {
    /// Creates a value whose bytes are all zero.
    #[inline]
    pub fn zero(ty: PropertyType) -> Self {
        Self(Own::zero(ty))
    }

    /// Creates the initial value of a type. Struct fields have their defaults. All other values are zero.
    pub fn initial(ty: PropertyType) -> Self {
        let start = start_of(&ty);
        let mut own = Self::zero(ty);
        if let Some(start) = start {
            own.as_mut().put(&start);
        }
        own
    }

    /// Creates a copy of the value `from`.
    #[inline]
    pub fn copy_of(from: Ptr<'_>) -> Self {
        let mut own = Self::zero(from.ty().clone());
        own.as_mut().copy_from(from);
        own
    }

    /// Returns a read-only pointer to the value.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        self.0.as_ptr()
    }

    /// Returns a writable pointer to the value.
    #[inline]
    pub fn as_mut(&mut self) -> PtrMut<'_> {
        self.0.as_mut()
    }

    /// Returns the type of the value.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        self.0.ty()
    }

    /// Returns the address of the value. The address is valid until the owner is dropped.
    #[inline]
    pub fn at(&self) -> *mut u8 {
        self.0.at()
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
