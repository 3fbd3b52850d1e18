//! Where a type comes from.

/// Where a type was declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// In the host's Rust.
    Native,
    /// By a module.
    Dynamic,
    /// In a script.
    Script,
}
