//! Packages of scripts: folders of text that are modules like libraries. Here a package is read and parsed, so that what it
//! declares and names is known before anything is loaded. Its classes are made by `emit`, when the types before it are declared;
//! `load` has it as the code of a module.

pub(crate) mod declare;
pub(crate) mod defaults;
pub(crate) mod manifest;
pub(crate) mod outline;
pub(crate) mod package;
pub(crate) mod text;
