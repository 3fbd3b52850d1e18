//! Reflection and the object store. Types are declared here, objects live here, and everything that touches their memory
//! goes through here or through what was promised here.
//!
//! A part of `alcedo-runtime`, which is what hosts depend on and which keeps from them what only it may use. This crate knows
//! neither modules nor calls by name. Where an object's life needs them, it says *when*, and the host does it: see
//! [`construction::ConstructionHooks`], [`collect::RootSource`] and [`hooks`]. All of it belongs to the game thread; no store is borrowed
//! while foreign code runs.
#![expect(unsafe_code, reason = "the world goes to the hooks of native classes without its type, and comes back")]

pub mod arguments;
pub mod bits;
mod block;
pub mod body;
pub mod class;
pub mod collect;
mod compile;
mod compile_class;
mod compile_delegate;
mod compile_enum;
mod compile_interface;
pub mod construction;
pub mod containers;
pub mod convert;
mod counters;
pub mod decl;
mod delegate_decl;
mod delegate_words;
pub mod delegates;
pub mod dormant;
#[doc(hidden)]
pub mod dump;
pub mod enums;
pub mod fixed;
pub mod function;
pub mod held;
pub mod hooks;
pub mod host_structs;
pub mod host_value;
pub mod hot_columns;
mod interface;
mod invoke;
mod layout;
pub mod lazy;
mod links;
mod marker;
pub mod member;
pub mod meta;
pub mod mode;
pub mod names;
pub mod naming;
pub mod native_enums;
pub mod native_out;
pub mod native_value;
pub mod natives;
pub mod nested;
pub mod objects;
mod order;
pub mod origin;
pub mod owned;
pub mod path;
mod paths;
mod pool;
pub mod property;
mod references;
pub mod refusal;
pub mod row;
pub mod slices;
mod slots;
mod stack;
pub mod storage;
pub mod structs;
mod suits;
#[doc(hidden)]
pub mod testing;
mod text;
pub mod thunk;
pub mod transfer;
pub mod type_text;
pub mod typed;
mod typed_containers;
pub mod typed_values;
pub mod types;
mod typing;
pub mod value;
pub mod values;
pub mod word_place;

/// What [`plain_struct!`] expands to. Not for use by hand.
#[doc(hidden)]
pub mod plumbing {
    pub use crate::host_structs::{FieldsToRead, FieldsToWrite, HostField, HostStructure, StructOf};
    pub use crate::host_value::HostValue;
    pub use crate::native_value::NativeValue;
    pub use crate::typed::{PlainField, PlainStruct, PropertyKind, add_field, start_fields};
}

use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

use alcedo_base::stamp::Stamp;

use counters::Counters;
use hooks::{HookContext, TheWorld};
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
