//! Safe wrappers for host functions that access values through typed pointers. Each host function checks the calling thread itself.
#![expect(unsafe_code, reason = "calls functions that dereference addresses of values")]

use core::marker::PhantomData;
use core::panic::Location;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::type_text::is_same;
use alcedo_abi::values::RawLocation;
use alcedo_rt::CallError;

use super::row::{Keyed, List};
use super::{FieldPath, UAnsiString};
use crate::host::{black_in, host, site_of};
use crate::ptr::{Ptr, PtrMut};
use crate::zcall::Callee;
use crate::{Signature, Value};

/// Type numbers that the host assigned to types of this module. The numbers remain valid, because a module has the same host during its
/// whole lifetime.
static NUMBERS: RwLock<BTreeMap<TypeId, TypeNumber>> = RwLock::new(BTreeMap::new());

/// Returns the number that the host assigned to a type. The first call caches the number.
pub(crate) fn type_number<T: Value>() -> Result<TypeNumber, CallError> {
    let key = TypeId::of::<T>();
    let known = NUMBERS.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let text = T::TYPE.as_str();
    let number = host(text)?.type_resolve(text)?;
    NUMBERS.write().unwrap_or_else(PoisonError::into_inner).insert(key, number);
    Ok(number)
}

/// Location of a value of type `T`, for host functions that change values: a [`PtrMut`] with the type number and the owning object.
pub(crate) struct ValueLocation<'a, T> {
    raw: RawLocation,
    of: PhantomData<&'a mut fn() -> T>,
}

impl<T: Value> ValueLocation<'_, T> {
    /// Returns a pointer for reading the value.
    #[inline]
    pub(crate) fn ptr(&self) -> Ptr<'_, T> {
        // SAFETY: a location is created from a `PtrMut` to a value of the type, or by the host.
        unsafe { Ptr::new(self.raw.at.cast()) }
    }

    pub(crate) fn owner(&self) -> ObjectHandle {
        self.raw.owner
    }

    /// Returns the functions that are bound to this delegate, for a call with the signature `F`.
    pub(super) fn bound<F: Signature>(&self) -> Callee<'_, F::Args, F::Result> {
        const { assert!(is_delegate_of::<F, T>()) }
        // SAFETY: a location is created from a `PtrMut` to a value of the type, or by the host.
        // The host binds only functions with the signature in the type's path. The assertion above compares this signature with `F`.
        unsafe { Callee::bound(&self.raw) }
    }

    pub(crate) fn at(&self) -> *mut T::Raw {
        self.raw.at.cast()
    }
}

/// Returns true if `D` is a delegate type with the signature `F`.
const fn is_delegate_of<F: Signature, D: Value>() -> bool {
    let is_delegate =
        matches!(D::KIND, PropertyKind::DELEGATE | PropertyKind::MULTICAST_DELEGATE | PropertyKind::SPARSE_DELEGATE);
    is_delegate && is_same(D::TYPE_PATH, F::TEXT.as_str())
}

impl<'a, T: Value> PtrMut<'a, T> {
    /// Returns the location of the value.
    pub(crate) fn location(&self, owner: ObjectHandle) -> Result<ValueLocation<'_, T>, CallError> {
        self.again().into_location(owner)
    }

    /// Converts the pointer into the location of the value.
    pub(crate) fn into_location(self, owner: ObjectHandle) -> Result<ValueLocation<'a, T>, CallError> {
        let raw = RawLocation { owner, at: self.at().cast(), ty: type_number::<T>()? };
        Ok(ValueLocation { raw, of: PhantomData })
    }
}

/// Returns the location of a conjugate's value. Fails if the value's type is not `T`.
pub(crate) fn conjugate_open_as<'a, T: Value>(conjugate: ConjugateHandle) -> Result<ValueLocation<'a, T>, CallError> {
    let ty = type_number::<T>()?;
    let raw = host("opening a conjugate")?.conjugate_open_as(conjugate, ty)?;
    Ok(ValueLocation { raw, of: PhantomData })
}

/// Returns the address of an owned value. Callable on any thread, but succeeds only on the game thread.
///
/// # Errors
/// Fails with `EXPIRED` if the value was destroyed, with `WRONG_THREAD` on threads except the game thread, or with `UNAVAILABLE` without a
/// host.
#[inline]
pub(crate) fn black_at<T: Value>(black: BlackHandle) -> Result<*mut T::Raw, CallError> {
    let local = if alcedo_rt::is_game_thread() { black_in(black) } else { None };
    match local.and_then(|(at, _ends)| at) {
        Some(at) => Ok(at.cast()),
        // The module has no address for this value, so the host must return the address or a typed error.
        None => conjugate_open_as::<T>(black.into()).map(|location| location.at()),
    }
}

/// Returns the address of an owned value, and the count of destroyed values. The address is valid until the count changes. Returns
/// `None` for a destroyed value. Callable on the game thread only.
#[inline]
pub(crate) fn black_seen<T: Value>(black: BlackHandle) -> Option<(*mut T::Raw, u32)> {
    match black_in(black) {
        Some((at, ends)) => Some((at?.cast(), ends)),
        None => Some((conjugate_open_as::<T>(black.into()).ok()?.at(), 0)),
    }
}

/// Declares wrappers of host functions that require valid addresses. If the parameter types of a wrapper do not promise valid
/// addresses, the wrapper is `unsafe`.
macro_rules! calls {
    ($(
        $(#[$attr:meta])*
        $([$unsafe:ident])? $name:ident$(<$kind:ident: $bound:path>)?($($arg:ident: $arg_ty:ty),*) -> $result:ty
            $([$var:ident = $first:expr])? = $what:expr => $call:ident($($argument:expr),*) $(, $map:expr)?;
    )*) => {$(
        $(#[$attr])*
        pub(crate) $($unsafe)? fn $name$(<$kind: $bound>)?($($arg: $arg_ty),*) -> Result<$result, CallError> {
            $(let $var = $first;)?
            let host = host($what)?;
            // SAFETY: the creator of each `ValueLocation`, `Ptr` and `PtrMut` promised a live value of the type.
            // The wrapper passes the id of this type to the host.
            // Other arguments are valid by their types or by the caller's promise, and live until the call returns.
            let argument = unsafe { host.$call($($argument),*) };
            argument$(.map($map))?
        }
    )*};
}
calls! {
    /// Overwrites a value with a copy of the value at `from`.
    copy<T: Value>(of: &ValueLocation<'_, T>, from: Ptr<'_, T>) -> () =
        "copying a value" => copy(&of.raw, from.at().cast());
    equal<T: Value>(of: Ptr<'_, T>, two: Ptr<'_, T>) -> bool [ty = type_number::<T>()?] =
        "comparing values" => equal(ty, of.at().cast(), two.at().cast()), |same| same != 0;
    hash<T: Value>(of: Ptr<'_, T>) -> u64 [ty = type_number::<T>()?] =
        "hashing a value" => hash(ty, of.at().cast());
    print<T: Value>(of: Ptr<'_, T>) -> String [ty = type_number::<T>()?] =
        "printing a value" => print(ty, of.at().cast());
    /// Parses a string and overwrites a value with the result.
    parse<T: Value>(of: &ValueLocation<'_, T>, text: &str) -> () =
        "reading a value from text" => parse(&of.raw, text);
    /// Frees the memory that a value owns, and overwrites the value with zero bytes.
    clear<T: Value>(of: &ValueLocation<'_, T>) -> () =
        "freeing a value" => clear(&of.raw);
    /// Removes elements from an array and inserts zeroed elements.
    array_splice<T: List>(of: &ValueLocation<'_, T>, at: u32, remove: u32, insert: u32) -> () =
        "changing the length of an array" => array_splice(&of.raw, at, remove, insert);
    /// Reserves capacity in an array.
    array_reserve<T: List>(of: &ValueLocation<'_, T>, more: u32) -> () =
        "making room in an array" => array_reserve(&of.raw, more);
    /// Returns the index of a key in the buffer of a set or map.
    map_find<M: Keyed>(of: &ValueLocation<'_, M>, key: Ptr<'_, M::Key>) -> Option<u32> =
        "looking up a key" => map_find(&of.raw, key.at().cast()), |at| (at != u32::MAX).then_some(at);
    /// Inserts a key. Returns its index in the buffer, and `true` if the key is new.
    map_insert<M: Keyed>(of: &ValueLocation<'_, M>, key: Ptr<'_, M::Key>) -> (u32, bool) =
        "inserting a key" => map_insert(&of.raw, key.at().cast()), |(at, is_new)| (at, is_new != 0);
    map_remove<M: Keyed>(of: &ValueLocation<'_, M>, at: u32) -> () =
        "removing a key" => map_remove(&of.raw, at);
    /// Sets a reference to an object.
    reference_assign<T: Value>(of: &ValueLocation<'_, T>, object: ObjectHandle) -> () =
        "pointing a reference" => reference_assign(&of.raw, object);
    /// Returns the object to which a reference resolves.
    reference_resolve<T: Value>(of: Ptr<'_, T>) -> ObjectHandle [ty = type_number::<T>()?] =
        "following a reference" => reference_resolve(ty, of.at().cast());
    /// Sets the class of a class reference.
    class_assign<T: Value>(of: &ValueLocation<'_, T>, path: Name) -> () =
        "naming a class" => class_assign(&of.raw, path);
    /// Returns the class to which a class reference resolves.
    class_resolve<T: Value>(of: Ptr<'_, T>) -> ClassId [ty = type_number::<T>()?] =
        "finding a class" => class_resolve(ty, of.at().cast());
    delegate_bind<T: Value>(of: &ValueLocation<'_, T>, object: ObjectHandle, function: &str) -> () =
        "binding a delegate" => delegate_bind(&of.raw, object, function);
    /// Removes bindings from a delegate and returns their number.
    delegate_unbind<T: Value>(of: &ValueLocation<'_, T>, object: ObjectHandle, function: &str) -> u32 =
        "unbinding a delegate" => delegate_unbind(&of.raw, object, function);
    /// Sets the property of a field path.
    field_assign<T: Value>(of: &ValueLocation<'_, T>, path: &str) -> () =
        "naming a property" => field_assign(&of.raw, path);
    /// Creates an owned value: a copy of `from`, or a value whose bytes are all zero if `from` is `None`.
    black_new<T: Value>(from: Option<Ptr<'_, T>>, site: &Location<'_>) -> BlackHandle [ty = type_number::<T>()?] =
        T::TYPE.as_str()
        => black_new(ty, from.map_or(core::ptr::null(), Ptr::at).cast(), &site_of(site));
    /// Lends a value until the innermost call into this module returns. Returns the number of the conjugate.
    ///
    /// # Safety
    /// The location is a property of its owner, or a part of such a property.
    [unsafe] conjugate_borrow<T: Value>(location: &ValueLocation<'_, T>) -> ConjugateHandle =
        "lending a value" => conjugate_borrow(&location.raw);
    /// Overwrites a string with one byte per character.
    ansi_assign(location: &ValueLocation<'_, UAnsiString>, bytes: &[u8]) -> () =
        "writing a text" => ansi_assign(&location.raw, bytes.as_ptr(), bytes.len());
    /// Returns the type of the property to which a field path refers, or an empty string if the property does not exist.
    field_type(path: Ptr<'_, FieldPath>) -> String = "finding a property" => field_type(path.at().cast());
}
