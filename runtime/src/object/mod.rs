//! Floor 1: reflection and the object store. Types are declared here, objects live here, and everything that touches
//! their memory goes through here or through what was promised here.
//!
//! This floor knows neither modules nor calls by name. Where an object's life needs them, it says *when*, and the floors
//! above do it: see [`birth::BirthHooks`]. All of it belongs to the game thread; no store is borrowed while foreign code
//! runs.

pub mod birth;
pub mod class;
pub mod collect;
pub mod convert;
pub mod counters;
pub mod decl;
pub mod function;
pub mod layout;
pub mod memory;
pub mod mode;
pub mod names;
pub mod objects;
pub mod path;
pub mod property;
pub mod refusal;
pub mod storage;
pub mod structs;
pub mod text;
pub mod thunk;
pub mod typed;
pub mod types;
pub mod value;

mod compile;
mod compile_class;
mod order;
mod slots;
#[cfg(test)]
mod testing;

pub use birth::{BirthArgs, BirthFailed, BirthHooks, BirthStep, StepError, birth, destroy, make_cdo};
pub use class::{Class, NativeHook, Origin, Subobject, SubobjectRole};
pub use compile::Declared;
pub use convert::convert;
pub use counters::Counters;
pub use decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl, StructDecl, SubobjectDecl};
pub use function::Function;
pub use mode::ModeWord;
pub use names::Names;
pub use objects::{Body, Objects};
pub use property::{Property, PropertyType};
pub use refusal::DeclareError;
pub use storage::{Schema, View};
pub use structs::StructType;
pub use thunk::{Frame, ParamBlock, Thunk};
pub use typed::{FrameValue, PlainStruct};
pub use types::Types;
pub use value::Value;

/// All objects and types of a host. It never leaves the game thread.
#[derive(Debug)]
pub struct World {
    /// Interned names.
    pub names: Names,
    /// Packages, classes, structs.
    pub types: Types,
    /// The objects.
    pub objects: Objects,
    /// What the host does at the moment, and who may write meanwhile.
    pub mode: ModeWord,
    /// What happened so far.
    pub counters: Counters,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty world.
    pub fn new() -> Self {
        let mode = ModeWord::new();
        Self {
            names: Names::new(),
            types: Types::new(),
            objects: Objects::new(mode.clone()),
            mode,
            counters: Counters::default(),
        }
    }
}
