//! Linked bytecode: fixed-size instructions with frame offsets instead of registers, built and verified by [`link`](crate::link).

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
use alcedo_uc::hir::{Cast, Conversion, Intrinsic, Num, Op, Operand, Unary};

use crate::triple::TripleOp;

/// An instruction. `a`, `b`, `c` are frame offsets unless the operation specifies otherwise.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) op: OpCode,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// A constant, a jump target, or an index into one of the tables of the function.
    pub(crate) x: u32,
    pub(crate) y: u32,
}

/// Operation of an instruction. `Imm`: the right operand is the constant `x`. Jumps continue at instruction `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum OpCode {
    Nop,
    /// `a = b`; the suffix is the number of bytes.
    Copy1,
    Copy2,
    Copy4,
    Copy8,
    /// A vector of floats.
    Copy12,
    /// Copies `x` bytes between registers that are identical or disjoint.
    CopyBytes,
    /// `a = ` entry `x` of the constant table, of `c` bytes.
    CopyConstant,
    /// `a = x`; the suffix is the number of bytes. Eight bytes are in `x` and `y`.
    Set1,
    Set4,
    Set8,
    AddI32,
    SubI32,
    MulI32,
    AddI32Imm,
    MulI32Imm,
    /// The constant divisor is not zero.
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
    /// `a = b op c`; `x` is the operator, `y` the kind of number.
    Arithmetic,
    /// Operations on vectors of floats: `Scale` by a float, `Dot` to a float.
    AddVector,
    SubVector,
    ScaleVector,
    ScaleVectorImm,
    DotVector,
    /// `a = ` operation `x` of the triple table on `b` and `c`.
    Triple,
    I32ToF32,
    F32ToI32,
    NotBool,
    JumpUp,
    /// Backward jump; counts a round against infinite loops.
    JumpBack,
    /// Backward variants of the jumps with these conditions.
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
    /// Jumps if `a op b` equals bit 8 of `c`; the low bits of `c` are the operator, `x` the kind of number.
    JumpCompare,
    /// Jumps if the caller passed an argument for parameter `x`.
    JumpIfPassed,
    /// `a = ` value at offset `x` of `self`; the suffix is the number of bytes.
    LoadSelf1,
    LoadSelf4,
    LoadSelf8,
    StoreSelf1,
    StoreSelf4,
    StoreSelf8,
    /// Loads and stores of `c` bytes in `self`.
    LoadSelfBytes,
    StoreSelfBytes,
    /// `a = ` element `b` of the array at offset `x` in `self` or in the frame; four or `c` bytes. Out of range, entry `y` of the
    /// slow table is run instead.
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
    /// `a = ` property `x` of the table, of the object in `b`; `c` bytes.
    LoadOther,
    StoreOther,
    SelfObject,
    /// Call site `x` of the table.
    Call,
    /// Call of one static host function; all parameters are copied bytewise.
    CallPlain,
    /// Variant of [`Self::CallPlain`] if the class of `self` may provide another function.
    CallPlainOfClass,
    /// Call of a function whose body is usually written in script. All parameters are copied bytewise.
    CallDirect,
    /// Entry `x` of the slow table.
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

/// A constant with its own memory.
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
    /// Layout of the frame.
    pub(crate) schema: Schema,
    /// Registers whose values own memory.
    pub(crate) owning: Box<[Slot]>,
    pub(crate) sites: Box<[Site]>,
    pub(crate) others: Box<[OtherProperty]>,
    pub(crate) slow: Box<[Slow]>,
    pub(crate) triples: Box<[TripleOp]>,
    /// Constants that are copied bytewise.
    pub(crate) constants: Box<[Rc<Constant>]>,
    pub(crate) class_name: Name,
    /// Class of the last successful check for this function.
    pub(crate) checked_class: Cell<ClassId>,
}

/// A property of an object other than `self`.
#[derive(Debug)]
pub(crate) struct OtherProperty {
    pub(crate) owner: Rc<Class>,
    pub(crate) property: Rc<Property>,
    /// Offset in the object; may be inside of the property.
    pub(crate) offset: u32,
    /// Class of the last successful check for this property.
    pub(crate) checked_class: Cell<ClassId>,
}

#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) target: LinkedTarget,
    /// Function as declared where the checker found it.
    pub(crate) function: Rc<Function>,
    pub(crate) args: Box<[Arg]>,
    /// Moves of arguments into a script frame or parameter block.
    pub(crate) moves: Box<[Move]>,
    /// Moves of out parameters and the result back.
    pub(crate) moves_back: Box<[Move]>,
    /// Offset and type of parameters and result; the flag marks out parameters.
    pub(crate) layout: Rc<[(u32, PropertyType, bool)]>,
    /// Parameters and result whose values own memory.
    pub(crate) owning: Rc<[Rc<Property>]>,
    /// Size of the parameter block in bytes.
    pub(crate) block: u32,
    pub(crate) is_custom: bool,
    /// Result if no function is called, unless it is zero bytes.
    pub(crate) initial: Option<Value>,
    /// Bit mask of parameters without an argument.
    pub(crate) skipped: u64,
    /// Target of the result.
    pub(crate) to: Option<Slot>,
    /// Call cache: last callee with the class of its object, or with a class path in one run.
    pub(crate) cached_class: Cell<ClassId>,
    pub(crate) cached_path: Cell<Name>,
    pub(crate) cached_run: Cell<u64>,
    pub(crate) cached_callee: RefCell<Option<Callee>>,
    /// True if the cached callee is `function`.
    pub(crate) cached_is_own: Cell<bool>,
}

/// Target of a call.
#[derive(Debug)]
pub(crate) enum LinkedTarget {
    Virtual(Option<u16>),
    Final(Option<u16>, OnceCell<Callee>),
    Static(OnceCell<Callee>),
    /// Function by name of the class in a register; `None` is the running class.
    OfClass(Option<u16>),
    Interface(u16),
    Delegate {
        delegate: Slot,
        object: Option<u16>,
        fallback: Option<(Rc<Function>, OnceCell<Callee>)>,
    },
}

/// A function, with its linked code if it is a script.
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

/// Move of one value between a frame and the frame or block of a callee.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) copy_kind: CopyKind,
    /// Offset in the caller's frame.
    pub(crate) caller_offset: u16,
    /// Offset among the parameters.
    pub(crate) param_offset: u16,
    /// Source constant, if the value is not in the frame.
    pub(crate) source: Option<Rc<Constant>>,
    pub(crate) property: Rc<Property>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CopyKind {
    Bytes1,
    Bytes4,
    Bytes8,
    Bytes12,
    /// Bytewise copy of the size of the type.
    Bytes,
    /// Typed copy.
    Typed,
}

/// A place with resolved offsets.
#[derive(Debug)]
pub(crate) struct LinkedPlace {
    pub(crate) root: LinkedRoot,
    pub(crate) steps: Box<[LinkedStep]>,
    /// Type of the value at the place.
    pub(crate) property: Rc<Property>,
    pub(crate) initial: Option<Value>,
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
    /// Index register, element size in bytes, array type.
    Element {
        index: Source,
        size: u32,
        array: Rc<Property>,
        fixed: bool,
        element: Rc<Property>,
    },
}

/// Operations too complex for a single instruction.
#[derive(Debug)]
pub(crate) enum Slow {
    Init(Slot, Option<Value>),
    Copy(Slot, Source),
    Unary(Unary, Slot, Source),
    Binary(Op, Operand, Slot, Source, Source),
    Arithmetic(Op, Num, Slot, Source, Source),
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

/// Control transfer of a call or another step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transfer {
    /// Into a script frame, which is now innermost.
    In,
    /// Other code was called and has returned.
    Out,
    /// No transfer.
    None,
}

/// Kinds of numbers, indexed by their code in instructions.
pub(crate) const NUMS: [Num; 10] = Num::ALL;

pub(crate) fn num_code(num: Num) -> u32 {
    NUMS.iter().position(|known| *known == num).unwrap_or_default() as u32
}

/// Binary number operators, indexed by their code in instructions.
pub(crate) const OPS: [Op; 21] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Rem,
    Op::Pow,
    Op::Shl,
    Op::Shr,
    Op::Ushr,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
    Op::Eq,
    Op::Ne,
    Op::Lt,
    Op::Le,
    Op::Gt,
    Op::Ge,
    Op::Near,
    Op::Xor,
    Op::ClockwiseFrom,
];

/// Returns the instruction code of a binary number operator; `None` for other operators.
pub(crate) fn op_code(op: Op) -> Option<u32> {
    OPS.iter().position(|known| *known == op).map(|at| at as u32)
}
