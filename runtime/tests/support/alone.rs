//! Runs a test again, in a new process of this program. A test that uses signals or the environment, or that ends the process, needs its
//! own process.

use std::process::{Command, Output};

/// Returns a command that runs only the test `test` in the file whose `module_path!()` is `module`.
pub(crate) fn only(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([&*super::full_name(module, test), "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs the command. Checks that the output reports the success of one test.
pub(crate) fn passes(command: &mut Command) -> Output {
    let output = command.output().expect("this program starts");
    let output_text = output_text(&output);
    assert!(output.status.success(), "{}: {output_text}", output.status);
    assert!(output_text.contains("1 passed"), "no test ran: {output_text}");
    output
}

pub(crate) fn output_text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
