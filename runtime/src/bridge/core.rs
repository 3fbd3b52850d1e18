//! The stores of one runtime, side by side. The root owns them; calls by name, modules and the reload work on them.
//! Each store guards itself, and none is borrowed while plugin code runs.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::border::CallError;
use crate::bridge::nm::Exports;
use crate::bridge::rebuild::Rebuild;
use crate::conjugate::build::{ClassHooks, Plugins};
use crate::conjugate::finalizer::Finalizer;
use crate::conjugate::pairs::Pairs;
use crate::conjugate::red::RedStack;
use crate::game_thread::{GameThread, GameThreadId};
use crate::handles::{ClassId, Generation, ObjectHandle};
use crate::logs::Logs;
use crate::object::World;
use crate::object::birth::destroy;
use crate::zcall::chain::ResolverChain;
use crate::zcall::explicit::Explicit;
use crate::zcall::table::ZCallTable;

/// The stores of one runtime. Game thread only, but for `game_thread` and `logs`.
pub(crate) struct Core {
    /// Who the game thread is.
    pub game_thread: GameThreadId,
    /// Names, types, objects.
    pub world: World,
    /// Objects and their plugin halves.
    pub pairs: Pairs,
    /// Open host-to-plugin calls.
    pub red: RedStack,
    /// Where plugin halves end.
    pub finalizer: Finalizer,
    /// How to enter the modules of dynamic classes.
    pub hooks: RefCell<HashMap<ClassId, Rc<ClassHooks>>>,
    /// Resolved calls.
    pub zcalls: ZCallTable,
    /// Who resolves names.
    pub chain: ResolverChain,
    /// Functions registered by name.
    pub explicit: Rc<Explicit>,
    /// Static functions of modules.
    pub exports: Rc<Exports>,
    /// Events and spans of modules.
    pub logs: Arc<Logs>,
    /// What the root does before an object is ended on purpose: end play, and the like.
    pub(crate) before_end: OnceCell<Box<dyn Fn(ObjectHandle)>>,
    /// The rebuild that is running, if one is.
    pub rebuild: RefCell<Option<Rebuild>>,
}

impl Core {
    /// Empty stores; the calling thread becomes the game thread.
    ///
    /// # Errors
    /// When the finalizer thread cannot be started.
    pub(crate) fn new() -> std::io::Result<Rc<Self>> {
        let core = Rc::new(Self {
            game_thread: GameThreadId::here(),
            world: World::new(),
            pairs: Pairs::default(),
            red: RedStack::default(),
            finalizer: Finalizer::start()?,
            hooks: RefCell::default(),
            zcalls: ZCallTable::new(),
            chain: ResolverChain::new(),
            explicit: Rc::new(Explicit::default()),
            exports: Rc::new(Exports::default()),
            logs: Arc::default(),
            before_end: OnceCell::new(),
            rebuild: RefCell::default(),
        });
        super::resolvers::install(&core);
        Ok(core)
    }

    /// The proof for callers that are inside the game thread by construction: `Core` never leaves it.
    pub(crate) fn here(&self) -> GameThread<'_> {
        self.game_thread.prove().expect("a `Core` is neither Send nor Sync, so only the game thread holds one")
    }

    /// Ends an object on purpose: whoever wants to know is told while it is whole.
    ///
    /// # Errors
    /// When it is gone, or when a reload is under way that could not bring it back.
    pub(crate) fn end_object(&self, object: ObjectHandle) -> Result<(), CallError> {
        if !self.world.objects.is_alive(object) {
            return Err(CallError::Stale { handle: object });
        }
        if self.world.objects.predates_shadow(object) {
            return Err(CallError::DuringRebuild { action: format!("destroying {object}") });
        }
        if let Some(before_end) = self.before_end.get() {
            before_end(object);
        }
        destroy(&self.world, &self.plugins(), object);
        Ok(())
    }

    /// Nothing that a generation offers by name answers any more, until it is taken back.
    pub(crate) fn set_aside(&self, generation: Generation) {
        self.zcalls.suspend(generation);
        self.explicit.suspend(generation);
    }

    /// What a generation offers by name answers again.
    pub(crate) fn take_back(&self, generation: Generation) {
        self.zcalls.resume(generation);
        self.explicit.resume(generation);
    }

    /// The plugin side of births.
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
