//! Bytecode as it is made and kept: a function is a list of instructions over numbered registers, each of a declared type. It
//! names types, properties and functions by path, so it outlives any layout. Nothing of it is believed: [`link`](crate::link)
//! looks at all of it before any runs.

use std::rc::Rc;

use alcedo_reflect::type_text::TypeText;
use alcedo_uc::hir::{Cast, Const, Conversion, Intrinsic, Num, Op, Operand, Unary};

/// A register, by its place in [`FunctionCode::registers`].
pub type Reg = u16;

/// An instruction, by its place in [`FunctionCode::code`].
pub type At = u32;

/// The body of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionCode {
    /// The path of the function: `/Script/Package.Class:name`.
    pub path: String,
    /// The file of its text.
    pub file: String,
    /// How many of the registers are its parameters, which come first.
    pub params: u16,
    /// The register of the result, which comes behind the parameters, if there is one.
    pub result: Option<Reg>,
    /// Whether it runs without an object.
    pub is_static: bool,
    /// Whether a call does nothing while one of the same object runs.
    pub is_singular: bool,
    /// The registers.
    pub registers: Vec<Register>,
    /// Places that instructions name.
    pub places: Vec<Place>,
    /// Calls that instructions name.
    pub calls: Vec<CallSite>,
    /// The instructions.
    pub code: Vec<Ins>,
    /// The line of each instruction.
    pub lines: Vec<u32>,
}

/// What a register is.
#[derive(Clone, PartialEq, Debug)]
pub enum Register {
    /// A parameter, local or temporary value. It starts as zero bytes.
    Value {
        /// Its name, for errors and tools; empty for a temporary value.
        name: String,
        /// Its type.
        ty: TypeText,
    },
    /// A field of a struct in another register, which comes before this one. Writing one writes the other.
    Field {
        /// The register.
        of: Reg,
        /// The name of the field.
        field: String,
    },
    /// A value that does not change, and is not written to.
    Const {
        /// Its type.
        ty: TypeText,
        /// The value.
        value: Const,
    },
}

/// Where a value lies that is not in a register of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Where the way begins.
    pub root: Root,
    /// The steps from there.
    pub steps: Vec<Step>,
}

/// Where the way to a place begins.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// A register.
    Register(Reg),
    /// A property of the object that the function runs for: the class that declares it, and its name.
    OfSelf(Rc<str>, String),
    /// A property of the object in a register.
    Of(Reg, Rc<str>, String),
    /// A property of the class default object of the class in a register. It is only read.
    Default(Reg, Rc<str>, String),
}

/// A step on the way to a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// To a field of a struct.
    Field(String),
    /// To an element of an array that grows when an element behind its end is written.
    Element(Reg),
    /// To an element of an array that has so many for good.
    FixedElement(Reg, u32),
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSite {
    /// What is called.
    pub callee: Target,
    /// The arguments, one for each parameter.
    pub args: Vec<Argument>,
    /// Where the result goes, if it is wanted.
    pub to: Option<Reg>,
}

/// What a call leads to. Paths are those of functions, `/Script/Package.Class:name`; no register is the object itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The function of that name that the class of the object has.
    Virtual(Option<Reg>, Rc<str>),
    /// That very function.
    Final(Option<Reg>, Rc<str>),
    /// A function without an object; with a register, the one of that name that the class in it has.
    Static(Option<Reg>, Rc<str>),
    /// The function without an object of that name that the class has which runs: that of the object itself, or the one that a static
    /// function was called on.
    OfOwnClass(Rc<str>),
    /// What the class of an object, given as an interface, has for a function of that interface.
    Interface(Reg, Rc<str>),
    /// What a delegate calls, and what runs when it is bound to nothing.
    Delegate {
        /// The delegate.
        delegate: Reg,
        /// The object of the other function.
        object: Option<Reg>,
        /// Its path.
        fallback: Option<Rc<str>>,
    },
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A value, which is copied.
    In(Reg),
    /// A copy of a value that lies elsewhere: refused where the call writes to it, since that would be lost.
    Copied(Reg),
    /// A register that the call writes to.
    Out(Reg),
    /// None was given.
    Skipped,
    /// A place that a thunk reads, or writes, where it lies. For functions that bring their own thunk; one in a call.
    Place(u16),
}

/// An instruction. The registers it names have the types it says, or those that the operation wants.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are registers to write (`to`), to read, and instructions to jump to")]
pub enum Ins {
    /// Nothing.
    Nop,
    /// What a new value of the type is.
    Init { to: Reg },
    /// A copy; both are of one type.
    Copy { to: Reg, from: Reg },
    /// An operator with one operand.
    Unary { op: Unary, to: Reg, from: Reg },
    /// An operator with two operands.
    Binary { op: Op, on: Operand, to: Reg, left: Reg, right: Reg },
    /// A value of another type.
    Convert { by: Conversion, to: Reg, from: Reg },
    /// An object or class as one of another class, or none.
    Cast { by: Cast, to: Reg, from: Reg },
    /// On to another instruction.
    Jump { to: At },
    /// On to another instruction if a `bool` is that.
    JumpIf { condition: Reg, is: bool, to: At },
    /// On to another instruction if a comparison of two numbers is that.
    JumpCompare { op: Op, num: Num, left: Reg, right: Reg, is: bool, to: At },
    /// On to another instruction if the caller gave an argument for a parameter.
    JumpIfGiven { param: u16, to: At },
    /// What lies at a place.
    Load { to: Reg, place: u16 },
    /// Overwrites what lies at a place.
    Store { place: u16, from: Reg },
    /// The object that the function runs for.
    SelfObject { to: Reg },
    /// The class of that, or the class that a static function was called on.
    SelfClass { to: Reg },
    /// The class of an object.
    ClassOf { to: Reg, object: Reg },
    /// A call.
    Call { site: u16 },
    /// An operation on what lies at a place.
    Intrinsic { what: Intrinsic, place: u16, args: Vec<Reg>, to: Option<Reg> },
    /// How many elements an array gets.
    SetLength { place: u16, length: Reg },
    /// A function of an object, for a delegate. No register is the object itself.
    Bind { to: Reg, object: Option<Reg>, function: String },
    /// A new object of the class in a register.
    New { to: Reg, class: Reg, outer: Option<Reg>, name: Option<Reg>, template: Option<Reg> },
    /// The script fails with these words.
    Fail { message: Rc<str> },
    /// Back to the caller.
    Return,
}
