//! The stores of one runtime, side by side. The root owns them; calls by name, modules and the reload work on them.
//! Each store guards itself, and none is borrowed while plugin code runs.

use std::cell::OnceCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use alcedo_base::repeats::Repeats;

use crate::border::CallError;
use crate::bridge::collection::Collection;
use crate::bridge::delegates::Delegates;
use crate::bridge::exports::Exports;
use crate::bridge::frames::OpenFrames;
use crate::bridge::tasks::Tasks;
use crate::bridge::value_types::ValueTypes;
use crate::bridge::ways::Ways;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::conjugate::blacks::Blacks;
use crate::conjugate::build::Plugins;
use crate::conjugate::class_hook_table::ClassHookTable;
use crate::conjugate::finalizer::Finalizer;
use crate::conjugate::hot::HotFrames;
use crate::conjugate::pairs::Pairs;
use crate::conjugate::red::RedStack;
use crate::game_thread::{GameThread, GameThreadId};
use crate::handles::{ModuleId, ObjectHandle};
use crate::logs::Logs;
use crate::object::World;
use crate::object::construction::destroy;
use crate::watchdog::{GAME_THREAD, Listener, Source, Watchdog};
use crate::zcall::chain::ResolverChain;
use crate::zcall::explicit::Explicit;
use crate::zcall::table::ZCallTable;

/// The stores of one runtime. Game thread only, but for `game_thread` and `logs`.
pub(crate) struct Core {
    /// Which thread the game thread is.
    pub game_thread: GameThreadId,
    /// Names, types, objects.
    pub world: World,
    /// What calls that were looked up before need of all this.
    pub ways: Rc<Ways>,
    /// Objects and their plugin parts.
    pub pairs: Rc<Pairs>,
    /// Values that plugin code owns.
    pub blacks: Blacks,
    /// Open host-to-plugin calls.
    pub red: RedStack,
    /// Where plugin parts end.
    pub finalizer: Finalizer,
    /// How to enter the modules of dynamic classes.
    pub hooks: RefCell<ClassHookTable>,
    /// Resolved calls.
    pub zcalls: ZCallTable,
    /// The resolvers of names.
    pub chain: ResolverChain,
    /// Functions registered by name.
    pub explicit: Rc<Explicit>,
    /// Static functions of modules.
    pub exports: Rc<Exports>,
    /// Events and spans of modules.
    pub logs: Arc<Logs>,
    /// Counts failures that were logged.
    pub failures: Repeats,
    /// What the root does before an object is ended on purpose: end play, and the like.
    pub(crate) before_end: OnceCell<Box<dyn Fn(ObjectHandle)>>,
    /// Reports a thread that does not return, if the host has set one.
    pub(crate) watchdog: OnceCell<Watchdog>,
    /// What modules have scheduled to run later.
    pub tasks: Tasks,
    /// Delegates that are being called.
    pub delegates: Delegates,
    /// What was requested of the collection.
    pub collection: Collection,
    /// The types of values that modules use by number.
    pub value_types: ValueTypes,
    /// Calls whose thunk is plugin code's own.
    pub frames: OpenFrames,
    /// What runs scripts.
    #[cfg(feature = "script")]
    machine: RefCell<Rc<alcedo_script::Machine>>,
    /// The code of scripts.
    #[cfg(feature = "script")]
    pub scripts: crate::bridge::scripts::ScriptCodes,
    /// The C layouts of structs that the host states, with those of its folder of libraries: functions of scripts are checked by
    /// them, and libraries of modules are opened with them.
    #[cfg(feature = "dll-bind")]
    pub(crate) c_layouts: OnceCell<alcedo_dll_bind::Layouts>,
    /// The C libraries that classes of modules may be bound to, if the host has set a folder.
    #[cfg(feature = "dll-bind")]
    pub(crate) user_code: OnceCell<alcedo_dll_bind::UserCode>,
}

/// What there is of the host beside its world, for hooks of native classes, which are given the world alone.
pub(crate) struct HostOfWorld {
    ways: Rc<Ways>,
    core: Weak<Core>,
}

impl HostOfWorld {
    /// That of the host which has this world.
    #[inline]
    pub(crate) fn of(world: &World) -> Option<&Self> {
        world.host.get()?.downcast_ref()
    }

    /// What calls by short ways look at.
    #[inline]
    pub(crate) fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The host, while it is there.
    pub(crate) fn core(&self) -> Option<Rc<Core>> {
        self.core.upgrade()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Whoever kept a short way may be used by what is dropped now.
        self.zcalls.stamp().shut();
    }
}

impl Core {
    /// Empty stores, and the protocols of this chain, which leads nowhere yet; the calling thread becomes the game thread.
    ///
    /// # Errors
    /// When the finalizer thread cannot be started.
    pub(super) fn with_chain(chain: ResolverChain) -> std::io::Result<Rc<Self>> {
        let world = World::new();
        let zcalls = ZCallTable::with_stamp(Rc::clone(&world.stamp));
        let red = RedStack::new(Rc::new(HotFrames::new(Rc::clone(zcalls.stamp()))));
        world.stack.keep_free(HotFrames::RESERVE, red.hot().stack());
        let pairs = Rc::new(Pairs::default());
        let ways = Rc::new(Ways::new(&red, &pairs, &world));
        let core = Rc::new(Self {
            game_thread: GameThreadId::here(),
            world,
            ways,
            pairs,
            blacks: Blacks::default(),
            red,
            finalizer: Finalizer::start()?,
            hooks: RefCell::default(),
            zcalls,
            chain,
            explicit: Rc::new(Explicit::default()),
            exports: Rc::new(Exports::default()),
            logs: Arc::default(),
            failures: Repeats::new(),
            before_end: OnceCell::new(),
            watchdog: OnceCell::new(),
            tasks: Tasks::default(),
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
        });
        let host = HostOfWorld { ways: Rc::clone(&core.ways), core: Rc::downgrade(&core) };
        let _first = core.world.host.set(Rc::new(host));
        let mode = core.world.mode.clone();
        core.zcalls.stamp().on_change(move |is_observed| mode.follow(is_observed));
        #[cfg(feature = "script")]
        core.limit_scripts(alcedo_script::Limits::default());
        Ok(core)
    }

    /// What runs scripts.
    #[cfg(feature = "script")]
    pub(crate) fn machine(&self) -> Rc<alcedo_script::Machine> {
        Rc::clone(&self.machine.borrow())
    }

    /// Whether code of a plugin or of a script is on the stack: then this is no safe point.
    pub(crate) fn code_runs(&self) -> bool {
        #[cfg(feature = "script")]
        if self.machine.borrow().is_running() {
            return true;
        }
        self.red.depth() != 0
    }

    /// Scripts go so far and no further. There are none yet.
    #[cfg(feature = "script")]
    pub(crate) fn limit_scripts(self: &Rc<Self>, limits: alcedo_script::Limits) {
        let machine = alcedo_script::Machine::new(limits);
        machine.set_stack(self.red.hot().stack());
        machine.set_host(Rc::new(scripts::Births(Rc::downgrade(self))));
        self.machine.replace(machine);
    }

    /// Sets the bytes of the stack of the game thread that calls leave free.
    pub(crate) fn set_stack_reserve(&self, bytes: usize) {
        self.red.hot().set_reserve(bytes);
        self.world.stack.keep_free(bytes, self.red.hot().stack());
    }

    /// Has the game thread and the finalizer thread watched from now on; more than `limit` is too long.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn watch(&self, limit: Duration, listeners: Arc<Callbacks<Listener>>) -> std::io::Result<()> {
        let activities = Arc::clone(self.red.activities());
        activities.turn_on();
        // From now on each call is told to the watchdog, which only the long way does.
        self.zcalls.stamp().shut();
        let game_thread = Source { thread: GAME_THREAD, activity: Box::new(move || activities.snapshot()) };
        let watchdog = Watchdog::start(limit, vec![game_thread, self.finalizer.source()], listeners)?;
        // There is one at most: a second one would report the same.
        let _first = self.watchdog.set(watchdog);
        Ok(())
    }

    /// The proof for callers that are inside the game thread by construction: `Core` never leaves it.
    pub(crate) fn here(&self) -> GameThread<'_> {
        self.game_thread.prove().expect("a `Core` is neither Send nor Sync, so only the game thread holds one")
    }

    /// Runs the closures that were posted until now. Without effect while code of a plugin or of a script is on the stack.
    pub(crate) fn pump_posted(&self) {
        if !self.code_runs() {
            self.tasks.pump_posted(&self.world, &self.red);
        }
    }

    /// Runs what goes on while the game thread waits for an unload: closures that were posted to it. While something comes
    /// up or is undone they wait: what they do would be refused, and they would be spent.
    pub(crate) fn meanwhile(&self) {
        if !self.world.mode.is_before_commit() {
            self.pump_posted();
        }
    }

    /// Ends an object on purpose: the listeners for its end are called while it is whole.
    ///
    /// # Errors
    /// When it is gone, when it is a class default object, or when a reload is under way that could not bring it back;
    /// [`CallError::TooDeep`].
    pub(crate) fn end_object(&self, object: ObjectHandle) -> Result<(), CallError> {
        if !self.world.objects.is_alive(object) {
            return Err(CallError::Stale { handle: object });
        }
        let shown = self.world.objects.shown(object);
        if self.world.objects.is_template(object) {
            return Err(CallError::other(format!(
                "{shown} is a class default object, or a part of one, and goes with its class: destroy an object of the class"
            )));
        }
        if self.world.objects.predates_shadow(object) {
            return Err(CallError::DuringRebuild { action: format!("destroying {shown}") });
        }
        self.world.slices.allow_change(&format_args!("destroying {shown}"))?;
        let _end = self.world.stack.enter_end(&format_args!("destroying {shown}"))?;
        self.tell_before_end(object);
        destroy(&self.world, &self.plugins(), object);
        Ok(())
    }

    /// Calls the listeners for the end of an object that is about to be ended on purpose.
    pub(crate) fn tell_before_end(&self, object: ObjectHandle) {
        if let Some(before_end) = self.before_end.get() {
            before_end(object);
        }
    }

    /// Nothing that these modules offer by name answers any more, until they are taken back.
    pub(crate) fn set_aside(&self, modules: impl IntoIterator<Item = ModuleId>) {
        for module in modules {
            self.zcalls.suspend(module);
            self.explicit.suspend(module);
            self.chain.suspend(module);
            self.value_types.suspend(module);
        }
    }

    /// What these modules offer by name answers again.
    pub(crate) fn take_back(&self, modules: impl IntoIterator<Item = ModuleId>) {
        for module in modules {
            self.zcalls.resume(module);
            self.explicit.resume(module);
            self.chain.resume(module);
            self.value_types.resume(module);
        }
    }

    /// The plugin side of constructions.
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

/// The stores, while there are any.
///
/// # Errors
/// When the runtime has ended.
pub(crate) fn alive(core: &Weak<Core>) -> Result<Rc<Core>, CallError> {
    core.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })
}

#[cfg(feature = "script")]
mod scripts {
    //! What scripts ask of their host.

    use std::rc::{Rc, Weak};

    use super::Core;
    use crate::border::CallError;
    use crate::handles::ObjectHandle;
    use crate::object::World;
    use crate::object::class::Class;
    use crate::object::construction::{ConstructionArgs, construct};

    /// Brings objects into the world for `new`.
    pub(super) struct Births(pub(super) Weak<Core>);

    impl alcedo_script::host::Host for Births {
        fn construct(
            &self,
            world: &World,
            class: &Rc<Class>,
            args: ConstructionArgs,
        ) -> Result<ObjectHandle, CallError> {
            let core = super::alive(&self.0)?;
            // As for a plugin: see `host_api`.
            world.mode.may_act("spawning an object")?;
            world.slices.allow_change(&format_args!("spawning a {}", class.path))?;
            if !args.outer.is_none() && !world.objects.is_alive(args.outer) {
                return Err(CallError::Stale { handle: args.outer });
            }
            construct(world, &core.plugins(), class, args).map_err(|error| CallError::other(error.to_string()))
        }
    }

    #[cfg(test)]
    mod tests {
        use std::rc::Rc;

        use alcedo_abi::host::mode;
        use alcedo_script::host::Host;

        use super::Births;
        use crate::border::CallError;
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
        }
    }
}
