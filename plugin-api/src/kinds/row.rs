//! Rows of values in host memory: where each lies, how a row is copied out, and how it is overwritten.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::ArrayRaw;
use alcedo_rt::CallError;

use super::IntoHost;
use super::lending::{self, Access};
use super::temp::Temp;
use crate::{Plain, Value, host};

/// An entry of a set or map: the key and, for a map, its value at the next offset that suits it.
#[repr(C)]
pub(crate) struct Entry<K, V> {
    key: K,
    value: V,
}

/// How the entries of a map from `K` to `V` lie in their row.
pub(crate) struct Entries<K, V>(PhantomData<(K, V)>);

impl<K: Value, V: Value> Entries<K, V> {
    /// Bytes from one entry to the next.
    pub(crate) const STRIDE: usize = size_of::<Entry<K::Raw, V::Raw>>();
    /// Bytes from an entry to its value.
    pub(crate) const VALUE: usize = offset_of!(Entry<K::Raw, V::Raw>, value);
}

/// What is read of a row in one go.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    data: *mut u8,
    /// Values there are.
    pub(crate) len: usize,
}

impl Row {
    /// # Safety
    /// `raw` is a live row.
    #[inline]
    pub(crate) unsafe fn of(raw: *const ArrayRaw) -> Self {
        // SAFETY: promised by the caller; no reference is made, since the host changes the row.
        let data = unsafe { &raw const (*raw).data };
        // SAFETY: as above.
        let data = unsafe { data.read() };
        // SAFETY: as above.
        let len = unsafe { &raw const (*raw).len };
        // SAFETY: as above.
        let len = unsafe { len.read() };
        Self { data, len: len as usize }
    }

    /// Where the value at `index` lies, `stride` bytes from one to the next.
    ///
    /// # Safety
    /// There is one, and the row has not changed since it was read.
    #[inline]
    pub(crate) unsafe fn at(self, index: usize, stride: usize) -> *mut u8 {
        // SAFETY: promised by the caller: the row has more than `index` values of `stride` bytes.
        unsafe { self.data.add(index * stride) }
    }

    /// The values themselves.
    ///
    /// # Safety
    /// They are of type `T`; nothing writes them for `'a`.
    pub(crate) unsafe fn slice<'a, T: Plain>(self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the row has `len` values, which lie as `T` does by the promise of `Plain`; the rest is promised by the caller.
        unsafe { core::slice::from_raw_parts(self.data.cast(), self.len) }
    }

    /// The values themselves, to be changed.
    ///
    /// # Safety
    /// They are of type `T`; nothing else reads or writes them for `'a`.
    pub(crate) unsafe fn slice_mut<'a, T: Plain>(self) -> &'a mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: the row has `len` values, which lie as `T` does by the promise of `Plain`; the rest is promised by the caller.
        unsafe { core::slice::from_raw_parts_mut(self.data.cast(), self.len) }
    }
}

/// A number of values as the host counts them.
pub(crate) fn count(count: usize) -> Result<u32, CallError> {
    u32::try_from(count)
        .map_err(|_too_many| CallError::other(format!("{count} values are more than a container holds")))
}

/// Copies a row of values out.
///
/// # Safety
/// `raw` is a live row of values of type `T`, `stride` bytes from one to the next and `offset` into each.
pub(crate) unsafe fn load_row<T: Value, C: FromIterator<T>>(raw: *const ArrayRaw, stride: usize, offset: usize) -> C {
    lending::allows(Access::Read, "copying a container").unwrap_or_else(|error| alcedo_rt::fail(error));
    // SAFETY: promised by the caller.
    let row = unsafe { Row::of(raw) };
    let value = |index| {
        // SAFETY: the row has the value, and copying one changes no row that lies anywhere else.
        let at = unsafe { row.at(index, stride) };
        // SAFETY: promised by the caller.
        let at = unsafe { at.add(offset) };
        // SAFETY: promised by the caller.
        unsafe { T::load(at.cast_const().cast()) }
    };
    // All of them first: what collects may run code of the author's (`Hash`, `Eq`), which may change this very container.
    let values: Vec<T> = (0..row.len).map(value).collect();
    values.into_iter().collect()
}

/// Overwrites a row of values of type `T`, that of an array of type `A`: with all of them, or, on an error, with none.
///
/// # Safety
/// `target` is a live array of that type that may be written.
pub(crate) unsafe fn put_row<'a, A, T, G>(
    values: impl ExactSizeIterator<Item = &'a G>,
    target: *mut ArrayRaw,
) -> Result<(), CallError>
where
    A: Value<Raw = ArrayRaw>,
    T: Value,
    G: IntoHost<T> + 'a,
{
    // SAFETY: promised by the caller.
    if unsafe { Row::of(target) }.len == 0 {
        // Nothing can be lost, and no value that is given can lie in there.
        // SAFETY: promised by the caller.
        return unsafe { fill_row::<A, T, G>(values, target) };
    }
    let mut fresh = Temp::<A>::zeroed();
    // SAFETY: ours, on this stack.
    unsafe { fill_row::<A, T, G>(values, fresh.at_mut()) }?;
    let array = host::values::place::<A>(ObjectHandle::NONE, target)?;
    // SAFETY: both are live arrays of the type. The host overwrites, so that its counter goes on.
    unsafe { host::values::copy(&array, fresh.at().cast()) }
}

/// Fills an empty array of type `A`, which is empty again after an error.
///
/// # Safety
/// `target` is a live array of that type that may be written, and empty.
unsafe fn fill_row<'a, A, T, G>(
    values: impl ExactSizeIterator<Item = &'a G>,
    target: *mut ArrayRaw,
) -> Result<(), CallError>
where
    A: Value<Raw = ArrayRaw>,
    T: Value,
    G: IntoHost<T> + 'a,
{
    let array = host::values::place::<A>(ObjectHandle::NONE, target)?;
    let len = count(values.len())?;
    // SAFETY: promised by the caller.
    unsafe { host::values::array_splice(&array, 0, 0, len) }?;
    // SAFETY: promised by the caller.
    let row = unsafe { Row::of(target) };
    for (index, value) in values.enumerate().take(row.len) {
        // SAFETY: the host has just put as many values there, and what is given cannot be inside of them.
        let at = unsafe { row.at(index, size_of::<T::Raw>()) };
        // SAFETY: a live value, of zero bytes.
        if let Err(error) = unsafe { value.put(at.cast()) } {
            // SAFETY: promised by the caller; as many were put there.
            unsafe { host::values::array_splice(&array, 0, len, 0) }?;
            return Err(error);
        }
    }
    Ok(())
}
