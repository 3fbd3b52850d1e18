//! What may be given where a value of some type is wanted: the type itself, a view of it, or what std has for it.
#![expect(unsafe_code, reason = "writes values in host form")]

use core::hash::{BuildHasher, Hash};
use core::panic::Location;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_rt::CallError;

use super::map::put_entries;
use super::optional::put_optional;
use super::row::put_row;
use super::set::put_keys;
use super::temp::Temp;
use super::{Kind, Lent, UArray, UMap, UOptional, USet};
use crate::plumbing::new_owned;
use crate::{UAnsiString, UString, UText, UUtf8String, Value};

/// Something that can be given where a value of type `T` is wanted.
///
/// `list.assign([1.0, 2.0])`, `list.assign(&self.kept)`, `list.assign(this.other_list())` all work, and so do
/// `names.push("red")` for an array of texts and `map.get("red")` for a map of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a `{T}`",
    label = "neither a `{T}`, nor a view of one, nor what std has for it"
)]
///
/// # Safety
/// Where `lies_at` gives an address, it is that of a live value of type `T` until something is written or called.
pub unsafe trait IntoHost<T: Value> {
    /// Where the value lies in host form, if it does.
    #[doc(hidden)]
    fn lies_at(&self) -> Result<Option<*const T::Raw>, CallError> {
        Ok(None)
    }

    /// Overwrites a value of the type.
    ///
    /// # Safety
    /// `target` is a live value of type `T` that may be written.
    #[doc(hidden)]
    unsafe fn put(&self, target: *mut T::Raw) -> Result<(), CallError>;
}

/// Runs `code` with what is given, in host form.
pub(crate) fn with_raw<T: Value, G: IntoHost<T> + ?Sized, R>(
    given: &G,
    code: impl FnOnce(*const T::Raw) -> Result<R, CallError>,
) -> Result<R, CallError> {
    if let Some(at) = given.lies_at()? {
        return code(at);
    }
    let temp = staged(given)?;
    code(temp.at())
}

/// What is given, in host form on this stack.
pub(crate) fn staged<T: Value, G: IntoHost<T> + ?Sized>(given: &G) -> Result<Temp<T>, CallError> {
    let mut temp = Temp::zeroed();
    // SAFETY: zero bytes are a value of every type.
    unsafe { given.put(temp.at_mut()) }?;
    Ok(temp)
}

/// What is given, as a value that plugin code owns.
///
/// # Errors
/// As `new` of the kind, and what the host refuses to take in.
#[track_caller]
pub(super) fn owned<K: Kind>(given: impl IntoHost<K>) -> Result<K, CallError> {
    let value = new_owned::<K>(Location::caller())?;
    // SAFETY: the host keeps the value while we own it, and it was made on this thread, the game thread.
    unsafe { given.put(value.owned().at()?) }?;
    Ok(value)
}

// SAFETY: the value answers for itself.
unsafe impl<T: Value> IntoHost<T> for T {
    fn lies_at(&self) -> Result<Option<*const T::Raw>, CallError> {
        Value::lies_at(self)
    }

    unsafe fn put(&self, target: *mut T::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { self.store(target) }
    }
}

// SAFETY: as above.
unsafe impl<T: Value> IntoHost<T> for &T {
    fn lies_at(&self) -> Result<Option<*const T::Raw>, CallError> {
        Value::lies_at(*self)
    }

    unsafe fn put(&self, target: *mut T::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { self.store(target) }
    }
}

// SAFETY: the view has just looked whether the value lies there.
unsafe impl<K: Kind> IntoHost<K> for Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.raw().map(Some)
    }

    unsafe fn put(&self, target: *mut K::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { put_copy::<K>(self.raw()?, target) }
    }
}

// SAFETY: as above.
unsafe impl<K: Kind> IntoHost<K> for &Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.raw().map(Some)
    }

    unsafe fn put(&self, target: *mut K::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { put_copy::<K>(self.raw()?, target) }
    }
}

/// # Safety
/// Both are live values of type `T`; `target` may be written.
unsafe fn put_copy<T: Value>(from: *const T::Raw, target: *mut T::Raw) -> Result<(), CallError> {
    let place = crate::host::values::place::<T>(alcedo_abi::handles::ObjectHandle::NONE, target)?;
    // SAFETY: promised by the caller.
    unsafe { crate::host::values::copy(&place, from.cast()) }
}

macro_rules! texts {
    ($($given:ty => $wanted:ident),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl IntoHost<$wanted> for $given {
            unsafe fn put(&self, target: *mut <$wanted as Value>::Raw) -> Result<(), CallError> {
                let text: &str = AsRef::<str>::as_ref(self);
                // SAFETY: promised by the caller.
                unsafe { super::text::PutText::put_text(core::marker::PhantomData::<$wanted>, text, target) }
            }
        }
    )*};
}
texts!(
    &str => String, &str => UString, &str => UUtf8String, &str => UAnsiString, &str => UText,
    String => UString, String => UUtf8String, String => UAnsiString, String => UText,
    &String => UString, &String => UUtf8String, &String => UAnsiString, &String => UText,
);

macro_rules! rows {
    ($([$($params:tt)*] $given:ty),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl<T: Value, G: IntoHost<T>, $($params)*> IntoHost<UArray<T>> for $given {
            unsafe fn put(&self, target: *mut <UArray<T> as Value>::Raw) -> Result<(), CallError> {
                // SAFETY: promised by the caller.
                unsafe { put_row::<UArray<T>, T, G>(self.iter(), target) }
            }
        }
    )*};
}
rows!([] Vec<G>, [] &Vec<G>, [] &[G], [const N: usize] [G; N], [const N: usize] &[G; N]);

macro_rules! keys {
    ($([$($params:tt)*] $given:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl<T: Value, G: IntoHost<T> + $($bound)*, $($params)*> IntoHost<USet<T>> for $given {
            unsafe fn put(&self, target: *mut <USet<T> as Value>::Raw) -> Result<(), CallError> {
                // SAFETY: promised by the caller.
                unsafe { put_keys::<USet<T>, T, G>(self.iter(), target) }
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
    ($([$($params:tt)*] $given:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl<K: Value, V: Value, G: IntoHost<K> + $($bound)*, H: IntoHost<V>, $($params)*> IntoHost<UMap<K, V>> for $given {
            unsafe fn put(&self, target: *mut <UMap<K, V> as Value>::Raw) -> Result<(), CallError> {
                // SAFETY: promised by the caller.
                unsafe { put_entries::<UMap<K, V>, K, V, G, H>(self.iter(), target) }
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

// SAFETY: it does not lie in host form.
unsafe impl<K: Value, V: Value, G: IntoHost<K>, H: IntoHost<V>, const N: usize> IntoHost<UMap<K, V>> for [(G, H); N] {
    unsafe fn put(&self, target: *mut <UMap<K, V> as Value>::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { put_entries::<UMap<K, V>, K, V, G, H>(self.iter().map(|(key, value)| (key, value)), target) }
    }
}

// SAFETY: it does not lie in host form.
unsafe impl<T: Value, G: IntoHost<T>> IntoHost<UOptional<T>> for Option<G> {
    unsafe fn put(&self, target: *mut <UOptional<T> as Value>::Raw) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        unsafe { put_optional::<UOptional<T>, T, G>(self.as_ref(), target) }
    }
}
