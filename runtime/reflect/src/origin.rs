//! Origins of types: host, module or script.

/// Kind of code that declares a type.
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
