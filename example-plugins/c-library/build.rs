//! Compiles the C libraries into the folder `user-code` next to the module.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=c");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the variable"));
    // The folder of the module is three levels above `out`, the output folder of this script: build/<this crate>/out.
    let folder = out.ancestors().nth(3).expect("a folder of the profile").join("user-code");
    fs::create_dir_all(&folder).expect("a folder");
    for name in ["TestDLL", "StringDLL", "ArrayDLL"] {
        compile(&folder, name, &[]);
    }
    let sqlite = format!("{}/libsqlite3.a", of_dependency("DEP_SQLITE3_LIB_DIR"));
    let headers = format!("-I{}", of_dependency("DEP_SQLITE3_INCLUDE"));
    compile(&folder, "Database", &[&headers, &sqlite, "-lm", "-lpthread", "-ldl"]);
    let zlib = format!("{}/lib/libz.a", of_dependency("DEP_Z_ROOT"));
    let headers = format!("-I{}", of_dependency("DEP_Z_INCLUDE"));
    compile(&folder, "Zlib", &[&headers, &zlib]);
}

/// Returns an environment variable that the build script of a dependency sets.
fn of_dependency(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Compiles a shared library under a temporary name, and renames the file when it is complete.
fn compile(folder: &Path, name: &str, others: &[&str]) {
    let compiler = cc::Build::new().get_compiler();
    let made = folder.join(format!("lib{name}.so.{}", std::process::id()));
    let mut command: Command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-g", "-o"]).arg(&made);
    command.arg(format!("c/{name}.c")).args(others);
    let status = command.status().expect("a C compiler");
    assert!(status.success(), "{command:?}");
    fs::rename(&made, folder.join(format!("lib{name}.so"))).expect("moved");
}
