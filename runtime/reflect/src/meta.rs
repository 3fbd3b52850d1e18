//! Metadata of a member besides its flags, for editors and tools.

/// Key-value pairs, in order.
pub type Meta = Vec<(String, String)>;
