//! How a direct call ends, in both directions.

use abi_stable::StableAbi;

/// How a direct call ended.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectStatus(pub u64);

impl DirectStatus {
    /// It was done, and the bits are the result.
    pub const DONE: Self = Self(0);
    /// It failed. A module has written the failure where the call said; the host keeps the error until it is fetched, on the same thread.
    pub const FAILED: Self = Self(1);
    /// Nothing was done: this object, or this moment, takes a call with slots, which does it or says why not. No module gives this.
    pub const NOT_DONE: Self = Self(2);
}

/// What a direct call gives back, in two registers. This is the same in both directions; the forms of the calls are not: a module is given
/// the object's memory and plugin part and a place for a failure, in registers as well.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectAnswer {
    /// How it ended.
    pub status: DirectStatus,
    /// The word of the result, where there is one and the call was done; else zero.
    pub bits: u64,
}

impl DirectAnswer {
    /// It was done, and gives these bits.
    #[inline]
    pub const fn done(bits: u64) -> Self {
        Self { status: DirectStatus::DONE, bits }
    }

    /// The same without a result.
    #[inline]
    pub const fn without(status: DirectStatus) -> Self {
        Self { status, bits: 0 }
    }
}
