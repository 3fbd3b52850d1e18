//! Reasons for which the loader never unmaps a library, as far as its file shows them.

/// Reasons to stay mapped, and the libraries of its imports.
#[derive(Debug, Default)]
pub(crate) struct Pinning {
    pub(crate) is_marked: bool,
    /// Defined symbols that are unique per process (`STB_GNU_UNIQUE`): the loader never unmaps a library that provided one of them.
    pub(crate) unique: Vec<String>,
    /// Library of each import, if its version specifies one.
    pub(crate) libraries: Vec<Option<String>>,
}
