//! Compiles the C++ code of the feature `cpp` into the plugin. Links the system's C++ library, which is never unloaded.

fn main() {
    println!("cargo::rerun-if-changed=src/kept.cpp");
    #[cfg(feature = "cpp")]
    cc::Build::new().cpp(true).std("c++17").flag("-Wno-deprecated-declarations").file("src/kept.cpp").compile("kept");
}
