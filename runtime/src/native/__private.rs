//! Items that the attributes of native classes expand to. Not public API: names and signatures change without notice.

pub use ::core;

pub use alcedo_abi::call::SourceLocation;
pub use alcedo_abi::default_part::{BuildDefault, DefaultPart, Probe};
pub use alcedo_abi::describe::{CParam, Metadata, meta};
pub use alcedo_abi::interface_check::{InterfaceFunction, declared_as, first_absent};
pub use alcedo_abi::override_check::{EventOf, NoEvent, NoEvents};
pub use alcedo_abi::type_text::contains;
pub use alcedo_abi::{__alcedo_join as join, __alcedo_member_paths as member_paths};
pub use alcedo_reflect::{__alcedo_host_fields as host_fields, __alcedo_plain_fields as plain_fields};

pub use crate::kinds::{CallingConvention, PropertyKind, class_flags, function_flags, property_flags};
pub use crate::native::Natives;
pub use crate::native::c_functions::{ImportCell, c_accepts, c_returns, dll_import, invoke_import};
pub use crate::native::declared::{
    Body, Declared, DeclaredClass, Description, Hook, NoBody, References, add_class, add_enum, add_struct,
    add_structure, class_property, hook, invoke_member, invoke_member as invoke_static_member, struct_field,
};
pub use crate::native::delegates::{Delegate, MulticastDelegate, Named, NamedSignature, SparseDelegate};
pub use crate::native::failing::{fail, or_end};
pub use crate::native::functions::{
    BlockOf, CustomThunk, Function, FunctionCell, SignatureBlock, custom_thunk, function_description,
    implementable_event, static_function,
};
pub use crate::native::interfaces::{
    Bodies, Interface, add_interface, compared, crosses, has_signature, interface_function, member,
};
pub use crate::native::member_function::MemberFunction;
pub use crate::native::method::{Arguments, Exclusive, Held, Method, Params, Part, Shared, StaticMethod};
pub use crate::native::net::{NetHooks, NetStruct, WithoutNet};
pub use crate::native::property::{IntoHost, NativeProperty, fits_a_byte, read_member, scripts_have, write_member};
pub use crate::native::this::{At, Class, This, View};
pub use crate::object::host_value::HostValue;
pub use crate::object::member::{FunctionRef, PropertyRef};
pub use crate::object::native_enums::{NativeEntry, NativeEnumeration, NumberOf};
pub use crate::object::native_out::{Out, OutValue};
pub use crate::object::native_value::{NativeResult, NativeValue as Value};
pub use crate::object::natives::World;
pub use crate::object::thunk::Frame;
pub use crate::{
    __alcedo_native_c_call as c_call, __alcedo_native_calls as calls, __alcedo_native_class as class,
    __alcedo_native_delegate as delegate, __alcedo_native_earlier_names as earlier_names,
    __alcedo_native_enum as enumeration, __alcedo_native_import as import, __alcedo_native_interface as interface,
    __alcedo_native_pod as pod, __alcedo_native_property as property, __alcedo_native_register as register,
    __alcedo_native_structure as structure, __alcedo_native_view as view,
};
pub use crate::{CallError, ObjectHandle};

use alcedo_abi::override_check;
use alcedo_abi::type_text::{TypeText, is_same};

use crate::native::this::Object;

/// Default red constructor, for classes whose `#[uclass] impl` has no red constructor. An inherent function with an equal name takes
/// precedence. The name of the trait appears in the compiler error for a field without a default.
pub trait WithoutARedConstructor: Class {
    /// Builds the Rust fields with their defaults.
    fn alcedo_red_constructor(_this: This<'_, Self>) -> Self
    where
        Self: DefaultPart<()>,
    {
        Self::default_part()
    }
}

impl<C: Class> WithoutARedConstructor for C {}

/// Accepts all types, because Rust fields of the host are dropped on the game thread. In plugins, a function with an equal name checks the
/// type.
pub const fn the_finalizer_thread_drops<T>() {}

/// A type of struct fields whose default can be written as a string.
#[diagnostic::on_unimplemented(
    message = "the default of a `{Self}` is not written as a string",
    note = "a field of a `#[ustruct]` has a number, `true`, `false`, a string, an entry of an enum or `(x = 1.0)` as its default"
)]
pub trait OfText {
    /// Parses the value.
    fn of_text(text: &str) -> Self;
}

impl OfText for String {
    fn of_text(text: &str) -> Self {
        text.to_owned()
    }
}

/// Returns the value of an enum entry by its name, or of several entries by their names, separated by `|`.
///
/// # Panics
/// If the enum has no entry with one of these names.
#[must_use]
pub fn entry_of_text<E: NativeEnumeration>(text: &str) -> E {
    let one = |part: &str| {
        let found = E::ENTRIES.iter().find(|entry| entry.name == part);
        found.unwrap_or_else(|| panic!("`{part}` is not an entry of {}", E::PATH)).number
    };
    let parts = text.split('|').map(str::trim).filter(|part| !part.is_empty());
    E::of_number(parts.fold(0, |all, part| all | one(part)))
        .unwrap_or_else(|| panic!("`{text}` is not a value of {}", E::PATH))
}

/// Returns the error message for an override of an event that `C` does not declare.
#[must_use]
pub const fn no_event<C: Class>(problem: &str, name: &str, id: &str) -> TypeText {
    override_check::no_event(problem, name, C::EVENTS, declarer::<C>(name), id)
}

/// Returns the path of the class that declares an event: `C` or a base class of `C`.
const fn declarer<C: Class>(name: &str) -> Option<&'static str> {
    if contains(C::EVENTS, name) {
        return Some(C::PATH);
    }
    if is_same(C::PATH, <Object as Class>::PATH) {
        return None;
    }
    declarer::<C::Base>(name)
}

/// Accepts all names. In plugins, a function with an equal name checks the name.
pub const fn assert_no_property<C: Class>(_name: &str, _message: &str) {}

/// Compiles only if the error type implements `Display`.
pub const fn error_in_words<E: ::core::fmt::Display + 'static>() {}
