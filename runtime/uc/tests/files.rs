//! Class files in the manner of those that others write, with much that is outside of the language: every such thing is named
//! with its place, in the file `NAME.stderr` beside it.

use expect_test::expect_file;

use crate::support::{checked, programs, rendered};

#[test]
fn whatever_is_outside_of_the_language_is_named() {
    for path in programs("files") {
        let bytes = std::fs::read(&path).expect("a file");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let sources = [alcedo_uc::Source::decode(name, &bytes)];
        let messages = match checked(&sources) {
            Ok(checked) => checked.warnings,
            Err(messages) => messages,
        };
        expect_file![path.with_extension("stderr")].assert_eq(&rendered(&messages, &sources));
    }
}
