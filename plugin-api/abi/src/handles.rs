//! Handles of objects, values, classes and calls across the ABI boundary. A handle may become stale, but never refers to another entity.

use abi_stable::StableAbi;

/// Handle of a host object: a 32-bit index and a 32-bit serial number. Zero refers to no object.
///
/// # Examples
/// ```
/// use alcedo_abi::handles::ObjectHandle;
///
/// let crate_ = ObjectHandle::new(17, 3);
/// assert_eq!(crate_.to_string(), "#17.3");
/// // Another object in the same slot has a different serial number.
/// assert_ne!(crate_, ObjectHandle::new(17, 4));
/// assert_eq!(ObjectHandle::default(), ObjectHandle::NONE);
/// ```
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ObjectHandle(pub u64);

impl ObjectHandle {
    /// Handle that refers to no object.
    pub const NONE: Self = Self(0);

    /// Creates the handle of slot `index` with `serial`. The serial number of a live slot is never zero.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::handles::ObjectHandle;
    ///
    /// let handle = ObjectHandle::new(17, 3);
    /// assert_eq!((handle.index(), handle.serial()), (17, 3));
    /// ```
    #[must_use]
    #[inline]
    pub const fn new(index: u32, serial: u32) -> Self {
        Self((serial as u64) << 32 | index as u64)
    }

    /// Returns the slot index.
    #[must_use]
    #[inline]
    pub const fn index(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    /// Returns the serial number. Successive objects in one slot have different serial numbers.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::handles::ObjectHandle;
    ///
    /// let (earlier, later) = (ObjectHandle::new(17, 3), ObjectHandle::new(17, 4));
    /// assert!(earlier.index() == later.index() && earlier.serial() < later.serial());
    /// ```
    #[must_use]
    #[inline]
    pub const fn serial(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns true if the handle refers to no object.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::handles::ObjectHandle;
    ///
    /// let targets = [ObjectHandle::NONE, ObjectHandle::new(17, 3)];
    /// assert_eq!(targets.iter().filter(|target| !target.is_none()).count(), 1);
    /// ```
    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl core::fmt::Debug for ObjectHandle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.is_none() { f.write_str("none") } else { write!(f, "#{}.{}", self.index(), self.serial()) }
    }
}

impl core::fmt::Display for ObjectHandle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}

/// Interned name in the host's name table; zero is the empty name. Equal names have equal numbers.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct Name(pub u32);

macro_rules! numbers {
    ($($(#[doc = $doc:tt])* $name:ident($number:ident), $none:literal;)*) => {$(
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
        pub struct $name(pub $number);

        impl $name {
            #[doc = $none]
            pub const NONE: Self = Self(0);
        }
    )*};
}

numbers! {
    /// Id of a class in the host's reflection; zero refers to no class. If a reload replaces a class, the new class receives a new id.
    ClassId(u32), "No class.";
    /// Handle of a resolved ZCall name. A positive handle is black: the host implements the function. A negative handle is red: a
    /// module implements the function. Zero refers to no call. Numbers are never reused.
    ZCallHandle(i64), "No call.";
    /// Handle of an owned value in host memory; zero refers to no value. A handle is never reused. It becomes invalid when the
    /// generation of its module ends.
    BlackHandle(u64), "No value.";
    /// Handle, for dynamic calls, of a conjugate that is not an object. The handle of a black conjugate equals its [`BlackHandle`].
    /// The handle of a red conjugate becomes invalid when the frame that created the conjugate closes. Zero refers to no conjugate,
    /// and handles are never reused.
    ConjugateHandle(u64), "No conjugate.";
    /// Number of a value type that a module has resolved; zero refers to no type. The number becomes invalid when the module's generation
    /// ends.
    TypeNumber(u32), "No type.";
}

impl From<BlackHandle> for ConjugateHandle {
    fn from(black: BlackHandle) -> Self {
        Self(black.0)
    }
}

/// Address of a plugin part. Only the module that created the part may dereference the address.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartPtr(pub *mut ());

impl PartPtr {
    /// Null address, for an object without a plugin part.
    pub const NONE: Self = Self(core::ptr::null_mut());
}

/// Implements `Clone` and `Copy` for generic types. The type parameters need not be `Copy`.
#[doc(hidden)]
#[macro_export]
macro_rules! copies {
    ($(impl[$($parameter:tt)*] $ty:ty;)*) => {$(
        impl<$($parameter)*> Clone for $ty {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($parameter)*> Copy for $ty {}
    )*};
}
