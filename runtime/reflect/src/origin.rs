//! Origins of types.

/// Origin of a type's declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Origin {
    /// Rust code of the host.
    #[default]
    Native,
    /// A module.
    Dynamic,
    /// A script.
    Script,
}
