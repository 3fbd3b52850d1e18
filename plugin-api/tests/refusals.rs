//! Compiles code that authors may not write. Separate tests compile the programs in `accepted`, because `trybuild` would link each
//! dependency if a single program had to compile. Otherwise, `trybuild` only checks the dependencies.
//!
//! A file contains one module for each rule of an attribute, because each run of the compiler takes a second. Errors that the compiler
//! reports only if all types are correct (borrows, lints, unsafe calls) are in separate files.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken() {
    let cases = trybuild::TestCases::new();
    // The expected messages are those of the workspace's compiler; other compiler versions use different wording.
    cases.compile_fail("tests/ui/*.rs");
}
