//! Compiles the C part into the plugin. The C part then calls the module's hook of `pthread_create`, so the host tracks the thread.

fn main() {
    println!("cargo::rerun-if-changed=src/metronome.c");
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    if has("STATIC_TLS") || has("LITTLE_STATIC_TLS") {
        println!("cargo::rerun-if-changed=src/static_tls.c");
        let mut build = cc::Build::new();
        build
            .file("src/static_tls.c")
            .flag("-ftls-model=initial-exec")
            .define("LITTLE", if has("LITTLE_STATIC_TLS") { "1" } else { "0" })
            .warnings_into_errors(true)
            .compile("static_tls");
    }
    cc::Build::new().file("src/metronome.c").warnings_into_errors(true).compile("metronome");
}
