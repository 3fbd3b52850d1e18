//! Errors while declaring the types of modules. After an error, no type of the batch is declared.

use crate::boundary::CallError;
use crate::object::refusal::DeclareError;

/// Reason why a batch was rejected.
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
        /// Modules of the batch.
        modules: String,
        /// Declaration error.
        source: DeclareError,
    },
    /// A function of a C library has a type that C cannot represent.
    #[cfg(feature = "dll-bind")]
    #[error("the types of {modules} cannot be declared: {source}")]
    Bind {
        /// Modules of the batch.
        modules: String,
        /// Type that C cannot represent.
        source: alcedo_dll_bind::BindError,
    },
    /// A path is declared twice.
    #[error("{path} is declared {}", by(first, second))]
    Clash {
        /// Path of the class, struct or interface, or name of the exported function.
        path: String,
        /// First owner: `the host`, or name, version and build of a module.
        first: String,
        /// Second owner. If one module declares the path twice, equals the first owner.
        second: String,
    },
    /// A string in a description violates its grammar.
    #[error("{module} declares {what} \"{found}\": {rule}; {help}")]
    Text {
        /// Name of the module.
        module: String,
        /// Description of the item that contains the string, such as `a property of Game.Cube named`.
        what: String,
        /// Invalid string, escaped and truncated.
        found: String,
        /// Grammar rule that the string violates.
        rule: &'static str,
        /// Help for the plugin author.
        help: &'static str,
    },
    /// An imported class, member or struct is missing or differs.
    #[error("{module} uses {path}, {why}: {help}")]
    Import {
        /// Name of the module.
        module: String,
        /// Path of the import.
        path: String,
        /// Reason why the import cannot be resolved.
        why: String,
        /// Help for the plugin author. If a comparison of the members shows that either the host or the glue is older, the help names the
        /// older side.
        help: String,
    },
    /// The function in an attribute `#[migrate]` is not a valid conversion for the class with the attribute.
    #[error("{module} has a conversion for {converted} that cannot be used: {problem}")]
    Conversion {
        /// Name of the module.
        module: String,
        /// Name of the converted property. For a conversion of whole objects, `objects of` and the class.
        converted: String,
        /// Problem with the function, and help.
        problem: String,
    },
    /// The source of a script package has errors in this host.
    #[cfg(feature = "script")]
    #[error("the package {package} has errors, so none of it was loaded:\n\n{diagnostics}")]
    Script {
        /// Name of the package.
        package: String,
        /// All diagnostics, one paragraph each, with file, line and source.
        diagnostics: String,
    },
    /// A test injected a fault.
    #[error(transparent)]
    Fault(#[from] crate::faults::FaultInjected),
    /// Two modules export one name.
    #[error("{module}: {error}")]
    Export {
        /// Name of the module.
        module: String,
        /// Reason for the rejection.
        error: CallError,
    },
}

/// Describes the owners of a path that is declared twice, with help for the author.
fn by(first: &str, second: &str) -> String {
    let help = "give one of the two another name";
    if first == second {
        return format!("twice by {first}: {help}");
    }
    format!(
        "already, by {first}, and now by {second}: {help}, or declare it in one of them, and use its glue in the other"
    )
}
