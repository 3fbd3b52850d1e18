//! Calls: what a call leads to, how its arguments come to where it takes them, and the two ways over the edge of the machine: out
//! to native and plugin code, and in from there.
#![expect(unsafe_code, reason = "moves values between frames and parameter blocks")]

use std::rc::{Rc, Weak};

use alcedo_abi::kinds::{function_flags, property_flags};
use alcedo_base::border::{CallError, trap};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use alcedo_base::trap::caught;
use alcedo_reflect::World;
use alcedo_reflect::arguments::{Argument, Steps};
use alcedo_reflect::function::Function;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::slices::LentSlices;
use alcedo_reflect::storage::View;
use alcedo_reflect::thunk::{Frame, Thunk, hand_over, run_over_block, stepping};
use alcedo_reflect::value::{Binding, Value};
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::cost;
use crate::exec::{Aim, Arg, Callee, How, Linked, Move, Site, Slot};
use crate::machine::{Machine, Went};
use crate::place::{Purpose, Registers};
use crate::size;

impl Move {
    /// From the caller's frame to the parameters at `there`.
    ///
    /// # Safety
    /// The frame of the caller, whose code this is of, lies at `here`; parameters as this call has them lie at `there`.
    #[inline]
    pub(crate) unsafe fn over(&self, here: *const u8, there: *mut u8) {
        let from = match &self.source {
            None => here.wrapping_add(usize::from(self.here)),
            Some(constant) => constant.value.at().cast_const(),
        };
        // SAFETY: the loader has compared the types; the caller vouches for the rest.
        unsafe { self.one(from, there.wrapping_add(usize::from(self.there))) };
    }

    /// From the parameters at `there` back to the caller's frame.
    ///
    /// # Safety
    /// As for [`Move::over`].
    #[inline]
    pub(crate) unsafe fn back(&self, here: *mut u8, there: *const u8) {
        // SAFETY: as for `over`.
        unsafe {
            self.one(there.wrapping_add(usize::from(self.there)), here.wrapping_add(usize::from(self.here)));
        }
    }

    #[inline]
    unsafe fn one(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the callers have values of the type at both, apart from each other.
        unsafe {
            match self.how {
                How::Bytes1 => *to = *from,
                How::Bytes4 => *to.cast::<u32>() = *from.cast::<u32>(),
                How::Bytes8 => *to.cast::<u64>() = *from.cast::<u64>(),
                How::Typed => {
                    let from = Ptr::new(from, &self.property.ty);
                    cost::add(cost::of(from));
                    PtrMut::new(to, &self.property.ty).copy_from(from);
                }
            }
        }
    }
}

impl Machine {
    /// Makes a call. Into a script, its frame is on top then.
    ///
    /// # Errors
    /// What goes wrong, in native code too.
    #[inline]
    pub(crate) fn call(&self, world: &World, site: &Site, registers: &Registers) -> Result<Went, CallError> {
        match &site.target {
            Aim::Final(None, callee) if let Some(callee) = callee.get() => {
                self.go(world, site, registers, registers.object, registers.class, callee)
            }
            Aim::Static(None, callee) if let Some(callee) = callee.get() => {
                self.go(world, site, registers, ObjectHandle::NONE, Name::default(), callee)
            }
            Aim::Virtual(object) => {
                let object = object.map_or(registers.object, |at| registers.handle(at));
                let Some(class) = world.objects.class_id(object) else { return self.call_none(site, registers) };
                if site.seen.get() != class {
                    self.find_virtual(world, site, object, class)?;
                }
                // Taken out of the cell: what is called may come here again with an object of another class.
                let callee = site.seen_callee.borrow().clone();
                let callee = callee.ok_or(CallError::Stale { handle: object })?;
                self.go(world, site, registers, object, Name::default(), &callee)
            }
            _ => self.call_otherwise(world, site, registers),
        }
    }

    fn call_otherwise(&self, world: &World, site: &Site, registers: &Registers) -> Result<Went, CallError> {
        match &site.target {
            Aim::Final(object, cell) => {
                let callee = cell.get_or_init(|| self.callee(&site.function));
                let object = object.map_or(registers.object, |at| registers.handle(at));
                let Some(class) = world.objects.class_id(object) else { return self.call_none(site, registers) };
                if site.seen.get() != class {
                    check_is_a(world, object, &site.function)?;
                    site.seen.set(class);
                }
                self.go(world, site, registers, object, Name::default(), callee)
            }
            Aim::Static(None, cell) => {
                let callee = cell.get_or_init(|| self.callee(&site.function));
                self.go(world, site, registers, ObjectHandle::NONE, Name::default(), callee)
            }
            Aim::Static(Some(at), _) => {
                let name = registers.name(*at);
                let path = world.names.text(name);
                let Some(class) = world.types.class_by_path(&path) else { return self.call_none(site, registers) };
                let found = class.find_function(&site.function.text).filter(|found| site.suits(found));
                let callee = self.callee(found.unwrap_or(&site.function));
                self.go(world, site, registers, ObjectHandle::NONE, name, &callee)
            }
            Aim::Interface(at) => {
                let object = registers.handle(*at);
                let Some(class) = world.objects.class(object) else { return self.call_none(site, registers) };
                let found = class.find_function(&site.function.text).filter(|found| site.suits(found));
                let callee = self.callee(found.ok_or_else(|| lacks(&class.path, &site.function))?);
                self.go(world, site, registers, object, Name::default(), &callee)
            }
            Aim::Delegate { delegate, object, fallback } => self.call_delegate(
                world,
                site,
                registers,
                delegate,
                *object,
                fallback.as_ref().map(|(function, _)| function),
            ),
            Aim::Virtual(_) => Err(CallError::other("a virtual call is made elsewhere")),
        }
    }

    fn call_delegate(
        &self,
        world: &World,
        site: &Site,
        registers: &Registers,
        delegate: &Slot,
        object: Option<u16>,
        fallback: Option<&Rc<Function>>,
    ) -> Result<Went, CallError> {
        let bound = match registers.ptr(delegate).read() {
            Value::Delegate(binding) => vec![binding],
            Value::Multicast(bindings) | Value::Sparse(bindings) => bindings,
            _ => Vec::new(),
        };
        let living: Vec<Binding> = bound.into_iter().filter(|binding| world.objects.is_alive(binding.object)).collect();
        let words = delegate.property.ty.signature().unwrap_or_default();
        let find = |binding: &Binding| -> Result<Callee, CallError> {
            let class = world.objects.class(binding.object).ok_or(CallError::Stale { handle: binding.object })?;
            let name = world.names.text(binding.function);
            let found = class.find_function(&name).filter(|found| found.words() == words && site.suits(found));
            let found = found.ok_or_else(|| CallError::NotFound {
                message: format!(
                    "{} has no function {name} of the signature ({words}) that a delegate calls",
                    class.path
                ),
            })?;
            Ok(self.callee(found))
        };
        match living.as_slice() {
            [] => match fallback {
                None => self.call_none(site, registers),
                Some(function) => {
                    let object = object.map_or(registers.object, |at| registers.handle(at));
                    let callee = self.callee(function);
                    if world.objects.class_id(object).is_none() {
                        return self.call_none(site, registers);
                    }
                    check_is_a(world, object, function)?;
                    self.go(world, site, registers, object, Name::default(), &callee)
                }
            },
            [binding] => self.go(world, site, registers, binding.object, Name::default(), &find(binding)?),
            several => {
                for binding in several {
                    // One that was called before may have ended it, or the object that calls.
                    if !world.objects.is_alive(binding.object) {
                        continue;
                    }
                    let registers = registers.anew(world);
                    let callee = find(binding)?;
                    let depth = self.depth();
                    if self.go(world, site, &registers, binding.object, Name::default(), &callee)? == Went::In {
                        self.enter(world, depth)?;
                        // Nothing comes back: a delegate has no parameters that do, and one that calls several no result.
                        self.pop();
                    }
                }
                Ok(Went::Out)
            }
        }
    }

    /// A function, and its code if it is a script of this machine.
    pub(crate) fn callee(&self, function: &Rc<Function>) -> Callee {
        let linked = self.code.borrow().get(&(function.owner, function.name)).cloned();
        let linked = linked.filter(|linked| linked.strong_count() != 0);
        Callee { function: Rc::clone(function), linked }
    }

    #[cold]
    fn find_virtual(&self, world: &World, site: &Site, object: ObjectHandle, id: ClassId) -> Result<(), CallError> {
        check_is_a(world, object, &site.function)?;
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let function = match site.function.vslot {
            Some(_) => class.dispatch(&site.function),
            None => class.find_function(&site.function.text).unwrap_or(&site.function),
        };
        if !site.suits(function) {
            return Err(lacks(&class.path, &site.function));
        }
        let callee = self.callee(function);
        *site.seen_callee.borrow_mut() = Some(callee);
        site.seen.set(id);
        Ok(())
    }

    /// A call of a function of no object: the result is zero, and the log tells it.
    #[cold]
    fn call_none(&self, site: &Site, registers: &Registers) -> Result<Went, CallError> {
        if !matches!(site.target, Aim::Delegate { .. }) {
            self.warn(&format!("{} of none is called", site.function.text));
        }
        registers.clear(site.to.as_ref(), site.initial.as_ref())?;
        Ok(Went::Nowhere)
    }

    #[inline]
    fn go(
        &self,
        world: &World,
        site: &Site,
        registers: &Registers,
        object: ObjectHandle,
        class: Name,
        callee: &Callee,
    ) -> Result<Went, CallError> {
        if let Some(linked) = &callee.linked
            && let Some(linked) = linked.upgrade()
        {
            if world.mode.is_before_commit() {
                callee.function.may_run(world, object)?;
            }
            let memory = if object == registers.object { registers.memory() } else { self.memory_of(world, object) };
            if linked.is_singular && self.runs(&linked, object) {
                registers.clear(site.to.as_ref(), site.initial.as_ref())?;
                return Ok(Went::Nowhere);
            }
            let class = if class == Name::default() { linked.class_name } else { class };
            let there = self.push(&linked, object, memory, class, site, site.skipped)?;
            for one in &site.moves {
                // SAFETY: `registers` are those of the caller; the parameters of a function of this signature begin each frame.
                unsafe { one.over(registers.base(), there) };
            }
            return Ok(Went::In);
        }
        self.call_out(world, site, registers, object, &callee.function)
    }

    /// Whether a call of this function on that object runs.
    #[cold]
    fn runs(&self, linked: &Rc<Linked>, object: ObjectHandle) -> bool {
        let mut runs = false;
        self.each_activation(&mut |running| {
            runs |= Rc::ptr_eq(&running.linked, linked) && running.object == object;
        });
        runs
    }

    /// A call of native or plugin code.
    fn call_out(
        &self,
        world: &World,
        site: &Site,
        registers: &Registers,
        object: ObjectHandle,
        function: &Rc<Function>,
    ) -> Result<Went, CallError> {
        function.may_run(world, object)?;
        // Frames of scripts that the code called are left where it panicked.
        let _mark = self.mark();
        let done = if site.is_custom {
            self.call_stepping(world, site, registers, object, function)
        } else {
            self.call_with_block(world, site, registers, object, function)
        };
        done.map(|()| Went::Out)
    }

    /// A call of a function of the host without an object, whose parameters are copied by their bytes; whether it went well. What
    /// went wrong otherwise is in `failed`.
    ///
    /// # Safety
    /// The frame of the caller, whose code `site` is of, lies at `base`, and the loader found the call to be plain.
    #[inline(never)]
    pub(crate) unsafe fn call_plain(&self, world: &World, site: &Site, base: *mut u8) -> bool {
        let (function, _mark) = (&*site.function, self.mark());
        let block = match self.take(site.block as usize, &|| function.path.to_string()) {
            Ok(block) => block,
            Err(error) => return self.went_wrong(error),
        };
        if let Err(error) = function.may_run(world, ObjectHandle::NONE) {
            return self.went_wrong(error);
        }
        for one in &site.moves {
            // SAFETY: the caller has its frame there; a block of the function lies there, all zero.
            unsafe { one.over(base, block) };
        }
        // SAFETY: as before; the block is not used otherwise until the call has returned.
        let view = unsafe { View::from_raw(block, function.schema()) };
        let mut called = Ok(());
        let caught = caught(|| called = run_over_block(world.context(), ObjectHandle::NONE, function, view));
        if caught.is_ok() && called.is_ok() {
            for back in &site.outs {
                // SAFETY: as before.
                unsafe { back.back(base, block) };
            }
            return true;
        }
        self.went_wrong(match (caught, called) {
            (Err(message), _) => CallError::Panicked { message, place: None },
            (_, Err(error)) => error,
            (Ok(()), Ok(())) => CallError::other("nothing went wrong"),
        })
    }

    #[cold]
    fn went_wrong(&self, error: CallError) -> bool {
        self.failed.set(Some(error));
        false
    }

    fn call_with_block(
        &self,
        world: &World,
        site: &Site,
        registers: &Registers,
        object: ObjectHandle,
        function: &Function,
    ) -> Result<(), CallError> {
        let block = self.take((site.block as usize).max(function.params_size()), &|| function.path.to_string())?;
        for one in &site.moves {
            // SAFETY: `registers` are those of the caller; a block of a function of this signature lies there, all zero.
            unsafe { one.over(registers.base(), block) };
        }
        // SAFETY: as before; the block is not used otherwise until the call has returned.
        let view = unsafe { View::from_raw(block, function.schema()) };
        let mut called = Ok(());
        let caught = caught(|| called = run_over_block(world.context(), object, function, view));
        if let Err(message) = caught {
            called = Err(CallError::Panicked { message, place: None });
        }
        if called.is_ok() {
            for back in &site.outs {
                // SAFETY: as before.
                unsafe { back.back(registers.base(), block) };
            }
        }
        for owning in &site.owning {
            // SAFETY: the block has a value of the type there, and goes now.
            unsafe { PtrMut::new(block.wrapping_add(owning.offset as usize), &owning.ty) }.destroy();
        }
        called
    }

    fn call_stepping(
        &self,
        world: &World,
        site: &Site,
        registers: &Registers,
        object: ObjectHandle,
        function: &Function,
    ) -> Result<(), CallError> {
        let mut steps = ScriptSteps { world, site, registers };
        let mut frame = stepping(object, function, &mut steps);
        trap(|| (function.thunk)(world.context(), &mut frame))?;
        function.check_balance(&frame)
    }

    /// Runs what was pushed on top of `depth` calls, entered from outside of the loop.
    pub(crate) fn enter(&self, world: &World, depth: usize) -> Result<(), CallError> {
        let entries = self.entries.get();
        if entries >= self.limits.entries {
            let mut what = String::new();
            self.each_activation(&mut |running| {
                if what.is_empty() {
                    what = running.linked.function.path.to_string();
                }
            });
            let error = self.in_script(CallError::TooDeep { what, limit: self.limits.entries });
            self.unwind(depth);
            return Err(error);
        }
        let mark = self.mark_at(depth);
        let _limited = size::limited(self.limits.value);
        self.entries.set(entries + 1);
        self.run(world, depth)?;
        mark.keep();
        Ok(())
    }

    /// A call from outside: parameters come from a block, and go back to it.
    pub(crate) fn call_in(&self, world: &World, linked: &Rc<Linked>, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let object = if linked.is_static { ObjectHandle::NONE } else { frame.object() };
        let (memory, class) = match linked.is_static {
            true => (std::ptr::null_mut(), linked.class_name),
            false => {
                let class = world.objects.class_id(object).ok_or(CallError::Stale { handle: object })?;
                if linked.seen.get() != class {
                    check_is_a(world, object, &linked.function)?;
                    linked.seen.set(class);
                }
                (self.memory_of(world, object), Name::default())
            }
        };
        if linked.is_singular && self.runs(linked, object) {
            hand_over(frame);
            return Ok(());
        }
        if !std::ptr::eq(alcedo_reflect::thunk::function_of(frame), &*linked.function) {
            return Err(lacks(&linked.class.path, alcedo_reflect::thunk::function_of(frame)));
        }
        let block = hand_over(frame);
        if block.is_null() {
            return Err(CallError::other(format!("{} is no function with a thunk of its own", linked.function.path)));
        }
        self.begin();
        self.pay(1)?;
        let depth = self.depth();
        let _mark = self.mark();
        let base = self.push(linked, object, memory, class, std::ptr::null(), 0)?;
        let function = &linked.function;
        let one = |param: &Property, from: *const u8, to: *mut u8| {
            let at = param.offset as usize;
            // SAFETY: the block is one of a function of this signature, and so begins the frame: both have a value of the type there.
            unsafe {
                let from = Ptr::new(from.wrapping_add(at), &param.ty);
                PtrMut::new(to.wrapping_add(at), &param.ty).copy_from(from);
            }
        };
        function.arguments().iter().for_each(|param| one(param, block, base));
        self.enter(world, depth)?;
        function.outs().for_each(|param| one(param, base, block));
        if let Some(result) = function.result() {
            one(result, base, block);
        }
        Ok(())
    }

    /// The thunk of a function of a script. It holds neither the machine nor the code.
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
}

/// The arguments of a call in a script, as a thunk steps through them.
struct ScriptSteps<'a> {
    world: &'a World,
    site: &'a Site,
    registers: &'a Registers,
}

// SAFETY: the loader lets no register that is written to, that of the result neither, be used beside in such a call, and one place
// at most; what that begins in is not used beside. A register stays where it is until the call returns; a place is answered for.
unsafe impl<'a> Steps<'a> for ScriptSteps<'a> {
    fn step(&mut self, at: usize) -> Result<Argument<'a>, CallError> {
        let site: &'a Site = self.site;
        match &site.args[at] {
            Arg::Value(source) => Ok(self.registers.argument(source)),
            Arg::Place(place) => {
                let is_out = site.function.arguments()[at].flags & property_flags::OUT != 0;
                let purpose = if is_out { Purpose::Change } else { Purpose::Read };
                self.registers.place_argument(self.world, place, purpose)
            }
        }
    }

    fn keeper(&self, at: usize) -> Option<&'a LentSlices> {
        matches!(self.site.args[at], Arg::Place(_)).then_some(&self.world.slices)
    }

    fn result(&mut self) -> Option<Argument<'a>> {
        let site: &'a Site = self.site;
        site.to.as_ref().map(|slot| self.registers.slot_argument(slot))
    }
}

impl Site {
    /// Whether the parameters of a function lie as those of the function that the call was checked against.
    fn suits(&self, function: &Function) -> bool {
        let is_custom = function.flags & function_flags::CUSTOM_THUNK != 0;
        let one = |((offset, ty, is_out), param): (&(u32, PropertyType, bool), &Property)| {
            *offset == param.offset && *ty == param.ty && *is_out == (param.flags & property_flags::OUT != 0)
        };
        self.layout.len() == function.params.len()
            && self.layout.iter().zip(&function.params).all(one)
            && is_custom == self.is_custom
    }
}

#[cold]
fn check_is_a(world: &World, object: ObjectHandle, function: &Function) -> Result<(), CallError> {
    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    match world.types.class(function.owner) {
        Some(owner) if !class.is_a(&owner) => Err(CallError::WrongClass {
            place: function.path.to_string(),
            handle: object,
            found: class.path.to_string(),
            wanted: owner.path.to_string(),
        }),
        _ => Ok(()),
    }
}

#[cold]
fn lacks(class: &str, function: &Function) -> CallError {
    CallError::Signature {
        name: format!("{class}:{}", function.text),
        found: "another one, or none".to_owned(),
        wanted: function.signature(),
    }
}
