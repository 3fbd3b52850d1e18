//! Errors of type declarations. Each error names the declaration, the rejected member or text, and the correct form.

use std::collections::HashSet;

use alcedo_base::escape::line;

use crate::path::{PathError, is_identifier};
use crate::typing::TypeError;

/// Reason for the rejection of a batch of types. The whole batch is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeclareError {
    /// The package is not declared.
    #[error(
        "{path} is declared in the package {package}, which the host does not know: declare the package in the host, or use one of its own ({known})"
    )]
    UnknownPackage {
        /// Type path.
        path: String,
        /// Package name.
        package: String,
        /// Declared packages.
        known: String,
    },
    /// The name is not an identifier.
    #[error("\"{}\" in {owner} cannot be a name: use letters, digits and _, not starting with a digit", line(name))]
    BadName {
        /// Rejected name.
        name: String,
        /// Declaration that uses the name.
        owner: String,
    },
    /// The class name is reserved for class default objects.
    #[error(
        "the class {path} cannot have this name: names that begin with Default__ belong to class default objects; choose \
         another name"
    )]
    DefaultName {
        /// Class path.
        path: String,
    },
    /// The type path is malformed.
    #[error("{owner} refers to a type: {error}")]
    BadPath {
        /// Declaration that contains the path.
        owner: String,
        /// Parse error.
        error: PathError,
    },
    /// The path is already declared.
    #[error("{path} is declared already: give one of the two another name")]
    Duplicate {
        /// Duplicate path.
        path: String,
    },
    /// The enum declaration is invalid.
    #[error("the enum {path} cannot be declared: {problem}")]
    BadEnum {
        /// Enum path.
        path: String,
        /// Description of the problem, and how to fix the declaration.
        problem: String,
    },
    /// The delegate declaration is invalid.
    #[error("the delegate {path} cannot be declared: {problem}")]
    BadDelegate {
        /// Delegate path.
        path: String,
        /// Description of the problem, and how to fix the declaration.
        problem: String,
    },
    /// A struct is its own direct or indirect base, or contains itself directly, through other structs or in containers.
    #[error(
        "structs hold or extend each other, by value or in containers, so their types would have no end: {cycle}; break it with an object reference"
    )]
    StructCycle {
        /// Cycle in the form `A → B → A`.
        cycle: String,
    },
    /// A class is its own direct or indirect base.
    #[error("classes are derived from each other: {cycle}; one of them needs another base")]
    BaseCycle {
        /// Cycle in the form `A → B → A`.
        cycle: String,
    },
    /// The base class is not declared.
    #[error(
        "{class} is derived from {base}, which is not declared: declare it or load its module first; delete a library \
         that is left from an earlier build"
    )]
    UnknownBase {
        /// Class path.
        class: String,
        /// Path of the base.
        base: String,
    },
    /// The base class is final.
    #[error(
        "{class} is derived from {base}, which is final: extend the class that it extends, or hold an object of it"
    )]
    FinalBase {
        /// Class path.
        class: String,
        /// Path of the base.
        base: String,
    },
    /// The base class is not allowed for a class of this origin.
    #[error("{class} is derived from {base}, {problem}")]
    NotExtended {
        /// Class path.
        class: String,
        /// Path of the base.
        base: String,
        /// Description of the base, and how to fix the declaration.
        problem: &'static str,
    },
    /// The interface is not declared.
    #[error("{class} implements {interface}, which is not declared: declare it or load its module first")]
    UnknownInterface {
        /// Class path.
        class: String,
        /// Interface path.
        interface: String,
    },
    /// The class lacks a function of its interface, or declares the function with a different signature.
    #[error(
        "{class} implements {interface}, which declares {expected}; {class} {found}: give it that function, and build both against \
         the same declaration of the interface"
    )]
    NotImplemented {
        /// Class path.
        class: String,
        /// Interface path.
        interface: String,
        /// Declaration of the function in the interface.
        expected: String,
        /// Declaration of the function in the class, or a statement that the class lacks the function.
        found: String,
    },
    /// A class that is not native has no base.
    #[error("{class} names no base class: only a native class can be a root")]
    NoBase {
        /// Class path.
        class: String,
    },
    /// The type of a property or parameter is not declared.
    #[error("{member} is a {kind} of {type_path}, which is not declared: declare it or load its module first")]
    UnknownType {
        /// Property or parameter.
        member: String,
        /// Kind of the type: `struct` or `reference`.
        kind: &'static str,
        /// Path of the missing type.
        type_path: String,
    },
    /// The type of the property or parameter is not allowed.
    #[error("{member} cannot be a {text}: {error}")]
    BadType {
        /// Property or parameter.
        member: String,
        /// Type as declared.
        text: String,
        /// Reason why the type is not allowed.
        error: TypeError,
    },
    /// This host does not define the kind number.
    #[error("{member} has the kind {number}, which this host does not know: build the module for this host's version")]
    UnknownKind {
        /// Property or parameter.
        member: String,
        /// Kind number.
        number: u8,
    },
    /// Two members share a name.
    #[error("{owner} has two members of the name {name}: rename one")]
    DuplicateMember {
        /// Type or function that declares both members.
        owner: String,
        /// Shared name.
        name: String,
    },
    /// Members hide inherited members.
    #[error("{members}: rename each new member, or override the event if it is one")]
    Hides {
        /// New members, each with the inherited member that it would hide.
        members: String,
    },
    /// The default is not valid for the property's type.
    #[error("the default of {member} cannot be read: {problem}")]
    BadDefault {
        /// Property with the invalid default.
        member: String,
        /// Description of the problem.
        problem: String,
    },
    /// The result is not the last parameter.
    #[error("{function} has a result that is not its last parameter: put it last, once")]
    ResultNotLast {
        /// Function whose result is not the last parameter.
        function: String,
    },
    /// The overridden function is not an event.
    #[error("{function} overrides {expected}: {problem}")]
    NoEvent {
        /// Overriding function.
        function: String,
        /// Event that the declaration names.
        expected: String,
        /// Reason why the function is not an event.
        problem: &'static str,
    },
    /// The signature of the override differs from the signature of its event.
    #[error("{function}({found}) overrides {event}({expected}): give it the event's signature")]
    OverrideSignature {
        /// Overriding function.
        function: String,
        /// Signature of the overriding function.
        found: String,
        /// Overridden event.
        event: String,
        /// Signature of the event.
        expected: String,
    },
    /// The declaring code was compiled for a layout or signature that differs from the layout or signature in this host.
    #[error(
        "{path} is ({found}) here, but its module was compiled for another declaration: rebuild the module; if it names types of the host or \
         of another module, first write their glue again with `alcedo glue`"
    )]
    Fingerprint {
        /// Path of the struct, enum, delegate or function.
        path: String,
        /// Layout, entries or signature in the host.
        found: String,
    },
    /// The subobject is invalid.
    #[error("the subobject {member} cannot be declared: {problem}")]
    BadSubobject {
        /// Property that refers to the subobject.
        member: String,
        /// Description of the problem.
        problem: String,
    },
    /// Too many structs are nested in each other, or extend each other.
    #[error(
        "{path} contains or extends more than {limit} structs in a row: hold an object reference instead of a further struct"
    )]
    TooDeep {
        /// Path of the struct that exceeds the limit.
        path: String,
        /// Maximum number of structs that contain each other, by value or in containers, or that extend each other.
        limit: u32,
    },
    /// The type contains too many structs without fields.
    #[error("{path} would contain more than {limit} structs without fields: remove them, or add fields")]
    TooManyEmptyStructs {
        /// Type or function that exceeds the limit.
        path: String,
        /// Maximum number of structs without fields.
        limit: u64,
    },
    /// The type exceeds the size limit.
    #[error("{path} would have {size} bytes, more than a type may have: keep large data out of properties")]
    TooLarge {
        /// Type or function that exceeds the limit.
        path: String,
        /// Size in bytes.
        size: usize,
    },
}

pub(super) fn check_name(name: &str, owner: &str) -> Result<(), DeclareError> {
    if is_identifier(name) {
        return Ok(());
    }
    Err(DeclareError::BadName { name: name.to_owned(), owner: owner.to_owned() })
}

/// Checks the name of a member of `owner`. `seen` contains the names of the earlier members, and receives the checked name.
pub(super) fn check_member<'n>(seen: &mut HashSet<&'n str>, name: &'n str, owner: &str) -> Result<(), DeclareError> {
    check_name(name, owner)?;
    if seen.insert(name) {
        return Ok(());
    }
    Err(DeclareError::DuplicateMember { owner: owner.to_owned(), name: name.to_owned() })
}
