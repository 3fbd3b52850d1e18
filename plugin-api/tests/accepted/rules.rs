//! Contains one module for each rule of the attributes and of their items: see `tests/rules.rs`.
#![allow(
    unused,
    unused_qualifications,
    unreachable_pub,
    missing_docs,
    clippy::all,
    reason = "cases are compiled, not called"
)]
#![forbid(unsafe_code)]

#[path = "forms/attributes_of_members.rs"]
mod attributes_of_members;
#[path = "rules/class.rs"]
mod class;
#[path = "rules/class_impl.rs"]
mod class_impl;
#[path = "rules/delegate.rs"]
mod delegate;
#[path = "rules/enumeration.rs"]
mod enumeration;
#[path = "rules/events.rs"]
mod events;
#[path = "rules/exports.rs"]
mod exports;
#[path = "rules/imports.rs"]
mod imports;
#[path = "rules/interface.rs"]
mod interface;
#[path = "forms/interfaces_with_functions.rs"]
mod interfaces_with_functions;
#[path = "forms/kinds_of_values.rs"]
mod kinds_of_values;
#[path = "rules/method.rs"]
mod method;
#[path = "rules/migrations.rs"]
mod migrations;
#[path = "forms/names_of_properties.rs"]
mod names_of_properties;
#[path = "forms/names_of_the_macros_own.rs"]
mod names_of_the_macros_own;
#[path = "forms/pages.rs"]
mod pages;
#[path = "rules/properties_on_self.rs"]
mod properties_on_self;
#[path = "forms/results_that_may_be_errors.rs"]
mod results_that_may_be_errors;
#[path = "rules/specifiers.rs"]
mod specifiers;
#[path = "rules/structure.rs"]
mod structure;

fn main() {}
