//! Errors of emitting the types of modules. After an error, no type of the batch is declared.

use crate::boundary::CallError;
use crate::object::refusal::DeclareError;

/// Reason for refusing a batch.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{EmitError, LoadError};
///
/// /// Checks if two modules declare one name.
/// fn is_clash(error: &LoadError) -> bool {
///     matches!(error, LoadError::Emit(EmitError::Clash { .. }))
/// }
/// assert!(!is_clash(&LoadError::NoMaster));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// A declaration of the modules breaks a rule.
    #[error("the types of {modules} cannot be declared: {source}")]
    Declare {
        /// The modules of the batch.
        modules: String,
        /// The rule.
        source: DeclareError,
    },
    /// A function of a C library has a type that C cannot read.
    #[cfg(feature = "dll-bind")]
    #[error("the types of {modules} cannot be declared: {source}")]
    Bind {
        /// The modules of the batch.
        modules: String,
        /// The type that C cannot read.
        source: alcedo_dll_bind::BindError,
    },
    /// Two declarations of one path.
    #[error("{path} is declared already, by {first}, and now by {second}: give one of the two another name")]
    Clash {
        /// The path of the class, struct or interface.
        path: String,
        /// The first owner: `the host`, or a module's name, version and build.
        first: String,
        /// The second owner. Equals the first owner if one module declares the path twice.
        second: String,
    },
    /// A string in a description does not follow its grammar.
    #[error("{module} declares {what} \"{found}\": {rule}; build it with this host's alcedo-plugin-api")]
    Text {
        /// The module.
        module: String,
        /// Item that the string belongs to: `a property of Game.Cube named`.
        what: String,
        /// The string, escaped and truncated.
        found: String,
        /// The grammar rule that the string breaks.
        rule: &'static str,
    },
    /// An imported class, member or struct is missing or differs.
    #[error("{module} uses {path}, {why}: {help}")]
    Import {
        /// The module.
        module: String,
        /// Path of the import.
        path: String,
        /// Problem with the import.
        why: String,
        /// The fix. Also names the older side, host or glue, if a comparison of the members determines that side.
        help: String,
    },
    /// A function named by `#[migrate]` does not fit the class that declares it.
    #[error("{module} has a conversion for {converted} that cannot be used: {problem}")]
    Conversion {
        /// The module.
        module: String,
        /// The property, or `objects of` with the class.
        converted: String,
        /// Problem with the function, and the fix.
        problem: String,
    },
    /// Scripts have errors in this host. Contains all diagnostics, each with its location.
    #[cfg(feature = "script")]
    #[error("the package {package} has errors, so none of it was loaded:\n\n{diagnostics}")]
    Script {
        /// The package.
        package: String,
        /// Diagnostics, a paragraph each, with file, line and source.
        diagnostics: String,
    },
    /// Fault injection made a step fail.
    #[error(transparent)]
    Fault(#[from] crate::faults::FaultInjected),
    /// Two modules export one name.
    #[error("{module}: {error}")]
    Export {
        /// The module.
        module: String,
        /// The reason.
        error: CallError,
    },
}
