//! Metadata of a member for editors and tools. Flags are stored separately.

/// Key-value pairs, in order.
pub type Meta = Vec<(String, String)>;

/// Returns the value for a key.
pub fn value_of<'a>(meta: &'a [(String, String)], key: &str) -> Option<&'a str> {
    meta.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
}
