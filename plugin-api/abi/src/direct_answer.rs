//! Result of a direct call, in both directions.

use abi_stable::StableAbi;

/// Status of a direct call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectStatus(pub u64);

impl DirectStatus {
    /// The call was done, and the bits are the result.
    pub const DONE: Self = Self(0);
    /// The call failed. A module has written the failure into the storage passed by the caller; the host keeps the error until
    /// it is fetched on the same thread.
    pub const FAILED: Self = Self(1);
    /// The call was not done: for this object, or at this moment, a call with slots is required, which performs it or reports
    /// the error. Never returned by modules.
    pub const NOT_DONE: Self = Self(2);
}

/// Result of a direct call, in two registers, in both directions. The function types differ by direction: a module additionally
/// receives the object's memory, the plugin part and storage for a failure in registers.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectAnswer {
    /// Status of the call.
    pub status: DirectStatus,
    /// Word of the result if there is one and the call was done; otherwise zero.
    pub bits: u64,
}

impl DirectAnswer {
    /// Returns the result of a call that was done.
    #[inline]
    pub const fn done(bits: u64) -> Self {
        Self { status: DirectStatus::DONE, bits }
    }

    /// Returns a status without a result.
    #[inline]
    pub const fn without(status: DirectStatus) -> Self {
        Self { status, bits: 0 }
    }
}
