//! Bytecode as it runs: fixed words with offsets in place of registers, made and vouched for by [`link`](crate::link).

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

use crate::triple::Made;

/// An instruction. `a`, `b`, `c` are offsets in the frame unless the operation says otherwise.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Word {
    pub(crate) op: Do,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// A constant, a jump, or the place of something in one of the tables of the function.
    pub(crate) x: u32,
    pub(crate) y: u32,
}

/// What an instruction does. `Imm`: the right operand is the constant `x`. Jumps go to the instruction `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum Do {
    Nop,
    /// `a = b`, of so many bytes.
    Copy1,
    Copy2,
    Copy4,
    Copy8,
    /// A vector of floats.
    Copy12,
    /// Of `x` bytes, in registers that are the same or apart.
    CopyBytes,
    /// `a = ` constant `x` of the table, of `c` bytes.
    CopyConstant,
    /// `a = x`, of so many bytes; of eight, `x` and `y`.
    Set1,
    Set4,
    Set8,
    AddI32,
    SubI32,
    MulI32,
    AddI32Imm,
    MulI32Imm,
    /// By a constant that is not zero.
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
    /// The same of vectors of floats: `Scale` by a float, `Dot` to one.
    AddVector,
    SubVector,
    ScaleVector,
    ScaleVectorImm,
    DotVector,
    /// `a = ` what `x` of the table makes of `b` and `c`.
    Triple,
    I32ToF32,
    F32ToI32,
    NotBool,
    JumpUp,
    /// A jump back, which a loop that never ends is noticed by.
    JumpBack,
    /// As the jumps of those names, back.
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
    /// If `a op b` is what bit 8 of `c` says; the low bits of `c` are the operator, `x` the kind of number.
    JumpCompare,
    /// If an argument was given for parameter `x`.
    JumpIfGiven,
    /// `a = ` what lies at offset `x` of the object itself, of so many bytes.
    LoadSelf1,
    LoadSelf4,
    LoadSelf8,
    StoreSelf1,
    StoreSelf4,
    StoreSelf8,
    /// The same, of `c` bytes.
    LoadSelfBytes,
    StoreSelfBytes,
    /// `a = ` the element `b` of the array at offset `x` in the object itself, or in the frame; of four bytes, or of `c`. Where there
    /// is no such element, what is in the table at `y`.
    LoadSelfElement4,
    StoreSelfElement4,
    LoadElement4,
    StoreElement4,
    LoadSelfElement,
    StoreSelfElement,
    LoadElement,
    StoreElement,
    /// `a = ` how many elements the array at offset `x` in the object itself, or in the frame, has.
    LengthOfSelf,
    Length,
    /// `a = ` a property of the object in `b`; `c` bytes, `x` is the property in the table.
    LoadOther,
    StoreOther,
    /// `a =` the object itself.
    SelfObject,
    /// The call `x` of the table.
    Call,
    /// The same of one function of the host without an object, all of whose parameters are copied by their bytes.
    CallPlain,
    /// The same where the class of the object itself may have another such function.
    CallPlainOfClass,
    /// The same of what is a script for most, all of whose parameters are copied by their bytes.
    CallDirect,
    /// What is in the table at `x`.
    Slow,
    Return,
}

/// A register: where it lies in the frame, its type and, for errors, its name.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) offset: u16,
    pub(crate) property: Rc<Property>,
}

/// Where a value is read from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Slot(Slot),
    Constant(Rc<Constant>),
}

/// A constant in memory of its own.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) value: OwnedValue,
    pub(crate) property: Rc<Property>,
}

/// Code that runs.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) function: Rc<Function>,
    pub(crate) class: Rc<Class>,
    pub(crate) file: Rc<str>,
    pub(crate) words: Box<[Word]>,
    pub(crate) lines: Box<[u32]>,
    /// Bytes of the frame, a multiple of 16.
    pub(crate) frame_size: u32,
    pub(crate) is_static: bool,
    pub(crate) is_singular: bool,
    /// What lies in the frame.
    pub(crate) schema: Schema,
    /// Registers whose values own memory.
    pub(crate) owning: Box<[Slot]>,
    pub(crate) sites: Box<[Site]>,
    pub(crate) others: Box<[OtherProperty]>,
    pub(crate) slow: Box<[Slow]>,
    pub(crate) triples: Box<[Made]>,
    /// Constants that are copied by their bytes.
    pub(crate) constants: Box<[Rc<Constant>]>,
    /// The path of the class that declares it.
    pub(crate) class_name: Name,
    /// The class that was last found to have the function.
    pub(crate) seen: Cell<ClassId>,
}

/// A property of an object that is not the object itself.
#[derive(Debug)]
pub(crate) struct OtherProperty {
    pub(crate) owner: Rc<Class>,
    pub(crate) property: Rc<Property>,
    /// Where in the object, which may be behind the start of the property.
    pub(crate) offset: u32,
    /// The class that was last found to have it.
    pub(crate) seen: Cell<ClassId>,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) target: Aim,
    /// The function as it is declared where the checker found it.
    pub(crate) function: Rc<Function>,
    pub(crate) args: Box<[Arg]>,
    /// What goes into the parameters of a script or a block.
    pub(crate) moves: Box<[Move]>,
    /// What comes back from there, with the result.
    pub(crate) outs: Box<[Move]>,
    /// Where parameters and result lie, their types, and whether they are written to.
    pub(crate) layout: Rc<[(u32, PropertyType, bool)]>,
    /// Parameters, with the result, whose values own memory.
    pub(crate) owning: Rc<[Rc<Property>]>,
    /// Bytes of a parameter block.
    pub(crate) block: u32,
    /// Whether the function brings its own thunk.
    pub(crate) is_custom: bool,
    /// What the result is where nothing is called, if zero bytes are not it.
    pub(crate) initial: Option<Value>,
    /// Which parameters got no argument.
    pub(crate) skipped: u64,
    /// Where the result goes.
    pub(crate) to: Option<Slot>,
    /// What was called last, for which class: that of an object, or the one of a path, as it was in one run.
    pub(crate) seen: Cell<ClassId>,
    pub(crate) seen_path: Cell<Name>,
    pub(crate) seen_run: Cell<u64>,
    pub(crate) seen_callee: RefCell<Option<Callee>>,
    /// Whether that is `function`.
    pub(crate) seen_is_own: Cell<bool>,
}

/// What a call leads to.
#[derive(Debug)]
pub(crate) enum Aim {
    Virtual(Option<u16>),
    Final(Option<u16>, OnceCell<Callee>),
    Static(OnceCell<Callee>),
    /// The function of that name that the class in a register has; none is the class that runs.
    OfClass(Option<u16>),
    Interface(u16),
    Delegate {
        delegate: Slot,
        object: Option<u16>,
        fallback: Option<(Rc<Function>, OnceCell<Callee>)>,
    },
}

/// A function, and its body if it is a script.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) function: Rc<Function>,
    pub(crate) linked: Option<Weak<Linked>>,
}

/// An argument, as a thunk steps to it.
#[derive(Debug)]
pub(crate) enum Arg {
    Value(Source),
    Place(LinkedPlace),
}

/// One value between a frame and the frame or block of a callee.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) how: How,
    /// Offset in the caller's frame.
    pub(crate) here: u16,
    /// Offset among the parameters.
    pub(crate) there: u16,
    /// The source of what is not in the frame, and the type of what is not plain.
    pub(crate) source: Option<Rc<Constant>>,
    pub(crate) property: Rc<Property>,
}

/// How a value is moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Bytes1,
    Bytes4,
    Bytes8,
    Bytes12,
    /// As many as values of its type take.
    Bytes,
    /// As its type says.
    Typed,
}

/// A place, with offsets.
#[derive(Debug)]
pub(crate) struct LinkedPlace {
    pub(crate) root: LinkedRoot,
    pub(crate) steps: Box<[LinkedStep]>,
    /// What lies there.
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
    /// Index register, bytes of an element, the type of the array.
    Element {
        index: Source,
        size: u32,
        array: Rc<Property>,
        fixed: bool,
        element: Rc<Property>,
    },
}

/// What takes more than a few instructions of the processor.
#[derive(Debug)]
pub(crate) enum Slow {
    Init(Slot, Option<Value>),
    Copy(Slot, Source),
    Unary(Unary, Slot, Source),
    Binary(Op, Operand, Slot, Source, Source),
    Triple(Made, Slot, Source, Source),
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

/// Where a call or another step has led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Went {
    /// Into the frame of a script, which is on top now.
    In,
    /// Out to other code, and back.
    Out,
    /// Nowhere else.
    Nowhere,
}

/// Kinds of numbers, in the order of their codes in instructions.
pub(crate) const NUMS: [Num; 10] = Num::ALL;

/// The code of a kind of number.
pub(crate) fn num_code(num: Num) -> u32 {
    NUMS.iter().position(|known| *known == num).unwrap_or_default() as u32
}

/// Operators on two numbers, in the order of their codes in instructions.
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

/// The code of an operator on two numbers; none for others.
pub(crate) fn op_code(op: Op) -> Option<u32> {
    OPS.iter().position(|known| *known == op).map(|at| at as u32)
}
