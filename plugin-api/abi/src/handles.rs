//! Names for things on the other side. A handle may be stale; it is never another thing.

use abi_stable::StableAbi;

/// A host object: 32 bits of index, 32 bits of serial. Zero is no object.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ObjectHandle(pub u64);

impl ObjectHandle {
    /// No object.
    pub const NONE: Self = Self(0);

    /// The handle of slot `index` while it has `serial`. A living slot's serial is never zero.
    #[must_use]
    #[inline]
    pub const fn new(index: u32, serial: u32) -> Self {
        Self((serial as u64) << 32 | index as u64)
    }

    /// The slot.
    #[must_use]
    #[inline]
    pub const fn index(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    /// Which of the slot's tenants is meant.
    #[must_use]
    #[inline]
    pub const fn serial(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether this names no object at all.
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

/// An interned name of the host's name table; zero is the empty name. Equal names have equal numbers.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct Name(pub u32);

/// A class of the host's reflection; zero is none. A class that was replaced in a reload has a new number.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct ClassId(pub u32);

impl ClassId {
    /// No class.
    pub const NONE: Self = Self(0);
}

/// A resolved ZCall. Positive: black, the host implements it. Negative: red, a module implements it. Zero: none.
/// A number is never used twice.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct ZCallHandle(pub i64);

impl ZCallHandle {
    /// No call.
    pub const NONE: Self = Self(0);
}

/// A value in host memory that plugin code owns; zero is none. It is never another one, and dead with its generation.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct BlackHandle(pub u64);

impl BlackHandle {
    /// No value.
    pub const NONE: Self = Self(0);
}

/// A conjugate that is no object, red or black, as dynamic calls pass it. A black one has the number of its
/// [`BlackHandle`]; a red one is dead when the frame has closed in which it was lent. Zero is none; never another one.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct ConjugateHandle(pub u64);

impl ConjugateHandle {
    /// No conjugate.
    pub const NONE: Self = Self(0);
}

impl From<BlackHandle> for ConjugateHandle {
    fn from(black: BlackHandle) -> Self {
        Self(black.0)
    }
}

/// A type of values as a module asked for it; zero is none. It is dead with its generation.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct TypeNumber(pub u32);

impl TypeNumber {
    /// No type.
    pub const NONE: Self = Self(0);
}

/// A plugin part as the host sees it: an address that only the module that made it may follow.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartPtr(pub *mut ());

impl PartPtr {
    /// No plugin part.
    pub const NONE: Self = Self(core::ptr::null_mut());
}
