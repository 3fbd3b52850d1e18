//! Reflection and the object store. Types are declared here, objects live here, and everything that touches their memory
//! goes through here or through what was promised here.
//!
//! A part of `alcedo-runtime`, which is what hosts depend on and which keeps from them what only it may use. This crate knows
//! neither modules nor calls by name. Where an object's life needs them, it says *when*, and the host does it: see
//! [`construction::ConstructionHooks`], [`collect::RootSource`] and [`hooks`]. All of it belongs to the game thread; no store is borrowed
//! while foreign code runs.

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
pub mod interface;
mod invoke;
mod kind_list;
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
pub mod objects;
mod order;
pub mod origin;
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
pub mod type_text;
pub mod typed;
mod typed_containers;
pub mod typed_values;
pub mod types;
mod typing;
pub mod value;
pub mod values;
pub mod word_place;
mod world;

/// What [`plain_struct!`] expands to. Not for use by hand.
#[doc(hidden)]
pub mod plumbing {
    pub use crate::host_structs::{FieldsToRead, FieldsToWrite, HostField, HostStructure, StructOf};
    pub use crate::host_value::HostValue;
    pub use crate::native_value::NativeValue;
    pub use crate::typed::{PlainField, PlainStruct, PropertyKind, add_field, start_fields};
}

pub use property::nested;
pub use values::owned;
pub use world::World;
