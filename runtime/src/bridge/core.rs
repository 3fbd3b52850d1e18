//! Groups the stores of one runtime that ZCalls, modules and reloads share. Each store manages its borrows separately. No store is borrowed
//! while plugin code runs.

use std::cell::OnceCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use alcedo_base::repeats::Repeats;

use crate::boundary::CallError;
use crate::bridge::collection::Collection;
use crate::bridge::delegates::Delegates;
use crate::bridge::ends::Ends;
use crate::bridge::exports::Exports;
use crate::bridge::fast_paths::FastPaths;
use crate::bridge::frames::OpenFrames;
use crate::bridge::tasks::Tasks;
use crate::bridge::value_types::ValueTypes;
use crate::callback::Callbacks;
use crate::cells::{Counted, RefCell};
use crate::conjugate::build::Plugins;
use crate::conjugate::class_hook_table::ClassHookTable;
use crate::conjugate::finalizer::Finalizer;
use crate::conjugate::hot::HotFrames;
use crate::conjugate::owned_values::OwnedValues;
use crate::conjugate::pairs::{ConjugateKey, Pairs};
use crate::conjugate::red::RedStack;
use crate::faults::{self, ReloadStep};
use crate::game_thread::{GameThread, GameThreadId};
use crate::handles::{ModuleId, ObjectHandle};
#[cfg(feature = "dll-bind")]
use crate::lease::Leases;
use crate::logs::Logs;
use crate::object::World;
use crate::object::construction::destroy;
use crate::object::objects::Replaced;
use crate::watchdog::{GAME_THREAD, Listener, Source, Watchdog};
use crate::zcall::chain::ResolverChain;
use crate::zcall::explicit::Explicit;
use crate::zcall::table::ZCallTable;

/// Hooks of the host that run before an object is destroyed.
pub(crate) struct EndHooks {
    /// Runs the hooks. Returns the message of the last panic of a hook.
    pub(crate) run: Box<dyn Fn(ObjectHandle) -> Result<(), String>>,
    /// Checks if `run` would run a hook.
    pub(crate) has_any: Box<dyn Fn() -> bool>,
}

/// Stores of one runtime. Game thread only, except for `game_thread` and `logs`.
pub(crate) struct Core {
    pub game_thread: GameThreadId,
    pub world: World,
    /// State of the fast paths. A caller can own a clone of this value without a reference to the `Core`.
    pub fast_paths: Rc<FastPaths>,
    /// Objects and their plugin parts.
    pub pairs: Rc<Pairs>,
    /// Values owned by plugin code.
    pub owned_values: OwnedValues,
    /// Open calls from the host into plugins.
    pub red: RedStack,
    /// Thread that drops plugin parts.
    pub finalizer: Finalizer,
    /// Entry points of dynamic classes.
    pub hooks: RefCell<ClassHookTable>,
    pub zcalls: ZCallTable,
    /// Resolvers of names.
    pub chain: ResolverChain,
    /// Functions registered by name.
    pub explicit: Rc<Explicit>,
    /// Static functions of modules.
    pub exports: Rc<Exports>,
    pub logs: Arc<Logs>,
    /// Counts repeated failures in the log.
    pub failures: Repeats,
    /// Hooks that run before an object is destroyed. Set by `Runtime`.
    pub(crate) end_hooks: OnceCell<EndHooks>,
    /// Destructions whose hooks run.
    ends: Ends,
    pub tasks: Tasks,
    /// Watchdog that reports calls that take too long. Set if the host has enabled the watchdog. Dropped after `tasks`, because a listener
    /// for hangs may wait until its posted closure has run or is dropped.
    pub(crate) watchdog: OnceCell<Watchdog>,
    pub delegates: Delegates,
    pub collection: Collection,
    /// Types of values. Modules refer to these types by id.
    pub value_types: ValueTypes,
    /// Frames of calls whose thunk is plugin code.
    pub frames: OpenFrames,
    #[cfg(feature = "script")]
    machine: RefCell<Rc<alcedo_script::Machine>>,
    #[cfg(feature = "script")]
    pub scripts: crate::bridge::scripts::ScriptCodes,
    /// C layouts of structs. The host and its library folder specify these layouts. Used to check script functions, and to open libraries
    /// of modules.
    #[cfg(feature = "dll-bind")]
    pub(crate) c_layouts: OnceCell<alcedo_dll_bind::Layouts>,
    /// C libraries to which classes of modules can be bound. Empty if the host has no library folder.
    #[cfg(feature = "dll-bind")]
    pub(crate) user_code: OnceCell<alcedo_dll_bind::UserCode>,
    /// C libraries to which classes of loaded modules are bound.
    #[cfg(feature = "dll-bind")]
    pub(crate) bound_libraries: RefCell<Vec<BoundLibrary>>,
}

/// C library to which a class of a module is bound.
#[cfg(feature = "dll-bind")]
pub(crate) struct BoundLibrary {
    /// Leases of the module.
    pub(crate) leases: std::sync::Weak<Leases>,
    pub(crate) name: String,
    /// Stamp of the file before it was opened. `None` if the file was missing or was being written.
    pub(crate) stamp: Option<alcedo_sys::Stamp>,
    /// Digest of the opened library. `None` if the library could not be opened.
    pub(crate) digest: Option<alcedo_sys::Digest>,
}

/// Host of a world. Hooks of native classes receive only the world. This value provides access to the host.
pub(crate) struct HostOfWorld {
    fast_paths: Rc<FastPaths>,
    core: Weak<Core>,
}

impl HostOfWorld {
    #[inline]
    pub(crate) fn of(world: &World) -> Option<&Self> {
        world.host.get()?.downcast_ref()
    }

    #[inline]
    pub(crate) fn fast_paths(&self) -> &FastPaths {
        &self.fast_paths
    }

    pub(crate) fn core(&self) -> Option<Rc<Core>> {
        self.core.upgrade()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Invalidates the cached fast paths first, because dropping a field may run code that uses a fast path.
        self.zcalls.epoch().shut();
    }
}

impl Core {
    /// Creates empty stores. `chain` contains the protocols, but no resolvers yet. The calling thread becomes the game thread. Returns an
    /// error if the finalizer thread cannot be started.
    pub(super) fn with_chain(chain: ResolverChain) -> std::io::Result<Rc<Self>> {
        let world = World::new();
        let zcalls = ZCallTable::with_epoch(Rc::clone(&world.epoch), Rc::clone(chain.modules()));
        let explicit = Rc::new(Explicit::new(Rc::clone(chain.modules())));
        let red = RedStack::new(Rc::new(HotFrames::new(Rc::clone(zcalls.epoch()))));
        world.stack.keep_free(HotFrames::RESERVE, red.hot().stack());
        chain.set_stack(red.hot().stack());
        let pairs = Rc::new(Pairs::default());
        let fast_paths = Rc::new(FastPaths::new(&red, &pairs, &world));
        let core = Rc::new(Self {
            game_thread: GameThreadId::here(),
            world,
            fast_paths,
            pairs,
            owned_values: OwnedValues::default(),
            red,
            finalizer: Finalizer::start()?,
            hooks: RefCell::default(),
            zcalls,
            chain,
            explicit,
            exports: Rc::new(Exports::default()),
            logs: Arc::default(),
            failures: Repeats::new(),
            end_hooks: OnceCell::new(),
            ends: Ends::default(),
            tasks: Tasks::default(),
            watchdog: OnceCell::new(),
            delegates: Delegates::default(),
            collection: Collection::default(),
            value_types: ValueTypes::default(),
            frames: OpenFrames::default(),
            #[cfg(feature = "script")]
            machine: RefCell::new(alcedo_script::Machine::new(alcedo_script::Limits::default())),
            #[cfg(feature = "script")]
            scripts: crate::bridge::scripts::ScriptCodes::default(),
            #[cfg(feature = "dll-bind")]
            c_layouts: OnceCell::new(),
            #[cfg(feature = "dll-bind")]
            user_code: OnceCell::new(),
            #[cfg(feature = "dll-bind")]
            bound_libraries: RefCell::default(),
        });
        let host = HostOfWorld { fast_paths: Rc::clone(&core.fast_paths), core: Rc::downgrade(&core) };
        let _first = core.world.host.set(Rc::new(host));
        core.world.objects.check_copies(|| Ok(faults::at(ReloadStep::UndoCopy)?));
        let mode = core.world.mode.clone();
        core.zcalls.epoch().on_change(move |is_observed| mode.follow(is_observed));
        #[cfg(feature = "script")]
        core.limit_scripts(alcedo_script::Limits::default());
        Ok(core)
    }

    #[cfg(feature = "script")]
    pub(crate) fn machine(&self) -> Rc<alcedo_script::Machine> {
        Rc::clone(&self.machine.borrow())
    }

    /// Checks if code of a plugin or script is on the stack. Such code prevents a safe point.
    pub(crate) fn code_runs(&self) -> bool {
        #[cfg(feature = "script")]
        if self.machine.borrow().is_running() {
            return true;
        }
        self.red.depth() != 0
    }

    /// Sets limits for scripts. Must be called before any script exists.
    #[cfg(feature = "script")]
    pub(crate) fn limit_scripts(self: &Rc<Self>, limits: alcedo_script::Limits) {
        let machine = alcedo_script::Machine::new(limits);
        machine.set_stack(self.red.hot().stack());
        machine.set_host(Rc::new(scripts::Births(Rc::downgrade(self))));
        self.machine.replace(machine);
    }

    /// Sets the number of stack bytes that each call must leave free on the game thread.
    pub(crate) fn set_stack_reserve(&self, bytes: usize) {
        self.red.hot().set_reserve(bytes);
        self.world.stack.keep_free(bytes, self.red.hot().stack());
    }

    /// Starts the watchdog for the game thread and the finalizer thread. `limit` is the maximum duration of a call. Returns an error if a
    /// thread cannot be created.
    pub(crate) fn watch(&self, limit: Duration, listeners: Arc<Callbacks<Listener>>) -> std::io::Result<()> {
        let activities = Arc::clone(&self.red.activities);
        activities.turn_on();
        // Disables the fast paths, because calls through fast paths are not reported to the watchdog.
        self.zcalls.epoch().shut();
        let game_thread = Source { thread: GAME_THREAD, activity: Box::new(move || activities.snapshot()) };
        let watchdog = Watchdog::start(limit, vec![game_thread, self.finalizer.source()], listeners)?;
        // Keeps the first watchdog, because a second watchdog would report the same calls again.
        let _first = self.watchdog.set(watchdog);
        Ok(())
    }

    /// Returns the token of the game thread. The caller is on the game thread, because a `Core` never leaves this thread.
    pub(crate) fn here(&self) -> GameThread<'_> {
        self.game_thread.prove().expect("a `Core` is neither Send nor Sync, so only the game thread holds one")
    }

    /// Runs at most `most` posted closures. Returns `true` if `most` closures have run. Has no effect while code of a plugin or script is
    /// on the stack. Also has no effect on the stack of a coroutine, where no captures of a module can be dropped.
    pub(crate) fn pump_posted(&self, most: usize) -> bool {
        let may_run = !self.code_runs() && self.red.hot().stack().is_here();
        may_run && self.tasks.pump_posted(&self.world, &self.red, most)
    }

    /// Keeps posted closures in the queue until the guard is dropped.
    pub(crate) fn hold_posted(&self) -> Counted<'_> {
        self.tasks.hold_posted(&self.world, &self.red)
    }

    /// Runs the hooks of the host (`Natives::before_destroy`), and then destroys the object with its subobjects. Has no effect if a hook of
    /// this destruction requests the destruction again. If a hook requests the destruction of an owner of its object, the owner is destroyed
    /// after the hooks of the object, and is still alive when this function returns. Returns an error if the object is already destroyed or
    /// is a class default object. Returns an error if a rollback of the reload in progress could not restore the object. Returns
    /// [`CallError::TooDeep`] if the stack is nearly exhausted.
    pub(crate) fn end_object(&self, object: ObjectHandle) -> Result<(), CallError> {
        if !self.world.objects.is_alive(object) {
            return Err(CallError::Stale { handle: object });
        }
        let displayed = self.world.objects.display(object);
        if self.world.objects.is_template(object) {
            return Err(CallError::other(format!(
                "{displayed} is a class default object, or a part of one, and is destroyed with its class: destroy an object of the class"
            )));
        }
        if self.world.objects.predates_shadow(object) {
            return Err(CallError::DuringRebuild { action: format!("destroying {displayed}") });
        }
        self.world.slices.allow_change(&format_args!("destroying {displayed}"))?;
        let _end = self.world.stack.enter_end(&format_args!("destroying {displayed}"))?;
        if self.announce_end(object, |_object, _message| {}) {
            destroy(&self.world, &self.plugins(), object);
        }
        Ok(())
    }

    /// Checks if [`destroy_plain`] may replace [`Core::end_object`] for live objects: the host has no hooks, and a destruction is allowed
    /// now. The result is valid until code of the host or of a plugin runs on the game thread.
    ///
    /// [`destroy_plain`]: crate::object::construction::destroy_plain
    pub(crate) fn may_end_plainly(&self) -> bool {
        let has_hooks = self.end_hooks.get().is_some_and(|hooks| (hooks.has_any)());
        !has_hooks
            && !self.world.slices.are_out()
            && self.world.stack.enter_end(&"destroying objects").is_ok()
            && !self.world.mode.is_before_commit()
    }

    /// Runs the hooks of the host before an object and its subobjects are destroyed, owners first, in order of creation. Skips subobjects
    /// whose hooks run or have run. If a hook panics, logs the panic and passes the object and the message to `failed`. Returns `true` if
    /// the caller must destroy the object. Returns `false` if the hooks of the object itself run or have run, or if the hooks of a subobject
    /// still run. In the last case, the object is destroyed after the hooks of the subobject.
    pub(crate) fn announce_end(&self, object: ObjectHandle, mut failed: impl FnMut(ObjectHandle, String)) -> bool {
        let objects = &self.world.objects;
        if !objects.announce_end(object) {
            return false;
        }
        self.ends.begin(object);
        let mut call = |object| {
            if let Some(Err(message)) = self.end_hooks.get().map(|hooks| (hooks.run)(object)) {
                failed(object, message);
            }
        };
        call(object);
        // Lists the subobjects of an object after its hooks, because a hook may destroy subobjects.
        let mut waiting = objects.children(object);
        waiting.reverse();
        let mut holders = Vec::new();
        while let Some(part) = waiting.pop() {
            if objects.announce_end(part) {
                call(part);
            }
            if self.ends.is_running(part) {
                holders.push(part);
            }
            waiting.extend(objects.children(part).into_iter().rev());
        }
        // Hooks in a coroutine may have ended during the hooks of later parts.
        holders.retain(|holder| self.ends.is_running(*holder));
        let must_destroy = holders.is_empty();
        for owner in self.ends.finish(object, holders) {
            destroy(&self.world, &self.plugins(), owner);
        }
        must_destroy
    }

    /// Ends the conjugates that a commit or a rollback has replaced. Passes the plugin parts of these conjugates to the finalizer thread.
    /// The caller must be at a safe point.
    pub(crate) fn end_replaced(&self, replaced: &Replaced) {
        let mut ended = self.finalizer.ended_parts();
        let keys = replaced.conjugates().filter_map(ConjugateKey::from_word);
        keys.for_each(|key| self.pairs.release(key, &mut ended));
    }

    /// Suspends all names that these modules offer. [`Core::take_back`] resumes the names.
    pub(crate) fn set_aside(&self, modules: impl IntoIterator<Item = ModuleId>) {
        for module in modules {
            self.zcalls.suspend(module);
            self.value_types.suspend(module);
        }
    }

    /// Resumes the names that these modules offer.
    pub(crate) fn take_back(&self, modules: impl IntoIterator<Item = ModuleId>) {
        for module in modules {
            self.zcalls.resume(module);
            self.value_types.resume(module);
        }
    }

    /// Removes all names that this module offers, and frees the frame numbers of the module.
    pub(crate) fn end_names(&self, module: ModuleId) {
        self.zcalls.end_module(module);
        self.red.hot().forget(module);
        self.explicit.end_module(module);
        self.chain.end_module(module);
    }

    pub(crate) fn plugins(&self) -> Plugins<'_> {
        Plugins {
            world: &self.world,
            pairs: &self.pairs,
            red: &self.red,
            finalizer: &self.finalizer,
            hooks: &self.hooks,
        }
    }
}

/// Returns the stores, or an error if the runtime was dropped.
pub(crate) fn alive(core: &Weak<Core>) -> Result<Rc<Core>, CallError> {
    core.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })
}

#[cfg(feature = "script")]
mod scripts {
    //! Host interface that scripts use.

    use std::rc::{Rc, Weak};

    use super::Core;
    use crate::boundary::CallError;
    use crate::handles::ObjectHandle;
    use crate::object::World;
    use crate::object::class::Class;
    use crate::object::construction::{ConstructionArgs, construct};

    /// Creates objects for the operator `new` of scripts.
    pub(super) struct Births(pub(super) Weak<Core>);

    impl alcedo_script::host::Host for Births {
        fn construct(
            &self,
            world: &World,
            class: &Rc<Class>,
            args: ConstructionArgs,
        ) -> Result<ObjectHandle, CallError> {
            let core = super::alive(&self.0)?;
            // Performs the checks of a spawn by a plugin; see `host_api`.
            world.mode.may_act("spawning an object")?;
            world.slices.allow_change(&format_args!("spawning a {}", class.path))?;
            world.objects.may_contain(args.outer, class)?;
            construct(world, &core.plugins(), class, args).map_err(|error| CallError::other(error.to_string()))
        }
    }

    #[cfg(test)]
    mod tests {
        use std::rc::Rc;

        use alcedo_abi::host::mode;
        use alcedo_script::host::Host;

        use super::Births;
        use crate::boundary::CallError;
        use crate::bridge::core::Core;
        use crate::handles::ObjectHandle;
        use crate::object::construction::{ConstructionArgs, make_cdo};
        use crate::object::decl::{Batch, ClassDecl};
        use crate::object::origin::Origin;

        #[test]
        fn a_script_makes_no_object_where_a_plugin_would_not() {
            let core = Core::new().expect("a finalizer thread");
            let world = &core.world;
            world.types.declare_package("Engine");
            let batch =
                Batch { classes: vec![ClassDecl::new("Engine", "Object", "", Origin::Native)], ..Batch::default() };
            let class = world.types.declare(&world.names, &batch).expect("a right declaration").classes.remove(0);
            make_cdo(world, &core.plugins(), &class).expect("a class default object");
            let births = Births(Rc::downgrade(&core));
            let make =
                |outer| births.construct(world, &class, ConstructionArgs { outer, ..ConstructionArgs::default() });
            let owner = make(ObjectHandle::NONE).expect("it may");
            assert!(make(owner).is_ok());
            {
                let _rebuilding = world.mode.enter(mode::REBUILDING);
                assert!(matches!(make(owner), Err(CallError::DuringRebuild { .. })));
            }
            core.end_object(owner).expect("it is alive");
            assert!(matches!(make(owner), Err(CallError::Stale { handle }) if handle == owner));
            assert!(matches!(make(class.cdo.get()), Err(CallError::Other { .. })));
        }
    }
}
