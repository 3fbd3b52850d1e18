//! Buffers of containers in host memory: the addresses of elements, views and copies of elements, and slices.
#![expect(unsafe_code, reason = "declares the traits that define the layout of containers in host memory")]

use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_rt::CallError;

use crate::host::lending::{self, Access, Lending};
use crate::ptr::{Ptr, PtrMut, Viewable};
use crate::validity_token::ValidityToken;
use crate::{Plain, Value};

/// Entry of a set or map: the key and, in a map, the value at the next aligned offset.
#[repr(C)]
struct Entry<K, V> {
    key: K,
    value: V,
}

/// Array type, such as `UArray<T>` or `Vec<T>`.
///
/// # Safety
/// The host treats the type as an array of `Item`.
pub(crate) unsafe trait List: Value<Raw = ArrayRaw> {
    type Item: Value;
}

/// Set type or map type.
///
/// # Safety
/// The host treats the type as a set or map with keys of type `Key` and entries of `STRIDE` bytes.
pub(crate) unsafe trait Keyed: Value<Raw = MapRaw> {
    type Key: Value;
    /// Number of bytes from one entry to the next.
    const STRIDE: usize;
}

/// Map type.
///
/// # Safety
/// The host treats the type as a map with values of type `Item`.
pub(crate) unsafe trait Mapped: Keyed {
    type Item: Value;
    /// Number of bytes from the start of an entry to its value.
    const VALUE: usize = offset_of!(Entry<<Self::Key as Value>::Raw, <Self::Item as Value>::Raw>, value);
}

macro_rules! lists {
    ($([$($params:tt)*] $list:ty: $item:ty;)*) => {$(
        // SAFETY: the host resolves the type by its path, which contains the type of the item.
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
        // SAFETY: the host resolves the type by its path, which contains the type of the key. Entries of a set consist only of the key.
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
        // SAFETY: the host resolves the type by its path, which contains the type of the key. Entries have the C layout of `Entry`.
        unsafe impl<$($params)*> Keyed for $map {
            type Key = $key;
            const STRIDE: usize = size_of::<Entry<<$key as Value>::Raw, <$item as Value>::Raw>>();
        }
        // SAFETY: the host resolves the type by its path, which contains the type of the value.
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
    #[inline]
    pub(crate) fn row(self) -> Row<'a, A::Item>
    where
        A: List,
    {
        Row::of::<Items<A>>(self)
    }

    #[inline]
    pub(crate) fn keys(self) -> Row<'a, A::Key>
    where
        A: Keyed,
    {
        Row::of::<Keys<A>>(self)
    }

    #[inline]
    pub(crate) fn values(self) -> Row<'a, A::Item>
    where
        A: Mapped,
    {
        Row::of::<Values<A>>(self)
    }

    /// Returns copies of the elements of an array.
    pub(crate) fn load_items(self) -> Vec<A::Item>
    where
        A: List,
    {
        self.apart(A::Item::COPY_RUNS_CODE, |array| array.row().load())
    }

    /// Returns copies of the keys of a set or map.
    pub(crate) fn load_keys(self) -> Vec<A::Key>
    where
        A: Keyed,
    {
        self.apart(A::Key::COPY_RUNS_CODE, |whole| whole.keys().load())
    }

    /// Returns copies of the entries of a map.
    pub(crate) fn load_entries(self) -> Vec<(A::Key, A::Item)>
    where
        A: Mapped,
    {
        self.apart(A::Key::COPY_RUNS_CODE || A::Item::COPY_RUNS_CODE, |map| {
            map.keys().load().into_iter().zip(map.values().load()).collect()
        })
    }
}

/// Kind of items in a container: the elements of an array, the keys of a set or map, or the values of a map.
///
/// # Safety
/// The host stores the buffer of each `Whole` at offset `ROW`. Entries have `STRIDE` bytes and an `Item` at `OFFSET`.
pub(crate) unsafe trait Part {
    type Whole: Value;
    type Item: Value;
    /// Offset of the buffer in the container, in bytes.
    const ROW: usize;
    /// Number of bytes from one entry to the next.
    const STRIDE: usize;
    /// Number of bytes from the start of an entry to the item.
    const OFFSET: usize;
    /// `true` for keys, which must not be overwritten in place.
    const IS_KEY: bool;

    /// Returns the buffer of the container `raw`.
    fn row(raw: <Self::Whole as Value>::Raw) -> ArrayRaw;
}

/// Selects the elements of an array.
pub(crate) struct Items<A>(PhantomData<A>);

// SAFETY: `List` promises an array, and an array consists only of its buffer.
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

/// Selects the keys of a set or map.
pub(crate) struct Keys<M>(PhantomData<M>);

// SAFETY: `Keyed` promises the layout of keys; each entry starts with its key.
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

/// Selects the values of a map.
pub(crate) struct Values<M>(PhantomData<M>);

// SAFETY: `Mapped` promises the layout of values.
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

/// Address and length of a container's buffer, with items of type `T`. Valid until the next host call.
pub(crate) struct Row<'a, T> {
    data: *mut u8,
    pub(crate) len: usize,
    stride: usize,
    of: PhantomData<&'a fn() -> T>,
}

alcedo_abi::copies! { impl[T] Row<'_, T>; }

impl<'a, T: Value> Row<'a, T> {
    #[inline]
    pub(crate) fn of<P: Part<Item = T>>(whole: Ptr<'a, P::Whole>) -> Self {
        let ArrayRaw { data, len, .. } = P::row(whole.read());
        Self { data: data.wrapping_add(P::OFFSET), len: len as usize, stride: P::STRIDE, of: PhantomData }
    }

    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<PtrMut<'a, T>> {
        // SAFETY: `Part`, the only source of a `Row`, promises `len` values at this stride in the buffer of a live container.
        (index < self.len).then(|| unsafe { PtrMut::new(self.data.add(index * self.stride).cast()) })
    }

    /// Copies the items. If copying an item runs code of the author, the buffer must belong to a container that this code cannot access.
    fn load(self) -> Vec<T> {
        lending::allows(Access::Read, "copying a container").unwrap_or_else(|error| alcedo_rt::fail(error));
        // `self` remains valid, because neither a copy nor code of the author changes the buffer.
        (0..self.len).filter_map(|index| Some(T::load(self.get(index)?.as_ptr()))).collect()
    }
}

/// Access to the elements of a container during the running call `'f`. Valid until the next host call.
pub(crate) struct Inside<'a, 'f, W: Value> {
    whole: Ptr<'a, W>,
    /// Token of the container.
    token: ValidityToken<'f>,
}

impl<'a, 'f, W: Value> Inside<'a, 'f, W> {
    #[inline]
    pub(crate) fn of(whole: Viewable<'a, W, impl FnOnce() -> ValidityToken<'f>>) -> Self {
        let (whole, token) = whole.into_parts();
        Self { whole: whole.into_ptr(), token: token() }
    }

    /// Returns a token that is valid while the elements remain at their addresses.
    #[inline]
    pub(crate) fn in_row<P: Part<Whole = W>>(&self) -> ValidityToken<'f> {
        let row = self.whole.at().wrapping_byte_add(P::ROW).cast();
        // SAFETY: the buffer is part of the container.
        // The creator of the `Viewable` promised that the container is live while its token is valid.
        // The epoch changes whenever an element moves.
        unsafe { self.token.in_row(row, &P::row(self.whole.read())) }
    }

    /// Returns the element at an index, or `None` past the end.
    #[inline]
    pub(crate) fn see<P: Part<Whole = W>>(&self, index: usize) -> Option<<P::Item as Value>::Seen<'f>> {
        let token = || if P::IS_KEY { self.in_row::<P>().as_key() } else { self.in_row::<P>() };
        // SAFETY: an element stays at its address as long as the token of this buffer is valid.
        Some(P::Item::see(unsafe { Viewable::new(Row::of::<P>(self.whole).get(index)?, token) }))
    }
}

impl<'a, A: Value> Ptr<'a, A> {
    /// Passes the values to `code` as a slice.
    ///
    /// # Errors
    /// Fails with `BORROWED` inside a closure of `with_slice_mut`.
    pub(crate) fn with_slice<R>(self, code: impl FnOnce(&[A::Item]) -> R) -> Result<R, CallError>
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
        // SAFETY: the buffer has `len` values, and `Plain` promises that the host stores them in the layout of the Rust type.
        // Writes are rejected until `_lending` is dropped.
        Ok(code(unsafe { core::slice::from_raw_parts(data.cast(), len) }))
    }
}

impl<A: Value> PtrMut<'_, A> {
    /// Passes the values of an array to `code` as a mutable slice.
    ///
    /// # Errors
    /// Fails with `BORROWED` inside a closure of `with_slice` or `with_slice_mut`.
    pub(crate) fn with_slice_mut<R>(self, code: impl FnOnce(&mut [A::Item]) -> R) -> Result<R, CallError>
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
        // SAFETY: the buffer has `len` writable values, and `Plain` promises that the host stores them in the layout of the Rust type.
        // Reads and writes are rejected until `_lending` is dropped.
        Ok(code(unsafe { core::slice::from_raw_parts_mut(data.cast(), len) }))
    }
}
