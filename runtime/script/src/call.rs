//! Performs calls of script, native and plugin functions. If the callee is a script, this module only pushes a frame, and the interpreter
//! loop then runs the frame.
#![expect(unsafe_code, reason = "moves arguments between frames")]

use std::rc::{Rc, Weak};

use alcedo_abi::call::FailureKind;
use alcedo_abi::kinds::{function_flags, property_flags};
use alcedo_base::boundary::{CallError, not_found};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::function::Function;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::value::{Binding, Value};

use crate::cost;
use crate::exec::{Callee, Linked, LinkedPlace, LinkedTarget, Site, Slot, Transfer};
use crate::machine::Machine;
use crate::place::{Registers, check_class};

/// Code of a callee: linked script code of this machine, or a native or plugin function that is called through its thunk.
pub(crate) enum Body {
    Script(Rc<Linked>),
    Other(Rc<Function>),
}

impl Callee {
    #[inline]
    fn body(&self) -> Body {
        match self.linked.as_ref().and_then(Weak::upgrade) {
            Some(linked) => Body::Script(linked),
            None => Body::Other(Rc::clone(&self.function)),
        }
    }
}

/// A call that a script performs: the call site, and the registers of the caller. A custom thunk reads the arguments from this value.
#[derive(Clone, Copy)]
pub(crate) struct Calling<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) world: &'a World,
    pub(crate) site: &'a Site,
    pub(crate) registers: &'a Registers,
}

impl Calling<'_> {
    /// Performs the call. If the callee is a script function, only pushes its frame, which the interpreter loop must run afterwards.
    ///
    /// # Errors
    /// Returns the errors of dispatch and of native code.
    #[inline]
    pub(crate) fn call(self) -> Result<Transfer, CallError> {
        let Self { machine, world, site, registers } = self;
        match &site.target {
            // The memory is null if the object is destroyed. Such a call is a call on none, as for virtual functions.
            LinkedTarget::Final(None, callee)
                if !registers.memory().is_null()
                    && let Some(callee) = callee.get() =>
            {
                self.enter_body(registers.object, registers.class, callee.body())
            }
            LinkedTarget::Static(callee) => {
                let callee = callee.get_or_init(|| machine.callee(&site.function));
                self.enter_body(ObjectHandle::NONE, Name::default(), callee.body())
            }
            LinkedTarget::Virtual(object) => {
                let object = object.map_or(registers.object, |at| registers.handle(at));
                let Some(class) = world.objects.class_id(object) else { return self.call_none() };
                if site.cached_class.get() != class {
                    machine.find_virtual(world, site, object, class)?;
                }
                self.enter_body(object, Name::default(), site.cached_body()?)
            }
            _ => self.call_uncached(),
        }
    }

    fn call_uncached(self) -> Result<Transfer, CallError> {
        let Self { machine, world, site, registers } = self;
        match &site.target {
            LinkedTarget::Final(object, cell) => {
                let callee = cell.get_or_init(|| machine.callee(&site.function));
                let object = object.map_or(registers.object, |at| registers.handle(at));
                let Some(class) = world.objects.class_id(object) else { return self.call_none() };
                if site.cached_class.get() != class {
                    check_is_a(world, object, &site.function)?;
                    site.cached_class.set(class);
                }
                self.enter_body(object, Name::default(), callee.body())
            }
            LinkedTarget::OfClass(None) if !registers.object.is_none() => {
                let object = registers.object;
                let Some(id) = world.objects.class_id(object) else { return self.call_none() };
                if site.cached_class.get() != id {
                    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
                    machine.find_static(site, &class);
                    site.cached_path.set(world.names.intern(&class.path));
                    site.cached_class.set(id);
                }
                self.enter_body(ObjectHandle::NONE, site.cached_path.get(), site.cached_body()?)
            }
            LinkedTarget::OfClass(at) => {
                let path = at.map_or(registers.class, |at| registers.name(at));
                // Reuses the cached class within one run, because a path resolves to the same class until the run ends.
                let run = machine.run.get();
                if site.cached_run.get() != run || site.cached_path.get() != path {
                    let Some(class) = world.types.class_by_path(&world.names.text(path)) else {
                        return self.call_none();
                    };
                    machine.find_static(site, &class);
                    site.cached_path.set(path);
                    site.cached_run.set(run);
                }
                self.enter_body(ObjectHandle::NONE, path, site.cached_body()?)
            }
            LinkedTarget::Interface(at) => {
                let object = registers.handle(*at);
                let Some(id) = world.objects.class_id(object) else { return self.call_none() };
                if site.cached_class.get() != id {
                    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
                    let found = class.find_function(&site.function.text).filter(|found| site.suits(found));
                    let callee = machine.callee(found.ok_or_else(|| missing_function(&class.path, &site.function))?);
                    *site.cached_callee.borrow_mut() = Some(callee);
                    site.cached_class.set(id);
                }
                self.enter_body(object, Name::default(), site.cached_body()?)
            }
            LinkedTarget::Delegate { delegate, place, object, fallback } => {
                self.call_delegate(delegate, place.as_deref(), *object, fallback.as_ref())
            }
            LinkedTarget::Virtual(_) | LinkedTarget::Static(_) => {
                Err(CallError::other("a method or static function is not called through this entry"))
            }
        }
    }

    fn call_delegate(
        self,
        delegate: &Slot,
        place: Option<&LinkedPlace>,
        object: Option<u16>,
        fallback: Option<&Rc<Function>>,
    ) -> Result<Transfer, CallError> {
        let Self { machine, world, site, registers } = self;
        // The arguments may have changed the delegate after its copy was made. The copy is used if they have destroyed its place.
        let current = place.map(|place| registers.read(world, place)).transpose()?.and_then(Result::ok);
        let bound = match current.unwrap_or_else(|| registers.ptr(delegate)).read() {
            Value::Delegate(binding) => vec![binding],
            Value::Multicast(bindings) | Value::Sparse(bindings) => {
                // The bindings of destroyed and dormant objects cause no calls, which would count as rounds.
                cost::add(bindings.len() as u64);
                bindings
            }
            _ => Vec::new(),
        };
        let is_single = matches!(delegate.property.ty, PropertyType::Delegate(_));
        let objects = &world.objects;
        let is_called = |of: &Binding| objects.is_alive(of.object) && (is_single || !objects.is_dormant(of.object));
        let alive: Vec<Binding> = bound.into_iter().filter(is_called).collect();
        let signature = delegate.property.ty.signature().unwrap_or_default();
        let find = |binding: &Binding| -> Result<Callee, CallError> {
            Ok(machine.callee(&bound_function(world, binding, signature, |found| site.suits(found))?))
        };
        match alive.as_slice() {
            [] => match fallback {
                None => self.call_none(),
                Some(function) => {
                    let object = object.map_or(registers.object, |at| registers.handle(at));
                    let Some(class) = world.objects.class(object) else { return self.call_none() };
                    check_is_a(world, object, function)?;
                    let callee = machine.callee(class.dispatch(function));
                    self.enter_body(object, Name::default(), callee.body())
                }
            },
            [binding] => self.enter_bound(binding.object, &find(binding)?),
            several => {
                let mark = match place {
                    Some(place) => registers.delegate_mark(world, place)?,
                    None => None,
                };
                let left = several.iter().rev().copied().collect();
                // The limits of the machine apply to the nesting of this call.
                let position = world.stack.position();
                let broadcast = world.broadcasts.enter_uncounted(mark, left, position);
                let call = |binding: &Binding| -> Result<(), CallError> {
                    let registers = registers.refreshed(world);
                    let callee = find(binding)?;
                    let depth = machine.frames.depth();
                    let calling = Calling { registers: &registers, ..self };
                    if calling.enter_bound(binding.object, &callee)? == Transfer::In {
                        machine.enter(world, depth)?;
                        // Copies no values back, because delegates have no out parameters and multicast delegates have no result.
                        machine.frames.pop();
                    }
                    Ok(())
                };
                while let Some(binding) = broadcast.next_binding() {
                    // Skips destroyed objects, because an earlier call of this loop may have destroyed the bound object or the calling
                    // object.
                    if !world.objects.is_alive(binding.object) {
                        continue;
                    }
                    call(&binding).map_err(|error| match error.kind() {
                        FailureKind::TOO_DEEP => machine.refused(world, error),
                        _ => error,
                    })?;
                }
                Ok(Transfer::Out)
            }
        }
    }

    /// Calls the function that is bound to a delegate. If the function is static, the call runs on the class of the bound object.
    fn enter_bound(self, object: ObjectHandle, callee: &Callee) -> Result<Transfer, CallError> {
        let world = self.world;
        if callee.function.flags & function_flags::STATIC == 0 {
            return self.enter_body(object, Name::default(), callee.body());
        }
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let class = world.names.intern(&class.path);
        self.enter_body(ObjectHandle::NONE, class, callee.body())
    }

    /// Handles a call on `None`. Logs the call and returns the zero value.
    #[cold]
    fn call_none(self) -> Result<Transfer, CallError> {
        let site = self.site;
        if !matches!(site.target, LinkedTarget::Delegate { .. }) {
            self.machine.warn(&format!("{} of none is called", site.function.text));
        }
        self.registers.clear(site.to.as_ref(), site.initial.as_ref())?;
        Ok(Transfer::None)
    }

    #[inline]
    fn enter_body(self, object: ObjectHandle, class: Name, body: Body) -> Result<Transfer, CallError> {
        let Self { machine, world, site, registers } = self;
        let linked = match body {
            Body::Script(linked) => linked,
            Body::Other(function) => return self.call_out(object, &function),
        };
        if world.mode.is_before_commit() {
            linked.function.may_run(world, object)?;
        }
        let memory = if object == registers.object { registers.memory() } else { machine.memory_of(world, object) };
        if linked.is_singular && machine.runs(&linked, object) {
            registers.clear(site.to.as_ref(), site.initial.as_ref())?;
            return Ok(Transfer::None);
        }
        let class = if class == Name::default() { linked.class_name } else { class };
        let pushed = machine.frames.push(linked, object, memory, class, site);
        let params = pushed.map_err(|linked| machine.too_deep(world, &linked.function))?;
        for one in &site.moves {
            // SAFETY: `registers` are those of the caller; each frame of a function with this signature begins with its
            // parameters.
            unsafe { one.over(registers.base(), params) }?;
        }
        Ok(Transfer::In)
    }
}

impl Machine {
    /// Looks up the static function in the class of the call.
    #[cold]
    fn find_static(&self, site: &Site, class: &Class) {
        let found = class.find_function(&site.function.text).filter(|found| site.suits(found));
        let found = found.unwrap_or(&site.function);
        site.cached_is_own.set(Rc::ptr_eq(found, &site.function));
        *site.cached_callee.borrow_mut() = Some(self.callee(found));
    }

    /// Returns true if the call cache proves that a call on this object reaches the declared function and no override. The loader has
    /// checked that all parameters of the declared function are copied bytewise.
    #[inline]
    pub(crate) fn is_cached_plain(&self, world: &World, site: &Site, object: ObjectHandle) -> bool {
        site.cached_is_own.get() && world.objects.class_id(object).is_some_and(|class| class == site.cached_class.get())
    }

    /// Returns a function as a callee. If the function is a script function of this machine, the callee contains its linked code.
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
            return Err(missing_function(&class.path, &site.function));
        }
        let callee = self.callee(function);
        *site.cached_callee.borrow_mut() = Some(callee);
        site.cached_class.set(id);
        Ok(())
    }

    /// Returns true if a call of the function is running on the object.
    #[cold]
    pub(crate) fn runs(&self, linked: &Rc<Linked>, object: ObjectHandle) -> bool {
        let mut runs = false;
        self.frames.each(&mut |running| {
            runs |= Rc::ptr_eq(&running.linked, linked) && running.object == object;
        });
        runs
    }
}

impl Site {
    /// Returns a copy of the cached callee. A copy is necessary because the callee may execute this call site again with an object of a
    /// different class, which replaces the cached callee.
    #[inline]
    fn cached_body(&self) -> Result<Body, CallError> {
        let callee = self.cached_callee.borrow();
        callee.as_ref().map(Callee::body).ok_or_else(|| missing_function("no class", &self.function))
    }

    /// Returns true if the function has the parameter layout for which this call site was linked.
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

/// Looks up a script callee in the call cache. Returns the code of the callee, its object, and the memory of this object. Returns `None` if
/// the callee is not cached, or if the object does not exist.
///
/// # Safety
/// `base` must point to the frame of the caller. The code of the caller must contain `site`. `own` must be the object of the caller, and
/// `memory` its memory.
#[inline(always)]
pub(crate) unsafe fn direct(
    world: &World,
    site: &Site,
    own: ObjectHandle,
    memory: *mut u8,
    base: *mut u8,
) -> Option<(Rc<Linked>, ObjectHandle, *mut u8)> {
    let object = |at: &Option<u16>| match at {
        None => Some((own, memory)),
        Some(at) => {
            // SAFETY: the loader verified that the register holds a handle, in the frame that the caller promised.
            let object = unsafe { base.wrapping_add(usize::from(*at)).cast::<ObjectHandle>().read() };
            Some((object, world.objects.memory(object)?))
        }
    };
    let is_cached =
        |object: ObjectHandle| world.objects.class_id(object).is_some_and(|class| class == site.cached_class.get());
    match &site.target {
        LinkedTarget::Static(cell) => {
            Some((cell.get()?.linked.as_ref()?.upgrade()?, ObjectHandle::NONE, std::ptr::null_mut()))
        }
        LinkedTarget::Final(None, _) if memory.is_null() => None,
        LinkedTarget::Final(None, cell) => Some((cell.get()?.linked.as_ref()?.upgrade()?, own, memory)),
        LinkedTarget::Final(at, cell) => {
            let (object, memory) = object(at)?;
            let linked = cell.get()?.linked.as_ref()?;
            is_cached(object).then(|| Some((linked.upgrade()?, object, memory)))?
        }
        LinkedTarget::Virtual(at) => {
            let (object, memory) = object(at)?;
            let callee = site.cached_callee.borrow();
            let linked = callee.as_ref()?.linked.as_ref()?;
            is_cached(object).then(|| Some((linked.upgrade()?, object, memory)))?
        }
        _ => None,
    }
}

/// Finds the function that a delegate with this signature calls for a binding.
///
/// # Errors
/// Returns an error if the object is dormant, or if its class has no such function.
pub(crate) fn bound_function(
    world: &World,
    binding: &Binding,
    signature: &str,
    suits: impl Fn(&Function) -> bool,
) -> Result<Rc<Function>, CallError> {
    // The class of a dormant object is its nearest existing base, which may have a function of this name.
    if world.objects.is_dormant(binding.object) {
        return Err(not_found(format!("a delegate ({signature}) is bound to a dormant object: bind it first")));
    }
    let class = world.objects.class(binding.object).ok_or(CallError::Stale { handle: binding.object })?;
    let name = world.names.text(binding.function);
    let found = world.types.function_of(&class, &name);
    found.filter(|found| found.signature_text() == signature && suits(found)).cloned().ok_or_else(|| {
        not_found(format!("{} has no function {name} of the signature ({signature}) that a delegate calls", class.path))
    })
}

#[cold]
pub(crate) fn check_is_a(world: &World, object: ObjectHandle, function: &Function) -> Result<(), CallError> {
    let owner = world.types.class(function.owner);
    owner.map_or(Ok(()), |owner| check_class(world, object, &owner, &function.path))
}

#[cold]
pub(crate) fn missing_function(class: &str, function: &Function) -> CallError {
    CallError::Signature {
        name: format!("{class}:{}", function.text),
        found: "a different signature, or no function".to_owned(),
        expected: function.signature(),
    }
}
