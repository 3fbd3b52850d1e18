//! Loader: verifies the bytecode of a function against the current types, and translates it into linked code. For any input, the linked
//! code accesses only its own frame and the objects to which the frame refers. The interpreter relies on this property and performs no
//! further checks. This module contains no unsafe code.

mod operators;
mod places;
mod registers;
mod sites;

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::kinds::function_flags;
use alcedo_base::handles::ClassId;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::function::Function;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_uc::hir::{Intrinsic, Num};

use self::registers::Properties;
pub(crate) use self::sites::KnownFunctions;
use crate::code::{At, FunctionCode, Ins, MAX_OMITTED, Reg};
use crate::exec::{Constant, Instruction, Linked, LinkedTarget, OpCode, OtherProperty, Site, Slow, Source};
use crate::number::TripleOp;

/// Error for rejected bytecode.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the bytecode of {function} is refused at instruction {at}: {problem}")]
pub struct LoadError {
    /// Path of the function.
    pub function: String,
    /// Index of the instruction. Zero if the problem concerns the whole function.
    pub at: At,
    /// Description of the problem.
    pub problem: String,
}

struct Linker<'a> {
    world: &'a World,
    code: &'a FunctionCode,
    function: &'a Rc<Function>,
    class: &'a Rc<Class>,
    properties: Properties<'a>,
    known: &'a KnownFunctions,
    linked: Vec<Source>,
    instructions: Vec<Instruction>,
    lines: Vec<u32>,
    sites: Vec<Site>,
    others: Vec<OtherProperty>,
    slow: Vec<Slow>,
    triples: Vec<TripleOp>,
    constants: Vec<Rc<Constant>>,
}

type Checked<T> = Result<T, String>;

/// Links the body of `function`. `class` is the class that declares the function.
///
/// # Errors
/// Returns [`LoadError`] if the code is invalid.
pub(crate) fn link(
    world: &World,
    known: &KnownFunctions,
    code: &FunctionCode,
    function: &Rc<Function>,
    class: &Rc<Class>,
) -> Result<Linked, LoadError> {
    let refuse = |at: At, problem: String| LoadError { function: code.path.clone(), at, problem };
    let mut linker = Linker {
        world,
        code,
        function,
        class,
        properties: Properties::new(&world.names),
        known,
        linked: Vec::with_capacity(code.registers.len()),
        instructions: Vec::with_capacity(code.code.len() + 1),
        lines: Vec::with_capacity(code.code.len() + 1),
        sites: Vec::new(),
        others: Vec::new(),
        slow: Vec::new(),
        triples: Vec::new(),
        constants: Vec::new(),
    };
    let (size, schema, owning) = linker.registers().map_err(|problem| refuse(0, problem))?;
    // Index of the first linked instruction for each bytecode instruction, needed to translate jump targets.
    let mut begins = Vec::with_capacity(code.code.len());
    let mut jumps = Vec::new();
    for (at, ins) in code.code.iter().enumerate() {
        begins.push(linker.instructions.len() as u32);
        let line = code.lines.get(at).copied().unwrap_or_default();
        let jump = linker.instruction(ins).map_err(|problem| refuse(at as At, problem))?;
        if let Some(to) = jump {
            jumps.push((at as At, linker.instructions.len() - 1, to));
        }
        linker.lines.resize(linker.instructions.len(), line);
    }
    // A final return ensures that execution never continues past the end.
    begins.push(linker.instructions.len() as u32);
    linker.emit(OpCode::Return, 0, 0, 0, 0, 0);
    linker.lines.push(code.lines.last().copied().unwrap_or_default());
    for (at, index, to) in jumps {
        let begin = begins.get(to as usize);
        let begin = *begin.ok_or_else(|| refuse(at, format!("a jump to instruction {to}, of {}", begins.len() - 1)))?;
        linker.instructions[index].y = begin;
        if begin as usize <= index {
            back_jump(&mut linker, index);
        }
    }
    Ok(Linked {
        function: Rc::clone(function),
        class: Rc::clone(class),
        file: code.file.as_str().into(),
        instructions: linker.instructions.into(),
        lines: linker.lines.into(),
        frame_size: size,
        is_static: code.is_static,
        is_singular: code.is_singular,
        schema,
        owning,
        sites: linker.sites.into(),
        others: linker.others.into(),
        slow: linker.slow.into(),
        triples: linker.triples.into(),
        constants: linker.constants.into(),
        class_name: world.names.intern(&class.path),
        checked_class: Cell::new(ClassId::NONE),
    })
}

/// Replaces a backward jump of a loop by a jump that also counts a round. If a conditional jump has no counting variant, its target becomes
/// a new counting jump at the end of the code.
fn back_jump(linker: &mut Linker<'_>, at: usize) {
    let ins = linker.instructions[at];
    let back = match ins.op {
        OpCode::JumpUp => OpCode::JumpBack,
        OpCode::JumpLtI32 => OpCode::LoopLtI32,
        OpCode::JumpLeI32 => OpCode::LoopLeI32,
        OpCode::JumpLtI32Imm => OpCode::LoopLtI32Imm,
        _ => {
            linker.instructions[at].y = linker.instructions.len() as u32;
            linker.emit(OpCode::JumpBack, 0, 0, 0, 0, ins.y);
            linker.lines.push(linker.lines[at]);
            return;
        }
    };
    linker.instructions[at].op = back;
}

/// Returns the number kind of a type. For an enum, returns the kind of its numbers.
pub(crate) fn num_of(ty: &PropertyType) -> Option<Num> {
    match ty {
        PropertyType::Enum(of) => Num::of(of.underlying_kind()),
        ty => Num::of(ty.kind()),
    }
}

/// Returns the size of a value that is copied bytewise. Returns `None` if values of the type own memory.
fn plain_size(ty: &PropertyType) -> Option<usize> {
    (!ty.owns_memory()).then(|| ty.size())
}

impl Linker<'_> {
    fn emit(&mut self, op: OpCode, a: u16, b: u16, c: u16, x: u32, y: u32) {
        self.instructions.push(Instruction { op, a, b, c, x, y });
    }

    fn emit_slow(&mut self, slow: Slow) {
        let at = self.slow.len() as u32;
        self.slow.push(slow);
        self.emit(OpCode::Slow, 0, 0, 0, at, 0);
    }

    /// Returns true if all registers are in the frame. Constants are not in the frame.
    fn in_frame(&self, regs: &[Reg]) -> bool {
        regs.iter().all(|reg| matches!(self.register(*reg), Ok(Source::Slot(_))))
    }

    /// Links one instruction. If the last emitted instruction is a jump, returns its target.
    fn instruction(&mut self, ins: &Ins) -> Checked<Option<At>> {
        match ins {
            Ins::Nop => self.emit(OpCode::Nop, 0, 0, 0, 0, 0),
            Ins::Init { to } => {
                let slot = self.slot(*to)?;
                let initial = initial(&slot.property.ty);
                self.emit_slow(Slow::Init(slot, initial));
            }
            Ins::Copy { to, from } => self.copy(*to, *from)?,
            Ins::Unary { op, to, from } => self.unary(op, *to, *from)?,
            Ins::Binary { op, on, to, left, right } => self.binary(*op, on, *to, *left, *right)?,
            Ins::Convert { by, to, from } => self.convert(by, *to, *from)?,
            Ins::Cast { by, to, from } => {
                let (to, from) = (self.slot(*to)?, self.source(*from)?);
                self.emit_slow(Slow::Cast(by.clone(), to, from));
            }
            Ins::Jump { to } => {
                self.emit(OpCode::JumpUp, 0, 0, 0, 0, 0);
                return Ok(Some(*to));
            }
            Ins::JumpIf { condition, is, to } => {
                self.expect_bool(*condition)?;
                match self.constant(*condition)? {
                    Some(value) if value == Value::Bool(*is) => self.emit(OpCode::JumpUp, 0, 0, 0, 0, 0),
                    Some(_) => {
                        self.emit(OpCode::Nop, 0, 0, 0, 0, 0);
                        return Ok(None);
                    }
                    None => {
                        let a = self.operand(*condition)?;
                        self.emit(if *is { OpCode::JumpIf } else { OpCode::JumpUnless }, a, 0, 0, 0, 0);
                    }
                }
                return Ok(Some(*to));
            }
            Ins::JumpCompare { op, num, left, right, is, to } => {
                self.jump_compare(*op, *num, *left, *right, *is)?;
                return Ok(Some(*to));
            }
            Ins::JumpIfPassed { param, to } => {
                if *param >= self.code.params || usize::from(*param) >= MAX_OMITTED {
                    return Err(format!("parameter {param} is not optional"));
                }
                self.emit(OpCode::JumpIfPassed, 0, 0, 0, u32::from(*param), 0);
                return Ok(Some(*to));
            }
            Ins::Load { to, place } => self.load(*to, *place)?,
            Ins::Store { place, from } => self.store(*place, *from)?,
            Ins::SelfObject { to } => {
                self.not_static("the object itself")?;
                self.expect_type(*to, "object", |ty| matches!(ty, PropertyType::Object { .. }))?;
                let a = self.operand(*to)?;
                self.emit(OpCode::SelfObject, a, 0, 0, 0, 0);
            }
            Ins::SelfClass { to } => {
                self.expect_class(*to)?;
                let to = self.slot(*to)?;
                self.emit_slow(Slow::SelfClass(to));
            }
            Ins::ClassOf { to, object } => {
                self.expect_class(*to)?;
                self.expect_object(*object)?;
                let (to, object) = (self.slot(*to)?, self.source(*object)?);
                self.emit_slow(Slow::ClassOf(to, object));
            }
            Ins::Call { site } => {
                let code = self.code;
                let found = code.calls.get(usize::from(*site)).ok_or_else(|| format!("call {site} does not exist"))?;
                let linked = self.site(found)?;
                let at = self.sites.len() as u32;
                let op = match (self.is_plain(&linked), &linked.target) {
                    (true, LinkedTarget::OfClass(_)) => OpCode::CallPlainOfClass,
                    (true, _) => OpCode::CallPlain,
                    (false, _) if Self::is_direct(&linked) => OpCode::CallDirect,
                    (false, _) => OpCode::Call,
                };
                self.sites.push(linked);
                self.emit(op, 0, 0, 0, at, 0);
            }
            Ins::Intrinsic { what: Intrinsic::Length, place, args, to: Some(to) }
                if args.is_empty() && self.length(*to, *place)? => {}
            Ins::Intrinsic { what, place, args, to } => {
                let place = self.place(*place, !what.is_reading())?;
                let args = args.iter().map(|arg| self.source(*arg)).collect::<Checked<_>>()?;
                let to = to.map(|to| self.slot(to)).transpose()?;
                self.emit_slow(Slow::Intrinsic { what: what.clone(), place, args, to });
            }
            Ins::SetLength { place, length } => {
                self.expect_index(*length)?;
                let (place, length) = (self.place(*place, true)?, self.source(*length)?);
                self.emit_slow(Slow::SetLength(place, length));
            }
            Ins::Bind { to, object, function } => {
                self.expect_type(*to, "delegate", |ty| matches!(ty, PropertyType::Delegate(_)))?;
                if let Some(object) = object {
                    self.expect_object(*object)?;
                } else {
                    self.not_static("the object itself")?;
                }
                let (to, object) = (self.slot(*to)?, object.map(|object| self.source(object)).transpose()?);
                let function = self.world.names.intern(function);
                self.emit_slow(Slow::Bind(to, object, function));
            }
            Ins::New { to, class, outer, name, template } => {
                self.expect_object(*to)?;
                self.expect_class(*class)?;
                outer.iter().chain(template).try_for_each(|object| self.expect_object(*object))?;
                let source = |reg: &Option<Reg>| reg.map(|reg| self.source(reg)).transpose();
                let (outer, name, template) = (source(outer)?, source(name)?, source(template)?);
                let (to, class) = (self.slot(*to)?, self.source(*class)?);
                self.emit_slow(Slow::New { to, class, outer, name, template });
            }
            Ins::Fail { message } => self.emit_slow(Slow::Fail(Rc::clone(message))),
            Ins::Return => self.emit(OpCode::Return, 0, 0, 0, 0, 0),
        }
        Ok(None)
    }

    fn not_static(&self, what: &str) -> Checked<()> {
        match self.code.is_static || self.function.flags & function_flags::STATIC != 0 {
            true => Err(format!("{what} in a static function")),
            false => Ok(()),
        }
    }
}

/// Returns the initial value of the type. Returns `None` if the initial value is zero bytes.
fn initial(ty: &PropertyType) -> Option<Value> {
    let PropertyType::Struct(_) = ty else { return None };
    Some(Value::initial(ty)).filter(|initial| *initial != Value::zero(ty))
}
