//! Operations on owned values, performed by the host. All types of owned values use these functions.

use core::fmt;
use core::panic::Location;

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::zcall::Slot;

pub use crate::kinds::owned::new_owned;
use crate::kinds::{Owned, verbs};
use crate::kinds::{Ptr, PtrMut};
use crate::value::address_slot;
use crate::{CallError, Kind};

/// Returns the current address of a value.
///
/// # Errors
/// Fails with `EXPIRED`, and reports kind and age, if the value was destroyed. Fails with `WRONG_THREAD` on threads except the game thread.
pub fn owned_at<K: Kind>(of: &K) -> Result<Option<*const K::Raw>, CallError> {
    of.owned().at().map(|at| Some(at.cast_const()))
}

/// Creates an owned copy of a value in host memory. If the host refuses the copy, the running call fails.
pub fn load_owned<K: Kind>(from: Ptr<'_, K>, site: &Location<'_>) -> K {
    let black = verbs::black_new(Some(from), site);
    K::from_owned(Owned::of(black.unwrap_or_else(|error| alcedo_rt::fail(error))))
}

/// Overwrites a value in host memory with a copy of `of`.
pub fn store_owned<K: Kind>(of: &K, target: PtrMut<'_, K>) -> Result<(), CallError> {
    let location = target.into_location(ObjectHandle::NONE)?;
    verbs::copy(&location, of.owned().ptr()?.as_ptr())
}

/// Creates an owned value that receives a result. If the host refuses the creation, the running call fails.
pub fn owned_out<K: Kind>(site: &Location<'_>) -> Owned<K> {
    Owned::<K>::zero(site).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Returns a slot that contains the address of `of`. If the value has expired, the running call fails.
pub fn owned_slot<K: Kind>(of: &Owned<K>) -> Slot {
    address_slot(of.at().unwrap_or_else(|error| alcedo_rt::fail(error)))
}

/// Creates an owned copy of a value.
pub fn clone_owned<K: Kind>(of: &K, site: &Location<'_>) -> Result<K, CallError> {
    Owned::clone_of(of.owned(), site).map(K::from_owned)
}

/// Returns true if the value has expired.
pub fn is_owned_expired<K: Kind>(of: &K) -> bool {
    of.owned().is_expired()
}

/// Compares two values. If the host refuses the comparison, the running call fails.
pub fn are_owned_equal<K: Kind>(one: &K, two: &K) -> bool {
    let equal = || {
        let (one, two) = (one.owned().ptr()?, two.owned().ptr()?);
        verbs::equal(one.as_ptr(), two.as_ptr())
    };
    equal().unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Formats a string without quotes, and a value of any other kind in the host's format. For an expired value, the output is the error in
/// angle brackets. For a value that the host cannot format, the output consists of the type and the handle.
pub fn print_owned<K: Kind>(of: &K, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    show_owned(of, false, f)
}

/// Formats a value like [`print_owned`], but puts strings in quotes.
pub fn debug_owned<K: Kind>(of: &K, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    show_owned(of, true, f)
}

fn show_owned<K: Kind>(of: &K, is_quoted: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let printed = of.owned().ptr().and_then(|at| {
        let printed = verbs::print(at.as_ptr())?;
        Ok(match K::plain_text(at.as_ptr()) {
            Some(text) if is_quoted => format!("{text:?}"),
            Some(text) => text,
            None => printed,
        })
    });
    match printed {
        Ok(text) => f.pad(&text),
        Err(error) if error.kind() == FailureKind::EXPIRED => write!(f, "<{error}>"),
        Err(_) => write!(f, "{} black {:x}", K::TYPE.as_str(), of.owned().handle().0),
    }
}

/// Parses a string into a new value.
pub fn parse_owned<K: Kind>(text: &str, site: &Location<'_>) -> Result<K, CallError> {
    let value = new_owned::<K>(site)?;
    if let Some(put) = K::put_plain_text(value.owned().ptr()?, text) {
        return put.map(|()| value);
    }
    verbs::parse(&value.owned().ptr()?.into_location(ObjectHandle::NONE)?, text)?;
    Ok(value)
}
