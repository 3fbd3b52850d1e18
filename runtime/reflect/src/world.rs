//! World: the stores of objects and types of a host. Stores do not refer to the world. Operations on several stores receive the world as an
//! argument.
#![expect(unsafe_code, reason = "hooks of native classes receive the world without its type")]

use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

use alcedo_base::epoch::Epoch;

use crate::broadcasts::Broadcasts;
use crate::counters::Counters;
use crate::hooks::{HookContext, TheWorld};
use crate::lazy::LazyIds;
use crate::mode::ModeWord;
use crate::names::Names;
use crate::objects::Objects;
use crate::slices::BorrowedSlices;
use crate::stack::CallStack;
use crate::types::Types;

/// All stores of a host. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_reflect::World;
///
/// let world = World::new();
/// let speed = world.names.intern("speed");
/// assert_eq!(&*world.names.text(speed), "speed");
/// assert!(world.types.class_by_path("/Script/Game.Lamp").is_none());
/// ```
#[derive(Debug)]
pub struct World {
    /// Interned names.
    pub names: Rc<Names>,
    /// Packages, classes, structs and all other types.
    pub types: Types,
    /// Objects.
    pub objects: Objects,
    /// Epoch that invalidates cached calls and offsets.
    pub epoch: Rc<Epoch>,
    /// Current mode of the host. The mode restricts writes and calls.
    pub mode: ModeWord,
    /// Counter of slices that plugin code holds.
    pub slices: BorrowedSlices,
    /// Statistics.
    pub counters: Counters,
    /// Lazy ids of objects.
    pub lazy: LazyIds,
    /// Objects that running calls hold.
    pub stack: CallStack,
    /// Calls of delegates in progress.
    pub broadcasts: Broadcasts,
    /// Opaque value of higher layers, for hooks that receive only the world.
    pub host: OnceCell<Rc<dyn Any>>,
}

impl TheWorld for World {}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// Creates an empty world.
    pub fn new() -> Self {
        let (names, mode, slices) = (Rc::new(Names::default()), ModeWord::default(), BorrowedSlices::new());
        Self {
            types: Types::default(),
            objects: Objects::new(Rc::clone(&names), mode.clone(), slices.clone()),
            names,
            epoch: Rc::default(),
            mode,
            slices,
            counters: Counters::default(),
            lazy: LazyIds::default(),
            stack: CallStack::default(),
            broadcasts: Broadcasts::default(),
            host: OnceCell::new(),
        }
    }

    /// Returns the world of a hook context.
    #[inline]
    pub fn of(context: HookContext<'_>) -> &Self {
        // SAFETY: a context is created only from `TheWorld`, which only this type implements, and borrows it for that lifetime.
        unsafe { context.world().cast().as_ref() }
    }

    /// Returns the context for calls of hooks.
    #[inline]
    pub fn context(&self) -> HookContext<'_> {
        HookContext::new(self)
    }
}
