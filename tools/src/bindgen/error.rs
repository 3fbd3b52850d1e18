//! Why no declarations can be written for a header of C.

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(super) enum BindgenError {
    /// There is no parser of C.
    #[error(
        "libclang, which reads the header, was not found ({0}); Debian has it as `libclang1`, and LIBCLANG_PATH may name its folder"
    )]
    NoClang(String),
    /// The header is wrong, or the parser was told too little.
    #[error("{file} cannot be read as C: {message}; arguments for the compiler, `-I` for one, go behind `--`")]
    Header {
        /// The header.
        file: String,
        /// What the parser says.
        message: String,
    },
    /// The name of the library is none that a class can be bound to.
    #[error(
        "`{0}` is no name of a library: say `--library` with letters, digits, `_` and `-`, and without path and extension"
    )]
    Library(String),
}
