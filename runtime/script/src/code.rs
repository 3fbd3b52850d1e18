//! Stored bytecode. The code of a function is a list of instructions that operate on numbered, typed registers. The code refers to types,
//! properties and functions by path, and therefore does not depend on layouts. Because the code is untrusted, [`link`](crate::link)
//! verifies every instruction before the code runs.

use std::rc::Rc;

use alcedo_reflect::type_text::TypeText;
use alcedo_uc::hir::{Cast, Const, Conversion, Intrinsic, Num, Op, Operand, Unary};

/// Index of a register in [`FunctionCode::registers`].
pub type Reg = u16;

/// Index of an instruction in [`FunctionCode::code`].
pub type At = u32;

/// Number of leading parameters whose arguments a call may omit. A linked call site stores one bit for each of these parameters.
pub(crate) const MAX_OMITTED: usize = 64;

/// Body of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionCode {
    /// Path of the function: `/Script/Package.Class:name`.
    pub path: String,
    /// Source file.
    pub file: String,
    /// Number of parameters. Parameters occupy the first registers.
    pub params: u16,
    /// Register of the result, which follows the registers of the parameters. `None` if the function returns no value.
    pub result: Option<Reg>,
    /// True if the function is static: it has no object.
    pub is_static: bool,
    /// True if at most one call of the function may run on each object at a time. A nested call on the same object does nothing.
    pub is_singular: bool,
    /// Registers by index.
    pub registers: Vec<Register>,
    /// Table of the places that instructions use.
    pub places: Vec<Place>,
    /// Table of the call sites that instructions use.
    pub calls: Vec<CallSite>,
    /// Instructions in order.
    pub code: Vec<Ins>,
    /// Source line of each instruction.
    pub lines: Vec<u32>,
}

/// Register of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum Register {
    /// Parameter, local or temporary. Initially filled with zero bytes.
    Value {
        /// Name for errors and tools. Empty for a temporary.
        name: String,
        /// Type of the value.
        ty: TypeText,
    },
    /// Field of a struct in an earlier register. The field is part of the memory of that register.
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

/// Access path to a value: a property, a field or an array element.
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
    /// Property of `self`. Contains the declaring class and the name of the property.
    OfSelf(Rc<str>, String),
    /// Property of the object in a register. Contains the register, the declaring class and the name of the property.
    Of(Reg, Rc<str>, String),
    /// Read-only property of a class default object. Contains the register of the class, the declaring class and the name of the property.
    Default(Reg, Rc<str>, String),
}

impl Root {
    /// Returns the place without steps.
    pub(crate) fn place(self) -> Place {
        Place { root: self, steps: Vec::new() }
    }
}

impl Place {
    /// Returns the register of a place that is a whole register. Returns `None` for all other places.
    pub(crate) fn register(&self) -> Option<Reg> {
        match self.root {
            Root::Register(reg) if self.steps.is_empty() => Some(reg),
            _ => None,
        }
    }
}

/// Step of an access path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Field of a struct.
    Field(String),
    /// Element of a dynamic array. The array grows if a write exceeds its end.
    Element(Reg),
    /// Element of a fixed array with this length.
    FixedElement(Reg, u32),
}

/// A call site.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    /// Function to call.
    pub callee: Target,
    /// Arguments, one for each parameter.
    pub args: Vec<Argument>,
    /// Register that receives the result. `None` if the result is unused.
    pub to: Option<Reg>,
}

/// Target of a call. Function paths are `/Script/Package.Class:name`. `None` as a register means `self`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Dispatches by name on the class of the object.
    Virtual(Option<Reg>, Rc<str>),
    /// Calls exactly this function.
    Final(Option<Reg>, Rc<str>),
    /// Calls a static function. With a register, dispatches by name on the class in the register.
    Static(Option<Reg>, Rc<str>),
    /// Calls a static function, dispatched by name on the running class. The running class is the class of `self`. In a static function,
    /// the running class is the class that the function was called on.
    OfOwnClass(Rc<str>),
    /// Calls the method with which the class of the object in the register implements this interface function.
    Interface(Reg, Rc<str>),
    /// Calls the function that is bound to a delegate. If no function is bound, calls the fallback.
    Delegate {
        /// Copy of the delegate.
        delegate: Reg,
        /// Index of the place from which the delegate was copied. `None` if the delegate is stored in a register. A broadcast calls the
        /// bindings that are stored at this place after the evaluation of the arguments. The broadcast skips the bindings that are removed
        /// from this place during the broadcast.
        place: Option<u16>,
        /// Object on which the fallback is called.
        object: Option<Reg>,
        /// Path of the fallback function.
        fallback: Option<Rc<str>>,
    },
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// Value to copy to the parameter.
    In(Reg),
    /// Register with a temporary copy of a value that is stored elsewhere. Rejected for out parameters of functions with a custom thunk,
    /// because a write would change only the copy.
    Copied(Reg),
    /// Register that the call writes to.
    Out(Reg),
    /// Omitted argument.
    Skipped,
    /// Place that a custom thunk reads or writes without a copy. A call has at most one such argument.
    Place(u16),
}

/// An instruction. The loader checks that each register has the type that the instruction requires.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are registers to write (`to`), to read, and instructions to jump to")]
pub enum Ins {
    /// No operation.
    Nop,
    /// Sets a register to the initial value of its type.
    Init { to: Reg },
    /// Copies a value between registers of equal types.
    Copy { to: Reg, from: Reg },
    /// Applies a unary operator.
    Unary { op: Unary, to: Reg, from: Reg },
    /// Applies a binary operator. Of two numbers, only the right number may be a constant, and only for some operators: addition,
    /// subtraction and multiplication of `int` and `float`, and division of `int` by a number that is not zero.
    Binary { op: Op, on: Operand, to: Reg, left: Reg, right: Reg },
    /// Converts to another type.
    Convert { by: Conversion, to: Reg, from: Reg },
    /// Casts an object or class. If the cast fails, the result is `None`.
    Cast { by: Cast, to: Reg, from: Reg },
    /// Jumps to another instruction.
    Jump { to: At },
    /// Jumps if the `bool` in `condition` equals `is`.
    JumpIf { condition: Reg, is: bool, to: At },
    /// Jumps if the comparison of two numbers equals `is`.
    JumpCompare { op: Op, num: Num, left: Reg, right: Reg, is: bool, to: At },
    /// Jumps if the caller passed an argument for the parameter.
    JumpIfPassed { param: u16, to: At },
    /// Reads a place.
    Load { to: Reg, place: u16 },
    /// Writes a place.
    Store { place: u16, from: Reg },
    /// Stores the `self` object in a register.
    SelfObject { to: Reg },
    /// Stores the class of `self`. In a static function, stores the class that the function was called on.
    SelfClass { to: Reg },
    /// Stores the class of an object.
    ClassOf { to: Reg, object: Reg },
    /// Performs a call.
    Call { site: u16 },
    /// Performs a container operation on a place.
    Intrinsic { what: Intrinsic, place: u16, args: Vec<Reg>, to: Option<Reg> },
    /// Sets the length of an array.
    SetLength { place: u16, length: Reg },
    /// Binds a delegate to a function of an object. `None` as the object means `self`.
    Bind { to: Reg, object: Option<Reg>, function: String },
    /// Creates an object of the class in a register.
    New { to: Reg, class: Reg, outer: Option<Reg>, name: Option<Reg>, template: Option<Reg> },
    /// Raises a script error with this message.
    Fail { message: Rc<str> },
    /// Returns to the caller.
    Return,
}
