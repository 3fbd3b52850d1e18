//! Common interface of all owned types, whose values the host creates, destroys, copies, compares and formats.
#![expect(unsafe_code, reason = "declares the trait whose promises the views rely on")]

use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::Owned;
use super::ptr::{Ptr, PtrMut};
use crate::Value;

/// Type of values in host memory: `UArray<T>`, `UString`, `Delegate<fn(…)>`, or a struct with `#[ustruct]`.
///
/// A value of this type is *black*: plugin code owns the value, may store it in any field, and may drop it on any thread. On the game
/// thread, `this.open(&self.list)` opens the value for use and returns a [`Borrowed`](crate::Borrowed). Plugin code receives properties and
/// parameters of these types as `Borrowed`; `Borrowed::to_owned` returns an owned value.
///
/// # Safety
/// `View<'f>` is `#[repr(transparent)]` over `Borrowed<'f, Self>` or zero-sized. The value to which `owned` refers is of this type, and
/// zero bytes are a value of `Raw`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Kind;
///
/// /// Formats any value in host memory for the log.
/// fn logged<K: Kind>(this: This<'_, Object>, value: &K) -> String {
///     format!("{} has {}", this.name(), this.open(value))
/// }
///
/// fn show(this: This<'_, Object>, tags: &USet<String>, title: &UString) -> [String; 2] {
///     [logged(this, tags), logged(this, title)]
/// }
/// ```
pub unsafe trait Kind: Value {
    /// View to which [`Borrowed`](crate::Borrowed) dereferences.
    type View<'f>;
    /// Data that the caller stores on its stack while a slot passes a value.
    #[doc(hidden)]
    type SlotData;

    /// Returns the handle of the value in host memory.
    #[doc(hidden)]
    fn owned(&self) -> &Owned<Self>;

    /// Wraps an owned value in this type.
    #[doc(hidden)]
    fn from_owned(owned: Owned<Self>) -> Self;

    /// For a string kind, returns a copy of the string. For all other kinds, returns `None`, and the host formats the value.
    #[doc(hidden)]
    fn plain_text(_from: Ptr<'_, Self>) -> Option<String> {
        None
    }

    /// For a string kind, overwrites the string. For all other kinds, returns `None`, and the host parses the value.
    #[doc(hidden)]
    fn put_plain_text(_target: PtrMut<'_, Self>, _text: &str) -> Option<Result<(), CallError>> {
        None
    }

    /// Returns the data that the caller must store on its stack while a slot passes the value.
    #[doc(hidden)]
    fn slot_data_of(from: Ptr<'_, Self>) -> Self::SlotData;

    /// Returns the slot of a value. `slot_data` is the result of `slot_data_of`. The caller must not move the value or `slot_data` while
    /// the slot is in use.
    #[doc(hidden)]
    fn slot_of(from: Ptr<'_, Self>, slot_data: &Self::SlotData) -> Slot;
}

/// View of built-in types, without methods, because the methods of built-in types are defined on [`Borrowed`](crate::Borrowed) itself.
#[derive(Debug)]
pub struct Bare;

/// Declares a built-in owned type.
macro_rules! kind {
    (
        $(#[$attr:meta])*
        $name:ident<$($param:ident: $bound:path),*>,
        raw: $raw:ty, kind: $kind:ident, path: $path:expr, literal: $literal:ty, $slots:ident
        $(, plain: $plain:ident)?
    ) => {
        $(#[$attr])*
        pub struct $name<$($param: $bound),*> {
            owned: $crate::kinds::Owned<Self>,
            of: core::marker::PhantomData<fn() -> ($($param,)*)>,
        }

        #[expect(unsafe_code, reason = "declares the host form of this kind, and dereferences pointer slots")]
        // SAFETY: the host stores this kind as `Raw`, for which any bytes are valid until addresses in it are dereferenced.
        // Values are passed in slots as the ABI specifies.
        unsafe impl<$($param: $bound),*> $crate::Value for $name<$($param),*> {
            const KIND: alcedo_abi::kinds::PropertyKind = alcedo_abi::kinds::PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            type Raw = $raw;
            type Literal = $literal;
            $crate::__alcedo_owned_value! {}
            $crate::kinds::kind!(@$slots);
        }

        #[expect(unsafe_code, reason = "declares the view")]
        // SAFETY: `Bare` is zero-sized; each constructor of the type calls the host with this type's id.
        unsafe impl<$($param: $bound),*> $crate::Kind for $name<$($param),*> {
            type View<'f> = $crate::kinds::kind::Bare;
            $crate::kinds::kind!(@slot_data $slots);
            $(
                fn plain_text(from: $crate::kinds::Ptr<'_, Self>) -> Option<String> {
                    Some(from.$plain())
                }

                fn put_plain_text(
                    target: $crate::kinds::PtrMut<'_, Self>,
                    text: &str,
                ) -> Option<Result<(), $crate::CallError>> {
                    Some($crate::kinds::text::PutText::put_text(text, target))
                }
            )?

            fn owned(&self) -> &$crate::kinds::Owned<Self> {
                &self.owned
            }

            fn from_owned(owned: $crate::kinds::Owned<Self>) -> Self {
                Self { owned, of: core::marker::PhantomData }
            }
        }

        $crate::__alcedo_owned! { [$($param: $bound),*] $name<$($param),*> }
    };
    (@pointer) => {
        $crate::__alcedo_owned_value! { @slots }
    };
    (@slot_data pointer) => {
        $crate::__alcedo_owned_value! { @slot_data }
    };
    (@text) => {
        type Passing = $crate::value::AsText;
        type In = (String, alcedo_abi::value::TextView);
        type Out = $crate::value::TextOut;

        unsafe fn stage(&self) -> (String, alcedo_abi::value::TextView) {
            // Copies the string, because the host may write to the value before the callee reads the argument.
            let text = self.owned.ptr().unwrap_or_else(|error| $crate::__private::fail(error)).as_ptr().utf8();
            let view = alcedo_abi::value::TextView::of(&text);
            (text, view)
        }

        fn slot_in(&self, (_text, view): &(String, alcedo_abi::value::TextView)) -> alcedo_abi::zcall::Slot {
            $crate::value::pointer_slot(view)
        }

        fn out() -> $crate::value::TextOut {
            <String as $crate::Value>::out()
        }

        fn slot_out(out: &mut $crate::value::TextOut) -> alcedo_abi::zcall::Slot {
            out.slot()
        }

        #[track_caller]
        unsafe fn take_out(
            _slot: alcedo_abi::zcall::Slot,
            out: $crate::value::TextOut,
        ) -> Result<Self, $crate::CallError> {
            Self::of(&out.into_text())
        }

        fn from_slot(slot: $crate::ptr::ArgumentSlot<'_, Self>) -> Result<Self, $crate::CallError> {
            Self::of(&slot.text()?)
        }

        fn into_slot(self, slot: $crate::ptr::ResultSlot<'_, Self>) -> Result<(), $crate::CallError> {
            let text = self.owned.ptr()?.as_ptr().utf8();
            slot.put_text(&text)
        }
    };
    (@slot_data text) => {
        type SlotData = alcedo_abi::value::TextView;

        fn slot_data_of(from: $crate::kinds::Ptr<'_, Self>) -> alcedo_abi::value::TextView {
            from.view()
        }

        fn slot_of(
            _from: $crate::kinds::Ptr<'_, Self>,
            slot_data: &alcedo_abi::value::TextView,
        ) -> alcedo_abi::zcall::Slot {
            $crate::value::pointer_slot(slot_data)
        }
    };
}
pub(crate) use kind;

/// Implements the methods of an owned type, which is built in or declared by `#[ustruct]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_owned {
    ([$($param:ident: $bound:path),*] $name:ty) => {
        impl<$($param: $bound),*> $name {
            /// Creates an empty owned value.
            ///
            /// # Errors
            /// Fails with `UNAVAILABLE` if no host is attached, for example in a plugin's own tests. Fails with `WRONG_THREAD` on threads
            /// except the game thread.
            #[track_caller]
            pub fn new() -> $crate::__private::core::result::Result<Self, $crate::CallError> {
                $crate::__private::new_owned($crate::__private::core::panic::Location::caller())
            }

            /// Returns `true`, because plugin code owns every value of this type. Only a [`Borrowed`]($crate::Borrowed) can be red.
            #[must_use]
            pub const fn is_black(&self) -> bool {
                true
            }

            /// Returns `true` if the value was destroyed together with its generation or the host. Always returns `true` on threads
            /// except the game thread.
            #[must_use]
            pub fn is_expired(&self) -> bool {
                $crate::__private::is_owned_expired(self)
            }

            /// Returns an owned copy.
            ///
            /// # Errors
            /// Fails with `EXPIRED` if the value no longer exists, or with `WRONG_THREAD` on threads except the game thread.
            #[track_caller]
            pub fn try_clone(&self) -> $crate::__private::core::result::Result<Self, $crate::CallError> {
                $crate::__private::clone_owned(self, $crate::__private::core::panic::Location::caller())
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::default::Default for $name {
            /// Calls `new`. If an error occurs, the running call fails.
            #[track_caller]
            fn default() -> Self {
                Self::new().unwrap_or_else(|error| $crate::__private::fail(error))
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::clone::Clone for $name {
            /// Calls `try_clone`. If an error occurs, the running call fails.
            #[track_caller]
            fn clone(&self) -> Self {
                self.try_clone().unwrap_or_else(|error| $crate::__private::fail(error))
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::cmp::PartialEq for $name {
            /// Compares the values through the host. If the host is unavailable, the running call fails.
            fn eq(&self, other: &Self) -> bool {
                $crate::__private::are_owned_equal(self, other)
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::fmt::Display for $name {
            fn fmt(&self, f: &mut $crate::__private::core::fmt::Formatter<'_>) -> $crate::__private::core::fmt::Result {
                $crate::__private::print_owned(self, f)
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::__private::core::fmt::Formatter<'_>) -> $crate::__private::core::fmt::Result {
                $crate::__private::debug_owned(self, f)
            }
        }

        impl<$($param: $bound),*> $crate::__private::core::str::FromStr for $name {
            type Err = $crate::CallError;

            /// Parses a string in the format of `Display`.
            #[track_caller]
            fn from_str(text: &str) -> $crate::__private::core::result::Result<Self, $crate::CallError> {
                $crate::__private::parse_owned(text, $crate::__private::core::panic::Location::caller())
            }
        }
    };
}
