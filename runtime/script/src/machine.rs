//! The machine: frames in one piece of memory, and the loop that runs words. Calls between scripts stay in the loop; those that go
//! out to native or plugin code, and those that come in from there, are in [`call`](crate::call).
//!
//! The loop looks at nothing that the loader has looked at: registers lie in their frame and have their types, jumps lead to
//! words, tables have what words name in them.
#![expect(unsafe_code, reason = "runs verified words over raw frames")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::fmt;
use std::ptr::NonNull;
use std::rc::{Rc, Weak};

use alcedo_abi::host::mode;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::border::{CallError, ScriptPlace};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::collect::RootSource;
use alcedo_reflect::storage::View;
use alcedo_reflect::values::ptr::PtrMut;
use rustc_hash::FxHashMap;

use crate::cost;
use crate::exec::{Do, Linked, NUMS, OPS, Site, Word};
use crate::host::Host;
use crate::number::{arithmetic, compare_bits};
use crate::place::{Registers, other_memory};
use crate::size;

/// How far scripts may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many calls of scripts may be inside each other.
    pub depth: u32,
    /// How many of these may be entered from native or plugin code: they take stack of the thread.
    pub entries: u32,
    /// How many rounds of loops and calls one entry from outside may take, before it counts as one that never ends. Operations
    /// that go over a container or a long text, and lines in the log, count as several.
    pub rounds: u64,
    /// Bytes for all frames.
    pub memory: usize,
    /// Bytes that one array, set, map or text may take, without those that its elements own in turn.
    pub value: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1_000, entries: 64, rounds: 1_000_000_000, memory: 4 << 20, value: size::DEFAULT }
    }
}

/// One running call.
pub(crate) struct Activation {
    pub(crate) linked: Rc<Linked>,
    /// The next word, while a call from here runs.
    pub(crate) next: *const Word,
    pub(crate) base: *mut u8,
    pub(crate) object: ObjectHandle,
    pub(crate) memory: *mut u8,
    pub(crate) class: Name,
    pub(crate) skipped: u64,
    /// The call of the caller; null for one that came from outside.
    pub(crate) site: *const Site,
}

/// Runs scripts. One for a world; game thread only.
pub struct Machine {
    pub(crate) limits: Limits,
    start: NonNull<u8>,
    layout: Layout,
    /// Where the next frame or block may begin.
    pub(crate) top: Cell<*mut u8>,
    /// It has room for as many as there may be, so none moves; no reference to one is kept.
    activations: UnsafeCell<Vec<Activation>>,
    pub(crate) entries: Cell<u32>,
    rounds: Cell<u64>,
    /// What went wrong in a call that only says whether it went well.
    pub(crate) failed: Cell<Option<CallError>>,
    /// Code by the class that declares its function, and the name of that.
    pub(crate) code: RefCell<FxHashMap<(ClassId, Name), Weak<Linked>>>,
    pub(crate) host: RefCell<Option<Rc<dyn Host>>>,
    pub(crate) is_attached: Cell<bool>,
}

impl Machine {
    /// A machine without code.
    pub fn new(limits: Limits) -> Rc<Self> {
        let size = limits.memory.max(1 << 16).next_multiple_of(16);
        let layout = Layout::from_size_align(size, 16).expect("frames take less than half of the address space");
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Rc::new(Self {
            limits,
            start,
            layout,
            top: Cell::new(start.as_ptr()),
            activations: UnsafeCell::new(Vec::with_capacity(limits.depth as usize)),
            entries: Cell::new(0),
            rounds: Cell::new(limits.rounds),
            failed: Cell::new(None),
            code: RefCell::default(),
            host: RefCell::default(),
            is_attached: Cell::new(false),
        })
    }

    /// Whether any script runs: what a safe point has to wait for.
    pub fn is_running(&self) -> bool {
        self.depth() != 0
    }

    /// How many calls of scripts are inside each other.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        // SAFETY: the reference ends here.
        unsafe { (*self.activations.get()).len() }
    }

    /// Shows `look` the innermost calls first.
    pub(crate) fn each_activation(&self, look: &mut dyn FnMut(&Activation)) {
        // SAFETY: `look` is of this crate, and runs nothing that calls scripts.
        unsafe { &*self.activations.get() }.iter().rev().for_each(look);
    }

    /// The running functions, innermost first.
    fn stack(&self) -> Vec<ScriptPlace> {
        self.innermost(usize::MAX)
    }

    /// So many of the running functions, innermost first.
    fn innermost(&self, most: usize) -> Vec<ScriptPlace> {
        let mut stack = Vec::new();
        self.each_activation(&mut |running| {
            if stack.len() >= most {
                return;
            }
            let begin = running.linked.words.as_ptr();
            let at = (running.next.addr() - begin.addr()) / size_of::<Word>();
            let line = running.linked.lines.get(at.saturating_sub(1)).copied().unwrap_or_default();
            let (function, file) = (running.linked.function.path.to_string(), running.linked.file.to_string());
            stack.push(ScriptPlace { function, file, line });
        });
        stack
    }

    /// An error, with the calls that led there.
    #[cold]
    pub(crate) fn in_script(&self, error: CallError) -> CallError {
        match error {
            CallError::InScript { .. } => error,
            error => CallError::InScript { error: Box::new(error), stack: self.stack() },
        }
    }

    /// Memory for `size` bytes behind all frames and blocks, all zero.
    ///
    /// # Errors
    /// [`CallError::TooDeep`] when there is no more.
    #[inline]
    pub(crate) fn take(&self, size: usize, what: &dyn Fn() -> String) -> Result<*mut u8, CallError> {
        let base = self.top.get();
        let left = self.layout.size() - (base.addr() - self.start.as_ptr().addr());
        let size = size.next_multiple_of(16);
        if size > left {
            return Err(self.too_deep(what()));
        }
        // SAFETY: so much is left of the memory behind `top`, where nothing lies.
        unsafe { zero(base, size) };
        self.top.set(base.wrapping_add(size));
        Ok(base)
    }

    #[cold]
    fn too_deep(&self, what: String) -> CallError {
        CallError::TooDeep { what, limit: self.limits.depth }
    }

    /// A new frame, on which the loop goes on.
    #[inline]
    pub(crate) fn push(
        &self,
        linked: &Rc<Linked>,
        object: ObjectHandle,
        memory: *mut u8,
        class: Name,
        site: *const Site,
        skipped: u64,
    ) -> Result<*mut u8, CallError> {
        let what = || linked.function.path.to_string();
        if self.depth() >= self.limits.depth as usize {
            return Err(self.too_deep(what()));
        }
        let base = self.take(linked.frame_size as usize, &what)?;
        let linked = Rc::clone(linked);
        let next = linked.words.as_ptr();
        let activation = Activation { linked, next, base, object, memory, class, skipped, site };
        // SAFETY: the reference ends here.
        unsafe { (*self.activations.get()).push(activation) };
        Ok(base)
    }

    /// The innermost frame ends: its values are destroyed.
    #[inline]
    pub(crate) fn pop(&self) {
        // SAFETY: the reference ends here.
        let Some(ended) = (unsafe { (*self.activations.get()).pop() }) else { return };
        for slot in &ended.linked.owning {
            let at = ended.base.wrapping_add(usize::from(slot.offset));
            // SAFETY: the frame has a value of the type there, and nothing refers to it any more.
            unsafe { PtrMut::new(at, &slot.property.ty) }.destroy();
        }
        self.top.set(ended.base);
    }

    /// Ends frames until there are so many.
    pub(crate) fn unwind(&self, depth: usize) {
        while self.depth() > depth {
            self.pop();
        }
    }

    /// Begins to count rounds, where nothing runs yet.
    pub(crate) fn begin(&self) {
        if self.depth() == 0 {
            cost::take();
            self.rounds.set(self.limits.rounds);
        }
    }

    /// Takes rounds, and those that are due, from what is left.
    ///
    /// # Errors
    /// When there are not so many left; none is left then.
    pub(crate) fn pay(&self, rounds: u64) -> Result<(), CallError> {
        let left = self.rounds.get().checked_sub(rounds.saturating_add(cost::take()));
        self.rounds.set(left.unwrap_or_default());
        left.map(drop).ok_or_else(|| self.runaway())
    }

    /// Runs until there are only `floor` calls left. On an error they are ended too.
    ///
    /// # Errors
    /// What went wrong, with the calls that led there.
    pub(crate) fn run(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let ran = self.run_words(world, floor);
        ran.map_err(|error| {
            let error = self.in_script(error);
            self.unwind(floor);
            error
        })
    }

    /// Whether properties may be written without asking.
    #[inline]
    fn is_free(world: &World) -> bool {
        world.mode.get() == mode::NORMAL && !world.slices.are_out()
    }

    fn run_words(&self, world: &World, floor: usize) -> Result<(), CallError> {
        let mut depth = self.depth();
        // SAFETY: there is a call on top, pushed by whoever calls this, and none of the list moves.
        let top = || unsafe { (*self.activations.get()).as_mut_ptr().wrapping_add(self.depth() - 1) };
        let mut rounds = self.rounds.get();
        let mut is_free = Self::is_free(world);
        // Calls below this depth were not running when code outside did something last: their object may be gone.
        let mut stale = depth;
        // SAFETY: as before. The code is kept by the call that runs it.
        let (mut pc, mut base, mut memory, mut code) = unsafe {
            let running = &*top();
            (running.next, running.base, running.memory, Rc::as_ptr(&running.linked))
        };

        macro_rules! at {
            ($ty:ty, $offset:expr) => {
                *base.wrapping_add(usize::from($offset)).cast::<$ty>()
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
            // SAFETY: the loader made these words, and looked at what they name: each offset is that of a register of the type that
            // the operation reads or writes, in the frame at `base`, which has a value of its type in each register; jumps lead to
            // words, the last of which returns; tables have what is named. `memory` is that of the object the call runs for, of a
            // class that has what the loader found there, or null; it is looked up anew after code outside ran.
            unsafe {
                let word = *pc;
                pc = pc.wrapping_add(1);
                match word.op {
                    Do::Nop => {}
                    Do::Copy1 => at!(u8, word.a) = at!(u8, word.b),
                    Do::Copy2 => at!(u16, word.a) = at!(u16, word.b),
                    Do::Copy4 => at!(u32, word.a) = at!(u32, word.b),
                    Do::Copy8 => at!(u64, word.a) = at!(u64, word.b),
                    Do::CopyBytes => {
                        let from = base.wrapping_add(usize::from(word.b));
                        base.wrapping_add(usize::from(word.a)).copy_from(from, word.x as usize);
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
                        let at = |offset: u16| base.wrapping_add(usize::from(offset));
                        let (op, num) = (OPS[word.x as usize], NUMS[word.y as usize]);
                        if arithmetic(op, num, at(word.a), at(word.b), at(word.c)) {
                            warn!("a division by zero, which gives zero");
                        }
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
                        let at = |offset: u16| base.wrapping_add(usize::from(offset));
                        let (op, num) = (OPS[usize::from(word.c & 0xff)], NUMS[word.x as usize]);
                        jump_if!(word, compare_bits(op, num, at(word.a), at(word.b)) == (word.c & 0x100 != 0));
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
                    Do::LoadSelfElement4 | Do::LoadElement4 => {
                        let array = if word.op == Do::LoadElement4 {
                            base.wrapping_add(usize::from(word.c))
                        } else {
                            self_memory!();
                            memory.wrapping_add(word.x as usize)
                        };
                        let (raw, index) = (array.cast::<ArrayRaw>(), at!(i32, word.b) as u32);
                        at!(u32, word.a) = if index < (*raw).len {
                            *(*raw).data.cast::<u32>().wrapping_add(index as usize)
                        } else {
                            warn!(&format!("element {} of {} is read", index as i32, (*raw).len));
                            0
                        };
                    }
                    Do::StoreSelfElement4 | Do::StoreElement4 => {
                        let array = if word.op == Do::StoreElement4 {
                            base.wrapping_add(usize::from(word.c))
                        } else {
                            may_write!();
                            memory.wrapping_add(word.x as usize)
                        };
                        let (raw, index) = (array.cast::<ArrayRaw>(), at!(i32, word.b) as u32);
                        let value = at!(u32, word.a);
                        if index < (*raw).len {
                            *(*raw).data.cast::<u32>().wrapping_add(index as usize) = value;
                        } else {
                            (*top()).next = pc;
                            tried!(self.store_behind(array, index as i32, value));
                            rounds = rounds.saturating_sub(cost::take());
                        }
                    }
                    Do::LoadOther => {
                        let other = &(*code).others[word.x as usize];
                        let found = tried!(other_memory(world, other, at!(ObjectHandle, word.b)));
                        let to = base.wrapping_add(usize::from(word.a));
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
                                move_plain(to, base.wrapping_add(usize::from(word.a)), word.c);
                            }
                            None => {
                                warn!(&format!("{} of none is written", other.property.text));
                            }
                        }
                    }
                    Do::SelfObject => at!(ObjectHandle, word.a) = (*top()).object,
                    Do::CallPlain => {
                        count_round!();
                        let running = top();
                        (*running).next = pc;
                        self.rounds.set(rounds);
                        if !self.call_plain(world, &(&*code).sites[word.x as usize], base) {
                            return Err(self.failed.take().unwrap_or_else(|| self.runaway()));
                        }
                        rounds = self.rounds.get();
                        is_free = Self::is_free(world);
                        if !memory.is_null() {
                            memory = self.memory_of(world, (*running).object);
                            (*running).memory = memory;
                        }
                        stale = depth;
                    }
                    Do::Call => {
                        count_round!();
                        let running = top();
                        (*running).next = pc;
                        let linked = &*code;
                        let registers = Registers::new(base, (*running).object, memory, (*running).class);
                        self.rounds.set(rounds);
                        // An error leaves the rounds as they are counted by then.
                        let site = &linked.sites[word.x as usize];
                        let went = self.call(world, site, &registers)?;
                        if went != Went::In {
                            rounds = self.rounds.get().saturating_sub(cost::take());
                        } else if !site.owning.is_empty() {
                            // Containers and texts were copied.
                            rounds = rounds.saturating_sub(cost::take());
                        }
                        match went {
                            Went::In => {
                                depth += 1;
                                let entered = &*top();
                                (pc, base, memory) = (entered.next, entered.base, entered.memory);
                                code = Rc::as_ptr(&entered.linked);
                            }
                            Went::Out => {
                                is_free = Self::is_free(world);
                                memory = self.memory_of(world, (*running).object);
                                (*running).memory = memory;
                                stale = depth;
                            }
                            Went::Nowhere => {}
                        }
                    }
                    Do::Slow => {
                        let running = top();
                        (*running).next = pc;
                        let registers = Registers::new(base, (*running).object, memory, (*running).class);
                        self.rounds.set(rounds);
                        let went = self.slow(world, &(*code).slow[word.x as usize], &registers)?;
                        rounds = self.rounds.get().saturating_sub(cost::take());
                        if went == Went::Out {
                            is_free = Self::is_free(world);
                            memory = self.memory_of(world, (*running).object);
                            (*running).memory = memory;
                            stale = depth;
                        }
                    }
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
                        self.pop();
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

    /// The memory of an object; null for none and for one that is gone.
    #[inline]
    pub(crate) fn memory_of(&self, world: &World, object: ObjectHandle) -> *mut u8 {
        world.objects.memory(object).unwrap_or(std::ptr::null_mut())
    }

    #[cold]
    fn runaway(&self) -> CallError {
        CallError::other(format!(
            "the script went round its loops, or called, {} times, where long operations and lines in the log count as several: it \
             counts as one that never ends, so let it do less at a time",
            self.limits.rounds
        ))
    }

    /// Tells the log what went wrong without ending the script.
    #[cold]
    pub(crate) fn warn(&self, message: &str) {
        cost::add(cost::LINE);
        let mut stack: String = self.innermost(LOGGED).iter().map(|place| format!("\n    {place}")).collect();
        if let Some(more) = self.depth().checked_sub(LOGGED).filter(|more| *more != 0) {
            stack.push_str(&format!("\n    … {more} more"));
        }
        tracing::warn!(target: "alcedo::script", "{message}{stack}");
    }

    /// Writes an element of four bytes behind the end of an array, which grows.
    ///
    /// # Safety
    /// An array of values of four bytes that own nothing lies at `array`.
    #[cold]
    unsafe fn store_behind(&self, array: *mut u8, index: i32, value: u32) -> Result<(), CallError> {
        if index < 0 {
            self.warn(&format!("element {index} is written"));
            return Ok(());
        }
        let ty = alcedo_reflect::property::PropertyType::Array(Rc::new(alcedo_reflect::nested::ElementType::new(
            alcedo_reflect::property::PropertyType::U32,
        )));
        // SAFETY: how the rows of an array lie depends on the size and alignment of its values alone, which a `u32` has.
        let place = unsafe { PtrMut::new(array, &ty) };
        let Some(mut rows) = alcedo_reflect::containers::array(place) else { return Ok(()) };
        let len = rows.len();
        let more = (index as u32 + 1).saturating_sub(len);
        size::rows(len, more, size_of::<u32>())?;
        rows.splice(len, 0, more).map_err(|error| CallError::other(error.to_string()))?;
        if let Some(place) = rows.get_mut(index as u32) {
            place.set(value);
        }
        Ok(())
    }
}

/// How many calls a line in the log names.
const LOGGED: usize = 8;

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

/// Moves a value of one, four or eight bytes.
#[inline]
unsafe fn move_plain(to: *mut u8, from: *const u8, size: u16) {
    // SAFETY: the caller has such values at both, aligned for their size.
    unsafe {
        match size {
            1 => *to = *from,
            4 => *to.cast::<u32>() = *from.cast::<u32>(),
            _ => *to.cast::<u64>() = *from.cast::<u64>(),
        }
    }
}

/// Zeros, of a multiple of 16 bytes: frames are small, so no function of the C library is called for most.
#[inline]
unsafe fn zero(at: *mut u8, size: usize) {
    // SAFETY: the caller has so much memory there, aligned to 16 bytes.
    unsafe {
        if size > 256 {
            at.write_bytes(0, size);
            return;
        }
        let mut done = 0;
        while done < size {
            *at.wrapping_add(done).cast::<u128>() = 0;
            done += 16;
        }
    }
}

impl RootSource for Machine {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.each_activation(&mut |running| {
            visit(running.object);
            // SAFETY: the frame has a value of its type in each register, and is not written while it is looked at.
            let view = unsafe { View::from_raw(running.base, &running.linked.schema) };
            view.objects().into_iter().for_each(&mut *visit);
        });
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.unwind(0);
        // SAFETY: `new` took the memory with this layout, and no frame is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("limits", &self.limits).field("depth", &self.depth()).finish_non_exhaustive()
    }
}
