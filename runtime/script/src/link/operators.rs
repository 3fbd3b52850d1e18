//! Links copies, operators, comparisons and conversions. For each, selects an instruction that is specialized for the operand type, or a
//! slow operation.

use std::rc::Rc;

use alcedo_abi::handles::Name;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_uc::hir::{Conversion, Num, Op, Operand, Unary};

use super::{Checked, Linker, num_of, plain_size};
use crate::code::Reg;
use crate::exec::{OpCode, Slow, Source};
use crate::number::{TripleOp, compares, kind_of, takes_numbers};
use crate::value::{Number, number};

impl Linker<'_> {
    pub(super) fn copy(&mut self, to: Reg, from: Reg) -> Checked<()> {
        let (target, source) = (self.slot(to)?, self.source(from)?);
        let ty = target.property.ty.clone();
        if *self.type_of(from)? != ty {
            return Err(format!("a {} is copied to a {ty}", self.type_of(from)?));
        }
        let a = target.offset;
        match (&source, plain_size(&ty)) {
            (Source::Slot(from), _) if from.offset == a => self.emit(OpCode::Nop, 0, 0, 0, 0, 0),
            (Source::Slot(from), Some(size)) => {
                let op = match (size, ty.align()) {
                    (1, _) => OpCode::Copy1,
                    (2, 2) => OpCode::Copy2,
                    (4, 4) => OpCode::Copy4,
                    (8, 8) => OpCode::Copy8,
                    (12, _) => OpCode::Copy12,
                    _ => OpCode::CopyBytes,
                };
                self.emit(op, a, from.offset, 0, size as u32, 0);
            }
            (Source::Constant(constant), Some(size)) => {
                let op = match (ty.size(), ty.align()) {
                    (1, _) => Some(OpCode::Set1),
                    (4, 4) => Some(OpCode::Set4),
                    (8, 8) => Some(OpCode::Set8),
                    _ => None,
                };
                match (op.zip(bits(&constant.value.read())), u16::try_from(size)) {
                    (Some((op, bits)), _) => self.emit(op, a, 0, 0, bits as u32, (bits >> 32) as u32),
                    (None, Ok(size)) => {
                        let at = self.constants.len() as u32;
                        self.constants.push(Rc::clone(constant));
                        self.emit(OpCode::CopyConstant, a, 0, size, at, 0);
                    }
                    (None, Err(_)) => self.emit_slow(Slow::Copy(target, source)),
                }
            }
            (_, None) => self.emit_slow(Slow::Copy(target, source)),
        }
        Ok(())
    }

    pub(super) fn unary(&mut self, op: &Unary, to: Reg, from: Reg) -> Checked<()> {
        match op {
            Unary::Not => {
                self.expect_bool(to)?;
                self.expect_bool(from)?;
                if self.in_frame(&[from]) {
                    let (a, b) = (self.operand(to)?, self.operand(from)?);
                    self.emit(OpCode::NotBool, a, b, 0, 0, 0);
                    return Ok(());
                }
            }
            Unary::Neg(num) | Unary::BitNot(num) => {
                self.expect_num(to, *num)?;
                self.expect_num(from, *num)?;
            }
            Unary::NegTriple(_) => {
                if self.type_of(to)? != self.type_of(from)? {
                    return Err("the negative of a struct is of its type".to_owned());
                }
                let num = self.triple(from)?;
                return self.make(TripleOp::Negative(num), to, from, from);
            }
        }
        let (to, from) = (self.slot(to)?, self.source(from)?);
        self.emit_slow(Slow::Unary(op.clone(), to, from));
        Ok(())
    }

    pub(super) fn binary(&mut self, op: Op, on: &Operand, to: Reg, left: Reg, right: Reg) -> Checked<()> {
        let num = match on {
            Operand::Num(num) | Operand::Enum(num) => *num,
            Operand::Triple(_) | Operand::TripleScalar(_) | Operand::ScalarTriple(_) | Operand::Turned(..) => {
                return self.binary_triple(op, on, to, left, right);
            }
            _ => {
                let (to, left, right) = (self.slot(to)?, self.source(left)?, self.source(right)?);
                self.emit_slow(Slow::Binary(op, on.clone(), to, left, right));
                return Ok(());
            }
        };
        if !takes_numbers(op) {
            return Err(format!("{op:?} is not defined for two numbers"));
        }
        self.expect_num(left, num)?;
        let shift = matches!(op, Op::Shl | Op::Shr | Op::Ushr);
        self.expect_num(right, if shift { Num::I32 } else { num })?;
        let compares = compares(op);
        if compares {
            self.expect_bool(to)?;
        } else {
            self.expect_num(to, num)?;
        }
        if self.in_frame(&[left])
            && !compares
            && let Some(value) = self.constant(right)?
        {
            let (a, b) = (self.operand(to)?, self.operand(left)?);
            let fast = match (num, op, &value) {
                (Num::I32, Op::Add, Value::I32(by)) => Some((OpCode::AddI32Imm, *by as u32)),
                (Num::I32, Op::Sub, Value::I32(by)) => Some((OpCode::AddI32Imm, by.wrapping_neg() as u32)),
                (Num::I32, Op::Mul, Value::I32(by)) => Some((OpCode::MulI32Imm, *by as u32)),
                (Num::I32, Op::Div, Value::I32(by)) if *by != 0 => Some((OpCode::DivI32Imm, *by as u32)),
                (Num::I32, Op::Rem, Value::I32(by)) if *by != 0 => Some((OpCode::RemI32Imm, *by as u32)),
                (Num::F32, Op::Add, Value::F32(by)) => Some((OpCode::AddF32Imm, by.to_bits())),
                (Num::F32, Op::Sub, Value::F32(by)) => Some((OpCode::AddF32Imm, (-by).to_bits())),
                (Num::F32, Op::Mul, Value::F32(by)) => Some((OpCode::MulF32Imm, by.to_bits())),
                _ => None,
            };
            if let Some((fast, by)) = fast {
                self.emit(fast, a, b, 0, by, 0);
                return Ok(());
            }
        }
        let (a, b, c) = (self.operand(to)?, self.operand(left)?, self.operand(right)?);
        let fast = match (num, op) {
            (Num::I32, Op::Add) => OpCode::AddI32,
            (Num::I32, Op::Sub) => OpCode::SubI32,
            (Num::I32, Op::Mul) => OpCode::MulI32,
            (Num::I32, Op::Div) => OpCode::DivI32,
            (Num::I32, Op::Rem) => OpCode::RemI32,
            (Num::I32, Op::BitAnd) => OpCode::AndI32,
            (Num::I32, Op::BitOr) => OpCode::OrI32,
            (Num::F32, Op::Add) => OpCode::AddF32,
            (Num::F32, Op::Sub) => OpCode::SubF32,
            (Num::F32, Op::Mul) => OpCode::MulF32,
            (Num::F32, Op::Div) => OpCode::DivF32,
            (Num::F64, Op::Add) => OpCode::AddF64,
            (Num::F64, Op::Sub) => OpCode::SubF64,
            (Num::F64, Op::Mul) => OpCode::MulF64,
            (Num::F64, Op::Div) => OpCode::DivF64,
            (Num::I64, Op::Add) => OpCode::AddI64,
            (Num::I64, Op::Sub) => OpCode::SubI64,
            (Num::I64, Op::Mul) => OpCode::MulI64,
            _ => OpCode::Arithmetic,
        };
        self.emit(fast, a, b, c, op as u32, num as u32);
        Ok(())
    }

    fn triple(&self, reg: Reg) -> Checked<Num> {
        let ty = self.type_of(reg)?;
        kind_of(ty).ok_or_else(|| format!("register {reg} is a {ty}, where a vector or rotator is expected"))
    }

    fn binary_triple(&mut self, op: Op, on: &Operand, to: Reg, left: Reg, right: Reg) -> Checked<()> {
        let number = |linker: &Self, reg: Reg| {
            let ty = linker.type_of(reg)?;
            num_of(ty).ok_or_else(|| format!("register {reg} is a {ty}, where a number is expected"))
        };
        let (triple_op, left, right) = match on {
            Operand::TripleScalar(_) => (TripleOp::Scaled(op, self.triple(left)?, number(self, right)?), left, right),
            Operand::ScalarTriple(_) if op == Op::Mul => {
                (TripleOp::Scaled(op, self.triple(right)?, number(self, left)?), right, left)
            }
            Operand::Turned(..) => (TripleOp::Turned(op, self.triple(left)?, self.triple(right)?), left, right),
            Operand::Triple(_) if self.triple(left)? == self.triple(right)? => {
                (TripleOp::OfTwo(op, self.triple(left)?), left, right)
            }
            _ => return self.undefined(op, left, right),
        };
        if !triple_op.is_known() {
            return self.undefined(op, left, right);
        }
        match triple_op {
            TripleOp::OfTwo(Op::Eq | Op::Ne, _) => self.expect_bool(to)?,
            TripleOp::OfTwo(Op::Dot, num) => self.expect_num(to, num)?,
            _ if self.type_of(to)? == self.type_of(left)? => {}
            _ => return Err(format!("a {} is assigned to a {}", self.type_of(left)?, self.type_of(to)?)),
        }
        if let (TripleOp::Scaled(Op::Mul, Num::F32, Num::F32), Some(Value::F32(by)), true) =
            (triple_op, self.constant(right)?, self.in_frame(&[left]))
        {
            let (a, b) = (self.operand(to)?, self.operand(left)?);
            self.emit(OpCode::ScaleVectorImm, a, b, 0, by.to_bits(), 0);
            return Ok(());
        }
        self.make(triple_op, to, left, right)
    }

    fn undefined(&self, op: Op, left: Reg, right: Reg) -> Checked<()> {
        Err(format!("{op:?} is not defined for a {} and a {}", self.type_of(left)?, self.type_of(right)?))
    }

    /// Emits a triple operation. If all operands are in the frame, emits one instruction. Otherwise, emits a slow operation.
    fn make(&mut self, triple_op: TripleOp, to: Reg, left: Reg, right: Reg) -> Checked<()> {
        if !self.in_frame(&[left, right]) {
            let (to, left, right) = (self.slot(to)?, self.source(left)?, self.source(right)?);
            self.emit_slow(Slow::Triple(triple_op, to, left, right));
            return Ok(());
        }
        let op = match triple_op {
            TripleOp::OfTwo(Op::Add, Num::F32) => OpCode::AddVector,
            TripleOp::OfTwo(Op::Sub, Num::F32) => OpCode::SubVector,
            TripleOp::OfTwo(Op::Dot, Num::F32) => OpCode::DotVector,
            TripleOp::Scaled(Op::Mul, Num::F32, Num::F32) => OpCode::ScaleVector,
            _ => OpCode::Triple,
        };
        let at = if op == OpCode::Triple { self.triple_index(triple_op) } else { 0 };
        let (a, b, c) = (self.operand(to)?, self.operand(left)?, self.operand(right)?);
        self.emit(op, a, b, c, at, 0);
        Ok(())
    }

    fn triple_index(&mut self, triple_op: TripleOp) -> u32 {
        let known = self.triples.iter().position(|known| *known == triple_op);
        known.unwrap_or_else(|| {
            self.triples.push(triple_op);
            self.triples.len() - 1
        }) as u32
    }

    pub(super) fn jump_compare(&mut self, op: Op, num: Num, left: Reg, right: Reg, is: bool) -> Checked<()> {
        self.expect_num(left, num)?;
        self.expect_num(right, num)?;
        if !matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) {
            return Err(format!("{op:?} does not compare two numbers"));
        }
        let (op, is) = match (num.is_float(), is, op) {
            (true, ..) | (_, true, _) => (op, is),
            (false, false, op) => (
                match op {
                    Op::Eq => Op::Ne,
                    Op::Ne => Op::Eq,
                    Op::Lt => Op::Ge,
                    Op::Le => Op::Gt,
                    Op::Gt => Op::Le,
                    _ => Op::Lt,
                },
                true,
            ),
        };
        if num == Num::I32
            && self.in_frame(&[left])
            && let Some(Number::Whole(by)) = self.constant(right)?.as_ref().and_then(number)
        {
            let fast = match op {
                Op::Lt => OpCode::JumpLtI32Imm,
                Op::Le => OpCode::JumpLeI32Imm,
                Op::Gt => OpCode::JumpGtI32Imm,
                Op::Ge => OpCode::JumpGeI32Imm,
                Op::Eq => OpCode::JumpEqI32Imm,
                _ => OpCode::JumpNeI32Imm,
            };
            let a = self.operand(left)?;
            self.emit(fast, a, 0, 0, by as u32, 0);
            return Ok(());
        }
        if !self.in_frame(&[left, right]) {
            return Err("a conditional jump has a constant operand that the instruction does not support".to_owned());
        }
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        if num == Num::I32 {
            let (fast, a, b) = match op {
                Op::Lt => (OpCode::JumpLtI32, a, b),
                Op::Le => (OpCode::JumpLeI32, a, b),
                Op::Gt => (OpCode::JumpLtI32, b, a),
                Op::Ge => (OpCode::JumpLeI32, b, a),
                Op::Eq => (OpCode::JumpEqI32, a, b),
                _ => (OpCode::JumpNeI32, a, b),
            };
            self.emit(fast, a, b, 0, 0, 0);
            return Ok(());
        }
        self.emit(OpCode::JumpCompare, a, b, op as u16 | u16::from(is) << 8, num as u32, 0);
        Ok(())
    }

    pub(super) fn convert(&mut self, by: &Conversion, to: Reg, from: Reg) -> Checked<()> {
        let in_frame = self.in_frame(&[from]);
        let fast = match by {
            Conversion::Num(from_num, to_num) => {
                self.expect_num(from, *from_num)?;
                self.expect_num(to, *to_num)?;
                match (from_num, to_num) {
                    (Num::I32, Num::F32) if in_frame => Some(OpCode::I32ToF32),
                    (Num::F32, Num::I32) if in_frame => Some(OpCode::F32ToI32),
                    _ => None,
                }
            }
            Conversion::VectorToRotator(..) => {
                return self.make(TripleOp::RotatorOf(self.triple(from)?, self.triple(to)?), to, from, from);
            }
            Conversion::RotatorToVector(..) => {
                return self.make(TripleOp::DirectionOf(self.triple(from)?, self.triple(to)?), to, from, from);
            }
            Conversion::Triple(..) => {
                return self.make(TripleOp::Converted(self.triple(from)?, self.triple(to)?), to, from, from);
            }
            Conversion::TripleToBool(_) => {
                self.expect_bool(to)?;
                return self.make(TripleOp::IsNotZero(self.triple(from)?), to, from, from);
            }
            Conversion::Up if *self.type_of(to)? == *self.type_of(from)? => return self.copy(to, from),
            Conversion::Up if is_same_delegate(self.type_of(to)?, self.type_of(from)?) => None,
            Conversion::Up if in_frame => {
                let is_reference = |ty: &PropertyType| {
                    matches!(
                        ty,
                        PropertyType::Object { .. } | PropertyType::ScriptInterface(_) | PropertyType::SubclassOf(_)
                    )
                };
                self.expect_type(to, "object or class", is_reference)?;
                self.expect_type(from, "object or class", is_reference)?;
                let (one, two) = (self.type_of(to)?, self.type_of(from)?);
                match (one.kind() == two.kind(), one.size()) {
                    (true, 8) => Some(OpCode::Copy8),
                    (true, 4) => Some(OpCode::Copy4),
                    _ => return Err(format!("the type {two} is not {one}")),
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
}

fn is_same_delegate(one: &PropertyType, two: &PropertyType) -> bool {
    one.signature().is_some() && one.kind() == two.kind() && one.signature() == two.signature()
}

/// Returns the bits of a number, name or handle. Returns `None` for all other values.
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
