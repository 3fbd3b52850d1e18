//! Floor 1: reflection and the object store. Types are declared here, objects live here, and everything that touches
//! their memory goes through here or through what was promised here.
//!
//! This floor knows neither modules nor calls by name. Where an object's life needs them, it says *when*, and the floors
//! above do it: see [`birth::BirthHooks`]. All of it belongs to the game thread; no store is borrowed while foreign code
//! runs.

pub(crate) mod birth;
pub(crate) mod block;
pub(crate) mod class;
pub(crate) mod collect;
pub(crate) mod containers;
pub(crate) mod convert;
pub(crate) mod counters;
pub(crate) mod decl;
pub(crate) mod dormant;
pub(crate) mod function;
pub(crate) mod interface;
pub(crate) mod layout;
pub(crate) mod lazy;
pub(crate) mod links;
pub(crate) mod memory;
pub(crate) mod mode;
pub(crate) mod names;
pub(crate) mod natives;
pub(crate) mod nested;
pub(crate) mod objects;
pub(crate) mod owned;
pub(crate) mod path;
pub(crate) mod property;
pub(crate) mod refusal;
pub(crate) mod row;
pub(crate) mod seats;
pub(crate) mod slices;
pub(crate) mod storage;
pub(crate) mod structs;
pub(crate) mod suits;
pub(crate) mod text;
pub(crate) mod text_memory;
pub(crate) mod thunk;
pub(crate) mod transfer;
pub(crate) mod type_text;
pub(crate) mod typed;
pub(crate) mod typed_containers;
pub(crate) mod typed_values;
pub(crate) mod types;
pub(crate) mod typing;
pub(crate) mod value;

pub(crate) mod bits;
mod compile;
mod compile_class;
pub(crate) mod naming;
mod order;
mod paths;
mod pool;
mod references;
mod slots;
mod stack;
#[cfg(test)]
pub(crate) mod testing;

use std::rc::Rc;

use counters::Counters;
use lazy::LazyIds;
use mode::ModeWord;
use names::Names;
use objects::Objects;
use slices::LentSlices;
use stack::CallStack;
use types::Types;

/// All objects and types of a host, as native code sees them. It never leaves the game thread.
#[derive(Debug)]
pub struct World {
    /// Interned names.
    pub(crate) names: Rc<Names>,
    /// Packages, classes, structs.
    pub(crate) types: Types,
    /// The objects.
    pub(crate) objects: Objects,
    /// What the host does at the moment, and who may write meanwhile.
    pub(crate) mode: ModeWord,
    /// Slices of values that plugin code holds.
    pub(crate) slices: LentSlices,
    /// What happened so far.
    pub(crate) counters: Counters,
    /// Who is known by which id.
    pub(crate) lazy: LazyIds,
    /// What running calls of the host refer to.
    pub(crate) stack: CallStack,
}

impl World {
    /// An empty world.
    pub(crate) fn new() -> Self {
        let (names, mode, slices) = (Rc::new(Names::new()), ModeWord::new(), LentSlices::new());
        Self {
            types: Types::new(),
            objects: Objects::new(Rc::clone(&names), mode.clone(), slices.clone()),
            names,
            mode,
            slices,
            counters: Counters::default(),
            lazy: LazyIds::default(),
            stack: CallStack::default(),
        }
    }
}
