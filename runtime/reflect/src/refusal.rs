//! Why types were not declared. Each error names the declaration, what it requested, and what would be right.

use alcedo_base::shown::line;

use crate::path::PathError;
use crate::typing::TypeError;

/// Why a batch of types was not declared. Nothing of it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeclareError {
    /// A package that is not declared.
    #[error(
        "{path} is declared in the package {package}, which the host does not know: declare the package in the host, or use one of its own ({known})"
    )]
    UnknownPackage {
        /// The type.
        path: String,
        /// The package.
        package: String,
        /// The packages there are.
        known: String,
    },
    /// A name that is no identifier.
    #[error("\"{}\" in {owner} cannot be a name: use letters, digits and _, not starting with a digit", line(name))]
    BadName {
        /// The name.
        name: String,
        /// Where it is used.
        owner: String,
    },
    /// A class whose objects would be called as class default objects are.
    #[error(
        "the class {path} cannot be called so: names that begin with Default__ belong to class default objects; call it \
         otherwise"
    )]
    DefaultName {
        /// The class.
        path: String,
    },
    /// A path that is no path.
    #[error("{owner} refers to a type: {error}")]
    BadPath {
        /// The declaration that refers to it.
        owner: String,
        /// What is wrong.
        error: PathError,
    },
    /// A path that is taken.
    #[error("{path} is declared already: give one of the two another name")]
    Duplicate {
        /// The path.
        path: String,
    },
    /// An enum that cannot be one.
    #[error("the enum {path} cannot be declared: {problem}")]
    BadEnum {
        /// Its path.
        path: String,
        /// What is wrong, and the way out.
        problem: String,
    },
    /// A delegate that cannot be one.
    #[error("the delegate {path} cannot be declared: {problem}")]
    BadDelegate {
        /// Its path.
        path: String,
        /// What is wrong, and the way out.
        problem: String,
    },
    /// Structs that hold each other by value, or extend each other.
    #[error(
        "structs hold or extend each other, by value or in containers, so their types would have no end: {cycle}; break it with an object reference"
    )]
    StructCycle {
        /// `A → B → A`.
        cycle: String,
    },
    /// Classes that are each other's base.
    #[error("classes are derived from each other: {cycle}; one of them needs another base")]
    BaseCycle {
        /// `A → B → A`.
        cycle: String,
    },
    /// A base that is not declared.
    #[error(
        "{class} is derived from {base}, which is not declared: declare it in the same batch or load its module first; a library that is \
         left from an earlier build is to be deleted"
    )]
    UnknownBase {
        /// The class.
        class: String,
        /// Its base.
        base: String,
    },
    /// A base that is final.
    #[error(
        "{class} is derived from {base}, which is final: extend the class that it extends, or hold an object of it"
    )]
    FinalBase {
        /// The class.
        class: String,
        /// Its base.
        base: String,
    },
    /// A base that a class of that origin cannot have.
    #[error("{class} is derived from {base}, {problem}")]
    NotExtended {
        /// The class.
        class: String,
        /// Its base.
        base: String,
        /// What that is, and the way out.
        problem: &'static str,
    },
    /// An interface that is not declared.
    #[error(
        "{class} implements {interface}, which is not declared: declare it in the same batch or load its module first"
    )]
    UnknownInterface {
        /// The class.
        class: String,
        /// The path it names.
        interface: String,
    },
    /// An interface with a function that the class has not, or has otherwise.
    #[error(
        "{class} implements {interface}, which declares {wanted}; {class} {found}: give it that function, and build both against \
         the same declaration of the interface"
    )]
    NotImplemented {
        /// The class.
        class: String,
        /// The interface.
        interface: String,
        /// The function as the interface declares it.
        wanted: String,
        /// What the class has.
        found: String,
    },
    /// A class that is not native must have a base.
    #[error("{class} names no base class: only a native class can be a root")]
    NoBase {
        /// The class.
        class: String,
    },
    /// A property type that is not declared.
    #[error(
        "{member} is a {kind} of {type_path}, which is not declared: declare it in the same batch or load its module first"
    )]
    UnknownType {
        /// The property or parameter.
        member: String,
        /// `struct` or `reference`.
        kind: &'static str,
        /// The path.
        type_path: String,
    },
    /// A type with others in it that cannot be.
    #[error("{member} cannot be a {text}: {error}")]
    BadType {
        /// The property or parameter.
        member: String,
        /// The type as it was declared.
        text: String,
        /// What is wrong with it.
        error: TypeError,
    },
    /// A kind number this host does not define.
    #[error("{member} has the kind {number}, which this host does not know: build the module for this host's version")]
    UnknownKind {
        /// The property or parameter.
        member: String,
        /// The number.
        number: u8,
    },
    /// Two members of one name.
    #[error("{owner} has two members of the name {name}: rename one")]
    DuplicateMember {
        /// The type or function.
        owner: String,
        /// The name.
        name: String,
    },
    /// A member that hides one of a base class.
    #[error("{member} would hide {hidden}: rename it, or override the event if it is one")]
    Hides {
        /// The new member.
        member: String,
        /// The inherited one.
        hidden: String,
    },
    /// A default that its type cannot read.
    #[error("the default of {member} cannot be read: {problem}")]
    BadDefault {
        /// The property.
        member: String,
        /// What is wrong.
        problem: String,
    },
    /// A result that is not the last parameter.
    #[error("{function} has a result that is not its last parameter: put it last, once")]
    ResultNotLast {
        /// The function.
        function: String,
    },
    /// An override of what is no event.
    #[error("{function} overrides {wanted}: {problem}")]
    NoEvent {
        /// The overriding function.
        function: String,
        /// The event it names.
        wanted: String,
        /// What is there instead.
        problem: &'static str,
    },
    /// An override with another signature.
    #[error("{function}({found}) overrides {event}({wanted}): give it the event's signature")]
    OverrideSignature {
        /// The overriding function.
        function: String,
        /// Its signature.
        found: String,
        /// The event.
        event: String,
        /// The event's signature.
        wanted: String,
    },
    /// The declaring code was compiled for another layout or signature than the host computes.
    #[error("{path} is ({found}) here, but its module was compiled for something else: rebuild the module")]
    Fingerprint {
        /// The struct or function.
        path: String,
        /// What the host makes of the declaration.
        found: String,
    },
    /// A subobject that cannot be.
    #[error("the subobject {member} cannot be: {problem}")]
    BadSubobject {
        /// The property that should refer to it.
        member: String,
        /// Why not.
        problem: String,
    },
    /// A type of too many bytes.
    #[error("{path} would have {size} bytes, more than a type may have: keep large data out of properties")]
    TooLarge {
        /// The type or function.
        path: String,
        /// Its bytes.
        size: usize,
    },
}
