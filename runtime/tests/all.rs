//! Contains the runtime tests that share one test binary, one module per file. Each file runs in its own process: see `support/apart.rs`.
//! `soak.rs` contains the tests that also run in release. Tests with their own main or allocator are separate programs.
//!
//! `cargo test -p alcedo-runtime --test all links::` runs one file.

#[path = "support/apart.rs"]
mod apart;
mod support;

/// Builds all plugins in parallel instead of sequentially.
const PREPARE: fn() -> apart::Variables = support::workspace::build_all;

const FILES_PER_PROCESSOR: usize = 1;

/// Files whose tests wait for deadlines and time limits.
const WAITING: &[&str] = &["alarms", "health", "watchdog"];

/// Files that take longest. They run first, so that no processor is idle at the end.
const FIRST: &[&str] = &["rollback", "unloading"];

/// Number of objects that each test of `aliases.rs` creates.
const TENANTS: u64 = 200_000;

mod abstract_classes;
/// Code that follows the attribute rules for native classes. `plugin-api/tests/rules.rs` checks that this code exists for every rule.
#[allow(unreachable_pub, reason = "classes are public, as a host declares them")]
#[path = "accepted/native_classes.rs"]
mod accepted;
mod alarms;
mod aliases;
mod any_thread;
mod async_functions;
#[path = "cached_calls/main.rs"]
mod cached_calls;
mod callback_cycles;
mod collecting;
mod compilers;
#[path = "contexts/main.rs"]
mod contexts;
mod conversions;
#[path = "corruption/main.rs"]
mod corruption;
mod crossings;
mod custom_thunks;
mod declared;
mod default_overrides;
mod delegates;
mod direct_calls;
mod dormancy;
mod endings;
mod entry_tables;
mod enums;
mod failures;
mod finalizers;
mod floors;
mod forms;
mod frames;
mod gdb;
mod glue_in_use;
#[path = "grid/main.rs"]
mod grid;
mod grid_glue;
mod health;
mod hooks;
mod host_glue;
mod host_glue_kinds;
mod interfaces;
mod interposers;
mod lazy_rebuild;
#[path = "library_fuzz/main.rs"]
mod library_fuzz;
mod links;
mod loggers;
mod migration;
mod module_graph;
mod native_classes;
mod native_fields;
mod net;
mod observing;
mod order;
mod out_parameters;
mod owned_values;
#[path = "pages/main.rs"]
mod pages;
mod panic_hooks;
mod partial;
mod payloads;
mod permissions;
mod plugin_protocols;
mod plugins;
mod prose;
mod protocols;
mod public_api;
mod raw_pointers;
mod recipes;
mod registrations;
mod remains;
mod renames;
mod results;
mod rollback;
#[cfg(feature = "script")]
mod script_interfaces;
#[cfg(feature = "script")]
mod scripts;
#[cfg(feature = "script")]
mod scripts_console;
#[cfg(feature = "script")]
mod scripts_delegates;
#[cfg(feature = "script")]
mod scripts_reload;
#[cfg(feature = "script")]
mod scripts_thunks;
mod scripts_together;
#[cfg(feature = "script")]
mod scripts_values;
mod slim_race;
mod struct_bases;
mod struct_defaults;
mod suspending;
mod sweeping;
mod tables;
mod tasks;
mod testing;
mod toy_kind;
mod typed_handles;
mod unload;
mod unloading;
mod untracked_traces;
mod values;
mod watchdog;
mod world;
mod world_fuzz;
mod world_names;
mod world_references;
mod wrong_class;
mod zcalls;
