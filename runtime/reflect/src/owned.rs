//! A value of any type in memory of its own: what plugin code owns in the host, and what calls pass by address.
#![expect(unsafe_code, reason = "memory that always holds a value of its type")]

use alcedo_base::handles::ObjectHandle;

use crate::block::Block;
use crate::property::PropertyType;
use crate::transfer::WrongType;
use crate::value::Value;
use crate::values::ptr::{Ptr, PtrMut};

/// A value of a type. It does not move, and ends with this.
#[derive(Debug)]
pub struct OwnedValue {
    block: Block,
    ty: PropertyType,
}

impl OwnedValue {
    /// The value that zero bytes mean.
    #[inline]
    pub fn zero(ty: PropertyType) -> Self {
        Self { block: Block::new(ty.size(), ty.align()), ty }
    }

    /// A copy of another value.
    #[inline]
    pub fn copy_of(from: Ptr<'_>) -> Self {
        let own = Self::zero(from.ty().clone());
        // SAFETY: the block holds zeros, which are a value of the type, and nothing else reads or writes it.
        unsafe { PtrMut::new(own.at(), from.ty()) }.copy_from(from);
        own
    }

    /// The value, to read.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        // SAFETY: the block always holds a value of the type, which is written through `as_mut` and by those only whom `at` was
        // given to, while this is not used.
        unsafe { Ptr::new(self.at(), &self.ty) }
    }

    /// The value, to write.
    #[inline]
    pub fn as_mut(&mut self) -> PtrMut<'_> {
        // SAFETY: the block always holds a value of the type, and nothing else reads or writes it meanwhile.
        unsafe { PtrMut::new(self.at(), &self.ty) }
    }

    /// Its type.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// Where it lies, for as long as it is not dropped.
    #[inline]
    pub fn at(&self) -> *mut u8 {
        self.block.start()
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
        if self.ty.owns_memory() {
            self.as_mut().destroy();
        }
    }
}
