//! A value of any type in memory of its own: what plugin code owns in the host, and what calls pass by address.
#![expect(unsafe_code, reason = "memory that always holds a value of its type")]

use crate::handles::ObjectHandle;
use crate::object::block::Block;
use crate::object::memory;
use crate::object::property::PropertyType;
use crate::object::transfer::{self, WrongType};
use crate::object::typed::FrameValue;
use crate::object::value::Value;

/// A value of a type. It does not move, and ends with this.
#[derive(Debug)]
pub(crate) struct OwnedValue {
    block: Block,
    ty: PropertyType,
}

impl OwnedValue {
    /// The value that zero bytes mean.
    pub(crate) fn zero(ty: PropertyType) -> Self {
        Self { block: Block::new(ty.size(), ty.align()), ty }
    }

    /// A value by its Rust type.
    ///
    /// # Panics
    /// When values of `ty` are not such, which the caller has looked at.
    pub(crate) fn of<T: FrameValue>(ty: PropertyType, value: T) -> Self {
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
    pub(crate) unsafe fn copy_of(ty: PropertyType, from: *const u8) -> Self {
        let own = Self::zero(ty);
        // SAFETY: the block holds zeros, which are a value; the caller promises the other.
        unsafe { memory::copy(own.at(), from, &own.ty) };
        own
    }

    /// Its type.
    pub(crate) fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// Where it lies, for as long as it is not dropped.
    pub(crate) fn at(&self) -> *mut u8 {
        self.block.start()
    }

    /// The value.
    pub(crate) fn read(&self) -> Value {
        // SAFETY: the block holds a value of the type.
        unsafe { transfer::read(self.at(), &self.ty) }
    }

    /// Shows `visit` every object that the value keeps alive.
    pub(crate) fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        // SAFETY: the block holds a value of the type, and `visit` is not given this to write to.
        unsafe { memory::visit_objects(self.at(), &self.ty, visit) };
    }

    /// Overwrites the value.
    ///
    /// # Errors
    /// [`WrongType`] when it does not fit; nothing is written then.
    pub(crate) fn write(&mut self, value: &Value) -> Result<(), WrongType> {
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
