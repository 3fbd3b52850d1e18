//! Links C code that defines `pthread_create` and the functions of the C heap itself, as crash handlers and allocators do.

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

/// Starts a thread and joins it. Returns how many threads the C code has counted.
#[zcall(ex = "interposer.thread")]
fn thread() -> u32 {
    std::thread::spawn(|| ()).join().expect("it does nothing");
    raw::threads()
}

/// Starts a thread that runs until there is a file of this name.
#[zcall(ex = "interposer.wait_for")]
fn wait_for(file: String) {
    let wait = move || {
        while !std::path::Path::new(&file).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    std::thread::Builder::new().name("waiter".to_owned()).spawn(wait).expect("a thread can be started");
}

/// Returns a path, a line of a file, a copy and a printed number from blocks that the C library makes for its caller. Frees each.
#[zcall(ex = "interposer.blocks_of_c")]
fn blocks_of_c(file: String) -> String {
    let path = std::fs::canonicalize(&file).expect("it is there");
    [path.display().to_string(), raw::line(&file), raw::copy("copied"), raw::printed(7)].join(" ")
}

/// Counts the blocks of its own heap that are in use.
#[zcall(ex = "interposer.blocks")]
fn blocks() -> u32 {
    raw::blocks()
}
