//! What is said of a member beside its flags, for editors and tools.

/// Keys and values, in order.
pub type Meta = Vec<(String, String)>;
