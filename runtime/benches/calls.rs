//! Measures a call across the ABI boundary with two `i32` arguments and a result, in a release build of `crossings`.
//!
//! * `call_host_to_plugin`: calls from the host. `c_pointer` is a C function called by its pointer, and `dyn_trait` a method of a boxed
//!   trait object; both functions are in the host. `alcedo_ex`, `alcedo_nm` and `alcedo_uf` are functions of the plugin, resolved once with
//!   their Rust types ([`Runtime::function`]). `alcedo_pointer` repeats the call `alcedo_ex` inside one open red frame
//!   (`TypedFunction::hot`), and `alcedo_dynamic` repeats this call with dynamic values. `alcedo_up` and `alcedo_up_write` read and write a
//!   property by its Rust type. `alcedo_batch` calls the function of `alcedo_uf` on a thousand objects in one crossing; its time is for all
//!   objects, its throughput for each object. `alcedo_table` is an entry of a table (`entry_table!`), and `alcedo_table_pointer` this entry
//!   inside one open red frame. `alcedo_table_slim` and `alcedo_table_slim_pointer` are entries of the table of a module in a Slim.
//! * `call_plugin_to_host`: calls from the plugin, in a long loop; one call of the host starts the loop, so the time of that call is
//!   negligible. `c_pointer` and `dyn_trait` stay in the plugin. `alcedo_pointer` is a leaf function of the host, and `alcedo_ex` a
//!   function that the host registered with its Rust types. `alcedo_nm` is a function of a module, which the host enters. `alcedo_uf` is an
//!   event of a native class, and `alcedo_uf_override` an override of this event in a module. `alcedo_up` reads and then writes a property.
//!   `alcedo_batch` calls a method on a thousand objects at once; its time is for each object. `alcedo_ex` uses the handle in a
//!   `ZFunction`, `alcedo_values` the handle of a function that is registered with dynamic values, and `alcedo_by_name` looks up the name
//!   in each call. `alcedo_method` calls a method of a native class. `alcedo_table` is an entry of a table of the host, and
//!   `alcedo_table_pointer` calls this entry by its pointer. `alcedo_table_slim` and `alcedo_table_slim_pointer` are the corresponding
//!   calls of a module in a Slim.
//!
//! `peers/benches/calls.rs` compares these calls with those of other libraries.

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
