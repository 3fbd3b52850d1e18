//! Interpreter loop. Calls between scripts stay in the loop; [`call_out`](crate::call_out) contains calls to native or plugin
//! code, [`call_in`](crate::call_in) calls from there.
//!
//! The loop relies on the checks of the loader: registers are inside of their frame and have their types, jumps target
//! instructions, table indices are valid.
#![expect(unsafe_code, reason = "runs verified words over raw frames")]

use std::rc::Rc;

use alcedo_abi::host::mode;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;
use alcedo_reflect::World;

use crate::call::direct;
use crate::cost;
use crate::exec::{Do, NUMS, OPS, Went};
use crate::machine::Machine;
use crate::moves::move_plain;
use crate::number::{arithmetic, compare_bits};
use crate::place::{Registers, other_memory};
use crate::size;

impl Machine {
    /// Runs until only `floor` calls remain. An error ends the other calls too.
    ///
    /// # Errors
    /// Returns the error with the script call stack.
    pub(crate) fn run(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let ran = self.run_words(world, floor);
        ran.map_err(|error| {
            let error = self.in_script(error);
            self.frames.unwind(floor);
            error
        })
    }

    /// Returns true if property writes need no check.
    #[inline]
    fn is_free(world: &World) -> bool {
        world.mode.get() == mode::NORMAL && !world.slices.are_out()
    }

    fn run_words(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let mut depth = self.frames.depth();
        // The caller of this function pushed a call.
        let top = || self.frames.innermost();
        let mut rounds = self.rounds.get();
        let mut is_free = Self::is_free(world);
        // Calls below this depth were suspended during the last outside call, which may have destroyed their objects.
        let mut stale = depth;
        // SAFETY: the call exists and owns the code that it runs.
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
            ($word:ident) => {
                pc = (*code).words.as_ptr().wrapping_add($word.y as usize)
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
            ($word:ident, $ty:ty, |$left:ident, $right:ident| $body:expr) => {{
                let ($left, $right) = (at!($ty, $word.b), at!($ty, $word.c));
                at!($ty, $word.a) = $body;
            }};
        }
        macro_rules! vector {
            ($word:ident, |$at:ident, $left:ident, $right:ident| $body:expr) => {{
                let ($left, $right) = (address!($word.b).cast::<f32>(), address!($word.c).cast::<f32>());
                let one = |$at: usize| $body;
                at!([f32; 3], $word.a) = [one(0), one(1), one(2)];
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
        // The array is in the frame or in `self`, depending on the operation.
        macro_rules! array {
            ($word:ident, $in_frame:path, $look:expr) => {
                match $word.op {
                    $in_frame => base.wrapping_add($word.x as usize),
                    _ => {
                        $look;
                        memory.wrapping_add($word.x as usize)
                    }
                }
                .cast::<ArrayRaw>()
            };
        }
        // Outside code ran: reloads everything that it may have changed.
        macro_rules! came_back {
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
                let went = self.slow(world, &(&*code).slow[$at as usize], &registers)?;
                rounds = self.rounds.get().saturating_sub(cost::take());
                if went == Went::Out {
                    came_back!(running);
                }
                if !size::is_kept() {
                    self.rounds.set(rounds);
                    return Err(size::not_kept());
                }
            }};
        }
        macro_rules! call {
            ($site:expr) => {{
                let site = $site;
                let running = top();
                (*running).next = pc;
                let registers = Registers::new(base, (*running).object, memory, (*running).class);
                self.rounds.set(rounds);
                // On an error, the rounds counted by the callee remain.
                let went = self.call(world, site, &registers)?;
                if went != Went::In {
                    rounds = self.rounds.get().saturating_sub(cost::take());
                } else if !site.owning.is_empty() {
                    // Containers and strings were copied.
                    rounds = rounds.saturating_sub(cost::take());
                }
                if !size::is_kept() {
                    self.rounds.set(rounds);
                    return Err(size::not_kept());
                }
                match went {
                    Went::In => {
                        depth += 1;
                        let entered = &*top();
                        (pc, base, memory) = (entered.next, entered.base, entered.memory);
                        code = Rc::as_ptr(&entered.linked);
                    }
                    Went::Out => came_back!(running),
                    Went::Nowhere => {}
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
            ($word:ident, $is:expr) => {
                if $is {
                    count_round!();
                    jump!($word);
                }
            };
        }
        macro_rules! jump_if {
            ($word:ident, $is:expr) => {
                if $is {
                    jump!($word);
                }
            };
        }

        loop {
            // SAFETY: the loader built these instructions and verified their operands: each offset is that of a register of the
            // type that the operation reads or writes, in the frame at `base`, which has a value of its type in each register;
            // jumps target instructions, the last of which returns; table indices are valid. `memory` is that of the object of
            // the call, whose class has the properties that the loader found, or null; it is reloaded after outside code ran.
            unsafe {
                let word = *pc;
                pc = pc.wrapping_add(1);
                match word.op {
                    Do::Nop => {}
                    Do::Copy1 => at!(u8, word.a) = at!(u8, word.b),
                    Do::Copy2 => at!(u16, word.a) = at!(u16, word.b),
                    Do::Copy4 => at!(u32, word.a) = at!(u32, word.b),
                    Do::Copy8 => at!(u64, word.a) = at!(u64, word.b),
                    Do::Copy12 => move_plain(address!(word.a), address!(word.b), 12),
                    Do::CopyConstant => {
                        move_plain(address!(word.a), (&*code).constants[word.x as usize].value.at(), word.c);
                    }
                    Do::CopyBytes => {
                        address!(word.a).copy_from(address!(word.b), word.x as usize);
                    }
                    Do::Set1 => at!(u8, word.a) = word.x as u8,
                    Do::Set4 => at!(u32, word.a) = word.x,
                    Do::Set8 => at!(u64, word.a) = u64::from(word.y) << 32 | u64::from(word.x),
                    Do::AddI32 => binary!(word, i32, |left, right| left.wrapping_add(right)),
                    Do::SubI32 => binary!(word, i32, |left, right| left.wrapping_sub(right)),
                    Do::MulI32 => binary!(word, i32, |left, right| left.wrapping_mul(right)),
                    Do::AddI32Imm => at!(i32, word.a) = at!(i32, word.b).wrapping_add(word.x as i32),
                    Do::MulI32Imm => at!(i32, word.a) = at!(i32, word.b).wrapping_mul(word.x as i32),
                    Do::DivI32Imm => at!(i32, word.a) = at!(i32, word.b).wrapping_div(word.x as i32),
                    Do::RemI32Imm => at!(i32, word.a) = at!(i32, word.b).wrapping_rem(word.x as i32),
                    Do::DivI32 | Do::RemI32 => {
                        let (left, right) = (at!(i32, word.b), at!(i32, word.c));
                        at!(i32, word.a) = match (right, word.op) {
                            (0, _) => {
                                warn!("a division by zero, which gives zero");
                                0
                            }
                            (right, Do::DivI32) => left.wrapping_div(right),
                            (right, _) => left.wrapping_rem(right),
                        };
                    }
                    Do::AndI32 => binary!(word, i32, |left, right| left & right),
                    Do::OrI32 => binary!(word, i32, |left, right| left | right),
                    Do::AddF32 => binary!(word, f32, |left, right| left + right),
                    Do::SubF32 => binary!(word, f32, |left, right| left - right),
                    Do::MulF32 => binary!(word, f32, |left, right| left * right),
                    Do::DivF32 => binary!(word, f32, |left, right| left / right),
                    Do::AddF32Imm => at!(f32, word.a) = at!(f32, word.b) + f32::from_bits(word.x),
                    Do::MulF32Imm => at!(f32, word.a) = at!(f32, word.b) * f32::from_bits(word.x),
                    Do::AddF64 => binary!(word, f64, |left, right| left + right),
                    Do::SubF64 => binary!(word, f64, |left, right| left - right),
                    Do::MulF64 => binary!(word, f64, |left, right| left * right),
                    Do::DivF64 => binary!(word, f64, |left, right| left / right),
                    Do::AddI64 => binary!(word, i64, |left, right| left.wrapping_add(right)),
                    Do::SubI64 => binary!(word, i64, |left, right| left.wrapping_sub(right)),
                    Do::MulI64 => binary!(word, i64, |left, right| left.wrapping_mul(right)),
                    Do::Arithmetic => {
                        let (op, num) = (OPS[word.x as usize], NUMS[word.y as usize]);
                        if arithmetic(op, num, address!(word.a), address!(word.b), address!(word.c)) {
                            warn!("a division by zero, which gives zero");
                        }
                    }
                    Do::AddVector => vector!(word, |at, left, right| *left.wrapping_add(at) + *right.wrapping_add(at)),
                    Do::SubVector => vector!(word, |at, left, right| *left.wrapping_add(at) - *right.wrapping_add(at)),
                    Do::ScaleVector => vector!(word, |at, left, by| *left.wrapping_add(at) * *by),
                    Do::ScaleVectorImm => {
                        let by = f32::from_bits(word.x);
                        vector!(word, |at, left, _right| *left.wrapping_add(at) * by);
                    }
                    Do::DotVector => {
                        let (left, right) = (at!([f32; 3], word.b), at!([f32; 3], word.c));
                        let one = |at: usize| f64::from(left[at]) * f64::from(right[at]);
                        at!(f32, word.a) = (one(0) + one(1) + one(2)) as f32;
                    }
                    Do::Triple => {
                        (&*code).triples[word.x as usize].put(address!(word.a), address!(word.b), address!(word.c));
                    }
                    Do::I32ToF32 => at!(f32, word.a) = at!(i32, word.b) as f32,
                    Do::F32ToI32 => at!(i32, word.a) = at!(f32, word.b) as i32,
                    Do::NotBool => at!(u8, word.a) = u8::from(at!(u8, word.b) == 0),
                    Do::JumpUp => jump!(word),
                    Do::JumpBack => {
                        count_round!();
                        jump!(word);
                    }
                    Do::LoopLtI32 => loop_if!(word, at!(i32, word.a) < at!(i32, word.b)),
                    Do::LoopLeI32 => loop_if!(word, at!(i32, word.a) <= at!(i32, word.b)),
                    Do::LoopLtI32Imm => loop_if!(word, at!(i32, word.a) < word.x as i32),
                    Do::JumpIf => jump_if!(word, at!(u8, word.a) != 0),
                    Do::JumpUnless => jump_if!(word, at!(u8, word.a) == 0),
                    Do::JumpLtI32 => jump_if!(word, at!(i32, word.a) < at!(i32, word.b)),
                    Do::JumpLeI32 => jump_if!(word, at!(i32, word.a) <= at!(i32, word.b)),
                    Do::JumpEqI32 => jump_if!(word, at!(i32, word.a) == at!(i32, word.b)),
                    Do::JumpNeI32 => jump_if!(word, at!(i32, word.a) != at!(i32, word.b)),
                    Do::JumpLtI32Imm => jump_if!(word, at!(i32, word.a) < word.x as i32),
                    Do::JumpLeI32Imm => jump_if!(word, at!(i32, word.a) <= word.x as i32),
                    Do::JumpGtI32Imm => jump_if!(word, at!(i32, word.a) > word.x as i32),
                    Do::JumpGeI32Imm => jump_if!(word, at!(i32, word.a) >= word.x as i32),
                    Do::JumpEqI32Imm => jump_if!(word, at!(i32, word.a) == word.x as i32),
                    Do::JumpNeI32Imm => jump_if!(word, at!(i32, word.a) != word.x as i32),
                    Do::JumpCompare => {
                        let (op, num) = (OPS[usize::from(word.c & 0xff)], NUMS[word.x as usize]);
                        let is = compare_bits(op, num, address!(word.a), address!(word.b));
                        jump_if!(word, is == (word.c & 0x100 != 0));
                    }
                    Do::JumpIfGiven => jump_if!(word, (*top()).skipped & 1 << word.x == 0),
                    Do::LoadSelf1 => {
                        self_memory!();
                        at!(u8, word.a) = *memory.wrapping_add(word.x as usize);
                    }
                    Do::LoadSelf4 => {
                        self_memory!();
                        at!(u32, word.a) = *memory.wrapping_add(word.x as usize).cast::<u32>();
                    }
                    Do::LoadSelf8 => {
                        self_memory!();
                        at!(u64, word.a) = *memory.wrapping_add(word.x as usize).cast::<u64>();
                    }
                    Do::StoreSelf1 => {
                        may_write!();
                        *memory.wrapping_add(word.x as usize) = at!(u8, word.a);
                    }
                    Do::StoreSelf4 => {
                        may_write!();
                        *memory.wrapping_add(word.x as usize).cast::<u32>() = at!(u32, word.a);
                    }
                    Do::StoreSelf8 => {
                        may_write!();
                        *memory.wrapping_add(word.x as usize).cast::<u64>() = at!(u64, word.a);
                    }
                    Do::LoadSelfBytes => {
                        self_memory!();
                        move_plain(address!(word.a), memory.wrapping_add(word.x as usize), word.c);
                    }
                    Do::StoreSelfBytes => {
                        may_write!();
                        move_plain(memory.wrapping_add(word.x as usize), address!(word.a), word.c);
                    }
                    Do::LoadSelfElement4 | Do::LoadElement4 => {
                        let raw = array!(word, Do::LoadElement4, self_memory!());
                        let index = at!(i32, word.b) as u32;
                        if index < (*raw).len {
                            at!(u32, word.a) = *(*raw).data.cast::<u32>().wrapping_add(index as usize);
                        } else {
                            slow!(word.y);
                        }
                    }
                    Do::LoadSelfElement | Do::LoadElement => {
                        let raw = array!(word, Do::LoadElement, self_memory!());
                        let index = at!(i32, word.b) as u32;
                        if index < (*raw).len {
                            let element = (*raw).data.wrapping_add(index as usize * usize::from(word.c));
                            move_plain(address!(word.a), element, word.c);
                        } else {
                            slow!(word.y);
                        }
                    }
                    Do::StoreSelfElement4 | Do::StoreElement4 => {
                        let raw = array!(word, Do::StoreElement4, may_write!());
                        let index = at!(i32, word.b) as u32;
                        if index < (*raw).len {
                            *(*raw).data.cast::<u32>().wrapping_add(index as usize) = at!(u32, word.a);
                        } else {
                            slow!(word.y);
                        }
                    }
                    Do::StoreSelfElement | Do::StoreElement => {
                        let raw = array!(word, Do::StoreElement, may_write!());
                        let index = at!(i32, word.b) as u32;
                        if index < (*raw).len {
                            let element = (*raw).data.wrapping_add(index as usize * usize::from(word.c));
                            move_plain(element, address!(word.a), word.c);
                        } else {
                            slow!(word.y);
                        }
                    }
                    Do::LengthOfSelf => {
                        self_memory!();
                        at!(u32, word.a) = (*memory.wrapping_add(word.x as usize).cast::<ArrayRaw>()).len;
                    }
                    Do::Length => {
                        at!(u32, word.a) = (*base.wrapping_add(word.x as usize).cast::<ArrayRaw>()).len;
                    }
                    Do::LoadOther => {
                        let other = &(*code).others[word.x as usize];
                        let found = tried!(other_memory(world, other, at!(ObjectHandle, word.b)));
                        let to = address!(word.a);
                        match found {
                            Some(from) => move_plain(to, from, word.c),
                            None => {
                                to.write_bytes(0, usize::from(word.c));
                                warn!(&format!("{} of none is read", other.property.text));
                            }
                        }
                    }
                    Do::StoreOther => {
                        let other = &(*code).others[word.x as usize];
                        let object = at!(ObjectHandle, word.b);
                        match tried!(other_memory(world, other, object)) {
                            Some(to) => {
                                if !is_free {
                                    tried!(world.objects.may_write(object));
                                }
                                move_plain(to, address!(word.a), word.c);
                            }
                            None => {
                                warn!(&format!("{} of none is written", other.property.text));
                            }
                        }
                    }
                    Do::SelfObject => at!(ObjectHandle, word.a) = (*top()).object,
                    Do::CallPlain => {
                        count_round!();
                        call_plain!(&(&*code).sites[word.x as usize]);
                    }
                    Do::CallPlainOfClass => {
                        count_round!();
                        let site = &(&*code).sites[word.x as usize];
                        if self.is_seen_plain(world, site, (*top()).object) {
                            call_plain!(site);
                        } else {
                            call!(site);
                        }
                    }
                    Do::CallDirect => {
                        count_round!();
                        let (site, running) = (&(&*code).sites[word.x as usize], top());
                        // Anything that needs further checks takes the slow path.
                        let found = if is_free { direct(world, site, (*running).object, memory, base) } else { None };
                        let entered = match found {
                            None => std::ptr::null_mut(),
                            Some((linked, _, _)) if linked.is_singular => std::ptr::null_mut(),
                            Some((linked, object, of_object)) => {
                                (*running).next = pc;
                                let (entered, class) = (Rc::as_ptr(&linked), linked.class_name);
                                let there = self.frames.push_or_null(linked, object, of_object, class, site);
                                if !there.is_null() {
                                    for one in &site.moves {
                                        one.over_plain(base, there);
                                    }
                                    // The pushed call owns the code.
                                    code = entered;
                                    (pc, memory) = ((*entered).words.as_ptr(), of_object);
                                    depth += 1;
                                }
                                there
                            }
                        };
                        if entered.is_null() {
                            call!(site);
                        } else {
                            base = entered;
                        }
                    }
                    Do::Call => {
                        count_round!();
                        call!(&(&*code).sites[word.x as usize]);
                    }
                    Do::Slow => slow!(word.x),
                    Do::Return => {
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
                            for back in &site.outs {
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
