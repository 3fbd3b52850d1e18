//! Why no glue can be written. It stands with the errors, because they name it and the writer uses both.

/// Why there is no glue for a library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GlueError {
    /// A type of a package that is not the module's own and has no glue.
    #[error(
        "`{member}` names {path}, which this module does not declare: say where the glue of package `{package}` is, with \
         `--package {package}=some_crate`"
    )]
    Elsewhere {
        /// Who names it.
        member: String,
        /// The type.
        path: String,
        /// Its package.
        package: String,
    },
    /// A type that this program has no words for.
    #[error(
        "`{member}` is of the type `{text}`, for which this version of alcedo has no Rust type: use the version that built it"
    )]
    Unknown {
        /// Whose type.
        member: String,
        /// The type as signatures write it.
        text: String,
    },
}
