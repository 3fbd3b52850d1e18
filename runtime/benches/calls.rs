//! What a call across the border costs: two `i32` and a result, in a release build of `crossings`.
//!
//! * `call_host_to_plugin`: the host calls. `c_pointer` is a C function by its pointer and `dyn_trait` a method of a boxed trait
//!   object, both in the host; `alcedo_ex`, `alcedo_nm` and `alcedo_uf` are functions of the plugin by their Rust types, found once
//!   ([`Runtime::function`]); `alcedo_pointer` is the first of them while its red frame is open (`TypedFunction::hot`), and
//!   `alcedo_dynamic` the same by values. `alcedo_up` and `alcedo_up_write` are a property by its Rust type, and `alcedo_batch` is
//!   `uf` on a thousand objects in one crossing: its time is for all of them, its throughput for each. `alcedo_table` is an entry of a
//!   table (`entry_table!`), and `alcedo_table_pointer` the same while its red frame is open; `alcedo_table_slim` and
//!   `alcedo_table_slim_pointer` are those of a module of a Slim.
//! * `call_plugin_to_host`: the plugin calls in a loop that one call starts, and that is long, so that this call does not show.
//!   `c_pointer` and `dyn_trait` stay in the plugin; `alcedo_pointer` is a leaf of the host, `alcedo_ex` a function that the host registered
//!   by its Rust types, `alcedo_nm` one of a module, which the host enters; `alcedo_uf` is an event of a native class and
//!   `alcedo_uf_override` an override of it in a module; `alcedo_up` reads and writes a property, twice the work; `alcedo_batch` is a method
//!   on a thousand objects in one call, for each of them. `alcedo_ex` goes by the
//!   handle that a `ZFunction` keeps, `alcedo_values` the same of one registered with values, `alcedo_by_name` by its name each time,
//!   and `alcedo_method` a method of a native class. `alcedo_table` is an entry of a table of the host, and `alcedo_table_pointer` the same by
//!   its pointer; `alcedo_table_slim` and `alcedo_table_slim_pointer` are those of a module of a Slim.
//!
//! The same beside what else could be used: `peers/benches/calls.rs`.

mod support;

#[path = "support/crossings.rs"]
mod crossings;

use criterion::{Criterion, criterion_group, criterion_main};

fn host_to_plugin(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call_host_to_plugin");
    crossings::host_to_plugin(&mut group);
    group.finish();
}

fn plugin_to_host(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call_plugin_to_host");
    crossings::plugin_to_host(&mut group);
    group.finish();
}

criterion_group! { name = benches; config = support::config(); targets = host_to_plugin, plugin_to_host }
criterion_main!(benches);
