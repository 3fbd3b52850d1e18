//! Rows of values in host memory: where each lies, how a row is copied out, and how it is overwritten.
#![expect(unsafe_code, reason = "declares the traits that say how containers lie in host memory")]

use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_rt::CallError;

use super::IntoHost;
use super::ptr::{Ptr, PtrMut, Row, Temp};
use crate::host::values::Place;
use crate::{Value, host};

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

impl<'a, A: Value> Ptr<'a, A> {
    /// The values of an array.
    #[inline]
    pub(crate) fn row(self) -> Row<'a, A::Item>
    where
        A: List,
    {
        Row::of::<Items<A>>(self)
    }

    /// The keys of a set or map.
    #[inline]
    pub(crate) fn keys(self) -> Row<'a, A::Key>
    where
        A: Keyed,
    {
        Row::of::<Keys<A>>(self)
    }

    /// The values of a map.
    #[inline]
    pub(crate) fn values(self) -> Row<'a, A::Item>
    where
        A: Mapped,
    {
        Row::of::<Values<A>>(self)
    }

    /// Copies of all entries.
    pub(crate) fn load_entries(self) -> Vec<(A::Key, A::Item)>
    where
        A: Mapped,
    {
        self.keys().load().into_iter().zip(self.values().load()).collect()
    }
}

/// What lies in a container, one after the other.
///
/// # Safety
/// The host has the row of each `Whole` at `ROW`. From one entry to the next lie `STRIDE` bytes, and each has an `Item` at `OFFSET`.
pub(crate) unsafe trait Part {
    /// The container.
    type Whole: Value;
    /// What is in it.
    type Item: Value;
    /// Bytes from the container to its row.
    const ROW: usize;
    /// Bytes from one entry to the next.
    const STRIDE: usize;
    /// Bytes from an entry to the item.
    const OFFSET: usize;
    /// Whether the container finds its entries by it.
    const IS_KEY: bool;

    /// The row of a container that was read.
    fn row(raw: <Self::Whole as Value>::Raw) -> ArrayRaw;
}

/// The values of an array.
pub(crate) struct Items<A>(PhantomData<A>);

// SAFETY: an array is its row, in which `List` promises what is.
unsafe impl<A: List> Part for Items<A> {
    type Whole = A;
    type Item = A::Item;
    const ROW: usize = 0;
    const STRIDE: usize = size_of::<<A::Item as Value>::Raw>();
    const OFFSET: usize = 0;
    const IS_KEY: bool = false;

    #[inline]
    fn row(raw: ArrayRaw) -> ArrayRaw {
        raw
    }
}

/// The keys of a set or map.
pub(crate) struct Keys<M>(PhantomData<M>);

// SAFETY: `Keyed` promises how keys lie, of which an entry has one at its start.
unsafe impl<M: Keyed> Part for Keys<M> {
    type Whole = M;
    type Item = M::Key;
    const ROW: usize = offset_of!(MapRaw, entries);
    const STRIDE: usize = M::STRIDE;
    const OFFSET: usize = 0;
    const IS_KEY: bool = true;

    #[inline]
    fn row(raw: MapRaw) -> ArrayRaw {
        raw.entries
    }
}

/// The values of a map.
pub(crate) struct Values<M>(PhantomData<M>);

// SAFETY: `Mapped` promises how values lie.
unsafe impl<M: Mapped> Part for Values<M> {
    type Whole = M;
    type Item = M::Item;
    const ROW: usize = offset_of!(MapRaw, entries);
    const STRIDE: usize = M::STRIDE;
    const OFFSET: usize = M::VALUE;
    const IS_KEY: bool = false;

    #[inline]
    fn row(raw: MapRaw) -> ArrayRaw {
        raw.entries
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
        // The host has just put a value of zero bytes there.
        value.move_to(&there);
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
            // The host has just put as many values of zero bytes there.
            value.move_to(&at);
        }
    }
    Ok(())
}
