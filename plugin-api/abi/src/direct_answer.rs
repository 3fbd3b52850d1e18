//! Result of a direct call. Calls from the host to a module and calls from a module to the host both have this result.

use abi_stable::StableAbi;

/// Status of a direct call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectStatus(pub u64);

impl DirectStatus {
    /// The call succeeded, and [`DirectAnswer::bits`] contains the result.
    pub const DONE: Self = Self(0);
    /// The call failed. A module function has written the failure into the caller's storage. For a host function, the host keeps the error
    /// until the module requests it on the same thread.
    pub const FAILED: Self = Self(1);
    /// The function was not called, because direct calls are unavailable for this object or in the current mode of the host. The caller
    /// must repeat the call with slots, which succeeds or reports the error. Modules never return this status.
    pub const NOT_DONE: Self = Self(2);
}

/// Result of a direct call in two registers, returned by host functions and by module functions.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectAnswer {
    /// Status of the call.
    pub status: DirectStatus,
    /// Result as a word. Zero for a failed call, and for a function without a result.
    pub bits: u64,
}

impl DirectAnswer {
    /// Returns the answer of a successful call with the result `bits`.
    #[inline]
    pub const fn done(bits: u64) -> Self {
        Self { status: DirectStatus::DONE, bits }
    }

    /// Returns an answer with a status but no result.
    #[inline]
    pub const fn without(status: DirectStatus) -> Self {
        Self { status, bits: 0 }
    }
}
