//! Load contexts and the modules in them: from a file to running code, and back until the image is gone.

pub(crate) mod checks;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod master;
pub(crate) mod module;
pub(crate) mod open;
pub(crate) mod order;
pub(crate) mod state;
