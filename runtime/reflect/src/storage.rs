//! Memory together with what lies in it. The holder of a [`View`] may read and write the properties of its schema
//! safely: a property that is not in the schema, or has another type there, is refused before memory is touched.
#![expect(unsafe_code, reason = "the one door from safe code to property memory")]

use std::hash::Hasher;
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::containers;
use crate::pool::Pool;
use crate::property::{Property, PropertyType};
use crate::references::References;
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ptr::{Mut, Ptr, PtrMut};

/// What lies where in a piece of memory: an object of a class, or a parameter block.
#[derive(Debug)]
pub struct Schema {
    size: usize,
    align: usize,
    /// In order of offset, apart from each other.
    fields: Vec<(usize, PropertyType)>,
    /// Those fields whose values own memory, by their place in the list.
    owning: Box<[usize]>,
    references: References,
    /// Whether any value names an object, be it that it keeps it alive or not.
    names_objects: bool,
    /// Where memory of this layout comes from.
    pool: Pool,
}

/// Memory laid out as a schema says, lent. All operations are whole and call no foreign code, so none sees another's
/// half-written value.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    base: *mut u8,
    schema: &'a Schema,
}

/// Owned memory laid out as a schema says. It destroys its values and frees itself.
#[derive(Debug)]
pub(crate) struct Storage {
    /// From the pool of the schema.
    start: NonNull<u8>,
    schema: Rc<Schema>,
}

impl Schema {
    /// A schema of fields, given with their offsets.
    ///
    /// # Panics
    /// When a field is not aligned, overlaps another or does not lie inside: everything unsafe rests on this.
    pub fn new(size: usize, align: usize, fields: impl IntoIterator<Item = (u32, PropertyType)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().map(|(offset, ty)| (offset as usize, ty)).collect();
        fields.sort_by_key(|(offset, ty)| (*offset, ty.size()));
        let mut end = 0;
        for (offset, ty) in &fields {
            assert!(
                *offset >= end && offset.is_multiple_of(ty.align()) && align.is_multiple_of(ty.align()),
                "{ty} at {offset} is misplaced"
            );
            end = offset + ty.size();
        }
        assert!(end <= size, "fields end at {end}, behind the end of the memory at {size}");
        let owning = fields.iter().enumerate().filter(|(_, (_, ty))| ty.owns_memory()).map(|(at, _)| at).collect();
        let references = References::of(fields.iter().map(|(offset, ty)| (*offset, ty)));
        let names_objects = fields.iter().any(|(_, ty)| ty.names_objects());
        Self { size, align, fields, owning, references, names_objects, pool: Pool::new(size, align) }
    }

    /// Bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Alignment in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        self.align
    }

    #[inline]
    fn has(&self, property: &Property) -> bool {
        let offset = property.offset as usize;
        let first = self.fields.partition_point(|(at, _)| *at < offset);
        self.fields[first..].iter().take_while(|(at, _)| *at == offset).any(|(_, ty)| *ty == property.ty)
    }
}

impl<'a> View<'a> {
    /// A view of memory that is owned elsewhere.
    ///
    /// # Safety
    /// `base` is aligned memory with a value of its type for every field of `schema`; it stays so for `'a`, and nobody
    /// on another thread touches it, nor makes a reference to it that is used again.
    #[inline]
    pub unsafe fn from_raw(base: *mut u8, schema: &'a Schema) -> Self {
        Self { base, schema }
    }

    /// The first byte.
    #[inline]
    pub fn start(self) -> *mut u8 {
        self.base
    }

    /// Where the value of a property lies.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property.
    #[inline]
    pub fn place(self, property: &Property) -> Result<*mut u8, CallError> {
        self.at(property)
    }

    /// The value of a property.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property.
    #[inline]
    pub fn read(self, property: &Property) -> Result<Value, CallError> {
        Ok(self.ptr_mut(property)?.as_ptr().read())
    }

    /// Overwrites the value of a property.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property or it does not hold such values.
    pub fn write(self, property: &Property, value: &Value) -> Result<(), CallError> {
        let written = self.ptr_mut(property)?.write(value);
        written.map_err(|error| CallError::Signature {
            name: member(property),
            found: error.wanted,
            wanted: error.found,
        })
    }

    /// The value of a property, by its Rust type.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property or it does not hold such values.
    #[inline]
    pub fn get<T: FrameValue>(self, property: &Property) -> Result<T, CallError> {
        Ok(T::load(self.typed::<T>(property)?.as_ref()))
    }

    /// Overwrites the value of a property, by its Rust type.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property or it does not hold such values.
    #[inline]
    pub fn set<T: FrameValue>(self, property: &Property, value: T) -> Result<(), CallError> {
        value.store(self.typed::<T>(property)?);
        Ok(())
    }

    /// Overwrites the value of `property` with that of `other_property` in `other`; the two have one type.
    ///
    /// # Errors
    /// [`CallError::Signature`] when a memory has no such property or the types differ.
    pub fn copy_from(self, property: &Property, other: View<'_>, other_property: &Property) -> Result<(), CallError> {
        let (to, from) = self.both(property, other, other_property)?;
        to.copy_from(from);
        Ok(())
    }

    /// Whether the two values are equal; the two properties have one type.
    ///
    /// # Errors
    /// [`CallError::Signature`] when a memory has no such property or the types differ.
    #[inline]
    pub fn equal(self, property: &Property, other: View<'_>, other_property: &Property) -> Result<bool, CallError> {
        let (one, two) = self.both(property, other, other_property)?;
        Ok(one.as_ptr().equal(two))
    }

    /// Whether the memory is laid out as this very schema says.
    #[inline]
    pub(crate) fn is_of(self, schema: &Schema) -> bool {
        std::ptr::eq(self.schema, schema)
    }

    /// Every reference in all the properties that keeps an object alive, none left out.
    pub fn objects(self) -> Vec<ObjectHandle> {
        if self.schema.references.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.each_reference(|object| found.push(object));
        found
    }

    /// Shows `visit` every reference in all the properties that keeps an object alive, none left out. `visit` does not write them.
    #[inline]
    pub(super) fn each_reference(self, mut visit: impl FnMut(ObjectHandle)) {
        for offset in self.schema.references.direct() {
            let at = self.base.wrapping_add(*offset as usize).cast::<ObjectHandle>();
            // SAFETY: `from_raw` was promised a value of each field's type, and its kind says that a handle lies there.
            visit(unsafe { at.read() });
        }
        for (offset, ty) in self.schema.references.deep() {
            // SAFETY: `from_raw` was promised a value of each field's type, and its kind says that one of this type lies there.
            unsafe { Ptr::new(self.base.wrapping_add(*offset as usize), ty) }.visit_objects(&mut visit);
        }
    }

    /// Replaces references of `old` to objects, wherever they stand in the property, by those of `new` beside them.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property.
    pub fn replace_objects(self, property: &Property, pairs: &[(ObjectHandle, ObjectHandle)]) -> Result<(), CallError> {
        let mut map = |object| pairs.iter().find(|(old, _)| *old == object).map_or(object, |(_, new)| *new);
        self.ptr_mut(property)?.map_objects(&mut map);
        Ok(())
    }

    /// By what a delegate is known while it is called; see [`PtrMut::delegate_mark`].
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property.
    pub(super) fn delegate_mark(
        self,
        property: &Property,
        fresh: impl FnOnce() -> Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, CallError> {
        Ok(self.ptr_mut(property)?.delegate_mark(fresh))
    }

    /// Makes the container in a property as old as if it had changed so many times. For tests of the oldest.
    ///
    /// # Errors
    /// [`CallError::Signature`] when this memory has no such property, or it holds no row.
    pub fn age(self, property: &Property, epoch: u64) -> Result<(), CallError> {
        if containers::age(self.ptr_mut(property)?, epoch) {
            return Ok(());
        }
        let (found, wanted) = (property.ty.to_string(), "an array, a set or a map".to_owned());
        Err(CallError::Signature { name: member(property), found, wanted })
    }

    /// Overwrites all of the memory with that of `other`, where both have the very same schema and no value in it owns
    /// memory of its own. Whether they do; nothing was written otherwise.
    pub(super) fn copy_bytes(self, other: View<'_>) -> bool {
        if !std::ptr::eq(self.schema, other.schema) || !self.schema.owning.is_empty() {
            return false;
        }
        // SAFETY: `from_raw` was promised so much memory on both sides, each for one thing; none of their values owns
        // memory, so none is lost or shared.
        unsafe { self.base.copy_from(other.base, self.schema.size) };
        true
    }

    /// Whether any property may name an object.
    pub(super) fn names_objects(self) -> bool {
        self.schema.names_objects
    }

    /// Feeds all values to `hasher`: equal contents feed the same.
    pub fn hash_into(self, hasher: &mut dyn Hasher) {
        for (offset, ty) in &self.schema.fields {
            // SAFETY: `from_raw` was promised a value of each field's type; hashing writes none of them.
            unsafe { Ptr::new(self.base.wrapping_add(*offset), ty) }.hash_into(hasher);
        }
    }

    #[inline]
    fn at(self, property: &Property) -> Result<*mut u8, CallError> {
        if self.schema.has(property) {
            Ok(self.base.wrapping_add(property.offset as usize))
        } else {
            Err(CallError::Signature {
                name: member(property),
                found: "no such property here".to_owned(),
                wanted: property.ty.to_string(),
            })
        }
    }

    #[inline]
    fn ptr_mut<'p>(self, property: &'p Property) -> Result<PtrMut<'p>, CallError>
    where
        'a: 'p,
    {
        // SAFETY: `from_raw` was promised a value of each field's type, and `at` found the field. Each verb of a view is done with
        // it before the next begins.
        self.at(property).map(|at| unsafe { PtrMut::new(at, &property.ty) })
    }

    /// Two values of one type, which are the same or apart.
    #[inline]
    fn both<'p>(self, one: &'p Property, other: View<'p>, two: &Property) -> Result<(PtrMut<'p>, Ptr<'p>), CallError>
    where
        'a: 'p,
    {
        if one.ty != two.ty {
            return Err(CallError::Signature {
                name: member(one),
                found: one.ty.to_string(),
                wanted: two.ty.to_string(),
            });
        }
        let (to, from) = (self.ptr_mut(one)?, other.at(two)?);
        // SAFETY: `from_raw` was promised a value of each field's type, `at` found the field, and its type is that of the other,
        // as was just compared. Each verb of a view is done with it before the next begins.
        Ok((to, unsafe { Ptr::new(from, &one.ty) }))
    }

    /// A property by its Rust type.
    #[inline]
    fn typed<'p, T: FrameValue>(self, property: &'p Property) -> Result<Mut<'p, T::Kind>, CallError>
    where
        'a: 'p,
    {
        let Some(of) = T::of(&property.ty) else {
            return Err(CallError::Signature {
                name: member(property),
                found: property.ty.in_full(),
                wanted: T::describe().into_owned(),
            });
        };
        // SAFETY: `from_raw` was promised a value of each field's type, `at` found the field, and `of` is what its type carries.
        // Each verb of a view is done with it before the next begins.
        self.at(property).map(|at| unsafe { Mut::new(at, of) })
    }
}

impl Storage {
    /// Memory in which every property has the zero value of its type.
    pub(crate) fn new(schema: Rc<Schema>) -> Self {
        Self { start: schema.pool.take(), schema }
    }

    /// Its contents.
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        // SAFETY: the piece has the schema's size and alignment and started as zeros, which is a value of every type;
        // it is kept as long as `self`, and neither of them nor the view leaves its thread.
        unsafe { View::from_raw(self.start.as_ptr(), &self.schema) }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let base = self.start.as_ptr();
        // SAFETY: the piece holds a value of each field's type, `new` took it from this pool, views of it have ended, and it is given
        // back this once.
        unsafe {
            for at in &self.schema.owning {
                let (offset, ty) = &self.schema.fields[*at];
                PtrMut::new(base.wrapping_add(*offset), ty).destroy();
            }
            self.schema.pool.give_back(self.start);
        }
    }
}

fn member(property: &Property) -> String {
    format!("{}:{}", property.owner, property.text)
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::border::CallError;

    use super::Schema;
    use crate::body::Body;
    use crate::decl::PropertyDecl;
    use crate::property::Property;
    use crate::property::PropertyType;
    use crate::testing::{declare, dynamic, world};
    use crate::value::Value;

    fn body(properties: &[PropertyDecl]) -> Body {
        let class = declare(&world(), [dynamic("Cube", "/Script/Engine.Object", properties)]).remove(0);
        Body::new(&class)
    }

    #[test]
    fn a_property_of_another_layout_is_refused() {
        let one = body(&[PropertyDecl::new("a", PropertyKind::U64)]);
        let other = body(&[PropertyDecl::new("a", PropertyKind::U8), PropertyDecl::new("b", PropertyKind::STRING)]);
        for property in &other.class().properties {
            assert!(matches!(one.view().read(property), Err(CallError::Signature { .. })), "{}", property.text);
            assert!(one.view().set(property, 1u8).is_err());
        }
        let inside = Property { offset: 4, ty: PropertyType::U32, ..Property::clone(&one.class().properties[0]) };
        assert!(one.view().read(&inside).is_err(), "a place inside of a property is none");
    }

    #[test]
    fn values_are_copied_and_compared_between_layouts() {
        let text = PropertyDecl::new("label", PropertyKind::STRING);
        let one = body(std::slice::from_ref(&text));
        let other = body(&[PropertyDecl::new("pad", PropertyKind::U64), text]);
        let (from, to) = (&one.class().properties[0], &other.class().properties[1]);
        one.view().set(from, "words".to_owned()).unwrap();
        assert_eq!(other.view().equal(to, one.view(), from), Ok(false));
        other.view().copy_from(to, one.view(), from).unwrap();
        drop(one);
        assert_eq!(other.view().read(to), Ok(Value::Text("words".to_owned())));
        assert!(other.view().copy_from(&other.class().properties[0], other.view(), to).is_err());
    }

    #[test]
    #[should_panic(expected = "is misplaced")]
    fn fields_that_overlap_are_no_schema() {
        Schema::new(16, 8, [(0, PropertyType::U64), (4, PropertyType::U32)]);
    }

    #[test]
    #[should_panic(expected = "behind the end")]
    fn fields_that_stick_out_are_no_schema() {
        Schema::new(4, 8, [(0, PropertyType::U64)]);
    }
}
