//! The root: one value that owns the stores of a host and wires them together. No static holds a runtime; a process
//! may have several, each on its own thread.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::border::CallError;
use crate::bridge::calls::{Dispatch, call_with_values};
use crate::bridge::core::Core;
use crate::builder::Builder;
use crate::conjugate::Color;
use crate::conjugate::pairs::ConjugateKey;
use crate::counters::Counters;
use crate::dynamic_call::{self, Signature};
use crate::error::Error;
use crate::handles::{Name, ObjectHandle, ZCallHandle};
use crate::load::master::{self, Loads, Unload};
use crate::load::state::ContextState;
use crate::native::{DestroyHook, Ticker};
use crate::object::World;
use crate::object::birth::{BirthArgs, birth};
use crate::object::class::{Class, Origin};
use crate::object::collect::unreachable;
use crate::object::value::Value;
use crate::reload::report::Reload;
use crate::reload::transaction;
use crate::reload::watch::FileWatch;

/// What one tick may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Seconds of game time that the tick stands for.
    pub seconds: f32,
}

impl Budget {
    /// One frame at 60 Hz.
    pub fn frame() -> Self {
        Self::seconds(1.0 / 60.0)
    }

    /// A frame of so many seconds.
    pub fn seconds(seconds: f32) -> Self {
        Self { seconds }
    }
}

/// How a runtime ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shutdown {
    /// What could not be ended: images that stay mapped, and why.
    pub left: Vec<String>,
}

impl Shutdown {
    /// Whether nothing was left, as a result.
    ///
    /// # Errors
    /// What was left.
    pub fn into_result(self) -> Result<(), Error> {
        if self.left.is_empty() {
            return Ok(());
        }
        Err(CallError::other(format!("not all could be ended: {}", self.left.join("; "))).into())
    }
}

struct Inner {
    core: Rc<Core>,
    loads: Loads,
    tickers: RefCell<Vec<Ticker>>,
    /// What is under way that no other such thing may interrupt.
    busy: Cell<Option<&'static str>>,
    request: RefCell<Option<Vec<PathBuf>>>,
    reloads: RefCell<Vec<Reload>>,
    watch: RefCell<Option<FileWatch>>,
    committed: Cell<u64>,
    rolled_back: Cell<u64>,
    collect: Cell<bool>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.loads.master().is_some() {
            tracing::debug!("the runtime is dropped with a living Master: unloading it");
            let _left = master::unload(&self.core, &self.loads);
        }
    }
}

/// Something is under way until this is dropped.
struct Busy<'a>(&'a Cell<Option<&'static str>>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// A host: its objects, its classes, and the modules loaded into it. A clone is another handle to the same host. Game
/// thread only, which the compiler sees to.
#[derive(Clone)]
pub struct Runtime {
    inner: Rc<Inner>,
}

impl Runtime {
    /// A host of finished stores.
    pub(crate) fn of(core: Rc<Core>, loads: Loads, tickers: Vec<Ticker>, before_destroy: Vec<DestroyHook>) -> Self {
        let inner = Inner {
            core,
            loads,
            tickers: RefCell::new(tickers),
            busy: Cell::default(),
            request: RefCell::default(),
            reloads: RefCell::default(),
            watch: RefCell::default(),
            committed: Cell::default(),
            rolled_back: Cell::default(),
            collect: Cell::default(),
        };
        let runtime = Self { inner: Rc::new(inner) };
        let weak = Rc::downgrade(&runtime.inner);
        let tell = move |object| {
            if let Some(inner) = weak.upgrade() {
                before_destroy.iter().for_each(|hook| hook(&Self { inner: Rc::clone(&inner) }, object));
            }
        };
        // The core is this runtime's own and new.
        let _first = runtime.inner.core.before_end.set(Box::new(tell));
        runtime
    }

    /// Starts a builder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Loads libraries into a new Master load context.
    ///
    /// # Errors
    /// Why not: the file, the check, the panic of a main or of a class default object. Nothing of them is left then.
    pub fn create_master(&self, libraries: &[impl AsRef<Path>]) -> Result<(), Error> {
        let _busy = self.at_safe_point("creating the Master")?;
        Ok(master::create(&self.inner.core, &self.inner.loads, &owned(libraries))?)
    }

    /// Replaces the modules of the Master by `libraries`, keeping every object. A reload that fails is rolled back,
    /// and its report says why.
    ///
    /// # Errors
    /// When there is no Master, or plugin code is on the stack.
    pub fn reload(&self, libraries: &[impl AsRef<Path>]) -> Result<Reload, Error> {
        let _busy = self.at_safe_point("a reload")?;
        let report = transaction::reload(&self.inner.core, &self.inner.loads, &owned(libraries))?;
        let count = if report.is_committed() { &self.inner.committed } else { &self.inner.rolled_back };
        count.set(count.get() + 1);
        self.inner.core.world.objects.free_graveyard();
        Ok(report)
    }

    /// Asks for a reload at the next safe point; a later request replaces an earlier one that was not yet done. Its
    /// report comes out of [`Runtime::take_reloads`].
    pub fn request_reload(&self, libraries: Vec<PathBuf>) {
        *self.inner.request.borrow_mut() = Some(libraries);
    }

    /// The reports of reloads done at safe points since the last time.
    pub fn take_reloads(&self) -> Vec<Reload> {
        self.inner.reloads.take()
    }

    /// Watches the files the Master was made from; a changed and complete one is reloaded at the next safe point.
    ///
    /// # Errors
    /// When there is no Master, or its folders cannot be watched.
    pub fn watch(&self) -> Result<(), Error> {
        let master = self.inner.loads.master().ok_or(crate::load::error::LoadError::NoMaster)?;
        *self.inner.watch.borrow_mut() = Some(FileWatch::new(&master.paths)?);
        Ok(())
    }

    /// Unloads the Master: objects of its classes are destroyed, its modules ended and unmapped.
    ///
    /// # Errors
    /// When there is none, or plugin code is on the stack.
    pub fn unload_master(&self) -> Result<Unload, Error> {
        let _busy = self.at_safe_point("unloading the Master")?;
        let unload = master::unload(&self.inner.core, &self.inner.loads)?;
        self.inner.core.world.objects.free_graveyard();
        Ok(unload)
    }

    /// The generation of the living Master; zero without one.
    pub fn generation(&self) -> u64 {
        self.inner.loads.master().map_or(0, |master| master.generation.0)
    }

    /// The modules of the living Master, dependencies first: name and version.
    pub fn modules(&self) -> Vec<(String, String)> {
        let modules = self.inner.loads.master().map(|master| master.modules).unwrap_or_default();
        modules.iter().map(|module| (module.name().to_owned(), module.info().version.to_string())).collect()
    }

    /// Every generation of the Master that is not dead, and how far its life has come; one whose images cannot be
    /// unmapped stays in the list.
    pub fn contexts(&self) -> Vec<(u64, ContextState)> {
        self.inner.loads.states().into_iter().map(|(generation, state)| (generation.0, state)).collect()
    }

    /// Who began the plugin half of an object; `None` for an object that has none, or whose half has expired.
    pub fn color_of(&self, object: ObjectHandle) -> Option<Color> {
        let word = self.inner.core.world.objects.conjugate(object)?;
        self.inner.core.pairs.color(ConjugateKey::from_word(word)?)
    }

    /// Images that stay mapped, and why.
    pub fn parked(&self) -> Vec<String> {
        self.inner.loads.parked()
    }

    /// Where the private copies of libraries are.
    pub fn stage_dir(&self) -> PathBuf {
        self.inner.loads.stage_dir.path().to_owned()
    }

    /// Makes an object of a class, kept until it is destroyed.
    ///
    /// # Errors
    /// When there is no such class, or a step of the birth failed; nothing of the object is left then.
    pub fn spawn(&self, class: &str) -> Result<ObjectHandle, Error> {
        self.spawn_in(class, ObjectHandle::NONE)
    }

    /// Makes an object inside another. What keeps it from collection is a property that refers to it, as for any object
    /// that is no root.
    ///
    /// # Errors
    /// As [`Runtime::spawn`].
    pub fn spawn_in(&self, class: &str, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        let class = self.class(class)?;
        let core = &self.inner.core;
        if !outer.is_none() && !self.is_alive(outer) {
            return Err(CallError::Stale { handle: outer }.into());
        }
        if let Some(action) = self.inner.busy.get() {
            return Err(Error::NotASafePoint { action: "spawning an object", frame: action.to_owned() });
        }
        let args = BirthArgs { outer, root: outer.is_none(), ..BirthArgs::default() };
        Ok(birth(&core.world, &core.plugins(), &class, args)?)
    }

    /// Destroys an object and its subobjects. Without effect on one that is gone, and, but for a line in the log, in a
    /// listener of a reload that is under way.
    pub fn destroy(&self, object: ObjectHandle) {
        match self.inner.core.end_object(object) {
            Ok(()) | Err(CallError::Stale { .. }) => {}
            Err(error) => tracing::warn!(%object, %error, "an object was not destroyed"),
        }
    }

    /// Whether the object lives.
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.inner.core.world.objects.is_alive(object)
    }

    /// The living objects in creation order, without class default objects and their templates.
    pub fn objects(&self) -> Vec<ObjectHandle> {
        self.inner.core.world.objects.living()
    }

    /// The path of an object's class.
    pub fn class_of(&self, object: ObjectHandle) -> Option<String> {
        Some(self.inner.core.world.objects.class(object)?.path.to_string())
    }

    /// An object's name.
    pub fn name_of(&self, object: ObjectHandle) -> Option<String> {
        let world = &self.inner.core.world;
        Some(world.names.text(world.objects.name(object)?).to_string())
    }

    /// The object that contains another; none for one that stands alone.
    pub fn outer_of(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.inner.core.world.objects.outer(object).filter(|outer| !outer.is_none())
    }

    /// Whether an object is of the class of this path, or of a subclass.
    pub fn is_a(&self, object: ObjectHandle, class: &str) -> bool {
        let world = &self.inner.core.world;
        match (world.objects.class(object), world.types.class_by_path(class)) {
            (Some(found), Some(wanted)) => found.is_a(&wanted),
            _ => false,
        }
    }

    /// Whether the first path names a class that is, or extends, the class of the second.
    pub fn is_subclass(&self, class: &str, base: &str) -> bool {
        let types = &self.inner.core.world.types;
        match (types.class_by_path(class), types.class_by_path(base)) {
            (Some(class), Some(base)) => class.is_a(&base),
            _ => false,
        }
    }

    /// Paths of the classes that the modules of the Master emitted.
    pub fn dynamic_classes(&self) -> Vec<String> {
        let classes = self.inner.core.world.types.classes();
        classes.iter().filter(|class| class.origin == Origin::Dynamic).map(|class| class.path.to_string()).collect()
    }

    /// Reads a property by name.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn get(&self, object: ObjectHandle, property: &str) -> Result<Value, Error> {
        self.property(object, property)?;
        Ok(self.inner.core.world.objects.read_value(object, property)?)
    }

    /// Writes a property by name.
    ///
    /// # Errors
    /// When the object is gone, has no such property, or the property holds another type.
    pub fn set(&self, object: ObjectHandle, property: &str, value: &Value) -> Result<(), Error> {
        self.property(object, property)?;
        Ok(self.inner.core.world.objects.write_value(object, property, value)?)
    }

    /// The names of an object's properties, base first.
    pub fn properties_of(&self, object: ObjectHandle) -> Vec<String> {
        let class = self.inner.core.world.objects.class(object);
        class
            .map(|class| class.properties.iter().map(|property| property.text.to_string()).collect())
            .unwrap_or_default()
    }

    /// Calls a function by name; an override answers.
    ///
    /// # Errors
    /// When the object is gone or has no such function, the arguments do not fit, or the body fails.
    pub fn call(&self, object: ObjectHandle, function: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let world = &self.inner.core.world;
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let function = class.find_function(function).ok_or_else(|| Error::UnknownMember {
            class: class.path.to_string(),
            what: "function",
            name: function.to_owned(),
        })?;
        Ok(call_with_values(world, function, object, arguments, Dispatch::Virtual)?)
    }

    /// Calls by ZCall name with values. For tools and tests: static callers resolve once and build slots themselves.
    ///
    /// # Errors
    /// When the name leads nowhere, the arguments do not fit, or the callee fails.
    pub fn zcall(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        Ok(dynamic_call::zcall(&self.inner.core, name, arguments)?)
    }

    /// Looks a ZCall name up, to call it by handle from then on. A handle dies with the generation of what it calls,
    /// and is never another one.
    ///
    /// # Errors
    /// When the name leads nowhere; the error lists who was asked.
    pub fn zcall_resolve(&self, name: &str) -> Result<ZCallHandle, Error> {
        Ok(dynamic_call::resolve(&self.inner.core, name)?)
    }

    /// Calls by handle with values.
    ///
    /// # Errors
    /// When the generation of the handle is over, the arguments do not fit, or the callee fails.
    pub fn zcall_handle(&self, handle: ZCallHandle, arguments: &[Value]) -> Result<Option<Value>, Error> {
        Ok(dynamic_call::call(&self.inner.core, handle, arguments)?)
    }

    /// Registers a host function under `ex:/name`. Modules and the host call it alike.
    ///
    /// # Errors
    /// When the name is taken or is no name.
    pub fn register(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        let weak = Rc::downgrade(&self.inner);
        let body = move |values: &[Value]| {
            let inner = weak.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })?;
            body(&Runtime { inner }, values)
        };
        Ok(dynamic_call::register(&self.inner.core, name, signature, Rc::new(body))?)
    }

    /// The name of a text.
    pub fn intern(&self, text: &str) -> Name {
        self.inner.core.world.names.intern(text)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> String {
        self.inner.core.world.names.text(name).to_string()
    }

    /// Names, types and objects, for native code.
    pub fn world(&self) -> &World {
        &self.inner.core.world
    }

    /// One frame: everything that ticks is called, then the runtime stands at its safe point.
    pub fn tick(&self, budget: Budget) {
        let mut tickers = self.inner.tickers.take();
        for ticker in &mut tickers {
            ticker(self, budget.seconds);
        }
        // A ticker may have added tickers; they come after those that were there.
        tickers.append(&mut self.inner.tickers.borrow_mut());
        *self.inner.tickers.borrow_mut() = tickers;
        self.safe_point();
    }

    /// Does what waits for a safe point: requested reloads, a requested collection, freeing memory. Without effect
    /// while plugin code is on the stack.
    pub fn safe_point(&self) {
        if self.inner.core.red.depth() != 0 || self.inner.busy.get().is_some() {
            return;
        }
        self.inner.core.finalizer.release();
        for failure in self.inner.core.finalizer.failures() {
            tracing::warn!(module = %failure.module, error = %failure.error, "a finalizer failed since the last safe point");
        }
        let has_settled = self.inner.watch.borrow_mut().as_mut().is_some_and(FileWatch::has_settled);
        if let Some(master) = self.inner.loads.master().filter(|_| has_settled) {
            self.request_reload(master.paths);
        }
        let request = self.inner.request.take();
        if let Some(libraries) = request {
            match self.reload(&libraries) {
                Ok(report) => self.inner.reloads.borrow_mut().push(report),
                Err(error) => tracing::error!(%error, "a requested reload was not done"),
            }
        }
        if self.inner.collect.take() {
            let _collected = self.collect();
        }
        self.inner.core.world.objects.free_graveyard();
    }

    /// Destroys every object that nothing keeps: no root, no reference in a property of a kept object. Returns how many.
    ///
    /// # Errors
    /// When plugin code is on the stack; the collection is done at the next safe point then.
    pub fn collect(&self) -> Result<usize, Error> {
        let _busy = self.at_safe_point("a collection").inspect_err(|_| self.inner.collect.set(true))?;
        let core = &self.inner.core;
        let dead = unreachable(&core.world, &[]);
        for object in &dead {
            // One that went with its owner is gone already.
            let _gone = core.end_object(*object);
        }
        core.finalizer.release();
        core.world.objects.free_graveyard();
        Ok(dead.len())
    }

    /// A number that two equal worlds share: living objects with their class, name, outer and all property values. What
    /// plugins keep on their own side is not in it.
    pub fn digest(&self) -> u64 {
        let world = &self.inner.core.world;
        let mut hasher = DefaultHasher::new();
        for object in self.objects() {
            (object, world.objects.name(object), world.objects.outer(object)).hash(&mut hasher);
            // A living object has a body.
            let _body = world.objects.with_body(object, |body| {
                body.class().path.hash(&mut hasher);
                body.view().hash(&mut hasher);
            });
        }
        hasher.finish()
    }

    /// Numbers since the start.
    pub fn counters(&self) -> Counters {
        let core = &self.inner.core;
        let counted = &core.world.counters;
        Counters {
            objects: self.objects().len() as u64,
            births: counted.births.get(),
            conjugates_built: core.pairs.built(),
            class_constructors_run: counted.class_constructors_on_instances.get(),
            class_constructors_rerun: counted.class_constructors_rerun.get(),
            reloads: self.inner.committed.get(),
            rollbacks: self.inner.rolled_back.get(),
        }
    }

    /// Ends the runtime in order: the Master is unloaded, and what could not be ended is reported. Other handles to
    /// the runtime see a host without modules.
    pub fn shutdown(self) -> Shutdown {
        let _none = self.inner.watch.take();
        let unloaded = if self.generation() == 0 { Ok(()) } else { self.unload_master().map(drop) };
        match unloaded {
            Ok(()) => Shutdown { left: self.parked() },
            Err(error) => Shutdown { left: vec![error.to_string()] },
        }
    }

    /// Whether this is a safe point: no plugin code on the stack, and nothing under way that must not be interrupted. The
    /// caller's own action is under way while the guard lives.
    fn at_safe_point(&self, action: &'static str) -> Result<Busy<'_>, Error> {
        let open = self.inner.core.red.snapshot().last().map(|frame| frame.what.to_string());
        match open.or_else(|| self.inner.busy.get().map(str::to_owned)) {
            Some(frame) => Err(Error::NotASafePoint { action, frame }),
            None => {
                self.inner.busy.set(Some(action));
                Ok(Busy(&self.inner.busy))
            }
        }
    }

    fn class(&self, path: &str) -> Result<Rc<Class>, Error> {
        let found = self.inner.core.world.types.class_by_path(path);
        found.ok_or_else(|| Error::UnknownClass { path: path.to_owned() })
    }

    fn property(&self, object: ObjectHandle, name: &str) -> Result<(), Error> {
        let class = self.inner.core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        match class.find_property(name) {
            Some(_) => Ok(()),
            None => {
                Err(Error::UnknownMember { class: class.path.to_string(), what: "property", name: name.to_owned() })
            }
        }
    }
}

fn owned(paths: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.as_ref().to_owned()).collect()
}
