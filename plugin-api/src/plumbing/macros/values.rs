//! Shared parts of `impl Value`, for types whose values are copied in and out, and for types whose values plugin code owns.

/// Implements `Value` for a type whose values are copied. Slots hold a pointer to a copy on the caller's stack.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_copied_value {
    () => {
        type Seen<'f> = Self;
        type Way = $crate::plumbing::ByPointer;
        type In = $crate::plumbing::Temp<Self>;
        type Out = $crate::plumbing::Temp<Self>;

        fn see<'f>(
            value: $crate::plumbing::Viewable<
                '_,
                Self,
                impl $crate::plumbing::core::ops::FnOnce() -> $crate::plumbing::ValidityToken<'f>,
            >,
        ) -> Self {
            <Self as $crate::plumbing::Value>::load(value.ptr())
        }

        #[inline]
        unsafe fn stage(&self) -> Self::In {
            $crate::plumbing::Temp::of(self)
        }

        #[inline]
        fn slot_in(&self, staged: &Self::In) -> $crate::plumbing::Slot {
            staged.slot()
        }

        #[inline]
        fn out() -> Self::Out {
            $crate::plumbing::Temp::zeroed()
        }

        #[inline]
        fn slot_out(out: &mut Self::Out) -> $crate::plumbing::Slot {
            out.slot_out()
        }

        #[inline]
        unsafe fn take_out(
            _slot: $crate::plumbing::Slot,
            out: Self::Out,
        ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
            // Zero bytes are a value, and the callee has overwritten them with another.
            <Self as $crate::plumbing::Value>::try_load(out.ptr())
        }

        #[inline]
        fn from_slot(
            slot: $crate::plumbing::ArgumentSlot<'_, Self>,
        ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
            <Self as $crate::plumbing::Value>::try_load(slot.ptr()?)
        }

        #[inline]
        fn into_slot(
            self,
            slot: $crate::plumbing::ResultSlot<'_, Self>,
        ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
            $crate::plumbing::Value::store(&self, slot.ptr_mut()?)
        }
    };
}

/// Implements `Value` for a type whose values plugin code owns in host memory. With `@slots`, calls pass the address of a value.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_owned_value {
    () => {
        const OWNS_MEMORY: $crate::plumbing::core::primitive::bool = true;
        type Seen<'f> = $crate::plumbing::Lent<'f, Self>;

        fn see<'f>(
            value: $crate::plumbing::Viewable<
                '_,
                Self,
                impl $crate::plumbing::core::ops::FnOnce() -> $crate::plumbing::ValidityToken<'f>,
            >,
        ) -> $crate::plumbing::Lent<'f, Self> {
            $crate::plumbing::lend(value)
        }

        fn lies_at(
            &self,
        ) -> $crate::plumbing::core::result::Result<
            $crate::plumbing::core::option::Option<*const Self::Raw>,
            $crate::plumbing::CallError,
        > {
            $crate::plumbing::owned_at(self).map($crate::plumbing::core::option::Option::Some)
        }

        #[track_caller]
        fn load(from: $crate::plumbing::Ptr<'_, Self>) -> Self {
            $crate::plumbing::load_owned(from, $crate::plumbing::core::panic::Location::caller())
        }

        fn store(
            &self,
            target: $crate::plumbing::PtrMut<'_, Self>,
        ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
            $crate::plumbing::store_owned(self, target)
        }
    };
    (@slots) => {
        type Way = $crate::plumbing::ByPointer;
        type In = ();
        type Out = $crate::plumbing::Owned<Self>;

        unsafe fn stage(&self) {}

        fn slot_in(&self, (): &()) -> $crate::plumbing::Slot {
            $crate::plumbing::owned_slot($crate::plumbing::Kind::owned(self))
        }

        #[track_caller]
        fn out() -> $crate::plumbing::Owned<Self> {
            $crate::plumbing::owned_out::<Self>($crate::plumbing::core::panic::Location::caller())
        }

        fn slot_out(out: &mut $crate::plumbing::Owned<Self>) -> $crate::plumbing::Slot {
            $crate::plumbing::owned_slot(out)
        }

        unsafe fn take_out(
            _slot: $crate::plumbing::Slot,
            out: $crate::plumbing::Owned<Self>,
        ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
            $crate::plumbing::core::result::Result::Ok($crate::plumbing::Kind::from_owned(out))
        }

        fn from_slot(
            slot: $crate::plumbing::ArgumentSlot<'_, Self>,
        ) -> $crate::plumbing::core::result::Result<Self, $crate::plumbing::CallError> {
            $crate::plumbing::core::result::Result::Ok(<Self as $crate::plumbing::Value>::load(slot.ptr()?))
        }

        fn into_slot(
            self,
            slot: $crate::plumbing::ResultSlot<'_, Self>,
        ) -> $crate::plumbing::core::result::Result<(), $crate::plumbing::CallError> {
            $crate::plumbing::Value::store(&self, slot.ptr_mut()?)
        }
    };
    (@shown) => {
        type Shown = ();

        fn show(_from: $crate::plumbing::Ptr<'_, Self>) {}

        fn slot_of(from: $crate::plumbing::Ptr<'_, Self>, (): &()) -> $crate::plumbing::Slot {
            $crate::plumbing::address_slot(from.at())
        }
    };
}
