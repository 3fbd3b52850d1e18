//! What all owned types have in common: made and given back by the host, copied, compared and printed by it.
#![expect(unsafe_code, reason = "declares the trait whose promise the views rest on")]

use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::Owned;
use super::ptr::{Ptr, PtrMut};
use crate::Value;

/// A type whose values live in host memory: `UArray<T>`, `UString`, `Delegate<fn(…)>`, structs with `#[ustruct]`.
///
/// A value of such a type is *black*: plugin code owns it, may keep it in any field, and may drop it on any thread. To
/// use it on the game thread, open it: `this.open(&self.list)` gives a [`Lent`](crate::Lent). Properties and
/// parameters of these types are seen as `Lent` from the start; their `clone()` gives a black value.
///
/// # Safety
/// `View<'f>` is `#[repr(transparent)]` over `Lent<'f, Self>` or has no size. The value behind `owned` is of this type,
/// and zero bytes are a value of `Raw`.
pub unsafe trait Kind: Value {
    /// What [`Lent`](crate::Lent) dereferences to.
    type View<'f>;
    /// What stands on a caller's stack while a value travels in a slot.
    #[doc(hidden)]
    type Shown;

    /// The value itself.
    #[doc(hidden)]
    fn owned(&self) -> &Owned<Self>;

    /// What plugin code is given for the value.
    #[doc(hidden)]
    fn from_owned(owned: Owned<Self>) -> Self;

    /// For texts, the text itself; for any other kind the host prints the value.
    #[doc(hidden)]
    fn plain_text(_from: Ptr<'_, Self>) -> Option<String> {
        None
    }

    /// Overwrites a text; for any other kind the host reads the value.
    #[doc(hidden)]
    fn put_plain_text(_target: PtrMut<'_, Self>, _text: &str) -> Option<Result<(), CallError>> {
        None
    }

    /// What stands on a caller's stack while the value travels in a slot.
    #[doc(hidden)]
    fn show(from: Ptr<'_, Self>) -> Self::Shown;

    /// The slot of a value, of which `shown` came from `show`. Who uses the slot keeps both where they are.
    #[doc(hidden)]
    fn slot_of(from: Ptr<'_, Self>, shown: &Self::Shown) -> Slot;
}

/// What the views of built-in types dereference to: their verbs stand on [`Lent`](crate::Lent) itself.
#[derive(Debug)]
pub struct Bare;

/// Declares an owned type, with all that is the same for each.
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

        #[expect(unsafe_code, reason = "says how the host keeps this kind, and follows pointer slots")]
        // SAFETY: the host keeps this kind in just this form, of which any bytes are valid until they are followed;
        // values travel in slots as the border prescribes.
        unsafe impl<$($param: $bound),*> $crate::Value for $name<$($param),*> {
            const KIND: alcedo_abi::kinds::PropertyKind = alcedo_abi::kinds::PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            type Raw = $raw;
            type Literal = $literal;
            $crate::__alcedo_owned_value! {}
            $crate::kinds::kind!(@$slots);
        }

        #[expect(unsafe_code, reason = "says what the view is")]
        // SAFETY: the bare view has no size; every way to make one goes through the host with this type's number.
        unsafe impl<$($param: $bound),*> $crate::Kind for $name<$($param),*> {
            type View<'f> = $crate::kinds::kind::Bare;
            $crate::kinds::kind!(@shown $slots);
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
    (@shown pointer) => {
        $crate::__alcedo_owned_value! { @shown }
    };
    (@text) => {
        type Way = $crate::value::AsText;
        type In = alcedo_abi::value::TextView;
        type Out = $crate::value::TextOut;

        unsafe fn stage(&self) -> alcedo_abi::value::TextView {
            // Nobody can end it before this call has given it on.
            self.owned.ptr().unwrap_or_else(|error| $crate::plumbing::fail(error)).as_ptr().view()
        }

        fn slot_in(&self, staged: &alcedo_abi::value::TextView) -> alcedo_abi::zcall::Slot {
            $crate::value::pointer_slot(staged)
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

        fn from_slot(slot: $crate::blocks::ArgumentSlot<'_, Self>) -> Result<Self, $crate::CallError> {
            Self::of(&slot.text()?)
        }

        fn into_slot(self, slot: $crate::blocks::ResultSlot<'_, Self>) -> Result<(), $crate::CallError> {
            let text = self.owned.ptr()?.as_ptr().utf8();
            slot.put_text(&text)
        }
    };
    (@shown text) => {
        type Shown = alcedo_abi::value::TextView;

        fn show(from: $crate::kinds::Ptr<'_, Self>) -> alcedo_abi::value::TextView {
            from.view()
        }

        fn slot_of(
            _from: $crate::kinds::Ptr<'_, Self>,
            shown: &alcedo_abi::value::TextView,
        ) -> alcedo_abi::zcall::Slot {
            $crate::value::pointer_slot(shown)
        }
    };
}
pub(crate) use kind;

/// What every owned type offers, built-in or declared by `#[ustruct]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_owned {
    ([$($param:ident: $bound:path),*] $name:ty) => {
        impl<$($param: $bound),*> $name {
            /// A new value, which plugin code owns: the empty one.
            ///
            /// # Errors
            /// `UNAVAILABLE` without a host, as in a plugin's own tests; `WRONG_THREAD` off the game thread.
            #[track_caller]
            pub fn new() -> $crate::plumbing::core::result::Result<Self, $crate::CallError> {
                $crate::plumbing::new_owned($crate::plumbing::core::panic::Location::caller())
            }

            /// Whether plugin code owns the value: always, for what is no [`Lent`]($crate::Lent).
            #[must_use]
            pub const fn is_black(&self) -> bool {
                true
            }

            /// Whether the value has ended with its generation, or with its host.
            #[must_use]
            pub fn is_expired(&self) -> bool {
                $crate::plumbing::is_owned_expired(self)
            }

            /// A copy, which plugin code owns as well.
            ///
            /// # Errors
            /// `WRONG_THREAD` off the game thread.
            #[track_caller]
            pub fn try_clone(&self) -> $crate::plumbing::core::result::Result<Self, $crate::CallError> {
                $crate::plumbing::clone_owned(self, $crate::plumbing::core::panic::Location::caller())
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::default::Default for $name {
            /// As `new`; the running call fails where that is refused.
            #[track_caller]
            fn default() -> Self {
                Self::new().unwrap_or_else(|error| $crate::plumbing::fail(error))
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::clone::Clone for $name {
            /// As `try_clone`; the running call fails where that is refused.
            #[track_caller]
            fn clone(&self) -> Self {
                self.try_clone().unwrap_or_else(|error| $crate::plumbing::fail(error))
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::cmp::PartialEq for $name {
            /// Whether the host finds the two values equal; the running call fails where it cannot be asked.
            fn eq(&self, other: &Self) -> bool {
                $crate::plumbing::are_owned_equal(self, other)
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::fmt::Display for $name {
            fn fmt(&self, f: &mut $crate::plumbing::core::fmt::Formatter<'_>) -> $crate::plumbing::core::fmt::Result {
                $crate::plumbing::print_owned(self, f)
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut $crate::plumbing::core::fmt::Formatter<'_>) -> $crate::plumbing::core::fmt::Result {
                $crate::plumbing::debug_owned(self, f)
            }
        }

        impl<$($param: $bound),*> $crate::plumbing::core::str::FromStr for $name {
            type Err = $crate::CallError;

            /// Reads a value as `Display` writes it.
            #[track_caller]
            fn from_str(text: &str) -> $crate::plumbing::core::result::Result<Self, $crate::CallError> {
                $crate::plumbing::parse_owned(text, $crate::plumbing::core::panic::Location::caller())
            }
        }
    };
}
