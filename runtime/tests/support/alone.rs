//! A test that needs a process of its own (signals, environment, a process that ends) is run once more by the same program, by itself.

use std::process::{Command, Output};

/// This program, running only that test of the file whose `module_path!()` this is.
pub(crate) fn only(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([&*super::full_name(module, test), "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs it to its end, which has to be that one test's success.
pub(crate) fn passes(command: &mut Command) -> Output {
    let output = command.output().expect("this program starts");
    let said = said(&output);
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(said.contains("1 passed"), "it ran nothing: {said}");
    output
}

/// Returns stdout and stderr of the process.
pub(crate) fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
