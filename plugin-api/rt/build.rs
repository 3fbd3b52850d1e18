//! Notes which compiler builds the plugin, for the manifest: it is recorded, never a reason to refuse.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = Command::new(rustc).arg("-V").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=ALCEDO_COMPILER={}", text.as_deref().map_or("unknown", str::trim));
}
