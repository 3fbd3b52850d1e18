//! Memory with a schema. Safe code reads and writes properties through a [`View`]. The view compares each property with its schema before
//! any memory access. If the schema lacks the property or has a different type at its offset, the view returns an error.
#![expect(unsafe_code, reason = "the only access from safe code to property memory")]

mod schema;
pub mod transfer;

use std::hash::Hasher;
use std::num::NonZeroU32;
use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_base::boundary::{CallError, mismatch};
use alcedo_base::handles::ObjectHandle;

pub use self::schema::Schema;
use crate::containers;
use crate::owned::OwnedValue;
use crate::property::{Property, PropertyType};
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ptr::{Mut, Ptr, PtrMut};
use crate::values::structure::{fix_fields, fix_length};

/// Borrowed memory with its schema. The operations call no foreign code. Foreign code therefore never observes a partly written value.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    base: *mut u8,
    schema: &'a Schema,
}

/// Location of a value in memory with one schema, looked up once for many accesses.
#[derive(Debug)]
struct Location {
    schema: Rc<Schema>,
    offset: usize,
    /// Type of the value. Two locations that share one `Rc` have equal types, so that no comparison is needed at an access.
    ty: Rc<PropertyType>,
}

/// Owned memory with its schema. Dropping the storage destroys the values and frees the memory.
#[derive(Debug)]
pub(crate) struct Storage<O: SchemaOwner = Rc<Schema>> {
    /// First byte of a piece from the schema's pool.
    start: NonNull<u8>,
    owner: O,
}

/// Counted reference to a schema, or to a value that has a schema. The schema of an owner never changes.
pub(crate) trait SchemaOwner {
    fn schema(&self) -> &Schema;
}

impl SchemaOwner for Rc<Schema> {
    #[inline]
    fn schema(&self) -> &Schema {
        self
    }
}

impl Location {
    /// Finds the value of a property.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property, or the property does not have the type `ty`.
    fn new(schema: &Rc<Schema>, property: &Property, ty: &Rc<PropertyType>) -> Result<Self, CallError> {
        if property.ty != **ty {
            return Err(mismatch(&property.path(), &property.ty, ty));
        }
        Ok(Self { schema: Rc::clone(schema), offset: schema.offset_of(property)?, ty: Rc::clone(ty) })
    }
}

impl<'a> View<'a> {
    /// Creates a view of memory that the view does not own.
    ///
    /// # Safety
    /// `base` is aligned memory with a value of its type for every field of `schema`, and remains so for `'a`. During `'a`, no other thread
    /// accesses the memory, and no Rust reference to it is created and used again.
    #[inline]
    pub unsafe fn from_raw(base: *mut u8, schema: &'a Schema) -> Self {
        Self { base, schema }
    }

    /// Returns the address of the first byte.
    #[inline]
    pub fn start(self) -> *mut u8 {
        self.base
    }

    /// Returns the address of a property's value.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    #[inline]
    pub fn address_of(self, property: &Property) -> Result<*mut u8, CallError> {
        self.schema.offset_of(property).map(|offset| self.base.wrapping_add(offset))
    }

    /// Returns the value of a property.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    #[inline]
    pub fn read(self, property: &Property) -> Result<Value, CallError> {
        Ok(self.ptr_mut(property)?.as_ptr().read())
    }

    /// Overwrites the value of a property. Adjusts a fixed array to the declared length.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property or the value has a different type.
    pub fn write(self, property: &Property, value: &Value) -> Result<(), CallError> {
        let mut at = self.ptr_mut(property)?;
        at.reborrow().write(value).map_err(|error| error.in_call(property.path()))?;
        fix_length(property, at);
        Ok(())
    }

    /// Returns the value of a property as a Rust type.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property or the property has a different type.
    #[inline]
    pub fn get<T: FrameValue>(self, property: &Property) -> Result<T, CallError> {
        Ok(T::load(self.typed::<T>(property)?.as_ref()))
    }

    /// Returns a copy of the value of a property.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property, or if its values cannot be read as `T`.
    pub(crate) fn copy_as<T: FrameValue>(self, property: &Property) -> Result<OwnedValue, CallError> {
        self.type_as::<T>(property)?;
        Ok(OwnedValue::copy_of(self.ptr_mut(property)?.as_ptr()))
    }

    /// Returns the type of a property.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property, or if its values cannot be read as `T`.
    pub(crate) fn type_as<T: FrameValue>(self, property: &Property) -> Result<&PropertyType, CallError> {
        let _checked = self.typed::<T>(property)?;
        Ok(&property.ty)
    }

    /// Overwrites a property with a value of a Rust type. Adjusts a fixed array to the declared length.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property or the property has a different type.
    #[inline]
    pub fn set<T: FrameValue>(self, property: &Property, value: T) -> Result<(), CallError> {
        value.store(self.typed::<T>(property)?);
        self.fix_length(property)
    }

    /// Adjusts a fixed array, or the fixed arrays in a struct, to the declared length, after code has written to the memory of the property.
    /// Has no effect on other properties.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    #[inline]
    pub(crate) fn fix_length(self, property: &Property) -> Result<(), CallError> {
        match &property.ty {
            PropertyType::Array(_) => fix_length(property, self.ptr_mut(property)?),
            PropertyType::Struct(of) if of.nature().owns_memory => fix_fields(self.ptr_mut(property)?),
            _ => {}
        }
        Ok(())
    }

    /// Overwrites the value of a property with a copy of `from`.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    ///
    /// # Panics
    /// Panics if the types differ.
    pub fn put(self, property: &Property, from: Ptr<'_>) -> Result<(), CallError> {
        self.ptr_mut(property)?.copy_from(from);
        self.fix_length(property)
    }

    /// Overwrites the value of `property` with the value of `other_property` in `other`. Both properties must have equal types.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if a schema lacks its property or the types differ.
    pub fn copy_from(self, property: &Property, other: View<'_>, other_property: &Property) -> Result<(), CallError> {
        let (to, from) = self.both(property, other, other_property)?;
        to.copy_from(from);
        Ok(())
    }

    /// Compares the values of two properties. The properties must have equal types.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if a schema lacks its property or the types differ.
    #[inline]
    pub fn equal(self, property: &Property, other: View<'_>, other_property: &Property) -> Result<bool, CallError> {
        let (one, two) = self.both(property, other, other_property)?;
        Ok(one.as_ptr().equal(two))
    }

    /// Checks if the view uses this `schema`. Compares the addresses of the schemas.
    #[inline]
    pub(crate) fn is_of(self, schema: &Schema) -> bool {
        std::ptr::eq(self.schema, schema)
    }

    /// Returns all strong references in all properties.
    pub fn objects(self) -> Vec<ObjectHandle> {
        if self.schema.references.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.each_reference(|object| found.push(object));
        found
    }

    /// Calls `visit` for each strong reference in all properties. `visit` must not write to the properties.
    #[inline]
    pub(super) fn each_reference(self, mut visit: impl FnMut(ObjectHandle)) {
        for offset in self.schema.references.direct() {
            let at = self.base.wrapping_add(*offset as usize).cast::<ObjectHandle>();
            // SAFETY: the caller of `from_raw` promised a value of each field's type, and this field's kind has a handle at this offset.
            visit(unsafe { at.read() });
        }
        for (offset, ty) in &self.schema.references.deep {
            // SAFETY: the caller of `from_raw` promised a value of each field's type, which is `ty` at this offset.
            unsafe { Ptr::new(self.base.wrapping_add(*offset as usize), ty) }.visit_objects(&mut visit);
        }
    }

    /// Replaces references in the value of a property, at any depth. `pairs` maps old objects to new objects.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    pub fn replace_objects(self, property: &Property, pairs: &[(ObjectHandle, ObjectHandle)]) -> Result<(), CallError> {
        let mut map = |object| pairs.iter().find(|(old, _)| *old == object).map_or(object, |(_, new)| *new);
        self.ptr_mut(property)?.map_objects(&mut map);
        Ok(())
    }

    /// Replaces references in the values of all properties, at any depth. `pairs` maps old objects to new objects.
    pub(super) fn replace_all_objects(self, pairs: &[(ObjectHandle, ObjectHandle)]) {
        if pairs.is_empty() {
            return;
        }
        let mut map = |object| pairs.iter().find(|(old, _)| *old == object).map_or(object, |(_, new)| *new);
        for at in &self.schema.naming {
            let (offset, ty) = &self.schema.fields[*at];
            // SAFETY: the caller of `from_raw` promised a value of each field's type. The pointer is used for one change only.
            unsafe { PtrMut::new(self.base.wrapping_add(*offset), ty) }.map_objects(&mut map);
        }
    }

    /// Returns the id that identifies a delegate property during a call. See [`PtrMut::delegate_mark`].
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    pub(super) fn delegate_mark(
        self,
        property: &Property,
        fresh: impl FnOnce() -> Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, CallError> {
        Ok(self.ptr_mut(property)?.delegate_mark(fresh))
    }

    /// Sets the epoch of the container in a property, to test epoch saturation.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property or the property is not a container.
    pub fn age(self, property: &Property, epoch: u64) -> Result<(), CallError> {
        if containers::age(self.ptr_mut(property)?, epoch) {
            return Ok(());
        }
        Err(mismatch(&property.path(), &property.ty, &"an array, a set or a map"))
    }

    /// Overwrites all memory with a copy of the memory of `other`. If the views use different schemas or a value owns memory, returns
    /// `false` and writes nothing.
    #[inline]
    pub(super) fn copy_bytes(self, other: View<'_>) -> bool {
        self.schema.owning.is_empty() && self.copy_all(other)
    }

    /// Overwrites all values with copies of the values of `other`. If the views use different schemas, returns `false` and writes nothing.
    #[inline]
    pub(crate) fn copy_all(self, other: View<'_>) -> bool {
        if !std::ptr::eq(self.schema, other.schema) {
            return false;
        }
        let copy_bytes = |range: Range<usize>| {
            let (to, from) = (self.base.wrapping_add(range.start), other.base.wrapping_add(range.start));
            // SAFETY: the callers of `from_raw` promised memory of this schema on both sides.
            // No value in the range owns memory, so no memory is leaked or shared.
            unsafe { to.copy_from(from, range.len()) };
        };
        let mut copied = 0;
        for at in &self.schema.owning {
            let (offset, ty) = &self.schema.fields[*at];
            copy_bytes(copied..*offset);
            // SAFETY: the caller of `from_raw` promised a value of each field's type. The pointer is used for one copy only.
            let to = unsafe { PtrMut::new(self.base.wrapping_add(*offset), ty) };
            // SAFETY: the caller of `from_raw` for `other` promised a value of each field's type, and `other` has this schema.
            // The two values are one value, or do not overlap.
            to.copy_from(unsafe { Ptr::new(other.base.wrapping_add(*offset), ty) });
            copied = offset + ty.size();
        }
        copy_bytes(copied..self.schema.size);
        true
    }

    /// Returns the strong reference at an offset. Returns `None` if the schema has no reference at the offset.
    #[inline]
    pub(super) fn reference(self, offset: u32) -> Option<ObjectHandle> {
        if !self.schema.has_reference(offset) {
            return None;
        }
        let at = self.base.wrapping_add(offset as usize).cast::<ObjectHandle>();
        // SAFETY: the caller of `from_raw` promised a value of each field's type, and the schema has a handle at this offset.
        Some(unsafe { at.read() })
    }

    /// Overwrites the strong reference at an offset. If the schema has no reference at the offset, returns `false` and writes nothing.
    #[inline]
    pub(super) fn put_reference(self, offset: u32, object: ObjectHandle) -> bool {
        if !self.schema.has_reference(offset) {
            return false;
        }
        let at = self.base.wrapping_add(offset as usize).cast::<ObjectHandle>();
        // SAFETY: the caller of `from_raw` promised a value of each field's type.
        // The schema has a handle at this offset, and a handle owns no memory.
        unsafe { at.write(object) };
        true
    }

    /// Checks if at least one property can contain the handle of an object.
    pub(super) fn names_objects(self) -> bool {
        !self.schema.naming.is_empty()
    }

    /// Feeds all values to `hasher`. Equal values have equal hashes.
    pub fn hash_into(self, hasher: &mut dyn Hasher) {
        for (offset, ty) in &self.schema.fields {
            // SAFETY: the caller of `from_raw` promised a value of each field's type.
            // Each method of a view finishes its access before the next begins.
            unsafe { Ptr::new(self.base.wrapping_add(*offset), ty) }.hash_into(hasher);
        }
    }

    #[inline]
    pub(crate) fn ptr_mut<'p>(self, property: &'p Property) -> Result<PtrMut<'p>, CallError>
    where
        'a: 'p,
    {
        // SAFETY: the caller of `from_raw` promised a value of each field's type, and `address_of` found the field.
        // Each method of a view, and each caller in this crate, finishes its access before the next begins.
        self.address_of(property).map(|at| unsafe { PtrMut::new(at, &property.ty) })
    }

    /// Returns pointers to two values of equal types. Both pointers refer to one value, or the values do not overlap.
    #[inline]
    fn both<'p>(self, one: &'p Property, other: View<'p>, two: &Property) -> Result<(PtrMut<'p>, Ptr<'p>), CallError>
    where
        'a: 'p,
    {
        if one.ty != two.ty {
            return Err(mismatch(&one.path(), &one.ty, &two.ty));
        }
        let (to, from) = (self.ptr_mut(one)?, other.address_of(two)?);
        // SAFETY: the caller of `from_raw` promised a value of each field's type, and `address_of` found the field.
        // Both types are equal by the comparison above. Each method of a view finishes its access before the next begins.
        Ok((to, unsafe { Ptr::new(from, &one.ty) }))
    }

    /// Variant of [`View::both`] for values whose locations are known.
    ///
    /// # Panics
    /// Panics if a view has a different schema than its location.
    #[inline]
    fn both_at<'p>(self, one: &'p Location, other: View<'p>, two: &'p Location) -> (PtrMut<'p>, Ptr<'p>)
    where
        'a: 'p,
    {
        assert!(self.is_of(&one.schema) && other.is_of(&two.schema), "a location is used with its schema");
        let (to, from) = (self.base.wrapping_add(one.offset), other.base.wrapping_add(two.offset));
        // SAFETY: the callers of `from_raw` promised a value of each field's type.
        // `Location::new` found fields of these types in both schemas. Each method of a view finishes its access before the next begins.
        unsafe { (PtrMut::new(to, &one.ty), Ptr::new(from, &two.ty)) }
    }

    #[inline]
    fn equal_at(self, one: &Location, other: View<'_>, two: &Location) -> bool {
        let (one, two) = self.both_at(one, other, two);
        one.as_ptr().equal(two)
    }

    #[inline]
    fn typed<'p, T: FrameValue>(self, property: &'p Property) -> Result<Mut<'p, T::Kind>, CallError>
    where
        'a: 'p,
    {
        let Some(of) = T::of(&property.ty) else {
            return Err(mismatch(&property.path(), &property.ty.in_full(), &T::describe()));
        };
        // SAFETY: the caller of `from_raw` promised a value of each field's type, and `address_of` found the field, with `of` in its type.
        // Each method of a view finishes its access before the next begins.
        self.address_of(property).map(|at| unsafe { Mut::new(at, of) })
    }
}

impl<O: SchemaOwner> Storage<O> {
    /// Allocates memory in which every property has the zero value of its type.
    pub(crate) fn new(owner: O) -> Self {
        Self { start: owner.schema().pool.take(), owner }
    }

    #[inline]
    pub(crate) fn owner(&self) -> &O {
        &self.owner
    }

    /// Swaps the owner of the schema with `owner`. Both schemas must have equal layouts. The values remain at their addresses.
    ///
    /// # Panics
    /// Panics if the schemas have different pools. Schemas of different layouts have different pools.
    #[inline]
    pub(crate) fn swap_owner(&mut self, owner: &mut O) {
        let is_same = self.owner.schema().shares_pool(owner.schema());
        assert!(is_same, "memory stays in place only for the same layout");
        std::mem::swap(&mut self.owner, owner);
    }

    /// Returns new memory with copies of all values.
    pub(crate) fn duplicate(&self) -> Self
    where
        O: Clone,
    {
        let copy = Self::new(self.owner.clone());
        assert!(copy.view().copy_all(self.view()), "values are copied between bodies of one schema");
        copy
    }

    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        // SAFETY: the memory has the schema's size and alignment and started as zeros, which are a value of every type.
        // `swap_owner` keeps the layout. `self` owns the memory, and neither `self` nor the view leaves its thread.
        unsafe { View::from_raw(self.start.as_ptr(), self.owner.schema()) }
    }
}

impl<O: SchemaOwner> Drop for Storage<O> {
    fn drop(&mut self) {
        let (base, schema) = (self.start.as_ptr(), self.owner.schema());
        // SAFETY: the memory holds a value of each field's type, and all views of the memory have ended.
        // `new` took the memory from this pool, which `swap_owner` keeps. The memory is returned to the pool only here.
        unsafe {
            for at in &schema.owning {
                let (offset, ty) = &schema.fields[*at];
                PtrMut::new(base.wrapping_add(*offset), ty).destroy();
            }
            schema.pool.put_back(self.start);
        }
    }
}

#[cfg(test)]
mod tests;
