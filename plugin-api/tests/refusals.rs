//! Compiles code that authors may not write. Separate tests compile the programs in `accepted`, which follow the rules. If a single program
//! has to compile, `trybuild` links each dependency; otherwise, `trybuild` only checks the dependencies.
//!
//! Groups the rules by attribute, because a run of the compiler takes a second: a file contains one module for each rule. Errors that the
//! compiler reports only if all types are correct (borrows, lints, unsafe calls) are in separate files.

#[test]
fn each_broken_rule_is_refused_where_it_is_broken() {
    let cases = trybuild::TestCases::new();
    // The messages are those of the workspace's compiler. Other compiler versions use other wordings.
    cases.compile_fail("tests/ui/*.rs");
}
