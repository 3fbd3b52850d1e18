//! Types of arguments that can be passed where a value in host form is expected: the expected type itself, a view of a value, or the
//! equivalent type of the standard library.
#![expect(unsafe_code, reason = "declares the trait that returns addresses of arguments")]

use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use core::panic::Location;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::owned::new_owned;
use super::ptr::{OptionalValue, Ptr, PtrMut, Temp, Viewable};
use super::row::{Keyed, List, Mapped};
use super::verbs::{self, ValueLocation};
use super::{Delegate, Kind, UArray, UMap, UOptional, USet, ValidityToken};
use crate::delegate_signature::Signature;
use crate::host::lending::{self, Access};
use crate::ptr::ArgumentSlot;
use crate::signature::Param;
use crate::{Class, Obj, UAnsiString, UString, UText, UUtf8String, Value};

/// Argument that can be passed where a value of type `T` in host form is expected.
///
/// `list.assign([1.0, 2.0])`, `list.assign(&self.kept)` and `list.assign(this.other_list())` all compile. For an array of strings,
/// `names.push("red")` compiles. For a map with string keys, `map.get("red")` compiles.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `{T}`",
    label = "neither a `{T}`, nor a view of one, nor its equivalent in the standard library"
)]
///
/// # Safety
/// If `host_address` returns an address, a live value of type `T` stays at this address until the next write or call.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::IntoHost;
///
/// /// Overwrites the tags and adds one tag.
/// fn retag(tags: &Borrowed<'_, UArray<String>>, new: impl IntoHost<UArray<String>>) {
///     tags.assign(new);
///     tags.push("retagged");
/// }
///
/// fn show(tags: &Borrowed<'_, UArray<String>>, kept: &UArray<String>) {
///     retag(tags, ["red", "round"]);
///     retag(tags, vec!["blue".to_owned()]);
///     retag(tags, kept);
/// }
/// ```
pub unsafe trait IntoHost<T: Value> {
    /// Returns the address of the argument if it is already in host form. The address is raw, because safe code could read through a
    /// `Ptr` after the next write or call.
    #[doc(hidden)]
    fn host_address(&self) -> Result<Option<*const T::Raw>, CallError> {
        Ok(None)
    }

    /// Overwrites `target` with the argument.
    #[doc(hidden)]
    fn put(&self, target: PtrMut<'_, T>) -> Result<(), CallError>;
}

/// Calls `code` with the argument in host form.
pub(crate) fn with_ptr<T: Value, G: IntoHost<T> + ?Sized, R>(
    argument: &G,
    code: impl FnOnce(Ptr<'_, T>) -> Result<R, CallError>,
) -> Result<R, CallError> {
    if let Some(there) = Ptr::argument(argument)? {
        return code(there);
    }
    let temp = staged(argument)?;
    code(temp.ptr())
}

/// Overwrites `target` with the argument. `owner` is the object that contains `target`, or none if no object contains it.
///
/// # Errors
/// Fails if the kind rejects the argument, or if the argument would change the length of a fixed array.
#[inline]
pub(crate) fn put_in_owner<T: Value, G: IntoHost<T>>(
    argument: &G,
    target: PtrMut<'_, T>,
    owner: ObjectHandle,
) -> Result<(), CallError> {
    if const { matches!(T::KIND, PropertyKind::ARRAY) } {
        // The host finds the fixed length of an array by the owner of the array.
        let target = target.into_location(owner)?;
        return with_ptr::<T, _, _>(argument, |value| verbs::copy(&target, value));
    }
    argument.put(target)
}

/// Converts the argument to host form in a temporary value.
pub(crate) fn staged<T: Value, G: IntoHost<T> + ?Sized>(argument: &G) -> Result<Temp<T>, CallError> {
    let mut temp = Temp::zeroed();
    argument.put(temp.ptr_mut())?;
    Ok(temp)
}

/// Creates an owned value from the argument.
///
/// # Errors
/// See `new` of the kind. Also fails if the host rejects the argument.
#[track_caller]
pub(super) fn owned<K: Kind>(argument: impl IntoHost<K>) -> Result<K, CallError> {
    let value = new_owned::<K>(Location::caller())?;
    argument.put(value.owned().ptr()?)?;
    Ok(value)
}

macro_rules! values {
    ($($argument:ty),*) => {$(
        // SAFETY: `Value::host_address` has the same contract.
        unsafe impl<T: Value> IntoHost<T> for $argument {
            fn host_address(&self) -> Result<Option<*const T::Raw>, CallError> {
                <T as Value>::host_address(self)
            }

            fn put(&self, target: PtrMut<'_, T>) -> Result<(), CallError> {
                self.store(target)
            }
        }
    )*};
}
values!(T, &T);

impl<'a, T: Value> Ptr<'a, T> {
    /// Returns a pointer to the argument if the argument is already in host form.
    pub(crate) fn argument<G: IntoHost<T> + ?Sized>(argument: &'a G) -> Result<Option<Self>, CallError> {
        // SAFETY: `IntoHost` promises a live value until the next write or call, and the pointer is used only until then.
        Ok(argument.host_address()?.map(|at| unsafe { Self::new(at) }))
    }
}

/// Converts a count to the type that the host uses.
pub(crate) fn count(count: usize) -> Result<u32, CallError> {
    u32::try_from(count)
        .map_err(|_too_many| CallError::other(format!("{count} values exceed the limit of a container")))
}

/// Overwrites an array. The array is unchanged if an error occurs.
pub(crate) fn put_array<'a, A, G>(
    values: impl ExactSizeIterator<Item = &'a G>,
    target: PtrMut<'_, A>,
) -> Result<(), CallError>
where
    A: List,
    G: IntoHost<A::Item> + 'a,
{
    if target.as_ptr().len() == 0 {
        // The array is empty, so an error can lose no value, and no argument is an element of the array.
        return fill_array(values, target);
    }
    let mut fresh = Temp::<A>::zeroed();
    fill_array(values, fresh.ptr_mut())?;
    // The host makes the copy, and increments the epoch of the container.
    verbs::copy(&target.location(ObjectHandle::NONE)?, fresh.ptr())
}

/// Fills an empty array. If an error occurs, the array is empty again.
fn fill_array<'a, A, G>(values: impl ExactSizeIterator<Item = &'a G>, target: PtrMut<'_, A>) -> Result<(), CallError>
where
    A: List,
    G: IntoHost<A::Item> + 'a,
{
    let array = target.location(ObjectHandle::NONE)?;
    let len = count(values.len())?;
    verbs::array_splice(&array, 0, 0, len)?;
    // The host has just inserted these `len` elements, so no argument can be one of them.
    let elements = target.as_ptr().row();
    for (index, value) in values.enumerate() {
        let Some(at) = elements.get(index) else { break };
        if let Err(error) = value.put(at) {
            verbs::array_splice(&array, 0, len, 0)?;
            return Err(error);
        }
    }
    Ok(())
}

/// Overwrites a set. The set is unchanged if an error occurs.
pub(crate) fn put_keys<'a, S, G>(values: impl Iterator<Item = &'a G>, target: PtrMut<'_, S>) -> Result<(), CallError>
where
    S: Keyed,
    G: IntoHost<S::Key> + 'a,
{
    let set = target.location(ObjectHandle::NONE)?;
    let mut fresh = Temp::<S>::zeroed();
    let new = fresh.ptr_mut().into_location(ObjectHandle::NONE)?;
    for value in values {
        with_ptr(value, |key| verbs::map_insert(&new, key))?;
    }
    // The host makes the copy, and increments the epoch of the container.
    verbs::copy(&set, fresh.ptr())
}

/// Overwrites a map. The map is unchanged if an error occurs.
pub(crate) fn put_entries<'a, M, G, H>(
    argument: impl Iterator<Item = (&'a G, &'a H)>,
    target: PtrMut<'_, M>,
) -> Result<(), CallError>
where
    M: Mapped,
    G: IntoHost<M::Key> + 'a,
    H: IntoHost<M::Item> + 'a,
{
    let map = target.location(ObjectHandle::NONE)?;
    let mut fresh = Temp::<M>::zeroed();
    for (key, value) in argument {
        put_entry(ObjectHandle::NONE, &fresh.ptr_mut(), key, value)?;
    }
    // The host makes the copy, and increments the epoch of the container.
    verbs::copy(&map, fresh.ptr())
}

/// Inserts or overwrites one entry of a map. Returns `true` if its key is new.
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
    // The arguments may be values of this map, so they are copied before any value moves. All steps that can fail precede the insertion.
    let value = staged::<M::Item, H>(value)?;
    verbs::type_number::<M::Item>()?;
    let map = target.location(owner)?;
    with_ptr(key, |key| {
        insert(&map, key, value, |_at, there, value| {
            // No check is needed here, because inserting the key has already checked that the map may be written.
            verbs::copy(&there.into_location(ObjectHandle::NONE)?, value.ptr())
        })
    })
}

/// Inserts a key into a map. For a new key, moves the value into the new entry. For an existing key, calls `replace` with the key's index,
/// a pointer to the old value, and the new value.
pub(crate) fn insert<M: Mapped>(
    map: &ValueLocation<'_, M>,
    key: Ptr<'_, M::Key>,
    value: Temp<M::Item>,
    replace: impl FnOnce(u32, PtrMut<'_, M::Item>, Temp<M::Item>) -> Result<(), CallError>,
) -> Result<bool, CallError> {
    let (at, is_new) = verbs::map_insert(map, key)?;
    let there = map.ptr().values().get(at as usize).ok_or_else(|| CallError::other("the inserted key has no entry"))?;
    if is_new {
        // The host has just stored a zeroed value in the new entry.
        value.move_to(&there);
    } else {
        replace(at, there, value)?;
    }
    Ok(is_new)
}

/// Inserts values into an array at an index, and moves the following elements to higher indices.
pub(crate) fn insert_into<A: List>(
    array: &ValueLocation<'_, A>,
    index: usize,
    values: impl ExactSizeIterator<Item = Temp<A::Item>>,
) -> Result<(), CallError> {
    verbs::array_splice(array, count(index)?, 0, count(values.len())?)?;
    let elements = array.ptr().row();
    for (more, value) in values.enumerate() {
        if let Some(at) = elements.get(index + more) {
            // The host has just inserted a zeroed value at this index.
            value.move_to(&at);
        }
    }
    Ok(())
}

/// Returns a copy of the value of an optional.
pub(super) fn load_optional<O: OptionalValue>(from: Ptr<'_, O>) -> Option<O::Item> {
    lending::allows(Access::Read, "copying an optional").unwrap_or_else(|error| alcedo_rt::fail(error));
    from.value().map(Value::load)
}

pub(super) fn put_optional<O, G>(argument: Option<&G>, target: PtrMut<'_, O>) -> Result<(), CallError>
where
    O: OptionalValue,
    G: IntoHost<O::Item> + ?Sized,
{
    let fresh = match argument {
        Some(value) => Temp::optional_of(staged::<O::Item, G>(value)?),
        None => Temp::<O>::zeroed(),
    };
    verbs::copy(&target.into_location(ObjectHandle::NONE)?, fresh.ptr())
}

/// Argument for a parameter that the called method receives as [`Borrowed`](crate::Borrowed).
#[derive(Debug)]
pub struct Passed<K, G>(G, PhantomData<fn() -> K>);

impl<K: Kind, G: IntoHost<K>> Passed<K, G> {
    /// Wraps an argument.
    pub const fn new(argument: G) -> Self {
        Self(argument, PhantomData)
    }

    fn there(&self) -> Option<Ptr<'_, K>> {
        Ptr::argument(&self.0).unwrap_or_else(|error| alcedo_rt::fail(error))
    }

    /// Returns a pointer to `temp`, or to the argument if `temp` is `None`.
    fn location<'a>(&'a self, temp: Option<&'a Temp<K>>) -> Ptr<'a, K> {
        if let Some(temp) = temp {
            return temp.ptr();
        }
        self.there().unwrap_or_else(|| alcedo_rt::fail(CallError::other("the value no longer exists")))
    }
}

/// Data that the caller keeps on its stack while the call runs.
pub struct OnStack<K: Kind> {
    /// Converted argument; `None` if the argument is already in host form.
    temp: Option<Temp<K>>,
    slot_data: K::SlotData,
}

// SAFETY: `Kind::slot_of` returns a slot for a live value of the kind.
unsafe impl<K: Kind, G: IntoHost<K>> Param for Passed<K, G> {
    type Value = K;
    type Declared = K;
    type In = OnStack<K>;
    type Seen<'f> = ();

    crate::signature::only_goes_in!();

    fn open<'f>(_value: Viewable<'f, K, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f> {
        alcedo_rt::fail(CallError::other("an argument is never read from a block"))
    }

    unsafe fn stage(&self) -> OnStack<K> {
        let temp = match self.there() {
            Some(_) => None,
            None => Some(staged::<K, G>(&self.0).unwrap_or_else(|error| alcedo_rt::fail(error))),
        };
        // `slot_data` must not contain the address of `temp`, because `temp` moves into the result.
        let slot_data = K::slot_data_of(self.location(temp.as_ref()));
        OnStack { temp, slot_data }
    }

    fn slot_in(&self, staged: &OnStack<K>) -> Slot {
        K::slot_of(self.location(staged.temp.as_ref()), &staged.slot_data)
    }

    fn from_slot(_slot: ArgumentSlot<'_, K>) -> Result<Self, CallError> {
        Err(CallError::other("an argument is never read from a slot"))
    }
}

macro_rules! strings {
    ($($argument:ty => $target_type:ident),* $(,)?) => {$(
        // SAFETY: `host_address` returns no address.
        unsafe impl IntoHost<$target_type> for $argument {
            fn put(&self, target: PtrMut<'_, $target_type>) -> Result<(), CallError> {
                super::text::PutText::put_text(AsRef::<str>::as_ref(self), target)
            }
        }
    )*};
}
strings!(
    &str => String, &str => UString, &str => UUtf8String, &str => UAnsiString, &str => UText,
    String => UString, String => UUtf8String, String => UAnsiString, String => UText,
    &String => UString, &String => UUtf8String, &String => UAnsiString, &String => UText,
);

macro_rules! arrays {
    ($([$($params:tt)*] $argument:ty),* $(,)?) => {$(
        // SAFETY: `host_address` returns no address.
        unsafe impl<T: Value, G: IntoHost<T>, $($params)*> IntoHost<UArray<T>> for $argument {
            fn put(&self, target: PtrMut<'_, UArray<T>>) -> Result<(), CallError> {
                put_array(self.iter(), target)
            }
        }
    )*};
}
arrays!([] Vec<G>, [] &Vec<G>, [] &[G], [const N: usize] [G; N], [const N: usize] &[G; N]);

macro_rules! keys {
    ($([$($params:tt)*] $argument:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: `host_address` returns no address.
        unsafe impl<T: Value, G: IntoHost<T> + $($bound)*, $($params)*> IntoHost<USet<T>> for $argument {
            fn put(&self, target: PtrMut<'_, USet<T>>) -> Result<(), CallError> {
                put_keys(self.iter(), target)
            }
        }
    )*};
}
keys!(
    [S: BuildHasher] HashSet<G, S> [Hash + Eq],
    [S: BuildHasher] &HashSet<G, S> [Hash + Eq],
    [] BTreeSet<G> [Ord],
    [] &BTreeSet<G> [Ord],
    [const N: usize] [G; N] [Sized],
);

macro_rules! entries {
    ($([$($params:tt)*] $argument:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: `host_address` returns no address.
        unsafe impl<K: Value, V: Value, G: IntoHost<K> + $($bound)*, H: IntoHost<V>, $($params)*> IntoHost<UMap<K, V>> for $argument {
            fn put(&self, target: PtrMut<'_, UMap<K, V>>) -> Result<(), CallError> {
                put_entries(self.iter(), target)
            }
        }
    )*};
}
entries!(
    [S: BuildHasher] HashMap<G, H, S> [Hash + Eq],
    [S: BuildHasher] &HashMap<G, H, S> [Hash + Eq],
    [] BTreeMap<G, H> [Ord],
    [] &BTreeMap<G, H> [Ord],
);

// SAFETY: `host_address` returns no address.
unsafe impl<K: Value, V: Value, G: IntoHost<K>, H: IntoHost<V>, const N: usize> IntoHost<UMap<K, V>> for [(G, H); N] {
    fn put(&self, target: PtrMut<'_, UMap<K, V>>) -> Result<(), CallError> {
        put_entries(self.iter().map(|(key, value)| (key, value)), target)
    }
}

// SAFETY: `host_address` returns no address.
unsafe impl<T: Value, G: IntoHost<T>> IntoHost<UOptional<T>> for Option<G> {
    fn put(&self, target: PtrMut<'_, UOptional<T>>) -> Result<(), CallError> {
        put_optional(self.as_ref(), target)
    }
}

// SAFETY: `host_address` returns no address.
unsafe impl<F: Signature, C: Class> IntoHost<Delegate<F>> for (Obj<C>, &str) {
    /// Binds the function of the object to the delegate.
    fn put(&self, target: PtrMut<'_, Delegate<F>>) -> Result<(), CallError> {
        let (object, function) = self;
        verbs::delegate_bind(&target.into_location(ObjectHandle::NONE)?, object.handle(), function)
    }
}

// SAFETY: `host_address` returns no address.
unsafe impl<F: Signature> IntoHost<Delegate<F>> for () {
    /// Removes the binding of the delegate.
    fn put(&self, target: PtrMut<'_, Delegate<F>>) -> Result<(), CallError> {
        verbs::delegate_unbind(&target.into_location(ObjectHandle::NONE)?, ObjectHandle::NONE, "").map(drop)
    }
}
