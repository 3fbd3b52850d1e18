//! Reflection and the object store. This crate declares types and stores objects. All access to object memory uses this crate, or layouts
//! that this crate guarantees.
//!
//! This crate is a part of `alcedo-runtime`, the crate for hosts. `alcedo-runtime` re-exports only the interfaces for hosts. This crate
//! depends neither on modules nor on calls by name. Some steps of an object's lifetime need modules or calls by name. These steps run in
//! hooks: see [`construction::ConstructionHooks`], [`collect::RootSource`] and [`hooks`]. All stores belong to the game thread. No store is
//! borrowed during calls of foreign code.

pub mod arguments;
pub mod bits;
mod block;
pub mod body;
pub mod broadcasts;
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
pub mod convertible;
mod counters;
pub mod decl;
mod delegate_decl;
mod delegate_text;
pub mod delegates;
pub mod dormant;
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
mod near_hash;
#[doc(hidden)]
pub mod object_flags;
pub mod objects;
pub mod order;
pub mod origin;
pub mod path;
mod paths;
mod pool;
pub mod property;
mod references;
pub mod refusal;
mod registry;
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
pub mod word_offset;
mod world;

/// Support for the expansion of [`plain_struct!`]. These items are not a public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::host_structs::{FieldsToRead, FieldsToWrite, HostField, HostStructure, StructOf};
    pub use crate::host_value::HostValue;
    pub use crate::native_value::NativeValue;
    pub use crate::typed::{PlainField, PlainStruct, PropertyKind, add_field, start_fields};
    pub use alcedo_abi::names::unraw;
}

pub use property::nested;
pub use text::{listed, quote};
pub use values::owned;
pub use world::World;
