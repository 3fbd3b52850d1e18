//! What may be given where a value of some type is wanted: the type itself, a view of it, or what std has for it.
#![expect(unsafe_code, reason = "declares the trait that says where given values lie")]

use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use core::panic::Location;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::optional::put_optional;
use super::ptr::{Ptr, PtrMut, Temp, Viewable};
use super::row::{put_entries, put_keys, put_row};
use super::{Delegate, Kind, Lent, UArray, UMap, UOptional, USet, ValidityToken};
use crate::blocks::ArgumentSlot;
use crate::delegate_signature::Signature;
use crate::plumbing::new_owned;
use crate::signature::Param;
use crate::{Class, Obj, UAnsiString, UString, UText, UUtf8String, Value, host};

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
    #[doc(hidden)]
    fn put(&self, target: PtrMut<'_, T>) -> Result<(), CallError>;
}

/// Runs `code` with what is given, in host form.
pub(crate) fn with_ptr<T: Value, G: IntoHost<T> + ?Sized, R>(
    given: &G,
    code: impl FnOnce(Ptr<'_, T>) -> Result<R, CallError>,
) -> Result<R, CallError> {
    if let Some(there) = Ptr::given(given)? {
        return code(there);
    }
    let temp = staged(given)?;
    code(temp.ptr())
}

/// What is given, in host form on this stack.
pub(crate) fn staged<T: Value, G: IntoHost<T> + ?Sized>(given: &G) -> Result<Temp<T>, CallError> {
    let mut temp = Temp::zeroed();
    given.put(temp.ptr_mut())?;
    Ok(temp)
}

/// What is given, as a value that plugin code owns.
///
/// # Errors
/// As `new` of the kind, and what the host refuses to take in.
#[track_caller]
pub(super) fn owned<K: Kind>(given: impl IntoHost<K>) -> Result<K, CallError> {
    let value = new_owned::<K>(Location::caller())?;
    given.put(value.owned().ptr()?)?;
    Ok(value)
}

// SAFETY: the value answers for itself.
unsafe impl<T: Value> IntoHost<T> for T {
    fn lies_at(&self) -> Result<Option<*const T::Raw>, CallError> {
        Value::lies_at(self)
    }

    fn put(&self, target: PtrMut<'_, T>) -> Result<(), CallError> {
        self.store(target)
    }
}

// SAFETY: the value answers for itself.
unsafe impl<T: Value> IntoHost<T> for &T {
    fn lies_at(&self) -> Result<Option<*const T::Raw>, CallError> {
        Value::lies_at(*self)
    }

    fn put(&self, target: PtrMut<'_, T>) -> Result<(), CallError> {
        self.store(target)
    }
}

// SAFETY: the view has just looked whether the value lies there.
unsafe impl<K: Kind> IntoHost<K> for Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.ptr().map(|value| Some(value.at()))
    }

    fn put(&self, target: PtrMut<'_, K>) -> Result<(), CallError> {
        put_copy(self.ptr()?, target)
    }
}

// SAFETY: the view has just looked whether the value lies there.
unsafe impl<K: Kind> IntoHost<K> for &Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.ptr().map(|value| Some(value.at()))
    }

    fn put(&self, target: PtrMut<'_, K>) -> Result<(), CallError> {
        put_copy(self.ptr()?, target)
    }
}

fn put_copy<T: Value>(from: Ptr<'_, T>, target: PtrMut<'_, T>) -> Result<(), CallError> {
    host::values::copy(&target.into_place(ObjectHandle::NONE)?, from)
}

/// What a caller gives for a parameter that the method sees as [`Lent`].
#[derive(Debug)]
pub struct Passed<K, G>(G, PhantomData<fn() -> K>);

impl<K: Kind, G: IntoHost<K>> Passed<K, G> {
    /// Of what was given.
    pub const fn new(given: G) -> Self {
        Self(given, PhantomData)
    }

    fn there(&self) -> Option<Ptr<'_, K>> {
        Ptr::given(&self.0).unwrap_or_else(|error| alcedo_rt::fail(error))
    }

    /// The value: on the caller's stack, or where it lies.
    fn lies<'a>(&'a self, temp: Option<&'a Temp<K>>) -> Ptr<'a, K> {
        if let Some(temp) = temp {
            return temp.ptr();
        }
        self.there().unwrap_or_else(|| alcedo_rt::fail(CallError::other("a value that lies nowhere any more")))
    }
}

/// What stands on the caller's stack meanwhile.
pub struct OnStack<K: Kind> {
    /// The value, unless it lies somewhere already.
    temp: Option<Temp<K>>,
    shown: K::Shown,
}

// SAFETY: the slot is that of a live value of the kind, as `Kind` makes it.
unsafe impl<K: Kind, G: IntoHost<K>> Param for Passed<K, G> {
    type Value = K;
    type Declared = K;
    type In = OnStack<K>;
    type Seen<'f> = ();

    crate::signature::only_goes_in!();

    fn open<'f>(_value: Viewable<'f, K, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f> {
        alcedo_rt::fail(CallError::other("what a caller gives is never read from a block"))
    }

    unsafe fn stage(&self) -> OnStack<K> {
        let temp = match self.there() {
            Some(_) => None,
            None => Some(staged::<K, G>(&self.0).unwrap_or_else(|error| alcedo_rt::fail(error))),
        };
        // What is shown of it is no address of this stack itself.
        let shown = K::show(self.lies(temp.as_ref()));
        OnStack { temp, shown }
    }

    fn slot_in(&self, standing: &OnStack<K>) -> Slot {
        K::slot_of(self.lies(standing.temp.as_ref()), &standing.shown)
    }

    fn from_slot(_slot: ArgumentSlot<'_, K>) -> Result<Self, CallError> {
        Err(CallError::other("what a caller gives is never read from a slot"))
    }
}

macro_rules! texts {
    ($($given:ty => $wanted:ident),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl IntoHost<$wanted> for $given {
            fn put(&self, target: PtrMut<'_, $wanted>) -> Result<(), CallError> {
                super::text::PutText::put_text(AsRef::<str>::as_ref(self), target)
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
            fn put(&self, target: PtrMut<'_, UArray<T>>) -> Result<(), CallError> {
                put_row(self.iter(), target)
            }
        }
    )*};
}
rows!([] Vec<G>, [] &Vec<G>, [] &[G], [const N: usize] [G; N], [const N: usize] &[G; N]);

macro_rules! keys {
    ($([$($params:tt)*] $given:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl<T: Value, G: IntoHost<T> + $($bound)*, $($params)*> IntoHost<USet<T>> for $given {
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
    ($([$($params:tt)*] $given:ty [$($bound:tt)*]),* $(,)?) => {$(
        // SAFETY: it does not lie in host form.
        unsafe impl<K: Value, V: Value, G: IntoHost<K> + $($bound)*, H: IntoHost<V>, $($params)*> IntoHost<UMap<K, V>> for $given {
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

// SAFETY: it does not lie in host form.
unsafe impl<K: Value, V: Value, G: IntoHost<K>, H: IntoHost<V>, const N: usize> IntoHost<UMap<K, V>> for [(G, H); N] {
    fn put(&self, target: PtrMut<'_, UMap<K, V>>) -> Result<(), CallError> {
        put_entries(self.iter().map(|(key, value)| (key, value)), target)
    }
}

// SAFETY: it does not lie in host form.
unsafe impl<T: Value, G: IntoHost<T>> IntoHost<UOptional<T>> for Option<G> {
    fn put(&self, target: PtrMut<'_, UOptional<T>>) -> Result<(), CallError> {
        put_optional(self.as_ref(), target)
    }
}

// SAFETY: it does not lie in host form.
unsafe impl<F: Signature, C: Class> IntoHost<Delegate<F>> for (Obj<C>, &str) {
    /// Bound to this function of the object.
    fn put(&self, target: PtrMut<'_, Delegate<F>>) -> Result<(), CallError> {
        let (object, function) = self;
        host::values::delegate_bind(&target.into_place(ObjectHandle::NONE)?, object.handle(), function)
    }
}

// SAFETY: it does not lie in host form.
unsafe impl<F: Signature> IntoHost<Delegate<F>> for () {
    /// Bound to nothing.
    fn put(&self, target: PtrMut<'_, Delegate<F>>) -> Result<(), CallError> {
        host::values::delegate_unbind(&target.into_place(ObjectHandle::NONE)?, ObjectHandle::NONE, "").map(drop)
    }
}
