//! Builds plugin parts and runs their hooks: one part per dynamic class of the chain, base to derived. The object
//! floor decides when; this file enters the module.
#![expect(unsafe_code, reason = "enters module code through the function pointers of its descriptions")]

use std::ptr::dangling;
use std::rc::Rc;
use std::slice::from_raw_parts;

use alcedo_abi::call::{Call, Failure, Invoke};
use alcedo_abi::value::{KeepSink, TextView};

use crate::border::{CallError, reported};
use crate::cells::RefCell;
use crate::conjugate::class_hook_table::{ClassHookTable, ClassHooks};
use crate::conjugate::finalizer::Finalizer;
use crate::conjugate::pairs::{ConjugateKey, Pairs, Part};
use crate::conjugate::red::RedStack;
use crate::handles::{ObjectHandle, PartPtr};
use crate::object::World;
use crate::object::class::Class;
use crate::object::construction::{ConstructionHooks, StepError};
use crate::object::dormant::KeptField;
use crate::object::hot_columns::PluginPart;
use crate::object::origin::Origin;

/// The plugin side as the object floor sees it. Game thread only.
pub(crate) struct Plugins<'a> {
    /// Objects and classes.
    pub world: &'a World,
    /// The pairs.
    pub pairs: &'a Pairs,
    /// Open calls.
    pub red: &'a RedStack,
    /// Where ended parts go.
    pub finalizer: &'a Finalizer,
    /// The hooks of dynamic classes.
    pub hooks: &'a RefCell<ClassHookTable>,
}

impl Plugins<'_> {
    #[inline]
    fn hooks_of(&self, class: &Class) -> Option<Rc<ClassHooks>> {
        self.hooks.borrow().get(class.id).cloned()
    }

    /// The key of the conjugate of a living object.
    pub(crate) fn key_of(&self, object: ObjectHandle) -> Option<ConjugateKey> {
        self.world.objects.conjugate(object).and_then(ConjugateKey::from_word)
    }

    /// Builds the parts of one object, base to derived. On failure what was built goes to the finalizer.
    ///
    /// # Errors
    /// The red constructor's own error and the class it belongs to.
    pub(crate) fn build(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), Box<Unbuilt>> {
        let mut derived = class;
        while derived.origin != Origin::Dynamic {
            let Some(base) = &derived.base else { return Ok(()) };
            derived = base;
        }
        let Some(hooks) = self.hooks_of(derived) else { return Err(unavailable(derived)) };
        let (key, plugin_part) = self.pairs.begin_red(&hooks.gate);
        let _there = self.world.objects.set_plugin_part(object, plugin_part);
        let built = match derived.base.as_ref().is_some_and(|base| base.has_plugin_part()) {
            true => self.build_chain(key, object, derived).and_then(|()| {
                let whole = self.pairs.finish(key, plugin_part);
                whole.map_err(|error| unbuilt(class, CallError::other(error.to_string())))
            }),
            false => self.build_only(key, plugin_part, object, derived, hooks),
        };
        match built {
            Ok(plugin_part) => {
                // It is there, and the conjugate is its own: one that had ended meanwhile could not be finished.
                let _there = self.world.objects.set_plugin_part(object, plugin_part);
                Ok(())
            }
            Err(failed) => {
                self.end(object);
                Err(failed)
            }
        }
    }

    /// The part of the one dynamic class of a chain, which makes the conjugate whole.
    #[inline(always)]
    fn build_only(
        &self,
        key: ConjugateKey,
        plugin_part: PluginPart,
        object: ObjectHandle,
        class: &Rc<Class>,
        hooks: Rc<ClassHooks>,
    ) -> Result<PluginPart, Box<Unbuilt>> {
        let ptr = self.construct(object, class, &hooks)?;
        let finished = self.pairs.finish_with(key, Part { ptr, of: hooks }, plugin_part);
        finished.map_err(|part| self.too_late(object, class, part))
    }

    /// The parts of the dynamic classes of a chain, base first.
    fn build_chain(&self, key: ConjugateKey, object: ObjectHandle, class: &Rc<Class>) -> Result<(), Box<Unbuilt>> {
        if let Some(base) = &class.base {
            self.build_chain(key, object, base)?;
        }
        if class.origin != Origin::Dynamic {
            return Ok(());
        }
        let Some(hooks) = self.hooks_of(class) else { return Err(unavailable(class)) };
        let ptr = self.construct(object, class, &hooks)?;
        let pushed = self.pairs.push_part(key, Part { ptr, of: hooks });
        pushed.map_err(|part| self.too_late(object, class, part))
    }

    /// Runs the red constructor of one class.
    #[inline]
    fn construct(&self, object: ObjectHandle, class: &Rc<Class>, hooks: &ClassHooks) -> Result<PartPtr, Box<Unbuilt>> {
        let Some(memory) = self.world.objects.memory(object) else { return Err(stale(object, class)) };
        let mut ptr = PartPtr::NONE;
        let opened = self.red.open(&hooks.gate.tag().name, &hooks.names.red);
        let _frame = opened.map_err(|error| unbuilt(class, error))?;
        let entered = hooks.gate.enter().and_then(|_inside| {
            reported(|failure| {
                let mut call = call_of(object, memory, PartPtr::NONE, failure);
                // SAFETY: the gate is open, so the image is mapped; `memory` is the living object's and stays
                // until the next safe point; the hook writes `ptr` only when it succeeds.
                unsafe { (hooks.hooks.red_constructor)(&mut call, &mut ptr) }
            })
        });
        match entered {
            Ok(()) => Ok(ptr),
            Err(error) => Err(unbuilt(class, *error)),
        }
    }

    /// The conjugate ended while its part was made, which goes to the finalizer then.
    #[cold]
    fn too_late(&self, object: ObjectHandle, class: &Rc<Class>, part: Part) -> Box<Unbuilt> {
        self.finalizer.defer(vec![part]);
        stale(object, class)
    }

    /// Ends the conjugate of an object; its parts go to the finalizer thread.
    pub(crate) fn end(&self, object: ObjectHandle) {
        if let Some(key) = self.key_of(object) {
            let _there = self.world.objects.set_plugin_part(object, PluginPart::NONE);
            let parts = self.pairs.release(key);
            match self.red.depth() {
                0 => self.finalizer.finalize(parts),
                _ => self.finalizer.defer(parts),
            }
        }
    }

    /// The kept fields of one object, by class path and field name.
    ///
    /// # Errors
    /// When a field does not serialize.
    pub(crate) fn save_kept(&self, object: ObjectHandle) -> Result<Vec<KeptField>, CallError> {
        let Some(key) = self.key_of(object) else { return Ok(Vec::new()) };
        let mut kept = Vec::new();
        for part in self.pairs.parts(key) {
            let Some(class) = self.world.types.class(part.class) else { continue };
            let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
            let sink = KeepSink { context: (&raw mut fields).cast(), put: put_kept };
            // The author's code may end the object: what ends while a frame is open waits for the next safe point.
            self.red.call_module(&part.gate, &part.names.keep, |failure| {
                // SAFETY: the part is this module's. It is finalized at a safe point, and there is none while the frame is open.
                unsafe { (part.hooks.save_kept)(part.ptr, &sink, failure) }
            })?;
            kept.extend(fields.into_iter().map(|(name, data)| KeptField { class: class.path.to_string(), name, data }));
        }
        Ok(kept)
    }

    /// Puts a kept field back, under its name of today. `all` are the kept fields of the object: a renamed field takes no value if
    /// its new name has one.
    ///
    /// # Errors
    /// [`Misfit`] if no part accepts the field.
    pub(crate) fn load_kept(&self, object: ObjectHandle, field: &KeptField, all: &[KeptField]) -> Result<(), Misfit> {
        let types = &self.world.types;
        let parts = self.key_of(object).map(|key| self.pairs.parts(key)).unwrap_or_default();
        let path = types.redirected(&field.class);
        let is_of = |class: Rc<Class>| class.path == path;
        let part = parts.iter().find(|part| types.class(part.class).is_some_and(is_of)).ok_or(Misfit::Gone)?;
        let load = |name: &str| {
            let (name, data) = (TextView::of(name), &field.data);
            self.red.call_module(&part.gate, &part.names.keep, |failure| {
                // SAFETY: the part is this module's, nobody borrows it between its red constructor and the commit, and name and data are
                // lent for the call.
                unsafe { (part.hooks.load_kept)(part.ptr, name, data.as_ptr(), data.len(), failure) }
            })
        };
        let mut loaded = load(&field.name);
        if matches!(loaded, Err(CallError::NotFound { .. })) {
            let is_free = |name: &&String| !all.iter().any(|other| other.class == field.class && other.name == **name);
            let names = types.names_of_member(std::iter::once(&*path), &field.name);
            let mut renamed = names.iter().skip(1).filter(is_free).map(|name| load(name));
            loaded = renamed.find(|loaded| !matches!(loaded, Err(CallError::NotFound { .. }))).unwrap_or(loaded);
        }
        loaded.map_err(|error| match error {
            CallError::NotFound { .. } => Misfit::Gone,
            CallError::Other { message } => Misfit::Failed(message),
            error => Misfit::Failed(error.to_string()),
        })
    }

    fn memory(&self, object: ObjectHandle) -> Result<*mut u8, CallError> {
        self.world.objects.memory(object).ok_or(CallError::Stale { handle: object })
    }

    fn hook(&self, object: ObjectHandle, class: &Class, what: &Rc<str>, invoke: Invoke) -> Result<(), CallError> {
        let key = self.key_of(object).ok_or(CallError::Stale { handle: object })?;
        let part = self.pairs.part(key, class.id).ok_or_else(|| CallError::Unavailable {
            what: format!("the plugin part of {} for {}", self.world.objects.shown(object), class.path),
        })?;
        let memory = self.memory(object)?;
        self.red.call_module(&part.gate, what, |failure| {
            let mut call = call_of(object, memory, part.ptr, failure);
            // SAFETY: object, memory and part belong together: all three were looked up for this class just now, and hooks
            // take no parameters.
            unsafe { (invoke.0)(&mut call) }
        })
    }
}

/// Why a kept field was not put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The class, or the field of that name, is not kept any more.
    Gone,
    /// The field does not take the value, reading it panicked, or could not be tried: the words.
    Failed(String),
}

/// # Safety
/// `context` is the list that `save_kept` lent; `name` and `data` are readable for the call.
unsafe extern "C" fn put_kept(context: *mut (), name: TextView, data: *const u8, len: usize) {
    // Of nothing the address may be null.
    let at = |data: *const u8, len| if len == 0 { dangling() } else { data };
    // SAFETY: the caller promises the context of the sink, which nobody else uses, and as many readable bytes.
    let (fields, name, data) = unsafe {
        let fields = &mut *context.cast::<Vec<(String, Vec<u8>)>>();
        (fields, from_raw_parts(at(name.data, name.len), name.len), from_raw_parts(at(data, len), len))
    };
    fields.push((String::from_utf8_lossy(name).into_owned(), data.to_vec()));
}

fn call_of(object: ObjectHandle, memory: *mut u8, part: PartPtr, failure: &mut Failure) -> Call<'_> {
    Call { object, memory, part: part.0, params: std::ptr::null_mut(), failure }
}

fn step_error(class: &Class, error: CallError) -> StepError {
    StepError::from(error).of(&class.path)
}

/// The plugin part of an object was not built.
#[derive(Debug)]
pub(crate) struct Unbuilt {
    /// The class whose part it failed for.
    pub class: Rc<Class>,
    /// Why.
    pub error: CallError,
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
        self.build(object, class).map_err(|failed| {
            let Unbuilt { class, error } = *failed;
            step_error(&class, error)
        })
    }

    fn class_constructor(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        let run = || -> Result<(), CallError> {
            let hooks = self.hooks_of(class).ok_or_else(|| gone(class))?;
            match hooks.hooks.class_constructor.into_option() {
                Some(invoke) => self.hook(object, class, &hooks.names.class, invoke),
                None => Ok(()),
            }
        };
        run().map_err(|error| step_error(class, error))
    }

    fn has_class_constructor(&self, class: &Rc<Class>) -> bool {
        // A class whose module is gone has to say so when its turn comes.
        self.hooks.borrow().get(class.id).is_none_or(|hooks| hooks.hooks.class_constructor.is_some())
    }

    fn has_post_init(&self, class: &Rc<Class>) -> bool {
        self.hooks.borrow().get(class.id).is_none_or(|hooks| hooks.hooks.post_init_properties.is_some())
    }

    fn plugin_post_init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError> {
        // The most derived override wins, as for any virtual function; it may call its base itself.
        for class in class.lineage().rev().filter(|class| class.origin == Origin::Dynamic) {
            let hooks = self.hooks_of(class).ok_or_else(|| step_error(class, gone(class)))?;
            if let Some(invoke) = hooks.hooks.post_init_properties.into_option() {
                return self
                    .hook(object, class, &hooks.names.post_init, invoke)
                    .map_err(|error| step_error(class, error));
            }
        }
        Ok(())
    }

    fn end_conjugate(&self, object: ObjectHandle) {
        self.end(object);
    }
}
