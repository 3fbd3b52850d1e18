//! The world: all stores of objects and types, side by side. Stores do not name it; what works on several of them takes it.
#![expect(unsafe_code, reason = "the world goes to the hooks of native classes without its type, and comes back")]

use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

use alcedo_base::stamp::Stamp;

use crate::counters::Counters;
use crate::hooks::{HookContext, TheWorld};
use crate::lazy::LazyIds;
use crate::mode::ModeWord;
use crate::names::Names;
use crate::objects::Objects;
use crate::slices::LentSlices;
use crate::stack::CallStack;
use crate::types::Types;

/// All objects and types of a host, as native code sees them. It never leaves the game thread.
#[derive(Debug)]
pub struct World {
    /// Interned names.
    pub names: Rc<Names>,
    /// Packages, classes, structs.
    pub types: Types,
    /// The objects.
    pub objects: Objects,
    /// What changes when something kept about calls or places may be wrong.
    pub stamp: Rc<Stamp>,
    /// What the host does at the moment, and which code may write meanwhile.
    pub mode: ModeWord,
    /// Slices of values that plugin code holds.
    pub slices: LentSlices,
    /// What happened so far.
    pub counters: Counters,
    /// Which object has which id.
    pub lazy: LazyIds,
    /// What running calls of the host refer to.
    pub stack: CallStack,
    /// What the floors above keep beside the world, for the hooks that are given nothing but the world.
    pub host: OnceCell<Rc<dyn Any>>,
}

impl TheWorld for World {}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty world.
    pub fn new() -> Self {
        let (names, mode, slices) = (Rc::new(Names::new()), ModeWord::new(), LentSlices::new());
        Self {
            types: Types::new(),
            objects: Objects::new(Rc::clone(&names), mode.clone(), slices.clone()),
            names,
            stamp: Rc::default(),
            mode,
            slices,
            counters: Counters::default(),
            lazy: LazyIds::default(),
            stack: CallStack::default(),
            host: OnceCell::new(),
        }
    }

    /// The world that a hook is called for.
    #[inline]
    pub fn of(context: HookContext<'_>) -> &Self {
        // SAFETY: a context is made of `TheWorld`, which this type alone is, and lends it for that lifetime.
        unsafe { context.world().cast().as_ref() }
    }

    /// What hooks are called with.
    #[inline]
    pub fn context(&self) -> HookContext<'_> {
        HookContext::new(self)
    }
}
