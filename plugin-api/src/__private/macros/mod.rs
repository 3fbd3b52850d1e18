//! Macros behind the attributes. The proc macros parse and check the author's code; the macros here contain the expansion, so
//! that every unsafe line in a plugin is in this folder, with its reason.
//!
//! Safe code can call these macros by hand. So a macro with an unsafe line is complete: items that the line relies on (a cell,
//! a description, its entry in a list of the module) are created by the same macro. Tokens of the caller never appear in such a
//! line, or as an attribute on an item that contains one. A type that is needed twice is passed by a typed constant (a cell, a
//! field), so that two meanings of the same tokens do not compile.

mod class;
mod delegates;
mod enums;
mod imports;
mod module;
mod structs;
mod values;
