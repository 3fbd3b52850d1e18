//! What cannot be checked is promised in an `unsafe` block: the door of the benchmarks, the closing of a native library,
//! the raw form of a function, a struct that says how it lies in memory.

use alcedo_runtime::{FunctionPointer, NativeLibrary, PlainStruct, Runtime};

fn bench(host: &Runtime) {
    host.bench().abandon_mark();
}

fn close(library: &NativeLibrary) {
    library.mark_unloadable();
}

fn call(pointer: &FunctionPointer) {
    (pointer.invoke().0)(std::ptr::null_mut(), std::ptr::null_mut());
}

#[derive(Clone, Copy)]
struct Liar(bool);

impl PlainStruct for Liar {
    const PATH: &'static str = "/Script/Engine.Vector";
    const FINGERPRINT: u64 = 0;
    const FIELDS: &'static [(&'static str, alcedo_runtime::kinds::PropertyKind, &'static str)] = &[];
}

fn main() {}
