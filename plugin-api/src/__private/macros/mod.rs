//! Macros behind the attributes. The proc macros parse and check the author's code, and expand to calls of the macros in this folder, so
//! this folder contains every unsafe line of a plugin, with its reason.
//!
//! Safe code can call these macros directly. Therefore a macro with an unsafe line itself creates all items on which the line relies: a
//! cell, a description, and the description's entry in a list of the module. Tokens of the caller never appear in an unsafe line, or as an
//! attribute on an item with an unsafe line. An unsafe implementation calls functions by their paths, because a trait of the caller could
//! replace a method. An arm that starts with `@` implements no unsafe trait, because the caller can select this arm without the arm that
//! creates the other items. If an expansion needs a type twice, it passes the type through a typed constant (a cell, a field), so that
//! tokens that resolve to two different types do not compile.

mod class;
mod delegates;
mod enums;
mod imports;
mod module;
mod structs;
mod values;
