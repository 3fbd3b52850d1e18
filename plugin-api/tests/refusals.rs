//! Compiles code that authors may not write. Separate tests compile the programs in `accepted`, because `trybuild` would link each
//! dependency if a single program had to compile. Otherwise, `trybuild` only checks the dependencies.
//!
//! A file contains one module for each rule of an attribute, because each run of the compiler takes a second. Errors that the compiler
//! reports only if all types are correct (borrows, lints, unsafe calls) are in separate files.

use std::fs;
use std::path::Path;

/// Stores intermediate files of `trybuild` in the build folder of the plugins that tests load, so that the dependencies of the macros are
/// compiled once for both. Cargo reads this configuration in the folders above the project that `trybuild` writes.
fn share_builds_with_plugins() {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let config = tests.with_file_name("tests").join("trybuild/.cargo/config.toml");
    let text = format!("[build]\nbuild-dir = {:?}\n", tests.join("plugins").display().to_string());
    fs::create_dir_all(config.parent().expect("a folder")).expect("the target folder is writable");
    fs::write(config, text).expect("the target folder is writable");
}

#[test]
fn each_broken_rule_is_refused_where_it_is_broken() {
    share_builds_with_plugins();
    let cases = trybuild::TestCases::new();
    // The expected messages are those of the workspace's compiler; other compiler versions use different wording.
    cases.compile_fail("tests/ui/*.rs");
}
