//! Names of the sections that the host reads from a library file. The names for Windows are shorter, because a section name in a PE file
//! without debug information has at most 8 bytes.

/// Expands to the name of a section, as a string literal.
#[cfg(not(windows))]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_section {
    (manifest) => {
        ".alcedo.manifest"
    };
    (types) => {
        ".alcedo.types"
    };
    (hooks) => {
        ".alcedo.hooks"
    };
}

/// Expands to the name of a section, as a string literal.
#[cfg(windows)]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_section {
    (manifest) => {
        ".alcman"
    };
    (types) => {
        ".alctyp"
    };
    (hooks) => {
        ".alchook"
    };
}
