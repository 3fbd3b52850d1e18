//! Programs with errors: each shows the messages as they are drawn, in the file `NAME.stderr` beside it.

use expect_test::expect_file;

use crate::support::{checked, programs, rendered, sources};

#[test]
fn each_error_program_shows_its_messages() {
    let all = programs("errors");
    assert!(all.len() >= 50, "{} error programs", all.len());
    let mut without = Vec::new();
    for path in all {
        let sources = sources(&path);
        let messages = match checked(&sources) {
            Ok(_) => {
                without.push(path);
                continue;
            }
            Err(messages) => messages,
        };
        expect_file![path.with_extension("stderr")].assert_eq(&rendered(&messages, &sources));
    }
    assert!(without.is_empty(), "these have no error: {without:?}");
}
