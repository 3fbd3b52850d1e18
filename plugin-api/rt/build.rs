//! Records the version of the compiler for the manifest, for information only: hosts accept modules from every compiler. Also determines if
//! hooks of C functions exist for the platform.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = Command::new(rustc).arg("-V").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-check-cfg=cfg(hooked)");
    if is_hooked() {
        println!("cargo::rustc-cfg=hooked");
    }
    println!("cargo::rustc-env=ALCEDO_COMPILER={}", text.as_deref().map_or("unknown", str::trim));
}

/// Returns `true` if `src/hooks` supports the platform. Without hooks, the host cannot track the resources of the module, and parks the
/// module instead of unmapping it.
fn is_hooked() -> bool {
    let target = |fact: &str| std::env::var(format!("CARGO_CFG_TARGET_{fact}")).unwrap_or_default();
    target("OS") == "linux" && target("ENV") == "gnu" && ["x86_64", "aarch64"].contains(&&*target("ARCH"))
}
