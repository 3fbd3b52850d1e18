//! Builds plugin parts and calls their hooks. An object has one part for its class, if dynamic, and one part for each dynamic base class.
//! The parts are built from base to derived. The object store decides when a part is built. The code in this file calls the module.
#![expect(unsafe_code, reason = "enters module code through the function pointers of its descriptions")]

use std::rc::Rc;

use alcedo_abi::call::{Call, Failure, Invoke, PackedKept, Status};
use alcedo_abi::value::{KeepSink, TextView};

use crate::boundary::{CallError, reported};
use crate::cells::RefCell;
use crate::conjugate::class_hook_table::{ClassHookTable, ClassHooks};
use crate::conjugate::file_fields::KeptView;
use crate::conjugate::finalizer::Finalizer;
use crate::conjugate::gate::Gate;
use crate::conjugate::hot::FrameName;
use crate::conjugate::packed::PackedFields;
use crate::conjugate::pairs::{ConjugateKey, Pairs, Part};
use crate::conjugate::red::RedStack;
use crate::handles::{ClassId, ObjectHandle, PartPtr};
use crate::object::World;
use crate::object::class::Class;
use crate::object::construction::{ConstructionHooks, StepError};
use crate::object::hot_columns::PluginPart;
use crate::object::origin::Origin;

/// Stores that are used to build plugin parts. Game thread only.
pub(crate) struct Plugins<'a> {
    pub world: &'a World,
    pub pairs: &'a Pairs,
    pub red: &'a RedStack,
    /// Receives the parts of ended conjugates.
    pub finalizer: &'a Finalizer,
    pub hooks: &'a RefCell<ClassHookTable>,
}

impl Plugins<'_> {
    #[inline]
    fn hooks_of(&self, class: &Class) -> Option<Rc<ClassHooks>> {
        self.hooks.borrow().get(class.id).cloned()
    }

    pub(crate) fn key_of(&self, object: ObjectHandle) -> Option<ConjugateKey> {
        self.world.objects.conjugate(object).and_then(ConjugateKey::from_word)
    }

    /// Builds the parts of one object, from base to derived. If a red constructor fails, passes the completed parts to the finalizer, and
    /// returns the error with the class that declares the red constructor.
    #[inline]
    pub(crate) fn build(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), Box<Unbuilt>> {
        self.build_with(object, class, None).map(|_| ())
    }

    /// Variant of [`Plugins::build`] that passes the packed fields of an object with a single part to its red constructor. Returns the
    /// number of kept fields that the constructor has restored. Returns `None` if the caller must restore the fields of the object.
    pub(crate) fn rebuild(
        &self,
        object: ObjectHandle,
        class: &Rc<Class>,
        packed: &PackedFields,
    ) -> Result<Option<u64>, Box<Unbuilt>> {
        self.build_with(object, class, Some(packed))
    }

    /// Code of [`Plugins::build`] and [`Plugins::rebuild`]. Inlined into both, so that `build` has no code for packed fields.
    #[inline(always)]
    fn build_with(
        &self,
        object: ObjectHandle,
        class: &Rc<Class>,
        packed: Option<&PackedFields>,
    ) -> Result<Option<u64>, Box<Unbuilt>> {
        let mut derived = class;
        while derived.origin != Origin::Dynamic {
            let Some(base) = &derived.base else { return Ok(None) };
            derived = base;
        }
        let Some(hooks) = self.hooks_of(derived) else { return Err(unavailable(derived)) };
        let begun = self.world.objects.begin_plugin_part(object, || self.pairs.begin_red(&hooks));
        let Some((key, plugin_part)) = begun else { return Err(stale(object, class)) };
        let mut kept = None;
        let built = match derived.base.as_ref().is_some_and(|base| base.has_plugin_part()) {
            true => self.build_chain(key, object, derived).and_then(|()| {
                let whole = self.pairs.finish(key, plugin_part);
                whole.map_err(|error| unbuilt(class, CallError::other(error.to_string())))
            }),
            false => {
                kept = packed.and_then(|packed| packed.only(object, derived.id)).map(PackedKept::new);
                self.build_only((key, plugin_part), object, derived, &hooks, kept.as_mut())
            }
        };
        match built {
            Ok(plugin_part) => {
                // Has an effect: `finish` has succeeded, so the conjugate has not ended, and the object is alive.
                self.world.objects.finish_plugin_part(object, plugin_part);
                Ok(kept.filter(|kept| kept.restored != 0).map(|_| hooks.hooks.kept_count.into()))
            }
            Err(failed) => {
                self.end(object);
                Err(failed)
            }
        }
    }

    /// Builds the part of an object with a single dynamic class. This part completes the conjugate.
    #[inline(always)]
    fn build_only(
        &self,
        (key, plugin_part): (ConjugateKey, PluginPart),
        object: ObjectHandle,
        class: &Rc<Class>,
        hooks: &Rc<ClassHooks>,
        kept: Option<&mut PackedKept>,
    ) -> Result<PluginPart, Box<Unbuilt>> {
        let ptr = self.construct(object, class, hooks, kept)?;
        let finished = self.pairs.finish_with(key, ptr, plugin_part);
        finished.ok_or_else(|| self.too_late(object, class, Part { ptr, of: Rc::clone(hooks) }))
    }

    /// Builds the parts of an object with several dynamic classes, base first.
    fn build_chain(&self, key: ConjugateKey, object: ObjectHandle, class: &Rc<Class>) -> Result<(), Box<Unbuilt>> {
        if let Some(base) = &class.base {
            self.build_chain(key, object, base)?;
        }
        if class.origin != Origin::Dynamic {
            return Ok(());
        }
        let Some(hooks) = self.hooks_of(class) else { return Err(unavailable(class)) };
        let ptr = self.construct(object, class, &hooks, None)?;
        let pushed = self.pairs.push_part(key, Part { ptr, of: hooks });
        pushed.map_err(|part| self.too_late(object, class, part))
    }

    /// Runs the red constructor of one class.
    #[inline(always)]
    fn construct(
        &self,
        object: ObjectHandle,
        class: &Rc<Class>,
        hooks: &ClassHooks,
        kept: Option<&mut PackedKept>,
    ) -> Result<PartPtr, Box<Unbuilt>> {
        let Some(memory) = self.world.objects.memory(object) else { return Err(stale(object, class)) };
        let mut ptr = PartPtr::NONE;
        let kept: *mut PackedKept = kept.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let opened = self.red.open_hook(&hooks.gate, &hooks.names.red);
        let frame = opened.map_err(|error| unbuilt(class, error))?;
        let entered = hooks.gate.enter_in(frame.is_counted()).and_then(|_inside| {
            reported(|failure| {
                let mut call = call_of(object, memory, PartPtr::NONE, failure);
                call.params = kept.cast();
                // SAFETY: the gate is open, so the image is mapped. `memory` belongs to the live object, and persists until the next safe
                // point. `kept` is null or a live record with bytes of a class with an equal fingerprint. The hook writes `ptr` only if it
                // succeeds.
                unsafe { (hooks.hooks.red_constructor)(&mut call, &mut ptr) }
            })
        });
        entered.map(|()| ptr).map_err(|error| unbuilt(class, *error))
    }

    /// Passes a part to the finalizer, because the conjugate of the part has ended during the construction. Returns the error of this
    /// construction.
    #[cold]
    fn too_late(&self, object: ObjectHandle, class: &Rc<Class>, part: Part) -> Box<Unbuilt> {
        self.finalizer.defer(|ended| ended.push(part));
        stale(object, class)
    }

    /// Ends the conjugate of an object, and passes the parts of the conjugate to the finalizer.
    pub(crate) fn end(&self, object: ObjectHandle) {
        if let Some(key) = self.key_of(object) {
            self.world.objects.set_plugin_part(object, PluginPart::NONE);
            let release = |ended: &mut Vec<Part>| self.pairs.release(key, ended);
            match self.red.depth() {
                0 => self.finalizer.end(release),
                _ => self.finalizer.defer(release),
            }
        }
    }

    /// Calls `save` for plugin parts with the hooks `hooks`. Each part is listed with its object. Stops at the first part that rejects the
    /// call, and returns its error. Also returns the number of saved parts. The parts share one red frame. No plugin author can observe
    /// this frame if the saved values are of standard types. Other parts are passed one by one.
    fn save_each(
        &self,
        hooks: &ClassHooks,
        parts: impl Iterator<Item = (ObjectHandle, PartPtr)>,
        mut save: impl FnMut(ObjectHandle, PartPtr, &mut Failure) -> Status,
    ) -> (usize, Result<(), CallError>) {
        let mut done = 0;
        let saved = self.red.call_hook(&hooks.gate, &hooks.names.keep, |failure| {
            for (object, part) in parts {
                let status = save(object, part, failure);
                if status != Status::OK {
                    return status;
                }
                done += 1;
            }
            Status::OK
        });
        (done, saved)
    }

    /// Passes the kept fields of plugin parts to `put`, by name. See [`Plugins::save_each`] for the other arguments and the result.
    pub(super) fn save_named(
        &self,
        hooks: &ClassHooks,
        parts: impl Iterator<Item = (ObjectHandle, PartPtr)>,
        put: &mut PutKept<'_>,
    ) -> (usize, Result<(), CallError>) {
        self.save_each(hooks, parts, |object, part, failure| {
            let mut list = KeptList { object, class: &hooks.path, put: &mut *put };
            let sink = KeepSink { context: (&raw mut list).cast(), put: put_kept };
            // Plugin code may destroy the object during this call. The part of the object exists until the next safe point.
            // SAFETY: both callers in `saving.rs` pass parts of the class of `hooks`. Parts are finalized at a safe point, which cannot
            // occur while the frame is open.
            unsafe { (hooks.hooks.save_kept)(part, &sink, failure) }
        })
    }

    /// Packs the kept fields of plugin parts as bytes, for the parts of the new class `class`. See [`Plugins::save_each`] for the other
    /// arguments and the result.
    pub(super) fn pack_parts(
        &self,
        hooks: &ClassHooks,
        class: ClassId,
        parts: impl Iterator<Item = (ObjectHandle, PartPtr)>,
        packed: &mut PackedFields,
    ) -> (usize, Result<(), CallError>) {
        self.save_each(hooks, parts, |object, part, failure| {
            let start = packed.bytes.len();
            let sink = KeepSink { context: (&raw mut packed.bytes).cast(), put: put_packed };
            // SAFETY: both callers in `saving.rs` pass parts of the class of `hooks`: the object's own part, or the cached part with the id
            // of this class. Parts are finalized at a safe point, which cannot occur while the frame is open. The context of `sink`
            // points to a buffer that only `put_packed` uses during the call.
            let status = unsafe { (hooks.hooks.pack_kept)(part, &sink, failure) };
            match status == Status::OK {
                true => packed.push(object, class),
                // The bytes of a part begin where the previous part ends.
                false => packed.bytes.truncate(start),
            }
            status
        })
    }

    /// Restores the packed fields of one object, and returns the number of restored fields. Returns an error if a plugin part cannot read
    /// the packed bytes.
    pub(crate) fn unpack_kept(&self, object: ObjectHandle, packed: &PackedFields) -> Result<u64, CallError> {
        let mut fields = 0;
        for (class, data) in packed.of(object) {
            // An object that was destroyed by its red constructor has no parts.
            let Some(key) = self.key_of(object) else { break };
            let part = self.pairs.part(key, class).ok_or_else(|| CallError::Unavailable {
                what: format!("the plugin part of {} for its kept fields", self.world.objects.display(object)),
            })?;
            self.red.call_hook(&part.gate, &part.names.keep, |failure| {
                // SAFETY: the part belongs to this module. No other code borrows the part between its red constructor and the commit. The
                // data is borrowed for the call, and was written by a class with an equal fingerprint.
                unsafe { (part.hooks.unpack_kept)(part.ptr, data.as_ptr(), data.len(), failure) }
            })?;
            fields += u64::from(part.hooks.kept_count);
        }
        Ok(fields)
    }

    /// Returns the current class that receives the kept fields of the class with this path. Returns `None` if a reload has removed the
    /// class.
    pub(crate) fn kept_class(&self, class: &str) -> Option<ClassId> {
        self.world.types.class_by_path(class).map(|class| class.id)
    }

    /// Restores a kept field under its current name. `class` is the current class of the field, and `all` contains all kept fields of the
    /// object that are saved by name. If the part of `class` no longer declares the field, tries the remaining parts of the object, because
    /// the declaration may have moved to a base class or a derived class. Returns [`Misfit`] if no part accepts the field, with the path of
    /// the class that declares the field now. If no class declares the field, returns the path of the class that saved the field.
    pub(crate) fn load_kept(
        &self,
        object: ObjectHandle,
        (field, class): (KeptView<'_>, Option<ClassId>),
        (all, packed): (&[KeptView<'_>], &PackedFields),
    ) -> Result<(), (Misfit, Rc<str>)> {
        let of_class = |misfit| (misfit, Rc::clone(field.class));
        let key = self.key_of(object).ok_or_else(|| of_class(Misfit::Gone))?;
        let own = class.and_then(|class| self.pairs.part(key, class));
        let loaded = own.map_or(Err(Misfit::Gone), |part| self.load_into(&part, field, all));
        if loaded != Err(Misfit::Gone) {
            return loaded.map_err(of_class);
        }
        // A part with packed fields declares the fields of its earlier build, so no field has moved to this part.
        let has_own = |part: &Part| {
            let is_packed = packed.of(object).any(|(of, _)| of == part.class);
            is_packed || self.is_saved(part, field.name, all)
        };
        let parts = self.pairs.parts(key);
        let others = parts.iter().filter(|part| Some(part.class) != class && !has_own(part));
        let mut moved = others.map(|part| (part, self.load_into(part, field, all)));
        match moved.find(|(_, loaded)| *loaded != Err(Misfit::Gone)) {
            Some((part, loaded)) => loaded.map_err(|misfit| (misfit, Rc::clone(&part.path))),
            None => loaded.map_err(of_class),
        }
    }

    /// Checks if `all` contains a field with this name of the class of this part.
    fn is_saved(&self, part: &Part, name: &str, all: &[KeptView<'_>]) -> bool {
        all.iter().any(|other| **other.name == *name && self.kept_class(other.class) == Some(part.class))
    }

    /// Passes a kept field to one plugin part. Does not restore a renamed field if `all` already contains a field with the new name, or a
    /// field whose name precedes the name of this field among the earlier names.
    fn load_into(&self, part: &Part, field: KeptView<'_>, all: &[KeptView<'_>]) -> Result<(), Misfit> {
        let load = |name: &str| {
            let (name, data) = (TextView::of(name), field.data);
            self.red.call_hook(&part.gate, &part.names.keep, |failure| {
                // SAFETY: the part belongs to this module. No other code borrows the part before its kept fields are restored. Name
                // and data are borrowed for the call.
                unsafe { (part.hooks.load_kept)(part.ptr, name, data.as_ptr(), data.len(), failure) }
            })
        };
        let mut loaded = load(field.name);
        if matches!(loaded, Err(CallError::NotFound { .. })) {
            let names_of = |name: &str| self.world.types.names_of_member(std::iter::once(&*part.path), name);
            let is_known = |name: &str| all.iter().any(|other| other.class == field.class && **other.name == *name);
            let is_first = |name: &str| {
                let first = names_of(name).into_iter().find(|name| **name == **field.name || is_known(name));
                first.is_some_and(|first| *first == **field.name)
            };
            let names = names_of(field.name);
            let free = names.iter().skip(1).filter(|name| !self.is_saved(part, name, all) && is_first(name));
            let mut renamed = free.map(|name| load(name));
            loaded = renamed.find(|loaded| !matches!(loaded, Err(CallError::NotFound { .. }))).unwrap_or(loaded);
        }
        loaded.map_err(|error| match error {
            CallError::NotFound { .. } => Misfit::Gone,
            CallError::Other { message } => Misfit::Failed(message),
            error => Misfit::Failed(error.to_string()),
        })
    }

    /// Checks if two saved fields of the class are one kept field, possibly under different names.
    pub(crate) fn is_same_field(&self, [one, other]: [KeptView<'_>; 2], class: ClassId) -> bool {
        let Some(class) = self.world.types.class(class) else { return false };
        let names = self.world.types.names_of_member(std::iter::once(&*class.path), one.name);
        names.iter().any(|name| **name == **other.name)
    }

    /// Calls PostInitProperties of the most derived class, among `class` and its bases, that a module declares with this hook. The hook may
    /// call the hook of its base class.
    pub(crate) fn post_init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), Box<Unbuilt>> {
        for class in class.lineage().rev().filter(|class| class.origin == Origin::Dynamic) {
            let hooks = self.hooks_of(class).ok_or_else(|| unavailable(class))?;
            if let Some(invoke) = hooks.hooks.post_init_properties.into_option() {
                let called = self.hook(object, class, &hooks.gate, (&hooks.names.post_init, invoke));
                return called.map_err(|error| unbuilt(class, error));
            }
        }
        Ok(())
    }

    /// Runs a hook of `class`. `gate` is the gate of the class's module.
    fn hook(
        &self,
        object: ObjectHandle,
        class: &Class,
        gate: &Gate,
        (name, invoke): (&FrameName, Invoke),
    ) -> Result<(), CallError> {
        let memory = self.world.objects.memory(object).ok_or(CallError::Stale { handle: object })?;
        let found = self.pairs.find_part(&self.world.objects, object, class.id);
        let part = found.filter(|_| gate.is_open()).ok_or_else(|| match self.key_of(object) {
            None => CallError::Stale { handle: object },
            Some(_) => CallError::Unavailable {
                what: format!("the plugin part of {} for {}", self.world.objects.display(object), class.path),
            },
        })?;
        self.red.call_hook(gate, name, |failure| {
            let mut call = call_of(object, memory, part, failure);
            // SAFETY: object, memory and part belong together, because they were looked up for this class just now. Hooks take no
            // parameters.
            unsafe { (invoke.0)(&mut call) }
        })
    }
}

/// Receives a kept field: the object, the path of the declaring class, the name of the field, and the value in CBOR.
pub(crate) type PutKept<'a> = dyn FnMut(ObjectHandle, &Rc<str>, &str, &[u8]) + 'a;

/// Context of the sink that receives the kept fields of one part.
struct KeptList<'a> {
    object: ObjectHandle,
    class: &'a Rc<str>,
    put: &'a mut PutKept<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A reload has removed the class, or the class no longer declares the kept field.
    Gone,
    /// The field rejects the saved value, or reading the saved value failed or panicked. Contains the error message.
    Failed(String),
}

/// # Safety
/// `context` must be the list that the host passes to `save_kept` together with this sink. `name` and `data` must be readable during the
/// call.
unsafe extern "C" fn put_kept(context: *mut (), name: TextView, data: *const u8, len: usize) {
    // SAFETY: the caller promises that `context` is the list of the sink, that `name` is readable, and that `data` has `len` readable
    // bytes. No other code uses the list.
    let (list, name, data) = unsafe {
        let list = &mut *context.cast::<KeptList<'_>>();
        (list, name.bytes(), TextView { data, len }.bytes())
    };
    (list.put)(list.object, list.class, &String::from_utf8_lossy(name), data);
}

/// # Safety
/// `context` must be the buffer that the host passes to `pack_kept` together with this sink. `data` must be readable during the call.
unsafe extern "C" fn put_packed(context: *mut (), _name: TextView, data: *const u8, len: usize) {
    // SAFETY: the caller promises that `context` is the buffer of the sink, and that `data` has `len` readable bytes. No other code uses
    // the buffer.
    let (bytes, data) = unsafe { (&mut *context.cast::<Vec<u8>>(), TextView { data, len }.bytes()) };
    bytes.extend_from_slice(data);
}

fn call_of(object: ObjectHandle, memory: *mut u8, part: PartPtr, failure: &mut Failure) -> Call<'_> {
    Call { object, memory, part: part.0, params: std::ptr::null_mut(), failure }
}

fn step_error(class: &Class, error: CallError) -> StepError {
    StepError::from(error).of(&class.path)
}

#[derive(Debug)]
pub(crate) struct Unbuilt {
    pub class: Rc<Class>,
    pub error: CallError,
}

impl From<Box<Unbuilt>> for StepError {
    fn from(failed: Box<Unbuilt>) -> Self {
        let Unbuilt { class, error } = *failed;
        step_error(&class, error)
    }
}

#[cold]
fn unbuilt(class: &Rc<Class>, error: CallError) -> Box<Unbuilt> {
    Box::new(Unbuilt { class: Rc::clone(class), error })
}

#[cold]
fn stale(object: ObjectHandle, class: &Rc<Class>) -> Box<Unbuilt> {
    unbuilt(class, CallError::Stale { handle: object })
}

#[cold]
fn unavailable(class: &Rc<Class>) -> Box<Unbuilt> {
    unbuilt(class, gone(class))
}

fn gone(class: &Class) -> CallError {
    CallError::Unavailable { what: format!("the module of {}", class.path) }
}

impl ConstructionHooks for Plugins<'_> {
    fn build_conjugate(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        Ok(self.build(object, class)?)
    }

    fn class_constructor(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        let run = || -> Result<(), CallError> {
            let hooks = self.hooks_of(class).ok_or_else(|| gone(class))?;
            let invoke = hooks.hooks.class_constructor.into_option();
            invoke.map_or(Ok(()), |invoke| self.hook(object, class, &hooks.gate, (&hooks.names.class, invoke)))
        };
        run().map_err(|error| step_error(class, error))
    }

    fn has_class_constructor(&self, class: &Rc<Class>) -> bool {
        // Also returns `true` if the module of the class has ended, so that the constructor step runs and reports the error.
        self.hooks.borrow().get(class.id).is_none_or(|hooks| hooks.hooks.class_constructor.is_some())
    }

    fn has_post_init(&self, class: &Rc<Class>) -> bool {
        self.hooks.borrow().get(class.id).is_none_or(|hooks| hooks.hooks.post_init_properties.is_some())
    }

    fn plugin_post_init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        Ok(self.post_init(object, class)?)
    }

    fn end_conjugate(&self, object: ObjectHandle) {
        self.end(object);
        drop(self.pairs.take_unbuilt(object));
    }
}
