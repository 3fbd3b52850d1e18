//! Macros behind the attributes. The proc macros parse and check the author's code, and expand to calls of the macros in this
//! folder. So this folder contains every unsafe line of a plugin, with the reason for each line.
//!
//! Safe code can call these macros directly. So a macro with an unsafe line creates all items that the line relies on: a cell,
//! a description, and the entry of the description in a list of the module. Tokens of the caller never appear in an unsafe
//! line, or as an attribute on an item with an unsafe line. A type that is needed twice is passed by a typed constant (a cell,
//! a field), so that tokens with two meanings do not compile.

mod class;
mod delegates;
mod enums;
mod imports;
mod module;
mod structs;
mod values;
