//! Packages of scripts: folders of source that are modules like libraries. A package is read and parsed here, so that its
//! declarations and names are known before anything is loaded. `emit` creates its classes after the types of its dependencies are
//! declared; `load` stores the package as the code of a module.

pub(crate) mod declare;
pub(crate) mod defaults;
pub(crate) mod manifest;
pub(crate) mod outline;
pub(crate) mod package;
pub(crate) mod text;
