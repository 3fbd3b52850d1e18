//! Calls of scripts from outside the interpreter loop: from native and plugin code through thunks, and from the machine itself.
#![expect(unsafe_code, reason = "moves values between frames and parameter blocks")]

use std::rc::{Rc, Weak};

use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::property::Property;
use alcedo_reflect::thunk::{Frame, Thunk, hand_over};
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::call::{check_is_a, missing_function};
use crate::exec::Linked;
use crate::machine::Machine;
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
            let error = self.in_script(CallError::TooDeep { what, limit: self.limits.entries });
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
        if !std::ptr::eq(alcedo_reflect::thunk::function_of(frame), &*linked.function) {
            return Err(missing_function(&linked.class.path, alcedo_reflect::thunk::function_of(frame)));
        }
        let block = hand_over(frame);
        if block.is_null() {
            return Err(CallError::other(format!("{} is not a function with a custom thunk", linked.function.path)));
        }
        self.begin();
        self.charge(1)?;
        let depth = self.frames.depth();
        let _mark = self.mark();
        let base = self.frames.push(Rc::clone(linked), object, memory, class, std::ptr::null(), 0)?;
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
}
