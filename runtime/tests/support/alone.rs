//! Runs a test that needs its own process (signals, environment, a process that ends) again in a new process of the same program.

use std::process::{Command, Output};

/// Command that runs only this test of the file with this `module_path!()`.
pub(crate) fn only(module: &str, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([&*super::full_name(module, test), "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs the command, which must report the success of one test.
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
