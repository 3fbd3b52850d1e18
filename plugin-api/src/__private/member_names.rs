//! Compile-time lookups in the member names of a class, for three compiler messages: a property was accessed through `self`, a function has
//! the name of an accessor, or an override names an unknown event.

use alcedo_abi::type_text::{TypeText, contains as has, is_same};
use alcedo_abi::{accessor_check, override_check};

use crate::{Class, Object};

/// Checks that `name` is not a property of the class or a base class. If the plugin part has a field with this name, the field is meant,
/// and the check succeeds.
///
/// # Panics
/// Panics with `message` if `name` is a property.
#[track_caller]
pub const fn assert_no_property<C: Class>(name: &str, message: &str) {
    assert!(!C::MEMBERS.has_property(name), "{}", message);
}

/// Checks that no accessor of a property of `C` has the name of a method that an `impl` block defines.
///
/// # Panics
/// Panics like [`accessor_check::assert_no_accessor`].
#[track_caller]
pub const fn assert_no_accessor<C: Class>(pairs: &[(&str, &str)], id: &str) {
    accessor_check::assert_no_accessor(C::MEMBERS.properties(), pairs, id);
}

/// Returns the message for an override of an event that `C` does not declare.
#[must_use]
pub const fn no_event<C: Class>(problem: &str, name: &str, id: &str) -> TypeText {
    override_check::no_event(problem, name, C::EVENTS, declarer::<C>(name), id)
}

/// Returns the path of the class that declares an event. Searches `C` and its bases.
const fn declarer<C: Class>(name: &str) -> Option<&'static str> {
    if has(C::EVENTS, name) {
        return Some(C::PATH);
    }
    if is_same(C::PATH, <Object as Class>::PATH) {
        return None;
    }
    declarer::<C::Base>(name)
}
