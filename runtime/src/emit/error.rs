//! Why the types of modules were not emitted. Nothing of the batch is declared then.

use crate::border::CallError;
use crate::object::refusal::DeclareError;

/// Why a batch was refused.
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
    /// C could not read a type of a function that is in a C library.
    #[cfg(feature = "dll-bind")]
    #[error("the types of {modules} cannot be declared: {source}")]
    Bind {
        /// The modules of the batch.
        modules: String,
        /// What C cannot read.
        source: alcedo_dll_bind::BindError,
    },
    /// Two declarations of one path.
    #[error("{path} is declared already, by {first}, and now by {second}: give one of the two another name")]
    Clash {
        /// The path of the class, struct or interface.
        path: String,
        /// The first owner: `the host`, or a module's name, version and build.
        first: String,
        /// The second owner; the same module where it declares it twice.
        second: String,
    },
    /// A text of a description breaks the rule for what it is.
    #[error("{module} declares {what} \"{found}\": {rule}; build it with this host's alcedo-plugin-api")]
    Text {
        /// The module.
        module: String,
        /// What the text is of: `a property of Game.Cube named`.
        what: String,
        /// The text, escaped and cut where it is long.
        found: String,
        /// The rule.
        rule: &'static str,
    },
    /// A class, member or struct it uses is not there, or is another.
    #[error("{module} uses {path}, {why}: {help}")]
    Import {
        /// The module.
        module: String,
        /// What it uses.
        path: String,
        /// What is wrong with it.
        why: String,
        /// The older side, as far as both declarations show it, and the way out.
        help: String,
    },
    /// Text of scripts that means nothing in this host: all that was found, each with its place.
    #[cfg(feature = "script")]
    #[error("the package {package} has errors, so none of it was loaded:\n\n{diagnostics}")]
    Script {
        /// The package.
        package: String,
        /// What was found, a paragraph each, with file, line and the text there.
        diagnostics: String,
    },
    /// A test made a step fail.
    #[error(transparent)]
    Fault(#[from] crate::faults::FaultInjected),
    /// Two modules offer one name.
    #[error("{module}: {error}")]
    Export {
        /// The module.
        module: String,
        /// What is wrong.
        error: CallError,
    },
}
