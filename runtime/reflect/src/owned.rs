//! A value of any type in memory of its own: what plugin code owns in the host, and what calls pass by address.
#![expect(unsafe_code, reason = "memory that always holds a value of its type")]

use alcedo_base::handles::ObjectHandle;

use crate::block::Block;
use crate::memory;
use crate::property::PropertyType;
use crate::transfer::{self, WrongType};
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ptr::PtrMut;

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

    /// A value by its Rust type.
    ///
    /// # Panics
    /// When values of `ty` are not such, which the caller has looked at.
    pub fn of<T: FrameValue>(ty: PropertyType, value: T) -> Self {
        assert!(T::matches(&ty), "a {ty} is no {}", T::describe());
        let own = Self::zero(ty);
        // SAFETY: the block holds zeros, which are a value of the type, and the line above says that it matches.
        unsafe { value.store(own.at(), &own.ty) };
        own
    }

    /// A copy of the value at `from`.
    ///
    /// # Safety
    /// `from` holds a value of `ty`, aligned, that nobody writes meanwhile.
    #[inline]
    pub unsafe fn copy_of(ty: PropertyType, from: *const u8) -> Self {
        let own = Self::zero(ty);
        // SAFETY: the block holds zeros, which are a value; the caller promises the other.
        unsafe { memory::copy(own.at(), from, &own.ty) };
        own
    }

    /// The value, to write.
    #[inline]
    pub(crate) fn as_mut(&mut self) -> PtrMut<'_> {
        // SAFETY: the block always holds a value of the type, and nobody else reads or writes it meanwhile.
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
        // SAFETY: the block holds a value of the type.
        unsafe { transfer::read(self.at(), &self.ty) }
    }

    /// Shows `visit` every object that the value keeps alive.
    #[inline]
    pub fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        // SAFETY: the block holds a value of the type, and `visit` is not given this to write to.
        unsafe { memory::visit_objects(self.at(), &self.ty, visit) };
    }

    /// Overwrites the value.
    ///
    /// # Errors
    /// [`WrongType`] when it does not fit; nothing is written then.
    #[inline]
    pub fn write(&mut self, value: &Value) -> Result<(), WrongType> {
        // SAFETY: the block holds a value of the type, and nobody else has it.
        unsafe { transfer::write(self.at(), &self.ty, value) }
    }
}

impl Drop for OwnedValue {
    fn drop(&mut self) {
        if self.ty.owns_memory() {
            // SAFETY: the block holds a value of the type, and nobody uses it any more.
            unsafe { memory::destroy(self.at(), &self.ty) };
        }
    }
}
