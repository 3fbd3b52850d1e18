//! Linked bytecode: fixed-size instructions with frame offsets instead of registers. [`link`](crate::link) builds and verifies these
//! instructions.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use alcedo_abi::handles::Name;
use alcedo_base::handles::ClassId;
use alcedo_reflect::class::Class;
use alcedo_reflect::function::Function;
use alcedo_reflect::owned::OwnedValue;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::storage::Schema;
use alcedo_reflect::value::Value;
use alcedo_uc::hir::{Cast, Conversion, Intrinsic, Op, Operand, Unary};

use crate::number::TripleOp;

/// An instruction. `a`, `b`, `c` are frame offsets unless the operation specifies otherwise.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) op: OpCode,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// A constant, a jump target, or an index into one of the function's tables.
    pub(crate) x: u32,
    pub(crate) y: u32,
}

/// Operation of an instruction. The suffix `Imm` means that the right operand is the constant `x`. Jumps continue at instruction `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum OpCode {
    Nop,
    /// `a = b`. The suffix is the number of bytes to copy.
    Copy1,
    Copy2,
    Copy4,
    Copy8,
    /// Copies twelve bytes: a vector of three floats.
    Copy12,
    /// Copies `x` bytes between two registers. The registers are either disjoint or one register.
    CopyBytes,
    /// `a = ` entry `x` of the constant table. The entry has a size of `c` bytes.
    CopyConstant,
    /// `a = x`. The suffix is the number of bytes. A constant of eight bytes is stored in `x` and `y`.
    Set1,
    Set4,
    Set8,
    AddI32,
    SubI32,
    MulI32,
    AddI32Imm,
    MulI32Imm,
    /// `a = b / x`. The loader emits this instruction only for a nonzero divisor.
    DivI32Imm,
    RemI32Imm,
    RemI32,
    DivI32,
    AndI32,
    OrI32,
    AddF32,
    SubF32,
    MulF32,
    DivF32,
    AddF32Imm,
    MulF32Imm,
    AddF64,
    SubF64,
    MulF64,
    DivF64,
    AddI64,
    SubI64,
    MulI64,
    /// `a = b op c`. `x` is the number of the operator in [`Op::ALL`], and `y` the number of the kind in `Num::ALL`.
    Arithmetic,
    /// Operation on vectors of floats. `Scale` multiplies a vector by a float. The result of `Dot` is a float.
    AddVector,
    SubVector,
    ScaleVector,
    ScaleVectorImm,
    DotVector,
    /// `a = ` result of operation `x` of the triple table on `b` and `c`.
    Triple,
    I32ToF32,
    F32ToI32,
    NotBool,
    JumpUp,
    /// Backward jump. Counts one round, so that an infinite loop reaches the limit of rounds.
    JumpBack,
    /// Backward variants of the conditional jumps. If the jump is taken, it counts one round.
    LoopLtI32,
    LoopLeI32,
    LoopLtI32Imm,
    JumpIf,
    JumpUnless,
    JumpLtI32,
    JumpLeI32,
    JumpEqI32,
    JumpNeI32,
    JumpLtI32Imm,
    JumpLeI32Imm,
    JumpGtI32Imm,
    JumpGeI32Imm,
    JumpEqI32Imm,
    JumpNeI32Imm,
    /// Jumps if `a op b` equals bit 8 of `c`. The low bits of `c` are the number of the operator, and `x` is the number of the kind.
    JumpCompare,
    /// Jumps if the caller passed an argument for parameter `x`.
    JumpIfPassed,
    /// `a = ` value at offset `x` of `self`. The suffix is the number of bytes to copy.
    LoadSelf1,
    LoadSelf4,
    LoadSelf8,
    StoreSelf1,
    StoreSelf4,
    StoreSelf8,
    /// Loads and stores values of any other size in `self`. `c` is the number of bytes.
    LoadSelfBytes,
    StoreSelfBytes,
    /// `a = ` element of the array at offset `x` in `self` or in the frame. The index is in register `b`. The element has four or `c`
    /// bytes. If the index is out of range, runs entry `y` of the slow table instead.
    LoadSelfElement4,
    StoreSelfElement4,
    LoadElement4,
    StoreElement4,
    LoadSelfElement,
    StoreSelfElement,
    LoadElement,
    StoreElement,
    /// `a = ` length of the array at offset `x` in `self` or in the frame.
    LengthOfSelf,
    Length,
    /// `a = ` value of a property of the object in register `b`. Entry `x` of the property table describes the property. Copies `c` bytes.
    LoadOther,
    StoreOther,
    SelfObject,
    /// Calls through entry `x` of the call site table.
    Call,
    /// Calls a static host function that the loader has resolved and whose parameters are all copied bytewise.
    CallPlain,
    /// Variant of [`Self::CallPlain`]: if the class of `self` overrides the static function, calls the override.
    CallPlainOfClass,
    /// Calls a function that is usually a script function and whose parameters are all copied bytewise.
    CallDirect,
    /// Runs entry `x` of the slow table.
    Slow,
    Return,
}

/// A register: frame offset and type, with a name for errors.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) offset: u16,
    pub(crate) property: Rc<Property>,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Slot(Slot),
    Constant(Rc<Constant>),
}

/// A constant that owns its memory.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) value: OwnedValue,
    pub(crate) property: Rc<Property>,
}

#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) function: Rc<Function>,
    pub(crate) class: Rc<Class>,
    pub(crate) file: Rc<str>,
    pub(crate) instructions: Box<[Instruction]>,
    pub(crate) lines: Box<[u32]>,
    /// Frame size in bytes, a multiple of 16.
    pub(crate) frame_size: u32,
    pub(crate) is_static: bool,
    pub(crate) is_singular: bool,
    pub(crate) schema: Schema,
    /// Registers whose values own memory outside the frame.
    pub(crate) owning: Box<[Slot]>,
    pub(crate) sites: Box<[Site]>,
    pub(crate) others: Box<[OtherProperty]>,
    pub(crate) slow: Box<[Slow]>,
    pub(crate) triples: Box<[TripleOp]>,
    /// Constants that are copied bytewise.
    pub(crate) constants: Box<[Rc<Constant>]>,
    pub(crate) class_name: Name,
    /// Cache of the last class that was found to be derived from the class of this function.
    pub(crate) checked_class: Cell<ClassId>,
}

#[derive(Debug)]
pub(crate) struct OtherProperty {
    pub(crate) owner: Rc<Class>,
    pub(crate) property: Rc<Property>,
    /// Offset of the value in its object. The value may be only a field or an element of the property.
    pub(crate) offset: u32,
    /// Cache of the last class that was found to have this property.
    pub(crate) checked_class: Cell<ClassId>,
}

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) target: LinkedTarget,
    /// Function that the source checker has resolved. At run time, an override of this function may be called instead.
    pub(crate) function: Rc<Function>,
    pub(crate) args: Box<[Arg]>,
    /// Copies of arguments into a script frame or parameter block.
    pub(crate) moves: Box<[Move]>,
    /// Copies of out parameters and of the result back to the caller.
    pub(crate) moves_back: Box<[Move]>,
    /// Copies of the defaults of omitted arguments into a parameter block. A script callee sets its own defaults instead.
    pub(crate) defaults: Box<[Move]>,
    /// Offset and type of each parameter and of the result. The flag is true for out parameters.
    pub(crate) layout: Rc<[(u32, PropertyType, bool)]>,
    /// Parameters whose values own memory. Includes the result if its value owns memory.
    pub(crate) owning: Rc<[Rc<Property>]>,
    /// Size of the parameter block in bytes.
    pub(crate) block: u32,
    pub(crate) is_custom: bool,
    /// Result of the call if no function is called, for example on the object `None`. The field is `None` if this result consists of zero
    /// bytes.
    pub(crate) initial: Option<Value>,
    /// Bit mask of the parameters for which the call passes no argument.
    pub(crate) skipped: u64,
    pub(crate) to: Option<Slot>,
    /// Call cache with the last callee. The key is the class of the object, or a class path together with the number of the run in which
    /// the path was resolved.
    pub(crate) cached_class: Cell<ClassId>,
    pub(crate) cached_path: Cell<Name>,
    pub(crate) cached_run: Cell<u64>,
    pub(crate) cached_callee: RefCell<Option<Callee>>,
    /// True if the cached callee is the declared `function`.
    pub(crate) cached_is_own: Cell<bool>,
}

#[derive(Debug)]
pub(crate) enum LinkedTarget {
    Virtual(Option<u16>),
    Final(Option<u16>, OnceCell<Callee>),
    Static(OnceCell<Callee>),
    /// Static function that is looked up by name in the class in the register. `None` selects the running class.
    OfClass(Option<u16>),
    Interface(u16),
    Delegate {
        delegate: Slot,
        /// Place from which a multicast or sparse delegate was copied. Boxed, because other call sites have no such place.
        place: Option<Box<LinkedPlace>>,
        object: Option<u16>,
        fallback: Option<Rc<Function>>,
    },
}

/// A function to call, with the linked code of a script function.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) function: Rc<Function>,
    pub(crate) linked: Option<Weak<Linked>>,
}

#[derive(Debug)]
pub(crate) enum Arg {
    Value(Source),
    Place(LinkedPlace),
}

/// Copy of one value between the caller's frame and the callee's frame or block.
#[derive(Debug)]
pub(crate) struct Move {
    /// Size in bytes of a value that is copied bytewise. `None` for a typed copy.
    pub(crate) plain: Option<u16>,
    pub(crate) caller_offset: u16,
    /// Offset in the frame or block of the callee.
    pub(crate) param_offset: u16,
    /// Constant that is copied. `None` if the source is in the frame.
    pub(crate) source: Option<Rc<Constant>>,
    pub(crate) property: Rc<Property>,
}

/// A place with resolved offsets.
#[derive(Debug)]
pub(crate) struct LinkedPlace {
    pub(crate) root: LinkedRoot,
    pub(crate) steps: Box<[LinkedStep]>,
    pub(crate) property: Rc<Property>,
}

#[derive(Debug)]
pub(crate) enum LinkedRoot {
    Slot(Slot),
    OfSelf(u32),
    Of(u16, OtherProperty),
    Default(u16, OtherProperty),
}

#[derive(Debug)]
pub(crate) enum LinkedStep {
    Field(u32),
    /// Element of an array: register of the index, element size in bytes, and type of the array.
    Element {
        index: Source,
        size: u32,
        array: Rc<Property>,
        fixed: bool,
        element: Rc<Property>,
    },
}

/// Operations that are too complex for a single instruction.
#[derive(Debug)]
pub(crate) enum Slow {
    Init(Slot, Option<Value>),
    Copy(Slot, Source),
    Unary(Unary, Slot, Source),
    Binary(Op, Operand, Slot, Source, Source),
    Triple(TripleOp, Slot, Source, Source),
    Convert(Conversion, Slot, Source),
    Cast(Cast, Slot, Source),
    Load(Slot, LinkedPlace),
    Store(LinkedPlace, Source),
    SelfClass(Slot),
    ClassOf(Slot, Source),
    Intrinsic { what: Intrinsic, place: LinkedPlace, args: Box<[Source]>, to: Option<Slot> },
    SetLength(LinkedPlace, Source),
    Bind(Slot, Option<Source>, Name),
    New { to: Slot, class: Source, outer: Option<Source>, name: Option<Source>, template: Option<Source> },
    Fail(Rc<str>),
}

/// Effect of a call or slow operation on the interpreter loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transfer {
    /// A script frame was pushed and is now innermost.
    In,
    /// Native or plugin code was called and has returned.
    Out,
    /// No code was called, and the current frame continues.
    None,
}
