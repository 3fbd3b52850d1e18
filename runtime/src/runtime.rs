//! The root: one value that owns the stores of a host and wires them together. No static holds a runtime; a process
//! may have several, each on its own thread.

mod births;
mod blacks;
mod collecting;
mod contexts;
mod ending;
mod links;
mod unloading;

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::border::CallError;
use crate::bridge::calls::{Dispatch, call_with_values};
use crate::bridge::core::Core;
use crate::bridge::tasks::{ErrandInfo, HostErrand};
use crate::builder::Builder;
use crate::cells::RefCell;
use crate::conjugate::Color;
use crate::conjugate::pairs::ConjugateKey;
use crate::counters::Counters;
use crate::dynamic_call::{self, Effect, Signature};
use crate::error::Error;
use crate::handles::{Name, ObjectHandle, ZCallHandle};
use crate::load::master::{self, Loads, Unload};
use crate::load::module::Module;
use crate::load::state::ContextState;
use crate::native::{DestroyHook, Ticker};
use crate::object::World;
use crate::object::class::Origin;
use crate::object::objects::RenameError;
use crate::object::value::Value;
use crate::poster::Poster;
use crate::reload::digest::{self, WorldDigest};
use crate::reload::report::Reload;
use crate::reload::requests::{self, Plan, ReloadScope, Request};
use crate::reload::transaction;
use crate::reload::watch::FileWatch;
use crate::watchdog::Entered;

pub use births::ClassRef;
pub use blacks::{AnyConjugate, ConjugateInfo};
pub use collecting::Collected;
pub use ending::{Drained, Shutdown};

/// What one tick may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Seconds of game time that the tick stands for.
    pub seconds: f32,
    /// Time that a collection in slices may take for its mark, if one is under way: a millisecond unless told otherwise.
    pub collection: Duration,
}

impl Budget {
    /// One frame at 60 Hz.
    pub fn frame() -> Self {
        Self::seconds(1.0 / 60.0)
    }

    /// A frame of so many seconds.
    pub fn seconds(seconds: f32) -> Self {
        Self { seconds, collection: Duration::from_millis(1) }
    }

    /// The same with so much time for a collection in slices.
    #[must_use]
    pub fn with_collection(self, collection: Duration) -> Self {
        Self { collection, ..self }
    }
}

struct Inner {
    core: Rc<Core>,
    loads: Loads,
    tickers: RefCell<Vec<Ticker>>,
    /// What is under way that no other such thing may interrupt.
    busy: Cell<Option<&'static str>>,
    requests: RefCell<Vec<Request>>,
    reloads: RefCell<Vec<Reload>>,
    watch: RefCell<Option<FileWatch>>,
    watch_scope: Cell<ReloadScope>,
    committed: Cell<u64>,
    rolled_back: Cell<u64>,
    /// Whether a mark in slices was asked for and is not done.
    slicing: Cell<bool>,
    collected: RefCell<Vec<Collected>>,
    unloads: RefCell<Vec<Unload>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.loads.master().is_some() {
            tracing::debug!("the runtime is dropped with a living Master: unloading it");
            let _left = master::unload(&self.core, &self.loads);
        }
        self.end_unloads();
    }
}

/// Something is under way until this is dropped.
struct Busy<'a>(&'a Cell<Option<&'static str>>, #[expect(dead_code, reason = "ends with it")] Entered<'a>);

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
            requests: RefCell::default(),
            reloads: RefCell::default(),
            watch: RefCell::default(),
            watch_scope: Cell::default(),
            committed: Cell::default(),
            rolled_back: Cell::default(),
            slicing: Cell::default(),
            collected: RefCell::default(),
            unloads: RefCell::default(),
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
        let weak = Rc::downgrade(&runtime.inner);
        let run = move |errand: HostErrand| {
            if let Some(inner) = weak.upgrade() {
                errand(&Self { inner });
            }
        };
        let _first = runtime.inner.core.tasks.run_for_host.set(Box::new(run));
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
        self.reload_for(&owned(libraries), ReloadScope::All, 0)
    }

    /// Replaces only those modules of the Master whose library is another build than the one loaded, and those that use
    /// them; `libraries` are all of the Master's. The others stay mapped in their generation: their plugin halves are not
    /// rebuilt, and handles to them stay valid. When no library has changed, nothing happens and the report says so.
    ///
    /// # Errors
    /// As [`Runtime::reload`].
    pub fn reload_changed(&self, libraries: &[impl AsRef<Path>]) -> Result<Reload, Error> {
        self.reload_for(&owned(libraries), ReloadScope::Changed, 0)
    }

    /// Reloads for so many requests; zero when it was asked for right here.
    fn reload_for(&self, libraries: &[PathBuf], scope: ReloadScope, answers: u64) -> Result<Reload, Error> {
        let _busy = self.at_safe_point("a reload")?;
        let mut report = transaction::reload(&self.inner.core, &self.inner.loads, libraries, scope)?;
        report.requests = answers;
        let count = if report.is_committed() { &self.inner.committed } else { &self.inner.rolled_back };
        count.set(count.get() + 1);
        self.inner.core.world.objects.free_graveyard();
        Ok(report)
    }

    /// Asks for a reload at the next safe point. Several requests until then are one reload, of the libraries named
    /// last; one that meets a request to unload is moot. The report, which says how many requests it answers, comes out of
    /// [`Runtime::take_reloads`].
    pub fn request_reload(&self, libraries: Vec<PathBuf>) {
        self.request_reload_of(libraries, ReloadScope::All);
    }

    /// Asks for a reload as [`Runtime::request_reload`] does, and says which modules it is to replace. Several requests are
    /// one reload that is as wide as any of them.
    pub fn request_reload_of(&self, libraries: Vec<PathBuf>, scope: ReloadScope) {
        self.inner.requests.borrow_mut().push(Request::Reload { libraries, scope });
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
        self.watch_for(ReloadScope::All)
    }

    /// Watches the files as [`Runtime::watch`] does, and replaces only what has changed and what uses it.
    ///
    /// # Errors
    /// As [`Runtime::watch`].
    pub fn watch_changed(&self) -> Result<(), Error> {
        self.watch_for(ReloadScope::Changed)
    }

    fn watch_for(&self, scope: ReloadScope) -> Result<(), Error> {
        let master = self.inner.loads.master().ok_or(crate::load::error::LoadError::NoMaster)?;
        *self.inner.watch.borrow_mut() = Some(FileWatch::new(&master.paths)?);
        self.inner.watch_scope.set(scope);
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

    /// The modules of the living Master, dependencies first: name and the generation it was loaded in, which is older than
    /// the Master's where a reload kept it.
    pub fn module_generations(&self) -> Vec<(String, u64)> {
        let modules = self.inner.loads.master().map(|master| master.modules).unwrap_or_default();
        let of = |module: &Rc<Module>| (module.name().to_owned(), module.gate().tag().generation.0);
        modules.iter().map(of).collect()
    }

    /// Every generation of the Master that is not dead, and how far its life has come; one whose images cannot be
    /// unmapped stays in the list.
    pub fn contexts(&self) -> Vec<(u64, ContextState)> {
        self.inner.loads.retirements.states().into_iter().map(|(generation, state)| (generation.0, state)).collect()
    }

    /// Who began the plugin half of an object; `None` for an object that has none, or whose half has expired.
    pub fn color_of(&self, object: ObjectHandle) -> Option<Color> {
        let word = self.inner.core.world.objects.conjugate(object)?;
        self.inner.core.pairs.color(ConjugateKey::from_word(word)?)
    }

    /// Images that stay mapped, and why.
    pub fn parked(&self) -> Vec<String> {
        let slims = self.inner.loads.hub.parked();
        self.inner.loads.retirements.parked().into_iter().chain(slims).collect()
    }

    /// Where the private copies of libraries are.
    pub fn stage_dir(&self) -> PathBuf {
        self.inner.loads.stage_dir.path().to_owned()
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

    /// Path of the class that an object waits for, where it is dormant: a reload took its class away. It has no plugin half
    /// then and is seen as an object of its nearest base; it wakes when the class returns.
    pub fn dormant_class(&self, object: ObjectHandle) -> Option<String> {
        self.inner.core.world.objects.waits_for(object).map(|class| class.to_string())
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

    /// From now on `old`, the path of a type or a member that has another name now, leads to where `new` leads, unless
    /// something has that very path.
    ///
    /// # Errors
    /// When `new` leads back to `old`.
    pub fn redirect(&self, old: &str, new: &str) -> Result<(), Error> {
        // What is under way may be undone, and the redirect with it.
        let _busy = self.at_safe_point("redirecting a name")?;
        let types = &self.inner.core.world.types;
        if old == new || types.leads_to(new, old) {
            let message =
                format!("{old} cannot lead to {new}, which leads back to it: redirect each name to the latest");
            return Err(CallError::other(message).into());
        }
        types.redirect(old, new);
        Ok(())
    }

    /// Whether a class, a struct or an interface of that path is declared.
    pub fn has_type(&self, path: &str) -> bool {
        let types = &self.inner.core.world.types;
        types.class_by_path(path).is_some()
            || types.struct_by_path(path).is_some()
            || types.interface_by_path(path).is_some()
    }

    /// Whether the class of that path, or one that it extends, says that it implements an interface.
    pub fn implements(&self, class: &str, interface: &str) -> bool {
        self.inner.core.world.types.class_by_path(class).is_some_and(|class| class.implements(interface))
    }

    /// Paths of the classes that the modules of the Master emitted.
    pub fn dynamic_classes(&self) -> Vec<String> {
        let classes = self.inner.core.world.types.classes();
        classes.iter().filter(|class| class.origin == Origin::Dynamic).map(|class| class.path.to_string()).collect()
    }

    /// The object that lies in `outer` under that name; in nothing, for none. Takes no longer the more there are.
    pub fn find_in(&self, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.inner.core.world.objects.find(outer, name)
    }

    /// Gives an object another name and another place; one of them may be what it was. References stay as they are.
    ///
    /// # Errors
    /// [`RenameError`] says why not; nothing has changed then.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        self.inner.core.world.objects.rename(object, name, outer)
    }

    /// Keeps an object, and what it refers to, from collection. Whether the object is there.
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        self.inner.core.world.objects.add_root(object)
    }

    /// Whether an object is in the root set.
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.inner.core.world.objects.is_root(object)
    }

    /// Takes an object from the root set; it lives on as long as something refers to it. Whether it was in it.
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        self.inner.core.world.objects.remove_root(object)
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

    /// Registers a host function under `ex:/name`. Modules and the host call it alike; code of a generation that comes up
    /// not before its commit, since a rollback could not take back what the function does.
    ///
    /// # Errors
    /// When the name is taken or is no name.
    pub fn register(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Any, body)
    }

    /// Registers a host function that changes nothing: it computes, or says what is there. So code of a generation that
    /// comes up may call it before the commit, in a main or a red constructor. That it changes nothing is the host's word;
    /// the report of a rollback names it all the same.
    ///
    /// # Errors
    /// As [`Runtime::register`].
    pub fn register_pure(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Pure, body)
    }

    fn register_as(
        &self,
        name: &str,
        signature: Signature,
        effect: Effect,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        let weak = Rc::downgrade(&self.inner);
        let body = move |values: &[Value]| {
            let inner = weak.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })?;
            let objects = values.iter().filter_map(|value| match value {
                Value::Object(object) => Some(*object),
                _ => None,
            });
            let core = Rc::clone(&inner.core);
            let _held = core.world.stack.hold(objects);
            body(&Runtime { inner }, values)
        };
        Ok(dynamic_call::register(&self.inner.core, name, signature, effect, Rc::new(body))?)
    }

    /// The name of a text.
    pub fn intern(&self, text: &str) -> Name {
        self.inner.core.world.names.intern(text)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> String {
        self.inner.core.world.names.text(name).to_string()
    }

    /// The objects as native code sees them.
    pub fn world(&self) -> &World {
        &self.inner.core.world
    }

    /// The stores.
    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    /// One frame: game time goes by, everything that ticks is called, timers and tasks of modules are run, then the
    /// runtime stands at its safe point. Without effect, but for a line in the log, while plugin code holds a slice of host
    /// memory: from a logger that it has called, for instance.
    pub fn tick(&self, budget: Budget) {
        if let Err(error) = self.inner.core.world.slices.allow_change(&"a tick") {
            tracing::warn!(%error, "a tick was not done");
            return;
        }
        self.inner.core.tasks.advance(budget.seconds);
        let begun = Instant::now();
        self.inner.core.blacks.flush(&mut || begun.elapsed());
        let mut tickers = self.inner.tickers.take();
        let ticked =
            catch_unwind(AssertUnwindSafe(|| tickers.iter_mut().for_each(|ticker| ticker(self, budget.seconds))));
        // A ticker may have added tickers; they come after those that were there.
        tickers.append(&mut self.inner.tickers.borrow_mut());
        *self.inner.tickers.borrow_mut() = tickers;
        // A ticker that panics is the host's own affair, but the others are there when it goes on.
        if let Err(panic) = ticked {
            resume_unwind(panic);
        }
        if self.inner.busy.get().is_none() {
            self.inner.core.tasks.run(&self.inner.core);
        }
        self.safe_point_within(budget.collection);
    }

    /// Does what waits for a safe point: posted closures, requested reloads, a requested collection, freeing memory.
    /// Without effect while plugin code is on the stack.
    pub fn safe_point(&self) {
        self.safe_point_within(Budget::frame().collection);
    }

    /// A safe point that gives a mark in slices so much time.
    fn safe_point_within(&self, time: Duration) {
        let core = &self.inner.core;
        if core.red.depth() != 0 || core.world.slices.are_out() || self.inner.busy.get().is_some() {
            return;
        }
        self.inner.core.tasks.end_expired(&self.inner.core);
        self.inner.core.tasks.pump_posted(&self.inner.core);
        self.inner.core.finalizer.release();
        self.inner.hear_finalizers();
        self.tend_unloads();
        let has_settled = self.inner.watch.borrow_mut().as_mut().is_some_and(FileWatch::has_settled);
        if let Some(master) = self.inner.loads.master().filter(|_| has_settled) {
            self.request_reload_of(master.paths, self.inner.watch_scope.get());
        }
        let requested = self.inner.requests.take();
        match requests::plan(&requested) {
            Some(Plan::Reload { libraries, scope, answers }) => match self.reload_for(&libraries, scope, answers) {
                Ok(report) => self.inner.reloads.borrow_mut().push(report),
                Err(error) => tracing::error!(%error, "a requested reload was not done"),
            },
            Some(Plan::Unload { moot }) => {
                if moot != 0 {
                    tracing::info!(moot, "requested reloads are moot: the Master was asked to unload as well");
                }
                match self.unload_master() {
                    Ok(unload) => self.inner.unloads.borrow_mut().push(unload),
                    Err(error) => tracing::error!(%error, "a requested unload was not done"),
                }
            }
            None => {}
        }
        self.tend_collections(time);
        self.inner.core.world.objects.free_graveyard();
    }

    /// A way to have closures run on the game thread, for the host's other threads.
    pub fn post_handle(&self) -> Poster {
        Poster::new(self.inner.core.tasks.inbox())
    }

    /// Game time since the runtime was built: the sum of what its ticks stood for. Timers and delays of modules go by it.
    pub fn game_time(&self) -> Duration {
        self.inner.core.tasks.now()
    }

    /// Tasks, timers and posted closures of modules that have not ended, in the order they were asked for. What a
    /// thread has posted counts from the next safe point on.
    pub fn errands(&self) -> Vec<ErrandInfo> {
        self.inner.core.tasks.infos()
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

    /// The world as text, part by part: objects, values, plugin halves, types, calls, modules, and what modules and the host
    /// hold of each other. Equal before and after a reload that was rolled back, but for what its report names
    /// (`Reload::remainder`); [`WorldDigest::differences`] says what is not. What plugins keep on their own side is
    /// in it as far as its place goes, not its content.
    pub fn world_digest(&self) -> WorldDigest {
        digest::digest(&self.inner.core, &self.inner.loads)
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

    /// Whether this is a safe point: no plugin code on the stack, and nothing under way that must not be interrupted. The
    /// caller's own action is under way while the guard lives.
    fn at_safe_point(&self, action: &'static str) -> Result<Busy<'_>, Error> {
        self.inner.core.world.slices.allow_change(&action)?;
        let open = self.inner.core.red.snapshot().last().map(|frame| frame.what.to_string());
        match open.or_else(|| self.inner.busy.get().map(str::to_owned)) {
            Some(frame) => Err(Error::NotASafePoint { action, frame }),
            None => {
                self.inner.busy.set(Some(action));
                Ok(Busy(&self.inner.busy, self.inner.core.red.lane().phase(action)))
            }
        }
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
