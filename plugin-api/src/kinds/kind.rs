//! What all owned types have in common: made and given back by the host, copied, compared and printed by it.
#![expect(unsafe_code, reason = "declares the trait whose promise the views rest on")]

use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::Owned;
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
    ///
    /// # Safety
    /// `raw` is a live value of this type, and this is the game thread.
    #[doc(hidden)]
    unsafe fn plain_text(_raw: *const Self::Raw) -> Option<String> {
        None
    }

    /// Overwrites a text; for any other kind the host reads the value.
    ///
    /// # Safety
    /// `target` is a live value of this type that may be written.
    #[doc(hidden)]
    unsafe fn put_plain_text(_target: *mut Self::Raw, _text: &str) -> Option<Result<(), CallError>> {
        None
    }

    /// What stands on a caller's stack while the value travels in a slot.
    ///
    /// # Safety
    /// `raw` is a live value of this type.
    #[doc(hidden)]
    unsafe fn show(raw: *const Self::Raw) -> Self::Shown;

    /// The slot of a value.
    ///
    /// # Safety
    /// `shown` came from `show` of the value, and both stay where they are while the slot is in use.
    #[doc(hidden)]
    unsafe fn slot_of(raw: *const Self::Raw, shown: &Self::Shown) -> Slot;
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
        $(, plain: $plain:path)?
    ) => {
        $(#[$attr])*
        pub struct $name<$($param: $bound),*> {
            owned: $crate::kinds::Owned<Self>,
            of: core::marker::PhantomData<fn() -> ($($param,)*)>,
        }

        // SAFETY: the host keeps this kind in just this form, of which any bytes are valid until they are followed;
        // values travel in slots as the border prescribes.
        unsafe impl<$($param: $bound),*> $crate::Value for $name<$($param),*> {
            const KIND: alcedo_abi::kinds::PropertyKind = alcedo_abi::kinds::PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = true;
            type Raw = $raw;
            type Literal = $literal;
            type Seen<'f> = $crate::Lent<'f, Self>;
            $crate::kinds::kind!(@$slots);

            unsafe fn see<'f>(at: *mut $raw, token: impl FnOnce() -> $crate::kinds::ValidityToken<'f>) -> $crate::Lent<'f, Self> {
                // SAFETY: promised by the caller.
                unsafe { $crate::Lent::new(at, token()) }
            }

            #[track_caller]
            unsafe fn load(raw: *const $raw) -> Self {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::load_owned(raw, core::panic::Location::caller()) }
            }

            unsafe fn store(&self, target: *mut $raw) -> Result<(), $crate::CallError> {
                // SAFETY: promised by the caller.
                unsafe { $crate::plumbing::store_owned(self, target) }
            }

            fn lies_at(&self) -> Result<Option<*const $raw>, $crate::CallError> {
                $crate::plumbing::owned_at(self).map(Some)
            }
        }

        // SAFETY: the bare view has no size; every way to make one goes through the host with this type's number.
        unsafe impl<$($param: $bound),*> $crate::Kind for $name<$($param),*> {
            type View<'f> = $crate::kinds::kind::Bare;
            $crate::kinds::kind!(@shown $slots);
            $(
                unsafe fn plain_text(raw: *const $raw) -> Option<String> {
                    // SAFETY: promised by the caller.
                    Some(unsafe { $plain(raw) })
                }

                unsafe fn put_plain_text(target: *mut $raw, text: &str) -> Option<Result<(), $crate::CallError>> {
                    let of = core::marker::PhantomData::<Self>;
                    // SAFETY: promised by the caller.
                    Some(unsafe { $crate::kinds::text::PutText::put_text(of, text, target) })
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
        type In = ();
        type Out = $crate::kinds::Owned<Self>;

        unsafe fn stage(&self) {}

        unsafe fn slot_in(&self, (): &()) -> alcedo_abi::zcall::Slot {
            $crate::plumbing::owned_slot(&self.owned)
        }

        #[track_caller]
        fn out() -> $crate::kinds::Owned<Self> {
            $crate::plumbing::owned_out::<Self>(core::panic::Location::caller())
        }

        unsafe fn slot_out(out: &mut $crate::kinds::Owned<Self>) -> alcedo_abi::zcall::Slot {
            $crate::plumbing::owned_slot(out)
        }

        unsafe fn take_out(
            _slot: alcedo_abi::zcall::Slot,
            out: $crate::kinds::Owned<Self>,
        ) -> Result<Self, $crate::CallError> {
            Ok($crate::Kind::from_owned(out))
        }

        unsafe fn from_slot(slot: alcedo_abi::zcall::Slot) -> Result<Self, $crate::CallError> {
            let raw = $crate::value::pointer_of::<Self::Raw>(slot)?;
            // SAFETY: for this kind the slot points to a live value, by contract.
            Ok(unsafe { <Self as $crate::Value>::load(raw) })
        }

        unsafe fn into_slot(self, slot: &mut alcedo_abi::zcall::Slot) -> Result<(), $crate::CallError> {
            let raw = $crate::value::pointer_of::<Self::Raw>(*slot)?;
            // SAFETY: for this kind the slot of a result points to zero bytes, which are a live value, by contract.
            unsafe { $crate::Value::store(&self, raw) }
        }
    };
    (@shown pointer) => {
        type Shown = ();

        unsafe fn show(_raw: *const Self::Raw) {}

        unsafe fn slot_of(raw: *const Self::Raw, (): &()) -> alcedo_abi::zcall::Slot {
            $crate::value::address_slot(raw)
        }
    };
    (@text) => {
        type In = alcedo_abi::value::TextView;
        type Out = $crate::value::TextOut;

        unsafe fn stage(&self) -> alcedo_abi::value::TextView {
            let at = $crate::plumbing::owned_at(self).unwrap_or_else(|error| $crate::plumbing::fail(error));
            // SAFETY: it lies there, since nobody can end it before this call has given it on.
            unsafe { $crate::kinds::text::view(at) }
        }

        unsafe fn slot_in(&self, staged: &alcedo_abi::value::TextView) -> alcedo_abi::zcall::Slot {
            $crate::value::pointer_slot(staged)
        }

        fn out() -> $crate::value::TextOut {
            <String as $crate::Value>::out()
        }

        unsafe fn slot_out(out: &mut $crate::value::TextOut) -> alcedo_abi::zcall::Slot {
            // SAFETY: promised by the caller; both texts travel alike.
            unsafe { <String as $crate::Value>::slot_out(out) }
        }

        #[track_caller]
        unsafe fn take_out(
            slot: alcedo_abi::zcall::Slot,
            out: $crate::value::TextOut,
        ) -> Result<Self, $crate::CallError> {
            // SAFETY: promised by the caller; both texts travel alike.
            Self::of(&unsafe { <String as $crate::Value>::take_out(slot, out) }?)
        }

        unsafe fn from_slot(slot: alcedo_abi::zcall::Slot) -> Result<Self, $crate::CallError> {
            // SAFETY: promised by the caller; both texts travel alike.
            Self::of(&unsafe { <String as $crate::Value>::from_slot(slot) }?)
        }

        unsafe fn into_slot(self, slot: &mut alcedo_abi::zcall::Slot) -> Result<(), $crate::CallError> {
            let at = $crate::plumbing::owned_at(&self)?;
            // SAFETY: it lies there, as was just found.
            let text = unsafe { <String as $crate::Value>::load(at) };
            // SAFETY: promised by the caller; both texts travel alike.
            unsafe { <String as $crate::Value>::into_slot(text, slot) }
        }
    };
    (@shown text) => {
        type Shown = alcedo_abi::value::TextView;

        unsafe fn show(raw: *const Self::Raw) -> alcedo_abi::value::TextView {
            // SAFETY: promised by the caller.
            unsafe { $crate::kinds::text::view(raw) }
        }

        unsafe fn slot_of(_raw: *const Self::Raw, shown: &alcedo_abi::value::TextView) -> alcedo_abi::zcall::Slot {
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
