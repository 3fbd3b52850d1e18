//! Flag bits of objects.

/// Class default object (CDO) of its class.
pub const CDO: u32 = 1;
/// Direct or indirect subobject of a CDO.
pub(crate) const IN_CDO: u32 = 1 << 1;
/// Object that was created together with its outer.
pub const SUBOBJECT: u32 = 1 << 2;
