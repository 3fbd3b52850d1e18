//! The Master load context: create and unload, and the steps that a reload shares with them. There is one at a time; each has
//! a generation, and everything its modules hand out ends with it.

mod bring_up;
mod life;
mod loads;
mod start;

pub(crate) use bring_up::{BroughtUp, bring_up};
pub use life::Unload;
pub(crate) use life::{create, unload};
pub(crate) use loads::{Loads, Master, Observer, ids};
pub(crate) use start::{declarers, make_cdos, resume, start, suspend, undo_constructions};
