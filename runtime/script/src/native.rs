//! Calls between scripts and native or plugin code, in both directions. Arguments are usually copied to a parameter block. A custom thunk
//! instead reads its arguments one by one from the frame of the caller.
#![expect(unsafe_code, reason = "moves values between frames and parameter blocks")]

use std::rc::{Rc, Weak};

use alcedo_abi::kinds::property_flags;
use alcedo_base::boundary::{CallError, catch_panics};
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_base::panic_guard::caught;
use alcedo_reflect::World;
use alcedo_reflect::arguments::{Argument, Steps};
use alcedo_reflect::function::Function;
use alcedo_reflect::property::Property;
use alcedo_reflect::slices::BorrowedSlices;
use alcedo_reflect::storage::View;
use alcedo_reflect::thunk::{Frame, Thunk, function_of, hand_over, restore_lengths, run_over_block, stepping};
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::call::{Calling, check_is_a, missing_function};
use crate::exec::{Arg, Linked, Site, Transfer};
use crate::machine::Machine;
use crate::place::Access;
use crate::size;

impl Machine {
    /// Runs the calls above `depth` in the interpreter loop, until only `depth` calls remain.
    pub(crate) fn enter(&self, world: &World, depth: usize) -> Result<(), CallError> {
        if !self.stack.get().is_here() {
            self.frames.unwind(depth);
            return Err(CallError::WrongStack { action: "running a script".to_owned() });
        }
        let entries = self.entries.get();
        if entries >= self.limits.entries {
            let what = self.innermost(1).pop().map(|place| place.function).unwrap_or_default();
            let error = self.in_script(self.refused(world, CallError::TooDeep { what, limit: self.limits.entries }));
            self.frames.unwind(depth);
            return Err(error);
        }
        let mark = self.mark_at(depth);
        let _limited = size::limited(self.limits.value, self.limits.values, self.base.get());
        self.entries.set(entries + 1);
        self.run(world, depth)?;
        mark.keep();
        Ok(())
    }

    /// Runs a script function whose parameters are in a parameter block. Copies the out parameters back to this block.
    pub(crate) fn call_in(&self, world: &World, linked: &Rc<Linked>, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let object = if linked.is_static { ObjectHandle::NONE } else { frame.object() };
        let (memory, class) = match linked.is_static {
            // A delegate calls a static function on the class of the bound object.
            true => {
                let class = world.objects.class(frame.object()).filter(|class| class.is_a(&linked.class));
                (std::ptr::null_mut(), class.map_or(linked.class_name, |class| world.names.intern(&class.path)))
            }
            false => {
                let class = world.objects.class_id(object).ok_or(CallError::Stale { handle: object })?;
                if linked.checked_class.get() != class {
                    check_is_a(world, object, &linked.function)?;
                    linked.checked_class.set(class);
                }
                (self.memory_of(world, object), Name::default())
            }
        };
        if linked.is_singular && self.runs(linked, object) {
            hand_over(frame);
            return Ok(());
        }
        if !std::ptr::eq(function_of(frame), &*linked.function) {
            return Err(missing_function(&linked.class.path, function_of(frame)));
        }
        let block = hand_over(frame);
        if block.is_null() {
            return Err(CallError::other(format!("{} is not a function with a custom thunk", linked.function.path)));
        }
        self.begin();
        self.charge()?;
        let depth = self.frames.depth();
        let _mark = self.mark();
        let pushed = self.frames.push(Rc::clone(linked), object, memory, class, std::ptr::null());
        let base = pushed.map_err(|linked| self.too_deep(world, &linked.function))?;
        let function = &linked.function;
        let one = |param: &Property, from: *const u8, to: *mut u8| {
            let at = param.offset as usize;
            // SAFETY: the block belongs to a function of this signature, and the frame begins with the same parameters. Block and
            // frame have a value of the type at this offset.
            unsafe {
                let from = Ptr::new(from.wrapping_add(at), &param.ty);
                PtrMut::new(to.wrapping_add(at), &param.ty).copy_from(from);
            }
        };
        function.arguments().iter().for_each(|param| one(param, block, base));
        self.enter(world, depth)?;
        function.out_parameters().for_each(|param| one(param, base, block));
        if let Some(result) = function.result() {
            one(result, base, block);
        }
        Ok(())
    }

    /// Creates the thunk of a script function. The thunk has weak references to the machine and to the code.
    pub(crate) fn thunk(self: &Rc<Self>, linked: &Rc<Linked>) -> Thunk {
        let (machine, linked): (Weak<Self>, Weak<Linked>) = (Rc::downgrade(self), Rc::downgrade(linked));
        let path = linked.upgrade().map(|linked| linked.function.path.to_string()).unwrap_or_default();
        Rc::new(move |context, frame| {
            let (Some(machine), Some(linked)) = (machine.upgrade(), linked.upgrade()) else {
                return Err(CallError::Unavailable { what: path.clone() });
            };
            machine.call_in(World::of(context), &linked, frame)
        })
    }

    /// Calls a static host function whose parameters are copied bytewise. Returns true on success. On failure, stores the error in
    /// `failed`.
    ///
    /// # Safety
    /// `base` must point to the frame of the caller. The code of the caller must contain `site`. The loader must have classified the call
    /// as plain.
    #[inline(never)]
    pub(crate) unsafe fn call_plain(&self, world: &World, site: &Site, base: *mut u8) -> bool {
        let (function, _mark) = (&*site.function, self.mark());
        let call = || -> Result<(), CallError> {
            let block = self.block(world, site.block as usize, function)?;
            function.may_run(world, ObjectHandle::NONE)?;
            // SAFETY: the caller promised its frame; `block` is a zeroed block of the function, and has no other use until the call has
            // returned.
            unsafe { run_in_block(world, site, ObjectHandle::NONE, function, base, block) }
        };
        call().map_or_else(|error| self.fail_call(error), |()| true)
    }

    #[cold]
    fn fail_call(&self, error: CallError) -> bool {
        self.failed.set(Some(error));
        false
    }
}

impl Calling<'_> {
    /// Calls native or plugin code.
    pub(crate) fn call_out(self, object: ObjectHandle, function: &Function) -> Result<Transfer, CallError> {
        function.may_run(self.world, object)?;
        // This guard removes the script frames that the called code leaves behind if it panics.
        let _mark = self.machine.mark();
        let done = match self.site.is_custom {
            true => self.call_stepping(object, function),
            false => self.call_with_block(object, function),
        };
        done.map(|()| Transfer::Out)
    }

    fn call_with_block(self, object: ObjectHandle, function: &Function) -> Result<(), CallError> {
        let Self { machine, world, site, registers } = self;
        let size = (site.block as usize).max(function.params_size());
        let block = machine.block(world, size, function)?;
        // SAFETY: `registers` are those of the caller; `block` is a zeroed block of a function of this signature, and has no other use
        // until the call has returned.
        let called = unsafe { run_in_block(world, site, object, function, registers.base(), block) };
        for owning in &*site.owning {
            // SAFETY: the block has a value of the type at this offset, and is freed after this loop.
            unsafe { PtrMut::new(block.wrapping_add(owning.offset as usize), &owning.ty) }.destroy();
        }
        called
    }

    fn call_stepping(self, object: ObjectHandle, function: &Function) -> Result<(), CallError> {
        let (world, mut steps) = (self.world, self);
        let mut frame = stepping(object, function, &mut steps);
        let called = catch_panics(|| (function.thunk)(world.context(), &mut frame));
        called.and(restore_lengths(&mut frame))?;
        function.check_balance(&frame)
    }
}

/// Copies the arguments to a block, and runs the function over this block. If the call succeeds, copies the out parameters back. If the
/// function panics, returns an error.
///
/// # Safety
/// `base` must point to the frame of the caller. The code of the caller must contain `site`. `function` must have the signature of the
/// site, and `block` must be a zeroed block of `function`. No other code may use the block before this function returns.
#[inline(always)]
unsafe fn run_in_block(
    world: &World,
    site: &Site,
    object: ObjectHandle,
    function: &Function,
    base: *mut u8,
    block: *mut u8,
) -> Result<(), CallError> {
    for one in site.moves.iter().chain(&site.defaults) {
        // SAFETY: the caller promised the frame and the block.
        unsafe { one.over(base, block) }?;
    }
    // SAFETY: the caller promised a zeroed block of the function without another use.
    let view = unsafe { View::from_raw(block, function.schema()) };
    let mut called = Ok(());
    if let Err(message) = caught(|| called = run_over_block(world.context(), object, function, view)) {
        return Err(CallError::Panicked { message, place: None });
    }
    called?;
    for back in &site.moves_back {
        // SAFETY: the caller promised the frame; the block still holds the parameters of the function.
        unsafe { back.back(base, block) };
    }
    Ok(())
}

// SAFETY: the loader rejects a call whose other arguments use a written register, the result register, or the root of a place. The
// loader allows at most one place per call. A register does not move until the call returns; `borrow_counter` prevents moves of the
// place.
unsafe impl<'a> Steps<'a> for Calling<'a> {
    fn step(&mut self, at: usize) -> Result<Argument<'a>, CallError> {
        let site: &'a Site = self.site;
        match &site.args[at] {
            Arg::Value(source) => Ok(self.registers.argument(source)),
            Arg::Place(place) => {
                let is_out = site.function.arguments()[at].flags & property_flags::OUT != 0;
                let access = if is_out { Access::Change } else { Access::Read };
                self.registers.place_argument(self.world, place, access)
            }
        }
    }

    fn borrow_counter(&self, at: usize) -> Option<&'a BorrowedSlices> {
        matches!(self.site.args[at], Arg::Place(_)).then_some(&self.world.slices)
    }

    fn result(&mut self) -> Option<Argument<'a>> {
        let site: &'a Site = self.site;
        site.to.as_ref().map(|slot| self.registers.slot_argument(slot))
    }
}
