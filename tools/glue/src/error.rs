//! Errors of generating glue.

/// Reason why glue cannot be generated for a library or a host.
///
/// # Examples
/// ```
/// use alcedo_glue::GlueError;
///
/// let error = GlueError::Unknown { member: "Door.hinge".into(), text: "Quaternion".into() };
/// assert!(error.to_string().starts_with("`Door.hinge` is of the type `Quaternion`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GlueError {
    /// A type belongs to another package, and the Rust path of that package's glue is not specified.
    #[error(
        "`{member}` names {path}, which is not among the types that are written here: name the crate with the glue of package `{package}`, with \
         `--package {package}=some_crate`, or a module of the same crate, with `--package {package}=crate::some_module`"
    )]
    Elsewhere {
        /// The member that uses the type.
        member: String,
        /// The type.
        path: String,
        /// The package of the type.
        package: String,
    },
    /// A member has a type for which no Rust type is known.
    #[error(
        "`{member}` is of the type `{}`, for which this version of alcedo has no Rust type: use the version that built it, or rebuild it",
        text.escape_debug()
    )]
    Unknown {
        /// The member that has this type.
        member: String,
        /// The type, in the syntax of signatures.
        text: String,
    },
    /// A name is invalid in Rust. The Rust compiler accepts no such name in a declaration, so the library or the host is damaged or forged.
    #[error("{owner} has a member or a type called `{}`, which is not a valid Rust name: rebuild it", name.escape_debug())]
    Name {
        /// The path of the type that contains the name, or the path of the type itself.
        owner: String,
        /// The name.
        name: String,
    },
    /// A type has the name of an item that the generated source uses, so the type would shadow this item.
    #[error(
        "{path} would be `{name}` in the source, which is written with another type of that name: rename it, or leave it out, with \
         `--only` for other packages"
    )]
    Hides {
        /// The name.
        name: String,
        /// The path of the type.
        path: String,
    },
    /// Two types would have the same name in the generated source.
    #[error(
        "{first} and {second} would both be `{name}`: write a source for each package, with `--only {package}` for this one"
    )]
    Twice {
        /// The name.
        name: String,
        /// The path of the first type.
        first: String,
        /// The path of the second type.
        second: String,
        /// The package of the first type.
        package: String,
    },
    /// A requested package contains no declarations.
    #[error("package `{package}` has no types: types exist in {found}")]
    NoSuchPackage {
        /// The package.
        package: String,
        /// The packages with declarations.
        found: String,
    },
}
