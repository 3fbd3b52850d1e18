//! The root: one value that owns the stores of a host and wires them together. No static holds a runtime; a process
//! may have several, each on its own thread.

mod births;
mod blacks;
mod collecting;
mod contexts;
mod ending;
mod frames;
mod functions;
mod history;
mod links;
mod protocols;
mod reloading;
mod unended;
mod unloading;

use std::cell::{Cell, OnceCell};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use crate::border::CallError;
use crate::bridge::calls::{Dispatch, call_with_values};
use crate::bridge::core::Core;
use crate::bridge::tasks::HostErrand;
use crate::builder::Builder;
use crate::callback::{Registered, handle_goes};
use crate::cells::RefCell;
use crate::conjugate::Color;
use crate::conjugate::pairs::ConjugateKey;
use crate::counters::Counters;
use crate::development::{Agent, Invitation};
use crate::error::Error;
use crate::handles::{Name, ObjectHandle};
use crate::load::master::{self, Loads, Unload};
use crate::load::module::master::MasterModule;
use crate::native::world::World;
use crate::native::{DestroyHook, Ticker};
use crate::object::objects::RenameError;
use crate::object::origin::Origin;
use crate::object::value::Value;
use crate::reload::digest::{self, WorldDigest};
use crate::reload::report::Reload;
use crate::reload::requests::{ReloadScope, Request};
use crate::reload::watch::FileWatch;
use crate::runtime::history::History;
use crate::unload::state::ContextState;
use crate::watchdog::Entered;

use functions::{HostBody, HostFunction};
use protocols::HostCode;

pub use births::ClassRef;
pub use blacks::{AnyConjugate, ConjugateInfo};
pub use collecting::Collected;
pub use ending::{Drained, Shutdown};
pub use frames::Budget;
pub use protocols::{Declined, ZCallFunction, ZCallResolver};

struct Inner {
    core: Rc<Core>,
    loads: Loads,
    tickers: RefCell<Vec<Ticker>>,
    before_destroy: RefCell<Rc<Vec<DestroyHook>>>,
    /// The functions that the host has registered; each leaves its place when the host has ended.
    functions: RefCell<Vec<Registered<Rc<HostFunction>>>>,
    /// Who says what the names of the host's own protocols stand for.
    resolvers: RefCell<Vec<Registered<HostCode>>>,
    /// Whether the callbacks of the host were let go.
    has_ended: Cell<bool>,
    /// What is under way that no other such thing may interrupt.
    busy: Cell<Option<&'static str>>,
    requests: RefCell<Vec<Request>>,
    reloads: History<Reload, 64>,
    watch: RefCell<Option<FileWatch>>,
    watch_scope: Cell<ReloadScope>,
    committed: Cell<u64>,
    rolled_back: Cell<u64>,
    /// Whether a mark in slices was asked for and is not done.
    slicing: Cell<bool>,
    collected: History<Collected, 256>,
    unloads: History<Unload, 64>,
    /// This host's part in `alcedo dev`.
    agent: OnceCell<Agent>,
}

impl Drop for Runtime {
    /// The last handle ends what a shutdown has not. It is still there meanwhile, for the callbacks that it is given to.
    fn drop(&mut self) {
        handle_goes(self.inner.loads.hub.id());
        if Rc::strong_count(&self.inner) != 1 {
            return;
        }
        if let Some(agent) = self.inner.agent.get() {
            agent.tell_end(Vec::new());
        }
        if self.inner.loads.master().is_some() {
            tracing::debug!("the runtime is dropped with a living Master: unloading it");
            let _left = master::unload(&self.inner.core, &self.inner.loads);
        }
        self.inner.end_unloads();
        let slims = self.inner.loads.hub.close(self.inner.loads.unloads.policy.shutdown);
        for left in slims.left {
            tracing::warn!(left, "the runtime was dropped, and not all of it could be ended");
        }
        self.inner.let_go();
    }
}

/// Something is under way until this is dropped.
struct Busy<'a>(&'a Cell<Option<&'static str>>, #[expect(dead_code, reason = "ends with it")] Entered<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// A host: its objects, its classes, and the modules loaded into it. A clone is another handle to the same host. With the
/// last one it ends, so its own callbacks should own none: see [`Runtime::downgrade`]. Game thread only, which the compiler
/// sees to.
///
/// # How it ends
///
/// | the host | the Master, its listeners and callbacks | Slims and the Default, their listeners and callbacks |
/// | --- | --- | --- |
/// | calls [`Runtime::shutdown`] | unloaded, told | Slims unloaded, all told; the report says what is left |
/// | drops the last handle | the same | the same, and the log says what is left |
/// | calls [`std::process::exit`], or returns from `main` while a handle is never dropped | nothing | nothing is unloaded; told where [`Contexts::tell_at_exit`](crate::Contexts::tell_at_exit) was called before |
/// | aborts, crashes, is killed, calls `_exit` | nothing | nothing |
///
/// Both ends in order wait for what is under way as long as [`UnloadPolicy::shutdown`](crate::UnloadPolicy::shutdown) says.
/// A runtime in a thread-local ends with its thread; whether the thread of `main` drops its thread-locals is the
/// platform's.
#[derive(Clone)]
pub struct Runtime {
    inner: Rc<Inner>,
}

/// A handle to a host that keeps nothing of it. Game thread only, which the compiler sees to.
#[derive(Clone)]
pub struct WeakRuntime {
    inner: Weak<Inner>,
}

impl WeakRuntime {
    /// The host, while anybody has a handle to it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Runtime> {
        self.inner.upgrade().map(|inner| Runtime { inner })
    }

    /// Whether anybody has a handle to it.
    fn is_there(&self) -> bool {
        self.inner.strong_count() != 0
    }
}

impl std::fmt::Debug for WeakRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a weak handle to a runtime")
    }
}

impl Runtime {
    /// A host of finished stores.
    pub(crate) fn of(core: Rc<Core>, loads: Loads, tickers: Vec<Ticker>, before_destroy: Vec<DestroyHook>) -> Self {
        let inner = Inner {
            core,
            loads,
            tickers: RefCell::new(tickers),
            before_destroy: RefCell::new(Rc::new(before_destroy)),
            functions: RefCell::default(),
            resolvers: RefCell::default(),
            has_ended: Cell::default(),
            busy: Cell::default(),
            requests: RefCell::default(),
            reloads: History::default(),
            watch: RefCell::default(),
            watch_scope: Cell::default(),
            committed: Cell::default(),
            rolled_back: Cell::default(),
            slicing: Cell::default(),
            collected: History::default(),
            unloads: History::default(),
            agent: OnceCell::new(),
        };
        let runtime = Self { inner: Rc::new(inner) };
        let weak = runtime.downgrade();
        let tell = move |object| {
            if let Some(runtime) = weak.upgrade() {
                let hooks = Rc::clone(&runtime.inner.before_destroy.borrow());
                hooks.iter().for_each(|hook| (hook.code)(&runtime, object));
            }
        };
        // The core is this runtime's own and new.
        let _first = runtime.inner.core.before_end.set(Box::new(tell));
        let weak = runtime.downgrade();
        let run = move |errand: HostErrand| {
            if let Some(runtime) = weak.upgrade() {
                errand(&runtime);
            }
        };
        let _first = runtime.inner.core.tasks.run_for_host.set(Box::new(run));
        unended::watch(&runtime);
        runtime
    }

    /// A handle that keeps nothing: for callbacks.
    ///
    /// A callback belongs to its runtime. One that owns a [`Runtime`] closes a circle: when the host drops its last handle,
    /// that one is left, so nothing is unloaded, nobody is told, and the folder of private copies stays until the next start
    /// of a host of this user finds it. That shows only when the thread ends: then the log names the callbacks that may own
    /// one, as a warning. [`Runtime::shutdown`] opens such circles: it lets the callbacks go when all is done, and logs a
    /// warning for each that owned a handle, with its kind and place. Most callbacks are given a handle and need to own none.
    ///
    /// ```
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let weak = runtime.downgrade();
    /// let how_many = move || weak.upgrade().map(|runtime| runtime.objects().len());
    /// assert_eq!(how_many(), Some(0));
    /// drop(runtime);
    /// assert_eq!(how_many(), None);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn downgrade(&self) -> WeakRuntime {
        WeakRuntime { inner: Rc::downgrade(&self.inner) }
    }

    /// Starts a builder.
    pub fn builder() -> Builder {
        Builder::default()
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
        let of = |module: &Rc<MasterModule>| (module.name().to_owned(), module.gate().tag().generation.0);
        modules.iter().map(of).collect()
    }

    /// Every generation of the Master that is not dead, and how far its life has come; one whose images cannot be
    /// unmapped stays in the list.
    pub fn contexts(&self) -> Vec<(u64, ContextState)> {
        self.inner.loads.unloads.states().into_iter().map(|(generation, state)| (generation.0, state)).collect()
    }

    /// Who began the plugin half of an object; `None` for an object that has none, or whose half has expired.
    pub fn color_of(&self, object: ObjectHandle) -> Option<Color> {
        let word = self.inner.core.world.objects.conjugate(object)?;
        self.inner.core.pairs.color(ConjugateKey::from_word(word)?)
    }

    /// Images that stay mapped, and why.
    pub fn parked(&self) -> Vec<String> {
        let slims = self.inner.loads.hub.parked();
        self.inner.loads.unloads.parked().into_iter().chain(slims).collect()
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
            Err(error) => {
                tracing::warn!(object = %self.core().world.objects.shown(object), %error, "an object was not destroyed");
            }
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
    /// When the object is gone, has no such property, or the property holds another type; [`CallError::WrongClass`] when
    /// the value names an object that is not of the class, or does not implement the interface, that the property is for.
    pub fn set(&self, object: ObjectHandle, property: &str, value: &Value) -> Result<(), Error> {
        self.property(object, property)?;
        Ok(self.inner.core.world.write(object, property, value)?)
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
    /// When the object is gone or has no such function, the arguments do not fit, or the body fails;
    /// [`CallError::WrongClass`] when an argument names an object that does not suit its parameter.
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
        World::new(&self.inner.core.world)
    }

    /// The stores.
    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    /// From now on this host takes part in `alcedo dev`.
    pub(crate) fn join(&self, invitation: Invitation) -> std::io::Result<()> {
        let agent = invitation.accept(self.post_handle())?;
        // Only the builder does this, once.
        let _first = self.inner.agent.set(agent);
        Ok(())
    }

    /// Whether `alcedo dev`, which runs this host, wants it to end: then it should return from `main`. A host that does
    /// not look is ended a few seconds later. Never, without that tool.
    pub fn is_asked_to_end(&self) -> bool {
        self.inner.agent.get().is_some_and(Agent::is_asked_to_end)
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
                body.view().hash_into(&mut hasher);
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
