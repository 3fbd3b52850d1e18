//! Rows of arrays, sets, maps and delegate lists. A row holds one element, or a key with its value. The rows of a container are contiguous
//! in a separate allocation. Values of all kinds can be moved as bytes. The pointer to a container carries the types of its values. Each
//! move or destruction of a row increments the container's epoch, up to a maximum. Callers compare epochs to detect stale addresses.
#![expect(unsafe_code, reason = "the rows of containers are raw memory that plugins read too")]

mod error;
mod maps;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::num::NonZeroU32;
use std::ops::Range;
use std::ptr::NonNull;

use alcedo_abi::value::{ArrayRaw, MapRaw, SparseRaw};
use hashbrown::HashTable;

use crate::block;
use crate::held;
use crate::nested::Row;
use crate::property::{Property, PropertyType};
use crate::values::array::Array;
use crate::values::map::Map;
use crate::values::multicast::Multicast;
use crate::values::ptr::{Begins, Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;
use crate::values::{InMemory, Kind};

pub use error::ContainerError;
pub use maps::{keyed, keyed_mut};

/// Kind of property whose values begin with an [`ArrayRaw`].
pub(crate) trait Rowed: Kind<Raw: Begins<ArrayRaw>> {
    /// Returns the layout of a row. Unsafe code relies on this layout.
    fn row(of: &Self::Of) -> Row<'_>;
}

macro_rules! rowed {
    ($($kind:ty),*) => {$(
        impl Rowed for $kind {
            #[inline]
            fn row(of: &<$kind as Kind>::Of) -> Row<'_> {
                of.row()
            }
        }
    )*};
}
rowed! { Array, Set, Multicast, Map }

/// Read access to the rows of a container.
///
/// # Examples
/// ```
/// use alcedo_reflect::containers::array_ref;
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::types::Types;
/// use alcedo_reflect::value::Value;
///
/// let ty = PropertyType::parse("Array(i32)", &Types::default()).expect("a type");
/// let mut scores = OwnedValue::zero(ty);
/// scores.write(&Value::Array(vec![Value::I32(3), Value::I32(5)])).expect("an array");
/// let rows = array_ref(scores.as_ptr()).expect("an array");
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows.get(1).map(|row| row.read()), Some(Value::I32(5)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    at: *const ArrayRaw,
    row: Row<'a>,
}

/// Write access to the rows of a container.
///
/// # Examples
/// ```
/// use alcedo_reflect::containers::array;
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::types::Types;
/// use alcedo_reflect::value::Value;
///
/// let ty = PropertyType::parse("Array(i32)", &Types::default()).expect("a type");
/// let mut scores = OwnedValue::zero(ty);
/// let mut rows = array(scores.as_mut()).expect("an array");
/// rows.splice(0, 0, 1).expect("memory for a row");
/// rows.get_mut(0).expect("inserted").write(&Value::I32(8)).expect("an i32");
/// assert_eq!(scores.read(), Value::Array(vec![Value::I32(8)]));
/// ```
#[derive(Debug)]
pub struct RowsMut<'a> {
    at: *mut ArrayRaw,
    row: Row<'a>,
}

/// Maps the hash of a key to the row of the key. The table stores each hash and never computes a hash again, because a key may have changed
/// in its row.
type Index = HashTable<Found>;

#[derive(Clone, Copy, Debug)]
struct Found {
    hash: u64,
    at: u32,
}

/// Rows of a container. Valid until a row is moved or destroyed.
#[derive(Clone, Copy)]
struct Span<'a> {
    data: *mut u8,
    len: u32,
    row: Row<'a>,
}

/// Pointer to an existing row. Created only by [`Span`].
#[derive(Clone, Copy)]
struct RowPtr<'a> {
    at: *mut u8,
    row: Row<'a>,
}

/// Read access to a set or map.
///
/// # Examples
/// ```
/// use alcedo_reflect::containers::keyed;
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::types::Types;
/// use alcedo_reflect::value::Value;
///
/// let ty = PropertyType::parse("Set(i32)", &Types::default()).expect("a type");
/// let mut scores = OwnedValue::zero(ty);
/// scores.write(&Value::Set(vec![Value::I32(3), Value::I32(5)])).expect("a set");
/// assert_eq!(keyed(scores.as_ptr()).expect("a set").len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keyed<'a> {
    at: *const MapRaw,
    row: Row<'a>,
}

/// Write access to a set or map.
///
/// # Examples
/// ```
/// use alcedo_reflect::containers::keyed_mut;
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::types::Types;
/// use alcedo_reflect::value::Value;
///
/// let ty = PropertyType::parse("Set(i32)", &Types::default()).expect("a type");
/// let mut scores = OwnedValue::zero(ty);
/// scores.write(&Value::Set(vec![Value::I32(3), Value::I32(5)])).expect("a set");
/// keyed_mut(scores.as_mut()).expect("a set").clear();
/// assert_eq!(scores.read(), Value::Set(Vec::new()));
/// ```
#[derive(Debug)]
pub struct KeyedMut<'a> {
    at: *mut MapRaw,
    row: Row<'a>,
}

/// Returns the rows of `value`. Returns `None` if `value` is not an array.
#[inline]
pub fn array(value: PtrMut<'_>) -> Option<RowsMut<'_>> {
    value.to::<Array>().map(Mut::rows)
}

/// Returns the rows of `value` for read access. Returns `None` if `value` is not an array.
#[inline]
pub fn array_ref(value: Ptr<'_>) -> Option<Rows<'_>> {
    value.to::<Array>().map(Ref::rows)
}

/// Sets the epoch of a container, to test epoch saturation. Returns `false` if the value is not a container.
pub(crate) fn age(container: PtrMut<'_>, epoch: u64) -> bool {
    let array = container.try_to::<Array>().map(Mut::rows);
    let rows = array.or_else(|at| at.try_to::<Set>().map(Mut::rows)).or_else(|at| at.try_to::<Map>().map(Mut::rows));
    rows.map(|mut rows| rows.set_raw(ArrayRaw { epoch, ..rows.raw() })).is_ok()
}

impl<'a, K: Rowed> Ref<'a, K> {
    #[inline]
    pub(crate) fn rows(self) -> Rows<'a> {
        Rows { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a, K: Rowed> Mut<'a, K> {
    #[inline]
    pub(crate) fn rows(self) -> RowsMut<'a> {
        RowsMut { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a> Rows<'a> {
    #[inline]
    fn raw(self) -> ArrayRaw {
        // SAFETY: only this module creates rows, from a pointer whose creator promised a value of its type.
        // `Begins` promises that the value begins with an `ArrayRaw`.
        unsafe { self.at.read() }
    }

    /// Returns the number of rows.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "callers need the number")]
    pub fn len(self) -> u32 {
        self.raw().len
    }

    /// Returns the element in row `at` of an array or set, or the key in row `at` of a map. Returns `None` if the row does not exist.
    #[inline]
    pub fn get(self, at: u32) -> Option<Ptr<'a>> {
        self.span().get(at).map(RowPtr::key)
    }

    /// Returns the sum of a numeric `field` over all rows of an array of structs. Enum values are summed by their discriminants. Returns
    /// `None` if the field is not numeric, or if `field` is not a member of the struct type. Members are compared by address.
    pub fn sum(self, field: &Property) -> Option<f64> {
        let PropertyType::Struct(of) = self.row.key else { return None };
        if !of.fields().iter().any(|known| std::ptr::eq(known, field)) {
            return None;
        }
        let number = match &field.ty {
            PropertyType::Enum(of) => of.underlying(),
            ty => ty,
        };
        let (raw, size) = (self.raw(), self.row.size);
        let first = raw.data.wrapping_add(field.offset as usize).cast_const();
        macro_rules! sum {
            ($($kind:ident: $rust:ty),*) => {
                match number {
                    $(PropertyType::$kind => (0..raw.len as usize)
                        // SAFETY: the container has `len` rows, each a struct with a number of this type at the offset of the field.
                        .map(|at| unsafe { first.wrapping_add(at * size).cast::<$rust>().read() } as f64)
                        .sum::<f64>(),)*
                    _ => return None,
                }
            };
        }
        // An `f64` holds integers up to 2^53 exactly.
        Some(sum!(U8: u8, U16: u16, U32: u32, U64: u64, I8: i8, I16: i16, I32: i32, I64: i64, F32: f32, F64: f64) + 0.0)
    }

    #[inline]
    fn span(self) -> Span<'a> {
        let ArrayRaw { data, len, .. } = self.raw();
        Span { data, len, row: self.row }
    }

    /// Iterates over the values of an array or set, or the keys of a map.
    #[inline]
    pub(crate) fn keys(self) -> impl Iterator<Item = Ptr<'a>> {
        self.span().iter().map(RowPtr::key)
    }

    /// Iterates over the keys with their values. In arrays and sets the value is `None`.
    #[inline]
    pub(crate) fn entries(self) -> impl Iterator<Item = (Ptr<'a>, Option<Ptr<'a>>)> {
        self.span().iter().map(RowPtr::parts)
    }

    /// Variant of [`Rows::keys`] with pointers of kind `K`. Returns `None` if the keys are not of kind `K`.
    #[inline]
    pub(crate) fn keys_of<K: InMemory>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        self.all_of(false)
    }

    /// Iterates over the values of a map. Returns `None` if the values are not of kind `K`, or the container is not a map.
    #[inline]
    pub(crate) fn values_of<K: InMemory>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        self.all_of(true)
    }

    /// Iterates over all values if `are_values` is true, otherwise over all keys. Returns `None` if the values or keys are not of kind `K`.
    /// Also returns `None` if values are requested and the container is not a map.
    #[inline]
    fn all_of<K: InMemory>(self, are_values: bool) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        let (ty, at) = if are_values { self.row.value? } else { (self.row.key, 0) };
        let of = K::carried(ty)?;
        // SAFETY: each of the `len` rows has a key or a value of that kind at this offset.
        Some(self.span().iter().map(move |row| unsafe { Ref::new(row.at.wrapping_add(at), of) }))
    }
}

impl RowsMut<'_> {
    #[inline]
    fn as_rows(&self) -> Rows<'_> {
        Rows { at: self.at, row: self.row }
    }

    #[inline]
    fn raw(&self) -> ArrayRaw {
        self.as_rows().raw()
    }

    /// Writes the `ArrayRaw` header of the container. Later accesses to the rows rely on this header.
    #[inline]
    fn set_raw(&mut self, raw: ArrayRaw) {
        // SAFETY: only this module creates rows, from a pointer whose creator promised a writable value of its type.
        // `Begins` promises that the value begins with an `ArrayRaw`.
        unsafe { self.at.write(raw) };
    }

    /// Removes `remove` rows, starting at row `at`. Inserts `insert` zeroed rows at this position.
    ///
    /// # Errors
    /// Fails if the range is out of bounds or memory is exhausted. The container is then unchanged.
    pub fn splice(&mut self, at: u32, remove: u32, insert: u32) -> Result<(), ContainerError> {
        let old = self.raw();
        let Some(tail) = at.checked_add(remove).and_then(|end| old.len.checked_sub(end)) else {
            return Err(ContainerError::OutOfRange { at, count: remove, len: old.len });
        };
        let kept = old.len - remove;
        let len = kept.checked_add(insert).ok_or(ContainerError::TooLong { len: kept, more: insert })?;
        if len > old.capacity {
            self.grow(len)?;
        }
        self.end(at..at + remove);
        let (moved, rows, row) = (self.raw(), self.as_rows().span(), self.row);
        let moves = tail != 0 && remove != insert;
        // SAFETY: capacity for `len` rows is reserved, and the check above proves that `tail` rows follow the removed rows.
        // Source and target of the tail may overlap. Overwritten rows were destroyed or moved.
        unsafe {
            if moves {
                rows.address(at + insert).copy_from(rows.address(at + remove), tail as usize * row.size);
            }
            if insert != 0 {
                rows.address(at).write_bytes(0, insert as usize * row.size);
            }
        }
        let epoch = if moves || remove != 0 { moved.epoch.saturating_add(1) } else { moved.epoch };
        self.set_raw(ArrayRaw { len, epoch, ..moved });
        Ok(())
    }

    /// Returns the number of rows.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "callers need the number")]
    pub fn len(&self) -> u32 {
        self.as_rows().len()
    }

    /// Returns the value in row `at` of an array. Returns `None` if the row does not exist.
    #[inline]
    pub fn get_mut(&mut self, at: u32) -> Option<PtrMut<'_>> {
        self.as_rows().span().get(at).map(|row| row.parts_mut().0)
    }

    /// Swaps the values in two rows of an array. Returns `false` if a row does not exist.
    pub fn swap(&mut self, one: u32, two: u32) -> bool {
        let (raw, rows) = (self.raw(), self.as_rows().span());
        let (Some(first), Some(second)) = (rows.get(one), rows.get(two)) else { return false };
        if one != two {
            // SAFETY: both rows exist and do not overlap, and values may be moved as bytes.
            unsafe { std::ptr::swap_nonoverlapping(first.at, second.at, self.row.size) };
            self.set_raw(ArrayRaw { epoch: raw.epoch.saturating_add(1), ..raw });
        }
        true
    }

    /// Reserves capacity for `more` additional rows.
    ///
    /// # Errors
    /// Fails if memory is exhausted, or if the row count would exceed the maximum. The container is then unchanged.
    pub fn reserve(&mut self, more: u32) -> Result<(), ContainerError> {
        let ArrayRaw { len, capacity, .. } = self.raw();
        let new_len = len.checked_add(more).ok_or(ContainerError::TooLong { len, more })?;
        if new_len <= capacity { Ok(()) } else { self.grow(new_len) }
    }

    /// Destroys all rows and keeps the capacity.
    pub(crate) fn clear(&mut self) {
        // This call cannot fail, because the range is in bounds and no row is added.
        let _done = self.splice(0, self.raw().len, 0);
    }

    /// Replaces all rows with `count` zeroed rows.
    pub(crate) fn refill(&mut self, count: usize) {
        let count = u32::try_from(count).expect("the caller checked the number of rows");
        self.clear();
        self.splice(0, 0, count).expect("memory for a second copy");
    }

    /// Replaces all rows with copies of the rows of `from`. The rows of both containers must have equal types.
    pub(crate) fn copy_from(&mut self, from: Rows<'_>) {
        let (row, source) = (self.row, from.raw());
        self.clear();
        self.make_exactly(source.len);
        let fresh = self.raw();
        if source.len == 0 {
            return;
        }
        let owns = owns_memory(row);
        // SAFETY: `make_exactly` reserved room for `source.len` rows, which does not overlap the source rows.
        // Zeros are a value of every type. Values that own no memory may be copied as bytes.
        unsafe {
            match owns {
                true => fresh.data.write_bytes(0, row.size * source.len as usize),
                false => fresh.data.copy_from_nonoverlapping(source.data, row.size * source.len as usize),
            }
        }
        self.set_raw(ArrayRaw { len: source.len, ..fresh });
        if owns {
            self.as_rows().span().iter().zip(from.span().iter()).for_each(|(to, from)| to.copy_from(from));
        }
    }

    /// Destroys all rows and frees their memory. Keeps the epoch.
    pub(crate) fn destroy(&mut self) {
        self.clear();
        self.free();
    }

    /// Iterates over the values of an array or set, or the keys of a map. If keys change, the caller must rebuild the hash table of the set
    /// or map.
    #[inline]
    pub(crate) fn keys(&mut self) -> impl Iterator<Item = PtrMut<'_>> {
        self.as_rows().span().iter().map(|row| row.parts_mut().0)
    }

    /// Iterates over the keys with their values. In arrays and sets the value is `None`. If keys change, the caller must rebuild the hash
    /// table of the set or map.
    #[inline]
    pub(crate) fn entries(&mut self) -> impl Iterator<Item = (PtrMut<'_>, Option<PtrMut<'_>>)> {
        self.as_rows().span().iter().map(RowPtr::parts_mut)
    }

    /// Variant of [`RowsMut::keys`] with pointers of kind `K`. Returns `None` if the keys are not of kind `K`.
    #[inline]
    pub(crate) fn keys_of<K: InMemory>(&mut self) -> Option<impl Iterator<Item = Mut<'_, K>>> {
        let of = K::carried(self.row.key)?;
        // SAFETY: each of the `len` rows begins with a key of that kind, and the rows do not overlap.
        Some(self.as_rows().span().iter().map(move |row| unsafe { Mut::new(row.at, of) }))
    }

    /// Returns the id that identifies a delegate list during a call. If the list has no id, assigns the result of `fresh` as its id.
    pub(crate) fn mark(&mut self, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        let raw = self.raw();
        NonZeroU32::new(raw.reserved).or_else(|| {
            let fresh = fresh()?;
            self.set_raw(ArrayRaw { reserved: fresh.get(), ..raw });
            Some(fresh)
        })
    }

    /// Destroys the rows in the range `removed`, which frees the memory that their values own.
    fn end(&mut self, removed: Range<u32>) {
        if !removed.is_empty() && owns_memory(self.row) {
            let rows = self.as_rows().span();
            removed.filter_map(|at| rows.get(at)).for_each(RowPtr::destroy);
        }
    }

    /// Grows to the larger of `min_capacity` and twice the capacity. Repeated appends then have amortized constant cost.
    fn grow(&mut self, min_capacity: u32) -> Result<(), ContainerError> {
        let roomy = min_capacity.max(self.raw().capacity.saturating_mul(2)).max(4);
        // Twice the capacity may exceed the available memory or the maximum size, while `min_capacity` still fits.
        self.move_to(roomy).or_else(|_too_many| self.move_to(min_capacity))
    }

    /// Moves the rows to new memory for `capacity` rows. `capacity` must be at least the number of rows.
    fn move_to(&mut self, capacity: u32) -> Result<(), ContainerError> {
        let old = self.raw();
        let more = capacity - old.len;
        let data = take(self.row, capacity).ok_or(ContainerError::TooLong { len: old.len, more })?;
        let data = data.map_err(|layout| ContainerError::NoMemory { bytes: layout.size() })?.as_ptr();
        // SAFETY: the old memory has `len` rows, the new memory has room for them, and the two do not overlap.
        unsafe { data.copy_from_nonoverlapping(old.data, self.row.size * old.len as usize) };
        self.free();
        self.set_raw(ArrayRaw { data, capacity, epoch: old.epoch.saturating_add(1), ..old });
        Ok(())
    }

    /// Allocates memory for exactly `count` rows if the capacity is lower. The container must be empty.
    fn make_exactly(&mut self, count: u32) {
        let old = self.raw();
        if count <= old.capacity {
            return;
        }
        self.free();
        let data = take(self.row, count).expect("another container has as many");
        let data = data.unwrap_or_else(|layout| handle_alloc_error(layout)).as_ptr();
        self.set_raw(ArrayRaw { data, len: 0, capacity: count, epoch: old.epoch.saturating_add(1), ..old });
    }

    /// Frees the memory of the rows. All rows must already be destroyed or moved. Keeps the epoch.
    fn free(&mut self) {
        let old = self.raw();
        self.set_raw(ArrayRaw { epoch: old.epoch, reserved: old.reserved, ..ArrayRaw::EMPTY });
        if old.capacity != 0
            && let Some(layout) = layout(self.row, old.capacity)
        {
            block::count(-1);
            held::less(layout.size());
            // SAFETY: only `take` allocates memory of rows, with this layout for this capacity, and the header was reset above.
            unsafe { dealloc(old.data, layout) };
        }
    }
}

impl<'a> Keyed<'a> {
    #[inline]
    pub(crate) fn rows(self) -> Rows<'a> {
        Rows { at: self.at.cast(), row: self.row }
    }

    fn index(self) -> Option<&'a Index> {
        // SAFETY: only this module creates a `Keyed`, from a pointer whose creator promised a value without writes in this borrow.
        // Only `set_index` writes an index, which is always a table of rows.
        unsafe { (*self.at).index.cast::<Index>().as_ref() }
    }
}

impl KeyedMut<'_> {
    /// Returns the rows. Changes to the rows do not update the index.
    #[inline]
    pub(crate) fn rows(&mut self) -> RowsMut<'_> {
        RowsMut { at: self.at.cast(), row: self.row }
    }

    fn index(&mut self) -> Option<&mut Index> {
        // SAFETY: only this module creates a `KeyedMut`, from a pointer whose creator promised a value without other accesses.
        // Only `set_index` writes an index, which is always a table of rows without other references.
        unsafe { (*self.at).index.cast::<Index>().as_mut() }
    }

    fn set_index(&mut self, index: Option<Index>) {
        block::count(isize::from(index.is_some() as i8));
        let fresh = index.map_or(std::ptr::null_mut(), |index| Box::into_raw(Box::new(index)));
        // SAFETY: only this module creates a `KeyedMut`, from a pointer whose creator promised a writable value.
        // Only this function writes an index, always from a box of this type, and the map no longer refers to the old index.
        let old = unsafe {
            let old = std::mem::replace(&mut (*self.at).index, fresh.cast()).cast::<Index>();
            (!old.is_null()).then(|| Box::from_raw(old))
        };
        block::count(-isize::from(old.is_some() as i8));
    }
}

impl<'a, K: Kind<Raw = SparseRaw>> Ref<'a, K> {
    /// Returns the list of a sparse delegate, as kind `L`. Returns `None` if no list is allocated.
    pub(crate) fn list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(self) -> Option<Ref<'a, L>> {
        let list = self.raw().list;
        // SAFETY: the creator of the pointer promised a value whose list, if allocated, has the rows of its type.
        (!list.is_null()).then(|| unsafe { Ref::new(list.cast(), self.of()) })
    }
}

impl<K: Kind<Raw = SparseRaw>> Mut<'_, K> {
    /// Returns the list of a sparse delegate, as kind `L`. Allocates a missing list.
    pub(crate) fn list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) -> Mut<'_, L> {
        let mut list = self.raw().list;
        if list.is_null() {
            block::count(1);
            list = Box::into_raw(Box::new(ArrayRaw::EMPTY));
        }
        // SAFETY: the creator of the pointer promised a writable value.
        // The list of the value has the rows of its type and no other owner, or was allocated above.
        unsafe {
            self.at().cast::<SparseRaw>().write(SparseRaw { list });
            Mut::new(list.cast(), self.of())
        }
    }

    /// Returns the list of a sparse delegate, as kind `L`. Returns `None` if no list is allocated.
    pub(crate) fn list_if_any<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) -> Option<Mut<'_, L>> {
        (!self.raw().list.is_null()).then(|| self.list())
    }

    /// Destroys and frees the list of a sparse delegate.
    pub(crate) fn drop_list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) {
        let list = self.raw().list;
        if list.is_null() {
            return;
        }
        self.list::<L>().rows().destroy();
        self.zero();
        block::count(-1);
        // SAFETY: only `list` allocates a list, always from a box of this type, and the value no longer refers to that list.
        drop(unsafe { Box::from_raw(list) });
    }
}

impl<'a> Span<'a> {
    /// Returns the address of a row. The row does not have to exist.
    #[inline]
    fn address(self, at: u32) -> *mut u8 {
        self.data.wrapping_add(at as usize * self.row.size)
    }

    #[inline]
    fn get(self, at: u32) -> Option<RowPtr<'a>> {
        (at < self.len).then(|| RowPtr { at: self.address(at), row: self.row })
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = RowPtr<'a>> {
        (0..self.len).map(move |at| RowPtr { at: self.address(at), row: self.row })
    }
}

impl<'a> RowPtr<'a> {
    #[inline]
    fn parts(self) -> (Ptr<'a>, Option<Ptr<'a>>) {
        let Self { at, row } = self;
        // SAFETY: the row exists, begins with a key, and has its value, if there is one, at the value's offset.
        unsafe { (Ptr::new(at, row.key), row.value.map(|(value, offset)| Ptr::new(at.wrapping_add(offset), value))) }
    }

    #[inline]
    fn parts_mut(self) -> (PtrMut<'a>, Option<PtrMut<'a>>) {
        let Self { at, row } = self;
        let value = row.value.map(|(value, offset)| (at.wrapping_add(offset), value));
        // SAFETY: the row exists, begins with a key, and has its value, if any, at the value's offset. Key and value do not overlap.
        // This module writes only rows of writable containers, and uses one pointer to a row at a time.
        unsafe { (PtrMut::new(at, row.key), value.map(|(at, value)| PtrMut::new(at, value))) }
    }

    #[inline]
    fn key(self) -> Ptr<'a> {
        self.parts().0
    }

    fn destroy(self) {
        let (key, value) = self.parts_mut();
        key.destroy();
        if let Some(value) = value {
            value.destroy();
        }
    }

    /// Overwrites the row with a copy of `from`. The two rows must not overlap.
    fn copy_from(self, from: RowPtr<'_>) {
        let ((to_key, to_value), (from_key, from_value)) = (self.parts_mut(), from.parts());
        to_key.copy_from(from_key);
        if let Some((to, from)) = to_value.zip(from_value) {
            to.copy_from(from);
        }
    }

    /// Moves the row to the location of the destroyed row `ended`. The two rows must not overlap. The caller must not use the old location
    /// again.
    fn move_to(self, ended: RowPtr<'_>) {
        // SAFETY: both are rows of one container and do not overlap.
        unsafe { ended.at.copy_from_nonoverlapping(self.at, self.row.size) };
    }
}

pub(crate) fn owns_memory(row: Row<'_>) -> bool {
    row.key.owns_memory() || row.value.is_some_and(|(value, _)| value.owns_memory())
}

/// Returns the layout of `count` rows. The size is at least one byte. Rows of size zero (structs without fields) also need an address.
fn layout(row: Row<'_>, count: u32) -> Option<Layout> {
    Layout::from_size_align(row.size.checked_mul(count as usize)?.max(1), row.align).ok()
}

/// Allocates uninitialized memory for `count` rows. Returns the layout as the error if memory is exhausted. Returns `None` if the layout
/// would be too large.
fn take(row: Row<'_>, count: u32) -> Option<Result<NonNull<u8>, Layout>> {
    let layout = layout(row, count)?;
    // SAFETY: `layout` never returns a layout of size zero.
    let start = NonNull::new(unsafe { alloc(layout) });
    block::count(isize::from(start.is_some() as i8));
    held::more(start.map_or(0, |_| layout.size()));
    Some(start.ok_or(layout))
}

#[cfg(test)]
mod tests;
