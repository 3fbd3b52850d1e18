//! Result of a direct call, from host to module or from module to host.

use abi_stable::StableAbi;

/// Status of a direct call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct DirectStatus(pub u64);

impl DirectStatus {
    /// The call succeeded, and [`DirectAnswer::bits`] contains the result.
    pub const DONE: Self = Self(0);
    /// The call failed. A module function writes the failure into the caller's storage. After the failure of a host function, the host
    /// stores the error until the module requests the error on this thread.
    pub const FAILED: Self = Self(1);
    /// The function was not called, because direct calls are unavailable for this object or in the current mode of the host. The caller
    /// must make the call with slots instead. The call with slots succeeds or reports the error. Modules never return this status.
    pub const NOT_DONE: Self = Self(2);
}

/// Result of a direct call in two registers. Host functions and module functions both return this type. The parameters differ: unlike a
/// host function, a module function also receives the object's memory, the plugin part and storage for a failure.
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
