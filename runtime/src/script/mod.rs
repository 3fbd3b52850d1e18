//! Packages of scripts: folders of text that are modules like libraries. This floor reads a package and makes its text into
//! classes whose functions lead into the frame machine; `load` has it as the code of a module.

pub(crate) mod package;
