//! Master load context: create, unload, and the steps shared with a reload. At most one exists at a time; everything that the
//! modules of a generation hand out ends with the generation.

mod bring_up;
mod life;
mod loads;
mod start;

pub(crate) use bring_up::{BroughtUp, bring_up};
pub use life::Unload;
pub(crate) use life::{create, unload};
pub(crate) use loads::{Loads, Master, Observer, ids};
pub(crate) use start::{declarers, make_cdos, resume, start, suspend, undo_constructions};
