//! Compiles the C part into the plugin itself. As a part of it, its `pthread_create` is the module's own too, so the host
//! knows the thread.

fn main() {
    println!("cargo::rerun-if-changed=src/metronome.c");
    cc::Build::new().file("src/metronome.c").warnings_into_errors(true).compile("metronome");
}
