//! Creates and unloads the Master load context. A reload uses the same steps. A runtime has at most one Master. When a generation ends, all
//! handles and types of its modules become invalid.

mod bring_up;
pub(crate) mod generation;
pub(crate) mod in_progress;
mod life;
mod loads;
mod start;
mod unloads;

pub(crate) use bring_up::{BroughtUp, bring_up};
pub use life::Unload;
pub(crate) use life::{create, unload};
pub(crate) use loads::{GenerationUnload, Loads, Master, Observer, ids};
pub(crate) use start::{check_uses, declarers, make_cdos, resume, start, suspend, undo_constructions};
pub(crate) use unloads::UnloadingCallback;
