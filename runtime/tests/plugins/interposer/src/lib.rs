//! Links C code that defines `pthread_create` and the functions of the C heap. Crash handlers and allocators contain such code.

#![deny(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod raw;

#[cfg(not(any(feature = "hooked", feature = "undefined")))]
module! {
    name: "interposer",
    unhooked: ["pthread_create", "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "free"],
}

#[cfg(feature = "hooked")]
module! { name: "interposer" }

#[cfg(feature = "undefined")]
module! {
    name: "interposer",
    unhooked: ["pthread_create", "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "free", "alarm"],
}

/// Starts a thread and joins it. Returns the number of threads that the C code has counted.
#[zcall(ex = "interposer.thread")]
fn thread() -> u32 {
    std::thread::spawn(|| ()).join().expect("the thread does not panic");
    raw::threads()
}

/// Starts a thread that runs until the file exists.
#[zcall(ex = "interposer.wait_for")]
fn wait_for(file: String) {
    let wait = move || {
        while !std::path::Path::new(&file).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    std::thread::Builder::new().name("waiter".to_owned()).spawn(wait).expect("a thread can be started");
}

/// Returns a path, a line from a file, a copied string, a printed number and the content of a stream. The C library allocates a block for
/// each. Frees all blocks.
#[zcall(ex = "interposer.blocks_of_c")]
fn blocks_of_c(file: String) -> String {
    let path = std::fs::canonicalize(&file).expect("the file exists");
    [path.display().to_string(), raw::line(&file), raw::copy("copied"), raw::printed(7), raw::in_memory("end")]
        .join(" ")
}

/// Returns the number of live blocks in the C code's heap.
#[zcall(ex = "interposer.blocks")]
fn blocks() -> u32 {
    raw::blocks()
}
