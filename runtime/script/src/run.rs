//! Interpreter loop. A call between two scripts stays in the loop. The module [`native`](crate::native) contains the calls between scripts
//! and native or plugin code.
//!
//! The loop relies on the checks of the loader. Registers are inside their frame and hold values of their types, jump targets are
//! instructions, and table indices are valid.
#![expect(unsafe_code, reason = "runs verified instructions over raw frames")]

use std::rc::Rc;

use alcedo_abi::host::mode;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;
use alcedo_uc::hir::{Num, Op};

use crate::call::{Calling, direct};
use crate::cost;
use crate::exec::{OpCode, Transfer};
use crate::frames::move_plain;
use crate::machine::Machine;
use crate::number::{arithmetic, compare_bits};
use crate::place::{Registers, other_memory};
use crate::size;

impl Machine {
    /// Runs instructions while more than `floor` calls exist. An error also ends all calls above `floor`.
    ///
    /// # Errors
    /// Returns the error of the script, with the script call stack attached.
    pub(crate) fn run(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let ran = self.run_instructions(world, floor);
        ran.map_err(|error| {
            let error = self.in_script(error);
            self.frames.unwind(floor);
            error
        })
    }

    /// Returns true if a script may write properties without further checks: the world's mode is normal, and no slice of a property is
    /// borrowed.
    #[inline]
    fn is_free(world: &World) -> bool {
        world.mode.get() == mode::NORMAL && !world.slices.are_out()
    }

    fn run_instructions(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let mut depth = self.frames.depth();
        // The innermost call exists, because the caller of this function has pushed it.
        let top = || self.frames.innermost();
        let mut rounds = self.rounds.get();
        let mut is_free = Self::is_free(world);
        // Call depth at the last call of native or plugin code. That code may have destroyed the objects of the calls below this depth.
        let mut stale = depth;
        // SAFETY: the innermost call exists and owns the code that it runs.
        let (mut pc, mut base, mut memory, mut code) = unsafe {
            let running = &*top();
            (running.next, running.base, running.memory, Rc::as_ptr(&running.linked))
        };

        macro_rules! at {
            ($ty:ty, $offset:expr) => {
                *base.wrapping_add(usize::from($offset)).cast::<$ty>()
            };
        }
        macro_rules! address {
            ($offset:expr) => {
                base.wrapping_add(usize::from($offset))
            };
        }
        macro_rules! fail {
            ($error:expr) => {{
                (*top()).next = pc;
                self.rounds.set(rounds);
                return Err($error);
            }};
        }
        macro_rules! tried {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => fail!(error),
                }
            };
        }
        macro_rules! jump {
            ($ins:ident) => {
                pc = (*code).instructions.as_ptr().wrapping_add($ins.y as usize)
            };
        }
        macro_rules! self_memory {
            () => {
                if memory.is_null() {
                    fail!(CallError::Stale { handle: (*top()).object })
                }
            };
        }
        macro_rules! may_write {
            () => {
                self_memory!();
                if !is_free {
                    tried!(world.objects.may_write((*top()).object));
                }
            };
        }
        macro_rules! binary {
            ($ins:ident, $ty:ty, |$left:ident, $right:ident| $body:expr) => {{
                let ($left, $right) = (at!($ty, $ins.b), at!($ty, $ins.c));
                at!($ty, $ins.a) = $body;
            }};
        }
        macro_rules! vector {
            ($ins:ident, |$left:ident, $right:ident| $body:expr) => {{
                let (left, right) = (at!([f32; 3], $ins.b), at!([f32; 3], $ins.c));
                let one = |$left: f32, $right: f32| $body;
                at!([f32; 3], $ins.a) = [one(left[0], right[0]), one(left[1], right[1]), one(left[2], right[2])];
            }};
        }
        macro_rules! count_round {
            () => {{
                let (left, was_none) = rounds.overflowing_sub(1);
                if was_none {
                    fail!(self.runaway());
                }
                rounds = left;
            }};
        }
        macro_rules! warn {
            ($message:expr) => {{
                (*top()).next = pc;
                self.warn($message);
                rounds = rounds.saturating_sub(cost::take());
            }};
        }
        // Returns the address of the array, which is in the frame if the operation is `$in_frame`, otherwise in `self`.
        macro_rules! array {
            ($ins:ident, $in_frame:path, $check:expr) => {
                match $ins.op {
                    $in_frame => base.wrapping_add($ins.x as usize),
                    _ => {
                        $check;
                        memory.wrapping_add($ins.x as usize)
                    }
                }
                .cast::<ArrayRaw>()
            };
        }
        // Reloads all variables that native or plugin code may have changed.
        macro_rules! reload {
            ($running:expr) => {{
                is_free = Self::is_free(world);
                memory = self.memory_of(world, (*$running).object);
                (*$running).memory = memory;
                stale = depth;
            }};
        }
        macro_rules! slow {
            ($at:expr) => {{
                let running = top();
                (*running).next = pc;
                let registers = Registers::new(base, (*running).object, memory, (*running).class);
                self.rounds.set(rounds);
                let transfer = self.slow(world, &(&*code).slow[$at as usize], &registers)?;
                rounds = self.rounds.get().saturating_sub(cost::take());
                if transfer == Transfer::Out {
                    reload!(running);
                }
                if !size::is_within_limit() {
                    self.rounds.set(rounds);
                    return Err(size::limit_exceeded());
                }
            }};
        }
        // Evaluates the body for the array element with the index in `b`. If this index is out of range, runs entry `y` of the slow table
        // instead.
        macro_rules! element {
            ($ins:ident, $raw:ident, |$data:ident, $index:ident| $body:expr) => {{
                let index = at!(i32, $ins.b) as u32;
                if index < (*$raw).len {
                    let ($data, $index) = ((*$raw).data, index as usize);
                    $body;
                } else {
                    slow!($ins.y);
                }
            }};
        }
        macro_rules! load_self {
            ($ins:ident, $ty:ty) => {{
                self_memory!();
                at!($ty, $ins.a) = *memory.wrapping_add($ins.x as usize).cast::<$ty>();
            }};
        }
        macro_rules! store_self {
            ($ins:ident, $ty:ty) => {{
                may_write!();
                *memory.wrapping_add($ins.x as usize).cast::<$ty>() = at!($ty, $ins.a);
            }};
        }
        macro_rules! call {
            ($site:expr) => {{
                let site = $site;
                let running = top();
                (*running).next = pc;
                let registers = Registers::new(base, (*running).object, memory, (*running).class);
                self.rounds.set(rounds);
                // If the call fails, the counter of remaining rounds need not be updated here, because `call` has already updated it.
                let transfer = Calling { machine: self, world, site, registers: &registers }.call()?;
                if transfer != Transfer::In {
                    rounds = self.rounds.get().saturating_sub(cost::take());
                } else if !site.owning.is_empty() {
                    // Subtracts the cost of containers and strings that were copied as arguments.
                    rounds = rounds.saturating_sub(cost::take());
                }
                if !size::is_within_limit() {
                    self.rounds.set(rounds);
                    return Err(size::limit_exceeded());
                }
                match transfer {
                    Transfer::In => {
                        depth += 1;
                        let entered = &*top();
                        (pc, base, memory) = (entered.next, entered.base, entered.memory);
                        code = Rc::as_ptr(&entered.linked);
                    }
                    Transfer::Out => reload!(running),
                    Transfer::None => {}
                }
            }};
        }
        macro_rules! call_plain {
            ($site:expr) => {{
                let running = top();
                (*running).next = pc;
                self.rounds.set(rounds);
                if !self.call_plain(world, $site, base) {
                    return Err(self.failed.take().unwrap_or_else(|| self.runaway()));
                }
                rounds = self.rounds.get();
                is_free = Self::is_free(world);
                if !memory.is_null() {
                    memory = self.memory_of(world, (*running).object);
                    (*running).memory = memory;
                }
                stale = depth;
            }};
        }
        macro_rules! loop_if {
            ($ins:ident, $is:expr) => {
                if $is {
                    count_round!();
                    jump!($ins);
                }
            };
        }
        macro_rules! jump_if {
            ($ins:ident, $is:expr) => {
                if $is {
                    jump!($ins);
                }
            };
        }

        loop {
            // SAFETY: the loader verified all operands: offsets are those of registers of the operation's type in the frame at
            // `base`, each with a value of its type; jumps target instructions, the last of which returns; table indices are
            // valid. `memory` is null, or that of the call's object, whose class has the properties that the loader found; it is
            // reloaded after native or plugin code has run.
            unsafe {
                let ins = *pc;
                pc = pc.wrapping_add(1);
                match ins.op {
                    OpCode::Nop => {}
                    OpCode::Copy1 => at!(u8, ins.a) = at!(u8, ins.b),
                    OpCode::Copy2 => at!(u16, ins.a) = at!(u16, ins.b),
                    OpCode::Copy4 => at!(u32, ins.a) = at!(u32, ins.b),
                    OpCode::Copy8 => at!(u64, ins.a) = at!(u64, ins.b),
                    OpCode::Copy12 => move_plain(address!(ins.a), address!(ins.b), 12),
                    OpCode::CopyConstant => {
                        move_plain(address!(ins.a), (&*code).constants[ins.x as usize].value.at(), ins.c);
                    }
                    OpCode::CopyBytes => {
                        address!(ins.a).copy_from(address!(ins.b), ins.x as usize);
                    }
                    OpCode::Set1 => at!(u8, ins.a) = ins.x as u8,
                    OpCode::Set4 => at!(u32, ins.a) = ins.x,
                    OpCode::Set8 => at!(u64, ins.a) = u64::from(ins.y) << 32 | u64::from(ins.x),
                    OpCode::AddI32 => binary!(ins, i32, |left, right| left.wrapping_add(right)),
                    OpCode::SubI32 => binary!(ins, i32, |left, right| left.wrapping_sub(right)),
                    OpCode::MulI32 => binary!(ins, i32, |left, right| left.wrapping_mul(right)),
                    OpCode::AddI32Imm => at!(i32, ins.a) = at!(i32, ins.b).wrapping_add(ins.x as i32),
                    OpCode::MulI32Imm => at!(i32, ins.a) = at!(i32, ins.b).wrapping_mul(ins.x as i32),
                    OpCode::DivI32Imm => at!(i32, ins.a) = at!(i32, ins.b).wrapping_div(ins.x as i32),
                    OpCode::RemI32Imm => at!(i32, ins.a) = at!(i32, ins.b).wrapping_rem(ins.x as i32),
                    OpCode::DivI32 | OpCode::RemI32 => {
                        let (left, right) = (at!(i32, ins.b), at!(i32, ins.c));
                        at!(i32, ins.a) = match (right, ins.op) {
                            (0, _) => {
                                warn!("a division by zero: the result is zero");
                                0
                            }
                            (right, OpCode::DivI32) => left.wrapping_div(right),
                            (right, _) => left.wrapping_rem(right),
                        };
                    }
                    OpCode::AndI32 => binary!(ins, i32, |left, right| left & right),
                    OpCode::OrI32 => binary!(ins, i32, |left, right| left | right),
                    OpCode::AddF32 => binary!(ins, f32, |left, right| left + right),
                    OpCode::SubF32 => binary!(ins, f32, |left, right| left - right),
                    OpCode::MulF32 => binary!(ins, f32, |left, right| left * right),
                    OpCode::DivF32 => binary!(ins, f32, |left, right| left / right),
                    OpCode::AddF32Imm => at!(f32, ins.a) = at!(f32, ins.b) + f32::from_bits(ins.x),
                    OpCode::MulF32Imm => at!(f32, ins.a) = at!(f32, ins.b) * f32::from_bits(ins.x),
                    OpCode::AddF64 => binary!(ins, f64, |left, right| left + right),
                    OpCode::SubF64 => binary!(ins, f64, |left, right| left - right),
                    OpCode::MulF64 => binary!(ins, f64, |left, right| left * right),
                    OpCode::DivF64 => binary!(ins, f64, |left, right| left / right),
                    OpCode::AddI64 => binary!(ins, i64, |left, right| left.wrapping_add(right)),
                    OpCode::SubI64 => binary!(ins, i64, |left, right| left.wrapping_sub(right)),
                    OpCode::MulI64 => binary!(ins, i64, |left, right| left.wrapping_mul(right)),
                    OpCode::Arithmetic => {
                        let (op, num) = (Op::ALL[ins.x as usize], Num::ALL[ins.y as usize]);
                        if arithmetic(op, num, address!(ins.a), address!(ins.b), address!(ins.c)) {
                            warn!("a division by zero: the result is zero");
                        }
                    }
                    OpCode::AddVector => vector!(ins, |left, right| left + right),
                    OpCode::SubVector => vector!(ins, |left, right| left - right),
                    OpCode::ScaleVector => at!([f32; 3], ins.a) = at!([f32; 3], ins.b).map(|it| it * at!(f32, ins.c)),
                    OpCode::ScaleVectorImm => {
                        at!([f32; 3], ins.a) = at!([f32; 3], ins.b).map(|it| it * f32::from_bits(ins.x));
                    }
                    OpCode::DotVector => {
                        let (left, right) = (at!([f32; 3], ins.b), at!([f32; 3], ins.c));
                        let one = |at: usize| f64::from(left[at]) * f64::from(right[at]);
                        at!(f32, ins.a) = (one(0) + one(1) + one(2)) as f32;
                    }
                    OpCode::Triple => {
                        (&*code).triples[ins.x as usize].put(address!(ins.a), address!(ins.b), address!(ins.c));
                    }
                    OpCode::I32ToF32 => at!(f32, ins.a) = at!(i32, ins.b) as f32,
                    OpCode::F32ToI32 => at!(i32, ins.a) = at!(f32, ins.b) as i32,
                    OpCode::NotBool => at!(u8, ins.a) = u8::from(at!(u8, ins.b) == 0),
                    OpCode::JumpUp => jump!(ins),
                    OpCode::JumpBack => {
                        count_round!();
                        jump!(ins);
                    }
                    OpCode::LoopLtI32 => loop_if!(ins, at!(i32, ins.a) < at!(i32, ins.b)),
                    OpCode::LoopLeI32 => loop_if!(ins, at!(i32, ins.a) <= at!(i32, ins.b)),
                    OpCode::LoopLtI32Imm => loop_if!(ins, at!(i32, ins.a) < ins.x as i32),
                    OpCode::JumpIf => jump_if!(ins, at!(u8, ins.a) != 0),
                    OpCode::JumpUnless => jump_if!(ins, at!(u8, ins.a) == 0),
                    OpCode::JumpLtI32 => jump_if!(ins, at!(i32, ins.a) < at!(i32, ins.b)),
                    OpCode::JumpLeI32 => jump_if!(ins, at!(i32, ins.a) <= at!(i32, ins.b)),
                    OpCode::JumpEqI32 => jump_if!(ins, at!(i32, ins.a) == at!(i32, ins.b)),
                    OpCode::JumpNeI32 => jump_if!(ins, at!(i32, ins.a) != at!(i32, ins.b)),
                    OpCode::JumpLtI32Imm => jump_if!(ins, at!(i32, ins.a) < ins.x as i32),
                    OpCode::JumpLeI32Imm => jump_if!(ins, at!(i32, ins.a) <= ins.x as i32),
                    OpCode::JumpGtI32Imm => jump_if!(ins, at!(i32, ins.a) > ins.x as i32),
                    OpCode::JumpGeI32Imm => jump_if!(ins, at!(i32, ins.a) >= ins.x as i32),
                    OpCode::JumpEqI32Imm => jump_if!(ins, at!(i32, ins.a) == ins.x as i32),
                    OpCode::JumpNeI32Imm => jump_if!(ins, at!(i32, ins.a) != ins.x as i32),
                    OpCode::JumpCompare => {
                        let (op, num) = (Op::ALL[usize::from(ins.c & 0xff)], Num::ALL[ins.x as usize]);
                        let is = compare_bits(op, num, address!(ins.a), address!(ins.b));
                        jump_if!(ins, is == (ins.c & 0x100 != 0));
                    }
                    OpCode::JumpIfPassed => {
                        let skipped = (*top()).site.as_ref().map_or(0, |site| site.skipped);
                        jump_if!(ins, skipped & 1 << ins.x == 0);
                    }
                    OpCode::LoadSelf1 => load_self!(ins, u8),
                    OpCode::LoadSelf4 => load_self!(ins, u32),
                    OpCode::LoadSelf8 => load_self!(ins, u64),
                    OpCode::StoreSelf1 => store_self!(ins, u8),
                    OpCode::StoreSelf4 => store_self!(ins, u32),
                    OpCode::StoreSelf8 => store_self!(ins, u64),
                    OpCode::LoadSelfBytes => {
                        self_memory!();
                        move_plain(address!(ins.a), memory.wrapping_add(ins.x as usize), ins.c);
                    }
                    OpCode::StoreSelfBytes => {
                        may_write!();
                        move_plain(memory.wrapping_add(ins.x as usize), address!(ins.a), ins.c);
                    }
                    OpCode::LoadSelfElement4 | OpCode::LoadElement4 => {
                        let raw = array!(ins, OpCode::LoadElement4, self_memory!());
                        element!(ins, raw, |data, index| at!(u32, ins.a) = *data.cast::<u32>().wrapping_add(index));
                    }
                    OpCode::LoadSelfElement | OpCode::LoadElement => {
                        let raw = array!(ins, OpCode::LoadElement, self_memory!());
                        element!(ins, raw, |data, index| {
                            move_plain(address!(ins.a), data.wrapping_add(index * usize::from(ins.c)), ins.c)
                        });
                    }
                    OpCode::StoreSelfElement4 | OpCode::StoreElement4 => {
                        let raw = array!(ins, OpCode::StoreElement4, may_write!());
                        element!(ins, raw, |data, index| *data.cast::<u32>().wrapping_add(index) = at!(u32, ins.a));
                    }
                    OpCode::StoreSelfElement | OpCode::StoreElement => {
                        let raw = array!(ins, OpCode::StoreElement, may_write!());
                        element!(ins, raw, |data, index| {
                            move_plain(data.wrapping_add(index * usize::from(ins.c)), address!(ins.a), ins.c)
                        });
                    }
                    OpCode::LengthOfSelf => {
                        self_memory!();
                        at!(u32, ins.a) = (*memory.wrapping_add(ins.x as usize).cast::<ArrayRaw>()).len;
                    }
                    OpCode::Length => {
                        at!(u32, ins.a) = (*base.wrapping_add(ins.x as usize).cast::<ArrayRaw>()).len;
                    }
                    OpCode::LoadOther => {
                        let other = &(*code).others[ins.x as usize];
                        let found = tried!(other_memory(world, other, at!(ObjectHandle, ins.b)));
                        let to = address!(ins.a);
                        match found {
                            Some(from) => move_plain(to, from, ins.c),
                            None => {
                                to.write_bytes(0, usize::from(ins.c));
                                warn!(&format!("{} of none is read", other.property.text));
                            }
                        }
                    }
                    OpCode::StoreOther => {
                        let other = &(*code).others[ins.x as usize];
                        let object = at!(ObjectHandle, ins.b);
                        match tried!(other_memory(world, other, object)) {
                            Some(to) => {
                                if !is_free {
                                    tried!(world.objects.may_write(object));
                                }
                                move_plain(to, address!(ins.a), ins.c);
                            }
                            None => {
                                warn!(&format!("{} of none is written", other.property.text));
                            }
                        }
                    }
                    OpCode::SelfObject => at!(ObjectHandle, ins.a) = (*top()).object,
                    OpCode::CallPlain => {
                        count_round!();
                        call_plain!(&(&*code).sites[ins.x as usize]);
                    }
                    OpCode::CallPlainOfClass => {
                        count_round!();
                        let site = &(&*code).sites[ins.x as usize];
                        if self.is_cached_plain(world, site, (*top()).object) {
                            call_plain!(site);
                        } else {
                            call!(site);
                        }
                    }
                    OpCode::CallDirect => {
                        count_round!();
                        let (site, running) = (&(&*code).sites[ins.x as usize], top());
                        // A call that needs further checks takes the slow path.
                        let found = if is_free { direct(world, site, (*running).object, memory, base) } else { None };
                        let entered = match found {
                            None => std::ptr::null_mut(),
                            Some((linked, _, _)) if linked.is_singular => std::ptr::null_mut(),
                            Some((linked, object, of_object)) => {
                                (*running).next = pc;
                                let (entered, class) = (Rc::as_ptr(&linked), linked.class_name);
                                match self.frames.push(linked, object, of_object, class, site) {
                                    Ok(params) => {
                                        for one in &site.moves {
                                            one.over_plain(base, params);
                                        }
                                        // The pointer stays valid, because the pushed call owns the code.
                                        code = entered;
                                        (pc, memory) = ((*entered).instructions.as_ptr(), of_object);
                                        depth += 1;
                                        params
                                    }
                                    Err(_) => std::ptr::null_mut(),
                                }
                            }
                        };
                        if entered.is_null() {
                            call!(site);
                        } else {
                            base = entered;
                        }
                    }
                    OpCode::Call => {
                        count_round!();
                        call!(&(&*code).sites[ins.x as usize]);
                    }
                    OpCode::Slow => slow!(ins.x),
                    OpCode::Return => {
                        let ended = top();
                        if depth == floor + 1 {
                            (*ended).next = pc;
                            self.rounds.set(rounds);
                            return Ok(());
                        }
                        let (site, from) = ((*ended).site, base);
                        depth -= 1;
                        let caller = ended.wrapping_sub(1);
                        base = (*caller).base;
                        if let Some(site) = site.as_ref() {
                            for back in &site.moves_back {
                                back.back(base, from);
                            }
                        }
                        self.frames.pop();
                        if depth < stale {
                            (*caller).memory = self.memory_of(world, (*caller).object);
                            stale = depth;
                        }
                        (pc, memory) = ((*caller).next, (*caller).memory);
                        code = Rc::as_ptr(&(*caller).linked);
                    }
                }
            }
        }
    }
}
