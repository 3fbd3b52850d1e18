//! Rows of values in host memory: the address of each value, and how a row is copied out and lent.
#![expect(unsafe_code, reason = "declares the traits that say how containers lie in host memory")]

use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_rt::CallError;

use crate::host::lending::{self, Access, Lending};
use crate::ptr::{Ptr, PtrMut};
use crate::{Plain, Value};

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

/// A row that was read: values of type `T`, valid until the host is called.
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
    /// Reads the row of a container.
    #[inline]
    pub(crate) fn of<P: Part<Item = T>>(whole: Ptr<'a, P::Whole>) -> Self {
        let ArrayRaw { data, len, .. } = P::row(whole.read());
        Self { data: data.wrapping_add(P::OFFSET), len: len as usize, stride: P::STRIDE, of: PhantomData }
    }

    /// The value at `index`, if there is one.
    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<PtrMut<'a, T>> {
        // SAFETY: `Part`, by which alone a row is made, promises that the row of a live container has more than `index` values so
        // far apart.
        (index < self.len).then(|| unsafe { PtrMut::new(self.data.add(index * self.stride).cast()) })
    }

    /// Copies of all values.
    pub(crate) fn load(self) -> Vec<T> {
        lending::allows(Access::Read, "copying a container").unwrap_or_else(|error| alcedo_rt::fail(error));
        // Copying a value changes no row that lies anywhere else.
        (0..self.len).filter_map(|index| Some(T::load(self.get(index)?.as_ptr()))).collect()
    }
}

impl<'a, A: Value> Ptr<'a, A> {
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
        let _lending = Lending::begin(Access::Read)?;
        if len == 0 {
            return Ok(code(&[]));
        }
        // SAFETY: the row has `len` values, which lie as they do in Rust by the promise of `Plain`; until `_lending` is dropped,
        // writes are refused.
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
        let _lending = Lending::begin(Access::Write)?;
        if len == 0 {
            return Ok(code(&mut []));
        }
        // SAFETY: the row has `len` values, which may be written and lie as they do in Rust by the promise of `Plain`; until
        // `_lending` is dropped, reads and writes are refused.
        Ok(code(unsafe { core::slice::from_raw_parts_mut(data.cast(), len) }))
    }
}
