//! The loader: looks at all of a function's bytecode, against the types that there are now, and makes of it what runs. What it
//! lets through stays inside of its frame and of the objects it names, whatever the code was made of; so what runs it need not look
//! again. Everything here is safe code: the promise is in what it makes.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use alcedo_abi::handles::Name;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_base::handles::ClassId;
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::function::Function;
use alcedo_reflect::owned::OwnedValue;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::storage::Schema;
use alcedo_reflect::type_text::TypeText;
use alcedo_reflect::value::Value;
use alcedo_uc::hir::{Conversion, Num, Op, Operand, Unary};

use crate::code::{Argument, At, CallSite, FunctionCode, Ins, Place, Reg, Register, Root, Step, Target};
use crate::exec::{
    Aim, Arg, Constant, Do, How, Linked, LinkedPlace, LinkedRoot, LinkedStep, Move, OtherProperty, Site, Slot, Slow,
    Source, Word, num_code, op_code,
};
use crate::value::const_value;

/// Why bytecode is not let through.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the bytecode of {function} is refused at instruction {at}: {problem}")]
pub struct LoadError {
    /// The function.
    pub function: String,
    /// The instruction; 0 for what is about all of it.
    pub at: At,
    /// What is wrong, and with what.
    pub problem: String,
}

/// A register, looked at.
#[derive(Clone, Debug)]
enum Seen {
    Slot(Slot),
    /// The register that a field begins in, and the field.
    Part(Slot, Reg),
    Constant(Rc<Constant>),
}

struct Linker<'a> {
    world: &'a World,
    code: &'a FunctionCode,
    function: &'a Rc<Function>,
    class: &'a Rc<Class>,
    seen: Vec<Seen>,
    words: Vec<Word>,
    lines: Vec<u32>,
    sites: Vec<Site>,
    others: Vec<OtherProperty>,
    slow: Vec<Slow>,
}

type Checked<T> = Result<T, String>;

/// Makes code that runs of the body of `function`, which `class` declares.
///
/// # Errors
/// [`LoadError`] when anything in it does not fit.
pub(crate) fn link(
    world: &World,
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
        seen: Vec::with_capacity(code.registers.len()),
        words: Vec::with_capacity(code.code.len() + 1),
        lines: Vec::with_capacity(code.code.len() + 1),
        sites: Vec::new(),
        others: Vec::new(),
        slow: Vec::new(),
    };
    let (size, schema, owning) = linker.registers().map_err(|problem| refuse(0, problem))?;
    // Where the words of each instruction begin, for jumps.
    let mut begins = Vec::with_capacity(code.code.len());
    let mut jumps = Vec::new();
    for (at, ins) in code.code.iter().enumerate() {
        begins.push(linker.words.len() as u32);
        let line = code.lines.get(at).copied().unwrap_or_default();
        let jump = linker.instruction(ins).map_err(|problem| refuse(at as At, problem))?;
        if let Some(to) = jump {
            jumps.push((at as At, linker.words.len() - 1, to));
        }
        linker.lines.resize(linker.words.len(), line);
    }
    // Behind the end is a return, so no code runs on into nothing.
    begins.push(linker.words.len() as u32);
    linker.emit(Do::Return, 0, 0, 0, 0, 0);
    linker.lines.push(code.lines.last().copied().unwrap_or_default());
    for (at, word, to) in jumps {
        let begin = begins.get(to as usize);
        let begin = *begin.ok_or_else(|| refuse(at, format!("a jump to instruction {to}, of {}", begins.len() - 1)))?;
        linker.words[word].y = begin;
    }
    back_jumps(&mut linker);
    Ok(Linked {
        function: Rc::clone(function),
        class: Rc::clone(class),
        file: code.file.as_str().into(),
        words: linker.words.into(),
        lines: linker.lines.into(),
        frame_size: size,
        is_static: code.is_static,
        is_singular: code.is_singular,
        schema,
        owning,
        sites: linker.sites.into(),
        others: linker.others.into(),
        slow: linker.slow.into(),
        class_name: world.names.intern(&class.path),
        seen: Cell::new(ClassId::NONE),
    })
}

/// Whether an instruction may go on elsewhere than behind it.
fn is_jump(op: Do) -> bool {
    use Do as D;
    matches!(
        op,
        D::JumpUp
            | D::JumpBack
            | D::JumpIf
            | D::JumpUnless
            | D::JumpLtI32
            | D::JumpLeI32
            | D::JumpEqI32
            | D::JumpNeI32
            | D::JumpLtI32Imm
            | D::JumpLeI32Imm
            | D::JumpGtI32Imm
            | D::JumpGeI32Imm
            | D::JumpEqI32Imm
            | D::JumpNeI32Imm
            | D::JumpCompare
            | D::JumpIfGiven
    )
}

/// Jumps back are told apart, since only they make a loop: a conditional one goes by way of one behind the end.
fn back_jumps(linker: &mut Linker<'_>) {
    for at in 0..linker.words.len() {
        let word = linker.words[at];
        if !is_jump(word.op) || word.y as usize > at {
            continue;
        }
        let back = match word.op {
            Do::JumpUp => Some(Do::JumpBack),
            Do::JumpLtI32 => Some(Do::LoopLtI32),
            Do::JumpLeI32 => Some(Do::LoopLeI32),
            Do::JumpLtI32Imm => Some(Do::LoopLtI32Imm),
            _ => None,
        };
        if let Some(back) = back {
            linker.words[at].op = back;
        } else if word.op != Do::JumpBack {
            linker.words[at].y = linker.words.len() as u32;
            let line = linker.lines[at];
            linker.words.push(Word { op: Do::JumpBack, a: 0, b: 0, c: 0, x: 0, y: word.y });
            linker.lines.push(line);
        }
    }
}

/// The kind of number that values of a type are, enums being their numbers.
pub(crate) fn num_of(ty: &PropertyType) -> Option<Num> {
    match ty {
        PropertyType::Enum(of) => Num::of(of.underlying_kind()),
        ty => Num::of(ty.kind()),
    }
}

/// Bytes of values that are copied as such.
fn plain_size(ty: &PropertyType) -> Option<usize> {
    (!ty.owns_memory()).then(|| ty.size())
}

fn how(ty: &PropertyType) -> How {
    match plain_size(ty) {
        Some(1) => How::Bytes1,
        Some(4) if ty.align() == 4 => How::Bytes4,
        Some(8) if ty.align() == 8 => How::Bytes8,
        _ => How::Typed,
    }
}

fn property(
    name: &str,
    ty: PropertyType,
    offset: u32,
    owner: &Rc<str>,
    names: &alcedo_reflect::names::Names,
) -> Rc<Property> {
    Rc::new(Property {
        name: names.intern(name),
        text: name.into(),
        display: name.into(),
        ty,
        flags: 0,
        default: None,
        doc: "".into(),
        meta: Rc::default(),
        offset,
        owner: Rc::clone(owner),
    })
}

impl Linker<'_> {
    fn registers(&mut self) -> Checked<(u32, Schema, Box<[Slot]>)> {
        let (code, function) = (self.code, self.function);
        let expected = function.params.len();
        let has_result = function.result().is_some();
        if usize::from(code.params) != function.arguments().len() || code.result.is_some() != has_result {
            return Err(format!(
                "it was made for {} parameters, the function has ({})",
                code.params,
                function.signature()
            ));
        }
        if code.result.is_some_and(|result| result != code.params) {
            return Err("the register of the result comes behind those of the parameters".to_owned());
        }
        if code.registers.len() > usize::from(u16::MAX) || code.registers.len() < expected {
            return Err(format!("{} registers", code.registers.len()));
        }
        let mut end = function.params_size();
        let mut fields = Vec::new();
        let mut owning = Vec::new();
        for (at, register) in code.registers.iter().enumerate() {
            let seen = match register {
                Register::Value { name, ty } => {
                    let ty = self.ty(ty)?;
                    let offset = match function.params.get(at) {
                        Some(param) if param.ty == ty => param.offset as usize,
                        Some(param) => return Err(format!("parameter {} is a {}, not a {ty}", param.text, param.ty)),
                        None => {
                            if ty.align() > 16 {
                                return Err(format!("a {ty} is aligned to more than 16 bytes"));
                            }
                            let offset = end.next_multiple_of(ty.align());
                            end = offset + ty.size();
                            offset
                        }
                    };
                    let place = u16::try_from(offset).ok().filter(|_| end <= usize::from(u16::MAX) - 16);
                    let Some(place) = place else {
                        return Err(format!("its variables take more than {} bytes: make it two functions", u16::MAX));
                    };
                    fields.push((offset as u32, ty.clone()));
                    let owns = ty.owns_memory();
                    let slot = Slot {
                        offset: place,
                        property: property(name, ty, offset as u32, &function.path, &self.world.names),
                    };
                    if owns {
                        owning.push(slot.clone());
                    }
                    Seen::Slot(slot)
                }
                Register::Field { of, field } => {
                    if at < expected {
                        return Err(format!("register {at} is to be a parameter, and is a field"));
                    }
                    let (base, root) = match self.seen.get(usize::from(*of)) {
                        Some(Seen::Slot(slot)) => (slot, *of),
                        Some(Seen::Part(slot, root)) => (slot, *root),
                        _ => {
                            return Err(format!(
                                "register {at} is a field of register {of}, which comes not before it"
                            ));
                        }
                    };
                    let PropertyType::Struct(ty) = &base.property.ty else {
                        return Err(format!("a {} has no field {field}", base.property.ty));
                    };
                    let found = ty.field(field).ok_or_else(|| format!("{} has no field {field}", ty.path))?;
                    let offset = u32::from(base.offset) + found.offset;
                    let named = property(field, found.ty.clone(), offset, &ty.path, &self.world.names);
                    // It lies in the register, whose end was looked at.
                    Seen::Part(Slot { offset: offset as u16, property: named }, root)
                }
                Register::Const { ty, value } => {
                    if at < expected {
                        return Err(format!("register {at} is to be a parameter, and is a constant"));
                    }
                    let ty = self.ty(ty)?;
                    let value = const_value(value, &ty, self.world)?;
                    let mut own = OwnedValue::initial(ty.clone());
                    own.write(&value).map_err(|error| format!("a {} is no {}", error.found, error.wanted))?;
                    let named = property("constant", ty, 0, &function.path, &self.world.names);
                    Seen::Constant(Rc::new(Constant { value: own, property: named }))
                }
            };
            self.seen.push(seen);
        }
        let size = end.next_multiple_of(16);
        let schema = Schema::new(size, 16, fields);
        Ok((size as u32, schema, owning.into()))
    }

    fn ty(&self, text: &TypeText) -> Checked<PropertyType> {
        PropertyType::resolve(text, &self.world.types).map_err(|error| error.to_string())
    }

    fn register(&self, reg: Reg) -> Checked<&Seen> {
        self.seen.get(usize::from(reg)).ok_or_else(|| format!("register {reg}, of {}", self.seen.len()))
    }

    /// A register that is written to, or read where it lies.
    fn slot(&self, reg: Reg) -> Checked<Slot> {
        match self.register(reg)? {
            Seen::Slot(slot) | Seen::Part(slot, _) => Ok(slot.clone()),
            Seen::Constant(_) => Err(format!("register {reg} is a constant")),
        }
    }

    fn source(&self, reg: Reg) -> Checked<Source> {
        Ok(match self.register(reg)? {
            Seen::Slot(slot) | Seen::Part(slot, _) => Source::Slot(slot.clone()),
            Seen::Constant(constant) => Source::Constant(Rc::clone(constant)),
        })
    }

    fn type_of(&self, reg: Reg) -> Checked<&PropertyType> {
        Ok(match self.register(reg)? {
            Seen::Slot(slot) | Seen::Part(slot, _) => &slot.property.ty,
            Seen::Constant(constant) => &constant.property.ty,
        })
    }

    fn constant(&self, reg: Reg) -> Checked<Option<Value>> {
        Ok(match self.register(reg)? {
            Seen::Constant(constant) => Some(constant.value.read()),
            _ => None,
        })
    }

    /// A register as a word may name it: a constant is put into a temporary place first.
    fn operand(&mut self, reg: Reg) -> Checked<u16> {
        self.slot(reg).map(|slot| slot.offset)
    }

    fn want(&self, reg: Reg, wanted: &str, is: impl Fn(&PropertyType) -> bool) -> Checked<()> {
        let ty = self.type_of(reg)?;
        if is(ty) { Ok(()) } else { Err(format!("register {reg} is a {ty}, where a {wanted} is wanted")) }
    }

    fn want_num(&self, reg: Reg, num: Num) -> Checked<()> {
        self.want(reg, num.script_name(), |ty| num_of(ty) == Some(num))
    }

    fn want_bool(&self, reg: Reg) -> Checked<()> {
        self.want(reg, "bool", |ty| *ty == PropertyType::Bool)
    }

    fn want_object(&self, reg: Reg) -> Checked<()> {
        self.want(reg, "object", |ty| matches!(ty, PropertyType::Object { .. } | PropertyType::ScriptInterface(_)))
    }

    fn want_class(&self, reg: Reg) -> Checked<()> {
        self.want(reg, "class", |ty| matches!(ty, PropertyType::SubclassOf(_)))
    }

    fn want_index(&self, reg: Reg) -> Checked<()> {
        self.want(reg, "int", |ty| *ty == PropertyType::I32)
    }

    fn emit(&mut self, op: Do, a: u16, b: u16, c: u16, x: u32, y: u32) {
        self.words.push(Word { op, a, b, c, x, y });
    }

    fn emit_slow(&mut self, slow: Slow) {
        let at = self.slow.len() as u32;
        self.slow.push(slow);
        self.emit(Do::Slow, 0, 0, 0, at, 0);
    }

    /// Whether all of these are in the frame, and not constants.
    fn in_frame(&self, regs: &[Reg]) -> bool {
        regs.iter().all(|reg| matches!(self.register(*reg), Ok(Seen::Slot(_) | Seen::Part(..))))
    }

    /// The words of one instruction; the last may be a jump, to the instruction given back.
    fn instruction(&mut self, ins: &Ins) -> Checked<Option<At>> {
        match ins {
            Ins::Nop => self.emit(Do::Nop, 0, 0, 0, 0, 0),
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
                self.emit(Do::JumpUp, 0, 0, 0, 0, 0);
                return Ok(Some(*to));
            }
            Ins::JumpIf { condition, is, to } => {
                self.want_bool(*condition)?;
                match self.constant(*condition)? {
                    Some(value) if value == Value::Bool(*is) => self.emit(Do::JumpUp, 0, 0, 0, 0, 0),
                    Some(_) => {
                        self.emit(Do::Nop, 0, 0, 0, 0, 0);
                        return Ok(None);
                    }
                    None => {
                        let a = self.operand(*condition)?;
                        self.emit(if *is { Do::JumpIf } else { Do::JumpUnless }, a, 0, 0, 0, 0);
                    }
                }
                return Ok(Some(*to));
            }
            Ins::JumpCompare { op, num, left, right, is, to } => {
                self.jump_compare(*op, *num, *left, *right, *is)?;
                return Ok(Some(*to));
            }
            Ins::JumpIfGiven { param, to } => {
                if *param >= self.code.params || *param >= 64 {
                    return Err(format!("there is no parameter {param} that may be left away"));
                }
                self.emit(Do::JumpIfGiven, 0, 0, 0, u32::from(*param), 0);
                return Ok(Some(*to));
            }
            Ins::Load { to, place } => self.load(*to, *place)?,
            Ins::Store { place, from } => self.store(*place, *from)?,
            Ins::SelfObject { to } => {
                self.not_static("the object itself")?;
                self.want(*to, "object", |ty| matches!(ty, PropertyType::Object { .. }))?;
                let a = self.operand(*to)?;
                self.emit(Do::SelfObject, a, 0, 0, 0, 0);
            }
            Ins::SelfClass { to } => {
                self.want_class(*to)?;
                let to = self.slot(*to)?;
                self.emit_slow(Slow::SelfClass(to));
            }
            Ins::ClassOf { to, object } => {
                self.want_class(*to)?;
                self.want_object(*object)?;
                let (to, object) = (self.slot(*to)?, self.source(*object)?);
                self.emit_slow(Slow::ClassOf(to, object));
            }
            Ins::Call { site } => {
                let code = self.code;
                let found = code.calls.get(usize::from(*site)).ok_or_else(|| format!("there is no call {site}"))?;
                let linked = self.site(found)?;
                let at = self.sites.len() as u32;
                self.sites.push(linked);
                self.emit(Do::Call, 0, 0, 0, at, 0);
            }
            Ins::Intrinsic { what, place, args, to } => {
                let place = self.place(*place, true)?;
                let args = args.iter().map(|arg| self.source(*arg)).collect::<Checked<_>>()?;
                let to = to.map(|to| self.slot(to)).transpose()?;
                self.emit_slow(Slow::Intrinsic { what: what.clone(), place, args, to });
            }
            Ins::SetLength { place, length } => {
                self.want_index(*length)?;
                let (place, length) = (self.place(*place, true)?, self.source(*length)?);
                self.emit_slow(Slow::SetLength(place, length));
            }
            Ins::Bind { to, object, function } => {
                self.want(*to, "delegate", |ty| matches!(ty, PropertyType::Delegate(_)))?;
                if let Some(object) = object {
                    self.want_object(*object)?;
                } else {
                    self.not_static("the object itself")?;
                }
                let (to, object) = (self.slot(*to)?, object.map(|object| self.source(object)).transpose()?);
                let function = self.world.names.intern(function);
                self.emit_slow(Slow::Bind(to, object, function));
            }
            Ins::New { to, class, outer, name, template } => {
                self.want_object(*to)?;
                self.want_class(*class)?;
                outer.iter().chain(template).try_for_each(|object| self.want_object(*object))?;
                let source = |reg: &Option<Reg>| reg.map(|reg| self.source(reg)).transpose();
                let (outer, name, template) = (source(outer)?, source(name)?, source(template)?);
                let (to, class) = (self.slot(*to)?, self.source(*class)?);
                self.emit_slow(Slow::New { to, class, outer, name, template });
            }
            Ins::Fail { message } => self.emit_slow(Slow::Fail(Rc::clone(message))),
            Ins::Return => self.emit(Do::Return, 0, 0, 0, 0, 0),
        }
        Ok(None)
    }

    fn not_static(&self, what: &str) -> Checked<()> {
        match self.code.is_static || self.function.flags & function_flags::STATIC != 0 {
            true => Err(format!("{what} in a static function")),
            false => Ok(()),
        }
    }

    fn copy(&mut self, to: Reg, from: Reg) -> Checked<()> {
        let (target, source) = (self.slot(to)?, self.source(from)?);
        let ty = target.property.ty.clone();
        if *self.type_of(from)? != ty {
            return Err(format!("a {} is copied to a {ty}", self.type_of(from)?));
        }
        let a = target.offset;
        match (&source, plain_size(&ty)) {
            (Source::Slot(from), _) if from.offset == a => self.emit(Do::Nop, 0, 0, 0, 0, 0),
            (Source::Slot(from), Some(size)) => {
                let op = match (size, ty.align()) {
                    (1, _) => Do::Copy1,
                    (2, 2) => Do::Copy2,
                    (4, 4) => Do::Copy4,
                    (8, 8) => Do::Copy8,
                    _ => Do::CopyBytes,
                };
                self.emit(op, a, from.offset, 0, size as u32, 0);
            }
            (Source::Constant(constant), Some(_)) => match bits(&constant.value.read()) {
                Some(bits) => {
                    let op = match (ty.size(), ty.align()) {
                        (1, _) => Some(Do::Set1),
                        (4, 4) => Some(Do::Set4),
                        (8, 8) => Some(Do::Set8),
                        _ => None,
                    };
                    match op {
                        Some(op) => self.emit(op, a, 0, 0, bits as u32, (bits >> 32) as u32),
                        None => self.emit_slow(Slow::Copy(target, source)),
                    }
                }
                None => self.emit_slow(Slow::Copy(target, source)),
            },
            (_, None) => self.emit_slow(Slow::Copy(target, source)),
        }
        Ok(())
    }

    fn unary(&mut self, op: &Unary, to: Reg, from: Reg) -> Checked<()> {
        match op {
            Unary::Not => {
                self.want_bool(to)?;
                self.want_bool(from)?;
                if self.in_frame(&[from]) {
                    let (a, b) = (self.operand(to)?, self.operand(from)?);
                    self.emit(Do::NotBool, a, b, 0, 0, 0);
                    return Ok(());
                }
            }
            Unary::Neg(num) | Unary::BitNot(num) => {
                self.want_num(to, *num)?;
                self.want_num(from, *num)?;
            }
            Unary::NegTriple(_) => {
                if self.type_of(to)? != self.type_of(from)? {
                    return Err("the negative of a struct is of its type".to_owned());
                }
            }
        }
        let (to, from) = (self.slot(to)?, self.source(from)?);
        self.emit_slow(Slow::Unary(op.clone(), to, from));
        Ok(())
    }

    fn binary(&mut self, op: Op, on: &Operand, to: Reg, left: Reg, right: Reg) -> Checked<()> {
        let num = match on {
            Operand::Num(num) | Operand::Enum(num) => Some(*num),
            _ => None,
        };
        let Some((num, code)) = num.zip(op_code(op)) else {
            let (to, left, right) = (self.slot(to)?, self.source(left)?, self.source(right)?);
            self.emit_slow(Slow::Binary(op, on.clone(), to, left, right));
            return Ok(());
        };
        self.want_num(left, num)?;
        let shift = matches!(op, Op::Shl | Op::Shr | Op::Ushr);
        self.want_num(right, if shift { Num::I32 } else { num })?;
        let compares =
            matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Near | Op::ClockwiseFrom | Op::Xor);
        if compares {
            self.want_bool(to)?;
        } else {
            self.want_num(to, num)?;
        }
        if self.in_frame(&[left])
            && !compares
            && let Some(value) = self.constant(right)?
        {
            let (a, b) = (self.operand(to)?, self.operand(left)?);
            let fast = match (num, op, &value) {
                (Num::I32, Op::Add, Value::I32(by)) => Some((Do::AddI32Imm, *by as u32)),
                (Num::I32, Op::Sub, Value::I32(by)) => Some((Do::AddI32Imm, by.wrapping_neg() as u32)),
                (Num::I32, Op::Mul, Value::I32(by)) => Some((Do::MulI32Imm, *by as u32)),
                (Num::I32, Op::Div, Value::I32(by)) if *by != 0 => Some((Do::DivI32Imm, *by as u32)),
                (Num::I32, Op::Rem, Value::I32(by)) if *by != 0 => Some((Do::RemI32Imm, *by as u32)),
                (Num::F32, Op::Add, Value::F32(by)) => Some((Do::AddF32Imm, by.to_bits())),
                (Num::F32, Op::Sub, Value::F32(by)) => Some((Do::AddF32Imm, (-by).to_bits())),
                (Num::F32, Op::Mul, Value::F32(by)) => Some((Do::MulF32Imm, by.to_bits())),
                _ => None,
            };
            if let Some((fast, by)) = fast {
                self.emit(fast, a, b, 0, by, 0);
                return Ok(());
            }
        }
        if !self.in_frame(&[left, right]) {
            let (to, left, right) = (self.slot(to)?, self.source(left)?, self.source(right)?);
            self.emit_slow(Slow::Binary(op, on.clone(), to, left, right));
            return Ok(());
        }
        let (a, b, c) = (self.operand(to)?, self.operand(left)?, self.operand(right)?);
        let fast = match (num, op) {
            (Num::I32, Op::Add) => Do::AddI32,
            (Num::I32, Op::Sub) => Do::SubI32,
            (Num::I32, Op::Mul) => Do::MulI32,
            (Num::I32, Op::Div) => Do::DivI32,
            (Num::I32, Op::Rem) => Do::RemI32,
            (Num::I32, Op::BitAnd) => Do::AndI32,
            (Num::I32, Op::BitOr) => Do::OrI32,
            (Num::F32, Op::Add) => Do::AddF32,
            (Num::F32, Op::Sub) => Do::SubF32,
            (Num::F32, Op::Mul) => Do::MulF32,
            (Num::F32, Op::Div) => Do::DivF32,
            (Num::F64, Op::Add) => Do::AddF64,
            (Num::F64, Op::Sub) => Do::SubF64,
            (Num::F64, Op::Mul) => Do::MulF64,
            (Num::F64, Op::Div) => Do::DivF64,
            (Num::I64, Op::Add) => Do::AddI64,
            (Num::I64, Op::Sub) => Do::SubI64,
            (Num::I64, Op::Mul) => Do::MulI64,
            _ => Do::Arithmetic,
        };
        self.emit(fast, a, b, c, code, num_code(num));
        Ok(())
    }

    fn jump_compare(&mut self, op: Op, num: Num, left: Reg, right: Reg, is: bool) -> Checked<()> {
        self.want_num(left, num)?;
        self.want_num(right, num)?;
        let (op, is) = match (num.is_float(), is, op) {
            (true, ..) | (_, true, _) => (op, is),
            (false, false, op) => (
                match op {
                    Op::Eq => Op::Ne,
                    Op::Ne => Op::Eq,
                    Op::Lt => Op::Ge,
                    Op::Le => Op::Gt,
                    Op::Gt => Op::Le,
                    Op::Ge => Op::Lt,
                    _ => return Err(format!("{op:?} does not compare two numbers")),
                },
                true,
            ),
        };
        if !matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) {
            return Err(format!("{op:?} does not compare two numbers"));
        }
        if num == Num::I32
            && self.in_frame(&[left])
            && let Some(Value::I32(by)) = self.constant(right)?
        {
            let fast = match op {
                Op::Lt => Do::JumpLtI32Imm,
                Op::Le => Do::JumpLeI32Imm,
                Op::Gt => Do::JumpGtI32Imm,
                Op::Ge => Do::JumpGeI32Imm,
                Op::Eq => Do::JumpEqI32Imm,
                _ => Do::JumpNeI32Imm,
            };
            let a = self.operand(left)?;
            self.emit(fast, a, 0, 0, by as u32, 0);
            return Ok(());
        }
        if !self.in_frame(&[left, right]) {
            return Err("a comparison that jumps has a constant where it has no place for one".to_owned());
        }
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        if num == Num::I32 {
            let (fast, a, b) = match op {
                Op::Lt => (Do::JumpLtI32, a, b),
                Op::Le => (Do::JumpLeI32, a, b),
                Op::Gt => (Do::JumpLtI32, b, a),
                Op::Ge => (Do::JumpLeI32, b, a),
                Op::Eq => (Do::JumpEqI32, a, b),
                _ => (Do::JumpNeI32, a, b),
            };
            self.emit(fast, a, b, 0, 0, 0);
            return Ok(());
        }
        let code = op_code(op).unwrap_or_default() as u16 | u16::from(is) << 8;
        self.emit(Do::JumpCompare, a, b, code, num_code(num), 0);
        Ok(())
    }

    fn convert(&mut self, by: &Conversion, to: Reg, from: Reg) -> Checked<()> {
        let in_frame = self.in_frame(&[from]);
        let fast = match by {
            Conversion::Num(from_num, to_num) => {
                self.want_num(from, *from_num)?;
                self.want_num(to, *to_num)?;
                match (from_num, to_num) {
                    (Num::I32, Num::F32) if in_frame => Some(Do::I32ToF32),
                    (Num::F32, Num::I32) if in_frame => Some(Do::F32ToI32),
                    _ => None,
                }
            }
            Conversion::Up if *self.type_of(to)? == *self.type_of(from)? => return self.copy(to, from),
            Conversion::Up if in_frame => {
                let is_reference = |ty: &PropertyType| {
                    matches!(
                        ty,
                        PropertyType::Object { .. } | PropertyType::ScriptInterface(_) | PropertyType::SubclassOf(_)
                    )
                };
                self.want(to, "object or class", is_reference)?;
                self.want(from, "object or class", is_reference)?;
                let (one, two) = (self.type_of(to)?, self.type_of(from)?);
                match (one.kind() == two.kind(), one.size()) {
                    (true, 8) => Some(Do::Copy8),
                    (true, 4) => Some(Do::Copy4),
                    _ => return Err(format!("a {two} is no {one}")),
                }
            }
            _ => None,
        };
        match fast {
            Some(fast) => {
                let (a, b) = (self.operand(to)?, self.operand(from)?);
                self.emit(fast, a, b, 0, 0, 0);
            }
            None => {
                let (to, from) = (self.slot(to)?, self.source(from)?);
                self.emit_slow(Slow::Convert(by.clone(), to, from));
            }
        }
        Ok(())
    }

    fn found_property(&self, owner: &str, name: &str) -> Checked<(Rc<Class>, Rc<Property>)> {
        let class = self.world.types.class_by_path(owner).ok_or_else(|| format!("there is no class {owner}"))?;
        let property = class.find_property(name).cloned().ok_or_else(|| format!("{owner} has no property {name}"))?;
        Ok((class, property))
    }

    fn other(&self, owner: &str, name: &str) -> Checked<OtherProperty> {
        let (owner, property) = self.found_property(owner, name)?;
        Ok(OtherProperty { offset: property.offset, owner, property, seen: Cell::new(ClassId::NONE) })
    }

    /// A place; one that is read may be of a class default object.
    fn place(&self, place: u16, written: bool) -> Checked<LinkedPlace> {
        let place = self.code.places.get(usize::from(place)).ok_or_else(|| format!("there is no place {place}"))?;
        self.linked_place(place, written)
    }

    fn linked_place(&self, place: &Place, written: bool) -> Checked<LinkedPlace> {
        let (root, mut at) = match &place.root {
            Root::Register(reg) => {
                let slot = self.slot(*reg)?;
                let at = Rc::clone(&slot.property);
                (LinkedRoot::Slot(slot), at)
            }
            Root::OfSelf(owner, name) => {
                self.not_static("a property of the object itself")?;
                let (owner, property) = self.found_property(owner, name)?;
                if !self.class.is_a(&owner) {
                    return Err(format!("{} is no {}, whose property {name} is used", self.class.path, owner.path));
                }
                (LinkedRoot::OfSelf(property.offset), property)
            }
            Root::Of(object, owner, name) => {
                self.want_object(*object)?;
                let other = self.other(owner, name)?;
                let at = Rc::clone(&other.property);
                (LinkedRoot::Of(self.slot(*object)?.offset, other), at)
            }
            Root::Default(class, owner, name) => {
                if written {
                    return Err(format!("the default of {name} is written to"));
                }
                self.want_class(*class)?;
                let other = self.other(owner, name)?;
                let at = Rc::clone(&other.property);
                (LinkedRoot::Default(self.slot(*class)?.offset, other), at)
            }
        };
        let mut steps = Vec::with_capacity(place.steps.len());
        for step in &place.steps {
            let (step, next) = match step {
                Step::Field(name) => {
                    let PropertyType::Struct(of) = &at.ty else { return Err(format!("a {} has no fields", at.ty)) };
                    let field = of.field(name).ok_or_else(|| format!("{} has no field {name}", of.path))?;
                    (LinkedStep::Field(field.offset), Rc::new(field.clone()))
                }
                Step::Element(index) | Step::FixedElement(index, _) => {
                    self.want_index(*index)?;
                    let PropertyType::Array(of) = &at.ty else { return Err(format!("a {} has no elements", at.ty)) };
                    let element = property(&at.text, of.ty().clone(), 0, &at.owner, &self.world.names);
                    let fixed = matches!(step, Step::FixedElement(..));
                    let (index, size) = (self.source(*index)?, of.row().size as u32);
                    let array = Rc::clone(&at);
                    (LinkedStep::Element { index, size, array, fixed, element: Rc::clone(&element) }, element)
                }
            };
            steps.push(step);
            at = next;
        }
        let initial = initial(&at.ty);
        Ok(LinkedPlace { root, steps: steps.into(), property: at, initial })
    }

    /// The offset of a place that lies in the object itself with no element on the way.
    fn in_self(place: &LinkedPlace) -> Option<u32> {
        let LinkedRoot::OfSelf(offset) = place.root else { return None };
        Self::fields(place).map(|more| offset + more)
    }

    fn fields(place: &LinkedPlace) -> Option<u32> {
        place.steps.iter().try_fold(0, |sum, step| match step {
            LinkedStep::Field(offset) => Some(sum + offset),
            LinkedStep::Element { .. } => None,
        })
    }

    fn load(&mut self, to: Reg, place: u16) -> Checked<()> {
        let place = self.place(place, false)?;
        let slot = self.slot(to)?;
        let ty = &slot.property.ty;
        if *ty != place.property.ty {
            return Err(format!("a {} is loaded into a {ty}", place.property.ty));
        }
        match self.fast_place(&place, ty) {
            Some(Fast::InSelf(offset, how)) => {
                let op = [Do::LoadSelf1, Do::LoadSelf4, Do::LoadSelf8][how];
                self.emit(op, slot.offset, 0, 0, offset, 0);
            }
            Some(Fast::SelfElement(offset, index)) => self.emit(Do::LoadSelfElement4, slot.offset, index, 0, offset, 0),
            Some(Fast::Element(array, index)) => self.emit(Do::LoadElement4, slot.offset, index, array, 0, 0),
            Some(Fast::Other(object, size, more)) => {
                let LinkedRoot::Of(_, other) = place.root else { return Err("no object".to_owned()) };
                let at = self.others.len() as u32;
                self.others.push(OtherProperty { offset: other.offset + more, ..other });
                self.emit(Do::LoadOther, slot.offset, object, size, at, 0);
            }
            None => self.emit_slow(Slow::Load(slot, place)),
        }
        Ok(())
    }

    fn store(&mut self, place: u16, from: Reg) -> Checked<()> {
        let place = self.place(place, true)?;
        let source = self.source(from)?;
        let ty = self.type_of(from)?.clone();
        if ty != place.property.ty {
            return Err(format!("a {ty} is stored in a {}", place.property.ty));
        }
        let fast = if let Source::Slot(slot) = &source {
            self.fast_place(&place, &ty).map(|fast| (slot.offset, fast))
        } else {
            None
        };
        match fast {
            Some((from, Fast::InSelf(offset, how))) => {
                let op = [Do::StoreSelf1, Do::StoreSelf4, Do::StoreSelf8][how];
                self.emit(op, from, 0, 0, offset, 0);
            }
            Some((from, Fast::SelfElement(offset, index))) => {
                self.emit(Do::StoreSelfElement4, from, index, 0, offset, 0);
            }
            Some((from, Fast::Element(array, index))) => self.emit(Do::StoreElement4, from, index, array, 0, 0),
            Some((from, Fast::Other(object, size, more))) => {
                let LinkedRoot::Of(_, other) = place.root else { return Err("no object".to_owned()) };
                let at = self.others.len() as u32;
                self.others.push(OtherProperty { offset: other.offset + more, ..other });
                self.emit(Do::StoreOther, from, object, size, at, 0);
            }
            None => self.emit_slow(Slow::Store(place, source)),
        }
        Ok(())
    }

    /// A way to read or write a place in a word or two, for values that are copied by their bytes.
    fn fast_place(&self, place: &LinkedPlace, ty: &PropertyType) -> Option<Fast> {
        let size = plain_size(ty)?;
        let how = match (size, ty.align()) {
            (1, _) => 0,
            (4, 4) => 1,
            (8, 8) => 2,
            _ => return None,
        };
        if let Some(offset) = Self::in_self(place) {
            return Some(Fast::InSelf(offset, how));
        }
        if let LinkedRoot::Of(object, _) = &place.root {
            return Self::fields(place).map(|more| Fast::Other(*object, size as u16, more));
        }
        // An element of four bytes of an array that is reached without an element before.
        let [first @ .., LinkedStep::Element { index: Source::Slot(index), size: 4, fixed: false, .. }] = &*place.steps
        else {
            return None;
        };
        let more = first.iter().try_fold(0, |sum, step| match step {
            LinkedStep::Field(offset) => Some(sum + offset),
            LinkedStep::Element { .. } => None,
        })?;
        match &place.root {
            LinkedRoot::OfSelf(offset) if how == 1 => Some(Fast::SelfElement(offset + more, index.offset)),
            LinkedRoot::Slot(slot) if how == 1 => Some(Fast::Element(slot.offset + more as u16, index.offset)),
            _ => None,
        }
    }

    fn site(&mut self, call: &CallSite) -> Checked<Site> {
        let path = match &call.callee {
            Target::Virtual(_, path)
            | Target::Final(_, path)
            | Target::Static(_, path)
            | Target::Interface(_, path) => Some(path),
            Target::Delegate { .. } => None,
        };
        let find =
            |path: &str| self.world.types.function_by_path(path).ok_or_else(|| format!("there is no function {path}"));
        let of_self = |object: Option<Reg>, function: &Function| -> Checked<Option<u16>> {
            if let Some(object) = object {
                self.want_object(object)?;
                return Ok(Some(self.slot(object)?.offset));
            }
            self.not_static("a call on the object itself")?;
            let owner = self.world.types.class(function.owner);
            match owner.is_none_or(|owner| self.class.is_a(&owner)) {
                true => Ok(None),
                false => Err(format!("{} is called on the object itself, a {}", function.path, self.class.path)),
            }
        };
        let (aim, params): (Aim, Params) = match &call.callee {
            Target::Virtual(object, path) => {
                let function = find(path)?;
                (Aim::Virtual(of_self(*object, &function)?), Params::of(&function))
            }
            Target::Final(object, path) => {
                let function = find(path)?;
                (Aim::Final(of_self(*object, &function)?, OnceCell::new()), Params::of(&function))
            }
            Target::Static(class, path) => {
                let function = find(path)?;
                if function.flags & function_flags::STATIC == 0 {
                    return Err(format!("{path} is called without an object"));
                }
                if let Some(class) = class {
                    self.want_class(*class)?;
                }
                let class = class.map(|class| self.slot(class).map(|slot| slot.offset)).transpose()?;
                (Aim::Static(class, OnceCell::new()), Params::of(&function))
            }
            Target::Interface(object, path) => {
                let function = find(path)?;
                self.want_object(*object)?;
                (Aim::Interface(self.slot(*object)?.offset), Params::of(&function))
            }
            Target::Delegate { delegate, object, fallback } => {
                let delegate = self.slot(*delegate)?;
                if !matches!(delegate.property.ty, PropertyType::Delegate(_) | PropertyType::MulticastDelegate(_)) {
                    return Err(format!("a {} is called", delegate.property.ty));
                }
                let fallback = fallback.as_ref().map(|path| find(path)).transpose()?;
                let object = match &fallback {
                    Some(function) => of_self(*object, function)?,
                    None => None,
                };
                let params = Params::of_delegate(&delegate.property.ty, self.world)?;
                if let Some(function) = fallback.as_ref().filter(|function| function.words() != params.words) {
                    return Err(format!("{} has the signature ({})", function.path, function.signature()));
                }
                let fallback = fallback.map(|function| (function, OnceCell::new()));
                (Aim::Delegate { delegate, object, fallback }, params)
            }
        };
        let function = match path {
            Some(path) => find(path)?,
            None => Rc::clone(self.function),
        };
        self.arguments(call, aim, function, &params)
    }

    fn arguments(&self, call: &CallSite, target: Aim, function: Rc<Function>, params: &Params) -> Checked<Site> {
        let name = &function.path;
        if call.args.len() != params.arguments.len() {
            return Err(format!("{name} is called with {} arguments, of {}", call.args.len(), params.arguments.len()));
        }
        let is_custom = matches!(target, Aim::Final(..) | Aim::Static(..) | Aim::Virtual(..))
            && function.flags & function_flags::CUSTOM_THUNK != 0;
        let (mut args, mut moves, mut outs, mut skipped) = (Vec::new(), Vec::new(), Vec::new(), 0);
        // Where arguments lie that are written, and that are read.
        let (mut written, mut read): (Vec<Slot>, Vec<Slot>) = (Vec::new(), Vec::new());
        let mut places = 0;
        for (at, (arg, param)) in call.args.iter().zip(&params.arguments).enumerate() {
            let is_out = param.flags & property_flags::OUT != 0;
            let wildcard = is_custom && function.is_wildcard(param);
            let same = |ty: &PropertyType| match wildcard || *ty == param.ty || fits_reference(ty, &param.ty, is_out) {
                true => Ok(()),
                false => Err(format!("{name} is given a {ty} for {}, a {}", param.text, param.ty)),
            };
            match arg {
                Argument::Copied(_) if is_out => {
                    return Err(format!(
                        "{name} writes to {}, and is given a copy: of several things that it writes to, one may be a property or \
                         element; put the others into variables first",
                        param.text
                    ));
                }
                Argument::In(reg) | Argument::Copied(reg) => {
                    same(self.type_of(*reg)?)?;
                    let source = self.source(*reg)?;
                    if let Source::Slot(slot) = &source {
                        if is_out { written.push(slot.clone()) } else { read.push(slot.clone()) }
                    } else if is_out {
                        return Err(format!("{name} writes to a constant"));
                    }
                    moves.push(self.to_there(&source, param)?);
                    args.push(Arg::Value(source));
                }
                Argument::Out(reg) => {
                    same(self.type_of(*reg)?)?;
                    if !is_out {
                        return Err(format!("{name} does not write to {}", param.text));
                    }
                    let slot = self.slot(*reg)?;
                    let source = Source::Slot(slot.clone());
                    written.push(slot.clone());
                    moves.push(self.to_there(&source, param)?);
                    outs.push(self.from_there(&slot, param)?);
                    args.push(Arg::Value(source));
                }
                Argument::Skipped if at >= 64 => return Err(format!("parameter {at} is left away")),
                Argument::Skipped => {
                    skipped |= 1 << at;
                    if is_out && is_custom {
                        return Err(format!("{name} writes to {}, which is left away", param.text));
                    }
                    let mut own = OwnedValue::initial(param.ty.clone());
                    if let Some(default) = &param.default {
                        own.write(default)
                            .map_err(|error| format!("the default of {} is a {}", param.text, error.found))?;
                    }
                    let property = Rc::new(Property::clone(param));
                    let source = Source::Constant(Rc::new(Constant { value: own, property }));
                    if param.default.is_some() || matches!(param.ty, PropertyType::Struct(_)) {
                        moves.push(self.to_there(&source, param)?);
                    }
                    args.push(Arg::Value(source));
                }
                Argument::Place(place) => {
                    if !is_custom {
                        return Err(format!("{name} takes values, and is given a place"));
                    }
                    let place = self.place(*place, is_out)?;
                    same(&place.property.ty)?;
                    places += 1;
                    if let LinkedRoot::Slot(slot) = &place.root {
                        if is_out { written.push(slot.clone()) } else { read.push(slot.clone()) }
                    }
                    args.push(Arg::Place(place));
                }
            }
        }
        let to = call.to.map(|to| self.slot(to)).transpose()?;
        match (&to, &params.result) {
            (Some(slot), Some(result)) => {
                let wildcard = is_custom && function.is_wildcard(result);
                if !wildcard && slot.property.ty != result.ty && !fits_reference(&result.ty, &slot.property.ty, false) {
                    return Err(format!("{name} gives a {}, which goes to a {}", result.ty, slot.property.ty));
                }
                if !wildcard && !is_custom {
                    outs.push(self.from_there(slot, result)?);
                }
                if is_custom {
                    written.push(slot.clone());
                }
            }
            (Some(_), None) => return Err(format!("{name} gives nothing")),
            (None, Some(_)) if is_custom => {
                return Err(format!("the result of {name} goes nowhere: give it a register"));
            }
            (None, _) => {}
        }
        if is_custom {
            if places > 1 {
                return Err(format!("{name} is given more than one place: copy what is only read"));
            }
            moves.clear();
            outs.clear();
            apart(&written, &read).map_err(|problem| format!("{name}: {problem}"))?;
        }
        let owns = |param: &&Property| param.ty.owns_memory();
        let owning = params.arguments.iter().chain(&params.result).filter(owns).map(|param| Rc::new(param.clone()));
        let layout = params.arguments.iter().chain(&params.result).map(|param| (param.offset, param.ty.clone()));
        Ok(Site {
            target,
            layout: layout.collect(),
            owning: owning.collect(),
            block: params.block,
            is_custom,
            initial: to.as_ref().and_then(|slot| initial(&slot.property.ty)),
            function,
            args: args.into(),
            moves: moves.into(),
            outs: outs.into(),
            skipped,
            to,
            seen: Cell::new(ClassId::NONE),
            seen_callee: RefCell::new(None),
        })
    }

    fn to_there(&self, source: &Source, param: &Property) -> Checked<Move> {
        let there = u16::try_from(param.offset).map_err(|_| "its parameters take too many bytes".to_owned())?;
        let (here, constant) = match source {
            Source::Slot(slot) => (slot.offset, None),
            Source::Constant(constant) => (0, Some(Rc::clone(constant))),
        };
        let how = how(&param.ty);
        Ok(Move { how, here, there, source: constant, property: Rc::new(param.clone()) })
    }

    fn from_there(&self, slot: &Slot, param: &Property) -> Checked<Move> {
        self.to_there(&Source::Slot(slot.clone()), param)
    }
}

/// What a call takes and gives.
struct Params {
    arguments: Vec<Property>,
    result: Option<Property>,
    words: String,
    /// Bytes of all of them.
    block: u32,
}

impl Params {
    fn of(function: &Function) -> Self {
        let (arguments, result) = (function.arguments().to_vec(), function.result().cloned());
        Self { arguments, result, words: function.words().to_owned(), block: function.params_size() as u32 }
    }

    /// The parameters of a delegate lie as those of a function of its signature do.
    fn of_delegate(ty: &PropertyType, world: &World) -> Checked<Self> {
        let signature = ty.signature().ok_or_else(|| format!("a {ty} is called"))?;
        let read: Result<alcedo_reflect::type_text::SignatureText, _> = signature.parse();
        let read = read.map_err(|error| error.to_string())?;
        let owner: Rc<str> = ty.to_string().into();
        let (mut at, mut arguments) = (0, Vec::new());
        let mut one = |text: &TypeText, flags: u64| -> Checked<Property> {
            let ty = PropertyType::resolve(text, &world.types).map_err(|error| error.to_string())?;
            at = usize::next_multiple_of(at, ty.align());
            let offset = at as u32;
            at += ty.size();
            let found = property("argument", ty, offset, &owner, &world.names);
            Ok(Property { flags, ..Property::clone(&found) })
        };
        for (place, text) in read.arguments.iter().enumerate() {
            let flags = if read.outs.contains(&place) { property_flags::OUT } else { 0 };
            arguments.push(one(text, flags)?);
        }
        let result = read.result.as_deref().map(|text| one(text, property_flags::RETURN)).transpose()?;
        let last = result.as_ref().or(arguments.last());
        let block = last.map_or(0, |last| last.offset + last.ty.size() as u32);
        Ok(Self { arguments, result, words: signature.to_owned(), block: block.next_multiple_of(16) })
    }
}

enum Fast {
    /// In the object itself: offset, and which of the sizes.
    InSelf(u32, usize),
    /// An element of an array in the object itself: offset of the array, of the index.
    SelfElement(u32, u16),
    /// An element of an array in the frame: offset of the array, of the index.
    Element(u16, u16),
    /// In another object: its register, bytes, and bytes behind the start of the property.
    Other(u16, u16, u32),
}

/// An object of one class goes for one of another where both are handles: the checker has seen to it that it is.
fn fits_reference(from: &PropertyType, to: &PropertyType, is_out: bool) -> bool {
    !is_out && from.kind() == to.kind() && matches!(from.kind(), PropertyKind::OBJECT | PropertyKind::SUBCLASS_OF)
}

/// What is written lies apart from all that is read or written beside it.
fn apart(written: &[Slot], read: &[Slot]) -> Checked<()> {
    let range = |slot: &Slot| usize::from(slot.offset)..usize::from(slot.offset) + slot.property.ty.size();
    let meet = |one: &Slot, two: &Slot| {
        let (one, two) = (range(one), range(two));
        one.start < two.end && two.start < one.end
    };
    let twice = |at: usize, one: &Slot| written[at + 1..].iter().chain(read).any(|other| meet(one, other));
    match written.iter().enumerate().find(|(at, one)| twice(*at, one)) {
        Some((_, slot)) => Err(format!("{} is written and used beside", slot.property.text)),
        None => Ok(()),
    }
}

/// What a new value of the type is, where zero bytes are not it.
fn initial(ty: &PropertyType) -> Option<Value> {
    matches!(ty, PropertyType::Struct(_)).then(|| Value::initial(ty))
}

/// The bytes of a number, name or handle.
fn bits(value: &Value) -> Option<u64> {
    Some(match value {
        Value::U8(it) => u64::from(*it),
        Value::I8(it) => u64::from(*it as u8),
        Value::Bool(it) => u64::from(*it),
        Value::U32(it) => u64::from(*it),
        Value::I32(it) => u64::from(*it as u32),
        Value::F32(it) => u64::from(it.to_bits()),
        Value::U64(it) => *it,
        Value::I64(it) => *it as u64,
        Value::F64(it) => it.to_bits(),
        Value::Name(Name(it)) | Value::SubclassOf(Name(it)) => u64::from(*it),
        Value::Object(it) => it.0,
        _ => return None,
    })
}
