//! Runtime of a host: owns and connects the stores for objects, types, calls and modules. No static variable contains a runtime. A process
//! may have several runtimes, each on a separate thread.

mod closures;
mod collecting;
mod conjugates;
mod ending;
mod failures;
mod frames;
mod functions;
mod health;
mod history;
mod kept_body;
mod links;
mod natives;
mod net;
mod objects;
mod protocols;
mod reloading;
pub(crate) mod tables;
mod typed_functions;
mod types;
mod unended;
mod unloading;
mod worlds;

use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use crate::boundary::CallError;
use crate::bridge::core::{Core, EndHooks};
use crate::bridge::tasks::HostJob;
use crate::callback::{Callbacks, LocalRegistration, Registered, Site, handle_goes};
use crate::cells::{RefCell, Restore};
use crate::counters::Counters;
use crate::development::{Agent, Invitation};
use crate::error::Error;
use crate::handles::Name;
use crate::load::context::handle::{Contexts, WeakContexts};
use crate::load::context::info::MasterModuleInfo;
use crate::load::master::{self, Loads, Unload};
use crate::load::module::master::MasterModule;
use crate::native::net::NetStructs;
use crate::native::{DestroyHook, Ticker};
use crate::object::natives::World;
use crate::panic_guard;
use crate::reload::report::ReloadReport;
use crate::reload::requests::{ReloadScope, Request};
use crate::reload::watch::FileWatch;
use crate::runtime::history::History;
use crate::watchdog::{Entered, Listener};

use health::Watching;
use protocols::TakeBody;

use closures::Closures;
pub use collecting::{Collected, Collection};
pub use conjugates::{AnyConjugate, ConjugateInfo, Conjugates};
pub use ending::{Drained, ShutdownReport};
pub use frames::Budget;
pub use functions::Calls;
pub use health::HealthWatch;
pub use links::Links;
pub use net::NetNames;
pub use objects::Objects;
pub use protocols::{Declined, ZCallFunction, ZCallResolver};
pub use tables::Tables;
pub use types::{ClassKey, ClassRef, Types};
pub use unloading::Unloads;
pub use worlds::Worlds;

pub(crate) type HostCallbacks = (Vec<Registered<Ticker>>, Vec<Registered<DestroyHook>>, Arc<Callbacks<Listener>>);

type Remove = fn(&Inner, Site);

struct Inner {
    core: Rc<Core>,
    loads: Loads,
    tickers: Callbacks<Ticker>,
    before_destroy: Callbacks<DestroyHook>,
    on_hang: Arc<Callbacks<Listener>>,
    /// Set while tickers run.
    ticking: Cell<bool>,
    /// Native structs with custom network serialization.
    net_structs: NetStructs,
    /// Functions, protocols and resolvers that the host has registered. The registered closures are dropped when the host shuts down.
    registered: RefCell<Vec<Registered<Rc<dyn TakeBody>>>>,
    /// Number of entries in `registered` at which the next search for unused entries starts.
    next_search: Cell<usize>,
    /// Set after the callbacks of the host were dropped.
    has_ended: Cell<bool>,
    closures: Closures,
    busy: Cell<Option<&'static str>>,
    requests: RefCell<Vec<Request>>,
    reloads: History<ReloadReport, 64>,
    watch: RefCell<Option<FileWatch>>,
    watch_scope: Cell<ReloadScope>,
    health: RefCell<Option<Box<Watching>>>,
    committed: Cell<u64>,
    rolled_back: Cell<u64>,
    /// Set while an incremental collection is requested or in progress.
    slicing: Cell<bool>,
    collected: History<Collected, 256>,
    unloads: History<Unload, 64>,
    scripts: RefCell<Vec<PathBuf>>,
    agent: OnceCell<Agent>,
}

impl Drop for Runtime {
    /// Shuts the host down if no other handle of the host exists. The host remains usable during the shutdown, because callbacks receive a
    /// handle.
    #[inline]
    fn drop(&mut self) {
        handle_goes(|| self.inner.loads.registry.id());
        if Rc::strong_count(&self.inner) == 1 {
            self.end();
        }
    }
}

impl Runtime {
    /// Performs the remaining steps of a shutdown when the last handle is dropped.
    #[cold]
    fn end(&mut self) {
        let red = &self.inner.core.red;
        if red.depth() != 0 {
            // Module code is on the stack and uses the stores of the host. The host therefore ends only after this module code returns.
            let last = Self { inner: Rc::clone(&self.inner) };
            red.afterwards(Box::new(move || drop(last)));
            return;
        }
        // On the stack of a coroutine, no code of a module can run: jobs would leak their captures, and exit hooks would not run.
        if !red.hot().stack().is_here() && unended::end_later(Self { inner: Rc::clone(&self.inner) }) {
            return;
        }
        // The guard rejects exclusive operations of listeners and posted closures, as in `shutdown`. Otherwise such an operation could
        // create a Master that is never unloaded.
        // A listener may have kept a handle, which remains usable after the guard is dropped. Dropping this handle ends the host again.
        let _busy = self.begin("ending the host");
        if let Some(agent) = self.inner.agent.get() {
            agent.send_end(Vec::new());
        }
        if self.inner.loads.master().is_some() {
            log!(DEBUG, "the runtime is dropped with a living Master: unloading it");
            let _left = master::unload(&self.inner.core, &self.inner.loads);
        }
        self.inner.end_unloads();
        let slims = self.inner.loads.registry.close(&self.inner.core, self.inner.loads.policy().shutdown);
        for left in slims.left {
            log!(WARN, left, "the runtime was dropped, and could not be ended completely");
        }
        self.inner.let_go();
    }
}

/// Guard of an exclusive operation that is in progress.
pub(crate) struct Busy<'a> {
    _action: Restore<'a, Option<&'static str>>,
    _phase: Entered<'a>,
}

/// A host: its objects, its classes and its loaded modules. A clone is a further handle of this host. The host ends when its last handle is
/// dropped. Callbacks of the host should therefore own a weak handle; see [`Runtime::downgrade`]. Game thread only, enforced by the
/// compiler.
///
/// # How it ends
///
/// | the host | the Master, its listeners and callbacks | Slims and the Default, their listeners and callbacks |
/// | --- | --- | --- |
/// | calls [`Runtime::shutdown`] | unloaded, listeners called | Slims unloaded, all listeners called; the report lists the remainder |
/// | drops the last handle | same | same, with the remainder in the log |
/// | calls [`std::process::exit`], or returns from `main` while a handle is never dropped | nothing | not unloaded; listeners called if [`Contexts::raise_at_exit`](crate::Contexts::raise_at_exit) was called before |
/// | aborts, crashes, is killed, calls `_exit` | nothing | nothing |
///
/// Both [`Runtime::shutdown`] and dropping the last handle wait for unloads in progress, at most for
/// [`UnloadPolicy::shutdown`](crate::UnloadPolicy::shutdown). Posted closures run during these waits. [`Runtime::shutdown`] also waits for
/// finalizers. If a thread-local variable contains a runtime, the runtime ends with the thread. The platform determines if thread-local
/// variables of the main thread are dropped. If a coroutine drops the last handle, the runtime ends at the next safe point of a host of
/// this thread. The runtime also ends when the thread builds a host or ends.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::uclass;
/// use alcedo_runtime::{Budget, Runtime, natives};
///
/// #[uclass(package = "Game")]
/// struct Robot {
///     #[uproperty(default = 3)]
///     charge: u32,
/// }
///
/// let runtime = Runtime::builder().natives(natives![Robot]).build()?;
/// let robot = runtime.objects().spawn_as::<Robot>()?;
/// let charge = runtime.objects().with(robot, |robot| robot.charge())?;
/// assert_eq!(charge, 3);
/// runtime.tick(Budget::frame());
/// runtime.shutdown().into_result()?;
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Runtime {
    inner: Rc<Inner>,
}

/// A weak handle of a host. Game thread only, enforced by the compiler.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let weak = runtime.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(runtime);
/// assert!(weak.upgrade().is_none());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct WeakRuntime {
    inner: Weak<Inner>,
}

impl WeakRuntime {
    /// Returns a handle of the host. Returns `None` if all handles of the host were dropped.
    #[must_use]
    #[inline]
    pub fn upgrade(&self) -> Option<Runtime> {
        self.inner.upgrade().map(|inner| Runtime { inner })
    }

    /// Returns a handle of the host for an operation on `name`. Returns [`CallError::Unavailable`] if all handles of the host were dropped.
    pub(crate) fn expect(&self, name: &str) -> Result<Runtime, CallError> {
        self.upgrade().ok_or_else(|| CallError::Unavailable { what: format!("the runtime of `{name}`") })
    }

    /// Returns `true` if a handle of the host exists.
    #[inline]
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
    /// Builds a host from these stores and callbacks.
    pub(crate) fn of(
        core: Rc<Core>,
        loads: Loads,
        (tickers, before_destroy, on_hang): HostCallbacks,
        net_structs: NetStructs,
    ) -> Self {
        let inner = Inner {
            core,
            loads,
            tickers: tickers.into_iter().collect(),
            before_destroy: before_destroy.into_iter().collect(),
            on_hang,
            ticking: Cell::default(),
            net_structs,
            registered: RefCell::default(),
            next_search: Cell::default(),
            has_ended: Cell::default(),
            closures: Closures::default(),
            busy: Cell::default(),
            requests: RefCell::default(),
            reloads: History::default(),
            watch: RefCell::default(),
            watch_scope: Cell::default(),
            health: RefCell::default(),
            committed: Cell::default(),
            rolled_back: Cell::default(),
            slicing: Cell::default(),
            collected: History::default(),
            unloads: History::default(),
            scripts: RefCell::default(),
            agent: OnceCell::new(),
        };
        let runtime = Self { inner: Rc::new(inner) };
        let weak = runtime.downgrade();
        let run = move |object| {
            let mut notified = Ok(());
            if let Some(runtime) = weak.upgrade() {
                runtime.inner.before_destroy.each(|_priority, hook| {
                    // Skips the remaining hooks if a hook has unloaded or reloaded the Master, and this has destroyed the object.
                    if !runtime.inner.core.world.objects.is_alive(object) {
                        return;
                    }
                    if let Err(message) = panic_guard::caught(|| (hook.code)(&runtime, object)) {
                        let object = runtime.inner.core.world.objects.display(object);
                        log!(ERROR, callback = %hook.site, %object, message, "a hook panicked; the object is destroyed anyway");
                        notified = Err(message);
                    }
                });
            }
            notified
        };
        let weak = runtime.downgrade();
        let has_any = move || weak.upgrade().is_some_and(|runtime| !runtime.inner.before_destroy.is_empty());
        // Cannot fail: the core is new, so its cell is empty.
        let _first = runtime.inner.core.end_hooks.set(EndHooks { run: Box::new(run), has_any: Box::new(has_any) });
        let weak = runtime.downgrade();
        let run = move |job: HostJob| {
            if let Some(runtime) = weak.upgrade() {
                job(&runtime);
            }
        };
        let _first = runtime.inner.core.tasks.run_for_host.set(Box::new(run));
        unended::watch(&runtime);
        runtime
    }

    /// Returns the registrations of all callbacks: tickers, hooks before the destruction of objects, listeners for events and hangs, and
    /// unloading callbacks. Callbacks of one kind are listed in call order. The list includes callbacks that the builder, native types, or
    /// the running host have registered. Each registration can remove its callback. [`Registration::name`](crate::Registration::name)
    /// returns the name of the callback. Callbacks that `alcedo dev` has registered have the name `alcedo dev`.
    ///
    /// The game thread can remove callbacks at any time, even from a callback or during a reload. Other threads can post the removal with
    /// [`Poster::post`](crate::Poster::post).
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let runtime = Runtime::builder().ticker(|_, _| panic!("it was removed")).named("spawner").build()?;
    /// for registration in runtime.registrations() {
    ///     if registration.name() == Some("spawner") {
    ///         registration.remove();
    ///     }
    /// }
    /// runtime.tick(Budget::frame());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn registrations(&self) -> Vec<LocalRegistration> {
        let inner = &self.inner;
        let unloading = inner.loads.unloads.callbacks.sites();
        let lists: [(Vec<Site>, Remove); 5] = [
            (inner.tickers.sites(), |inner, site| inner.tickers.remove(site)),
            (inner.before_destroy.sites(), |inner, site| inner.before_destroy.remove(site)),
            (inner.loads.observers.sites(), |inner, site| inner.loads.observers.remove(site)),
            (inner.on_hang.sites(), |inner, site| inner.on_hang.remove(site)),
            (unloading, |inner, site| inner.loads.unloads.callbacks.remove(site)),
        ];
        let all = lists.into_iter().flat_map(|(sites, remove)| sites.into_iter().map(move |site| (site, remove)));
        all.map(|(site, remove)| self.registration(site, remove)).collect()
    }

    /// Returns the registration of a callback. [`Registration::remove`](crate::Registration::remove) then calls the argument `remove` with
    /// the host.
    fn registration(&self, site: Site, remove: Remove) -> LocalRegistration {
        let weak = self.downgrade();
        let remove = move || weak.upgrade().iter().for_each(|runtime| remove(&runtime.inner, site));
        LocalRegistration::new(site, Box::new(remove))
    }

    /// Returns a weak handle of the host. A callback may own a weak handle.
    ///
    /// A callback that owns a [`Runtime`] creates a reference cycle. The runtime then stays alive after all handles outside of the callback
    /// were dropped. In this case no module is unloaded, and no listener is called. The folder with the library copies remains until this
    /// user starts a host again. The runtime detects the cycle only when the thread ends. A warning in the log then lists the callbacks
    /// that may own a handle. [`Runtime::shutdown`] breaks these cycles by dropping the callbacks. For each callback that owned a handle,
    /// the shutdown logs a warning with the kind and location of the callback. Most callbacks receive a handle as an argument, and need not
    /// own a handle.
    ///
    /// ```
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let weak = runtime.downgrade();
    /// let how_many = move || weak.upgrade().map(|runtime| runtime.objects().iter().len());
    /// assert_eq!(how_many(), Some(0));
    /// drop(runtime);
    /// assert_eq!(how_many(), None);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn downgrade(&self) -> WeakRuntime {
        WeakRuntime { inner: Rc::downgrade(&self.inner) }
    }

    pub(crate) fn closures(&self) -> &Closures {
        &self.inner.closures
    }

    /// Returns access to objects: create, read, write, call, destroy.
    pub fn objects(&self) -> Objects<'_> {
        Objects(self)
    }

    /// Returns access to types: classes, structs and interfaces.
    pub fn types(&self) -> Types<'_> {
        Types(self)
    }

    /// Returns access to calls by name: call, register and resolve functions.
    pub fn calls(&self) -> Calls<'_> {
        Calls(self)
    }

    /// Returns access to the function tables that the host and its modules exchange.
    pub fn tables(&self) -> Tables<'_> {
        Tables(self)
    }

    /// Returns access to references and delegates that are resolved by path or id.
    pub fn links(&self) -> Links<'_> {
        Links(self)
    }

    /// Returns access to conjugates, which are values with a handle. A conjugate is borrowed, owned or expired.
    pub fn conjugates(&self) -> Conjugates<'_> {
        Conjugates(self)
    }

    /// Returns access to the unloading of generations: leases, tickets, reports.
    pub fn unloads(&self) -> Unloads<'_> {
        Unloads(self)
    }

    /// Returns access to saved worlds, and to the digest that compares worlds.
    pub fn worlds(&self) -> Worlds<'_> {
        Worlds(self)
    }

    /// Returns access to garbage collection, which destroys unreachable objects.
    pub fn collection(&self) -> Collection<'_> {
        Collection(self)
    }

    /// Returns the load contexts of this runtime: the Default, the Slims and the pinned contexts. The result also provides the information
    /// about the Master that any thread may read. The result can be sent to any thread. See `runtime/docs/load-contexts.md`.
    #[must_use]
    pub fn contexts(&self) -> Contexts {
        Contexts::of(&self.inner.loads.registry)
    }

    /// Checks if `contexts` are the load contexts of this runtime.
    pub(crate) fn owns(&self, contexts: &WeakContexts) -> bool {
        contexts.is_of(&self.inner.loads.registry)
    }

    /// Returns the generation of the current Master, or zero without a Master.
    pub fn generation(&self) -> u64 {
        self.inner.loads.master().map_or(0, |master| master.generation.0)
    }

    /// Returns the modules of the current Master, dependencies first.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.create_master(&["/opt/game/plugins/libweather.so"])?;
    /// for module in runtime.modules() {
    ///     println!("{} {} of generation {}", module.name, module.version, module.generation);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn modules(&self) -> Vec<MasterModuleInfo> {
        let of = |module: &Rc<MasterModule>| MasterModuleInfo {
            name: module.name().to_owned(),
            version: module.info().version.clone(),
            generation: module.gate().tag().generation.0,
            build_id: module.build_id(&self.inner.core.red),
        };
        self.inner.loads.modules().iter().map(of).collect()
    }

    /// Returns the folder in which the runtime stores its copies of loaded libraries.
    pub fn stage_dir(&self) -> PathBuf {
        self.inner.loads.registry.stage_dir.path().to_owned()
    }

    /// Interns a string, and returns the [`Name`] that represents it.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let harbor = runtime.intern("harbor");
    /// assert_eq!(harbor, runtime.intern("harbor"));
    /// assert_eq!(runtime.text(harbor), "harbor");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn intern(&self, text: &str) -> Name {
        self.inner.core.world.names.intern(text)
    }

    /// Returns the string that a [`Name`] represents.
    pub fn text(&self, name: Name) -> String {
        self.inner.core.world.names.text(name).to_string()
    }

    /// Returns the world, through which native code accesses objects.
    pub fn world(&self) -> &World {
        &self.inner.core.world
    }

    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    /// Connects this host to `alcedo dev`.
    pub(crate) fn join(&self, invitation: Invitation) -> std::io::Result<()> {
        let agent = invitation.accept(self.post_handle())?;
        // Cannot fail: only the builder calls this function, and calls it once.
        let _first = self.inner.agent.set(agent);
        Ok(())
    }

    /// Returns `true` if `alcedo dev` runs this host and has requested the shutdown of the host. The host should then return from `main`.
    /// Otherwise `alcedo dev` kills the host a few seconds later. Always `false` without `alcedo dev`.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let runtime = Runtime::builder().development().build()?;
    /// while !runtime.shutdown_requested() {
    ///     runtime.tick(Budget::frame());
    /// }
    /// runtime.shutdown().into_result()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown_requested(&self) -> bool {
        self.inner.agent.get().is_some_and(Agent::shutdown_requested)
    }

    /// Returns the event counts since the runtime was built, and the number of live objects.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().destroy(player);
    /// runtime.objects().spawn("/Script/Core.Object")?;
    /// assert_eq!(runtime.counters().objects, 1);
    /// assert!(runtime.counters().constructions >= 2);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn counters(&self) -> Counters {
        let core = &self.inner.core;
        let counted = &core.world.counters;
        Counters {
            objects: core.world.objects.count_living() as u64,
            constructions: counted.constructions.get(),
            conjugates_built: core.pairs.built(),
            class_constructors_run: counted.class_constructors_on_instances.get(),
            class_constructors_rerun: counted.class_constructors_rerun.get(),
            reloads: self.inner.committed.get(),
            rollbacks: self.inner.rolled_back.get(),
        }
    }

    /// Checks for a safe point, and marks `action` as in progress until the returned guard is dropped. At a safe point, the stack contains
    /// no code of a plugin or script, and no hook of a native class. Also, no exclusive operation such as a reload is in progress.
    pub(crate) fn at_safe_point(&self, action: &'static str) -> Result<Busy<'_>, Error> {
        let busy = self.exclusively(action)?;
        let world = &self.inner.core.world;
        match world.stack.running_hook() {
            Some((hook, object)) => {
                Err(Error::NotASafePoint { action, frame: format!("{hook} of {}", world.objects.display(object)) })
            }
            None => Ok(busy),
        }
    }

    /// Checks for a safe point like [`Runtime::at_safe_point`], but also allows `action` in a hook of a native class. The action must not
    /// replace or save objects: during the hook, one object is only partly constructed or destroyed.
    pub(crate) fn exclusively(&self, action: &'static str) -> Result<Busy<'_>, Error> {
        self.inner.core.world.slices.allow_change(&action)?;
        if !self.inner.core.red.hot().stack().is_here() {
            return Err(CallError::WrongStack { action: action.to_owned() }.into());
        }
        let open = self.inner.core.red.snapshot().last().map(ToString::to_string);
        let open = open.or_else(|| self.inner.core.code_runs().then(|| "a script".to_owned()));
        match open.or_else(|| self.inner.busy.get().map(str::to_owned)) {
            Some(frame) => Err(Error::NotASafePoint { action, frame }),
            None => Ok(self.begin(action)),
        }
    }

    /// Marks `action` as in progress until the returned guard is dropped.
    fn begin(&self, action: &'static str) -> Busy<'_> {
        Busy {
            _action: Restore::in_cell(&self.inner.busy, Some(action)),
            _phase: self.inner.core.red.activities.phase(action),
        }
    }
}
