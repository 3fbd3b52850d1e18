//! The patterns behind the attributes. The proc macros read and check what an author wrote; what it becomes stands
//! here, so that every unsafe line that ends up in a plugin is in this folder, with its reason.
//!
//! Whoever writes safe code can call these patterns by hand. So a pattern with an unsafe line in it is whole: what the line
//! rests on (a cell, a description, its place on a list of the module) is made by the same pattern. And nothing that the
//! caller wrote stands in such a line, or as an attribute on an item that has one: a type that is needed twice goes by a
//! typed constant (a cell, a field), so that two meanings of the same words do not compile.

mod class;
mod delegates;
mod enums;
mod imports;
mod module;
mod structs;
mod values;
