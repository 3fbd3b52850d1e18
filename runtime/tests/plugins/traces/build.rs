//! Compiles the C++ of the feature `cpp` into the plugin itself. The library of C++ is the system's, which stays.

fn main() {
    println!("cargo::rerun-if-changed=src/kept.cpp");
    #[cfg(feature = "cpp")]
    cc::Build::new().cpp(true).std("c++17").flag("-Wno-deprecated-declarations").file("src/kept.cpp").compile("kept");
}
