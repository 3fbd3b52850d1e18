//! Where a type comes from.

/// Where a type was declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Origin {
    /// In the host's Rust.
    #[default]
    Native,
    /// By a module.
    Dynamic,
    /// In a script.
    Script,
}
