//! By what the loader never unmaps a library, as far as the file says so itself.

/// What keeps a library for ever, and where its imports come from.
#[derive(Debug, Default)]
pub(crate) struct Stays {
    /// It was linked with `-z nodelete`.
    pub(crate) is_marked: bool,
    /// Symbols of which a process has one (`STB_GNU_UNIQUE`), defined here: the loader never unmaps a library that it
    /// has taken one from.
    pub(crate) unique: Vec<String>,
    /// For each import the library it is of, where a version says so.
    pub(crate) libraries: Vec<Option<String>>,
}
