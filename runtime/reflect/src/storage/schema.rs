//! Layout of memory with values. The unsafe code of `storage.rs` relies on the checks of [`Schema::new`].

use std::rc::Rc;

use alcedo_base::boundary::{CallError, mismatch};

use crate::pool::Pool;
use crate::property::{Property, PropertyType};
use crate::references::References;

/// Memory layout of the objects of a class, or of the parameter blocks of a function.
#[derive(Debug)]
pub struct Schema {
    pub(super) size: usize,
    align: usize,
    /// Offsets and types of the fields, sorted by offset. Fields do not overlap.
    pub(super) fields: Vec<(usize, PropertyType)>,
    /// Indices of the fields whose values own memory.
    pub(super) owning: Box<[usize]>,
    pub(super) references: References,
    /// Indices of the fields whose values can contain handles of objects, as strong or weak references.
    pub(super) naming: Box<[usize]>,
    /// Pool from which memory for values is allocated. Only schemas with equal layouts share a pool.
    pub(super) pool: Rc<Pool>,
}

impl Schema {
    /// Creates a schema from the offsets and types of its fields.
    ///
    /// # Panics
    /// Panics if a field is misaligned or exceeds the size, or if two fields overlap. All unsafe code relies on this check.
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
        assert!(end <= size, "fields end at {end}, past the end of the memory at {size}");
        let which = |has: fn(&PropertyType) -> bool| (0..fields.len()).filter(|at| has(&fields[*at].1)).collect();
        let (owning, naming) = (which(PropertyType::owns_memory), which(PropertyType::names_objects));
        let references = References::of(fields.iter().map(|(offset, ty)| (*offset, ty)));
        Self { size, align, fields, owning, references, naming, pool: Rc::new(Pool::new(size, align)) }
    }

    /// Uses the pool of `other` if both schemas have equal layouts. Memory of one schema may then be used with the other schema.
    pub(crate) fn with_pool_of(self, other: &Self) -> Self {
        let is_same = (self.size, self.align) == (other.size, other.align) && self.fields == other.fields;
        if is_same { Self { pool: Rc::clone(&other.pool), ..self } } else { self }
    }

    /// Checks if both schemas have equal layouts and share one pool. Memory of one schema may then be used with the other schema.
    #[inline]
    pub(crate) fn shares_pool(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.pool, &other.pool)
    }

    /// Returns the size in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the alignment in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        self.align
    }

    /// Checks if a strong reference is stored at the offset.
    #[inline]
    pub(crate) fn has_reference(&self, offset: u32) -> bool {
        self.references.direct().contains(&offset)
    }

    #[inline]
    fn has(&self, property: &Property) -> bool {
        let offset = property.offset as usize;
        let first = self.fields.partition_point(|(at, _)| *at < offset);
        self.fields[first..].iter().take_while(|(at, _)| *at == offset).any(|(_, ty)| *ty == property.ty)
    }

    /// Returns the offset of a property's value.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if the schema lacks the property.
    #[inline]
    pub(super) fn offset_of(&self, property: &Property) -> Result<usize, CallError> {
        if self.has(property) {
            Ok(property.offset as usize)
        } else {
            Err(mismatch(&property.path(), &"no such property here", &property.ty))
        }
    }
}
