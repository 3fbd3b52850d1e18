//! Rows of values in host memory: where each lies, how a row is copied out, and how it is overwritten.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_rt::CallError;

use super::lending::{self, Access, Lending};
use super::ptr::{Ptr, PtrMut, Temp};
use super::{IntoHost, ValidityToken};
use crate::host::values::Place;
use crate::{Plain, Value, host};

/// An entry of a set or map: the key and, for a map, its value at the next offset that suits it.
#[repr(C)]
struct Entry<K, V> {
    key: K,
    value: V,
}

/// An array by its type: `UArray<T>` or what std has for it.
///
/// # Safety
/// For the host it is an array of `Item`.
pub(crate) unsafe trait List: Value<Raw = ArrayRaw> {
    /// What is in it.
    type Item: Value;
}

/// A set or map by its type.
///
/// # Safety
/// For the host it is a set or map whose keys are of type `Key`, and `STRIDE` bytes lie from one entry to the next.
pub(crate) unsafe trait Keyed: Value<Raw = MapRaw> {
    /// What entries are found by.
    type Key: Value;
    /// Bytes from one entry to the next.
    const STRIDE: usize;
}

/// A map by its type.
///
/// # Safety
/// For the host it is a map whose values are of type `Item`.
pub(crate) unsafe trait Mapped: Keyed {
    /// What a key leads to.
    type Item: Value;
    /// Bytes from an entry to its value.
    const VALUE: usize = offset_of!(Entry<<Self::Key as Value>::Raw, <Self::Item as Value>::Raw>, value);
}

macro_rules! lists {
    ($([$($params:tt)*] $list:ty: $item:ty;)*) => {$(
        // SAFETY: the path of the type names the item.
        unsafe impl<$($params)*> List for $list {
            type Item = $item;
        }
    )*};
}
lists! {
    [T: Value] super::UArray<T>: T;
    [T: Value] Vec<T>: T;
}

macro_rules! keys {
    ($([$($params:tt)*] $set:ty: $key:ty;)*) => {$(
        // SAFETY: the path of the type names the key, and a set has nothing but keys in its row.
        unsafe impl<$($params)*> Keyed for $set {
            type Key = $key;
            const STRIDE: usize = size_of::<<$key as Value>::Raw>();
        }
    )*};
}
keys! {
    [T: Value] super::USet<T>: T;
    [T: Value + core::hash::Hash + Eq] std::collections::HashSet<T>: T;
    [T: Value + Ord] std::collections::BTreeSet<T>: T;
}

macro_rules! entries {
    ($([$($params:tt)*] $map:ty: $key:ty => $item:ty;)*) => {$(
        // SAFETY: the path of the type names the key, and entries lie as C lays them out.
        unsafe impl<$($params)*> Keyed for $map {
            type Key = $key;
            const STRIDE: usize = size_of::<Entry<<$key as Value>::Raw, <$item as Value>::Raw>>();
        }
        // SAFETY: the path of the type names the value.
        unsafe impl<$($params)*> Mapped for $map {
            type Item = $item;
        }
    )*};
}
entries! {
    [K: Value, V: Value] super::UMap<K, V>: K => V;
    [K: Value + core::hash::Hash + Eq, V: Value] std::collections::HashMap<K, V>: K => V;
    [K: Value + Ord, V: Value] std::collections::BTreeMap<K, V>: K => V;
}

/// What is read of a row in one go: values of type `T`, until control goes to the host.
pub(crate) struct Row<'a, T> {
    data: *mut u8,
    /// Values there are.
    pub(crate) len: usize,
    stride: usize,
    of: PhantomData<&'a fn() -> T>,
}

impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<'_, T> {}

impl<'a, T: Value> Row<'a, T> {
    /// # Safety
    /// `raw` is a live row, `stride` bytes from one entry to the next, with a value of type `T` at `offset` of each.
    #[inline]
    unsafe fn of(raw: *const ArrayRaw, stride: usize, offset: usize) -> Self {
        // SAFETY: promised by the caller; no reference is made, since the host changes the row.
        let (data, len) = unsafe { ((&raw const (*raw).data).read(), (&raw const (*raw).len).read()) };
        Self { data: data.wrapping_add(offset), len: len as usize, stride, of: PhantomData }
    }

    /// The value at `index`, if there is one.
    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<PtrMut<'a, T>> {
        // SAFETY: `of` was promised a live row, which has more than `index` values so far apart.
        (index < self.len).then(|| unsafe { PtrMut::new(self.data.add(index * self.stride).cast()) })
    }

    /// The value at `index`, if there is one, as the frame sees it.
    ///
    /// # Safety
    /// It is live as long as that token is good.
    #[inline]
    pub(crate) unsafe fn see<'f>(self, index: usize, token: impl FnOnce() -> ValidityToken<'f>) -> Option<T::Seen<'f>> {
        let at = self.get(index)?;
        // SAFETY: promised by the caller.
        Some(unsafe { T::see(at, token) })
    }

    /// Copies of all values.
    pub(crate) fn load(self) -> Vec<T> {
        lending::allows(Access::Read, "copying a container").unwrap_or_else(|error| alcedo_rt::fail(error));
        // Copying a value changes no row that lies anywhere else.
        (0..self.len).filter_map(|index| Some(T::load(self.get(index)?.as_ptr()))).collect()
    }
}

impl<'a, A: Value> Ptr<'a, A> {
    /// The values of an array.
    #[inline]
    pub(crate) fn row(self) -> Row<'a, A::Item>
    where
        A: List,
    {
        // SAFETY: the pointer was promised a live array, and `List` promises what is in it.
        unsafe { Row::of(self.at(), size_of::<<A::Item as Value>::Raw>(), 0) }
    }

    /// Lends the values while `code` runs.
    ///
    /// # Errors
    /// `LENT` inside of `lend_mut`.
    pub(crate) fn lend<R>(self, code: impl FnOnce(&[A::Item]) -> R) -> Result<R, CallError>
    where
        A: List,
        A::Item: Plain,
    {
        lending::allows(Access::Read, "lending a slice")?;
        let Row { data, len, .. } = self.row();
        let _lending = Lending::begin(Access::Read);
        if len == 0 {
            return Ok(code(&[]));
        }
        // SAFETY: the row has `len` values, which lie as they do in Rust by the promise of `Plain`; until `_lending` goes, whatever
        // could write is refused.
        Ok(code(unsafe { core::slice::from_raw_parts(data.cast(), len) }))
    }
}

impl<A: Value> PtrMut<'_, A> {
    /// Lends the values of an array to be changed while `code` runs.
    ///
    /// # Errors
    /// `LENT` inside of another such closure.
    pub(crate) fn lend_mut<R>(self, code: impl FnOnce(&mut [A::Item]) -> R) -> Result<R, CallError>
    where
        A: List,
        A::Item: Plain,
    {
        lending::allows(Access::Write, "lending a slice")?;
        let Row { data, len, .. } = self.as_ptr().row();
        let _lending = Lending::begin(Access::Write);
        if len == 0 {
            return Ok(code(&mut []));
        }
        // SAFETY: the row has `len` values, which may be written and lie as they do in Rust by the promise of `Plain`; until
        // `_lending` goes, whatever could read or write is refused.
        Ok(code(unsafe { core::slice::from_raw_parts_mut(data.cast(), len) }))
    }
}

impl<'a, M: Value> Ptr<'a, M> {
    /// Where the row of a set or map lies, with its counter.
    #[inline]
    pub(crate) fn entries_at(self) -> *const ArrayRaw
    where
        M: Keyed,
    {
        self.at().wrapping_byte_add(offset_of!(MapRaw, entries)).cast()
    }

    /// The keys of a set or map.
    #[inline]
    pub(crate) fn keys(self) -> Row<'a, M::Key>
    where
        M: Keyed,
    {
        // SAFETY: the pointer was promised a live set or map, and `Keyed` promises how its keys lie.
        unsafe { Row::of(self.entries_at(), M::STRIDE, 0) }
    }
}

impl<'a, M: Value> Ptr<'a, M> {
    /// The values of a map.
    #[inline]
    pub(crate) fn values(self) -> Row<'a, M::Item>
    where
        M: Mapped,
    {
        // SAFETY: the pointer was promised a live map, and `Mapped` promises how its values lie.
        unsafe { Row::of(self.entries_at(), M::STRIDE, M::VALUE) }
    }

    /// Copies of all entries.
    pub(crate) fn load_entries(self) -> Vec<(M::Key, M::Item)>
    where
        M: Mapped,
    {
        self.keys().load().into_iter().zip(self.values().load()).collect()
    }
}

/// A number of values as the host counts them.
pub(crate) fn count(count: usize) -> Result<u32, CallError> {
    u32::try_from(count)
        .map_err(|_too_many| CallError::other(format!("{count} values are more than a container holds")))
}

/// Overwrites an array: with all of the values, or, on an error, with none.
pub(crate) fn put_row<'a, A, G>(
    values: impl ExactSizeIterator<Item = &'a G>,
    target: PtrMut<'_, A>,
) -> Result<(), CallError>
where
    A: List,
    G: IntoHost<A::Item> + 'a,
{
    if target.as_ptr().len() == 0 {
        // Nothing can be lost, and no value that is given can lie in there.
        return fill_row(values, target);
    }
    let mut fresh = Temp::<A>::zeroed();
    fill_row(values, fresh.ptr_mut())?;
    // The host overwrites, so that its counter goes on.
    host::values::copy(&target.place(ObjectHandle::NONE)?, fresh.ptr())
}

/// Fills an empty array, which is empty again after an error.
fn fill_row<'a, A, G>(values: impl ExactSizeIterator<Item = &'a G>, target: PtrMut<'_, A>) -> Result<(), CallError>
where
    A: List,
    G: IntoHost<A::Item> + 'a,
{
    let array = target.place(ObjectHandle::NONE)?;
    let len = count(values.len())?;
    host::values::array_splice(&array, 0, 0, len)?;
    // The host has just put as many values there, and what is given cannot be inside of them.
    let row = target.as_ptr().row();
    for (index, value) in values.enumerate() {
        let Some(at) = row.get(index) else { break };
        if let Err(error) = value.put(at) {
            host::values::array_splice(&array, 0, len, 0)?;
            return Err(error);
        }
    }
    Ok(())
}

/// Overwrites a set.
pub(crate) fn put_keys<'a, S, G>(values: impl Iterator<Item = &'a G>, target: PtrMut<'_, S>) -> Result<(), CallError>
where
    S: Keyed,
    G: IntoHost<S::Key> + 'a,
{
    let set = target.place(ObjectHandle::NONE)?;
    let mut fresh = Temp::<S>::zeroed();
    let new = fresh.ptr_mut().into_place(ObjectHandle::NONE)?;
    for value in values {
        super::into_host::with_ptr(value, |key| host::values::map_insert(&new, key))?;
    }
    // The host overwrites, so that its counter goes on.
    host::values::copy(&set, fresh.ptr())
}

/// Overwrites a map.
pub(crate) fn put_entries<'a, M, G, H>(
    given: impl Iterator<Item = (&'a G, &'a H)>,
    target: PtrMut<'_, M>,
) -> Result<(), CallError>
where
    M: Mapped,
    G: IntoHost<M::Key> + 'a,
    H: IntoHost<M::Item> + 'a,
{
    let map = target.place(ObjectHandle::NONE)?;
    let mut fresh = Temp::<M>::zeroed();
    for (key, value) in given {
        put_entry(ObjectHandle::NONE, &fresh.ptr_mut(), key, value)?;
    }
    // The host overwrites, so that its counter goes on.
    host::values::copy(&map, fresh.ptr())
}

/// Puts one entry into a map: whether its key is new.
pub(crate) fn put_entry<M, G, H>(
    owner: ObjectHandle,
    target: &PtrMut<'_, M>,
    key: &G,
    value: &H,
) -> Result<bool, CallError>
where
    M: Mapped,
    G: IntoHost<M::Key> + ?Sized,
    H: IntoHost<M::Item> + ?Sized,
{
    // What is given may lie in this very map, so it is taken before anything moves. And what could still be refused is asked
    // for, too.
    let value = super::into_host::staged::<M::Item, H>(value)?;
    host::values::type_number::<M::Item>()?;
    let map = target.place(owner)?;
    super::into_host::with_ptr(key, |key| {
        insert(&map, key, value, |_at, there, value| {
            // That the map may be written was asked when the key was put in.
            host::values::copy(&there.into_place(ObjectHandle::NONE)?, value.ptr())
        })
    })
}

/// Puts a key into a map and, where it is new, its value; where it is not, `replace` is given where the key stands, the value that
/// is there, and the one to put.
pub(crate) fn insert<M: Mapped>(
    map: &Place<'_, M>,
    key: Ptr<'_, M::Key>,
    value: Temp<M::Item>,
    replace: impl FnOnce(u32, PtrMut<'_, M::Item>, Temp<M::Item>) -> Result<(), CallError>,
) -> Result<bool, CallError> {
    let (at, is_new) = host::values::map_insert(map, key)?;
    let there = map.ptr().values().get(at as usize).ok_or_else(|| CallError::other("a key that stands nowhere"))?;
    if is_new {
        // SAFETY: the host has just put a value of zero bytes there.
        unsafe { value.move_to(&there) };
    } else {
        replace(at, there, value)?;
    }
    Ok(is_new)
}

/// Puts values into an array at an index; those behind it move up.
pub(crate) fn insert_into<A: List>(
    array: &Place<'_, A>,
    index: usize,
    values: impl ExactSizeIterator<Item = Temp<A::Item>>,
) -> Result<(), CallError> {
    host::values::array_splice(array, count(index)?, 0, count(values.len())?)?;
    let row = array.ptr().row();
    for (more, value) in values.enumerate() {
        if let Some(at) = row.get(index + more) {
            // SAFETY: the host has just put as many values of zero bytes there.
            unsafe { value.move_to(&at) };
        }
    }
    Ok(())
}
