//! Script packages: folders of script source that are loaded as modules. This module reads and parses a package before any module is
//! loaded. The result contains the declarations and identifiers of the package. `emit` creates the classes of a package after the types of
//! its dependencies are declared. `load` stores the package as the code of a module.

pub(crate) mod declare;
pub(crate) mod defaults;
pub(crate) mod manifest;
pub(crate) mod package;
pub(crate) mod text;
