//! Shared parts of `impl Value`, for types whose values are copied in and out, and for types whose values plugin code owns.

/// Implements `Value` for a type whose values are copied. Slots hold a pointer to a copy on the caller's stack.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_copied_value {
    () => {
        type Seen<'f> = Self;
        type Passing = $crate::__private::ByPointer;
        type In = $crate::__private::Temp<Self>;
        type Out = $crate::__private::Temp<Self>;

        fn see<'f>(
            value: $crate::__private::Viewable<
                '_,
                Self,
                impl $crate::__private::core::ops::FnOnce() -> $crate::__private::ValidityToken<'f>,
            >,
        ) -> Self {
            <Self as $crate::__private::Value>::load($crate::__private::Viewable::ptr(&value))
        }

        #[inline]
        unsafe fn stage(&self) -> Self::In {
            $crate::__private::Temp::of(self)
        }

        #[inline]
        fn slot_in(&self, staged: &Self::In) -> $crate::__private::Slot {
            $crate::__private::Temp::slot(staged)
        }

        #[inline]
        fn out() -> Self::Out {
            $crate::__private::Temp::zeroed()
        }

        #[inline]
        fn slot_out(out: &mut Self::Out) -> $crate::__private::Slot {
            $crate::__private::Temp::slot_out(out)
        }

        #[inline]
        unsafe fn take_out(_slot: $crate::__private::Slot, out: Self::Out) -> $crate::__private::CallResult<Self> {
            // The storage was initially all zero, which is a valid value, and the callee has overwritten this value.
            <Self as $crate::__private::Value>::try_load($crate::__private::Temp::ptr(&out))
        }

        #[inline]
        fn from_slot(slot: $crate::__private::ArgumentSlot<'_, Self>) -> $crate::__private::CallResult<Self> {
            <Self as $crate::__private::Value>::try_load($crate::__private::ArgumentSlot::ptr(slot)?)
        }

        #[inline]
        fn into_slot(self, slot: $crate::__private::ResultSlot<'_, Self>) -> $crate::__private::CallResult<()> {
            $crate::__private::Value::store(&self, $crate::__private::ResultSlot::ptr_mut(slot)?)
        }
    };
}

/// Implements `Value` for a type whose values plugin code owns in host memory. With `@slots`, also implements slots that
/// contain the address of the value.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_owned_value {
    () => {
        const OWNS_MEMORY: $crate::__private::core::primitive::bool = true;
        type Seen<'f> = $crate::__private::Borrowed<'f, Self>;

        fn see<'f>(
            value: $crate::__private::Viewable<
                '_,
                Self,
                impl $crate::__private::core::ops::FnOnce() -> $crate::__private::ValidityToken<'f>,
            >,
        ) -> $crate::__private::Borrowed<'f, Self> {
            $crate::__private::borrowed_view(value)
        }

        fn host_address(
            &self,
        ) -> $crate::__private::CallResult<$crate::__private::core::option::Option<*const Self::Raw>> {
            $crate::__private::owned_at(self)
        }

        #[track_caller]
        fn load(from: $crate::__private::Ptr<'_, Self>) -> Self {
            $crate::__private::load_owned(from, $crate::__private::core::panic::Location::caller())
        }

        fn store(&self, target: $crate::__private::PtrMut<'_, Self>) -> $crate::__private::CallResult<()> {
            $crate::__private::store_owned(self, target)
        }
    };
    (@slots) => {
        type Passing = $crate::__private::ByPointer;
        type In = ();
        type Out = $crate::__private::Owned<Self>;

        unsafe fn stage(&self) {}

        fn slot_in(&self, (): &()) -> $crate::__private::Slot {
            $crate::__private::owned_slot($crate::__private::Kind::owned(self))
        }

        #[track_caller]
        fn out() -> $crate::__private::Owned<Self> {
            $crate::__private::owned_out::<Self>($crate::__private::core::panic::Location::caller())
        }

        fn slot_out(out: &mut $crate::__private::Owned<Self>) -> $crate::__private::Slot {
            $crate::__private::owned_slot(out)
        }

        unsafe fn take_out(_slot: $crate::__private::Slot, out: Self::Out) -> $crate::__private::CallResult<Self> {
            $crate::__private::core::result::Result::Ok($crate::__private::Kind::from_owned(out))
        }

        fn from_slot(slot: $crate::__private::ArgumentSlot<'_, Self>) -> $crate::__private::CallResult<Self> {
            let value = $crate::__private::ArgumentSlot::ptr(slot)?;
            $crate::__private::core::result::Result::Ok(<Self as $crate::__private::Value>::load(value))
        }

        fn into_slot(self, slot: $crate::__private::ResultSlot<'_, Self>) -> $crate::__private::CallResult<()> {
            $crate::__private::Value::store(&self, $crate::__private::ResultSlot::ptr_mut(slot)?)
        }
    };
    (@slot_data) => {
        type SlotData = ();

        fn slot_data_of(_from: $crate::__private::Ptr<'_, Self>) {}

        fn slot_of(from: $crate::__private::Ptr<'_, Self>, (): &()) -> $crate::__private::Slot {
            $crate::__private::address_slot($crate::__private::Ptr::at(from))
        }
    };
}
