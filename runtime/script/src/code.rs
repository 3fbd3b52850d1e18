//! Stored bytecode: a function is a list of instructions over numbered, typed registers. Types, properties and functions are
//! named by path, so the code is independent of layouts. The code is untrusted: [`link`](crate::link) verifies all of it before
//! it runs.

use std::rc::Rc;

use alcedo_reflect::type_text::TypeText;
use alcedo_uc::hir::{Cast, Const, Conversion, Intrinsic, Num, Op, Operand, Unary};

/// Index of a register in [`FunctionCode::registers`].
pub type Reg = u16;

/// Index of an instruction in [`FunctionCode::code`].
pub type At = u32;

/// The body of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionCode {
    /// Path of the function: `/Script/Package.Class:name`.
    pub path: String,
    /// Source file.
    pub file: String,
    /// Number of parameters, which are the first registers.
    pub params: u16,
    /// Register of the result, after the parameters.
    pub result: Option<Reg>,
    /// True for functions without an object.
    pub is_static: bool,
    /// True if a call does nothing while another call on the same object runs.
    pub is_singular: bool,
    /// Registers.
    pub registers: Vec<Register>,
    /// Table of places.
    pub places: Vec<Place>,
    /// Table of calls.
    pub calls: Vec<CallSite>,
    /// Instructions.
    pub code: Vec<Ins>,
    /// Line of each instruction.
    pub lines: Vec<u32>,
}

/// Kinds of registers.
#[derive(Clone, PartialEq, Debug)]
pub enum Register {
    /// A parameter, local or temporary. Initially zero bytes.
    Value {
        /// Name for errors and tools; empty for a temporary.
        name: String,
        /// Type of the value.
        ty: TypeText,
    },
    /// Field of a struct in an earlier register. Both share memory.
    Field {
        /// Register of the struct.
        of: Reg,
        /// Name of the field.
        field: String,
    },
    /// A read-only constant.
    Const {
        /// Type of the constant.
        ty: TypeText,
        /// Value of the constant.
        value: Const,
    },
}

/// Location of a value outside of its own register.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Start of the access path.
    pub root: Root,
    /// Steps of the access path.
    pub steps: Vec<Step>,
}

/// Start of an access path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// A register.
    Register(Reg),
    /// Property of `self`: declaring class and name.
    OfSelf(Rc<str>, String),
    /// Property of the object in a register.
    Of(Reg, Rc<str>, String),
    /// Property of the class default object of the class in a register; read-only.
    Default(Reg, Rc<str>, String),
}

/// Step of an access path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Field of a struct.
    Field(String),
    /// Element of an array that grows on writes past its end.
    Element(Reg),
    /// Element of a fixed array of the length.
    FixedElement(Reg, u32),
}

/// A call site.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    /// Function to call.
    pub callee: Target,
    /// Arguments, one per parameter.
    pub args: Vec<Argument>,
    /// Register for the result, if used.
    pub to: Option<Reg>,
}

/// Target of a call. Function paths are `/Script/Package.Class:name`; a missing register means `self`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Dispatches by name on the class of the object.
    Virtual(Option<Reg>, Rc<str>),
    /// Exactly this function.
    Final(Option<Reg>, Rc<str>),
    /// Static function; with a register, dispatches by name on the class in the register.
    Static(Option<Reg>, Rc<str>),
    /// Static function, dispatched by name on the running class: the class of `self`, or the class on which the running static
    /// function was called.
    OfOwnClass(Rc<str>),
    /// Interface function, dispatched on the class of the object in the register.
    Interface(Reg, Rc<str>),
    /// Bound function of a delegate, with a fallback for unbound delegates.
    Delegate {
        /// The delegate.
        delegate: Reg,
        /// Object of the fallback.
        object: Option<Reg>,
        /// Path of the fallback.
        fallback: Option<Rc<str>>,
    },
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// Copied value.
    In(Reg),
    /// Copy of a value that is stored elsewhere; rejected for out parameters, since the write would be lost.
    Copied(Reg),
    /// Register that the call writes to.
    Out(Reg),
    /// No argument.
    Skipped,
    /// Place that a custom thunk reads or writes directly; at most one per call.
    Place(u16),
}

/// An instruction. Registers must have the types of the instruction's fields, or those that the operation requires.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are registers to write (`to`), to read, and instructions to jump to")]
pub enum Ins {
    /// No operation.
    Nop,
    /// Initial value of the type.
    Init { to: Reg },
    /// Copies a value of the same type.
    Copy { to: Reg, from: Reg },
    /// Unary operator.
    Unary { op: Unary, to: Reg, from: Reg },
    /// Binary operator.
    Binary { op: Op, on: Operand, to: Reg, left: Reg, right: Reg },
    /// Converts to another type.
    Convert { by: Conversion, to: Reg, from: Reg },
    /// Casts an object or class; none if the cast fails.
    Cast { by: Cast, to: Reg, from: Reg },
    /// Jumps to another instruction.
    Jump { to: At },
    /// Jumps if the `bool` equals `is`.
    JumpIf { condition: Reg, is: bool, to: At },
    /// Jumps if the comparison of two numbers equals `is`.
    JumpCompare { op: Op, num: Num, left: Reg, right: Reg, is: bool, to: At },
    /// Jumps if the caller passed an argument for the parameter.
    JumpIfPassed { param: u16, to: At },
    /// Reads a place.
    Load { to: Reg, place: u16 },
    /// Writes a place.
    Store { place: u16, from: Reg },
    /// The `self` object.
    SelfObject { to: Reg },
    /// Class of `self`, or the class on which a static function was called.
    SelfClass { to: Reg },
    /// The class of an object.
    ClassOf { to: Reg, object: Reg },
    /// Performs a call.
    Call { site: u16 },
    /// Container operation on a place.
    Intrinsic { what: Intrinsic, place: u16, args: Vec<Reg>, to: Option<Reg> },
    /// Sets the length of an array.
    SetLength { place: u16, length: Reg },
    /// Binds a delegate to a function of an object; no register means `self`.
    Bind { to: Reg, object: Option<Reg>, function: String },
    /// Creates an object of the class in a register.
    New { to: Reg, class: Reg, outer: Option<Reg>, name: Option<Reg>, template: Option<Reg> },
    /// Raises a script error with the message.
    Fail { message: Rc<str> },
    /// Returns to the caller.
    Return,
}
