//! Programs without errors: each is checked, and its functions `Test…` are run by the interpreter of these tests where the head
//! of the file says what they give.

use crate::support::{checked, programs, rendered, sources};

#[test]
fn each_program_is_without_errors() {
    let all = programs("programs");
    assert!(all.len() >= 100, "{} programs", all.len());
    for path in all {
        let sources = sources(&path);
        if let Err(messages) = checked(&sources) {
            panic!("{}\n{}", path.display(), rendered(&messages, &sources));
        }
    }
}
