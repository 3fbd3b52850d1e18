//! Why no glue can be written.

/// Why there is no glue for a library or a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GlueError {
    /// A type of a package that is not written here and has no glue.
    #[error(
        "`{member}` names {path}, which is not among the types that are written here: say where the glue of package `{package}` is, with \
         `--package {package}=some_crate`"
    )]
    Elsewhere {
        /// The member that names it.
        member: String,
        /// The type.
        path: String,
        /// Its package.
        package: String,
    },
    /// A type that this program has no words for.
    #[error(
        "`{member}` is of the type `{}`, for which this version of alcedo has no Rust type: use the version that built it, or build it anew",
        text.escape_debug()
    )]
    Unknown {
        /// The member of that type.
        member: String,
        /// The type as signatures write it.
        text: String,
    },
    /// A name that cannot stand in a source. The compiler of a plugin makes none, so the library or the host is damaged or not what it
    /// seems.
    #[error("{owner} has a member or a type called `{}`, which is no name in Rust: build it anew", name.escape_debug())]
    Name {
        /// The path of the type that it is of, or its own.
        owner: String,
        /// The name.
        name: String,
    },
    /// A type that would hide one that the source itself is written with.
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
    /// Two types that would have one name in the source.
    #[error(
        "{first} and {second} would both be `{name}`: write a source for each package, with `--only {package}` for this one"
    )]
    Twice {
        /// The name.
        name: String,
        /// The path of one.
        first: String,
        /// The path of the other.
        second: String,
        /// The package of the first.
        package: String,
    },
    /// A package that is to be written and declares nothing.
    #[error("there is no type in package `{package}`: it has types in {found}")]
    NoSuchPackage {
        /// The package.
        package: String,
        /// The packages that there are.
        found: String,
    },
}
